"""String constants of Python code: device code, libraries, providers, codecs, commands, paths, names of C
functions."""

import re
from collections.abc import Iterable

import msgspec
from tree_sitter import Node

from portaudit.analyze import containers, flags, kernelstrings, shell
from portaudit.analyze.indexes import urls
from portaudit.analyze.pyfile import Attrs, PyFile
from portaudit.analyze.pyuses import Use, is_model
from portaudit.analyze.pyvalues import Place, string_inside
from portaudit.analyze.words import Frame, Word, word_set
from portaudit.model.evidence import Evidence, EvidenceKind

_LIBRARY = re.compile(
    r"(?:^|[/\\])(?:lib)?([A-Za-z][\w+-]*?)(?:64(?:_\d+\w*)?)?\.(?:so|dll|dylib)(?:$|[.\d{*%])"
)
_TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_.+-]*")
_HWACCEL = re.compile(r"-hwaccel(?:_output_format)?[ =]+(?:cuda|nvdec|cuvid)\b")
_LOCAL = re.compile(r"(?:==|===)[\w.{}!]{1,60}\+$|\+cu$|\+cu\{|\+cu\d{2,3}(?!\d)|whl/cu\{|whl/cu$")
_SYMBOL = re.compile(r"(?:cuda|cu|nccl|nvml|cublas|cudnn|nvrtc)[A-Z]\w{3,60}")
# "nvidia/NAME" alone is the name of a model on a hub far more often than an image.
_IMAGE = re.compile(
    r"^(?:[\w.-]+/)*(?:nvcr\.io/[\w./-]+(?::[\w.-]+)?|nvidia/cuda(?::[\w.-]+)?|nvidia/[\w./-]+:[\w.-]+)$"
)
_COMMAND_CALL = re.compile(
    r"(?:^|\.)(?:system|popen|getoutput|getstatusoutput|check_output|check_call|call|run|Popen|create_subprocess_shell|create_subprocess_exec|exec[lv]p?e?|spawn[lv]p?e?|exec_command|execute|sudo|sh|local|shell|run_command|run_cmd|bash|cmd|spawn|run_commands)$"
)
_ARGUMENT_CALL = re.compile(r"(?:^|\.)(?:which|find_executable)$")
_FETCHED = re.compile(
    r"download|/repos?/|redist|pypi|artifactory|ngc|\.(?:deb|rpm|whl|run|sh|zip|t(?:ar\.)?[gx]z)$"
)
_DEVICE_FILE = re.compile(r"^/(?:dev/nvidia[\w-]*|proc/driver/nvidia(?:/.*)?)$")
_ERROR_TEXT = re.compile(
    r"CUDA out of memory|CUDA error|CUBLAS_STATUS|CUDNN_STATUS|cuDNN error|CUDA driver error"
)
_MODEL_KEYS = frozenset(
    {
        "gpu",
        "gpus",
        "accelerator",
        "accelerators",
        "accelerator_type",
        "gpu_type",
        "gpu_model",
        "instance_gpu",
    }
)
_LIST_ADD = word_set("append extend insert add")
_LONGEST = 1500


def handle(file: PyFile, node: Node, use: Use, place: Place) -> None:
    """Evidence of one string, with what is done with it."""
    parts = (
        [c for c in node.named_children if c.type == "string"]
        if node.type == "concatenated_string"
        else [node]
    )
    spans = [string_inside(p)[:2] for p in parts[:400]]
    whole = file.source[spans[0][0] : spans[-1][1]] if spans else ""
    if not spans or not whole:
        return
    if use.kind == "arg" and use.detail.rpartition(".")[2] == "cdef":
        kernelstrings.declarations(file, spans[0][0], spans[-1][1], place)
    elif not place.talk and (
        kernelstrings.is_cuda(whole) or kernelstrings.is_taken_as_cuda(whole, use.detail, use.argument)
    ):
        kernelstrings.cuda(file, spans[0][0], spans[-1][1], place)
    elif kernelstrings.is_ptx(whole):
        kernelstrings.ptx_module(file, node, spans[0][0], spans[-1][1], place)
    elif not place.talk and use.kind != "format" and len(whole) <= _LONGEST:
        for part, (start, end) in zip(parts, spans, strict=False):
            if file.marked(part):
                _short(file, part, start, end, use, place)


def frame_of(file: PyFile, place: Place) -> Frame:
    """A frame for the readers of words and commands."""
    scope = f"function:{place.scope}" if place.scope else ""
    return Frame(file.text, file.vocabulary, scope, guard=file.guard(place))


def take(file: PyFile, found: Iterable[Evidence], place: Place) -> None:
    """Evidence that another reader made."""
    for item in found:
        if not place.dead:
            file.add_foreign(item, file.text.offset(item.span.line, item.span.column))


def _short(file: PyFile, node: Node, start: int, end: int, use: Use, place: Place) -> None:
    text = file.source[start:end]
    frame = frame_of(file, place)
    if _is_command(text, use):
        if (guard := file.beside(place, "tool")) is not None:
            frame = msgspec.structs.replace(frame, guard=frame.guard or guard)
        take(file, shell.script(text, start, frame), place)
        return
    if _tool(file, text, node, use, place):
        return
    if "://" in text and _is_address(text) and (found := _downloads(text, start, frame)):
        take(file, found, place)
    elif library := _LIBRARY.search(text):
        name = library.group(1)
        if name in file.vocabulary.libraries:
            file.add(
                EvidenceKind.LIBRARY, name, node, place, {"load": True}, guard=file.beside(place, "library")
            )
    elif use.kind == "arg" and use.detail.endswith("find_library") and text in file.vocabulary.libraries:
        file.add(EvidenceKind.LIBRARY, text, node, place, {"load": True}, guard=file.beside(place, "library"))
    elif (
        flags.names_toolkit(text)
        and (text[:1] in "-/$" or len(text.split()) < 3)
        and not (use.kind == "arg" and use.detail.endswith(("getenv", "environ.get")))
    ):
        take(file, flags.toolkit_folder([Word(text, start, end)], frame), place)
    elif use.kind == "arg" and use.detail.rpartition(".")[2] in _LIST_ADD and text.startswith("-"):
        _options(file, [Word(text, start, end)], frame, place)
    elif _IMAGE.match(text) and len(text) < 200:
        take(file, containers.image(text, start, end, frame, role="python"), place)
    elif not _vendor_word(file, node, text, use, place):
        _tokens(file, node, text, start, use, place)


def _vendor_word(file: PyFile, node: Node, text: str, use: Use, place: Place) -> bool:
    """Keys of deployments, device files, GPU models that are asked for, texts of errors."""
    if "/" in text and text in file.vocabulary.keys:
        file.add(EvidenceKind.KEY, text, node, place, {})
    elif use.argument == "runtime" and text == "nvidia":
        file.add(EvidenceKind.KEY, "runtime: nvidia", node, place, {})
    elif _DEVICE_FILE.match(text):
        file.add(EvidenceKind.STRING, "nvidia-host-path", node, place, {"value": text})
    elif use.argument in _MODEL_KEYS and is_model(text):
        file.add(
            EvidenceKind.PATTERN, "gpu-model-requested", node, place, {"model": text, "key": use.argument}
        )
    elif _ERROR_TEXT.search(text) and _is_compared(use):
        guard = file.beside(place, "error")
        file.add(EvidenceKind.PATTERN, "cuda-error-text", node, place, {"text": text[:60]}, guard=guard)
    else:
        return False
    return True


def _is_compared(use: Use) -> bool:
    """Whether a text is looked for in another one, directly or as one of a list that has a name."""
    steps = 0
    while use.outer is not None and use.kind in ("elem", "paren", "either") and steps < 6:
        if use.kind == "elem":
            return True
        use = use.outer
        steps += 1
    return use.kind == "cmp" or (
        use.kind == "arg" and use.detail.rpartition(".")[2] in ("find", "search", "match")
    )


def _downloads(text: str, start: int, frame: Frame) -> list[Evidence]:
    """Evidence for URLs that something is fetched from; pages to read are of no interest in code."""
    found = urls(text, start, frame, "python")
    return [e for e in found if e.name != "nvidia-package-repository" or _FETCHED.search(str(e.attr("url")))]


def _is_address(text: str) -> bool:
    """Whether a text is a URL or an option with one, not a sentence that mentions one."""
    return " " not in text.strip() or text.lstrip().startswith(("http", "git+", "-"))


def is_command_call(name: str) -> bool:
    """Whether a function runs its argument as a command."""
    return _COMMAND_CALL.search(name) is not None


def _is_command(text: str, use: Use) -> bool:
    if use.kind != "arg" or use.argument not in ("", "args", "cmd", "command") or " " not in text.strip():
        return False
    return _COMMAND_CALL.search(use.detail) is not None or use.detail.endswith("shlex.split")


def _tool(file: PyFile, text: str, node: Node, use: Use, place: Place) -> bool:
    """A tool as a command of its own, or asked for by name."""
    words = text.split(None, 2)
    if not words:
        return False
    if use.kind == "concat" and use.outer is not None and use.outer.kind == "elem":
        return False  # the list as a whole is read as a command
    name = words[0].replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".exe")
    if name not in file.vocabulary.tools:
        return False
    attrs: Attrs = {}
    if use.kind == "arg" and _ARGUMENT_CALL.search(use.detail):
        attrs["probe"] = True
    elif (len(words) > 1 and not (words[1].startswith("-") or words[1] in SUBCOMMANDS)) or (
        len(words) == 1 and not ("/" in words[0] or _is_call_of_command(use))
    ):
        return False
    else:
        attrs["args"] = text.partition(" ")[2][:120]
    if place.caught:
        attrs["caught"] = True
    file.add(EvidenceKind.TOOL, name, node, place, attrs, guard=file.beside(place, "tool"))
    return True


def _is_asked(use: Use) -> bool:
    steps = 0
    while use.outer is not None and use.kind in ("elem", "paren") and steps < 5:
        use = use.outer
        steps += 1
    return use.kind in ("cmp", "dictkey")


SUBCOMMANDS = word_set(
    "dmon pmon topo nvlink mig vgpu drain clocks stats query profile launch exec discovery"
)


def _is_call_of_command(use: Use) -> bool:
    return (use.kind == "arg" and _COMMAND_CALL.search(use.detail) is not None) or use.kind == "concat"


def _options(file: PyFile, words: list[Word], frame: Frame, place: Place) -> None:
    take(file, flags.nvcc_options(words, frame, nvcc=False), place)
    take(file, flags.libraries(words, frame), place)


def _tokens(file: PyFile, node: Node, text: str, start: int, use: Use, place: Place) -> None:
    """Names inside a short text."""
    if _LOCAL.search(text):
        file.add(EvidenceKind.PATTERN, "cuda-local-version", node, place, {"text": text})
        return
    if _HWACCEL.search(text):
        file.add(EvidenceKind.STRING, "hwaccel-cuda", node, place, {}, guard=file.beside(place, "codec"))
    if _SYMBOL.fullmatch(text):
        if (
            text in file.vocabulary.symbols
            # a function of that name is a binding: its own body looks the symbol up
            and f"def {text}(" not in file.source
            and "hip" not in file.source[start + len(text) : start + len(text) + 40]
        ):
            file.add(EvidenceKind.NAME, text, node, place, {"string": True, "python": True})
        return
    told: set[str] = set()
    for match in _TOKEN.finditer(text[:400]):
        name = match.group().strip(".-+")
        if name in told or name not in file.words.texts or (name.isidentifier() and len(name) < 6):
            continue
        told.add(name)
        guard = file.beside(place, "provider" if "Provider" in name else "codec")
        span = (start + match.start(), start + match.start() + len(name))
        attrs: Attrs = {"used_as": "test"} if _is_asked(use) else {}
        if use.kind == "elem" and not use.argument:
            attrs["listed"] = True
        file.add(EvidenceKind.STRING, name, span, place, attrs, guard=guard)
