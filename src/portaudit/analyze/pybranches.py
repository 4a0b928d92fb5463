"""How a condition changes what reaches the code behind it: branches, early exits, imports that may fail."""

import re

from tree_sitter import Node

from portaudit.analyze.conditions import conjunction, disjunction, negation
from portaudit.analyze.pyfile import PyFile
from portaudit.analyze.pyguards import truths
from portaudit.analyze.pyvalues import UNKNOWN, Place, Truth, Truths
from portaudit.analyze.words import word_set

_SPACE = re.compile(r"\s+")
_STOPS = word_set(
    "sys.exit exit quit os._exit os.abort pytest.skip pytest.fail pytest.exit self.skipTest self.fail "
    "unittest.skip parser.error raise_error"
)
_MISSING = re.compile(
    r"\b(?:ImportError|ModuleNotFoundError|Exception|BaseException|OSError|AttributeError|RuntimeError)\b"
)
_STATEMENT_EXITS = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})
_DEPTH_LIMIT = 6
_SKIPS_ROCM = re.compile(
    r"skip\w*(?:rocm|hip|amd)|(?:only|requires?|needs?)_?(?:nvidia|cuda_only)|skip_?if_?(?:rocm|hip|amd)\w*",
    re.IGNORECASE,
)
_SKIPS_CUDA = re.compile(
    r"skip_?(?:if_?)?(?:cuda|nvidia)\b|(?:only|requires?|needs?)_?(?:rocm|hip|amd)\w*", re.IGNORECASE
)


def narrowed(
    file: PyFile, place: Place, holds: Truths, condition: Node | None, negate: bool = False
) -> Place:
    """The place behind a condition that holds, or that does not."""
    if holds == UNKNOWN:
        return place
    given = [negation(t) if negate else t for t in holds]
    reach = _joined(place.reach, given)
    if reach == place.reach:
        return place
    if condition is None:
        return place._replace(reach=reach)
    text = _SPACE.sub(" ", file.slice(condition)[:240])
    cause = f"not ({text})" if negate else text
    decides = any(new is False and old is not False for new, old in zip(reach, place.reach, strict=True))
    if not decides:
        return place._replace(reach=reach)
    line = file.text.place(condition.start_byte)[0]
    return place._replace(reach=reach, cause=cause, cause_line=line)


def _joined(reach: Truths, given: "list[Truth | int]") -> Truths:
    found = [conjunction(a, b) for a, b in zip(reach, given, strict=True)]
    return _truths(found)


def _truths(found: "list[Truth | int]") -> Truths:
    first, second, third = (None if t is None else bool(t) for t in found)
    return first, second, third


def after_branches(file: PyFile, place: Place, branches: list[tuple[Node | None, Place]]) -> Place:
    """What reaches the code behind an ``if`` statement: the branches that do not leave."""
    staying = [there for body, there in branches if body is None or not exits(file, body)]
    if len(staying) == len(branches) or not staying:
        return place
    reach: list[Truth | int] = []
    for view in range(3):
        union: Truth | int = False
        for there in staying:
            union = disjunction(union, there.reach[view])
        reach.append(union)
    found = _truths(reach)
    if found == place.reach:
        return place
    deciding = next((t for t in staying if t.cause != place.cause), staying[0])
    return place._replace(reach=found, cause=deciding.cause, cause_line=deciding.cause_line)


def exits(file: PyFile, body: Node, depth: int = 0) -> bool:
    """Whether a block always leaves: return, raise, continue, break, sys.exit(), pytest.skip()."""
    children = body.named_children
    while children and children[-1].type == "comment":
        children = children[:-1]
    if not children or depth > _DEPTH_LIMIT:
        return False
    last = children[-1]
    if last.type in _STATEMENT_EXITS:
        return True
    if last.type == "expression_statement":
        call = last.named_children[0] if last.named_children else None
        function = call.child_by_field_name("function") if call is not None and call.type == "call" else None
        return function is not None and file.slice(function) in _STOPS
    if last.type == "if_statement":
        parts = [last, *last.children_by_field_name("alternative")]
        bodies = [p.child_by_field_name("consequence") or p.child_by_field_name("body") for p in parts]
        return parts[-1].type == "else_clause" and all(
            b is not None and exits(file, b, depth + 1) for b in bodies
        )
    if last.type in ("with_statement", "block"):
        inner = last.child_by_field_name("body")
        return inner is not None and exits(file, inner, depth + 1)
    return False


def stops(file: PyFile, body: Node) -> bool:
    """Whether a block ends the program or raises, as its only purpose."""
    children = [c for c in body.named_children if c.type != "comment"]
    return 0 < len(children) <= 4 and _gives_up(file, body)


def is_false(file: PyFile, condition: Node) -> bool:
    """Whether a condition never holds at run time: ``if False``, ``if 0``, ``if TYPE_CHECKING``."""
    return file.slice(condition) in ("False", "0", "None", "TYPE_CHECKING", "typing.TYPE_CHECKING")


def catches_missing_module(file: PyFile, statement: Node) -> tuple[str, int] | None:
    """Text and line of the handler that catches a missing module and goes on without it."""
    for clause in statement.named_children:
        if clause.type not in ("except_clause", "except_group_clause"):
            continue
        parts = clause.named_children
        body = next((p for p in parts if p.type == "block"), None)
        caught = file.source[clause.start_byte : body.start_byte if body else clause.end_byte]
        bare = len(parts) == 1
        if (bare or _MISSING.search(caught)) and not (body is not None and _gives_up(file, body)):
            return _SPACE.sub(" ", caught.strip().rstrip(":").strip())[:80] or "except", file.text.place(
                clause.start_byte
            )[0]
    return None


def _gives_up(file: PyFile, body: Node) -> bool:
    children = [c for c in body.named_children if c.type != "comment"]
    if not children:
        return False
    last = children[-1]
    if last.type == "raise_statement":
        return True
    return last.type == "expression_statement" and bool(
        re.match(r"(?:sys\.exit|exit|quit|os\._exit)\(", file.slice(last))
    )


def suppresses_missing_module(file: PyFile, statement: Node, place: Place) -> Place:
    """``with suppress(ImportError):``"""
    clause = statement.named_children[0] if statement.named_children else None
    if clause is None or "suppress" not in (text := file.slice(clause)[:200]) or not _MISSING.search(text):
        return place
    return place._replace(caught=text, caught_line=file.text.place(clause.start_byte)[0])


def skipping_decorator(file: PyFile, node: Node, place: Place) -> Place:
    """A test that is skipped on one side is reached on the other only."""
    call = node if node.type == "call" else None
    name_node = call.child_by_field_name("function") if call is not None else node
    name = file.slice(name_node) if name_node is not None else ""
    last = name.rpartition(".")[2]
    if call is not None and last in ("skipif", "skipIf", "skip_if", "skipUnless", "xfail"):
        arguments = call.child_by_field_name("arguments")
        condition = (
            next((a for a in arguments.named_children if a.type not in ("keyword_argument", "comment")), None)
            if arguments
            else None
        )
        if condition is None and arguments is not None:
            condition = next(
                (
                    a.child_by_field_name("value")
                    for a in arguments.named_children
                    if a.type == "keyword_argument" and file.slice(a).startswith("condition")
                ),
                None,
            )
        if condition is None or last == "xfail":
            return place
        return narrowed(file, place, truths(file, condition, place), condition, negate=last != "skipUnless")
    if _SKIPS_ROCM.search(last):
        return narrowed(file, place, (False, None, False), name_node)
    if _SKIPS_CUDA.search(last):
        return narrowed(file, place, (None, False, None), name_node)
    return place
