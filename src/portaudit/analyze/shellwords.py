"""Shell text -> simple commands with the place of every word. Nothing is expanded or run."""

import re
from collections.abc import Iterator

import msgspec

from portaudit.analyze.words import Word

_BLANK = " \t"
_PLAIN = re.compile(r"[^ \t\r\n\\'\"`$;&|()<>#]+")
_OPERATOR = re.compile(r"&&|\|\||;;&?|;&|\|&|[;&|()]")
_REDIRECT = re.compile(r"\d*(?:<<<|<<-?|<>|>>|>&|<&|>\||&>>|&>|[<>])")
_NESTING = 6
"""Command substitutions inside each other that are looked into."""


class Command(msgspec.Struct, frozen=True, gc=False):
    """A simple command."""

    words: tuple[Word, ...]
    start: int
    end: int
    ends_with: str = ""
    """The operator behind it."""
    writes: str = ""
    """File that its output goes to."""
    here: tuple[int, int] | None = None
    """Range of its here-document."""
    nested: tuple[tuple[int, int], ...] = ()
    """Ranges of its command substitutions."""


def commands(source: str, offset: int = 0, depth: int = 0) -> Iterator[Command]:
    """The simple commands of a text that begins at ``offset``, each before its substitutions."""
    for command in _Scanner(source, offset).run():
        yield command
        if depth < _NESTING:
            for start, end in command.nested:
                yield from commands(source[start - offset : end - offset], start, depth + 1)


class _Scanner:
    """One pass over a script."""

    def __init__(self, source: str, offset: int) -> None:
        self.source = source
        self.offset = offset
        self.at = 0
        self.words: list[Word] = []
        self.nested: list[tuple[int, int]] = []
        self.writes = ""
        self.pending: list[tuple[str, bool]] = []
        self.here: tuple[int, int] | None = None

    def run(self) -> Iterator[Command]:
        source, size = self.source, len(self.source)
        while self.at < size:
            char = source[self.at]
            if char in _BLANK:
                self.at += 1
            elif char == "\\" and source[self.at + 1 : self.at + 2] in ("\n", "\r"):
                self.at += 3 if source.startswith("\r\n", self.at + 1) else 2
            elif char in "\r\n":
                self.at += 1
                if char == "\n":
                    self._read_here()
                yield from self._finish("\n")
            elif char == "#":
                self.at = _line_end(source, self.at)
            elif match := _REDIRECT.match(source, self.at):
                self._redirect(match)
            elif match := _OPERATOR.match(source, self.at):
                self.at = match.end()
                yield from self._finish(match.group())
            else:
                self.words.append(self._word())
        yield from self._finish("")

    def _finish(self, operator: str) -> Iterator[Command]:
        if self.words or self.nested:
            start = self.words[0].start if self.words else self.nested[0][0]
            end = self.words[-1].end if self.words else self.nested[-1][1]
            yield Command(tuple(self.words), start, end, operator, self.writes, self.here, tuple(self.nested))
        elif operator not in ("\n", ""):
            yield Command((), self.offset + self.at, self.offset + self.at, operator)
        self.words, self.nested, self.writes, self.here = [], [], "", None

    def _word(self) -> Word:
        """A word, quotes taken off; ends at a blank or an operator."""
        source, size, begin = self.source, len(self.source), self.at
        parts: list[str] = []
        while self.at < size:
            if match := _PLAIN.match(source, self.at):
                parts.append(match.group())
                self.at = match.end()
                continue
            char = source[self.at]
            if char == "\\":
                step = 3 if source.startswith("\r\n", self.at + 1) else 2
                if source[self.at + 1 : self.at + 2] not in ("\n", "\r"):
                    parts.append(source[self.at + 1 : self.at + 2])
                self.at += step
            elif char == "'":
                close = _find(source, "'", self.at + 1)
                parts.append(source[self.at + 1 : close])
                self.at = close + 1
            elif char == '"':
                self._double_quoted(parts)
            elif char in "$`":
                self._expansion(parts)
            elif char == "#":
                parts.append(char)
                self.at += 1
            else:
                break
        self.at = min(self.at, size)
        return Word("".join(parts), self.offset + begin, self.offset + self.at)

    def _double_quoted(self, parts: list[str]) -> None:
        source, size = self.source, len(self.source)
        self.at += 1
        while self.at < size and source[self.at] != '"':
            char = source[self.at]
            if char == "\\":
                following = source[self.at + 1 : self.at + 2]
                parts.append(
                    following if following in '"\\$`' else "" if following == "\n" else char + following
                )
                self.at += 2
            elif char in "$`":
                self._expansion(parts)
            else:
                stop = _next_special(source, self.at)
                parts.append(source[self.at : stop])
                self.at = stop
        self.at += 1

    def _expansion(self, parts: list[str]) -> None:
        """``$(...)``, ``${...}``, backquotes or a plain dollar; the text stays as it is."""
        source, begin = self.source, self.at
        if source[begin] == "`":
            close = _find(source, "`", begin + 1)
            self.nested.append((self.offset + begin + 1, self.offset + close))
            self.at = close + 1
        elif source.startswith("$((", begin):
            self.at = _find(source, "))", begin + 3) + 2
        elif source.startswith("$(", begin):
            close = _closing(source, begin + 2)
            self.nested.append((self.offset + begin + 2, self.offset + close))
            self.at = close + 1
        elif source.startswith("${", begin):
            self.at = _find(source, "}", begin + 2) + 1
        else:
            self.at = begin + 1
        self.at = min(self.at, len(source))
        parts.append(source[begin : self.at])

    def _redirect(self, match: re.Match[str]) -> None:
        source = self.source
        self.at = match.end()
        while self.at < len(source) and source[self.at] in _BLANK:
            self.at += 1
        sign = match.group().lstrip("0123456789")
        if self.at >= len(source) or source[self.at] in "\r\n();&|<>":
            return
        target = self._word().text
        if sign in ("<<", "<<-"):
            self.pending.append((target, sign == "<<-"))
        elif sign.startswith((">", "&>")) and not target.isdigit() and target != "/dev/null":
            self.writes = target

    def _read_here(self) -> None:
        """Skip the bodies of here-documents; the last one is kept with the command."""
        for delimiter, tabs in self.pending:
            begin = self.at
            while self.at < len(self.source):
                end = _line_end(self.source, self.at)
                line = self.source[self.at : end].rstrip("\r")
                stop = self.at
                self.at = min(end + 1, len(self.source))
                if (line.lstrip("\t") if tabs else line) == delimiter:
                    break
            else:
                stop = self.at
            self.here = (self.offset + begin, self.offset + stop)
        self.pending = []


_SPECIAL = re.compile(r'["\\$`]')
_PAREN = re.compile(r"[()'\"\\]")


def _next_special(source: str, start: int) -> int:
    match = _SPECIAL.search(source, start)
    return match.start() if match else len(source)


def _line_end(source: str, start: int) -> int:
    end = source.find("\n", start)
    return len(source) if end < 0 else end


def _find(source: str, what: str, start: int) -> int:
    at = source.find(what, start)
    return len(source) if at < 0 else at


def _closing(source: str, start: int) -> int:
    """Offset of the bracket that closes a substitution."""
    depth, at = 1, start
    while match := _PAREN.search(source, at):
        char, at = match.group(), match.end()
        if char == "\\":
            at += 1
        elif char == "'":
            at = _find(source, "'", at) + 1
        elif char == '"':
            at = _quote_end(source, at)
        elif char == "(":
            depth += 1
        else:
            depth -= 1
            if not depth:
                return match.start()
    return len(source)


def _quote_end(source: str, start: int) -> int:
    at = start
    while match := _SPECIAL.search(source, at):
        if match.group() == '"':
            return match.end()
        at = match.end() + (match.group() == "\\")
    return len(source)
