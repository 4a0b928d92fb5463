"""Conditions of Python code -> what they say in a ROCm build and in a CUDA build."""

import re
from collections.abc import Callable
from functools import lru_cache

from tree_sitter import Node

from portaudit.analyze.conditions import conjunction, disjunction, negation
from portaudit.analyze.pyfile import PyFile
from portaudit.analyze.pyresolve import resolve
from portaudit.analyze.pyvalues import (
    CUDA,
    DEPTH_LIMIT,
    PLAIN,
    ROCM,
    UNKNOWN,
    Place,
    Truth,
    Truths,
    Value,
)
from portaudit.analyze.words import word_set

# name: what it is worth in a ROCm build, a CUDA build, and a ROCm build when words about CUDA do not count
_FACTS: dict[str, Truths] = {
    "torch.version.hip": (True, False, True),
    "torch.version.rocm": (True, False, True),
    "torch.version.cuda": (False, True, None),
    "torch.utils.cpp_extension.CUDA_HOME": (False, True, None),
    "torch.utils.cpp_extension.ROCM_HOME": (True, False, True),
    "torch.utils.cpp_extension.IS_HIP_EXTENSION": (True, False, True),
    "torch.backends.cuda.is_built": UNKNOWN,
    "typing.TYPE_CHECKING": (False, False, False),
    "TYPE_CHECKING": (False, False, False),
}
_IN_ROCM: Truths = (True, False, True)
_IN_CUDA: Truths = (False, True, False)
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_VENDOR_WORD = re.compile(
    r"rocm\d*|amd|amdgpu|aiter|miopen|rdna\d?|cdna\d?|gfx\w*|mi\d{3}\w?|navi\d*|hcc|radeon|instinct"
)
_BESIDE_HIP = word_set(
    "is use using has have with on build torch version enable enabled platform backend available gpu "
    "runtime it t support supported supports device path home ext extension pytorch not non target "
    "running os x"
)
_OTHER_SIDE = word_set("cuda nvidia cpu xpu mps or no skip disable disabled without nv alike fake")
_CUDA_TEST = re.compile(
    r"_*(?:is|on|has|using|running_on)_(?:an?_)?(?:nvidia|nvgpu|nv)(?:_\w+)?"
    r"|_*is_cuda(?:_(?:build|platform|backend|device|gpu|machine|pytorch))?"
)
_ROCM_TEXT = re.compile(
    r"rocm|hip|amd|amdgpu|gfx\w*|radeon.*|instinct.*|mi\d{3}.*|rocm/hip|hip/rocm|advanced micro devices.*",
    re.IGNORECASE,
)
_CUDA_TEXT = re.compile(r"cuda|nvidia|nvgpu|nv|nvidia.*|geforce.*|nvcc", re.IGNORECASE)
_VENDOR_NAME = re.compile(
    r"(?:^|[_.])(?:backend|vendor|platform|target|target_device|gpu_type|gpu_vendor|arch_type|runtime)(?:_name|_type|\(\)|\[\])?$",
    re.IGNORECASE,
)
_ROCM_FILE = re.compile(
    r"/opt/rocm|(?:^|/)(?:rocm-smi|amd-smi|rocminfo|hipcc|hipconfig|rocm_agent_enumerator)$|^amdsmi$|^hip(?:\.|$)|/dev/kfd|amdhip64"
)
_CUDA_FILE = re.compile(
    r"(?:^|/)(?:nvidia-smi|nvcc)$|/usr/local/cuda|/dev/nvidia|^pynvml$|/proc/driver/nvidia"
)
_PROBES = word_set("which exists isdir isfile is_dir is_file find_spec find_library find_executable")
_STEP_LIMIT = 60
LOGICAL = word_set(
    "comparison_operator not_operator boolean_operator call identifier attribute true false "
    "conditional_expression parenthesized_expression none"
)
"""Kinds of expression that a condition can be made of."""


def truths(file: PyFile, node: Node | None, place: Place, depth: int = 0) -> Truths:
    """A condition read in the three ways."""
    return (
        truth(file, node, place, ROCM, depth),
        truth(file, node, place, CUDA, depth),
        truth(file, node, place, PLAIN, depth),
    )


def truth(file: PyFile, node: Node | None, place: Place, view: int, depth: int = 0) -> Truth:
    """A condition read in one way, None when it depends on anything else."""
    if node is None or depth > DEPTH_LIMIT:
        return None
    handler = _BY_TYPE.get(node.type)
    return handler(file, node, place, view, depth + 1) if handler is not None else None


def _name(file: PyFile, node: Node, place: Place, view: int, depth: int) -> Truth:
    value = resolve(file, node, place, depth, CUDA if view == CUDA else ROCM)
    return _worth(file, value, node.type == "attribute", view)


def _worth(file: PyFile, value: Value, is_attribute: bool, view: int) -> Truth:
    if value.name in _FACTS:
        return _FACTS[value.name][view]
    if value.truth != UNKNOWN and value.truth[view] is not None:
        return value.truth[view]
    by_name = vendor_test(
        value.name.rpartition(".")[2], plain_attribute=is_attribute and not value.name.startswith("self.")
    )
    return by_name[view]


@lru_cache(maxsize=20_000)
def vendor_test(name: str, plain_attribute: bool = False, called: bool = False) -> Truths:
    """What a name promises: ``IS_ROCM``, ``is_hip``, ``_is_cuda``. ``tensor.is_cuda`` promises nothing."""
    lowered = name.lower()
    if "cuda" in lowered or "nv" in lowered:
        public_member = plain_attribute and not name.startswith("_") and not called
        if _CUDA_TEST.fullmatch(lowered) and not public_member:
            return _IN_CUDA
    words = [w.lower() for w in _WORDS.findall(name)]
    other = [w for w in words if w not in ("hip",) and not _VENDOR_WORD.fullmatch(w)]
    if len(other) == len(words) or len(words) > 8:
        return UNKNOWN
    if "hip" in words and not all(w in _BESIDE_HIP for w in other):
        return UNKNOWN
    if not _OTHER_SIDE.isdisjoint(other):
        return UNKNOWN
    negative = ("not" in other) + ("non" in other)
    return _IN_CUDA if negative == 1 else _IN_ROCM


def vendor_text(text: str) -> int | None:
    """The side that a constant names: ``ROCM`` for "hip", ``CUDA`` for "cuda", None for anything else."""
    if _ROCM_TEXT.fullmatch(text):
        return ROCM
    return CUDA if _CUDA_TEXT.fullmatch(text) else None


def _call(file: PyFile, node: Node, place: Place, view: int, depth: int) -> Truth:
    function = node.child_by_field_name("function")
    callee = resolve(file, function, place, depth, CUDA if view == CUDA else ROCM)
    arguments = node.child_by_field_name("arguments")
    nodes = arguments.named_children if arguments is not None and arguments.type == "argument_list" else []
    last = callee.name.rpartition(".")[2]
    if callee.name == "bool" and nodes:
        return truth(file, nodes[0], place, view, depth)
    if callee.name in ("getattr", "hasattr") and len(nodes) > 1:
        return _reflected(file, callee.name, nodes, place, view, depth)
    if callee.node is not None:
        from portaudit.analyze.pyfunctions import summary

        given = summary(file, callee.node, depth).truth[view]
        if given is not None or vendor_test(last) == _IN_CUDA:
            return given
    elif callee.truth != UNKNOWN and callee.truth[view] is not None:
        return callee.truth[view]
    if last in _PROBES and nodes:
        return _file_test(resolve(file, nodes[0], place, depth).text or callee.text or "", view)
    if last in ("startswith", "endswith") and nodes:
        return _text_test(file, resolve(file, nodes[0], place, depth), callee, view, "in")
    if callee.name in ("os.getenv", "os.environ.get") and nodes:
        return vendor_test(resolve(file, nodes[0], place, depth).text or "")[view]
    if last in ("any", "all") and len(nodes) == 1 and nodes[0].type in ("list", "tuple", "set"):
        parts = [truth(file, n, place, view, depth) for n in nodes[0].named_children[:20]]
        return _joined(parts, disjunction if last == "any" else conjunction)
    return vendor_test(
        last, plain_attribute=function is not None and function.type == "attribute", called=True
    )[view]


def _joined(parts: list[Truth], join: Callable[[Truth, Truth], "Truth | int"]) -> Truth:
    result: Truth = parts[0] if parts else None
    for part in parts[1:]:
        joined = join(result, part)
        result = None if joined is None else bool(joined)
    return result


def _reflected(file: PyFile, name: str, nodes: list[Node], place: Place, view: int, depth: int) -> Truth:
    base = resolve(file, nodes[0], place, depth)
    attribute = resolve(file, nodes[1], place, depth).text or ""
    whole = f"{base.name}.{attribute}"
    if name == "getattr":
        return _worth(file, Value(whole, base.known), True, view)
    if whole == "torch.version.hip":
        return None if view == CUDA else True
    if attribute == "gcnArchName":
        return view != CUDA
    return None


def _file_test(text: str, view: int) -> Truth:
    if _ROCM_FILE.search(text):
        return view != CUDA
    # That nvidia-smi is missing says nothing certain about a ROCm host, but nothing else can be meant.
    if _CUDA_FILE.search(text):
        return (None, True, None)[view]
    return None


def _not(file: PyFile, node: Node, place: Place, view: int, depth: int) -> Truth:
    value = negation(truth(file, node.child_by_field_name("argument"), place, view, depth))
    return None if value is None else bool(value)


def _boolean(file: PyFile, node: Node, place: Place, view: int, depth: int) -> Truth:
    """``a and b and c`` nests to the left: walked down in a loop."""
    parts: list[Truth] = []
    operator = node.child_by_field_name("operator")
    kind = operator.type if operator is not None else "and"
    current: Node | None = node
    while current is not None and current.type == "boolean_operator" and len(parts) < _STEP_LIMIT:
        inner = current.child_by_field_name("operator")
        if inner is None or inner.type != kind:
            break
        parts.append(truth(file, current.child_by_field_name("right"), place, view, depth))
        current = current.child_by_field_name("left")
    parts.append(truth(file, current, place, view, depth))
    return _joined(parts, disjunction if kind == "or" else conjunction)


def _comparison(file: PyFile, node: Node, place: Place, view: int, depth: int) -> Truth:
    operands = node.named_children
    operator = _operator(node)
    if len(operands) != 2 or not operator:
        return None
    left, right = operands
    positive = operator in ("is", "==", "in")
    if right.type in ("none", "true", "false") and operator in ("is", "is not", "==", "!="):
        given = truth(file, left, place, view, depth)
        if given is None:
            return None
        return given == (right.type == "true") if positive else given != (right.type == "true")
    chosen = CUDA if view == CUDA else ROCM
    one, other = resolve(file, left, place, depth, chosen), resolve(file, right, place, depth, chosen)
    found = _text_test(file, other, one, view, operator) if other.text is not None or other.items else None
    if found is None and (one.text is not None):
        found = _text_test(file, one, other, view, operator)
    if found is None:
        found = _member_test(other.name, view) if operator in ("==", "!=", "is", "is not") else None
    return found if found is None or positive else not found


def _operator(node: Node) -> str:
    return " ".join(c.type for c in node.children if not c.is_named and c.type not in ("(", ")"))


_POSITIVE = {"==": True, "in": True, "is": True, "!=": False, "not in": False, "is not": False}


def _text_test(file: PyFile, wanted: Value, asked: Value, view: int, operator: str) -> Truth:
    """Whether ``asked`` equals, holds or is one of ``wanted``, a constant; the caller turns it for ``!=``."""
    if operator not in _POSITIVE:
        return None
    if asked.name == "torch.version.cuda" or asked.origin == "torch.version.cuda":
        return (False, None, None)[view]
    if asked.text is not None and wanted.text is not None and not wanted.items and operator in ("==", "!="):
        return asked.text == wanted.text if asked.tag != "cuda-device" else None
    texts = [t for t in (wanted.items or (wanted.text,)) if t]
    rocm = [t for t in texts if _ROCM_TEXT.fullmatch(t.strip(" +"))]
    cuda = [t for t in texts if _CUDA_TEXT.fullmatch(t.strip(" +"))]
    if rocm and not cuda and len(rocm) == len(texts):
        return _IN_ROCM[view]
    if cuda and not rocm and len(cuda) == len(texts) and _asks_vendor(file, asked):
        return (False, True, False if file.knows_rocm else None)[view]
    return None


def _asks_vendor(file: PyFile, asked: Value) -> bool:
    """Whether a text that is compared with "cuda" names the vendor, not torch's device type."""
    if asked.tag == "device-name" or asked.name.startswith("torch.__version__"):
        return True
    name = asked.name.removesuffix(".lower()").removesuffix(".lower").removesuffix(".upper()")
    if name.endswith((".type", "device_type", "device")) and not name.endswith("TARGET_DEVICE"):
        return False
    return bool(_VENDOR_NAME.search(name)) or (name != "" and file.paired(name.rpartition(".")[2]))


def _member_test(name: str, view: int) -> Truth:
    """``platform == PlatformEnum.ROCM``"""
    owner, _, last = name.rpartition(".")
    if not owner or (
        not owner[:1].isupper() and "Enum" not in owner and "Platform" not in owner and "Backend" not in owner
    ):
        return None
    if _ROCM_TEXT.fullmatch(last):
        return _IN_ROCM[view]
    return _IN_CUDA[view] if _CUDA_TEXT.fullmatch(last) and re.search(r"(?i)platform|vendor", owner) else None


def _choice(file: PyFile, node: Node, place: Place, view: int, depth: int) -> Truth:
    children = node.named_children
    if len(children) != 3:
        return None
    holds = truth(file, children[1], place, view, depth)
    first = None if holds is False else truth(file, children[0], place, view, depth)
    second = None if holds is True else truth(file, children[2], place, view, depth)
    if holds is None:
        return first if first == second else None
    return first if holds else second


def _inner(file: PyFile, node: Node, place: Place, view: int, depth: int) -> Truth:
    children = node.named_children
    return truth(file, children[-1], place, view, depth) if children else None


def _constant(file: PyFile, node: Node, place: Place, view: int, depth: int) -> Truth:
    text = file.slice(node)
    return text not in ("False", "None", "0", '""', "''")


_BY_TYPE: dict[str, Callable[[PyFile, Node, Place, int, int], Truth]] = {
    "identifier": _name,
    "attribute": _name,
    "subscript": _name,
    "call": _call,
    "not_operator": _not,
    "boolean_operator": _boolean,
    "comparison_operator": _comparison,
    "conditional_expression": _choice,
    "parenthesized_expression": _inner,
    "named_expression": _inner,
    "await": _inner,
    "true": _constant,
    "false": _constant,
    "none": _constant,
    "integer": _constant,
}
