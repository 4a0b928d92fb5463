"""How findings add up. The worst one decides, never an average; two things keep a blocker from blocking a
whole:

- a finding of low confidence is a question, not an answer: it counts as adaptation at the most;
- a place that is reached only when an optional import succeeds blocks that feature, not the component.
"""

from collections import Counter
from collections.abc import Iterable

from portaudit.model.evidence import Confidence
from portaudit.model.facts import Verdict
from portaudit.model.findings import Finding, State


def weight(finding: Finding) -> Verdict:
    """The verdict with which a finding counts towards its file and component."""
    if finding.state is State.GUARDED:
        return Verdict.PORTABLE
    optional = finding.guard is not None and finding.guard.side == "optional"
    if finding.verdict is Verdict.BLOCKER and (finding.confidence is Confidence.LOW or optional):
        return Verdict.ADAPTATION
    return finding.verdict


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of some verdicts; portable when there are none."""
    return max(verdicts, key=lambda v: v.rank, default=Verdict.PORTABLE)


def reason(verdict: Verdict, findings: list[Finding]) -> str:
    """Why a component has its verdict, in one sentence."""
    if verdict is Verdict.PORTABLE:
        guarded = sum(f.state is State.GUARDED for f in findings)
        if guarded:
            return f"{guarded} CUDA place{'s' if guarded > 1 else ''}, all behind ROCm guards"
        return "nothing in it depends on CUDA"
    deciding = [f for f in findings if weight(f) is verdict]
    topics = Counter(f.subject for f in deciding).most_common(3)
    names = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in topics)
    more = len({f.subject for f in deciding}) - len(topics)
    tail = f" and {more} more" if more > 0 else ""
    if verdict is Verdict.DIRECT:
        return f"mechanical renames only: {names}{tail}"
    if verdict is Verdict.ADAPTATION:
        return f"{len(deciding)} place{'s' if len(deciding) > 1 else ''} for a person: {names}{tail}"
    return f"no counterpart or tied to NVIDIA: {names}{tail}"
