"""A width of 32 lanes that is written without the word: named masks, the bit of a lane, loops of shuffles."""

import re
from collections.abc import Iterator

from portaudit.analyze.cxxfile import CxxFile
from portaudit.analyze.functions import Function
from portaudit.analyze.lexical import arguments
from portaudit.model.evidence import AttrValue, Evidence, EvidenceKind

_MASK_NAME = (
    r"(?:k_?)?(?:FULL|ALL)_?(?:(?:WARP|LANES?|THREADS?)_?)*MASK_*|(?:k_?)?ALL_?(?:LANES|THREADS)_*"
    r"|\w*(?:WARP|LANE|SHFL)\w*MASK\w*|\w*MASK\w*(?:WARP|LANE)\w*"
)
_ALL_BITS = r"\(?[ \t]*(?:0[xX][fF]{8}[uU]?|~[ \t]*0[uU]?|-[ \t]*1|4294967295[uU]?)[ \t]*\)?"
_MASK_MACRO = re.compile(rf"[ \t]*({_MASK_NAME})[ \t]+{_ALL_BITS}[ \t]*$", re.IGNORECASE)
_MASK_CONSTANT = re.compile(
    rf"\b(?:constexpr|const)\b[^;={{}}()]{{0,60}}\b({_MASK_NAME})[ \t]*[={{][ \t]*{_ALL_BITS}[ \t]*\}}?;",
    re.IGNORECASE,
)
_HEADERS = (".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl")
_DEVICE_WORDS = re.compile(r"__shfl|__ballot|__device__|__global__|cuda_runtime|threadIdx")
_LANE_BIT = re.compile(
    r"\b1[uU]?[ \t]*<<[ \t]*\(?[ \t]*((?:my_?|this_?)?lane(?:_?(?:id|idx|index|no|num))?|__lane_id)\b",
    re.IGNORECASE,
)
_TYPE = r"(?:(?:unsigned[ \t]+int|unsigned|int|auto|u?int32_t|size_t)[ \t]+)?"
_LOOP = re.compile(
    rf"\bfor[ \t]*\([ \t]*{_TYPE}(?P<down>\w+)[ \t]*=[ \t]*(?:16[uU]?|32[uU]?[ \t]*(?:/[ \t]*2|>>[ \t]*1))"
    r"[ \t]*;[^;{}]{0,60};[^;{}()]{0,40}(?:>>=[ \t]*1|/=[ \t]*2)[ \t]*\)"
    rf"|\bfor[ \t]*\([ \t]*{_TYPE}(?P<up>\w+)[ \t]*=[ \t]*1[uU]?[ \t]*;[^;{{}}<]{{0,40}}<[ \t]*"
    r"(?:32|=[ \t]*16)[uU]?[ \t]*;[^;{}()]{0,40}(?:<<=[ \t]*1|\*=[ \t]*2)[ \t]*\)"
)
_SHUFFLE = re.compile(r"\b__shfl(?:_down|_up|_xor)?(_sync)?[ \t]*\(")
_BODY_LIMIT = 400
_LOOK_BACK = 4_000


def named_masks(file: CxxFile) -> Iterator[Evidence]:
    """Masks of 32 bits that a header names for others; where the same file uses one, the call says it."""
    if not file.text.path.endswith(_HEADERS) or not (
        file.text.path.endswith(".cuh") or _DEVICE_WORDS.search(file.code)
    ):
        return
    found = [
        (d.body_start + m.start(1), m.group(1))
        for d in file.directives
        if d.word == "define" and (m := _MASK_MACRO.match(d.body))
    ]
    found += [(m.start(1), m.group(1)) for m in _MASK_CONSTANT.finditer(file.code)]
    for start, name in found:
        if not re.search(rf"(?:_sync|__syncwarp)[ \t]*\([ \t]*{name}\b", file.code):
            yield _pattern(file, "mask-constant", start, start + len(name), {"constant": name})


def lane_widths(file: CxxFile, function: Function, body: str) -> Iterator[Evidence]:
    """Bits of lanes and loops of shuffles in one function."""
    if "<<" in body and "lane" in body.lower():
        for match in _LANE_BIT.finditer(body):
            if not _below_32(
                body[max(0, match.start() - _LOOK_BACK) : match.start()], match.group(1)
            ) and not _beside_count(body, match):
                start, end = function.body + match.start(), function.body + match.end()
                yield _pattern(file, "lane-bit", start, end, {"lane": match.group(1)})
    if "__shfl" in body:
        for match in _LOOP.finditer(body):
            if _shuffles_without_width(body, match):
                start, end = function.body + match.start(), function.body + match.end()
                yield _pattern(file, "shuffle-loop-32", start, end)


def _pattern(
    file: CxxFile, name: str, start: int, end: int, attrs: dict[str, AttrValue] | None = None
) -> Evidence:
    return file.evidence(EvidenceKind.PATTERN, name, start, end, attrs)


def _below_32(before: str, lane: str) -> bool:
    """A lane that is taken from a literal width is smaller than it, and is told where it is taken."""
    return re.search(rf"\b{lane}[ \t]*=[^;=]{{0,80}}[%&][ \t]*\(?[ \t]*(?:\d+|0[xX])", before) is not None


def _beside_count(body: str, match: "re.Match[str]") -> bool:
    line = body[body.rfind("\n", 0, match.start()) + 1 :][:300].partition("\n")[0]
    return re.search(r"__popc|__ffs|__clz|__brev", line) is not None


def _shuffles_without_width(body: str, loop: "re.Match[str]") -> bool:
    """Whether the loop shuffles over the whole wavefront: a width argument would keep it to 32 lanes."""
    after = body[loop.end() : loop.end() + _BODY_LIMIT]
    other = re.search(r"\bfor[ \t]*\(", after)
    after = after[: other.start()] if other else after
    shuffle = _SHUFFLE.search(after)
    if shuffle is None:
        return False
    spans, _ = arguments(after, shuffle.end() - 1)
    step = loop.group("down") or loop.group("up")
    last = len(spans) == (3 if shuffle.group(1) else 2)
    return last and re.search(rf"\b{step}\b", after[slice(*spans[-1])]) is not None
