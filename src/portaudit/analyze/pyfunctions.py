"""What a local function gives back: a ROCm test, or a sort of value that is followed."""

from typing import NamedTuple

from tree_sitter import Node

from portaudit.analyze.pyfile import PyFile
from portaudit.analyze.pyguards import LOGICAL, truth, truths
from portaudit.analyze.pyresolve import resolve
from portaudit.analyze.pyvalues import (
    CUDA,
    DEPTH_LIMIT,
    NOTHING,
    PLAIN,
    ROCM,
    UNKNOWN,
    Names,
    Place,
    Truth,
    Truths,
    Value,
)

_STEP_LIMIT = 60


class Summary(NamedTuple):
    """What a local function gives back."""

    tag: str = ""
    origin: str = ""
    truth: Truths = UNKNOWN


def summary(file: PyFile, function: Node, depth: int) -> Summary:
    """What a local function gives back; one that is being looked at gives nothing."""
    key = (function.start_byte, function.end_byte)
    known = file.memo.get(key)
    if isinstance(known, Summary):
        return known
    file.memo[key] = Summary()
    body = function.child_by_field_name("body")
    if body is None or depth > DEPTH_LIMIT or not file.marked(body):
        return Summary()
    place = Place(Names(file.names))
    outcomes: tuple[set[Truth], set[Truth], set[Truth]] = (set(), set(), set())
    returned: list[Value] = []
    for view in (ROCM, CUDA, PLAIN):
        if view == PLAIN and outcomes[ROCM] == outcomes[CUDA]:
            outcomes[PLAIN].update(outcomes[ROCM])
        elif _run(file, body, place, view, depth + 1, outcomes[view], returned if view == ROCM else []):
            outcomes[view].add(False)
    tagged = next((v for v in returned if v.tag), NOTHING)
    found: list[Truth] = [next(iter(o)) if len(o) == 1 else None for o in outcomes]
    result = Summary(tagged.tag, tagged.origin, (found[0], found[1], found[2]))
    file.memo[key] = result
    return result


def _run(
    file: PyFile,
    block: Node,
    place: Place,
    view: int,
    depth: int,
    outcomes: set[Truth],
    returned: list[Value],
) -> bool:
    """Follows a block to its returns; True when its end can be reached."""
    if depth > DEPTH_LIMIT:
        outcomes.add(None)
        return True
    for statement in block.named_children[:_STEP_LIMIT]:
        kind = statement.type
        if kind == "return_statement":
            given = statement.named_children
            outcomes.add(truth(file, given[0], place, view, depth) if given else False)
            if given:
                returned.append(resolve(file, given[0], place, depth))
            return False
        if kind == "raise_statement":
            return False
        if kind == "expression_statement":
            _note(file, statement, place, depth)
        elif kind == "if_statement":
            if not _branches(file, statement, place, view, depth, outcomes, returned):
                return False
        elif kind in ("try_statement", "with_statement", "for_statement", "while_statement"):
            for part in (statement, *statement.named_children):
                body = part.child_by_field_name("body") or next(
                    (c for c in part.named_children if c.type == "block"), None
                )
                if body is not None and part.type != "else_clause":
                    falls = _run(file, body, place, view, depth + 1, outcomes, returned)
                    if kind == "with_statement" and not falls:
                        return False
    return True


def _branches(
    file: PyFile,
    statement: Node,
    place: Place,
    view: int,
    depth: int,
    outcomes: set[Truth],
    returned: list[Value],
) -> bool:
    falls = False
    for part in (statement, *statement.children_by_field_name("alternative")):
        condition = part.child_by_field_name("condition")
        body = part.child_by_field_name("consequence") or part.child_by_field_name("body")
        holds = True if condition is None else truth(file, condition, place, view, depth)
        if holds is not False and body is not None:
            falls = _run(file, body, place, view, depth + 1, outcomes, returned) or falls
        if holds is True:
            return falls
    return True


def _note(file: PyFile, statement: Node, place: Place, depth: int) -> None:
    """Simple assignments of a function that is followed for its result."""
    assignment = statement.named_children[0] if statement.named_children else None
    if assignment is None or assignment.type != "assignment" or not file.marked(assignment):
        return
    left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
    if left is None or right is None:
        return
    value = resolve(file, right, place, depth)
    if right.type in LOGICAL and value.truth == UNKNOWN:
        value = value._replace(truth=truths(file, right, place, depth))
    targets = (
        [left]
        if left.type == "identifier"
        else left.named_children
        if left.type in ("pattern_list", "tuple_pattern")
        else []
    )
    for target in targets:
        if target.type == "identifier":
            one = value if target is left else Value(tag=value.tag, origin=value.origin)
            place.names.bind(file.slice(target), one, place.reach)
