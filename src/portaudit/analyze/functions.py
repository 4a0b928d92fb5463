"""Functions of a C++ or CUDA file, by tree-sitter: where each begins and ends, and where it runs."""

import re
from bisect import bisect_right
from functools import lru_cache
from time import monotonic
from typing import NamedTuple

import tree_sitter

_SECONDS = 2.0
_QUALIFIER = re.compile(r"__(global|device|host)__")
_NAME_BEFORE_ARGS = re.compile(r"([~\w:]+|operator[^\w\s(]{1,3}|operator[ ]*\(\))[ \t\r\n]*$")
_HEADER_LIMIT = 4_000
_DEFINITIONS = "(function_definition body: (compound_statement) @body) @function"
_NOT_A_NAME: tuple[str, ...] = (
    *("__launch_bounds__", "__attribute__", "__declspec", "alignas", "__cluster_dims__", "__maxnreg__"),
    *("decltype", "noexcept", "explicit", "__block_size__", "requires", "__requires__"),
)


class Function(NamedTuple):
    """One function definition; offsets are characters."""

    start: int
    end: int
    body: int
    """Offset of the ``{``."""
    name: str
    place: str
    """``kernel``, ``device``, ``both`` (host and device) or ``host``."""
    params: tuple[int, int]
    """Offsets of the parameter list between its brackets."""

    @property
    def scope(self) -> str:
        """The scope text of evidence."""
        return f"{'device' if self.place == 'both' else self.place}:{self.name}"


class Functions:
    """Which function holds an offset."""

    __slots__ = ("_starts", "all")

    def __init__(self, functions: list[Function]) -> None:
        self.all = sorted(functions, key=lambda f: f.start)
        self._starts = [f.start for f in self.all]

    def at(self, offset: int) -> Function | None:
        """The innermost function around an offset, its header included."""
        index = bisect_right(self._starts, offset) - 1
        # Lambdas and local structs nest a few levels; a longer walk means that the tree is broken.
        for function in reversed(self.all[max(0, index - 8) : index + 1]):
            if function.start <= offset < function.end:
                return function
        return None


class Parsed(NamedTuple):
    """A parse: functions, and whether it is whole."""

    functions: Functions
    complete: bool
    """False when the parser ran out of time."""


@lru_cache(maxsize=2)
def _language(name: str) -> tree_sitter.Language:
    if name == "cuda":
        import tree_sitter_cuda

        return tree_sitter.Language(tree_sitter_cuda.language())
    import tree_sitter_cpp

    return tree_sitter.Language(tree_sitter_cpp.language())


@lru_cache(maxsize=2)
def _query(name: str) -> tree_sitter.Query:
    query: tree_sitter.Query = tree_sitter.Query(_language(name), _DEFINITIONS)
    return query


def parse(raw: bytes, code: str, cuda: bool) -> Parsed:
    """Functions of a file. ``raw`` has one byte for each character of ``code``."""
    grammar = "cuda" if cuda else "cpp"
    deadline = monotonic() + _SECONDS
    parser = tree_sitter.Parser(_language(grammar))

    def late(*_state: object) -> bool:
        return monotonic() > deadline

    try:
        tree = parser.parse(lambda offset, _point: raw[offset : offset + 65536], progress_callback=late)
    except ValueError:
        return Parsed(Functions([]), False)
    # No progress callback here: tree-sitter 0.26 crashes with one in matches(). The pattern is flat, so it
    # is linear.
    cursor = tree_sitter.QueryCursor(_query(grammar))
    found = []
    for _, captures in cursor.matches(tree.root_node):
        node, body = captures["function"][0], captures["body"][0]
        found.append(_function(code, node.start_byte, node.end_byte, body.start_byte))
    return Parsed(Functions([f for f in found if f is not None]), monotonic() <= deadline)


def _function(code: str, start: int, end: int, body: int) -> Function | None:
    header = code[max(start, body - _HEADER_LIMIT) : body]
    base = body - len(header)
    open_at = _parameter_list(header)
    if open_at < 0:
        return None
    name = _NAME_BEFORE_ARGS.search(header[max(0, open_at - 200) : open_at])
    close = _closing(header, open_at)
    qualifiers = set(_QUALIFIER.findall(header[:open_at]))
    if "global" in qualifiers:
        place = "kernel"
    elif "device" in qualifiers:
        place = "both" if "host" in qualifiers else "device"
    else:
        place = "host"
    label = name.group(1) if name else ""
    return Function(
        start, end, body, label.rpartition("::")[2] or label, place, (base + open_at + 1, base + close)
    )


def _parameter_list(header: str) -> int:
    """Offset of the first bracket after a name at the outer level, attribute calls passed over."""
    depth = 0
    for match in re.finditer(r"[()]", header):
        if match.group() == ")":
            depth -= 1
            continue
        depth += 1
        if depth == 1:
            before = header[: match.start()].rstrip()
            if not before.endswith(_NOT_A_NAME):
                return match.start()
    return -1


def _closing(header: str, open_at: int) -> int:
    depth = 0
    for match in re.finditer(r"[()]", header[open_at:]):
        depth += 1 if match.group() == "(" else -1
        if depth == 0:
            return open_at + match.start()
    return len(header)
