"""The decoded knowledge as one file: built from rules/, kept in the user's cache folder, keyed by digest.

Facts stay encoded until one is asked for: a scan needs all names, but only a few facts.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from portaudit.knowledge.lookup import package_names
from portaudit.knowledge.schema import TABLE_FILES, Faults
from portaudit.model.facts import Fact, Gfx, Rule

_FORMAT = 3
"""Raised whenever the shape of the index changes."""
_KEPT = 4

# A fact as an array: without field names it needs a third of the bytes.
Packed: Any = msgspec.defstruct(
    "Packed",
    [
        (f.name, f.type, f.default) if not f.required else (f.name, f.type)
        for f in msgspec.structs.fields(Fact)
    ],
    array_like=True,
    frozen=True,
)

Facts = dict[str, msgspec.Raw]
Hours = tuple[float, float, float]


class Index(msgspec.Struct, array_like=True):
    """Everything that is known, ready to use."""

    format: int
    digest: str
    newest: str
    rules: tuple[Rule, ...]
    efforts: dict[str, Hours]
    gfx: dict[str, Gfx]
    products: dict[str, str]
    releases: tuple[str, ...]
    api: dict[str, Facts]
    """Facts about the API by vocabulary group."""
    tables: dict[str, Facts]
    families: Facts
    policies: Facts
    watched: tuple[str, ...]
    twins: dict[str, Facts]
    """Facts about names that more than one library has, beside the first, by library."""


def read(root: Path) -> Index:
    """The index of a rules folder, from the cache when that is whole and fits, else built and stored."""
    digest = digest_of(root)
    folder = _cache_folder()
    path = folder / f"rules-{_FORMAT}-{digest[:24]}.msgpack" if folder else None
    found = _stored(path, digest) if path else None
    if found is None:
        found = build(root, digest)
        if path:
            _store(path, found)
    return found


def digest_of(root: Path) -> str:
    """sha256 over names and contents of all files below a rules folder."""
    total = hashlib.sha256(f"{_FORMAT}\n".encode())
    for folder in ("api", "semantic", "support", "tables", ""):
        base = os.path.join(root, folder)
        try:
            names = sorted(entry.name for entry in os.scandir(base) if entry.is_file())
        except OSError:
            continue
        for name in names:
            if name.endswith((".csv", ".yaml")):
                with open(os.path.join(base, name), "rb") as stream:
                    data = stream.read()
                total.update(f"{folder}/{name}\0{len(data)}\0".encode())
                total.update(data)
    return total.hexdigest()


def build(root: Path, digest: str = "") -> Index:
    """Reads and checks all files of a rules folder. Raises ``RulesError`` with all errors at once."""
    from portaudit.knowledge import semantic, tables, vocabulary

    faults = Faults(root)
    efforts = semantic.efforts(root, faults)
    rules = semantic.rules(root, efforts, faults)
    families = tables.families(root, faults)
    facts: list[Fact] = [fact for name in TABLE_FILES for fact in tables.table(name, root, faults)]
    policies = {fact.name: fact for fact in facts if fact.table == "group"}
    gfx, products = tables.gfx(root, faults)
    api, twins = _api(tables.api(root, families, faults), policies)
    releases = tables.releases(root, faults)
    dates = [*tables.frameworks(root, faults), *(f.as_of for f in (*facts, *families.values()))]
    faults.check()
    plain, qualified = vocabulary.watched(rules)
    api.setdefault("watched-qualified", {}).update({n: msgspec.Raw(_encode(_empty(n))) for n in qualified})
    return Index(
        format=_FORMAT,
        digest=digest or digest_of(root),
        newest=max(dates, default=""),
        rules=rules,
        efforts=efforts,
        gfx=gfx,
        products=products,
        releases=releases,
        api=api,
        tables={name: _packed(f for f in facts if f.table == name) for name in TABLE_FILES},
        families={key: msgspec.Raw(_encode(fact)) for key, fact in families.items()},
        policies=_packed(policies.values()),
        watched=tuple(sorted(plain)),
        twins=twins,
    )


def _empty(name: str) -> Fact:
    return Fact(table="api", name=name)


def _api(facts: Iterable[Fact], policies: dict[str, Fact]) -> tuple[dict[str, Facts], dict[str, Facts]]:
    from portaudit.knowledge import vocabulary

    groups: dict[str, Facts] = {}
    twins: dict[str, Facts] = {}
    best: dict[str, Fact] = {}
    for fact in facts:
        other = best.get(fact.name)
        if other is not None:
            # The library that has a HIP name for it knows more than the one that lists it as unmapped.
            first, second = (fact, other) if _rank(fact) > _rank(other) else (other, fact)
            best[fact.name] = first
            twins.setdefault(second.library, {})[second.name] = msgspec.Raw(_encode(second))
        else:
            best[fact.name] = fact
    for name, fact in best.items():
        groups.setdefault(vocabulary.group(fact, policies), {})[name] = msgspec.Raw(_encode(fact))
    return groups, twins


def _rank(fact: Fact) -> int:
    order = ("unmapped", "unsupported", "absent_in_rocm", "roc_only", "mapped")
    # A macro of the driver headers says more than the enumerator that another list calls it.
    return order.index(fact.status) * 2 + (fact.kind == "macro") if fact.status in order else -1


def _packed(facts: Iterable[Fact]) -> Facts:
    found: Facts = {}
    for fact in facts:
        key = next(iter(package_names(fact.name))) if fact.table == "package" else fact.name
        found.setdefault(key, msgspec.Raw(_encode(fact)))
    return found


def _encode(fact: Fact) -> bytes:
    return msgspec.msgpack.encode(Packed(*msgspec.structs.astuple(fact)))


_DECODER = msgspec.msgpack.Decoder(Packed)


def decode(raw: msgspec.Raw) -> Fact:
    """A fact from its encoded form."""
    return Fact(*msgspec.structs.astuple(_DECODER.decode(raw)))


def _cache_folder() -> Path | None:
    given = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else os.environ.get("XDG_CACHE_HOME")
    if given and os.path.isabs(given):
        return Path(given) / "portaudit"
    home = os.path.expanduser("~")
    return Path(home) / ".cache" / "portaudit" if os.path.isabs(home) else None


def _stored(path: Path, digest: str) -> Index | None:
    try:
        data = path.read_bytes()
        found = msgspec.msgpack.decode(data, type=Index)
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return found if found.format == _FORMAT and found.digest == digest else None


def _store(path: Path, found: Index) -> None:
    """Writes beside and renames; a folder that can't be written is no reason to complain."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".rules-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(msgspec.msgpack.encode(found))
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
        _prune(path)
    except OSError:
        return


def _prune(path: Path) -> None:
    others = sorted(path.parent.glob("rules-*.msgpack"), key=lambda p: p.stat().st_mtime, reverse=True)
    for old in others[_KEPT:]:
        old.unlink(missing_ok=True)
