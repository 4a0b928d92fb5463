"""Expressions -> values: aliases, constants, attribute chains, and the sorts of value that are followed."""

from collections.abc import Callable, Sequence

from tree_sitter import Node

from portaudit.analyze.pyfile import PyFile, view_of
from portaudit.analyze.pysources import ATTRIBUTE_TAGS, CALL_TAGS, LAST_TAGS
from portaudit.analyze.pyvalues import DEPTH_LIMIT, NOTHING, Place, Value, merged, plain_text, string_inside
from portaudit.analyze.words import word_set

_HOME_VARIABLES = frozenset(
    {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR", "CUDA_INSTALL_PATH"}
)
_MEMBER_TAGS = {
    ("capability", "major"): "capability",
    ("capability", "minor"): "capability",
    ("capability", "to_int"): "capability",
    ("properties", "major"): "capability",
    ("properties", "minor"): "capability",
    ("properties", "name"): "device-name",
}
# Functions whose result is made of their argument.
_CARRIERS = word_set(
    "int float str tuple list set max min sorted map round abs next iter reversed repr sum len "
    "Version parse LooseVersion StrictVersion packaging.version.parse packaging.version.Version "
    "pkg_resources.parse_version distutils.version.LooseVersion Path pathlib.Path os.path.realpath "
    "os.path.abspath"
)
_TEXT_METHODS = word_set(
    "split replace strip rstrip lstrip lower upper partition rpartition rsplit join format decode title"
)
_TEXT_TESTS = frozenset(
    {"startswith", "endswith", "find", "count", "index", "isdigit", "removeprefix", "removesuffix"}
)
# What is left of a sort of value once a function has made something else of it.
_WORN = {
    "cuda-version": "cuda-number",
    "toolkit-home": "toolkit-path",
    "handle": "",
    "environment": "",
    "cuda-device": "",
}


def resolve(file: PyFile, node: Node | None, place: Place, depth: int = 0, view: int | None = None) -> Value:
    """The value of an expression, ``NOTHING`` where nothing is known or it is nested too deep."""
    if node is None or depth > DEPTH_LIMIT or file.budget <= 0:
        return NOTHING
    file.budget -= 1
    handler = _BY_TYPE.get(node.type)
    return (
        NOTHING
        if handler is None
        else handler(file, node, place, depth + 1, view_of(place.reach) if view is None else view)
    )


def _identifier(file: PyFile, node: Node, place: Place, depth: int, view: int) -> Value:
    name = file.slice(node)
    bound = place.names.find(name)
    return Value(name) if bound is None else bound[min(view, 1)]


def _attribute(file: PyFile, node: Node, place: Place, depth: int, view: int) -> Value:
    attribute = node.child_by_field_name("attribute")
    base = resolve(file, node.child_by_field_name("object"), place, depth, view)
    return member(file, base, file.slice(attribute) if attribute else "", view)


def member(file: PyFile, base: Value, attribute: str, view: int) -> Value:
    """The value of ``base.attribute``."""
    if base.name in ("self", "cls"):
        bound = file.members.get(attribute)
        if bound is not None:
            value = bound[min(view, 1)]
            return value if value.name else value._replace(name=f"self.{attribute}")
        return Value(f"self.{attribute}", node=file.methods.get(attribute))
    name = f"{base.name or '?'}.{attribute}"
    tag = _MEMBER_TAGS.get((base.tag, attribute)) or ATTRIBUTE_TAGS.get(name, "")
    if not tag and attribute == "compute_capability":
        return Value(name, base.known, tag="capability", origin=name)
    if (
        not tag
        and base.tag in ("cuda-version", "arch", "device-name")
        and attribute in _TEXT_METHODS | _TEXT_TESTS
    ):
        tag = base.tag
    origin = (base.origin or name) if tag else base.origin
    if tag == "device-name" and base.tag == "properties":
        origin = f"{base.origin}.name"
    text = base.text if attribute in _TEXT_METHODS else None
    return Value(name, base.known, text=text, tag=tag, origin=origin)


def _call(file: PyFile, node: Node, place: Place, depth: int, view: int) -> Value:
    callee = resolve(file, node.child_by_field_name("function"), place, depth, view)
    values = node.child_by_field_name("arguments")
    nodes = values.named_children if values is not None and values.type == "argument_list" else []
    if callee.name in ("getattr", "importlib.import_module", "import_module", "__import__"):
        return _reflected(file, callee.name, nodes, place, depth, view)
    last = callee.name.rpartition(".")[2]
    tag = CALL_TAGS.get(callee.name) or LAST_TAGS.get(last, "")
    if tag:
        text = resolve(file, nodes[0], place, depth, view).text if tag == "handle" and nodes else None
        return Value(f"{callee.name}()", callee.known, text=text, tag=tag, origin=callee.name)
    if callee.name in ("os.getenv", "os.environ.get") and nodes:
        return _variable(file, nodes, place, depth, view)
    if callee.name == "torch.device" and nodes:
        return resolve(file, nodes[0], place, depth, view)._replace(name="torch.device", known=True)
    if callee.tag and last in (*_TEXT_METHODS, "to_int"):
        return Value(f"{callee.name}()", tag=_worn(callee.tag), origin=callee.origin, text=callee.text)
    if (
        callee.name in _CARRIERS
        or last in ("join", "find_library", "strip", "parse", "Version")
        or last in _CARRIERS
    ):
        inner = merged(resolve(file, n, place, depth, view) for n in nodes[:4])
        text = inner.text if last == "find_library" else None
        return Value(f"{callee.name}()", tag=_worn(inner.tag), origin=inner.origin, text=text)
    if callee.node is not None:
        from portaudit.analyze.pyfunctions import summary

        tag, origin, truth = summary(file, callee.node, depth)
        return Value(f"{callee.name}()", tag=tag, origin=origin, truth=truth)
    if callee.known and last[:1].isupper():
        return Value(callee.name, True)
    return Value(f"{callee.name}()" if callee.name else "", callee.known)


def _variable(file: PyFile, nodes: Sequence[Node], place: Place, depth: int, view: int) -> Value:
    name = resolve(file, nodes[0], place, depth, view).text or ""
    default = resolve(file, nodes[1], place, depth, view) if len(nodes) > 1 else NOTHING
    home = name in _HOME_VARIABLES
    tag = "toolkit-path" if home else default.tag
    return Value(f"${name}", tag=tag, origin=name if home else default.origin, text=default.text)


def _reflected(file: PyFile, name: str, nodes: Sequence[Node], place: Place, depth: int, view: int) -> Value:
    """``getattr(x, "name")`` and imports by a function."""
    index = 1 if name == "getattr" else 0
    if len(nodes) <= index:
        return NOTHING
    text = resolve(file, nodes[index], place, depth, view).text
    if text is None or not text.replace(".", "").isidentifier():
        return NOTHING
    if name == "getattr":
        return member(file, resolve(file, nodes[0], place, depth, view), text, view)
    return Value(text, True)


def _subscript(file: PyFile, node: Node, place: Place, depth: int, view: int) -> Value:
    base = resolve(file, node.child_by_field_name("value"), place, depth, view)
    index = node.child_by_field_name("subscript")
    if base.name == "os.environ" and index is not None:
        return _variable(file, [index], place, depth, view)
    if index is not None and base.items and index.type == "integer":
        number = file.slice(index)
        position = int(number) if number.isdigit() and len(number) < 4 else 0
        return Value(text=base.items[position] if position < len(base.items) else None)
    if base.name == "sys.modules" and index is not None:
        text = resolve(file, index, place, depth, view).text
        return Value(text, True) if text else NOTHING
    tag = {"arch-list": "arch"}.get(base.tag, base.tag)
    return Value(f"{base.name}[]" if base.name else "", base.known, tag=tag, origin=base.origin)


def _binary(file: PyFile, node: Node, place: Place, depth: int, view: int) -> Value:
    left = resolve(file, node.child_by_field_name("left"), place, depth, view)
    right = resolve(file, node.child_by_field_name("right"), place, depth, view)
    operator = node.child_by_field_name("operator")
    plain = operator is not None and operator.type == "+" and not left.name and not right.name
    if plain and left.text is not None and right.text is not None:
        return Value(text=left.text + right.text)
    tagged = left if left.tag else right
    return Value(tag=_worn(tagged.tag), origin=tagged.origin)


def _string(file: PyFile, node: Node, place: Place, depth: int, view: int) -> Value:
    text = plain_text(node, file.source)
    if text is not None:
        device = text == "cuda" or text.startswith("cuda:")
        return Value(text=text, tag="cuda-device" if device else "", origin=text if device else "")
    if node.type != "string":
        return NOTHING
    start, end, _ = string_inside(node)
    if file.source.startswith("cuda:", start):
        return Value(tag="cuda-device", origin=file.source[start : min(end, start + 40)])
    inner = (
        c.named_children[0] for c in node.named_children if c.type == "interpolation" and c.named_children
    )
    tagged = merged(resolve(file, n, place, depth, view) for n in inner)
    return Value(tag="cuda-number", origin=tagged.origin) if _worn(tagged.tag) == "cuda-number" else NOTHING


def _worn(tag: str) -> str:
    return _WORN.get(tag, tag)


def _choice(file: PyFile, node: Node, place: Place, depth: int, view: int) -> Value:
    children = node.named_children
    if len(children) != 3:
        return NOTHING
    from portaudit.analyze.pyguards import truth

    holds = truth(file, children[1], place, view, depth)
    if holds is not None:
        return resolve(file, children[0 if holds else 2], place, depth, view)
    return merged(
        (resolve(file, children[0], place, depth, view), resolve(file, children[2], place, depth, view))
    )


def _either(file: PyFile, node: Node, place: Place, depth: int, view: int) -> Value:
    left = resolve(file, node.child_by_field_name("left"), place, depth, view)
    right = resolve(file, node.child_by_field_name("right"), place, depth, view)
    operator = node.child_by_field_name("operator")
    either = operator is not None and operator.type == "or"
    if either and left.tag == "cuda-version":
        # With a default behind it, the version is no longer None on ROCm.
        left = left._replace(tag=_WORN[left.tag])
    both = (left, right) if either else (right, left)
    return merged(both)._replace(truth=NOTHING.truth)


def _inner(file: PyFile, node: Node, place: Place, depth: int, view: int) -> Value:
    children = node.named_children
    return resolve(file, children[-1], place, depth, view) if children else NOTHING


def _sequence(file: PyFile, node: Node, place: Place, depth: int, view: int) -> Value:
    values = [resolve(file, n, place, depth, view) for n in node.named_children[:60]]
    texts = tuple(v.text if v.text is not None else "" for v in values)
    known = texts if any(texts) else ()
    tags = {v.tag for v in values if v.text is None}
    # A tuple that holds a capability among other things is a key, not a capability.
    tag, origin = (values[0].tag, values[0].origin) if len(tags) == 1 and values else ("", "")
    text = texts[0] if texts and values[0].text is not None else None
    return Value(text=text, items=known, tag=tag, origin=origin)


def _comprehension(file: PyFile, node: Node, place: Place, depth: int, view: int) -> Value:
    for child in node.named_children:
        if child.type == "for_in_clause":
            over = resolve(file, child.child_by_field_name("right"), place, depth, view)
            return Value(tag=_worn(over.tag), origin=over.origin)
    return NOTHING


_BY_TYPE: dict[str, Callable[[PyFile, Node, Place, int, int], Value]] = {
    "identifier": _identifier,
    "attribute": _attribute,
    "call": _call,
    "subscript": _subscript,
    "binary_operator": _binary,
    "string": _string,
    "concatenated_string": _string,
    "conditional_expression": _choice,
    "boolean_operator": _either,
    "parenthesized_expression": _inner,
    "await": _inner,
    "named_expression": _inner,
    "list": _sequence,
    "tuple": _sequence,
    "set": _sequence,
    "expression_list": _sequence,
    "list_comprehension": _comprehension,
    "generator_expression": _comprehension,
    "set_comprehension": _comprehension,
}
