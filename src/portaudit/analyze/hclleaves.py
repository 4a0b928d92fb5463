"""HCL (Terraform, bake files) -> leaves with places: blocks, attributes, lists; expressions stay text."""

import re
from collections.abc import Iterator

from portaudit.analyze.leaves import DEPTH_LIMIT, Leaf, Path

_TOKEN = re.compile(
    r"(?P<blank>[ \t]+)|(?P<line>\r?\n)|(?P<comment>(?:#|//)[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<here><<[-~]?(?P<mark>[A-Za-z_]\w{0,60}))|(?P<string>\"(?:[^\"\\\n]|\\.)*\")"
    r"|(?P<word>[A-Za-z_][\w.-]*)|(?P<number>-?\d[\w.]*)|(?P<sign>[{}\[\]=:,()])|(?P<other>.)",
    re.DOTALL,
)


def hcl_leaves(source: str) -> Iterator[Leaf]:
    """The scalars of an HCL text; what is no attribute, list or block is stepped over."""
    reader = _Reader()
    at, size = 0, len(source)
    while at < size:
        match = _TOKEN.match(source, at)
        if match is None:
            return
        at = match.end()
        kind = match.lastgroup if match.group("here") is None else "here"
        if kind == "here":
            end = _here_end(source, at, match.group("mark"))
            yield from reader.scalar(source[at:end], at, end, "|")
            at = end
        elif kind == "string":
            yield from reader.scalar(match.group()[1:-1], match.start(), at, '"')
        elif kind in ("word", "number"):
            yield from reader.scalar(match.group(), match.start(), at, "")
        elif kind == "line":
            reader.line()
        elif kind == "sign":
            reader.sign(match.group())


class _Reader:
    """Where in the blocks the reader is."""

    def __init__(self) -> None:
        self.stack: list[tuple[str, Path, int]] = []
        self.path: Path = ()
        self.names: list[tuple[str, int, int]] = []
        """Words of a line before its sign: a key, or the type and labels of a block."""
        self.key: tuple[str, int, int] | None = None
        self.skipped = 0
        self.blocks = 0

    def scalar(self, text: str, start: int, end: int, style: str) -> Iterator[Leaf]:
        in_list = bool(self.stack) and self.stack[-1][0] == "["
        if in_list:
            _, around, index = self.stack[-1]
            yield Leaf((*around, index), text, start, end, start, start, style)
        elif self.key is not None:
            name, key_start, key_end = self.key
            yield Leaf((*self.path, name), text, start, end, key_start, key_end, style)
        else:
            self.names.append((text, start, end))

    def _block(self) -> Path:
        """Type and labels of a block, and a number: blocks of one type may stand side by side."""
        self.blocks += 1
        return (*(name for name, _, _ in self.names), self.blocks)

    def line(self) -> None:
        if not self.stack or self.stack[-1][0] != "[":
            self.names, self.key = [], None

    def sign(self, sign: str) -> None:
        if sign in ("=", ":") and self.names:
            self.key, self.names = self.names[-1], []
        elif sign in ("{", "["):
            if len(self.stack) >= DEPTH_LIMIT:
                self.skipped += 1
                return
            inner: Path = (self.key[0],) if self.key is not None else self._block()
            self.stack.append((sign, (*self.path, *inner) if sign == "[" else self.path, 0))
            self.path = (*self.path, *inner)
            self.names, self.key = [], None
        elif sign in ("}", "]"):
            if self.skipped:
                self.skipped -= 1
            elif self.stack:
                opened, path, _ = self.stack.pop()
                self.path = path if opened == "{" else path[:-1]
            self.names, self.key = [], None
        elif sign == ",":
            if self.stack and self.stack[-1][0] == "[":
                opened, path, index = self.stack[-1]
                self.stack[-1] = (opened, path, index + 1)
            else:
                self.names, self.key = [], None


def _here_end(source: str, start: int, mark: str) -> int:
    """Offset of the line that closes a here-document."""
    at = source.find("\n", start)
    while at >= 0:
        end = source.find("\n", at + 1)
        line = source[at + 1 : end if end >= 0 else len(source)]
        if line.strip() == mark:
            return at + 1
        at = end
    return len(source)
