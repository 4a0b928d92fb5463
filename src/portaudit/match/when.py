"""The condition language of semantic rules: kind, name, attributes, scope, nearness, path, target."""

import operator
import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase, translate
from functools import lru_cache

from portaudit.model.evidence import AttrValue, Evidence
from portaudit.model.facts import Gfx, Rule, Target, TargetWhen, When

_RELEASE = re.compile(r"(>=|<=|>|<|==)[ ]*(\d+(?:\.\d+)*)$")
_ORDER: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}


class Neighbours:
    """Names that are evidence in the same file, and in the same scope of it."""

    __slots__ = ("_by_scope", "names")

    def __init__(self, evidence: list[Evidence]) -> None:
        self.names: set[str] = set()
        self._by_scope: dict[str, set[str]] = {}
        for item in evidence:
            self.names.add(item.name)
            if item.scope:
                self._by_scope.setdefault(item.scope, set()).add(item.name)

    def of(self, scope: str) -> set[str]:
        """Names in one scope."""
        return self._by_scope.get(scope, set())


def holds_for(when: TargetWhen | None, target: Target) -> bool:
    """Whether a target condition holds for at least one architecture of the target."""
    if when is None:
        return True
    if when.rocm and not _release_fits(target.rocm, when.rocm):
        return False
    return any(_gfx_holds(when, gfx) for gfx in target.gfx)


def _release_fits(release: tuple[int, ...], wanted: str) -> bool:
    """Whether a release fits ``>=7.0``, ``<10`` or several of them with commas."""
    for part in wanted.split(","):
        match = _RELEASE.match(part.strip())
        if match is None:
            return False
        bound = tuple(int(n) for n in match.group(2).split("."))
        size = max(len(bound), len(release))
        left, right = (r + (0,) * (size - len(r)) for r in (release, bound))
        if not _ORDER[match.group(1)](left, right):
            return False
    return True


def _gfx_holds(when: TargetWhen, gfx: Gfx) -> bool:
    return (
        (not when.wavefront or gfx.wavefront == when.wavefront)
        and (when.images is None or gfx.images == when.images)
        and (not when.gfx or any(fnmatchcase(gfx.name, g) for g in when.gfx))
        and (not when.fp8 or gfx.fp8 in when.fp8)
        and (not when.lds_below or gfx.lds_kib < when.lds_below)
    )


def holds(when: When, evidence: Evidence, near: Neighbours) -> bool:
    """Whether the condition of a rule holds for one evidence; kind and target are tested before."""
    return (
        (not when.name or _any_name(when.name, evidence.name))
        and (not when.scope or _in_scope(when.scope, evidence.scope))
        and (not when.not_scope or not _in_scope(when.not_scope, evidence.scope))
        and (not when.attrs or _attrs_hold(when.attrs, dict(evidence.attrs)))
        and (not when.near or _any_near(when.near, near.names))
        and (not when.near_function or _any_near(when.near_function, near.of(evidence.scope)))
        and (not when.not_near or not _any_near(when.not_near, near.names))
        and (not when.path or any(fnmatchcase(evidence.span.path, p) for p in when.path))
    )


def index(rules: tuple[Rule, ...], target: Target) -> "dict[str, Indexed]":
    """The semantic rules that can hold for a target, by evidence kind and exact name."""
    table: dict[str, Indexed] = {}
    for rule in rules:
        if rule.when is None or not holds_for(rule.when.target, target):
            continue
        for kind in rule.when.kind:
            table.setdefault(kind, Indexed()).add(rule, rule.when.name)
    return table


class Indexed:
    """Rules of one evidence kind: by exact name, and those that want a look at every name."""

    __slots__ = ("by_name", "others")

    def __init__(self) -> None:
        self.by_name: dict[str, list[Rule]] = {}
        self.others: list[Rule] = []

    def add(self, rule: Rule, names: tuple[str, ...]) -> None:
        """Files a rule."""
        if not names or any(_is_glob(n) for n in names):
            self.others.append(rule)
            return
        for name in names:
            self.by_name.setdefault(name, []).append(rule)

    def candidates(self, name: str) -> list[Rule]:
        """Rules that may hold for a name."""
        exact = self.by_name.get(name)
        return self.others if exact is None else [*exact, *self.others]


def _is_glob(name: str) -> bool:
    return "*" in name or "?" in name


@lru_cache(maxsize=1024)
def _names(patterns: tuple[str, ...]) -> "tuple[frozenset[str], re.Pattern[str] | None]":
    """Exact names, and one pattern for all globs."""
    globs = [translate(p) for p in patterns if _is_glob(p)]
    exact = frozenset(p for p in patterns if not _is_glob(p))
    return exact, re.compile("|".join(globs)) if globs else None


def _any_name(patterns: tuple[str, ...], name: str) -> bool:
    exact, globs = _names(patterns)
    return name in exact or (globs is not None and globs.match(name) is not None)


def _any_near(patterns: tuple[str, ...], names: set[str]) -> bool:
    exact, globs = _names(patterns)
    return not exact.isdisjoint(names) or (globs is not None and any(globs.match(n) for n in names))


def _in_scope(wanted: str, scope: str) -> bool:
    # A kernel runs on the device too.
    return scope.startswith(wanted) or (wanted == "device" and scope.startswith("kernel"))


def _attrs_hold(wanted: Mapping[str, object], attrs: dict[str, AttrValue]) -> bool:
    return all(_attr_holds(value, attrs.get(name)) for name, value in wanted.items())


def _attr_holds(wanted: object, value: AttrValue | None) -> bool:
    if wanted is True:
        return bool(value)
    if wanted is False:
        return not value
    if isinstance(wanted, list | tuple):
        return value in wanted
    if isinstance(wanted, str):
        if len(wanted) > 1 and wanted[0] == wanted[-1] == "/":
            return value is not None and _pattern(wanted[1:-1]).search(str(value)) is not None
        if wanted[:1] in "<>" and wanted[1:].lstrip("=").strip().lstrip("-").isdigit():
            return isinstance(value, int) and not isinstance(value, bool) and _compares(value, wanted)
    return value == wanted


def _compares(value: int, wanted: str) -> bool:
    number = int(wanted.lstrip("<>=").strip())
    if wanted.startswith(">="):
        return value >= number
    if wanted.startswith("<="):
        return value <= number
    return value > number if wanted.startswith(">") else value < number


@lru_cache(maxsize=512)
def _pattern(text: str) -> "re.Pattern[str]":
    return re.compile(text)
