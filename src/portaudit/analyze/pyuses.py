"""What is done with values that mean something else on ROCm: capability, names, architectures, versions."""

import re
from functools import lru_cache
from typing import NamedTuple, Optional

from tree_sitter import Node

from portaudit.analyze.pyfile import Attrs, PyFile
from portaudit.analyze.pyvalues import Place, Value
from portaudit.analyze.words import word_set
from portaudit.model.evidence import Confidence, EvidenceKind, Guard

_MODEL = r"(?:A|H|B|V|P|GB|GH|L)(?:100|200|300|800|20|40|40[Ss]|4|10G?|16|30|6000|5000)|T4"
_PRODUCT = re.compile(
    rf"GeForce|Tesla|Quadro|\bRTX\b|\bGTX\b|\bTITAN\b|DGX|Jetson|Orin|Xavier"
    rf"|(?<![A-Za-z0-9])(?:{_MODEL})(?![0-9A-Za-z])|NVIDIA [\w-]+"
)
_ARCH_TEXT = re.compile(r"(?:sm|compute|arch)_?$|-gencode|-arch|compute_|sm_")
_TABLE_KEY = re.compile(
    rf"(?:NVIDIA[ _-])?(?:GeForce|Tesla|Quadro|RTX|GTX|TITAN|{_MODEL})(?:[ _-][\w.+-]{{1,12}}){{0,4}}"
)
_LOOSE_NAME = re.compile(r"name|device|gpu|card|hardware|model_id", re.IGNORECASE)
_PASS = frozenset({"paren", "either", "choice", "await", "star"})
_PARSERS = re.compile(
    r"^(?:int|float|tuple|map|list|len|max|min|sorted|enumerate|zip|str\.\w+|Version|LooseVersion|StrictVersion|parse)$|version|^re\.|^semver|parse"
)
_PRINTERS = word_set(
    "print str repr format info debug warning warn error exception critical log echo write secho pprint dumps"
)


class Use(NamedTuple):
    """What the expression around does with a value."""

    kind: str
    """member, item, arg, cmp, arith, concat, format, key, test, return, assign, unpack, iter, elem, drop."""
    detail: str = ""
    """Attribute, callee, comparison or text beside it."""
    outer: Optional["Use"] = None
    argument: str = ""
    """First argument of a called attribute."""


DROPPED = Use("drop")


def tagged(file: PyFile, node: Node, value: Value, use: Use, place: Place) -> None:
    """Evidence for one use of a value whose sort is known."""
    handler = _HANDLERS.get(value.tag)
    if handler is not None:
        handler(file, node, value, use, place)


@lru_cache(maxsize=20_000)
def is_printer(name: str) -> bool:
    """Whether a function only shows its arguments to people."""
    owner, _, last = name.rpartition(".")
    return last in _PRINTERS and (
        last in ("print", "str", "repr", "pprint")
        or bool(re.search(r"log|warn|click|console|sys\.std|print|json", owner, re.IGNORECASE))
        or last in ("info", "warning", "debug")
    )


def _settled(use: Use, through: frozenset[str]) -> Use:
    """The use behind what only takes a value apart or wraps it."""
    steps = 0
    while use.outer is not None and steps < 30 and (use.kind in _PASS or use.kind in through):
        if use.kind == "arg" and not _PARSERS.search(use.detail):
            break
        use = use.outer
        steps += 1
    return use


def compared_platform(file: PyFile, node: Node, value: Value, constant: str, place: Place) -> None:
    """``jax.default_backend() == "cuda"``: the platform of ROCm has another name."""
    if constant.lower() == "cuda" and value.name in ("jax.default_backend()", "jax.devices()[].platform"):
        file.add(EvidenceKind.PATTERN, "jax-platform-compared", node, place, {"of": value.name})


def _has_default(use: Use) -> bool:
    """Whether ``value or other`` replaces a value that is None before it is used."""
    outer: Use | None = use
    while outer is not None and outer.kind in _PASS:
        if outer.detail == "or-else":
            return True
        outer = outer.outer
    return False


def _capability(file: PyFile, node: Node, value: Value, use: Use, place: Place) -> None:
    final = _settled(use, frozenset({"member", "item", "arith", "arg", "elem"}))
    direct = node.type == "call" or (
        node.type == "attribute"
        and not value.name.endswith(("major", "minor"))
        and value.origin.endswith("compute_capability")
    )
    attrs: Attrs = {}
    if final.kind == "cmp":
        if final.detail.endswith((" None", " True", " False")):
            return
        attrs["compared"] = final.detail
    elif final.kind in ("format", "concat") and _ARCH_TEXT.search(final.detail):
        attrs["used_as"] = "arch-name"
    elif final.kind == "key":
        attrs["used_as"] = "key"
    elif direct:
        attrs["used_as"] = _plain_use(final)
    else:
        return
    if not direct:
        attrs["through"] = file.slice(node)[:60]
    line = file.text.place(node.start_byte)[0]
    if (f"capability {line}", place.scope) in file.told:
        return
    file.told.add((f"capability {line}", place.scope))
    attrs["of"] = value.origin
    own = not value.origin.startswith(("torch.", "pynvml.", "cupy.", "numba.", "pycuda."))
    confidence = Confidence.MEDIUM if own else Confidence.HIGH
    file.add(EvidenceKind.PATTERN, "compute-capability", node, place, attrs, confidence)


def _plain_use(use: Use) -> str:
    if use.kind == "arg":
        return "printed" if is_printer(use.detail) else "passed"
    return {
        "format": "printed",
        "assign": "assigned",
        "unpack": "assigned",
        "return": "returned",
        "drop": "dropped",
    }.get(use.kind, "stored")


def _device_name(file: PyFile, node: Node, value: Value, use: Use, place: Place) -> None:
    final = _settled(use, frozenset({"item", "arg"}))
    while final.kind == "member" and final.outer is not None and not final.argument:
        final = _settled(final.outer, frozenset())
    text = final.argument if final.kind == "member" else final.detail
    if final.kind in ("member", "cmp") or (final.kind == "arg" and final.detail.startswith("re.")):
        product(file, node, text, value.origin, place)


def product(file: PyFile, node: Node, text: str, origin: str, place: Place, sure: bool = True) -> None:
    """A product name in a test."""
    found = _PRODUCT.search(text)
    if found is not None:
        attrs: Attrs = {"product": found.group().strip(), "of": origin}
        confidence = Confidence.HIGH if sure else Confidence.MEDIUM
        guard = file.beside(place, "product")
        file.add(EvidenceKind.PATTERN, "device-product-name", node, place, attrs, confidence, guard)


def loose_product(file: PyFile, node: Node, constant: str, other: str, place: Place) -> None:
    """A product name compared with something that is called like a device."""
    if _LOOSE_NAME.search(other) and _PRODUCT.search(constant):
        product(file, node, constant, other[:60], place, False)


def is_model(text: str) -> bool:
    """Whether a text is the name of an NVIDIA product and nothing else, a count or size behind it aside."""
    return _TABLE_KEY.fullmatch(re.sub(r"[:*]\d{1,3}$", "", text)) is not None


def product_table(file: PyFile, keys: "list[tuple[Node, str]]", place: Place) -> None:
    """A dictionary by product names, such as one of peak rates."""
    named = [(node, key) for node, key in keys if _TABLE_KEY.fullmatch(key)]
    if len(named) > 1:
        product(file, named[0][0], named[0][1], "table", place, False)


def _arch(file: PyFile, node: Node, value: Value, use: Use, place: Place) -> None:
    final = _settled(use, frozenset())
    if final.kind == "member":
        if final.detail in ("sort", "copy", "append", "count", "index", "join") and value.tag == "arch-list":
            return
        parsed = True
    elif final.kind == "cmp":
        parsed = re.search(r"sm_|compute_|\d\d", final.detail) is not None and "gfx" not in final.detail
    else:
        parsed = (final.kind == "item" and value.tag == "arch") or (
            final.kind == "arg" and final.detail in ("int", "float")
        )
    if parsed:
        of = value.origin or "torch.cuda.get_arch_list"
        file.add(EvidenceKind.PATTERN, "arch-list", node, place, {"used_as": "parsed", "of": of})


def _cuda_version(file: PyFile, node: Node, value: Value, use: Use, place: Place) -> None:
    final = _settled(use, frozenset())
    used = _version_use(file, final)
    if used == "text" and _has_default(use):
        used = "defaulted"
    direct = (node.type == "attribute" and value.name == "torch.version.cuda") or node.type == "call"
    if not direct and used not in ("text", "compared"):
        return
    attrs: Attrs = {"used_as": used}
    if not direct:
        attrs["through"] = file.slice(node)[:60]
    if used == "compared":
        attrs["compared"] = final.detail
    guard = file.guard(place)
    if guard is not None and guard.side == "gate":
        # None was asked for before: nothing raises, whatever becomes of the branch.
        guard = Guard("cuda", guard.text, guard.line)
    file.add(EvidenceKind.ATTRIBUTE, "torch.version.cuda", node, place, attrs, guard=guard)


def _version_use(file: PyFile, use: Use) -> str:
    if use.kind in ("member", "item", "concat", "iter", "arith"):
        return "text"
    if use.kind == "cmp":
        return "switch" if use.detail.endswith((" None", " True", " False")) else "compared"
    if use.kind == "arg":
        if is_printer(use.detail):
            return "printed"
        return "text" if _PARSERS.search(use.detail) else "passed"
    if use.kind == "format":
        return "text" if re.search(r"cu(?:da)?[-_]?$|whl/|==", use.detail) else "printed"
    return {"test": "switch", "assign": "assigned", "unpack": "text", "return": "returned"}.get(
        use.kind, "stored"
    )


def _cudnn_version(file: PyFile, node: Node, value: Value, use: Use, place: Place) -> None:
    final = _settled(use, frozenset({"arith", "item"}))
    if final.kind == "cmp" and not final.detail.endswith(" None"):
        file.add(
            EvidenceKind.PATTERN, "cudnn-version", node, place, {"of": value.origin, "compared": final.detail}
        )


def _toolkit_home(file: PyFile, node: Node, value: Value, use: Use, place: Place) -> None:
    final = _settled(use, frozenset())
    if final.kind in ("concat", "format", "arith", "member", "item"):
        used = "path"
    elif final.kind == "arg":
        used = (
            "printed"
            if is_printer(final.detail)
            else "path"
            if re.search(r"join|[Pp]ath|exists|isdir|realpath|str$", final.detail)
            else "passed"
        )
    elif final.kind in ("test", "cmp"):
        used = "test"
    else:
        used = {"assign": "assigned", "return": "returned"}.get(final.kind, "stored")
    direct = "through" if value.name != value.origin else ""
    attrs: Attrs = {"used_as": used}
    if direct:
        attrs["through"] = file.slice(node)[:60]
    if used in ("path", "test", "passed"):
        file.add(EvidenceKind.ATTRIBUTE, "torch.utils.cpp_extension.CUDA_HOME", node, place, attrs)


_HANDLERS = {
    "capability": _capability,
    "device-name": _device_name,
    "arch": _arch,
    "arch-list": _arch,
    "cuda-version": _cuda_version,
    "cudnn-version": _cudnn_version,
    "toolkit-home": _toolkit_home,
}
