"""YAML files of rules/semantic/ -> rules, and rules/effort.yaml -> hours."""

import re
from pathlib import Path

import yaml

from portaudit.knowledge.schema import TABLE_FILES, EffortFile, Faults, convert
from portaudit.model.evidence import EvidenceKind
from portaudit.model.facts import Rule

Hours = tuple[float, float, float]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ID = re.compile(r"PA[1-9]\d\d$")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*$")
_LISTS = ("kind", "name", "near", "near_function", "not_near", "path")


def rules(root: Path, efforts: dict[str, Hours], faults: Faults) -> tuple[Rule, ...]:
    """All rules, by id. Ids and slugs are unique, the slug is the name of the file."""
    found: list[Rule] = []
    ids: dict[str, Path] = {}
    for path in sorted((root / "semantic").glob("*.yaml")):
        text, data = _load(path, faults)
        given: Rule | None = convert(path, text, _normal(data), Rule, faults) if text else None
        if given is None:
            continue
        _check(path, text, given, efforts, ids, faults)
        ids.setdefault(given.id, path)
        found.append(given)
    return tuple(sorted(found, key=lambda r: (r.id, r.slug)))


def efforts(root: Path, faults: Faults) -> dict[str, Hours]:
    """Hours low, likely and high of each effort class."""
    path = root / "effort.yaml"
    text, data = _load(path, faults)
    found: dict[str, Hours] = {}
    if not isinstance(data, dict):
        return found
    for key, value in data.items():
        given = convert(path, text, value, EffortFile, faults)
        if given is not None:
            if not 0 <= given.low <= given.likely <= given.high:
                faults.add(path, 0, str(key), "hours do not rise: low <= likely <= high")
            found[str(key)] = (given.low, given.likely, given.high)
    return found


def _load(path: Path, faults: Faults) -> tuple[str, object]:
    try:
        text = path.read_text(encoding="utf-8")
        return text, yaml.load(text, Loader=_LOADER)
    except OSError as error:
        faults.add(path, 0, "", f"cannot be read: {error.strerror}")
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        faults.add(path, mark.line + 1 if mark else 1, "", str(getattr(error, "problem", error)))
    return "", None


def _normal(data: object) -> object:
    """One value where a list is meant becomes a list of one; dates become text."""
    if not isinstance(data, dict):
        return data
    data = {k: v if isinstance(v, str | bool | int | list | dict | None) else str(v) for k, v in data.items()}
    when = data.get("when")
    if isinstance(when, dict):
        when = {k: [v] if k in _LISTS and not isinstance(v, list) else v for k, v in when.items()}
        target = when.get("target")
        if isinstance(target, dict):
            when["target"] = {
                k: [v] if k in ("gfx", "fp8") and not isinstance(v, list) else v for k, v in target.items()
            }
        data["when"] = when
    for key in ("examples", "references"):
        if key in data and not isinstance(data[key], list):
            data[key] = [data[key]]
    return data


def _check(
    path: Path, text: str, given: Rule, efforts: dict[str, Hours], ids: dict[str, Path], faults: Faults
) -> None:
    def wrong(key: str, reason: str) -> None:
        match = re.search(rf"^{key}:", text, re.MULTILINE)
        faults.add(path, text.count("\n", 0, match.start()) + 1 if match else 1, key, reason)

    if not _ID.match(given.id):
        wrong("id", f"{given.id!r} is not PA and three digits")
    elif given.id in ids:
        wrong("id", f"{given.id} is already taken by {ids[given.id].name}")
    if given.slug != path.stem or not _SLUG.match(given.slug):
        wrong("slug", f"{given.slug!r} must be the file name {path.stem!r}, lower case with hyphens")
    if given.effort not in efforts:
        wrong("effort", f"{given.effort!r} is not accepted; accepted: {', '.join(efforts)}")
    if given.guarded not in ("quiet", "fire"):
        wrong("guarded", f"{given.guarded!r} is not accepted; accepted: quiet, fire")
    tables = ("api", *TABLE_FILES)
    if given.table and given.table not in tables:
        wrong("table", f"{given.table!r} is not accepted; accepted: {', '.join(tables)}")
    if given.when is None and not given.table and not given.derived:
        wrong("when", "a rule needs when, table or derived")
    kinds = {kind.value for kind in EvidenceKind}
    for kind in given.when.kind if given.when else ():
        if kind not in kinds:
            wrong("when", f"kind {kind!r} is not accepted; accepted: {', '.join(sorted(kinds))}")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", given.as_of):
        wrong("as_of", f"{given.as_of!r} is not a date such as 2026-11-30")
