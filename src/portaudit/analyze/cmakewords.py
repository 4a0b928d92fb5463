"""CMake text -> commands with arguments; brackets, quotes and generator expressions are one argument each."""

import re
from collections.abc import Iterator

import msgspec

from portaudit.analyze.words import Word

_NAME = re.compile(r"([A-Za-z_]\w{0,100})[ \t]*\(")
_BRACKET = re.compile(r"\[(=*)\[")
_TOKEN = re.compile(
    r"(?P<blank>[ \t\r\n;]+)|(?P<comment>#)|(?P<open>\()|(?P<close>\))|(?P<bracket>\[=*\[)|(?P<quote>\")"
    r"|(?P<plain>(?:[^\s;#()\"\\]|\\.)+)|(?P<other>.)",
    re.DOTALL,
)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_INSIDE = re.compile(r"\$<|>|\)")
_EXPRESSION_LIMIT = 4000
_SKIPPED = re.compile(r"[ \t\r\n]+")


class CMakeCommand(msgspec.Struct, frozen=True, gc=False):
    """One command."""

    name: str
    """Lower case."""
    arguments: tuple[Word, ...]
    start: int
    end: int


def cmake_commands(source: str) -> Iterator[CMakeCommand]:
    """The commands of a CMake file in order; what is none is stepped over to the next line."""
    at, size = 0, len(source)
    while at < size:
        if blank := _SKIPPED.match(source, at):
            at = blank.end()
        elif source[at] == "#":
            at = _comment_end(source, at)
        elif match := _NAME.match(source, at):
            arguments, end = _arguments(source, match.end())
            yield CMakeCommand(match.group(1).lower(), tuple(arguments), match.start(), end)
            at = end
        else:
            at = _line_end(source, at)


def _arguments(source: str, start: int) -> tuple[list[Word], int]:
    """Arguments up to the closing bracket; brackets inside count, as in conditions."""
    arguments: list[Word] = []
    depth, at, size = 1, start, len(source)
    unclosed_until = 0
    while at < size:
        match = _TOKEN.match(source, at)
        if match is None:
            break
        kind, at = match.lastgroup, match.end()
        if kind == "comment":
            at = _comment_end(source, match.start())
        elif kind == "open":
            depth += 1
            arguments.append(Word("(", match.start(), at))
        elif kind == "close":
            depth -= 1
            if not depth:
                return arguments, at
            arguments.append(Word(")", match.start(), at))
        elif kind == "bracket":
            close = source.find(match.group().replace("[", "]"), at)
            close = size if close < 0 else close
            end = min(size, close + len(match.group()))
            arguments.append(Word(source[at:close], match.start(), end))
            at = end
        elif kind == "quote":
            quoted = _QUOTED.match(source, match.start())
            end = quoted.end() if quoted else size
            text = quoted.group(1) if quoted else source[match.end() :]
            arguments.append(Word(text.replace('\\"', '"'), match.start(), end))
            at = end
        elif kind in ("plain", "other"):
            end = _expression_end(source, match.start(), at) if at > unclosed_until else at
            if end == at and source.startswith("$<", match.start()) and source[at - 1] != ">":
                unclosed_until = match.start() + _EXPRESSION_LIMIT
            arguments.append(Word(source[match.start() : end], match.start(), end))
            at = end
    return arguments, size


def _expression_end(source: str, start: int, end: int) -> int:
    """End of an argument: a generator expression goes on over blanks and semicolons to its own end."""
    opened = source.count("$<", start, end)
    closed = source.count(">", start, end) if opened else 0
    at = end
    while opened > closed:
        match = _INSIDE.search(source, at, min(len(source), end + _EXPRESSION_LIMIT))
        if match is None:
            return end
        if match.group() == ")":
            return at
        opened += match.group() == "$<"
        closed += match.group() == ">"
        at = match.end()
    return at


def _comment_end(source: str, at: int) -> int:
    bracket = _BRACKET.match(source, at + 1)
    if bracket:
        close = source.find(f"]{bracket.group(1)}]", bracket.end())
        return len(source) if close < 0 else close + 2 + len(bracket.group(1))
    return _line_end(source, at)


def _line_end(source: str, start: int) -> int:
    end = source.find("\n", start)
    return len(source) if end < 0 else end + 1
