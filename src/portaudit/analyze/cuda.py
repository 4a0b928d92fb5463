"""C, C++, CUDA and HIP files: the order in which their parts are read.

The lexical layer finds names wherever they stand in code, also in macros and in broken files; tree-sitter
says which function a place belongs to, and is asked only where a file holds device code or assembly.
"""

import re
from collections.abc import Iterator

from portaudit.analyze import prefilter, ptx
from portaudit.analyze.base import Text
from portaudit.analyze.constants import Constants
from portaudit.analyze.cxxfile import CxxFile
from portaudit.analyze.device import device_patterns
from portaudit.analyze.directives import directive_evidence, object_macros
from portaudit.analyze.functions import Functions, parse
from portaudit.analyze.guards import folder_guard, guarded_regions
from portaudit.analyze.launches import launch_evidence
from portaudit.analyze.lexical import Lexed, StringToken
from portaudit.analyze.uses import use_evidence
from portaudit.analyze.warp import warp_patterns
from portaudit.model.evidence import AttrValue, Evidence, EvidenceKind, Vocabulary
from portaudit.model.places import Skip

_PARSE_LIMIT = 4 << 20
_INCLUDE_LINE = re.compile(r'^[ \t]*#[ \t]*(?:include|import)[ \t]*"([^"\n]+)"', re.MULTILINE)
_KERNEL_TEXT = re.compile(r"__global__|__device__")
_ESCAPE = re.compile(r"\\(?:n|t|r|\"|\\|.)", re.DOTALL)
_SONAME = re.compile(r"^(?:[\w.-]*/)*(?:lib)?([A-Za-z][\w+-]*?)(?:64_\d+\w*)?\.(?:so|dll|dylib)(?:[.\d]*)$")
_PTX_TEXT = re.compile(r"\.target[ \t]+sm_\d+")
_IMAGES = (".ptx", ".cubin", ".fatbin")
_LOADERS = frozenset({"dlsym", "GetProcAddress", "cuGetProcAddress", "cudaGetDriverEntryPoint", "lt_dlsym"})
_COMPILERS = ("nvrtc", "nvPTXCompiler", "nvJitLink", "cuLink")
_HIP_WORDS = re.compile(
    r"\bhip(?:Malloc|Stream_t|Error_t|LaunchKernelGGL|Memcpy|Free)\b|hip/hip_runtime\.h|libamdhip64"
)


def analyze(text: Text, vocabulary: Vocabulary) -> Iterator[Evidence | Skip]:
    """Evidence of one file."""
    words = prefilter.words_of(text.text)
    if not (text.path.endswith((".cu", ".cuh")) or prefilter.cxx_matters(text.text, words, vocabulary)):
        yield from _local_includes(text)
        return
    lexed = Lexed(text.text)
    device = prefilter.device_code(lexed.code)
    functions, complete = Functions([]), True
    if device:
        complete = len(text.text) <= _PARSE_LIMIT
        if complete:
            functions, complete = parse(text.raw, lexed.code, True)
    if not complete:
        yield Skip(text.path, "syntax", "too large to parse: read by words alone, without functions", False)
    yield from _evidence(_file(text, 0, lexed, functions, words, vocabulary, ""))


def analyze_embedded(
    text: Text, start: int, end: int, vocabulary: Vocabulary, kind: str = "string"
) -> Iterator[Evidence]:
    """Evidence of CUDA code inside another file, at the places of that file.

    ``kind`` is kept as the attribute ``embedded``: ``string``, or ``rtc`` for run-time compilation.
    """
    yield from _embedded(text, start, text.text[start:end], vocabulary, kind)


def _embedded(text: Text, base: int, code: str, vocabulary: Vocabulary, kind: str) -> Iterator[Evidence]:
    lexed = Lexed(code)
    functions = (
        parse(Text(text.path, code).raw, lexed.code, True).functions
        if len(code) <= _PARSE_LIMIT
        else Functions([])
    )
    words = prefilter.words_of(code)
    yield from _evidence(_file(text, base, lexed, functions, words, vocabulary, kind))


def _local_includes(text: Text) -> Iterator[Evidence]:
    """The include graph is wanted of every file: a header on the way may map CUDA names to HIP ones."""
    if "#" not in text.text:
        return
    for match in _INCLUDE_LINE.finditer(text.text):
        yield text.evidence(EvidenceKind.INCLUDE, match.group(1), *match.span(1), attrs={"local": True})


def _file(
    text: Text,
    base: int,
    lexed: Lexed,
    functions: Functions,
    words: frozenset[str],
    vocabulary: Vocabulary,
    embedded: str,
) -> CxxFile:
    directives = lexed.directives()

    def line_of(offset: int) -> int:
        return text.place(base + offset)[0]

    regions = guarded_regions(directives, line_of)
    dead = regions.dead_spans(len(lexed.code))
    if dead:
        lexed.drop(dead)
        directives = [d for d in directives if not regions.at(d.start).dead]
    macros = object_macros(directives)
    home = None if embedded else folder_guard(text.path)
    constants = Constants(lexed.code, macros)
    return CxxFile(
        text,
        base,
        lexed,
        directives,
        regions,
        functions,
        constants,
        macros,
        words,
        vocabulary,
        embedded,
        home,
    )


def _evidence(file: CxxFile) -> Iterator[Evidence]:
    yield from directive_evidence(file)
    yield from use_evidence(file)
    yield from launch_evidence(file)
    yield from _asm(file)
    yield from device_patterns(file)
    yield from warp_patterns(file)
    if not file.embedded:
        yield from _strings(file)


def _asm(file: CxxFile) -> Iterator[Evidence]:
    if "asm" not in file.code:
        return
    for statement in ptx.asm_statements(file.lexed):
        found = [
            (token, instruction)
            for token in statement.templates
            for instruction in ptx.instructions(file.lexed.text, token.inner, token.inner_end)
        ]
        # A predicate or an address that is made for one instruction is told with that instruction.
        working = [pair for pair in found if not ptx.is_helper(pair[1])] or found[:1]
        seen: set[str] = set()
        for token, instruction in working:
            if instruction.opcode not in seen:
                seen.add(instruction.opcode)
                start = statement.start if token is statement.templates[0] else token.start
                attrs = ptx.instruction_attrs(instruction, "asm")
                yield file.evidence(EvidenceKind.ASM, instruction.opcode, start, token.end, attrs)


def _strings(file: CxxFile) -> Iterator[Evidence]:
    """What strings of host code hold: compiler options, library names, kernels for run-time compilation."""
    text = file.lexed.text
    loads = not file.words.isdisjoint(_LOADERS)
    compiles = any(mark in file.code for mark in _COMPILERS)
    for token in file.lexed.strings:
        inner = text[token.inner : token.inner_end]
        if inner.startswith("-"):
            flag = _flag(inner, file.vocabulary) if compiles else ""
            if flag:
                attrs: dict[str, AttrValue] = {"value": inner[:80], "form": "rtc"}
                yield file.evidence(EvidenceKind.FLAG, flag, token.inner, token.inner_end, attrs)
        elif ".target" in inner and _PTX_TEXT.search(inner):
            yield file.evidence(
                EvidenceKind.PATTERN, "ptx-text", token.inner, min(token.inner_end, token.inner + 80)
            )
        elif loads and inner in file.vocabulary.symbols and not _HIP_WORDS.search(text):
            yield file.evidence(EvidenceKind.NAME, inner, token.inner, token.inner_end, {"string": True})
        elif inner.endswith(_IMAGES) and len(inner) < 200:
            attrs = {"text": inner[-80:]}
            yield file.evidence(
                EvidenceKind.PATTERN, "device-image-name", token.inner, token.inner_end, attrs
            )
        elif "." in inner and len(inner) < 200:
            soname = _SONAME.match(inner)
            if soname and soname.group(1) in file.vocabulary.libraries:
                attrs = {"form": "soname", "both": _HIP_WORDS.search(text) is not None}
                yield file.evidence(
                    EvidenceKind.LIBRARY, soname.group(1), token.inner, token.inner_end, attrs
                )
    yield from _kernel_strings(file)


def _flag(option: str, vocabulary: Vocabulary) -> str:
    words = option.split("=")[0].split()
    if option in vocabulary.flags:
        return option
    return words[0] if words and words[0] in vocabulary.flags else ""


def _kernel_strings(file: CxxFile) -> Iterator[Evidence]:
    """Adjacent string literals that together are device code: hipRTC compiles other C++ than NVRTC."""
    text, code = file.lexed.text, file.code
    if all(text.count(mark) == code.count(mark) for mark in ("__global__", "__device__")):
        return
    group: list[StringToken] = []
    for token in [*file.lexed.strings, None]:
        if token is not None and group and not file.lexed.text[group[-1].end : token.start].strip():
            group.append(token)
            continue
        if group:
            yield from _kernel_group(file, group)
        group = [token] if token is not None else []


def _kernel_group(file: CxxFile, group: list[StringToken]) -> Iterator[Evidence]:
    text = file.lexed.text
    if not any(_KERNEL_TEXT.search(text, s.inner, s.inner_end) for s in group):
        return
    start, end = group[0].start, group[-1].end
    pieces = []
    at = start
    for token in group:
        pieces.append(re.sub(r"[^\n]", " ", text[at : token.inner]))
        inner = text[token.inner : token.inner_end]
        # Escapes keep their length, so that places stay true: \n becomes a blank and a line end.
        pieces.append(inner if token.raw else _ESCAPE.sub(lambda m: _ESCAPED.get(m.group(), "  "), inner))
        at = token.inner_end
    pieces.append(" " * (end - at))
    yield from _embedded(file.text, file.base + start, "".join(pieces), file.vocabulary, "rtc")


_ESCAPED = {"\\n": " \n", "\\t": "  ", '\\"': ' "', "\\\\": " \\"}
