"""Hours low, likely, high of a component, from the effort class of each rule that fired in it."""

from collections import defaultdict
from math import log2

from portaudit.knowledge.store import Knowledge
from portaudit.model.facts import Verdict
from portaudit.model.findings import Finding, State

Hours = tuple[float, float, float]


def hours(findings: list[Finding], knowledge: Knowledge) -> Hours:
    """Hours for one component.

    A rule costs its hours once for understanding it, and more with each doubling of the distinct things
    that it was found on: ten sites of one rename are one pass with an editor, not ten pieces of work.
    """
    subjects: dict[str, set[str]] = defaultdict(set)
    for finding in findings:
        if finding.state is State.SHOWN and finding.verdict is not Verdict.PORTABLE:
            subjects[finding.rule].add(finding.subject)
    low = likely = high = 0.0
    for slug, names in subjects.items():
        rule = knowledge.rule(slug)
        if rule is None:
            continue
        factor = 1.0 + log2(len(names))
        least, middle, most = knowledge.hours(rule.effort)
        low += least * factor
        likely += middle * factor
        high += most * factor
    return round(low, 1), round(likely, 1), round(high, 1)
