"""One C++ file, or one piece of C++ in another file, with all that its readers share."""

from bisect import bisect_right
from typing import NamedTuple

from portaudit.analyze.base import Text
from portaudit.analyze.constants import Constants
from portaudit.analyze.functions import Functions
from portaudit.analyze.guards import Regions
from portaudit.analyze.lexical import Directive, Lexed
from portaudit.model.evidence import AttrValue, Confidence, Evidence, EvidenceKind, Guard, Vocabulary


class CxxFile(NamedTuple):
    """Offsets of its readers are those of ``lexed``; ``base`` moves them into ``text``."""

    text: Text
    base: int
    lexed: Lexed
    directives: list[Directive]
    regions: Regions
    functions: Functions
    constants: Constants
    macros: dict[str, str]
    """Macros without parameters: name -> text."""
    words: frozenset[str]
    """All identifiers of the file, those in comments and strings too: a cheap first question, never an
    answer."""
    vocabulary: Vocabulary
    embedded: str
    """Empty; ``string``: in a string of another language; ``rtc``: in a C++ string, for run-time
    compilation."""
    home: Guard | None
    """The guard that the whole file is under, for the folder it is in."""

    @property
    def code(self) -> str:
        """The text with comments and strings blank."""
        return self.lexed.code

    def guard(self, offset: int) -> Guard | None:
        """The guard at an offset."""
        guard = self.regions.at(offset).guard
        # Inside code for ROCm, a test of CUDA's macros is a leftover.
        return guard if self.home is None or (guard and guard.side in ("rocm", "cuda")) else self.home

    def scope(self, offset: int) -> str:
        """The scope at an offset."""
        function = self.functions.at(offset)
        return function.scope if function else ""

    def in_macro(self, offset: int) -> bool:
        """Whether an offset lies in the text of a ``#define``."""
        index = bisect_right(self.directives, offset, key=lambda d: d.start) - 1
        if index < 0:
            return False
        directive = self.directives[index]
        return directive.word == "define" and offset < directive.end

    def on_device(self, offset: int) -> bool:
        """Whether the code at an offset runs on the GPU, as far as its function says."""
        return self.scope(offset).startswith(("device", "kernel"))

    def evidence(
        self,
        kind: EvidenceKind,
        name: str,
        start: int,
        end: int,
        attrs: dict[str, AttrValue] | None = None,
        confidence: Confidence = Confidence.HIGH,
    ) -> Evidence:
        """Evidence with guard and scope of its place."""
        if self.embedded:
            attrs = {**(attrs or {}), "embedded": self.embedded}
        return self.text.evidence(
            kind,
            name,
            self.base + start,
            self.base + end,
            attrs=attrs,
            guard=self.guard(start),
            scope=self.scope(start),
            confidence=confidence,
        )
