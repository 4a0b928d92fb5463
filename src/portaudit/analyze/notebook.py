"""Jupyter notebooks: code cells as one Python text, magics as commands, CUDA cells as CUDA.

Stored outputs and prose are never read.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

import msgspec

from portaudit.analyze import kernelmagics
from portaudit.analyze.base import Text
from portaudit.analyze.cellscan import BadNotebook, Cell, Piece, cells
from portaudit.analyze.pymarks import matters
from portaudit.analyze.python import read
from portaudit.model.evidence import Evidence, Vocabulary
from portaudit.model.places import Skip, Span

_ESCAPE = re.compile(r"\\(?:u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|u[0-9a-fA-F]{4}|.)", re.DOTALL)


def analyze(text: Text, vocabulary: Vocabulary) -> Iterator[Evidence | Skip]:
    """Evidence of one notebook."""
    try:
        language, found = cells(text.text)
    except BadNotebook as error:
        yield Skip(text.path, "syntax", str(error))
        return
    whole = _Joined(text, found)
    code = Text(text.path, whole.code, text.certain)
    if not (matters(code.raw) or kernelmagics.MAGIC.search(whole.code)):
        return
    plain, taken = kernelmagics.commands(code, whole.bounds, language, vocabulary)
    results: list[Evidence] = list(taken)
    python = Text(text.path, plain, text.certain)
    if language.startswith(("python", "ipython")) and matters(python.raw):
        for item in read(python, python.raw, vocabulary):
            if isinstance(item, Skip):
                yield item
            else:
                results.append(item)
    moved = [whole.moved(item) for item in results]
    yield from sorted(moved, key=lambda e: (e.span.line, e.span.column))


class _Joined:
    """All code cells as one text, and the way back to the file."""

    def __init__(self, text: Text, found: list[Cell]) -> None:
        self._text = text
        self._starts: list[int] = []
        self._pieces: list[tuple[Piece, int]] = []
        self.bounds: list[tuple[int, int]] = []
        """Offsets of each cell in the joined text."""
        parts: list[str] = []
        at = 0
        for cell in found:
            begin = at
            for piece in cell.pieces:
                self._starts.append(at)
                self._pieces.append((piece, cell.number))
                parts.append(piece.decoded)
                at += len(piece.decoded)
            self.bounds.append((begin, at))
            parts.append("\n\n")
            at += 2
        self.code = "".join(parts)
        self._lines = Text(text.path, self.code)

    def moved(self, item: Evidence) -> Evidence:
        """The same evidence at its place in the JSON file."""
        span = item.span
        start = self._lines.offset(span.line, span.column)
        end = self._lines.offset(span.end_line, span.end_column)
        line, column, cell = self._place(start)
        end_line, end_column, _ = self._place(max(start, end - 1))
        place = Span(self._text.path, line, column, end_line, end_column + 1, cell)
        guard = item.guard
        if guard is not None and 0 < guard.line <= len(self._lines.starts):
            guard = msgspec.structs.replace(guard, line=self._place(self._lines.offset(guard.line))[0])
        return msgspec.structs.replace(item, span=place, guard=guard)

    def _place(self, offset: int) -> tuple[int, int, int]:
        index = max(0, bisect_right(self._starts, offset) - 1)
        piece, cell = self._pieces[index]
        line, column = self._text.place(piece.start + _raw_offset(piece.raw, offset - self._starts[index]))
        return line, column, cell


def _raw_offset(raw: str, wanted: int) -> int:
    """Where the ``wanted``-th character of a JSON string stands between its quotes."""
    at = 0
    decoded = 0
    for match in _ESCAPE.finditer(raw):
        plain = match.start() - at
        if decoded + plain >= wanted:
            break
        decoded += plain + 1
        at = match.end()
        if decoded > wanted:
            return match.start()
    return min(len(raw), at + max(0, wanted - decoded))
