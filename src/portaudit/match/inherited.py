"""What a file inherits: a source that includes a header which can't be built is not built either."""

from collections import deque
from collections.abc import Iterator

from portaudit.match.tree import TreeFacts
from portaudit.model.evidence import Confidence, Evidence
from portaudit.model.facts import Rule, Verdict
from portaudit.model.findings import Finding, State

SLUG = "blocked-header-included"


def inherited(findings: list[Finding], tree: TreeFacts, rule: Rule) -> Iterator[Finding]:
    """A finding for each file that reaches a blocked header and has no such header of its own.

    Only headers of closed or missing libraries count: inline assembly in a header can be cut out by hand, a
    missing header stops every file that sees it.
    """
    roots: dict[str, Finding] = {}
    for finding in findings:
        if _stops_a_build(finding):
            roots.setdefault(finding.span.path, finding)
    if not roots:
        return
    includers = tree.includers()
    cause = dict(roots)
    pending = deque(sorted(roots))
    while pending:
        header = pending.popleft()
        for path in sorted(includers.get(header, ())):
            include = _include_of(path, header, tree)
            if path in cause or include is None:
                continue
            cause[path] = cause[header]
            pending.append(path)
            yield _finding(include, header, cause[header], rule)


def _stops_a_build(finding: Finding) -> bool:
    return (
        finding.verdict is Verdict.BLOCKER
        and finding.state is State.SHOWN
        and finding.evidence_kind == "include"
        and finding.confidence is not Confidence.LOW
        and finding.guard is None
    )


def _include_of(path: str, header: str, tree: TreeFacts) -> Evidence | None:
    for item in tree.includes.get(path, ()):
        if item.guard is None and header in tree.resolve(path, item.name):
            return item
    return None


def _finding(include: Evidence, header: str, cause: Finding, rule: Rule) -> Finding:
    return Finding(
        rule=rule.slug,
        verdict=rule.verdict,
        level=rule.level,
        confidence=rule.confidence,
        element=rule.element,
        span=include.span,
        subject=cause.subject,
        equivalent=cause.equivalent,
        message=rule.message.format(
            name=header, subject=cause.subject, path=cause.span.path, line=cause.span.line
        ),
        why=rule.why,
        fix=rule.fix,
        evidence_kind=include.kind.value,
        line_text=include.line_text,
        related=(cause.span,),
    )
