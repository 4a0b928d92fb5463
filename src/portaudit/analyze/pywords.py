"""Lists and dictionaries of Python code as words: commands, options, libraries, requirements."""

import re
from collections.abc import Sequence
from itertools import pairwise

import msgspec
from tree_sitter import Node

from portaudit.analyze import containers, flags, installs
from portaudit.analyze.cmakeoptions import cache_options
from portaudit.analyze.pycalls import environment
from portaudit.analyze.pyfile import PyFile
from portaudit.analyze.pyresolve import resolve
from portaudit.analyze.pystrings import SUBCOMMANDS, frame_of, is_command_call, take
from portaudit.analyze.pyuses import Use, product_table
from portaudit.analyze.pyvalues import Place, string_inside
from portaudit.analyze.words import Frame, Word, joined, word_set
from portaudit.model.evidence import EvidenceKind, Guard

_NVCC = re.compile(
    r"nvcc|cuda_?c?flags|cuda_args|cuda_extra|extra_cuda|cuda_opts|cuda_options|ptxas", re.IGNORECASE
)
_RUNTIME_COMPILER = re.compile(
    r"(?:RawKernel|RawModule|SourceModule|nvrtcCompileProgram|compile_with_cache|compileProgram|Program)$"
)
_LIBRARIES = re.compile(
    r"^(?:\w*[._])?(?:libraries|libs|link_libraries|LIBRARIES|LIBS|extra_libraries|cuda_libs|link_libs)$"
)
_REQUIREMENTS = re.compile(
    r"requires?\b|requirements?\b|_reqs?\b|^reqs\b|^deps\b|dependenc(?:y|ies)\b|_deps\b|pip_install|pip_packages|install_req|extras|packages_to_install",
    re.IGNORECASE,
)
_PIP = re.compile(
    r"(?:^|\.)(?:pip_install|uv_pip_install|pip_install_packages|install_packages|run_pip|pip)$"
)
_MACRO = re.compile(r"-D\s?([A-Za-z_]\w*CUDA\w*|CUDA\w+)(?:=|$)")
_COMMAND_NAME = re.compile(r"cmd|command|argv?s?$|query|call|smi|popen", re.IGNORECASE)
_FP8_NAME = re.compile(r"max|min|fp8|f8|e4m3|range|limit|clamp", re.IGNORECASE)
_CLAMPS = word_set("clamp clamp_ clip clip_ min max minimum maximum fmin fmax")
_FP8 = re.compile(rb"448(?:\.0?)?")
_HWACCEL = frozenset({"-hwaccel", "-hwaccel_output_format", "hwaccel", "-init_hw_device"})
_LIST_LIMIT = 400


def sequence(file: PyFile, node: Node, use: Use, place: Place) -> set[int]:
    """Evidence of a list or tuple of texts as a whole; ids of the elements that need no look of their own."""
    elements = node.named_children[:_LIST_LIMIT]
    words = _words(file, elements, place)
    if not words:
        return set()
    frame = frame_of(file, place)
    if (beside := file.beside(place, "tool")) is not None:
        frame = msgspec.structs.replace(frame, guard=frame.guard or beside)
    label = _label(use)
    taken: set[int] = set()
    first = words[0]
    name = first.text.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".exe")
    if elements and first.start == _start(elements[0]):
        count = _command(file, name, words, frame, use, place)
        taken.update(e.id for e in elements[:count] if e.type in ("string", "concatenated_string"))
    if _LIBRARIES.search(label):
        take(file, flags.libraries(words, _without_tools(file, place), bare=True), place)
    elif _REQUIREMENTS.search(label) or (use.kind == "arg" and _PIP.search(use.detail)):
        requirements(file, words, place)
        return {e.id for e in elements if e.type in ("string", "concatenated_string")}
    else:
        taken |= _options(file, elements, words, label, use, place)
    _hardware(file, words, place)
    return taken


def _without_tools(file: PyFile, place: Place) -> Frame:
    frame = frame_of(file, place)
    guard = file.beside(place, "library")
    return frame if guard is None else msgspec.structs.replace(frame, guard=frame.guard or guard)


def _start(node: Node) -> int:
    return string_inside(node)[0] if node.type == "string" else node.start_byte


def _words(file: PyFile, elements: Sequence[Node], place: Place) -> list[Word]:
    words = []
    for element in elements:
        if element.type == "string":
            start, end, _ = string_inside(element)
            words.append(Word(file.source[start:end], start, end))
        elif element.type in ("binary_operator", "identifier", "call", "concatenated_string", "attribute"):
            text = (
                resolve(file, element, place).text
                if element.type != "binary_operator"
                else _tail(file, element)
            )
            words.append(Word(text or "?", element.start_byte, element.end_byte))
    return words if any(w.text != "?" for w in words) else []


def _tail(file: PyFile, node: Node) -> str | None:
    """``CUDA_HOME + "/bin/nvcc"``: the constant end tells what the whole is."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None and left.type == "string" and file.slice(left).strip("rfb\"'").startswith("-"):
        return file.slice(left).strip("rfb\"'") + "?"
    if right is not None and right.type == "string":
        start, end, _ = string_inside(right)
        return "?" + file.source[start:end]
    return None


def _label(use: Use) -> str:
    """What a list is called: the keyword, the dictionary key, or the name that it is assigned to."""
    steps = 0
    current: Use | None = use
    while current is not None and steps < 12:
        if current.kind in ("assign", "default"):
            return current.detail
        if current.kind == "arg" and current.argument:
            return current.argument
        if current.kind == "elem" and current.argument:
            return current.argument
        if current.kind == "arg" and current.detail.rpartition(".")[2] in (
            "append",
            "extend",
            "insert",
            "update",
        ):
            return current.detail.rpartition(".")[0]
        current = current.outer
        steps += 1
    return ""


def _command(file: PyFile, name: str, words: list[Word], frame: Frame, use: Use, place: Place) -> int:
    """A list whose first word is a command; how many of its words are read by that."""
    if name in file.vocabulary.tools and _runs(words, use):
        attrs = {"args": joined(words[1:]) or None, "caught": True if place.caught else None}
        file.add(EvidenceKind.TOOL, name, (words[0].start, words[0].end), place, attrs, guard=frame.guard)
        return 1
    if name.startswith("python") or words[0].text == "?":
        rest = [w.text for w in words[1:4]]
        if rest[:2] == ["-m", "pip"]:
            take(file, installs.installs(words[2:], frame), place)
            return len(words)
        return 0
    if installs.is_installer(name) and len(words) > 1:
        take(file, installs.installs(words, frame), place)
        return len(words)
    elif containers.is_container_tool(name) and len(words) > 1:
        found, after = containers.container_command(words, frame)
        take(file, found, place)
        if after < len(words):
            inner = words[after].text.rsplit("/", 1)[-1]
            _command(file, inner, words[after:], frame, use, place)
        return len(words)
    elif name in ("sudo", "ssh", "srun", "env", "timeout", "watch", "xargs", "which", "type", "command"):
        for index, word in enumerate(words[1:4], 1):
            tool = word.text.rsplit("/", 1)[-1]
            if tool in file.vocabulary.tools:
                attrs = {
                    "args": joined(words[index + 1 :]) or None,
                    "probe": True if name in ("which", "type", "command") else None,
                }
                file.add(EvidenceKind.TOOL, tool, (word.start, word.end), place, attrs, guard=frame.guard)
                break
    return 0


def _runs(words: Sequence[Word], use: Use) -> bool:
    """Whether a list that begins with a tool is its command line, not a list of names."""
    if any(w.text.startswith("-") or w.text in SUBCOMMANDS for w in words[1:]):
        return True
    current: Use | None = use
    while current is not None and current.kind in ("elem", "paren", "choice", "concat"):
        current = current.outer
    if current is None:
        return False
    if current.kind == "arg":
        return is_command_call(current.detail) or current.argument in ("args", "cmd", "command")
    return current.kind in ("assign", "return") and (
        len(words) == 1 or bool(_COMMAND_NAME.search(current.detail))
    )


def _options(
    file: PyFile, elements: Sequence[Node], words: list[Word], label: str, use: Use, place: Place
) -> set[int]:
    """Compiler and linker options."""
    dashed = [w for w in words if w.text.startswith("-")]
    if not dashed:
        return set()
    frame = frame_of(file, place)
    nvcc = bool(_NVCC.search(label)) or _runtime_compiler(use) or words[0].text.endswith("nvcc")
    found = list(flags.nvcc_options(words, frame, nvcc=nvcc))
    if nvcc or found:
        _macros(file, words, place)
    found += list(flags.definitions(words, frame))
    if words[0].text.rsplit("/", 1)[-1] == "cmake" or "cmake" in label.lower():
        found += list(cache_options(words, frame))
    take(file, found, place)
    take(
        file,
        list(flags.libraries([w for w in dashed if w.text.startswith("-l")], _without_tools(file, place))),
        place,
    )
    return {
        e.id
        for e in elements
        if e.type == "string" and _start(e) in {w.start for w in dashed} and not _has_parts(e)
    }


def _has_parts(node: Node) -> bool:
    return any(c.type == "interpolation" for c in node.named_children)


def _runtime_compiler(use: Use) -> bool:
    current: Use | None = use
    while current is not None and current.kind in ("elem", "paren", "choice", "concat"):
        current = current.outer
    return current is not None and current.kind == "arg" and bool(_RUNTIME_COMPILER.search(current.detail))


def _macros(file: PyFile, words: Sequence[Word], place: Place) -> None:
    """Definitions with CUDA in their name among options that torch passes to hipcc."""
    for word in words:
        match = _MACRO.match(word.text)
        if match and not match.group(1).startswith("__CUDA_NO_"):
            attrs = {"macro": match.group(1)}
            file.add(EvidenceKind.PATTERN, "cuda-macro-option", (word.start, word.end), place, attrs)


def requirements(file: PyFile, words: Sequence[Word], place: Place) -> None:
    """Packages that a setup script or an image definition asks for."""
    frame = frame_of(file, place)
    options = [w for w in words if w.text != "?"]
    if any(w.text.startswith("-") for w in options):
        take(file, installs.pip_words(options, frame, manager="python"), place)
        return
    for word in options:
        take(
            file, list(installs.requirement(word.text, word.start, word.end, frame, manager="python")), place
        )


def _hardware(file: PyFile, words: Sequence[Word], place: Place) -> None:
    """``"-hwaccel", "cuda"`` as neighbours in a list."""
    for one, other in pairwise(words):
        if one.text in _HWACCEL and re.match(r"(?:cuda|nvdec|cuvid)\b", other.text):
            guard: Guard | None = file.beside(place, "codec")
            file.add(
                EvidenceKind.STRING,
                "hwaccel-cuda",
                (one.start, other.end),
                place,
                {"option": one.text},
                guard=guard,
            )


def dictionary(
    file: PyFile, pairs: Sequence[Node], keys: Sequence[str | None], use: Use, place: Place
) -> None:
    """Variables of an environment, and tables by product name."""
    named = []
    for pair, key in zip(pairs, keys, strict=True):
        node = pair.child_by_field_name("key")
        if not key or node is None or not file.marked(node):
            continue
        named.append((node, key))
        if key.isidentifier() and key.upper() == key and len(key) > 5:
            value = resolve(file, pair.child_by_field_name("value"), place)
            environment(file, node, key, place, True, value.text)
        elif key == "maxnreg":
            file.add(EvidenceKind.PATTERN, "triton-nvidia-option", node, place, {"option": key})
    product_table(file, named, place)


def vendor_by_availability(file: PyFile, condition: Node, chosen: Node, place: Place) -> None:
    """``"nvidia" if torch.cuda.is_available() else "cpu"``: a ROCm build answers yes as well."""
    texts = [c for c in (chosen, *chosen.named_children[:4]) if c.type == "string"]
    if texts and re.search(r"cuda\.is_available\(\)\)*$", file.slice(condition)):
        start, end, _ = string_inside(texts[0])
        if re.match(r"(?i)nvidia", file.source[start:end]):
            file.add(
                EvidenceKind.PATTERN,
                "available-means-nvidia",
                condition,
                place,
                {"text": file.source[start:end]},
            )


def positional_requirements(file: PyFile, arguments: Sequence[Node], place: Place) -> set[int]:
    """``image.pip_install("torch", "cupy-cuda12x")``"""
    strings = [a for a in arguments if a.type == "string"]
    requirements(file, _words(file, strings, place), place)
    return {a.id for a in strings}


def is_install(name: str) -> bool:
    """Whether a function installs the packages that it is given one by one."""
    return _PIP.search(name) is not None or name == "session.install"


def binary(file: PyFile, node: Node, left: Node, right: Node, operator: str, place: Place) -> None:
    """Thread counts from warps of 32, and CUDA build tags put together."""
    if operator in ("*", "//"):
        for one, other in ((left, right), (right, left)):
            if (
                other.type == "integer"
                and file.slice(other) == "32"
                and re.search(r"(?:^|[._])n(?:um)?_?warps?$", file.slice(one)[-30:], re.IGNORECASE)
            ):
                file.add(EvidenceKind.PATTERN, "warps-times-32", node, place, {"operator": operator})
    elif operator == "+" and left.type == "string" and file.marked(right):
        start, end, _ = string_inside(left)
        text = file.source[start:end]
        if re.search(r"==[\w.]{1,40}\+$|\+cu$|/cu$", text) and resolve(file, right, place).tag in (
            "cuda-number",
            "cuda-version",
        ):
            file.add(EvidenceKind.PATTERN, "cuda-local-version", node, place, {"text": text})


def number(file: PyFile, node: Node, use: Use, place: Place) -> None:
    """The largest value of OCP FP8 as a literal, in a file that speaks of FP8."""
    text = file.slice(node)
    if (
        not _FP8.fullmatch(file.raw[node.start_byte : node.end_byte])
        or ("fp8-range", place.scope) in file.told
    ):
        return
    if "." not in text and not _bounds(use):
        return
    file.told.add(("fp8-range", place.scope))
    file.add(EvidenceKind.PATTERN, "fp8-range-literal", node, place, {"value": text})


def _bounds(use: Use) -> bool:
    """Whether a whole number stands as a bound, by what takes it."""
    current: Use | None = use
    while current is not None and current.kind in ("part", "paren", "choice", "arith"):
        current = current.outer
    if current is None:
        return False
    if current.kind == "arg":
        return current.detail.rpartition(".")[2] in _CLAMPS or bool(_FP8_NAME.search(current.argument))
    return current.kind in ("assign", "default") and bool(_FP8_NAME.search(current.detail))
