"""How findings add up. The worst one decides, never an average; two things keep a blocker from blocking a
whole:

- a finding of low confidence is a question, not an answer: it counts as adaptation at the most;
- a place that is reached only when an optional import succeeds blocks that feature, not the component.

One thing makes a blocker of what is adaptation place by place: kernels that are built on NVIDIA's matrix
instructions
and nothing else. Each instruction has a counterpart of another shape; a component that consists of them is
written
anew, and projects of that kind were given up by those who tried to port them line by line.
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


_MATRIX_RULES = frozenset({"ptx-mma", "ptx-matrix-load"})
_FEW_KERNELS = 3
"""Below this many kernels a rewrite is a matter of days, not a decision."""


def only_matrix_kernels(kernels: dict[str, int], findings: list[Finding]) -> int:
    """How many kernels a component has, if every file with kernels works by PTX matrix instructions; 0
    otherwise.

    ``kernels`` counts the kernels of each file that a ROCm build reaches.
    """
    matrix = {f.span.path for f in findings if f.rule in _MATRIX_RULES and f.state is State.SHOWN}
    total = sum(kernels.values())
    return total if total >= _FEW_KERNELS and matrix >= kernels.keys() else 0


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
