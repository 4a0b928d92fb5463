"""Scalars of data files with their path of keys and their place in the file."""

from typing import NamedTuple

Path = tuple[str | int, ...]

DEPTH_LIMIT = 100
"""Levels of nesting that are followed; files of people have far fewer."""


class Leaf(NamedTuple):
    """A scalar of a data file."""

    path: Path
    """Keys from the top of the document; numbers for places in a list."""
    text: str
    start: int
    """Offset of the value, quotes included."""
    end: int
    key_start: int
    """Offset of the key it belongs to; the value's own offset in lists."""
    key_end: int
    style: str = ""
    """``'`` or ``"`` for quoted, ``|`` or ``>`` for block scalars of YAML, empty for plain ones."""

    @property
    def key(self) -> str:
        """The last key that is a name; empty at the top."""
        return next((part for part in reversed(self.path) if isinstance(part, str)), "")

    @property
    def inner_start(self) -> int:
        """Offset of the first character inside the quotes."""
        return self.start + (1 if self.style in ("'", '"') else 0)


class Malformed(Exception):
    """The file does not have the form that its name promises; what was read before stands."""

    def __init__(self, detail: str, offset: int) -> None:
        super().__init__(detail)
        self.offset = offset
