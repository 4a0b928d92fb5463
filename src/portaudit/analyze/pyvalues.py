"""What an expression of a Python file stands for: a dotted name, a constant, or a known sort of value."""

from collections.abc import Iterable
from typing import NamedTuple

from tree_sitter import Node

Truth = bool | None
"""None: not known."""

ROCM, CUDA, PLAIN = 0, 1, 2
"""Three ways to read a condition: in a ROCm build, in a CUDA build, and in a ROCm build when only words about
ROCm count, not those about CUDA."""

Truths = tuple[Truth, Truth, Truth]
UNKNOWN: Truths = (None, None, None)
DEPTH_LIMIT = 40
_TEXT_LIMIT = 20_000
_ITEM_LIMIT = 200


class Value(NamedTuple):
    """What is known of an expression."""

    name: str = ""
    """Dotted name: qualified where it begins at an import, as written elsewhere."""
    known: bool = False
    """Whether the name begins at an import."""
    text: str | None = None
    """The text of a constant; for a list its first item."""
    items: tuple[str, ...] = ()
    """The texts of a constant list."""
    tag: str = ""
    """A sort of value that uses are followed of: ``capability``, ``cuda-version``, ``device-name``, ..."""
    origin: str = ""
    """The qualified name that the tag comes from."""
    truth: Truths = UNKNOWN
    node: Node | None = None
    """A local function, for names of functions."""


NOTHING = Value()


class Binding(NamedTuple):
    """The value of a name in a ROCm build and in a CUDA build."""

    rocm: Value
    cuda: Value


class Names:
    """Names of one scope with what they stand for."""

    __slots__ = ("_bound", "outer")

    def __init__(self, outer: "Names | None" = None) -> None:
        self.outer = outer
        self._bound: dict[str, Binding] = {}

    def bind(self, name: str, value: Value, reach: Truths) -> None:
        """A name gets a value on the ways that reach this place; a way that may be skipped leaves doubt."""
        old = self._bound.get(name)
        if old is None:
            self._bound[name] = Binding(value, value)
            return
        self._bound[name] = Binding(
            _after(old.rocm, value, reach[ROCM]),
            _after(old.cuda, value, reach[CUDA]),
        )

    def find(self, name: str) -> Binding | None:
        """What a name stands for, in this scope or one around it."""
        scope: Names | None = self
        while scope is not None:
            bound = scope._bound.get(name)
            if bound is not None:
                return bound
            scope = scope.outer
        return None

    def own(self, name: str) -> Binding | None:
        """What a name stands for in this very scope."""
        return self._bound.get(name)


def _after(old: Value, new: Value, reached: Truth) -> Value:
    if reached is True:
        return new
    if reached is False:
        return old
    truth: Truths = tuple(a if a == b else None for a, b in zip(old.truth, new.truth, strict=True))  # type: ignore[assignment]
    # Uncertain which one: the newer tells more, as in "x = None; if found: x = torch.cuda".
    kept = new if (new.name or new.tag or new.text is not None) else old
    return kept._replace(truth=truth)


class Place(NamedTuple):
    """Where a statement stands: what reaches it, in which function, under which names."""

    names: Names
    reach: Truths = (True, True, True)
    dead: bool = False
    scope: str = ""
    """Qualified name of the function, empty at module level."""
    owner: str = ""
    """Name of the class around, empty outside."""
    cause: str = ""
    """Text of the condition that decided the reach."""
    cause_line: int = 0
    caught: str = ""
    """Text of the handler that catches a missing module here."""
    caught_line: int = 0
    talk: bool = False
    """Inside a message to people: texts mean nothing here."""
    extent: tuple[int, int] = (0, 0)
    """Offsets of the function, or of the statement at module level, that holds the place."""


def plain_text(node: Node, source: str) -> str | None:
    """The text of a string node without interpolations, escapes as written; None for other nodes."""
    if node.type == "concatenated_string":
        parts = [plain_text(c, source) for c in node.named_children[:_ITEM_LIMIT] if c.type == "string"]
        return None if any(p is None for p in parts) else "".join(p for p in parts if p is not None)
    if node.type != "string":
        return None
    start, end, constant = string_inside(node)
    return source[start:end] if constant and end - start <= _TEXT_LIMIT else None


def string_inside(node: Node) -> tuple[int, int, bool]:
    """Offsets between the quotes of a string node, and whether it has no interpolations."""
    children = node.children
    start = children[0].end_byte if children and children[0].type == "string_start" else node.start_byte
    last = children[-1] if children else node
    end = last.start_byte if last.type == "string_end" else node.end_byte
    return start, max(start, end), not any(c.type == "interpolation" for c in children)


def merged(values: Iterable[Value]) -> Value:
    """The value of a choice between several: the first that says something, with the tag of any."""
    result = NOTHING
    for value in values:
        if result is NOTHING and (value.name or value.text is not None or value.items):
            result = value
        if value.tag and not result.tag:
            result = result._replace(tag=value.tag, origin=value.origin)
        if value.text is not None and result.text is None:
            result = result._replace(text=value.text)
    return result
