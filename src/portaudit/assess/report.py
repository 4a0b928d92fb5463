"""Puts a report together: file and component verdicts, counts, unknown names, what was not read."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from portaudit.assess.components import Part, parts
from portaudit.assess.estimate import hours
from portaudit.assess.verdicts import only_matrix_kernels, reason, weight, worst
from portaudit.knowledge.store import Knowledge
from portaudit.model.evidence import EvidenceKind, Reading
from portaudit.model.facts import Target, Verdict
from portaudit.model.findings import Finding, State
from portaudit.model.places import Skip, Source
from portaudit.model.report import Component, Counts, FileReport, Report, Unknown

_UNKNOWN_RULE = "api-unknown"


def make_report(
    *,
    version: str,
    root: str,
    target: Target,
    knowledge: Knowledge,
    sources: list[Source],
    readings: list[Reading],
    findings: list[Finding],
    skips: list[Skip],
) -> Report:
    """The report of a scan; everything in it is sorted, nothing depends on time or place."""
    by_file: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_file[finding.span.path].append(finding)
    reading_of = {reading.path: reading for reading in readings}
    skips = sorted([*skips, *(s for r in readings for s in r.skips)], key=lambda s: (s.path, s.reason))
    unread = {skip.path for skip in skips if skip.whole}
    groups = parts(sources, root)
    components = tuple(
        sorted(
            (_component(group, by_file, reading_of, unread, knowledge) for group in groups),
            key=lambda c: (-c.verdict.rank, -sum(c.counts.values()), c.path, c.kind),
        )
    )
    owner = {path: group.name for group in groups for path in group.files}
    files = tuple(
        FileReport(
            path=source.path,
            kind=source.kind,
            lines=reading_of[source.path].lines if source.path in reading_of else 0,
            verdict=worst(weight(f) for f in by_file.get(source.path, ())),
            component=owner.get(source.path, ""),
            findings=sum(f.state is State.SHOWN for f in by_file.get(source.path, ())),
        )
        for source in sorted(sources, key=lambda s: s.path)
        if source.path in reading_of and reading_of[source.path].read
    )
    unknown = _unknown(findings)
    verdict = worst(c.verdict for c in components)
    fired = {f.rule for f in findings}
    return Report(
        version=version,
        rules_digest=knowledge.digest,
        target=target,
        root=root,
        verdict=verdict,
        reason=_overall(verdict, components),
        components=components,
        files=files,
        findings=tuple(findings),
        skips=tuple(skips),
        unknown=unknown,
        counts=_counts(sources, files, components, findings, unknown, unread),
        rules=tuple(rule for rule in knowledge.rules if rule.slug in fired),
        knowledge_date=knowledge.newest,
    )


def _component(
    group: Part,
    by_file: dict[str, list[Finding]],
    reading_of: dict[str, Reading],
    unread: set[str],
    knowledge: Knowledge,
) -> Component:
    own = [finding for path in group.files for finding in by_file.get(path, ())]
    verdict = worst(weight(f) for f in own)
    why = reason(verdict, own)
    alone = only_matrix_kernels(_kernels(group, reading_of), own)
    if alone and verdict is not Verdict.BLOCKER:
        verdict = Verdict.BLOCKER
        why = f"all {alone} kernels are built on matrix instructions of NVIDIA: a rewrite, not a port"
    return Component(
        name=group.name,
        kind=group.kind,
        path=group.path,
        verdict=verdict,
        reason=why,
        files=len(group.files),
        lines=sum(reading_of[p].lines for p in group.files if p in reading_of),
        counts=_by_verdict(f.verdict for f in own if f.state is State.SHOWN),
        complete=not any(path in unread for path in group.files),
        hours=hours(own, knowledge),
    )


def _kernels(group: Part, reading_of: dict[str, Reading]) -> dict[str, int]:
    """Kernels of each file that a ROCm build reaches."""
    counted: Counter[str] = Counter()
    for path in group.files:
        for item in reading_of[path].evidence if path in reading_of else ():
            if item.kind is EvidenceKind.KERNEL and (item.guard is None or item.guard.side != "cuda"):
                counted[path] += 1
    return dict(counted)


def _by_verdict(verdicts: Iterable[Verdict]) -> dict[str, int]:
    counted = Counter(v.value for v in verdicts)
    return {v.value: counted.get(v.value, 0) for v in Verdict}


def _overall(verdict: Verdict, components: tuple[Component, ...]) -> str:
    if not components:
        return "no file of a kind that is read here"
    deciding = [c for c in components if c.verdict is verdict]
    names = ", ".join(c.name for c in deciding[:3])
    more = f" and {len(deciding) - 3} more" if len(deciding) > 3 else ""
    share = f"{len(deciding)} of {len(components)} components"
    if verdict is Verdict.PORTABLE:
        return "nothing that is left to do depends on CUDA"
    if verdict is Verdict.DIRECT:
        return f"{share} need mechanical renames, none needs a person's judgement"
    if verdict is Verdict.ADAPTATION:
        return f"{share} need changes by a person, none is blocked: {names}{more}"
    return f"{share} use something without counterpart on ROCm: {names}{more}"


def _unknown(findings: list[Finding]) -> tuple[Unknown, ...]:
    first: dict[str, Finding] = {}
    count: Counter[str] = Counter()
    for finding in findings:
        if finding.rule == _UNKNOWN_RULE:
            first.setdefault(finding.subject, finding)
            count[finding.subject] += 1
    return tuple(
        Unknown(name, count[name], first[name].span.path, first[name].span.line)
        for name in sorted(first, key=lambda n: (-count[n], n))
    )


def _counts(
    sources: list[Source],
    files: tuple[FileReport, ...],
    components: tuple[Component, ...],
    findings: list[Finding],
    unknown: tuple[Unknown, ...],
    unread: set[str],
) -> Counts:
    return Counts(
        files=len(sources),
        read=len(files),
        lines=sum(f.lines for f in files),
        findings=_by_verdict(f.verdict for f in findings if f.state is State.SHOWN),
        components=_by_verdict(c.verdict for c in components),
        guarded=sum(f.state is State.GUARDED for f in findings),
        ignored=sum(f.state is State.IGNORED for f in findings),
        unknown=len(unknown),
        skipped=len(unread),
    )
