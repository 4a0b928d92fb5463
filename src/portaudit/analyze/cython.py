"""Cython files, line by line: C headers and the functions declared from them, cimports, build comments."""

import re
from collections.abc import Iterator

from portaudit.analyze import flags
from portaudit.analyze.base import Text
from portaudit.analyze.pyguards import vendor_test
from portaudit.analyze.pymarks import Lexicon, lexicon
from portaudit.analyze.pyvalues import CUDA, ROCM
from portaudit.analyze.words import Frame, split_at
from portaudit.model.evidence import AttrValue, Evidence, EvidenceKind, Guard, Vocabulary
from portaudit.model.places import Skip

_TOKENS = re.compile(
    r"(?:[rRbBuUfF]{0,2})(?:\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)|'''(?:[^\\]|\\.)*?(?:'''|\Z)"
    r"|\"(?:[^\"\\\n]|\\.)*(?:\"|(?=\n)|\Z)|'(?:[^'\\\n]|\\.)*(?:'|(?=\n)|\Z))|#[^\n]*",
    re.DOTALL,
)
_NOT_LINE_END = re.compile(r"[^\r\n]")
_EXTERN = re.compile(r"^[ \t]*cdef[ \t]+extern[ \t]+from[ \t]+[\"']<?([^\"'>\n]{1,200})>?[\"']", re.MULTILINE)
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]{1,120})[ \t]+(cimport|import)[ \t]+([^\n#]{1,200})"
    r"|(cimport|import)[ \t]+([\w.]{1,120}))",
    re.MULTILINE,
)
_CONDITION = re.compile(r"^([ \t]*)(IF|ELIF|ELSE)\b([^:\n]{0,200}):", re.MULTILINE)
_SETTING = re.compile(r"^#[ \t]*distutils[ \t]*:[ \t]*(\w+)[ \t]*=[ \t]*([^\n]{1,400})", re.MULTILINE)
_HEADER = re.compile(
    r"^(?:cuda|cu(?:blas|dnn|fft|rand|sparse|solver|tensor|pti|file)|nccl|nvml|nvrtc|nvToolsExt|nvtx|npp|nvjpeg|thrust/|cub/)"
)
_WORD = re.compile(r"[A-Za-z_]\w*")


def analyze(text: Text, vocabulary: Vocabulary) -> Iterator[Evidence | Skip]:
    """Evidence of one Cython file, in its order."""
    code = _TOKENS.sub(lambda m: _NOT_LINE_END.sub(" ", m.group()), text.text)
    words = lexicon(vocabulary)
    guards = _Guards(text, code)
    found = [
        *_headers(text, code, vocabulary, guards),
        *_imports(text, code, words, guards),
        *_names(text, code, vocabulary, guards),
        *_settings(text, vocabulary),
    ]
    yield from sorted(found, key=lambda e: (e.span.line, e.span.column))


class _Guards:
    """Which lines a compile-time ``IF`` about ROCm covers, by indentation."""

    def __init__(self, text: Text, code: str) -> None:
        self._spans: list[tuple[int, int, Guard]] = []
        taken: dict[str, int | None] = {}
        for match in _CONDITION.finditer(code):
            indent, word, condition = match.groups()
            side = _side(condition)
            if word == "ELSE":
                before = taken.get(indent)
                side = {ROCM: CUDA, CUDA: ROCM}.get(before) if before is not None else None
            taken[indent] = side
            if side is not None:
                line = text.place(match.start())[0]
                guard = Guard("rocm" if side == ROCM else "cuda", match.group().strip()[:120], line)
                self._spans.append((match.end(), _block_end(code, match.end(), len(indent)), guard))

    def at(self, offset: int) -> Guard | None:
        """The innermost guard around an offset."""
        inside = [guard for start, end, guard in self._spans if start <= offset < end]
        return inside[-1] if inside else None


def _side(condition: str) -> int | None:
    negated = re.match(r"\s*not\b", condition) is not None
    for name in _WORD.findall(condition):
        words = vendor_test(name)
        if words[ROCM] is not None:
            rocm = words[ROCM] is not negated
            return ROCM if rocm else CUDA
        if "HIP" in name.upper().split("_"):
            return CUDA if negated else ROCM
    return None


def _block_end(code: str, start: int, indent: int) -> int:
    for match in re.compile(r"^([ \t]*)\S", re.MULTILINE).finditer(code, start):
        if len(match.group(1)) <= indent and match.start() > start:
            return match.start()
    return len(code)


def _headers(text: Text, code: str, vocabulary: Vocabulary, guards: _Guards) -> Iterator[Evidence]:
    for match in _EXTERN.finditer(text.text):
        name = match.group(1)
        if code[match.start() : match.start() + 1] == "#" or not (
            name in vocabulary.headers or _HEADER.match(name)
        ):
            continue
        yield text.evidence(
            EvidenceKind.INCLUDE,
            name,
            *match.span(1),
            attrs={"cython": True, "local": False},
            guard=guards.at(match.start()),
        )


def _imports(text: Text, code: str, words: Lexicon, guards: _Guards) -> Iterator[Evidence]:
    for match in _IMPORT.finditer(code):
        module = match.group(1) or match.group(5)
        if module.startswith(".") or not words.module_of(module):
            continue
        group = 1 if match.group(1) else 5
        attrs: dict[str, AttrValue] = {}
        if "cimport" in (match.group(2), match.group(4)):
            attrs["cimport"] = True
        if match.group(3):
            attrs["names"] = match.group(3).strip()[:160]
        yield text.evidence(
            EvidenceKind.IMPORT, module, *match.span(group), attrs=attrs, guard=guards.at(match.start())
        )


def _names(text: Text, code: str, vocabulary: Vocabulary, guards: _Guards) -> Iterator[Evidence]:
    """C names of CUDA, where they are declared and where they are used."""
    for match in _WORD.finditer(code):
        if match.group() in vocabulary.symbols:
            called = code[match.end() : match.end() + 2].lstrip(" ").startswith("(")
            kind = EvidenceKind.CALL if called else EvidenceKind.NAME
            yield text.evidence(
                kind, match.group(), *match.span(), attrs={"python": True}, guard=guards.at(match.start())
            )


def _settings(text: Text, vocabulary: Vocabulary) -> Iterator[Evidence]:
    """``# distutils: libraries = cudart``"""
    frame = Frame(text, vocabulary)
    for match in _SETTING.finditer(text.text[:4000]):
        listed = split_at(match.group(2), match.start(2), " ,\t\r[]\"'")
        yield from flags.libraries(listed, frame, bare=match.group(1) == "libraries")
        yield from flags.toolkit_folder(listed, frame)
        yield from flags.nvcc_options(listed, frame)
