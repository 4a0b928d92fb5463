"""The shapes of every file under rules/. What does not fit is collected, so that all errors show at once."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec

from portaudit.errors import RulesError
from portaudit.model.evidence import Confidence
from portaudit.model.facts import Level, TargetWhen, Verdict, When

API_COLUMNS = (
    "name",
    "kind",
    "status",
    "hip",
    "since",
    "until",
    "native",
    "cuda_added",
    "cuda_deprecated",
    "cuda_removed",
    "in_rocm_10",
    "args",
    "experimental",
    "family",
    "verdict",
    "level",
    "note",
    "why",
    "fix",
    "confidence",
    "evidence",
    "as_of",
)
FAMILY_COLUMNS = (
    "library",
    "family",
    "order",
    "pattern",
    "verdict",
    "level",
    "equivalent",
    "since",
    "gfx",
    "why",
    "fix",
    "hours_low",
    "hours_high",
    "confidence",
    "evidence",
    "as_of",
)
TABLE_COLUMNS = (
    "name",
    "library",
    "kind",
    "status",
    "verdict",
    "level",
    "equivalent",
    "native",
    "since",
    "until",
    "gfx",
    "args",
    "note",
    "why",
    "fix",
    "hours_low",
    "hours_high",
    "confidence",
    "evidence",
    "as_of",
)
LIBRARY_COLUMNS = (*TABLE_COLUMNS, "mapped_verdict", "mapped_why")
TARGET_COLUMNS = (
    "gfx",
    "product",
    "aliases",
    "family",
    "wavefront",
    "lds_kib",
    "images",
    "fp8",
    "matrix",
    "rocm_from",
    "rocm_to",
    "xnack",
    "torch_capability",
    "note",
    "evidence",
    "as_of",
)
RELEASE_COLUMNS = (
    "rocm",
    "date",
    "stream",
    "os",
    "kernel",
    "driver",
    "driver_rule",
    "python",
    "gfx",
    "prefix",
    "packages",
    "note",
    "evidence",
    "as_of",
)
FRAMEWORK_COLUMNS = (
    "framework",
    "version",
    "rocm",
    "support",
    "python",
    "gfx",
    "image",
    "install",
    "note",
    "confidence",
    "evidence",
    "as_of",
)

TABLE_FILES: dict[str, str] = {
    "header": "headers",
    "package": "packages",
    "module": "modules",
    "image": "images",
    "tool": "tools",
    "env": "env",
    "library": "libraries",
    "flag": "flags",
    "key": "keys",
    "ptx": "ptx",
}
"""Table name -> file under rules/tables/."""

_DATE = r"\d{4}-\d{2}-\d{2}"
_VERSION = r"(?:<=)?\d+(?:\.\d+){0,2}"
_WORDS: dict[str, tuple[str, ...]] = {
    "verdict": tuple(v.value for v in Verdict),
    "mapped_verdict": tuple(v.value for v in Verdict),
    "level": tuple(v.value for v in Level),
    "confidence": tuple(v.value for v in Confidence),
    "fp8": ("none", "fnuz", "ocp", "both"),
    "images": ("yes", "no"),
}
_API_STATUS = ("mapped", "roc_only", "absent_in_rocm", "unsupported", "unmapped")
_PATTERNS: dict[str, tuple[str, str]] = {
    "as_of": (_DATE, "a date such as 2026-11-30"),
    "since": (f"(?:{_VERSION})?", "a ROCm release such as 7.2 or <=7.2.0"),
    "until": (f"(?:{_VERSION})?", "a ROCm release such as 7.2"),
}
_MAY_BE_EMPTY = frozenset({"level", "mapped_verdict"})


class EffortFile(msgspec.Struct, forbid_unknown_fields=True):
    """One class of rules/effort.yaml."""

    low: float
    likely: float
    high: float
    assumes: str


class Faults:
    """Errors of all files, each with file, line and key."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lines: list[str] = []

    def add(self, path: Path, line: int, key: str, text: str) -> None:
        """One error; ``line`` 0 means the file as a whole."""
        try:
            name = path.relative_to(self._root.parent).as_posix()
        except ValueError:
            name = path.name
        place = f"{name}:{line}" if line else name
        self._lines.append(f"{place}: {key}: {text}" if key else f"{place}: {text}")

    def check(self) -> None:
        """Raises ``RulesError`` with all errors, if there are any."""
        if self._lines:
            count = len(self._lines)
            head = f"{count} error{'s' if count > 1 else ''} in rules:"
            raise RulesError("\n  ".join([head, *self._lines]))


def check_header(path: Path, found: Sequence[str] | None, wanted: Sequence[str], faults: Faults) -> bool:
    """Whether a CSV file has exactly the wanted columns, in their order."""
    if found is not None and tuple(found) == tuple(wanted):
        return True
    missing = [c for c in wanted if c not in (found or ())]
    extra = [c for c in found or () if c not in wanted]
    parts = [f"missing {', '.join(missing)}"] if missing else []
    parts += [f"unknown {', '.join(extra)}"] if extra else []
    faults.add(path, 1, "header", "; ".join(parts or ["wrong order"]) + f"; accepted: {', '.join(wanted)}")
    return False


def check_row(path: Path, line: int, row: Mapping[str, str], faults: Faults, api: bool = False) -> None:
    """Checks the cells of a CSV row that have a closed set of values or a form."""
    for key, accepted in _WORDS.items():
        value = row.get(key)
        if value is None or (not value and (api or key in _MAY_BE_EMPTY)):
            continue
        if value not in accepted:
            faults.add(path, line, key, f"{value!r} is not accepted; accepted: {', '.join(accepted)}")
    if api and row["status"] not in _API_STATUS:
        faults.add(
            path, line, "status", f"{row['status']!r} is not accepted; accepted: {', '.join(_API_STATUS)}"
        )
    for key, (pattern, meaning) in _PATTERNS.items():
        value = row.get(key)
        if value is not None and not re.fullmatch(pattern, value):
            faults.add(path, line, key, f"{value!r} is not {meaning}")
    if not row.get("evidence"):
        faults.add(path, line, "evidence", "empty: every row names its source")


def convert(path: Path, text: str, data: object, shape: type[msgspec.Struct], faults: Faults) -> Any:
    """A YAML mapping as the given Struct, None when it does not fit; every wrong key is told."""
    if not isinstance(data, dict):
        faults.add(path, 1, "", "the file is not a mapping")
        return None
    whole = True
    for key, reason in _wrong_keys(data, shape, ""):
        faults.add(path, _line_of(text, key.rpartition(".")[2]), key, reason)
        whole = False
    return msgspec.convert(data, shape, strict=True) if whole else None


_NESTED: dict[str, type[msgspec.Struct]] = {"when": When, "target": TargetWhen}


def _wrong_keys(
    data: Mapping[object, object], shape: type[msgspec.Struct], prefix: str
) -> Iterable[tuple[str, str]]:
    fields = {field.name: field for field in msgspec.structs.fields(shape)}
    for key in data:
        if key not in fields:
            near = difflib.get_close_matches(str(key), fields, 1)
            hint = f"did you mean {near[0]}? " if near else ""
            yield f"{prefix}{key}", f"unknown key; {hint}accepted: {', '.join(fields)}"
    for name, field in fields.items():
        if name not in data:
            if field.required:
                yield f"{prefix}{name}", "missing"
            continue
        value = data[name]
        inner = _NESTED.get(name)
        if inner is not None and isinstance(value, dict):
            yield from _wrong_keys(value, inner, f"{prefix}{name}.")
            continue
        try:
            msgspec.convert(value, field.type, strict=True)
        except msgspec.ValidationError as error:
            yield f"{prefix}{name}", _reason(error, field.type, value)


def _reason(error: msgspec.ValidationError, kind: object, value: object) -> str:
    accepted = _accepted(kind)
    if accepted:
        return f"{value!r} is not accepted; accepted: {', '.join(accepted)}"
    return str(error)


def _accepted(kind: object) -> tuple[str, ...]:
    candidates = [kind, *getattr(kind, "__args__", ())]
    for candidate in candidates:
        if isinstance(candidate, type) and issubclass(candidate, Enum):
            return tuple(str(member.value) for member in candidate)
    return ()


def _line_of(text: str, key: str) -> int:
    match = re.search(rf"^[ \t-]*{re.escape(key)}[ \t]*:", text, re.MULTILINE)
    return text.count("\n", 0, match.start()) + 1 if match else 1
