"""The code cells of a notebook and the places of their source strings: one pass, no recursion."""

import json
import re
from typing import NamedTuple

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_DEPTH_LIMIT = 200
_PIECE_LIMIT = 400_000
_SOURCE = ("source", "input")


class BadNotebook(Exception):
    """The file is not the JSON of a notebook."""


class Piece(NamedTuple):
    """One source string."""

    start: int
    """Offset of its first character behind the quote."""
    raw: str
    """As it stands in the file."""
    decoded: str


class Cell(NamedTuple):
    """One code cell."""

    number: int
    """Position among all cells of the notebook."""
    pieces: tuple[Piece, ...]


class _Level:
    """An object or array being read."""

    __slots__ = ("array", "key", "name")

    def __init__(self, array: bool, name: str) -> None:
        self.array = array
        self.name = name
        """The key that it is the value of."""
        self.key: str | None = None


class _Scan:
    """What has been read so far."""

    def __init__(self) -> None:
        self.levels: list[_Level] = []
        self.cells: list[Cell] = []
        self.index = -1
        self.kind = ""
        self.pieces: list[Piece] = []
        self.cell_depth = 0
        self.languages: dict[str, str] = {}

    def open(self, array: bool) -> None:
        top = self.levels[-1] if self.levels else None
        name = (top.name if top.array else top.key or "") if top is not None else ""
        if len(self.levels) >= _DEPTH_LIMIT:
            raise BadNotebook("nested too deep for a notebook")
        if not array and not self.cell_depth and top is not None and top.array and top.name == "cells":
            self.index += 1
            self.kind, self.pieces, self.cell_depth = "", [], len(self.levels) + 1
        self.levels.append(_Level(array, name))

    def close(self, array: bool) -> None:
        if not self.levels or self.levels[-1].array is not array:
            raise BadNotebook("brackets that do not match")
        if len(self.levels) == self.cell_depth:
            if self.kind == "code":
                self.cells.append(Cell(self.index, tuple(self.pieces)))
            self.cell_depth = 0
        self.levels.pop()
        if self.levels and not self.levels[-1].array:
            self.levels[-1].key = None

    def text(self, start: int, raw: str) -> None:
        level = self.levels[-1] if self.levels else None
        if level is None:
            return
        if not level.array and level.key is None:
            level.key = raw
            return
        depth = len(self.levels)
        if self.cell_depth:
            if not level.array and depth == self.cell_depth and level.key == "cell_type":
                self.kind = raw
            elif (not level.array and depth == self.cell_depth and level.key in _SOURCE) or (
                level.array and depth == self.cell_depth + 1 and level.name in _SOURCE
            ):
                self._piece(start, raw)
        elif (
            not level.array
            and level.key in ("name", "language")
            and level.name in ("language_info", "kernelspec", "metadata")
        ):
            self.languages[f"{level.name}.{level.key}"] = raw
        if not level.array:
            level.key = None

    def _piece(self, start: int, raw: str) -> None:
        if len(self.pieces) < _PIECE_LIMIT:
            self.pieces.append(Piece(start, raw, _decoded(raw)))


def cells(source: str) -> tuple[str, list[Cell]]:
    """Language of a notebook and its code cells. Raises ``BadNotebook``."""
    if not source.lstrip("\ufeff \t\r\n").startswith("{"):
        raise BadNotebook("not a JSON object")
    scan = _Scan()
    for match in _TOKEN.finditer(source):
        sign = match.group()
        first = sign[0]
        if first == '"':
            scan.text(match.start(1), match.group(1))
        elif first in "{[":
            scan.open(first == "[")
        elif first in "}]":
            scan.close(first == "]")
        elif first not in ",:" and scan.levels and not scan.levels[-1].array:
            scan.levels[-1].key = None
    if scan.levels:
        raise BadNotebook("the JSON is cut off")
    named = scan.languages
    language = (
        named.get("language_info.name")
        or named.get("kernelspec.language")
        or named.get("metadata.language")
        or "python"
    )
    return language.lower(), scan.cells


def _decoded(raw: str) -> str:
    if "\\" not in raw:
        return raw
    try:
        decoded = json.loads(f'"{raw}"', strict=False)
    except ValueError:
        return raw
    # One character for one: a pair of surrogates or a lone one must not end up in reports.
    return (
        decoded.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if isinstance(decoded, str)
        else raw
    )
