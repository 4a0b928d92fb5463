"""Device code in Python strings: CUDA for the C++ analyzer, C declarations of bindings, PTX."""

import re

import msgspec
from tree_sitter import Node

from portaudit.analyze import ptx
from portaudit.analyze.pyfile import Attrs, PyFile
from portaudit.analyze.pyvalues import Place
from portaudit.model.evidence import Evidence, EvidenceKind

_CUDA = re.compile(
    r"__global__|__device__|__shared__|__launch_bounds__|#include\s*<(?:cuda|cub/|thrust|cooperative_groups|mma\.h|ATen/cuda|c10/cuda|nccl|cublas|cudnn|cufft|curand)"
    r"|\basm\s*(?:volatile)?\s*\(|threadIdx\.|blockIdx\.|<<<[^<>]{1,200}>>>|\bcuda(?:Malloc|Memcpy|Free|Stream|Event|Device)\w*\s*\("
)
_PTX = re.compile(r"^\s*(?://[^\n]*\n\s*)*\.version\s+\d|^\s*\.target\s+sm_", re.MULTILINE)
_COMPILERS = re.compile(
    r"(?:RawKernel|RawModule|SourceModule|DynamicSourceModule|ElementwiseKernel|ReductionKernel|_compile_kernel|nvrtcCreateProgram|create_jit_fn)$"
)
_KEYWORDS = frozenset({"cuda_sources", "cuda_source", "preamble"})
_WORD = re.compile(r"[A-Za-z_]\w*")
_SHORTEST = 24


def is_cuda(text: str) -> bool:
    """Whether a text is CUDA source."""
    return len(text) >= _SHORTEST and _CUDA.search(text) is not None


def is_taken_as_cuda(text: str, callee: str, keyword: str) -> bool:
    """Whether a text is CUDA source because of what takes it."""
    if not any(sign in text for sign in ";=(") or len(text) < 6:
        return False
    return keyword in _KEYWORDS or (keyword == "" and _COMPILERS.search(callee) is not None)


def is_ptx(text: str) -> bool:
    """Whether a text is a PTX module."""
    return ".target" in text and _PTX.search(text) is not None


def cuda(file: PyFile, start: int, end: int, place: Place) -> None:
    """Evidence of CUDA source between two offsets."""
    from portaudit.analyze.cuda import analyze_embedded

    guard = file.guard(place)
    scope = f"function:{place.scope}" if place.scope else ""
    for item in analyze_embedded(file.text, start, end, file.vocabulary):
        changed: Evidence = item
        if guard is not None and (item.guard is None or item.guard.side == "gate"):
            changed = msgspec.structs.replace(changed, guard=guard)
        if scope and not item.scope:
            changed = msgspec.structs.replace(changed, scope=scope)
        if not place.dead:
            file.add_foreign(changed, file.text.offset(item.span.line, item.span.column))


def declarations(file: PyFile, start: int, end: int, place: Place) -> None:
    """C functions and types that a ``cdef`` text declares."""
    for match in _WORD.finditer(file.source, start, end):
        name = match.group()
        if name in file.vocabulary.symbols:
            called = file.source[match.end() : match.end() + 8].lstrip().startswith("(")
            kind = EvidenceKind.CALL if called else EvidenceKind.NAME
            file.add(kind, name, match.span(), place, {"declared": True, "python": True})


def ptx_module(file: PyFile, node: Node, start: int, end: int, place: Place) -> None:
    """A PTX module: itself, and each distinct instruction once."""
    file.add(EvidenceKind.PATTERN, "ptx-file", node, place, {"form": "string"})
    seen: set[str] = set()
    for found in ptx.instructions(file.source, start, end):
        if found.opcode not in seen and len(seen) < 200:
            seen.add(found.opcode)
            attrs: Attrs = {"form": "string", "base": re.split(r"[.:]", found.opcode, maxsplit=1)[0]}
            file.add(EvidenceKind.ASM, found.opcode, (found.start, found.end), place, attrs)
