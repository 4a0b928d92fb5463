"""TOML -> leaves with places. Tolerant: a line that is not TOML is stepped over and reported at the end."""

import re
from collections.abc import Iterator

from portaudit.analyze.leaves import DEPTH_LIMIT, Leaf, Malformed, Path

_GAP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_KEY_PART = re.compile(r"[A-Za-z0-9_-]+|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
_STRING = re.compile(r'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL)
_BARE = re.compile(r"[^\s,\]}#]+")
_ESCAPE = re.compile(r'\\(["\\/bfnrt])')
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def toml_leaves(source: str) -> Iterator[Leaf]:
    """The scalars of a TOML text. Raises ``Malformed`` after the last one when something was stepped over."""
    yield from _Reader(source).run()


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.table: Path = ()
        self.counts: dict[Path, int] = {}
        self.wrong: int | None = None

    def run(self) -> Iterator[Leaf]:
        source, size = self.source, len(self.source)
        while True:
            self._skip_gap()
            if self.at >= size:
                break
            if source[self.at] == "[":
                self._header()
                continue
            key, begin = self._keys(), self.at
            space = _SPACE.match(source, self.at)
            self.at = space.end() if space else self.at
            if not key or source[self.at : self.at + 1] != "=":
                self._step_over(begin)
                continue
            self.at += 1
            yield from self._value(self.table + key[0], key[1], key[2])
        if self.wrong is not None:
            raise Malformed("not TOML", self.wrong)

    def _skip_gap(self) -> None:
        match = _GAP.match(self.source, self.at)
        if match:
            self.at = match.end()

    def _step_over(self, offset: int) -> None:
        """Go on behind the end of this line."""
        if self.wrong is None:
            self.wrong = offset
        end = self.source.find("\n", self.at)
        self.at = len(self.source) if end < 0 else end + 1

    def _keys(self) -> tuple[Path, int, int] | None:
        """A dotted key with its place."""
        parts: list[str] = []
        start = self.at
        while len(parts) < DEPTH_LIMIT and (match := _KEY_PART.match(self.source, self.at)):
            parts.append(_unquoted(match.group()))
            self.at = end = match.end()
            dot = re.compile(r"[ \t]*\.[ \t]*").match(self.source, self.at)
            if dot is None:
                return tuple(parts), start, end
            self.at = dot.end()
        return None

    def _header(self) -> None:
        """``[a.b]`` or ``[[a.b]]``."""
        start, many = self.at, self.source.startswith("[[", self.at)
        self.at += 2 if many else 1
        space = _SPACE.match(self.source, self.at)
        self.at = space.end() if space else self.at
        keys = self._keys()
        close = re.compile(r"[ \t]*\]\]?").match(self.source, self.at)
        if keys is None or close is None:
            self._step_over(start)
            return
        self.at = close.end()
        if many:
            number = self.counts[keys[0]] = self.counts.get(keys[0], -1) + 1
            self.table = (*keys[0], number)
        else:
            self.table = self._resolved(keys[0])

    def _resolved(self, path: Path) -> Path:
        """A sub-table of an array of tables belongs to its newest element."""
        for cut in range(len(path), 0, -1):
            if path[:cut] in self.counts:
                return (*path[:cut], self.counts[path[:cut]], *path[cut:])
        return path

    def _value(self, path: Path, key_start: int, key_end: int) -> Iterator[Leaf]:
        """A value; arrays and inline tables by an explicit stack of (bracket, path, next index)."""
        stack: list[tuple[str, Path, int]] = []
        while True:
            if stack:
                self._skip_gap()
            else:
                space = _SPACE.match(self.source, self.at)
                self.at = space.end() if space else self.at
            char = self.source[self.at : self.at + 1]
            if char in ("[", "{") and len(stack) < DEPTH_LIMIT:
                stack.append((char, path, 0))
                self.at += 1
            elif char in ("]", "}") and stack:
                stack.pop()
                self.at += 1
            elif char == "," and stack:
                self.at += 1
            elif match := (_STRING.match(self.source, self.at) or _BARE.match(self.source, self.at)):
                quote = match.group()[0] if match.group()[0] in "\"'" else ""
                start = match.start()
                place = (start, start) if stack and stack[-1][0] == "[" else (key_start, key_end)
                yield Leaf(path, _unquoted(match.group()), start, match.end(), *place, quote)
                self.at = match.end()
            else:
                self._step_over(self.at)
                return
            if not stack:
                return
            step = self._next(stack, char)
            if step is None:
                return
            path, key_start, key_end = step

    def _next(self, stack: list[tuple[str, Path, int]], char: str) -> tuple[Path, int, int] | None:
        """Path and key place of what comes next inside the innermost bracket."""
        bracket, around, index = stack[-1]
        if bracket == "[":
            stack[-1] = (bracket, around, index + (char == ","))
            return (*around, stack[-1][2]), self.at, self.at
        if char not in ("{", ","):
            return around, self.at, self.at
        self._skip_gap()
        if self.source[self.at : self.at + 1] == "}":
            return around, self.at, self.at
        keys = self._keys()
        space = _SPACE.match(self.source, self.at)
        self.at = space.end() if space else self.at
        if keys is None or self.source[self.at : self.at + 1] != "=":
            self._step_over(self.at)
            return None
        self.at += 1
        return around + keys[0], keys[1], keys[2]


def _unquoted(text: str) -> str:
    for quote in ('"""', "'''"):
        if text.startswith(quote) and len(text) >= 6:
            return text[3:-3].removeprefix("\n")
    if text[:1] == "'" and len(text) > 1:
        return text[1:-1]
    if text[:1] == '"' and len(text) > 1:
        return _ESCAPE.sub(lambda m: _PLAIN.get(m.group(1), m.group(1)), text[1:-1])
    return text
