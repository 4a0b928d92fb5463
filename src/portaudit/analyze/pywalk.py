"""The way through a Python file: statements in order with what reaches them, functions after their module.

Only subtrees that hold a marked word are entered. No recursion: blocks lie on a stack, functions in a queue.
"""

import re
from collections import deque
from collections.abc import Callable

import msgspec
from tree_sitter import Node

from portaudit.analyze import imports, pyexpressions
from portaudit.analyze.pybranches import (
    after_branches,
    catches_missing_module,
    is_false,
    narrowed,
    skipping_decorator,
    stops,
    suppresses_missing_module,
)
from portaudit.analyze.pyfile import PyFile
from portaudit.analyze.pyfunctions import summary
from portaudit.analyze.pyguards import LOGICAL, truths
from portaudit.analyze.pyresolve import resolve
from portaudit.analyze.pyuses import DROPPED, Use
from portaudit.analyze.pyvalues import CUDA, ROCM, UNKNOWN, Names, Place, Value
from portaudit.model.evidence import EvidenceKind

_NEST_LIMIT = 200
_SHORT = 2_500
_RETURN = re.compile(r"\breturn\b[ \t]*(True|False|not\b|bool\()?[^\n]*")
_TELLS = re.compile(
    r"hip\b|rocm|\bamd|gfx\d|nvidia|version\.|\bis_(?:cuda|nv|hip)|capabilit|arch_list|get_device_name|\bmajor\b|\bcap\b|\bcc\b",
    re.IGNORECASE,
)
_VENDOR = re.compile(r"hip\b|rocm|amd|gfx\d|nvidia|version\.cuda|is_cuda", re.IGNORECASE)


class Frame:
    """A block being read."""

    __slots__ = ("at", "nodes", "passes_on", "place", "top")

    def __init__(self, nodes: list[Node], place: Place, top: bool = False, passes_on: bool = False) -> None:
        self.nodes = nodes
        self.at = 0
        self.place = place
        self.top = top
        """At module level, where each statement is its own extent."""
        self.passes_on = passes_on
        """What an early exit inside decides also holds behind the block (``with``)."""


class Walker:
    """Reads one file."""

    def __init__(self, file: PyFile) -> None:
        self.file = file
        self.stack: list[Frame] = []
        self.later: deque[tuple[Node, Place]] = deque()
        self.cut = False
        """Whether blocks were nested too deep to read on."""

    def run(self, root: Node) -> None:
        """Reads the whole file."""
        self.stack.append(
            Frame(root.children, Place(self.file.names, extent=(root.start_byte, root.end_byte)), True)
        )
        while self.stack or self.later:
            if not self.stack:
                body, place = self.later.popleft()
                self.stack.append(Frame(body.children, place))
            self._step()

    def _may_tell(self, node: Node) -> bool:
        """Whether the result of a function can be worth a look: a cheap guess by its return lines."""
        start, end = node.start_byte, node.end_byte
        if end - start > _SHORT:
            return False
        answers = False
        for match in _RETURN.finditer(self.file.source, start, end):
            if self.file.marks.between(match.start(), match.end()) and _TELLS.search(match.group()):
                return True
            answers = answers or match.group(1) is not None
        return answers and _VENDOR.search(self.file.source, start, end) is not None

    def _step(self) -> None:
        frame = self.stack[-1]
        if frame.at >= len(frame.nodes):
            self.stack.pop()
            if frame.passes_on and self.stack:
                self.stack[-1].place = self.stack[-1].place._replace(
                    reach=frame.place.reach, cause=frame.place.cause, cause_line=frame.place.cause_line
                )
            return
        node = frame.nodes[frame.at]
        frame.at += 1
        if not node.is_named or not self.file.marked(node):
            # An import binds names whatever it imports; a function may be called by name.
            if node.type in ("import_statement", "import_from_statement"):
                imports.statement(self.file, node, frame.place)
            elif node.type == "function_definition":
                self._name_function(node, frame.place)
            return
        if frame.top:
            frame.place = frame.place._replace(extent=(node.start_byte, node.end_byte))
        self.statement(node, frame)

    def statement(self, node: Node, frame: Frame) -> None:
        """Reads one statement."""
        handler = _STATEMENTS.get(node.type)
        if handler is not None:
            handler(self, node, frame)
        elif node.type in pyexpressions.KNOWN:
            self.expression(node, DROPPED, frame.place)
        else:
            # A node of an error, or a statement of no interest by itself: its parts in order.
            self._push(node.named_children, frame.place)

    def expression(self, node: Node | None, use: Use, place: Place) -> None:
        """Reads one expression."""
        if node is not None:
            pyexpressions.read(self.file, node, use, place)

    def _push(self, nodes: list[Node], place: Place, passes_on: bool = False) -> None:
        if len(self.stack) >= _NEST_LIMIT:
            self.cut = True
            return
        self.stack.append(Frame(nodes, place, passes_on=passes_on))

    def _push_block(self, block: Node | None, place: Place, passes_on: bool = False) -> None:
        if block is not None and self.file.marked(block):
            self._push(block.children, place, passes_on)

    # statements

    def _expression_statement(self, node: Node, frame: Frame) -> None:
        for child in node.named_children:
            if child.type in ("assignment", "augmented_assignment"):
                self._assignment(child, frame)
            elif child.type not in ("string", "concatenated_string", "comment"):
                self.expression(child, DROPPED, frame.place)

    def _assignment(self, node: Node, frame: Frame) -> None:
        place = frame.place
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        # a = b = value: the value is at the end of the chain.
        targets = [left]
        while right.type == "assignment" and len(targets) < 20:
            inner, value_node = right.child_by_field_name("left"), right.child_by_field_name("right")
            if inner is None or value_node is None:
                return
            targets.append(inner)
            right = value_node
        unpacking = left.type in ("pattern_list", "tuple_pattern", "list_pattern")
        use = Use("unpack" if unpacking else "assign", self.file.slice(left)[:60])
        self.expression(right, use, place)
        for target in targets:
            pyexpressions.stored(self.file, target, right, place)
        if node.type == "assignment":
            value = resolve(self.file, right, place)
            if value.truth == UNKNOWN and right.type in LOGICAL:
                value = value._replace(truth=truths(self.file, right, place))
            for target in targets:
                pyexpressions.bind(self.file, target, value, place)
            if not place.scope and self.file.slice(left) == "pytestmark":
                self._skip_rest(right, frame)

    def _skip_rest(self, node: Node, frame: Frame) -> None:
        """``pytestmark = pytest.mark.skipif(...)`` speaks for the whole module."""
        marks = node.named_children if node.type == "list" else [node]
        for mark in marks[:8]:
            frame.place = skipping_decorator(self.file, mark, frame.place)

    def _import(self, node: Node, frame: Frame) -> None:
        imports.statement(self.file, node, frame.place)

    def _if(self, node: Node, frame: Frame) -> None:
        place = frame.place
        rest = place
        branches: list[tuple[Node | None, Place]] = []
        whole = False
        for part in (node, *node.children_by_field_name("alternative")):
            condition = part.child_by_field_name("condition")
            body = part.child_by_field_name("consequence") or part.child_by_field_name("body")
            if condition is None:
                branches.append((body, rest))
                whole = True
                break
            before = len(self.file.found)
            self.expression(condition, Use("test"), rest)
            holds = truths(self.file, condition, rest) if self.file.marked(condition) else UNKNOWN
            if body is not None and len(self.file.found) > before and stops(self.file, body):
                self._stopped(before, part, body, holds[ROCM] is True)
            taken = narrowed(self.file, rest, holds, condition)
            branches.append((body, taken._replace(dead=place.dead or is_false(self.file, condition))))
            rest = narrowed(self.file, rest, holds, condition, negate=True)
        if not whole:
            branches.append((None, rest))
        frame.place = after_branches(self.file, place, branches)
        for body, there in reversed(branches):
            self._push_block(body, there)

    def _stopped(self, since: int, part: Node, body: Node, on_rocm: bool) -> None:
        """What a condition asked decides that the program stops: the whole statement is the place."""
        found = self.file.found
        end = self.file.text.span(part.start_byte, min(body.end_byte, part.start_byte + 1000))
        for index in range(since, len(found)):
            at, item = found[index]
            asks = (
                item.attr("probe")
                if item.kind is EvidenceKind.TOOL
                else item.attr("used_as") in ("test", "switch")
            )
            if not asks or not (item.kind is EvidenceKind.TOOL or on_rocm):
                continue
            span = msgspec.structs.replace(item.span, end_line=end.end_line, end_column=end.end_column)
            attrs = tuple(sorted({**dict(item.attrs), "required": True}.items()))
            found[index] = at, msgspec.structs.replace(item, span=span, attrs=attrs)

    def _for(self, node: Node, frame: Frame) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        self.expression(right, Use("iter"), frame.place)
        if left is not None:
            pyexpressions.bind_loop(self.file, left, right, frame.place)
        self._push_block(node.child_by_field_name("alternative"), frame.place)
        self._push_block(node.child_by_field_name("body"), frame.place)

    def _while(self, node: Node, frame: Frame) -> None:
        condition = node.child_by_field_name("condition")
        self.expression(condition, Use("test"), frame.place)
        holds = truths(self.file, condition, frame.place)
        self._push_block(node.child_by_field_name("alternative"), frame.place)
        self._push_block(node.child_by_field_name("body"), narrowed(self.file, frame.place, holds, condition))

    def _try(self, node: Node, frame: Frame) -> None:
        place = frame.place
        handler = catches_missing_module(self.file, node)
        inside = place if handler is None else place._replace(caught=handler[0], caught_line=handler[1])
        for child in reversed(node.named_children):
            if child.type in ("except_clause", "except_group_clause", "finally_clause"):
                for part in reversed(child.named_children):
                    if part.type == "block":
                        self._push_block(part, place)
                    elif self.file.marked(part):
                        self.expression(part, Use("test"), place)
            elif child.type == "else_clause":
                self._push_block(child.child_by_field_name("body"), inside)
            elif child.type == "block":
                self._push_block(child, inside)

    def _with(self, node: Node, frame: Frame) -> None:
        place = frame.place
        for clause in node.named_children:
            if clause.type == "with_clause":
                self.expression(clause, DROPPED, place)
        inside = suppresses_missing_module(self.file, node, place)
        self._push_block(node.child_by_field_name("body"), inside, passes_on=inside is place)

    def _match(self, node: Node, frame: Frame) -> None:
        subject = node.child_by_field_name("subject")
        self.expression(subject, Use("test"), frame.place)
        body = node.child_by_field_name("body")
        if body is None:
            return
        cases = [c for c in body.named_children if c.type == "case_clause"]
        patterns = [self.file.slice(c).partition(":")[0] for c in cases]
        places = pyexpressions.case_places(self.file, cases, patterns, frame.place)
        for case, there in reversed(list(zip(cases, places, strict=True))):
            self._push_block(case.child_by_field_name("consequence"), there)

    def _return(self, node: Node, frame: Frame) -> None:
        for child in node.named_children:
            self.expression(child, Use("return"), frame.place)

    def _raise(self, node: Node, frame: Frame) -> None:
        for child in node.named_children:
            self.expression(child, Use("raise"), frame.place._replace(talk=True))

    def _assert(self, node: Node, frame: Frame) -> None:
        parts = node.named_children
        if not parts:
            return
        before = len(self.file.found)
        self.expression(parts[0], Use("test"), frame.place)
        holds = truths(self.file, parts[0], frame.place)
        self._stopped(before, node, parts[0], holds[ROCM] is False)
        for message in parts[1:]:
            self.expression(message, Use("raise"), frame.place._replace(talk=True))
        frame.place = narrowed(self.file, frame.place, holds, parts[0])

    def _decorated(self, node: Node, frame: Frame) -> None:
        place = frame.place
        for child in node.named_children:
            if child.type == "decorator":
                for inner in child.named_children:
                    self.expression(inner, Use("decorator"), place)
                place = (
                    skipping_decorator(self.file, child.named_children[0], place)
                    if child.named_children
                    else place
                )
        definition = node.child_by_field_name("definition")
        if definition is None:
            return
        inner_frame = Frame([], place)
        self.statement(definition, inner_frame)

    def _name_function(self, node: Node, place: Place) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        word = self.file.slice(name)
        if place.owner and not place.scope.endswith(")"):
            self.file.methods.setdefault(word, node)
        place.names.bind(word, Value(word, node=node), place.reach)
        body = node.child_by_field_name("body")
        if body is not None and self.file.marked(body):
            self._mark_calls(word, node)

    def _mark_calls(self, word: str, node: Node) -> None:
        """Calls of a function tell something when its result does."""
        file = self.file
        if not self._may_tell(node):
            return
        result = summary(file, node, 0)
        if result.tag or result.truth[ROCM] != result.truth[CUDA]:
            file.track(word)

    def _function(self, node: Node, frame: Frame) -> None:
        place = frame.place
        self._name_function(node, place)
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        word = self.file.slice(name) if name is not None else ""
        prefix = place.scope or place.owner
        names = Names(
            (place.names.outer or self.file.names) if place.owner and not place.scope else place.names
        )
        parameters = node.child_by_field_name("parameters")
        inner = place._replace(
            names=names,
            scope=f"{prefix}.{word}" if prefix else word,
            owner="",
            extent=(node.start_byte, node.end_byte),
            caught="",
        )
        if parameters is not None:
            self._parameters(parameters, inner, place)
        if body is not None and self.file.marked(body):
            self.later.append((body, inner))

    def _parameters(self, parameters: Node, inner: Place, outside: Place) -> None:
        for parameter in parameters.named_children[:200]:
            name = parameter if parameter.type == "identifier" else parameter.child_by_field_name("name")
            if name is None and parameter.named_children:
                name = parameter.named_children[0]
            if name is not None and name.type == "identifier":
                word = self.file.slice(name)
                if word not in ("self", "cls"):
                    inner.names.bind(word, Value(word), inner.reach)
            default = parameter.child_by_field_name("value")
            if default is not None and self.file.marked(default):
                self.expression(default, Use("default"), outside._replace(scope=inner.scope))

    def _class(self, node: Node, frame: Frame) -> None:
        place = frame.place
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        bases = node.child_by_field_name("superclasses")
        if bases is not None and self.file.marked(bases):
            self.expression(bases, DROPPED, place)
        word = self.file.slice(name) if name is not None else ""
        owner = f"{place.scope or place.owner}.{word}" if place.scope or place.owner else word
        self._push_block(body, place._replace(names=Names(place.names), owner=owner, scope=""))


_STATEMENTS: dict[str, Callable[[Walker, Node, Frame], None]] = {
    "expression_statement": Walker._expression_statement,
    "import_statement": Walker._import,
    "import_from_statement": Walker._import,
    "if_statement": Walker._if,
    "for_statement": Walker._for,
    "while_statement": Walker._while,
    "try_statement": Walker._try,
    "with_statement": Walker._with,
    "match_statement": Walker._match,
    "return_statement": Walker._return,
    "raise_statement": Walker._raise,
    "assert_statement": Walker._assert,
    "decorated_definition": Walker._decorated,
    "function_definition": Walker._function,
    "class_definition": Walker._class,
}
