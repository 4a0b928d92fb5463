"""What evidence means for a target."""

from enum import Enum

import msgspec

from portaudit.model.evidence import Confidence, Guard
from portaudit.model.facts import Element, Level, Verdict
from portaudit.model.places import Span


class State(str, Enum):
    """Whether a finding is shown as work."""

    SHOWN = "shown"
    IGNORED = "ignored"
    GUARDED = "guarded"


class Finding(msgspec.Struct, frozen=True, gc=False):
    """One place and what it needs."""

    rule: str
    """Slug; ``Report.rules`` has the id and the texts."""
    verdict: Verdict
    level: Level
    confidence: Confidence
    element: Element
    span: Span
    subject: str
    """The name or construct seen."""
    equivalent: str
    message: str
    why: str
    fix: str
    state: State = State.SHOWN
    guard: Guard | None = None
    table: str = ""
    """Table and name of the fact behind it, ``api:cudaMalloc``; empty for semantic rules."""
    evidence_kind: str = ""
    scope: str = ""
    line_text: str = ""
    related: tuple[Span, ...] = ()
    fingerprint: str = ""
