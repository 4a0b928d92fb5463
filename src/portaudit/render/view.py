"""What all formats for people show: counts, shares, topics, blockers, what was not read. Nothing here decides
a verdict; it only groups, counts and orders what the report says."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from portaudit.model.evidence import Confidence
from portaudit.model.facts import Verdict
from portaudit.model.findings import Finding, State
from portaudit.model.places import Skip
from portaudit.model.report import Component, Report
from portaudit.render.words import Words

VERDICTS = tuple(v.value for v in Verdict)
"""From portable to blocker, the order of every bar and table."""
NOT_READ = "not-read"
HOURS_A_DAY = 8
_CUDA_ITSELF = frozenset({"cu", "cuda", "nv", "nvidia", "std", "thrust", "torch"})
# A first part before ``::``, ``/`` or ``.``, or the small letters that a name of a C library starts with.
_HEAD = re.compile(r"([A-Za-z_]\w*)(?:::|[./])|([a-z]{3,}\d*)(?=[A-Z_])")
_MAKER = re.compile(r"\b(?:Instinct|Radeon)\b|\([^)]*\)")
_T = TypeVar("_T")
_K = TypeVar("_K")


class Part(msgspec.Struct, frozen=True):
    """One segment of a bar."""

    name: str
    """A verdict, or ``not-read``."""
    count: int
    share: float
    """0 to 1 of the whole bar."""

    @property
    def percent(self) -> str:
        """The share in words; never 0 % for something that is there, nor 100 % for less than all."""
        return percent(self.count, self.share)


class Bar(msgspec.Struct, frozen=True):
    """How one kind of thing divides into verdicts."""

    what: str
    """components, files or findings."""
    total: int
    parts: tuple[Part, ...]


class Topic(msgspec.Struct, frozen=True):
    """One rule with all places where it fired."""

    rule: str
    title: str
    verdict: str
    count: int
    files: int
    names: tuple[str, ...]
    """The subjects seen most often."""
    first: Finding


class Blocker(msgspec.Struct, frozen=True):
    """A construct, or a library with the names used of it, that has no way to ROCm."""

    name: str
    """Title of a rule about code, or the library or name that a table knows."""
    names: tuple[str, ...]
    """The subjects seen most often."""
    distinct: int
    """How many subjects there are."""
    rule: str
    count: int
    files: int
    certain: bool
    """False when each place is of low confidence or behind an optional import."""
    first: Finding


class Unread(msgspec.Struct, frozen=True):
    """What was not read for one reason."""

    reason: str
    whole: bool
    """False: read all the same, by a simpler reader."""
    count: int
    first: tuple[Skip, ...]


class View(msgspec.Struct, frozen=True):
    """The figures of a report, made once for all that show them."""

    report: Report
    shown: tuple[Finding, ...]
    """Findings that are work to look at."""
    bars: tuple[Bar, ...]
    """Components, files, findings."""
    topics: tuple[Topic, ...]
    """Work for a person: adaptation and blocker, most frequent first."""
    renames: tuple[Topic, ...]
    """Direct ones."""
    blockers: tuple[Blocker, ...]
    unread: tuple[Unread, ...]
    confidence: dict[str, int]
    """Shown findings by confidence, high first."""
    days: tuple[float, float, float]
    """Person-days low, likely, high; the sum over the components."""

    def bar(self, what: str) -> Bar:
        """The bar of components, files or findings."""
        return next(bar for bar in self.bars if bar.what == what)


def percent(count: int, share: float) -> str:
    """A share as whole percent; ``<1 %`` and ``>99 %`` where rounding would deny what is there."""
    if count and share < 0.01:
        return "<1 %"
    if share < 1 and share > 0.99:
        return ">99 %"
    return f"{round(share * 100)} %"


def headline(report: Report, say: Words) -> str:
    """The verdict on the whole, in one sentence."""
    key = f"headline.{report.verdict.value}" if report.counts.read else "headline.nothing-read"
    return say(key, root=report.root, rocm=report.target.release, gfx=gpus(report))


def gpus(report: Report) -> str:
    """The architectures of the target, each with the products that people know it by."""
    return ", ".join(
        f"{g.name} ({names})" if (names := _products(g.product)) else g.name for g in report.target.gfx
    )


def _products(product: str) -> str:
    names = [_MAKER.sub("", part).strip() for part in re.split("[;,]", product)]
    names = [name for name in names if name]
    return ", ".join(names[:2]) + (", …" if len(names) > 2 else "")


def view(report: Report) -> View:
    """The view model of a report."""
    shown = tuple(f for f in report.findings if f.state is State.SHOWN)
    titles = {rule.slug: rule.title for rule in report.rules}
    rated = Counter(f.confidence.value for f in shown)
    topics = _topics(shown, titles)
    return View(
        report=report,
        shown=shown,
        bars=_bars(report),
        topics=tuple(t for t in topics if t.verdict in ("adaptation", "blocker")),
        renames=tuple(t for t in topics if t.verdict == "direct"),
        blockers=_blockers(shown, titles, frozenset(r.slug for r in report.rules if r.derived)),
        unread=_unread(report.skips),
        confidence={c.value: rated.get(c.value, 0) for c in Confidence},
        days=_days(report.components),
    )


def _bars(report: Report) -> tuple[Bar, ...]:
    counts = report.counts
    files = Counter(file.verdict.value for file in report.files)
    return (
        _bar("components", counts.components, 0),
        _bar("files", files, counts.skipped),
        _bar("findings", counts.findings, 0),
    )


def _bar(what: str, counted: "dict[str, int] | Counter[str]", not_read: int) -> Bar:
    named = [(v, counted.get(v, 0)) for v in VERDICTS]
    if not_read:
        named.append((NOT_READ, not_read))
    total = sum(count for _, count in named)
    return Bar(what, total, tuple(Part(name, n, n / total if total else 0.0) for name, n in named))


def _topics(shown: Iterable[Finding], titles: dict[str, str]) -> list[Topic]:
    topics = []
    for (rule, verdict), found in _grouped(shown, lambda f: (f.rule, f.verdict)).items():
        names = Counter(f.subject for f in found)
        topics.append(
            Topic(
                rule=rule,
                title=titles.get(rule, rule),
                verdict=verdict.value,
                count=len(found),
                files=len({f.span.path for f in found}),
                names=tuple(name for name, _ in names.most_common(3)),
                first=min(found, key=_place),
            )
        )
    return sorted(topics, key=lambda t: (-t.count, -VERDICTS.index(t.verdict), t.rule))


def _blockers(
    shown: Iterable[Finding], titles: dict[str, str], derived: frozenset[str]
) -> tuple[Blocker, ...]:
    blocking = [f for f in shown if f.verdict is Verdict.BLOCKER]
    rows = []
    for (_, name), found in _grouped(blocking, _origin).items():
        names = Counter(f.subject for f in found)
        sure = [f for f in found if _is_certain(f)]
        first = min(sure or found, key=_place)
        rows.append(
            Blocker(
                name=names.most_common(1)[0][0]
                if first.table and len(names) == 1
                else titles.get(name, name),
                names=tuple(subject for subject, _ in names.most_common(3)),
                distinct=len(names),
                rule=first.rule,
                count=len(found),
                files=len({f.span.path for f in found}),
                certain=bool(sure),
                first=first,
            )
        )
    # What follows from another blocker comes after its causes, however many files it is.
    return tuple(sorted(rows, key=lambda b: (not b.certain, b.rule in derived, -b.files, -b.count, b.name)))


def _origin(finding: Finding) -> tuple[bool, str]:
    """What a blocker belongs to: the rule where code was judged; where a table knows a name, its library."""
    return (False, library(finding.subject)) if finding.table else (True, finding.rule)


def library(name: str) -> str:
    """The library that a name shows by itself: ``cutlass`` of ``cutlass::half_t``, ``cutlass/array.h`` and
    ``cutlass.cute``; ``optix`` of ``optixTrace``. Names of CUDA itself stand alone."""
    head = _HEAD.match(name)
    if head is None:
        return name
    word = head.group(1) or head.group(2)
    return name if word in _CUDA_ITSELF else word


def _is_certain(finding: Finding) -> bool:
    optional = finding.guard is not None and finding.guard.side == "optional"
    return finding.confidence is not Confidence.LOW and not optional


def _place(finding: Finding) -> tuple[str, int, int]:
    return finding.span.path, finding.span.line, finding.span.column


def _unread(skips: Iterable[Skip]) -> tuple[Unread, ...]:
    groups = _grouped(skips, lambda s: (s.reason, s.whole))
    rows = [Unread(reason, whole, len(found), tuple(found[:3])) for (reason, whole), found in groups.items()]
    return tuple(sorted(rows, key=lambda u: (not u.whole, -u.count, u.reason)))


def _days(components: Iterable[Component]) -> tuple[float, float, float]:
    low = likely = high = 0.0
    for component in components:
        low += component.hours[0]
        likely += component.hours[1]
        high += component.hours[2]
    return low / HOURS_A_DAY, likely / HOURS_A_DAY, high / HOURS_A_DAY


def _grouped(items: Iterable[_T], key: Callable[[_T], _K]) -> dict[_K, list[_T]]:
    groups: dict[_K, list[_T]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups
