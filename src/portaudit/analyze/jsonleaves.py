"""JSON -> leaves with places, without recursion."""

import re
from collections.abc import Iterator

from portaudit.analyze.leaves import DEPTH_LIMIT, Leaf, Malformed, Path

_TOKEN = re.compile(r'[ \t\r\n]*(?:("(?:[^"\\]|\\.)*")|([\[\]{},:])|([^\s\[\]{},:"]+))')


def json_leaves(source: str) -> Iterator[Leaf]:
    """The scalars of a JSON text. Raises ``Malformed`` where it ends to be JSON."""
    stack: list[tuple[str, Path, int]] = []
    path: Path = ()
    key: tuple[str, int, int] | None = None
    at, size = 0, len(source.rstrip())
    while at < size:
        match = _TOKEN.match(source, at)
        if match is None:
            raise Malformed("not JSON", at)
        at = match.end()
        text, sign, bare = match.groups()
        if sign in ("{", "["):
            if len(stack) >= DEPTH_LIMIT:
                raise Malformed("nested too deeply", at)
            stack.append((sign, path, 0))
            path, key = ((*path, 0) if sign == "[" else path), None
        elif sign in ("}", "]"):
            if not stack:
                raise Malformed("not JSON", at)
            _, path, _ = stack.pop()
            key = None
        elif sign == ",":
            if not stack:
                raise Malformed("not JSON", at)
            bracket, around, index = stack[-1]
            stack[-1] = (bracket, around, index + 1)
            path, key = ((*around, index + 1) if bracket == "[" else around), None
        elif sign == ":":
            if key is None or not stack:
                raise Malformed("not JSON", at)
            path = (*stack[-1][1], key[0])
        elif text is not None and stack and stack[-1][0] == "{" and key is None:
            key = (text[1:-1], match.start(1), match.end(1))
        else:
            start = match.start(1) if text is not None else match.start(3)
            place = (key[1], key[2]) if key is not None else (start, start)
            value = text[1:-1] if text is not None else bare
            yield Leaf(path, value, start, at, *place, '"' if text is not None else "")
