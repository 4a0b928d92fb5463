"""The decoded knowledge as one file: built from rules/, kept in the user's cache folder, keyed by digest.

Facts stay encoded until one is asked for: a scan needs all names, but only a few facts.
"""

import hashlib
import os
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from portaudit.model.facts import Fact, Gfx, Rule

FORMAT = 5
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
_DECODER = msgspec.msgpack.Decoder(Packed)

Hours = tuple[float, float, float]


class Facts(msgspec.Struct, array_like=True):
    """Encoded facts by name. One text of names and one block of bytes decode ten times faster than a map."""

    names: str = ""
    """Separated by line ends."""
    ends: bytes = b""
    """Where each fact ends in ``data``, four bytes each."""
    data: bytes = b""


class FactTable:
    """Facts of one table; each is decoded when it is asked for."""

    __slots__ = ("_at", "_data", "_ends", "_sources")

    def __init__(self, facts: Facts, sources: Sequence[str]) -> None:
        names = facts.names.split("\n") if facts.names else []
        self._at = dict(zip(names, range(len(names)), strict=True))
        self._ends = array("I", facts.ends)
        self._data = facts.data
        self._sources = sources

    def get(self, name: str) -> Fact | None:
        """The fact of a name."""
        number = self._at.get(name)
        return None if number is None else self._fact(number)

    def _fact(self, number: int) -> Fact:
        start = self._ends[number - 1] if number else 0
        fact = Fact(*msgspec.structs.astuple(_DECODER.decode(self._data[start : self._ends[number]])))
        return msgspec.structs.replace(fact, evidence=self._sources[int(fact.evidence)])

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def values(self) -> Iterator[Fact]:
        """All facts, decoded one by one."""
        return map(self._fact, range(len(self._at)))


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
    """Names without namespace that rules ask for."""
    watched_qualified: tuple[str, ...]
    twins: dict[str, Facts]
    """Facts about names that more than one library has, beside the first, by library."""
    sources: tuple[str, ...]
    """Texts of the evidence column; few differ, so facts hold their number."""


def read(root: Path) -> Index:
    """The index of a rules folder, from the cache when that is whole and fits, else built and stored."""
    digest = digest_of(root)
    folder = cache_folder()
    path = folder / f"rules-{FORMAT}-{digest[:24]}.msgpack" if folder else None
    found = _stored(path, digest) if path else None
    if found is None:
        from portaudit.knowledge.assembly import build

        found = build(root, digest)
        if path:
            _store(path, found)
    return found


def digest_of(root: Path) -> str:
    """sha256 over names and contents of all files of a rules folder."""
    total = hashlib.sha256(f"{FORMAT}\n".encode())
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


class Encoder:
    """Facts to bytes; evidence texts become numbers."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, facts: Mapping[str, Fact]) -> Facts:
        """Facts under their keys."""
        ends, data = array("I"), bytearray()
        for fact in facts.values():
            number = self._numbers.setdefault(fact.evidence, len(self._numbers))
            packed = Packed(*msgspec.structs.astuple(msgspec.structs.replace(fact, evidence=str(number))))
            data += msgspec.msgpack.encode(packed)
            ends.append(len(data))
        return Facts("\n".join(facts), ends.tobytes(), bytes(data))

    @property
    def sources(self) -> tuple[str, ...]:
        """The texts by number."""
        return tuple(self._numbers)


def cache_folder() -> Path | None:
    """The folder for the index, None where the user has no such place."""
    given = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else os.environ.get("XDG_CACHE_HOME")
    if given and os.path.isabs(given):
        return Path(given) / "portaudit"
    home = os.path.expanduser("~")
    return Path(home) / ".cache" / "portaudit" if os.path.isabs(home) else None


def _stored(path: Path, digest: str) -> Index | None:
    try:
        found = msgspec.msgpack.decode(path.read_bytes(), type=Index)
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return found if found.format == FORMAT and found.digest == digest else None


def _store(path: Path, found: Index) -> None:
    """Writes beside and renames; a folder that can't be written is no reason to complain."""
    import tempfile

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
