"""Calls, attributes and assignments of Python code that tables or rules know by name."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from tree_sitter import Node

from portaudit.analyze import imports, ptx
from portaudit.analyze.pyfile import Attrs, PyFile
from portaudit.analyze.pyresolve import resolve
from portaudit.analyze.pyuses import Use, is_printer
from portaudit.analyze.pyvalues import Place, Value, plain_text, string_inside
from portaudit.analyze.words import is_watched_env, word_set
from portaudit.model.evidence import Confidence, EvidenceKind

_ENV_READ = frozenset({"os.getenv", "os.environ.get", "os.environ.pop", "os.environ.__getitem__"})
_ENV_WRITE = frozenset({"os.environ.setdefault", "os.putenv", "os.environ.__setitem__"})
_ENV_METHODS = word_set("setenv setdefault get pop")
_TALK = re.compile(
    r"(?:Error|Exception|Warning|Skip|Exit)$|^(?:warnings\.warn|pytest\.(?:skip|fail|xfail|exit)|unittest\.skip)$"
)
_CAPABILITY_TEST = re.compile(
    r"^_*(?:has|is|at_least|supports?|check|require)_?(?:device_|compute_|cuda_)*capabilit(?:y|ies)\w*$"
    r"|^_*is_(?:device_)?(?:sm_?\d{2,3}\w*|hopper\w*|blackwell\w*|ampere\w*|ada\w*|volta\w*|turing\w*)$"
    r"|^_*(?:supports?|has)_(?:sm_?\d{2,3}\w*|hopper\w*|blackwell\w*)$",
    re.IGNORECASE,
)
_CUDA_SYMBOL = re.compile(
    r"^(?:cuda[A-Z]|cu[A-Z][a-z]|cu(?:blas|dnn|fft|rand|sparse|solver|tensor|file|pti)[A-Z]|nccl[A-Z]|nvml[A-Z]|nvrtc[A-Z]|npp[iscA-Z]|nvjpeg[A-Z])\w+$"
)
_AMDGCN = re.compile(
    r"^\s*(?:;;[^\n]*\n\s*)?(?:[vs]_\w+|ds_\w+|buffer_\w+|global_(?:load|store|atomic)_\w+|flat_\w+)\b"
)
_DEVICE_TEXT = re.compile(r"[\"']cuda(?::\d+)?[\"']|\.cuda\(")
_TOOL_PROBES = frozenset({"which", "find_executable"})
_NVIDIA_OPTIONS = frozenset({"maxnreg", "launch_pdl", "warp_specialize", "num_ctas"})
_ASM_CALLS = word_set("inline_asm_elementwise inline_asm")
_WARP_NAME = re.compile(
    r"_*(?:K?_?WARP_?SIZE|THREADS_PER_WARP|NUM_THREADS_PER_WARP|WARP_THREADS|LANES_PER_WARP|NUM_LANES)(?:_X)?",
    re.IGNORECASE,
)
_BUILD_INFO = frozenset({"cuda_version", "cudnn_version", "cuda_compute_capabilities", "is_cuda_build"})
_ATTRIBUTE_LIMIT = 12


class Call(NamedTuple):
    """A call with its parts."""

    node: Node
    callee: Value
    arguments: Sequence[Node]
    use: Use


def is_talk(name: str) -> bool:
    """Whether what is called takes messages: exceptions, warnings, reasons to skip."""
    return _TALK.search(name) is not None


def handle(file: PyFile, call: Call, place: Place) -> None:
    """Evidence of one call."""
    name = call.callee.name
    last = name.rpartition(".")[2]
    if imports.is_import_function(name) and call.arguments:
        text = resolve(file, call.arguments[0], place).text
        imports.by_function(file, call.node, name, text, place)
    elif (
        name in _ENV_READ
        or name in _ENV_WRITE
        or (last in _ENV_METHODS and _is_environment(file, call, place))
    ):
        _environment_call(file, call, name, last, place)
    elif last in _ASM_CALLS and call.arguments:
        _inline_asm(file, call, place)
    elif name == "getattr":
        _reflected(file, call, place)
    elif last in _TOOL_PROBES and call.arguments and call.arguments[0].type != "string":
        _probe(file, call, place)
    elif _CAPABILITY_TEST.match(last) and call.callee.tag != "capability":
        _capability_test(file, call, last, place)
    _nvidia_options(file, call, place)
    if _is_symbol(file, last, call.callee):
        span = (call.node.start_byte, call.node.end_byte)
        file.add(EvidenceKind.CALL, last, span, place, {"python": True, "through": name[:60]})
    elif file.words.watches(name) and (call.callee.known or last in file.words.plain):
        watched = name if name in file.words.dotted else last
        file.add(EvidenceKind.CALL, watched, call.node, place, _call_attrs(file, call, place))


def _nvidia_options(file: PyFile, call: Call, place: Place) -> None:
    """Launch options of Triton that only its NVIDIA back end knows."""
    for argument in call.arguments:
        if argument.type != "keyword_argument" or not file.marked(argument):
            continue
        key, value = argument.child_by_field_name("name"), argument.child_by_field_name("value")
        if key is None or value is None or file.slice(key) not in _NVIDIA_OPTIONS:
            continue
        text = file.slice(value)[:40]
        if value.type in ("true", "integer") and text not in ("0", "1"):
            attrs: Attrs = {"option": file.slice(key), "value": text}
            file.add(EvidenceKind.PATTERN, "triton-nvidia-option", argument, place, attrs)


def _is_environment(file: PyFile, call: Call, place: Place) -> bool:
    owner = call.node.child_by_field_name("function")
    base = owner.child_by_field_name("object") if owner is not None and owner.type == "attribute" else None
    if base is None or not call.arguments:
        return False
    value = resolve(file, base, place)
    if value.tag == "environment" or value.name.rpartition(".")[2] in ("monkeypatch", "environ", "env"):
        text = resolve(file, call.arguments[0], place).text or ""
        return text.isidentifier() and text.upper() == text
    return False


def _environment_call(file: PyFile, call: Call, name: str, last: str, place: Place) -> None:
    if not call.arguments:
        return
    first = call.arguments[0]
    writes = name in _ENV_WRITE or last in ("setenv", "setdefault")
    value = resolve(file, call.arguments[1], place).text if len(call.arguments) > 1 else None
    environment(file, first, resolve(file, first, place).text, place, writes, value if writes else None)


def environment(
    file: PyFile, node: Node, name: str | None, place: Place, write: bool, value: str | None = None
) -> None:
    """Evidence for an environment variable."""
    if name and name.replace("_", "a").isalnum() and is_watched_env(name, file.vocabulary):
        file.add(EvidenceKind.ENV, name, node, place, {"write": write, "value": value})


def _inline_asm(file: PyFile, call: Call, place: Place) -> None:
    """Instructions in the text of inline assembly; the text may be the constant of a name."""
    node = _asm_text(file, call)
    if node is None:
        return
    parts = (
        [c for c in node.named_children if c.type == "string"]
        if node.type == "concatenated_string"
        else [node]
    )
    attrs: Attrs = {"form": "triton"}
    count = 0
    for part in parts:
        if part.type != "string":
            continue
        start, end, _ = string_inside(part)
        if _AMDGCN.search(file.source[start:end]):
            return
        for found in ptx.instructions(file.source, start, end):
            count += 1
            more: Attrs = {**attrs, "base": re.split(r"[.:]", found.opcode, maxsplit=1)[0]}
            file.add(EvidenceKind.ASM, found.opcode, (found.start, found.end), place, more)
            if count >= 40:
                return
    if not count:
        text = resolve(file, node, place).text
        if text is None or not _AMDGCN.search(text):
            opcode = next((i.opcode for i in ptx.instructions(text or "", 0, len(text or ""))), "inline-asm")
            file.add(EvidenceKind.ASM, opcode, node, place, attrs)


def _asm_text(file: PyFile, call: Call) -> Node | None:
    """The argument that holds the instructions: the first in Triton, behind types and operands elsewhere."""
    fallback: Node | None = None
    for argument in call.arguments:
        node: Node | None = argument
        if argument.type == "keyword_argument":
            key, node = argument.child_by_field_name("name"), argument.child_by_field_name("value")
            if key is not None and file.slice(key) in ("asm", "asm_string"):
                return node
        elif fallback is None and call.callee.name.endswith("inline_asm_elementwise"):
            fallback = argument
        if node is not None and node.type in ("string", "concatenated_string"):
            inside = file.slice(node)
            if (
                " " in inside
                and next(ptx.instructions(inside.strip("rfb\"'"), 0, len(inside)), None) is not None
            ):
                return node
    return fallback


def _capability_test(file: PyFile, call: Call, last: str, place: Place) -> None:
    key = (f"predicate {last}", place.scope)
    if (call.callee.node is not None and file.knows_rocm) or key in file.told:
        return
    file.told.add(key)
    wanted = file.slice(call.arguments[0])[:40] if call.arguments else ""
    attrs: Attrs = {"function": last, "wanted": wanted}
    file.add(EvidenceKind.PATTERN, "capability-predicate", call.node, place, attrs, Confidence.LOW)


def _is_symbol(file: PyFile, last: str, value: Value) -> bool:
    """Whether a name is a C function of CUDA behind a binding; torch maps its own ``torch.cuda.cudart()``."""
    if not _CUDA_SYMBOL.match(last) or "torch" in value.name.partition(".")[0] or value.node is not None:
        return False
    return last in file.vocabulary.symbols


def _call_attrs(file: PyFile, call: Call, place: Place) -> dict[str, str | int | bool | None]:
    attrs: dict[str, str | int | bool | None] = {}
    positional = 0
    for argument in call.arguments[:_ATTRIBUTE_LIMIT]:
        key, value = f"arg{positional}", argument
        if argument.type == "keyword_argument":
            name, inner = argument.child_by_field_name("name"), argument.child_by_field_name("value")
            if name is None or inner is None:
                continue
            key, value = f"kw_{file.slice(name)}", inner
        else:
            positional += 1
        found = resolve(file, value, place)
        text = (
            found.text if found.text is not None else file.slice(value) if value.type in _LITERALS else None
        )
        attrs[key] = text if text is not None else found.name[:60] if found.known else "…"
        if found.tag == "cuda-device" or _DEVICE_TEXT.search(file.slice(value)[:2000]):
            attrs["cuda_device"] = True
    attrs["nargs"] = len(call.arguments)
    attrs["used_as"] = _how(call.use)
    return attrs


_LITERALS = frozenset({"integer", "float", "true", "false", "none", "unary_operator"})


def _how(use: Use) -> str:
    steps = 0
    while use.kind in ("paren", "either", "choice", "item", "elem") and use.outer is not None and steps < 20:
        use = use.outer
        steps += 1
    if use.kind in ("cmp", "test", "dictkey", "key"):
        return "test"
    if use.kind == "arg":
        return (
            "printed"
            if is_printer(use.detail)
            else "test"
            if use.detail in ("isinstance", "issubclass")
            else "passed"
        )
    return {"assign": "assigned", "return": "returned", "format": "printed", "default": "default"}.get(
        use.kind, "stored"
    )


def named(file: PyFile, node: Node, value: Value, use: Use, place: Place) -> None:
    """Evidence for an attribute or a name that is not called."""
    last = value.name.rpartition(".")[2]
    if use.kind == "member" and not file.words.watches(value.name):
        return
    if _is_symbol(file, last, value):
        if node.type == "attribute" or value.known:
            file.add(EvidenceKind.NAME, last, node, place, {"python": True})
        return
    if (
        not file.words.watches(value.name)
        or value.tag == "toolkit-home"
        or value.name == "torch.version.cuda"
    ):
        return
    if node.type == "identifier" and not (value.known and value.name in file.words.dotted):
        return
    if value.known or last in file.words.plain:
        watched = value.name if value.name in file.words.dotted else last
        attrs: Attrs = {"used_as": _how(use)}
        if "float8" in last:
            if attrs["used_as"] == "test" or (watched, place.scope) in file.told:
                return
            file.told.add((watched, place.scope))
            attrs["beside_fnuz"] = "fnuz" in file.source or "fp8_dtype()" in file.source
        file.add(EvidenceKind.ATTRIBUTE, watched, node, place, attrs)


def _reflected(file: PyFile, call: Call, place: Place) -> None:
    """``getattr(lib, "cuda" + "Memcpy")``: a C function by a name that is put together."""
    value = resolve(file, call.node, place)
    last = value.name.rpartition(".")[2]
    if _is_symbol(file, last, value):
        file.add(EvidenceKind.NAME, last, call.node, place, {"python": True, "reflected": True})


def _probe(file: PyFile, call: Call, place: Place) -> None:
    """``shutil.which(TOOL)`` with the tool in a constant."""
    tool = (resolve(file, call.arguments[0], place).text or "").rsplit("/", 1)[-1]
    if tool in file.vocabulary.tools:
        file.add(EvidenceKind.TOOL, tool, call.node, place, {"probe": True}, guard=file.beside(place, "tool"))


def subscript(
    file: PyFile, node: Node, base: Node | None, keys: Sequence[Node], use: Use, place: Place
) -> None:
    """Evidence for ``os.environ["NAME"]`` and for the texts of a compiled Triton kernel."""
    if base is None or len(keys) != 1:
        return
    text = plain_text(keys[0], file.source) or resolve(file, keys[0], place).text
    if text is None:
        return
    if text in _BUILD_INFO and resolve(file, base, place).name == "tensorflow.sysconfig.get_build_info()":
        file.add(EvidenceKind.PATTERN, "tf-build-info", keys[0], place, {"key": text})
    elif text in ("ptx", "cubin", "sass") and file.slice(base).endswith(".asm"):
        file.add(EvidenceKind.PATTERN, "triton-asm-key", keys[0], place, {"key": text})
    elif text.isidentifier() and text.upper() == text and is_environment_like(file, base, place):
        environment(file, keys[0], text, place, False)


def is_environment_like(file: PyFile, base: Node, place: Place) -> bool:
    """Whether something holds environment variables, by what it is or by its name."""
    value = resolve(file, base, place)
    last = file.slice(base)[-40:].rpartition(".")[2].lower()
    return (
        value.tag == "environment"
        or value.name == "os.environ"
        or last
        in ("env", "environ", "environment", "envs", "env_vars", "env_copy", "my_env", "new_env", "sub_env")
    )


def assigned(file: PyFile, target: Node, right: Node, place: Place) -> None:
    """Evidence for what is assigned to: a variable, a switch of a library, a constant of 32."""
    if target.type == "subscript":
        base, keys = target.child_by_field_name("value"), target.children_by_field_name("subscript")
        if base is None or len(keys) != 1:
            return
        name = plain_text(keys[0], file.source) or resolve(file, keys[0], place).text
        if name and name.isidentifier() and name.upper() == name and is_environment_like(file, base, place):
            environment(file, keys[0], name, place, True, resolve(file, right, place).text)
    elif target.type == "attribute":
        _declared(file, target, place)
        value = resolve(file, target, place)
        last = value.name.rpartition(".")[2]
        if file.words.watches(value.name) and (value.known or last in file.words.plain):
            watched = value.name if value.name in file.words.dotted else last
            text = resolve(file, right, place).text or file.slice(right)[:60]
            file.add(
                EvidenceKind.ATTRIBUTE, watched, target, place, {"set": True, "value": text, "used_as": "set"}
            )
    elif right.type == "integer" and file.slice(right) == "32" and _WARP_NAME.fullmatch(file.slice(target)):
        file.add(EvidenceKind.PATTERN, "python-warp-size", target, place, {"name": file.slice(target)})


def _declared(file: PyFile, target: Node, place: Place) -> None:
    """``lib.cudaMalloc.argtypes = [...]``: a C function made known to a binding."""
    owner, attribute = target.child_by_field_name("object"), target.child_by_field_name("attribute")
    if owner is None or attribute is None or file.slice(attribute) not in ("argtypes", "restype", "errcheck"):
        return
    value = resolve(file, owner, place)
    last = value.name.rpartition(".")[2]
    if _is_symbol(file, last, value) and (last, place.scope) not in file.told:
        file.told.add((last, place.scope))
        file.add(EvidenceKind.NAME, last, owner, place, {"python": True, "declared": True})
