"""The lexical layer of C, C++ and CUDA: comments and strings blanked out, directives as logical lines.

It works on any text, also inside macros, broken files and kernel strings, where a grammar gives up.
"""

import re
from typing import NamedTuple

# Every alternative begins with a plain character, so that the search skips to the next of four.
_TOKENS = re.compile(
    r"//(?:[^\\\n]|\\(?:\r?\n|.))*"
    r"|/\*.*?(?:\*/|\Z)"
    r'|R(?<![A-KM-TV-Za-tv-z_0-79]R)"([^ ()\\\t\r\n]{0,16})\(.*?(?:\)\1"|\Z)'
    r'|"(?:[^"\\\n]|\\(?:\r?\n|.))*(?:"|(?=\n)|\Z)'
    r"|'(?<![0-9A-Za-z_]')(?:[^'\\\n]|\\.){1,10}'",
    re.DOTALL,
)
_NOT_LINE_END = re.compile(r"[^\r\n]")
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)((?:[^\\\n]|\\(?:\r?\n|[^\n]|\Z))*)", re.MULTILINE)
_CONTINUED = re.compile(r"\\\r?\n")
_ANGLES = re.compile(r"->|>>|<=|>=|[<>()\[\]{};]")
_BRACKETS = re.compile(r"[()\[\]{},;]")


class StringToken(NamedTuple):
    """A string literal: offsets of the quotes, and of what lies between them."""

    start: int
    end: int
    inner: int
    inner_end: int
    raw: bool


class Directive(NamedTuple):
    """A preprocessor line with its continuations joined by blanks, so that offsets inside it stay true."""

    word: str
    start: int
    """Offset of the ``#``."""
    body: str
    body_start: int
    end: int


class Lexed:
    """A text with its code alone: same length, comments and string contents blank, line ends kept."""

    __slots__ = ("code", "strings", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.strings: list[StringToken] = []
        self.code = _TOKENS.sub(self._blank, text)

    def _blank(self, match: "re.Match[str]") -> str:
        token = match.group()
        first = token[0]
        if first in "/'":
            return " " * len(token) if "\n" not in token else _NOT_LINE_END.sub(" ", token)
        start, end = match.span()
        quote = token.index('"')
        raw = match.group(1) is not None
        inner = start + quote + 1 + (len(match.group(1)) + 1 if raw else 0)
        closed = token.endswith('"') and len(token) > quote + 1
        inner_end = end - (1 + (len(match.group(1)) + 1 if raw else 0) if closed else 0)
        self.strings.append(StringToken(start, end, inner, max(inner, inner_end), raw))
        content = token[quote + 1 : -1] if closed else token[quote + 1 :]
        return token[: quote + 1] + _NOT_LINE_END.sub(" ", content) + ('"' if closed else "")

    def drop(self, spans: list[tuple[int, int]]) -> None:
        """Blank out what is compiled out for good, strings included."""
        for start, end in spans:
            self.code = self.code[:start] + _NOT_LINE_END.sub(" ", self.code[start:end]) + self.code[end:]
        self.strings = [s for s in self.strings if not any(a <= s.start < b for a, b in spans)]

    def directives(self) -> list[Directive]:
        """All preprocessor lines, in order."""
        found = []
        for match in _DIRECTIVE.finditer(self.code):
            body = _CONTINUED.sub(lambda m: " " * len(m.group()), match.group(2))
            hash_at = match.start() + match.group().index("#")
            found.append(Directive(match.group(1), hash_at, body, match.start(2), match.end()))
        return found


def arguments(code: str, open_at: int, limit: int = 20_000) -> tuple[list[tuple[int, int]], int]:
    """Offsets of the arguments in the bracket that opens at ``open_at``, and the offset after its end.

    The end is -1 when the bracket does not close within ``limit`` characters.
    """
    depth = 0
    spans: list[tuple[int, int]] = []
    begin = open_at + 1
    stop = min(len(code), open_at + limit)
    for match in _BRACKETS.finditer(code, open_at, stop):
        sign = match.group()
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth == 0:
                if code[begin : match.start()].strip() or spans:
                    spans.append((begin, match.start()))
                return spans, match.end()
        elif sign == "," and depth == 1:
            spans.append((begin, match.start()))
            begin = match.end()
        elif sign == ";" and depth <= 1 and code[open_at] == "(":
            return spans, -1
    return spans, -1


def statement_start(code: str, at: int, limit: int = 2_000) -> int:
    """Offset where the statement around ``at`` begins."""
    low = max(0, at - limit)
    return max(code.rfind(";", low, at), code.rfind("{", low, at), code.rfind("}", low, at), low - 1) + 1


def after_template(code: str, at: int, limit: int = 2_000) -> int:
    """Offset after the template arguments that open at ``at``; ``at`` itself when they do not close."""
    depth = 0
    for match in _ANGLES.finditer(code, at, min(len(code), at + limit)):
        sign = match.group()
        if sign in "<([{":
            depth += 1
        elif sign in ")]}" or sign == ">":
            depth -= 1
        elif sign == ">>":
            depth -= 2
        elif sign == ";":
            return at
        if depth <= 0:
            return match.end()
    return at


def before_template(code: str, end: int, limit: int = 400) -> int:
    """Offset where ``name<args>`` before ``end`` has its ``<``, or ``end`` when there are no template
    arguments."""
    at = end
    while at > 0 and code[at - 1] in " \t\r\n":
        at -= 1
    if at == 0 or code[at - 1] != ">":
        return end
    depth = 0
    for index in range(at - 1, max(-1, at - limit), -1):
        sign = code[index]
        depth += (sign in ">)]") - (sign in "<([")
        if depth == 0:
            return index
        if sign in ";{}":
            break
    return end
