"""Preprocessor conditions -> which lines a ROCm build reaches.

Each condition is evaluated three times: as a ROCm build sees it, as a CUDA build sees it, and as a ROCm
build that knows nothing of CUDA's own macros. Where only the first says no, it is a gate: code that
vanishes on ROCm although nobody wrote a word about ROCm.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from portaudit.analyze.base import rocm_word
from portaudit.analyze.conditions import Truth, conjunction, disjunction, evaluate, negation
from portaudit.analyze.lexical import Directive
from portaudit.model.evidence import Guard

_ROCM_MACRO = re.compile(
    r"(?:^|_)(?:ROCM\d*|AMDGPU|AMDGCN|MIOPEN|RCCL|CDNA\d?|RDNA\d?|AMD|GFX\w+"
    r"|HIP(?:CC|SYCL|BLAS|BLASLT|FFT|SPARSE|SOLVER|RAND|CUB|RTC|IFY|DNN|TENSOR)?"
    r"|ROC(?:BLAS|FFT|SPARSE|SOLVER|RAND|PRIM|THRUST|SHMEM|WMMA|TX|TRACER))(?:_|$)"
    r"|^__gfx\w+__$"
)
# These may have any value in a ROCm build, but are never there in a CUDA build.
_ROCM_MAYBE = re.compile(r"VERSION|NO_|DEVICE_COMPILE|^__gfx|DISABLE|WITHOUT")
_NVIDIA_MACRO = re.compile(
    r"^(?:__CUDACC\w*__|__CUDA_ARCH\w*|__NVCC__|__CUDA__|CUDA_VERSION|CUDART_VERSION|CUDNN_(?:VERSION|MAJOR|MINOR)\w*"
    r"|__HIP_PLATFORM_NVIDIA__|__HIP_PLATFORM_NVCC__|CUB_VERSION|__CUDACC_VER_\w+|CUBLAS_VER\w+|CUDA_API_\w+)$"
)
# Who asks for these knows of HIP and means the other side of it.
_HIP_ON_NVIDIA = ("__HIP_PLATFORM_NVIDIA__", "__HIP_PLATFORM_NVCC__")
_CUDA_SWITCH = re.compile(r"(?:^|_)(?:CUDA|NVCC|NVIDIA|CUDNN|NCCL|TENSORRT|PTX)(?:_|$)|CUDA$")
_WORD = re.compile(r"[A-Za-z_]\w*")
_OPENING = ("if", "ifdef", "ifndef")
_NEXT = ("elif", "elifdef", "elifndef", "else")


class Region(NamedTuple):
    """Characters from ``start`` on, under one stack of conditions."""

    start: int
    guard: Guard | None
    dead: bool
    """True under ``#if 0``."""


def folder_guard(path: str) -> Guard | None:
    """Sources in a folder named for ROCm are built for it alone: the projects that were ported keep them
    so."""
    folder = rocm_word(path.lower().split("/")[:-1])
    return Guard("rocm", f"folder {folder}", 0) if folder else None


class Chain(NamedTuple):
    """An ``#if`` with all its branches."""

    rocm: bool
    """Whether some branch names a ROCm macro."""
    branches: int


class Regions:
    """Guard of any offset in a file."""

    __slots__ = ("_regions", "_starts", "chains")

    def __init__(self, regions: list[Region], chains: dict[int, Chain]) -> None:
        self._regions = regions
        self._starts = [r.start for r in regions]
        self.chains = chains
        """Offset of a conditional directive -> the chain it belongs to."""

    def at(self, offset: int) -> Region:
        """The region that holds an offset."""
        return self._regions[bisect_right(self._starts, offset) - 1]

    def dead_spans(self, end: int) -> list[tuple[int, int]]:
        """Offsets of what is compiled out for good."""
        ends = [*self._starts[1:], end]
        return [(r.start, e) for r, e in zip(self._regions, ends, strict=True) if r.dead]


class _Frame:
    """One open ``#if`` with what its earlier branches decided, for the three views."""

    __slots__ = ("around", "branch", "line", "paired", "taken", "text")

    def __init__(self, paired: bool, around: Region) -> None:
        self.paired = paired
        self.around = around
        """The region that the ``#if`` itself stands in."""
        self.taken: list[Truth] = [False, False, False]
        self.branch: list[Truth] = [True, True, True]
        self.text = ""
        self.line = 0

    def enter(self, condition: str, line: int) -> None:
        views = (self._as_rocm, self._as_cuda, self._as_rocm_plain)
        values = [evaluate(condition, view) for view in views]
        self.branch = [conjunction(negation(t), v) for t, v in zip(self.taken, values, strict=True)]
        self.taken = [disjunction(t, v) for t, v in zip(self.taken, values, strict=True)]
        self.text = condition if condition != "1" else f"else of {self.text}"
        self.line = line

    def _as_rocm(self, name: str) -> Truth:
        return False if is_nvidia_macro(name) else self._as_rocm_plain(name)

    def _as_rocm_plain(self, name: str) -> Truth:
        if is_rocm_macro(name):
            return None if _ROCM_MAYBE.search(name) else True
        if name in _HIP_ON_NVIDIA:
            return False
        # "#if USE_CUDA ... #elif USE_HIP": the project itself says that the first is the other side of the
        # second.
        return False if self.paired and _CUDA_SWITCH.search(name) else None

    def _as_cuda(self, name: str) -> Truth:
        return False if is_rocm_macro(name) else None


def is_rocm_macro(name: str) -> bool:
    """Whether a macro is there in ROCm builds only, by its name."""
    return bool(_ROCM_MACRO.search(name)) and not _NVIDIA_MACRO.match(name)


def is_nvidia_macro(name: str) -> bool:
    """Whether CUDA's own compiler or headers define a macro."""
    return bool(_NVIDIA_MACRO.match(name))


def condition_of(directive: Directive) -> str:
    """The condition of a directive as an expression."""
    body = directive.body.strip()
    if directive.word == "else":
        return "1"
    if directive.word in ("if", "elif"):
        return body
    name = _WORD.match(body)
    known = f"defined({name.group()})" if name else "0"
    return known if directive.word in ("ifdef", "elifdef") else f"!{known}"


def guarded_regions(directives: list[Directive], line_of: Callable[[int], int]) -> Regions:
    """The regions of a file; ``line_of`` turns an offset into a line."""
    found = [Region(0, None, False)]
    stack: list[_Frame] = []
    chains = _chains(directives)
    for directive in directives:
        word = directive.word
        if word in _OPENING:
            stack.append(_Frame(chains[directive.start].rocm, found[-1]))
            stack[-1].enter(condition_of(directive), line_of(directive.start))
        elif word in _NEXT and stack:
            stack[-1].enter(condition_of(directive), line_of(directive.start))
        elif word == "endif" and stack:
            around = stack.pop().around
            found.append(Region(directive.end, around.guard, around.dead))
            continue
        else:
            continue
        found.append(_region(directive.end, stack[-1]))
    return Regions(found, chains)


def _chains(directives: list[Directive]) -> dict[int, Chain]:
    members: list[list[Directive]] = []
    stack: list[list[Directive]] = []
    for directive in directives:
        if directive.word in _OPENING:
            stack.append([directive])
            members.append(stack[-1])
        elif directive.word in _NEXT and stack:
            stack[-1].append(directive)
        elif directive.word == "endif" and stack:
            stack.pop()
    chains: dict[int, Chain] = {}
    for branches in members:
        rocm = any(is_rocm_macro(word) for d in branches for word in _WORD.findall(d.body))
        chains.update({d.start: Chain(rocm, len(branches)) for d in branches})
    return chains


def _region(start: int, frame: _Frame) -> Region:
    """The region of the branch that a frame is in: what stands around decides first."""
    around = frame.around
    if around.dead or (around.guard is not None and around.guard.side != "gate"):
        return Region(start, around.guard, around.dead)
    rocm, cuda, plain = (None if v is None else bool(v) for v in frame.branch)
    if rocm is False and cuda is False:
        return Region(start, None, True)
    if plain is False:
        return Region(start, Guard("cuda", frame.text[:120], frame.line), False)
    if cuda is False:
        return Region(start, Guard("rocm", frame.text[:120], frame.line), False)
    if rocm is False and around.guard is None:
        return Region(start, Guard("gate", frame.text[:120], frame.line), False)
    return Region(start, around.guard, False)
