"""What all formats for people show: counts, shares, topics, blockers, what was not read. Nothing here decides
a verdict; it only groups, counts and orders what the report says."""

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
    """One name or construct that has no way to ROCm, with all its places."""

    subject: str
    rule: str
    title: str
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
    """The architectures of the target with their products."""
    return ", ".join(f"{g.name} ({g.product})" if g.product else g.name for g in report.target.gfx)


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
        blockers=_blockers(shown, titles),
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


def _blockers(shown: Iterable[Finding], titles: dict[str, str]) -> tuple[Blocker, ...]:
    blocking = [f for f in shown if f.verdict is Verdict.BLOCKER]
    rows = []
    for (rule, subject), found in _grouped(blocking, lambda f: (f.rule, f.subject)).items():
        sure = [f for f in found if _is_certain(f)]
        rows.append(
            Blocker(
                subject=subject,
                rule=rule,
                title=titles.get(rule, rule),
                count=len(found),
                files=len({f.span.path for f in found}),
                certain=bool(sure),
                first=min(sure or found, key=_place),
            )
        )
    rows.sort(key=lambda b: (not b.certain, -b.files, -b.count, b.subject, b.rule))
    return tuple(_varied(rows))


def _varied(rows: list[Blocker]) -> list[Blocker]:
    """The first of each rule before the second of any: five names of one topic tell less than five topics."""
    turn: Counter[str] = Counter()
    keyed = []
    for order, row in enumerate(rows):
        keyed.append((not row.certain, turn[row.rule] // 2, order, row))
        turn[row.rule] += 1
    return [row for *_, row in sorted(keyed, key=lambda k: k[:3])]


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
