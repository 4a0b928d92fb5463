"""Decoded source with a line index, and what every analyzer is: ``analyze(text, vocabulary) -> evidence``."""

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Protocol

from portaudit.model.evidence import AttrValue, Confidence, Evidence, EvidenceKind, Guard, Vocabulary
from portaudit.model.places import Skip, Span

# A declared encoding is believed only when it is one of these: looking up any name that a file gives
# can load codecs of quadratic cost (punycode, idna).
_DECLARED = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "latin-1": "latin-1",
    "iso-8859-1": "latin-1",
    "iso-8859-15": "iso-8859-15",
    "cp1252": "cp1252",
    "ascii": "utf-8",
}
_CODING = re.compile(rb"coding[:=][ \t]*([-\w.]{1,40})")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LINE_TEXT_LIMIT = 400


class NotText(Exception):
    """The bytes are not text in an encoding that is read here."""


class Text:
    """A source file as characters. ``raw`` has one byte for each character, so that byte offsets of a parser
    are character offsets here: characters beyond ASCII become ``x``."""

    __slots__ = ("_starts", "certain", "path", "text")

    def __init__(self, path: str, text: str, certain: bool = True) -> None:
        self.path = path
        self.text = text
        self.certain = certain
        """False when the encoding had to be guessed."""
        self._starts: list[int] | None = None

    @classmethod
    def decode(cls, path: str, data: bytes) -> "Text":
        """Text of a file: BOM, then UTF-8, then a declared encoding from a short list, then latin-1.

        Raises ``NotText`` when it is mostly zero bytes or breaks its own BOM.
        """
        for bom, encoding in _BOMS:
            if data.startswith(bom):
                try:
                    return cls(
                        path,
                        data[len(bom) :].decode(encoding) if encoding == "utf-8" else data.decode(encoding),
                    )
                except UnicodeDecodeError as error:
                    raise NotText(f"not valid {encoding}") from error
        if data.count(b"\0") > len(data) // 100:
            raise NotText("zero bytes")
        try:
            return cls(path, data.decode("utf-8"))
        except UnicodeDecodeError:
            declared = _CODING.search(data[:400])
            encoding = (
                _DECLARED.get(declared.group(1).decode("ascii").lower(), "latin-1") if declared else "latin-1"
            )
            return cls(path, data.decode("latin-1" if encoding == "utf-8" else encoding, "replace"), False)

    @property
    def raw(self) -> bytes:
        """One byte for each character."""
        if self.text.isascii():
            return self.text.encode("ascii")
        return re.sub(r"[^\x00-\x7f]", "x", self.text).encode("ascii")

    @property
    def starts(self) -> list[int]:
        """Offset of the first character of each line; lines end at LF, CR LF or CR."""
        if self._starts is None:
            self._starts = _line_starts(self.text)
        return self._starts

    @property
    def line_count(self) -> int:
        """Lines, an empty one at the end not counted."""
        ends = self.text.count("\n") + self.text.count("\r") - self.text.count("\r\n")
        return ends + (not self.text.endswith(("\n", "\r")) or not ends)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character offset, both from 1."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def offset(self, line: int, column: int = 1) -> int:
        """Character offset of a line and column."""
        return self.starts[line - 1] + column - 1

    def line(self, number: int) -> str:
        """A line without its end, cut at 400 characters."""
        start = self.starts[number - 1]
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[start : min(end, start + _LINE_TEXT_LIMIT)].rstrip("\r\n")

    def span(self, start: int, end: int) -> Span:
        """The span of two character offsets."""
        line, column = self.place(start)
        end_line, end_column = self.place(end)
        return Span(self.path, line, column, end_line, end_column)

    def evidence(
        self,
        kind: EvidenceKind,
        name: str,
        start: int,
        end: int,
        *,
        attrs: dict[str, AttrValue] | None = None,
        guard: Guard | None = None,
        scope: str = "",
        confidence: Confidence = Confidence.HIGH,
    ) -> Evidence:
        """Evidence for a range of characters of this text."""
        span = self.span(start, end)
        pairs = tuple(sorted(attrs.items())) if attrs else ()
        return Evidence(kind, name, span, pairs, guard, scope, self.line(span.line), confidence)


def _line_starts(text: str) -> list[int]:
    if text.count("\r") == text.count("\r\n"):
        # Every line end has its LF, nearly always: splitting at it is five times faster than a pattern.
        lengths = map(len, text.split("\n"))
        return [0, *(at + count for count, at in enumerate(accumulate(lengths), 1))][:-1]
    return [0, *(m.end() for m in re.finditer(r"\r\n|\n|\r", text))]


_ROCM_WORD = re.compile(r"(?:rocm|hip|amd(?!64$)|amdgpu)\d*")
_CUDA_WORD = re.compile(r"cuda\d*|cu\d+|nvidia")


def rocm_word(words: Iterable[str]) -> str:
    """The word among those of a path that names ROCm's side; empty where none does, or one names CUDA's."""
    named = [word for word in words if _ROCM_WORD.fullmatch(word) or _CUDA_WORD.fullmatch(word)]
    return named[0] if named and not any(_CUDA_WORD.fullmatch(word) for word in named) else ""


class Analyzer(Protocol):
    """What each analyzer module offers under the name ``analyze``."""

    def __call__(self, text: Text, vocabulary: Vocabulary) -> Iterator[Evidence | Skip]:
        """Evidence in the order of the file; a ``Skip`` for what could not be understood."""
        ...
