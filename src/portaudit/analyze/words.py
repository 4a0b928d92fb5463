"""Words of a command line with their place in the file, and the frame in which evidence is made."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from portaudit.analyze.base import Text, rocm_word
from portaudit.model.evidence import AttrValue, Confidence, Evidence, EvidenceKind, Guard, Vocabulary

VALUE_LIMIT = 160
"""Longest text kept in an attribute."""

# Names that say themselves which vendor they belong to; the tables decide what that means.
_VENDOR_NAME = re.compile(
    r"(?:^|_)(?:CUDA|NVIDIA|NCCL|CUDNN|NVCC|CUBLAS|NVTE|NVSHMEM|TENSORRT)(?:_|$)|^CUDA[A-Z]"
)


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


class Word(msgspec.Struct, frozen=True, gc=False):
    """One argument of a command, quotes taken off."""

    text: str
    start: int
    """Offset of its first character in the file, quotes included."""
    end: int


class Regions(msgspec.Struct, frozen=True):
    """Ranges of a file that are reached under a guard only. Inner ranges win."""

    starts: tuple[int, ...] = ()
    guards: tuple[Guard | None, ...] = ()
    """What holds from the start of the same index on."""

    def at(self, offset: int) -> Guard | None:
        """The guard that holds at an offset."""
        index = bisect_right(self.starts, offset) - 1
        return self.guards[index] if index >= 0 else None


NO_REGIONS = Regions()


class Frame(msgspec.Struct, frozen=True):
    """Where evidence is being made: the file, the names to look for, and what holds here."""

    text: Text
    vocabulary: Vocabulary
    scope: str = ""
    regions: Regions = NO_REGIONS
    guard: Guard | None = None
    """Holds where no region says otherwise."""
    named_rocm: Guard | None = None
    """The file's own name says ROCm: no excuse for images, indexes and wheels of NVIDIA in it."""
    confidence: Confidence = Confidence.HIGH
    assigned: frozenset[str] = frozenset()
    """Variables that the file itself sets: reading them is no evidence of its own."""

    def evidence(
        self, kind: EvidenceKind, name: str, start: int, end: int, **attrs: AttrValue | None
    ) -> Evidence:
        """Evidence for a range of characters; attributes that are None are left out."""
        kept = {key: _short(value) for key, value in attrs.items() if value is not None}
        guard = self.guard_at(start)
        if guard is None and kind not in (EvidenceKind.IMAGE, EvidenceKind.INDEX):
            guard = None if name.startswith("nvidia-") or "tag" in kept else self.named_rocm
        confidence = self.confidence
        if not self.text.certain:
            confidence = Confidence.LOW
        return self.text.evidence(
            kind, name, start, end, attrs=kept, guard=guard, scope=self.scope, confidence=confidence
        )

    def guard_at(self, offset: int) -> Guard | None:
        """What holds at an offset; an undecided inner condition does not hide a decided outer one."""
        inner = self.regions.at(offset)
        return inner if inner is not None and (inner.side != "unknown" or self.guard is None) else self.guard

    def within(self, scope: str) -> "Frame":
        """The same frame in another scope."""
        return msgspec.structs.replace(self, scope=scope)


def _short(value: AttrValue) -> AttrValue:
    return value[:VALUE_LIMIT] if isinstance(value, str) else value


def frame_of(text: Text, vocabulary: Vocabulary) -> Frame:
    """The frame of a whole file."""
    vendor = rocm_word(re.split(r"[^a-z0-9]+", text.path.lower()))
    named = Guard("rocm", f"file name {text.path.rsplit('/', 1)[-1]}", 1) if vendor else None
    return Frame(text, vocabulary, named_rocm=named)


def place(evidence: Evidence) -> tuple[int, int]:
    """Where evidence begins, to sort by."""
    return evidence.span.line, evidence.span.column


def joined(words: Iterable[Word]) -> str:
    """Words as one text, cut at the length that attributes keep."""
    parts: list[str] = []
    left = VALUE_LIMIT
    for word in words:
        if left <= 0:
            break
        parts.append(word.text[:left])
        left -= len(word.text) + 1
    return " ".join(parts)


def split_at(text: str, start: int, separators: str = " \t\r\n") -> list[Word]:
    """Words of a text that begins at ``start``; quotes have no meaning."""
    return [
        Word(m.group(), start + m.start(), start + m.end())
        for m in re.finditer(f"[^{re.escape(separators)}]+", text)
    ]


def option(words: Sequence[Word], index: int, *names: str) -> tuple[Word | None, int]:
    """The value of the option at ``index`` (``--name value``, ``--name=value``) and the index after it.

    The index comes back unchanged when another word stands there.
    """
    word = words[index]
    if word.text in names:
        return (words[index + 1] if index + 1 < len(words) else None), index + 2
    head, equal, tail = word.text.partition("=")
    if equal and head in names:
        return Word(tail, max(word.start, word.end - len(tail)), word.end), index + 1
    return None, index


def is_watched_env(name: str, vocabulary: Vocabulary) -> bool:
    """Whether a variable is known to tables or rules, or bears a vendor's name."""
    if name in vocabulary.env or name in vocabulary.watched or _VENDOR_NAME.search(name):
        return True
    prefixes = _env_prefixes(vocabulary.env)
    return bool(prefixes) and name.startswith(prefixes)


@lru_cache(maxsize=4)
def _env_prefixes(names: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(name[:-1] for name in names if name.endswith("*")))
