"""The way through one expression: every marked part with what the expression around does with it."""

from collections.abc import Callable

from tree_sitter import Node

from portaudit.analyze import pycalls, pystrings, pywords
from portaudit.analyze.pybranches import narrowed
from portaudit.analyze.pyfile import PyFile
from portaudit.analyze.pyguards import truths, vendor_text
from portaudit.analyze.pyresolve import resolve
from portaudit.analyze.pysources import is_source
from portaudit.analyze.pyuses import Use, compared_platform, is_printer, loose_product, tagged
from portaudit.analyze.pyvalues import CUDA, ROCM, UNKNOWN, Names, Place, Value, plain_text
from portaudit.analyze.words import word_set

Pending = list[tuple[Node, Use, Place]]
_STEP_LIMIT = 200_000
_DECIDING_LIMIT = 8
_CHAIN_LIMIT = 200
_TALK_WORDS = word_set(
    "help description reason msg message doc epilog match title summary metavar label text"
)
_TEXT_LIMIT = 160


def read(file: PyFile, root: Node, use: Use, place: Place) -> None:
    """Reads an expression."""
    pending: Pending = [(root, use, place)]
    steps = 0
    while pending and steps < _STEP_LIMIT:
        node, how, where = pending.pop()
        if not file.marked(node):
            continue
        steps += 1
        handler = _BY_TYPE.get(node.type)
        if handler is not None:
            handler(file, node, how, where, pending)
        else:
            inner = Use("paren", "", how) if node.type in _THROUGH else Use("part", node.type, None)
            pending.extend((child, inner, where) for child in reversed(node.named_children))


def _call(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None:
        return
    callee = resolve(file, function, place)
    nodes = arguments.named_children if arguments is not None and arguments.type == "argument_list" else []
    if callee.node is not None:
        guard = file.guard(place)
        on_cuda = guard is not None and guard.side == "cuda"
        file.calls.append((callee.name.removeprefix("self."), place.scope, on_cuda))
    pycalls.handle(file, pycalls.Call(node, callee, nodes, use), place)
    if is_source(callee):
        value = resolve(file, node, place)
        if value.tag:
            tagged(file, node, value, use, place)
    name = callee.name or file.slice(function)[-60:]
    talk = place._replace(talk=True) if is_printer(name) or pycalls.is_talk(name) else place
    if arguments is not None and not nodes:
        pending.append((arguments, Use("arg", name, use), talk))
    taken = pywords.positional_requirements(file, nodes, place) if pywords.is_install(name) else set()
    _arguments(file, [n for n in nodes if n.id not in taken], Use("arg", name, use), talk, pending)
    if function.type == "attribute":
        owner, attribute = function.child_by_field_name("object"), function.child_by_field_name("attribute")
        first = file.slice(nodes[0])[:_TEXT_LIMIT] if nodes else ""
        if owner is not None and attribute is not None:
            pending.append((owner, Use("member", file.slice(attribute), use, first), place))
    elif function.type != "identifier":
        pending.append((function, Use("called"), place))


def _arguments(file: PyFile, nodes: list[Node], use: Use, place: Place, pending: Pending) -> None:
    for argument in reversed(nodes):
        if argument.type != "keyword_argument":
            pending.append((argument, use, place))
            continue
        key, value = argument.child_by_field_name("name"), argument.child_by_field_name("value")
        word = file.slice(key) if key is not None else ""
        if value is not None:
            silent = place._replace(talk=True) if word in _TALK_WORDS else place
            pending.append((value, use._replace(argument=word), silent))


def _attribute(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    owner, attribute = node.child_by_field_name("object"), node.child_by_field_name("attribute")
    if owner is None or attribute is None:
        return
    value = resolve(file, node, place)
    chain = owner.type in ("identifier", "attribute")
    pycalls.named(file, node, value, use, place)
    if value.tag and (chain or resolve(file, owner, place).tag != value.tag):
        tagged(file, node, value, use, place)
    if not chain or (value.tag == "" and not value.known):
        pending.append((owner, Use("member", file.slice(attribute), use), place))


def _identifier(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    value = resolve(file, node, place)
    if value.tag:
        tagged(file, node, value, use, place)
    if value.known or value.name:
        pycalls.named(file, node, value, use, place)


def _string(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    pystrings.handle(file, node, use, place)
    if node.type == "concatenated_string":
        return
    before = ""
    for child in node.named_children:
        if child.type == "string_content":
            before = file.slice(child)[-30:]
        elif child.type == "interpolation":
            for inner in reversed(child.named_children):
                pending.append((inner, Use("format", before, use), place))
            before = ""


def _comparison(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    operands = node.named_children
    operators = " ".join(c.type for c in node.children if not c.is_named)
    for index, operand in enumerate(operands):
        other = operands[1] if index == 0 and len(operands) > 1 else operands[max(0, index - 1)]
        text = file.slice(other)[:_TEXT_LIMIT]
        pending.append((operand, Use("cmp", f"{operators} {text}", use), place))
    if len(operands) == 2 and operators in ("==", "!=", "in", "not in"):
        for one, other in (operands, operands[::-1]):
            constant = plain_text(one, file.source)
            if constant is None:
                continue
            value = resolve(file, other, place)
            compared_platform(file, node, value, constant, place)
            if not value.tag:
                loose_product(file, one, constant, file.slice(other)[:_TEXT_LIMIT], place)


def _boolean(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    """Operands of a whole chain; each is reached, or counts, only where the others let it."""
    operator = node.child_by_field_name("operator")
    kind = operator.type if operator is not None else "and"
    operands: list[Node] = []
    current: Node | None = node
    while current is not None and current.type == "boolean_operator" and len(operands) < _CHAIN_LIMIT:
        inner = current.child_by_field_name("operator")
        if inner is None or inner.type != kind:
            break
        right = current.child_by_field_name("right")
        if right is not None:
            operands.append(right)
        current = current.child_by_field_name("left")
    if current is not None:
        operands.append(current)
    # From the last to the first. Operands before one decide whether it is reached; those behind it, whether
    # its value counts: for "or" only where nothing but truth is asked.
    given = [truths(file, o, place) if file.marked(o) else UNKNOWN for o in operands[:_CHAIN_LIMIT]]
    all_count = kind == "and" or _is_test(use)
    deciding = [(other, holds) for other, holds in enumerate(given) if holds != UNKNOWN][:_DECIDING_LIMIT]
    for index, operand in enumerate(operands):
        there = place
        for other, holds in deciding:
            if other > index or (all_count and other < index):
                there = narrowed(file, there, holds, operands[other], negate=kind == "or")
        detail = "or-else" if kind == "or" and index else kind
        pending.append((operand, Use("either", detail, use), there))


def _is_test(use: Use) -> bool:
    steps = 0
    while use.outer is not None and use.kind in ("either", "paren") and steps < 20:
        use = use.outer
        steps += 1
    return use.kind == "test"


def _choice(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    children = node.named_children
    if len(children) != 3:
        pending.extend((c, Use("part"), place) for c in reversed(children))
        return
    first, condition, second = children
    holds = truths(file, condition, place) if file.marked(condition) else UNKNOWN
    pywords.vendor_by_availability(file, condition, first, place)
    pending.append((second, Use("choice", "", use), narrowed(file, place, holds, condition, negate=True)))
    pending.append((condition, Use("test"), place))
    pending.append((first, Use("choice", "", use), narrowed(file, place, holds, condition)))


def _not(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    argument = node.child_by_field_name("argument")
    if argument is not None:
        pending.append((argument, Use("test"), place))


def _subscript(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    value = node.child_by_field_name("value")
    keys = node.children_by_field_name("subscript")
    pycalls.subscript(file, node, value, keys, use, place)
    for key in reversed(keys):
        pending.append((key, Use("key", "", use), place))
    if value is not None:
        pending.append((value, Use("item", "", use), place))


def _binary(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None or operator is None:
        return
    pywords.binary(file, node, left, right, operator.type, place)
    kind = "concat" if operator.type == "+" else "arith"
    before = file.source[max(left.start_byte, left.end_byte - 40) : left.end_byte].strip("\"'")
    after = file.slice(right)[:40]
    pending.append((right, Use("format" if operator.type == "%" else kind, before, use), place))
    pending.append((left, Use(kind, after, use), place))


def _sequence(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    taken = pywords.sequence(file, node, use, place)
    for child in reversed(node.named_children):
        if child.id not in taken:
            pending.append((child, Use("elem", use.detail, use, use.argument), place))


def _dictionary(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    pairs = [c for c in node.named_children if c.type == "pair"]
    keys = [
        plain_text(k, file.source) if (k := p.child_by_field_name("key")) is not None else None for p in pairs
    ]
    sides = [vendor_text(k or "") for k in keys]
    pywords.dictionary(file, pairs, keys, use, place)
    for child in reversed(node.named_children):
        if child.type != "pair":
            pending.append((child, Use("elem", "", use), place))
            continue
        index = next(i for i, p in enumerate(pairs) if p.id == child.id) if len(pairs) < 50 else -1
        there = place
        if index >= 0 and ROCM in sides and sides[index] == CUDA:
            there = narrowed(file, place, (False, True, False), child.child_by_field_name("key"))
        key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
        word = (keys[index] or "")[:60] if index >= 0 else ""
        if value is not None:
            told = there._replace(talk=True) if word in _TALK_WORDS else there
            pending.append((value, Use("elem", word or use.detail, use, word), told))
        if key is not None:
            pending.append((key, Use("elem", "", Use("dictkey", "", use)), there))


def _comprehension(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    inner = place._replace(names=Names(place.names))
    for child in node.named_children:
        if child.type == "for_in_clause":
            left, right = child.child_by_field_name("left"), child.child_by_field_name("right")
            if right is not None:
                read_later = (right, Use("iter", "", use), inner)
                if left is not None:
                    bind_loop(file, left, right, inner)
                pending.append(read_later)
        elif child.type == "if_clause":
            for condition in child.named_children:
                pending.append((condition, Use("test"), inner))
                inner = narrowed(file, inner, truths(file, condition, inner), condition)
    body = node.child_by_field_name("body")
    if body is not None:
        pending.append((body, Use("elem", use.detail, use, use.argument), inner))


def _walrus(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is not None and value is not None:
        found = resolve(file, value, place)
        file.bind(file.slice(name), found._replace(truth=truths(file, value, place)), place)
        pending.append((value, Use("either", "", use), place))


def _lambda(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    body = node.child_by_field_name("body")
    if body is not None:
        pending.append((body, Use("return"), place))


def _number(file: PyFile, node: Node, use: Use, place: Place, pending: Pending) -> None:
    pywords.number(file, node, use, place)


def stored(file: PyFile, target: Node, right: Node, place: Place) -> None:
    """An assignment to an attribute or an item can tell something by itself."""
    pycalls.assigned(file, target, right, place)
    if target.type in ("subscript", "attribute"):
        inner = target.child_by_field_name("value") or target.child_by_field_name("object")
        if inner is not None and inner.type not in ("identifier", "attribute") and file.marked(inner):
            read(file, inner, Use("item"), place)


def bind(file: PyFile, target: Node, value: Value, place: Place) -> None:
    """Binds the names of an assignment target."""
    if target.type == "identifier":
        word = file.slice(target)
        if value.name == word and not value.known and not value.tag and value.node is None:
            value = value._replace(name="")
        file.bind(word, value, place)
        if place.owner and not place.scope:
            file.bind_member(word, value, place)
    elif target.type == "attribute":
        text = file.slice(target)
        owner, _, word = text.rpartition(".")
        if owner in ("self", "cls"):
            file.bind_member(word, value, place)
    elif target.type in ("pattern_list", "tuple_pattern", "list_pattern"):
        part = Value(tag=value.tag if value.tag != "properties" else "", origin=value.origin)
        for child in target.named_children[:20]:
            if child.type in ("identifier", "attribute"):
                bind(file, child, part, place)


def bind_loop(file: PyFile, left: Node, right: Node | None, place: Place) -> None:
    """Binds the variable of a loop."""
    over = resolve(file, right, place)
    tag = {"arch-list": "arch", "cuda-version": ""}.get(over.tag, over.tag)
    text = next((t for t in over.items if t), None)
    bind(file, left, Value(text=text, items=(), tag=tag, origin=over.origin), place)


def case_places(file: PyFile, cases: list[Node], patterns: list[str], place: Place) -> list[Place]:
    """Places behind the patterns of ``match``: ``case "hip"`` beside ``case "cuda"`` is a vendor test."""
    sides = [vendor_text(p.removeprefix("case").strip().strip("\"'")) for p in patterns]
    found = []
    for case, side in zip(cases, sides, strict=True):
        pattern = case.named_children[0] if case.named_children else None
        if side == ROCM:
            found.append(narrowed(file, place, (True, False, True), pattern))
        elif side == CUDA and ROCM in sides:
            found.append(narrowed(file, place, (False, True, False), pattern))
        else:
            found.append(place)
    return found


_Handler = Callable[[PyFile, Node, Use, Place, Pending], None]
_BY_TYPE: dict[str, _Handler] = {
    "call": _call,
    "attribute": _attribute,
    "identifier": _identifier,
    "string": _string,
    "concatenated_string": _string,
    "comparison_operator": _comparison,
    "boolean_operator": _boolean,
    "conditional_expression": _choice,
    "not_operator": _not,
    "subscript": _subscript,
    "binary_operator": _binary,
    "list": _sequence,
    "tuple": _sequence,
    "set": _sequence,
    "expression_list": _sequence,
    "dictionary": _dictionary,
    "list_comprehension": _comprehension,
    "set_comprehension": _comprehension,
    "dictionary_comprehension": _comprehension,
    "generator_expression": _comprehension,
    "named_expression": _walrus,
    "lambda": _lambda,
    "integer": _number,
    "float": _number,
}
_THROUGH = frozenset({"parenthesized_expression", "await", "list_splat", "dictionary_splat", "as_pattern"})
KNOWN = frozenset(_BY_TYPE) | _THROUGH | {"unary_operator", "yield", "keyword_argument"}
