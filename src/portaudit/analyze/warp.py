"""What depends on the number of lanes: masks, ballots, lane arithmetic, code without barriers, locks of
single lanes."""

import re
from collections.abc import Iterator
from functools import lru_cache

from portaudit.analyze import lanewidths
from portaudit.analyze.cxxfile import CxxFile
from portaudit.analyze.cxxnames import occurrences
from portaudit.analyze.functions import Function
from portaudit.analyze.lexical import statement_start
from portaudit.model.evidence import AttrValue, Evidence, EvidenceKind

_MASK_FIRST = re.compile(
    r"^__(?:shfl(?:_up|_down|_xor)?|ballot|any|all|match_any|match_all|reduce_\w+)_sync$"
)
_BALLOTS = re.compile(r"\b__(?:ballot(?:_sync)?|activemask|match_any_sync|match_all_sync)\b")
_ASSIGNED = re.compile(
    r"(?:\b((?:const[ \t]+)?(?:unsigned[ \t]+)?[A-Za-z_][\w:]*(?:[ \t]+(?:int|long|long[ \t]+long))?)"
    r"(?:[ \t]+const)?[ \t]+)?"
    r"\b(\w+)[ \t]*[&|^]?=[ \t]*"
    r"(?:\([^()]{1,30}\)[ \t]*|static_cast<[^<>]{1,30}>[ \t]*\([ \t]*|(?:int|unsigned|uint32_t)\([ \t]*)?$"
)
_ALIAS = re.compile(
    r"\busing[ \t]+(\w{1,60})[ \t]*=[ \t]*(\w[\w: \t]{0,60});"
    r"|\btypedef[ \t]+(\w[\w: \t]{0,60})[ \t](\w{1,60})[ \t]*;"
)
_ALL_LANES = re.compile(r"[ \t]*[=!]=[ \t]*(?:0[xX][fF]{8}[uU]?|~[ \t]*0[uU])\b")
_RETURNED = re.compile(r"\breturn[ \t]+(?:\([^()]{1,30}\)[ \t]*)?$")
_RESULT_TYPE = re.compile(r"\b(unsigned(?:[ \t]+int)?|u?int(?:32_t)?|u32)[ \t\r\n]+\w+[ \t\r\n]*\(?$")
_NARROW = re.compile(
    r"^(?:const[ \t]+)?(?:unsigned(?:[ \t]+int)?|int|uint|uint32_t|int32_t|u32"
    r"|std::u?int32_t|signed|UINT|uint32)$"
)
_WIDE = re.compile(r"long|64|size_t|auto|lane_mask|bool")
_LITERAL = re.compile(r"^\(?[ \t]*(?:~[ \t]*0|-[ \t]*1|0[xX][0-9a-fA-F]{1,16}|\d{1,20})([uUlL]*)[ \t]*\)?$")
_INDEX = re.compile(r"\b(?:threadIdx|blockDim)\.x\b")
_LANE_STEP = re.compile(
    r"(\b(?:threadIdx|blockDim)\.x\b|\b\w+\b|\))[ \t]*"
    r"(?:(&)[ \t]*(31|0x1[fF]|\([ \t]*32[uU]?[ \t]*-[ \t]*1)[uU]?\b"
    r"|(%)[ \t]*(32)[uU]?\b|(/)[ \t]*(32)[uU]?\b|(>>)[ \t]*(5)[uU]?\b)"
)
_STEP = re.compile(r"&[ \t]*(?:31|0x1[fF]|\([ \t]*32)|[%/][ \t]*32|>>[ \t]*5")
_LANE_WORD = re.compile(r"lane|warp|wid\b", re.IGNORECASE)
_WARP_TOOLS = re.compile(
    r"__shfl|__ballot|__syncwarp|__any_sync|__all_sync|__activemask|volatile|WarpReduce|WarpScan|__match_|tiled_partition|wmma"
)
_DECLARED = (
    r"\b((?:const[ \t]+)?(?:unsigned[ \t]+)?(?:long[ \t]+long|long|int|[A-Za-z_][\w:]*))[ \t]+"
    r"(?:\w+[ \t]*(?:=[^,;]{{0,200}})?,[ \t]*){{0,20}}{}\b[ \t]*(?:[;=,)]|\{{)"
)
_BIT_COUNT = re.compile(r"\b(__popc|__ffs|__clz|__brev)[ \t]*\(")
_VOLATILE_STEP = re.compile(
    r"\b(\w+)[ \t]*\[[ \t]*(\w+)[ \t]*\][ \t]*(?:[+*|&^]?=)[^;{}]*"
    r"\b\1[ \t]*\[[ \t]*\2[ \t]*\+[ \t]*(32|16|8|4|2|1)[ \t]*\]"
)
_SPIN = re.compile(r"\bwhile[ \t]*\([^;{}]{0,80}?\batomic(?:CAS|Exch)[ \t]*\(")
_SPIN_BREAK = re.compile(r"\bif[ \t]*\([^;{}]{0,80}?\batomic(?:CAS|Exch)[ \t]*\(")
_BREAKS = re.compile(r"\{?[ \t\r\n]*break\b")
_WAITS = re.compile(r";|\{[ \t\r\n]*;?[ \t\r\n]*\}|\{[ \t\r\n]*__nanosleep\([^)]*\);[ \t\r\n]*\}")
_ONE_LANE = re.compile(r"threadIdx\.x[^;]{0,60}==[ \t]*0|==[ \t]*0[ \t]*\)[ \t\r\n]*$|\bleader|elect")
_BLOCK = re.compile(r"\{[^{}]*\}")
_FIRST_WARP = re.compile(r"\bif[ \t]*\([ \t]*(threadIdx\.x|\w+)[ \t]*(?:<[ \t]*32|<=[ \t]*31)[uU]?[ \t]*\)")
# not a quotient (a number of warps), not a choice between widths
_IS_32 = re.compile(r"[ \t]*(?:=(?!=)|\{)[^;{}/%&?]{0,60}\b32[uU]?\b(?![ \t]*[-+*/])")
_WARP_NAME = re.compile(
    r"(?:^|_|[a-z])(?:(?:threads?|lanes?)_?(?:per|in)_?(?:a_)?warp"
    r"|(?:warp|wave(?:front)?)_?(?:size|sz|width|lanes?|len(?:gth)?|threads|dim))_*$"
    # alone it may be the end of anything: rows per warp
    r"|^(?:[kc]_?)?(?:warp|wave|wavefront)_*$",
    re.IGNORECASE,
)
_DECLARES = re.compile(r"\b(?:constexpr|const|static|enum|template)\b[^;{]{0,120}\{?[^;{]{0,120}$")


def is_warp_width(name: str) -> bool:
    """Whether a constant of this name means the number of lanes: WARP_SIZE, kWarpSize, THREADS_PER_WARP."""
    return _WARP_NAME.search(name) is not None


def used_for_lanes(code: str, name: str) -> bool:
    """Whether a width takes part in lane arithmetic, not in the size of a block alone."""
    word = re.escape(name)
    return (
        re.search(rf"[%/&][ \t]*\(?[ \t]*{word}\b|\b{word}[ \t]*(?:-[ \t]*1|>>|/[ \t]*2)", code) is not None
    )


def works_by_warps(code: str) -> bool:
    """Whether code uses warp intrinsics or collectives."""
    return _WARP_TOOLS.search(code) is not None


def call_attrs(file: CxxFile, name: str, start: int, spans: list[tuple[int, int]]) -> dict[str, AttrValue]:
    """What rules ask of a call: mask and width of warp intrinsics, where a ballot goes, constant
    arguments."""
    attrs: dict[str, AttrValue] = {}
    texts = [file.code[a:b].strip() for a, b in spans]
    if _MASK_FIRST.match(name) or (name == "__syncwarp" and texts):
        attrs |= _mask(file, texts[0] if texts else "", start)
        if "shfl" in name and len(texts) > 3 and (width := file.constants.value(texts[3])) is not None:
            attrs["width"] = width
    if _BALLOTS.match(name):
        attrs |= _destination(file, start, spans[-1][1] + 1 if spans else 0)
    if name not in file.vocabulary.watched:
        return attrs
    for index, text in enumerate(texts[:24]):
        value = file.constants.value(text) if text[:1].isalnum() or text[:1] in "(_" else None
        if value is not None and abs(value) < 1 << 62:
            attrs[f"arg{index}_value"] = value
        elif text and len(text) <= 60:
            attrs[f"arg{index}"] = text
    return attrs


def _mask(file: CxxFile, text: str, start: int) -> dict[str, AttrValue]:
    shown = text
    for _ in range(4):
        # FULL_MASK, ALL_LANES: the literal is behind one or two macros
        behind = file.constants.text_of(text)
        if behind is None or behind == text:
            break
        text = behind.strip()
    literal = _LITERAL.match(text)
    if literal:
        value = file.constants.value(text) or 0
        wide = "l" in literal.group(1).lower() or value > 0xFFFFFFFF
        return {"mask": shown[:60], "mask_bits": 64 if wide else 32}
    if re.fullmatch(r"\w+", text):
        width = _declared_width(file, text, start)
        if width:
            return {"mask": shown[:60], "mask_bits": width}
    return {"mask": shown[:60]}


def _declared_width(file: CxxFile, name: str, at: int) -> int:
    """32 or 64 by the declaration of a local variable or parameter, 0 when it isn't seen."""
    function = file.functions.at(at)
    begin, end = (function.start, function.end) if function else (max(0, at - 20_000), at)
    kind = ""
    for place, declared in _declarations(file.code, begin, end, name):
        if place >= at:
            break
        kind = declared
    kind = _aliases(file.code).get(kind, kind)
    return 32 if _NARROW.match(kind) else 64 if _WIDE.search(kind) else 0


@lru_cache(maxsize=8)
def _declarations(code: str, begin: int, end: int, name: str) -> tuple[tuple[int, str], ...]:
    """Where a name is declared, and as what, in order; the warp intrinsics of a function share their mask."""
    declared = re.compile(_DECLARED.format(re.escape(name)))
    return tuple((m.start(), m.group(1).strip()) for m in declared.finditer(code, begin, end))


@lru_cache(maxsize=1)
def _aliases(code: str) -> dict[str, str]:
    """``using mask_t = unsigned;`` and ``typedef unsigned mask_t;`` of a file."""
    return {m.group(1) or m.group(4): (m.group(2) or m.group(3)).strip() for m in _ALIAS.finditer(code)}


def _destination(file: CxxFile, start: int, end: int) -> dict[str, AttrValue]:
    """Type of the variable that takes the result, or 32 bits where it is compared with as many."""
    if end and _ALL_LANES.match(file.code, end):
        return {"assigned_type": "32 bits", "assigned_width": 32}
    before = file.code[statement_start(file.code, start) : start]
    match = _ASSIGNED.search(before)
    if match is None:
        return _returned(file, start) if _RETURNED.search(before) else {}
    kind, variable = (match.group(1) or "").strip(), match.group(2)
    if kind in ("return", "else"):
        kind = ""
    if not kind:
        width = _declared_width(file, variable, start)
        return (
            {"assigned": variable, "assigned_type": "a 32-bit integer", "assigned_width": 32}
            if width == 32
            else {}
        )
    if _NARROW.match(_aliases(file.code).get(kind, kind)):
        return {"assigned": variable, "assigned_type": kind, "assigned_width": 32}
    return {"assigned": variable, "assigned_type": kind}


def _returned(file: CxxFile, start: int) -> dict[str, AttrValue]:
    """The result type of the function that returns the ballot."""
    function = file.functions.at(start)
    head = file.code[function.start : function.params[0]] if function else ""
    kind = _RESULT_TYPE.search(head)
    return {"assigned_type": kind.group(1), "assigned_width": 32} if kind and "long" not in head else {}


_CONSTANT_WARPSIZE = re.compile(
    r"\b__shared__[^;{}=]*\[[^\];{}]*\bwarpSize\b"
    r"|\bconstexpr\b[^;{}=]*=[^;{}]*\bwarpSize\b|<(?:[^<>;(){}]{0,80},)?[ \t]*warpSize[ \t]*[,>]"
    r"|\bcase[ \t]+warpSize\b|\bstatic_assert[ \t]*\([^;]*\bwarpSize\b"
)


def warp_patterns(file: CxxFile) -> Iterator[Evidence]:
    """Evidence of kind pattern for code whose meaning depends on the number of lanes."""
    yield from _warp_constants(file)
    yield from lanewidths.named_masks(file)
    if "warpSize" in file.words:
        for match in _CONSTANT_WARPSIZE.finditer(file.code):
            yield _pattern(file, "warpsize-as-constant", *match.span())
    tools = _WARP_TOOLS.search(file.code) is not None
    for function in file.functions.all:
        if function.place == "host":
            continue
        body = file.code[function.body : function.end]
        yield from _lanes(file, function, body, tools)
        yield from _bit_counts(file, function, body)
        yield from _volatile(file, function, body)
        yield from _spin(file, function, body)
        yield from lanewidths.lane_widths(file, function, body)
    if not file.functions.all and file.embedded:
        whole = Function(0, len(file.code), 0, "", "kernel", (0, 0))
        yield from _lanes(file, whole, file.code, tools)
        yield from _bit_counts(file, whole, file.code)


def _pattern(
    file: CxxFile, name: str, start: int, end: int, attrs: dict[str, AttrValue] | None = None
) -> Evidence:
    return file.evidence(EvidenceKind.PATTERN, name, start, end, attrs)


def _warp_constants(file: CxxFile) -> Iterator[Evidence]:
    """``constexpr int kWarpSize = 32``, also as an enumerator."""
    if "arp" not in file.code and "ARP" not in file.code:
        return
    for word in file.words:
        if not is_warp_width(word):
            continue
        for start, end in occurrences(file.code, word):
            if _IS_32.match(file.code, end) and _DECLARES.search(file.code[max(0, start - 160) : start]):
                yield _pattern(file, "warp-constant", start, end, {"constant": word})


def _lanes(file: CxxFile, function: Function, body: str, tools: bool) -> Iterator[Evidence]:
    """``tid & 31``, ``% 32``, ``/ 32``, ``>> 5`` on a thread index."""
    if not _STEP.search(body) and not (tools and "32" in body):
        return
    local, every = _index_names(body)
    seen_lines: set[int] = set()
    for match in _LANE_STEP.finditer(body):
        operand = match.group(1)
        start = function.body + match.start()
        # no further back than a line of code is long: a whole table may stand in one line
        line_start = file.code.rfind("\n", max(0, start - 300), start) + 1 or max(0, start - 300)
        before = file.code[line_start:start]
        named = _LANE_WORD.search(before) is not None
        if operand == ")":
            inside = body[max(0, match.start() - 120) : match.start()]
            inside = inside[inside.rfind("(") :]
            operand_is_index = bool(_INDEX.search(inside)) and "blockIdx" not in inside
        else:
            operand_is_index = operand.endswith("Idx.x") or operand == "blockDim.x" or operand in local
        if not (operand_is_index or (named and operand in every)):
            continue
        # bits[i >> 5] |= 1u << (i & 31) packs words of 32 bits: right on every device
        if re.search(r"<<[ \t]*\(?[ \t]*$", before) or (re.search(r"\[[ \t]*$", before) and not named):
            continue
        if line_start in seen_lines:
            continue
        seen_lines.add(line_start)
        if not (named or tools):
            # 32 columns of a tile look the same: nothing here works by warps
            continue
        sign = next(g for g in (match.group(2), match.group(4), match.group(6), match.group(8)) if g)
        attrs: dict[str, AttrValue] = {"operand": operand, "operator": sign}
        yield _pattern(file, "lane-literal", start, function.body + match.end(), attrs)
    if tools:
        for match in _FIRST_WARP.finditer(body):
            if match.group(1).startswith("threadIdx") or match.group(1) in local:
                follows = body[match.end() : match.end() + 300].partition("__syncthreads")[0]
                if _WARP_TOOLS.search(follows) or any(name in follows for name in _volatile_helpers(file)):
                    start = function.body + match.start()
                    yield _pattern(file, "first-warp-branch", start, function.body + match.end())


def _index_names(body: str) -> tuple[set[str], set[str]]:
    """Variables made from threadIdx alone, and from threadIdx at all, in one function."""
    local, every = set(), set()
    for match in re.finditer(r"\b(\w+)[ \t]*=[ \t]*([^;{}=]{0,120}?\bthreadIdx\.x[^;{}]{0,80});", body):
        every.add(match.group(1))
        if "blockIdx" not in match.group(2) and "[" not in match.group(2):
            local.add(match.group(1))
    return local, every


def _bit_counts(file: CxxFile, function: Function, body: str) -> Iterator[Evidence]:
    """``__popc`` and its kin on a ballot, directly or through a variable of 32 bits."""
    if "__popc" not in body and "__ffs" not in body and "__clz" not in body and "__brev" not in body:
        return
    ballots = set(
        re.findall(
            r"\b(\w+)[ \t]*[&|]?=[ \t]*(?:\([^()]{1,30}\)[ \t]*)?"
            r"__(?:ballot(?:_sync)?|activemask|match_any_sync)\b",
            body,
        )
    )
    for match in _BIT_COUNT.finditer(body):
        argument = body[match.end() : match.end() + 160].partition(";")[0]
        close, depth = len(argument), 1
        for inner in re.finditer(r"[()]", argument):
            depth += 1 if inner.group() == "(" else -1
            if depth == 0:
                close = inner.start()
                break
        argument = argument[:close]
        if _BALLOTS.search(argument) or any(re.search(rf"\b{name}\b", argument) for name in ballots):
            start = function.body + match.start()
            attrs: dict[str, AttrValue] = {"call": match.group(1)}
            yield _pattern(file, "bit-count-of-ballot", start, function.body + match.end(1), attrs)


def _volatile_helpers(file: CxxFile) -> list[str]:
    return [
        f.name
        for f in file.functions.all
        if f.place != "host"
        and "volatile" in file.code[f.params[0] : f.params[1]]
        and _VOLATILE_STEP.search(file.code[f.body : f.end])
    ]


def _volatile(file: CxxFile, function: Function, body: str) -> Iterator[Evidence]:
    """Reductions over the last 32 elements in lock step, without a barrier between the steps."""
    if "16" not in body:
        return
    steps = list(_VOLATILE_STEP.finditer(body))
    distances = {m.group(3) for m in steps}
    if len(steps) < 3 or not {"16", "8", "4"} <= distances:
        return
    between = body[steps[0].end() : steps[-1].start()]
    if "sync" in between or "barrier" in between or "fence" in between:
        return
    header = file.code[function.start : function.body]
    volatile_parameter = re.search(r"\bvolatile\b", header) is not None
    start = function.start if volatile_parameter else function.body + steps[0].start()
    attrs: dict[str, AttrValue] = {"volatile": volatile_parameter or "volatile" in body}
    yield _pattern(file, "lockstep-reduction", start, start + len(function.name) + 1, attrs)


def _spin(file: CxxFile, function: Function, body: str) -> Iterator[Evidence]:
    """``while (atomicCAS(...)) ;``: a lane waits for another lane of its own wavefront."""
    if "atomic" not in body:
        return
    for pattern, follows in ((_SPIN, _WAITS), (_SPIN_BREAK, _BREAKS)):
        for match in pattern.finditer(body):
            tail = body[match.end() : match.end() + 200]
            depth, at = 2, 0
            for inner in re.finditer(r"[()]", tail):
                depth += 1 if inner.group() == "(" else -1
                if depth == 0:
                    at = inner.end()
                    break
            if not at or not follows.match(tail[at:].lstrip()) or _retries(body, tail[:at]):
                continue
            if _by_one_lane(body[max(0, match.start() - 400) : match.start()]):
                continue
            start = function.body + match.start()
            yield _pattern(file, "lane-spin-lock", start, function.body + match.end())


def _by_one_lane(before: str) -> bool:
    """Whether a condition around a place picks one lane of the block: nobody of the same wavefront waits."""
    for _ in range(4):
        before = _BLOCK.sub(";", before)
    return any(_ONE_LANE.search(header.rpartition(";")[2]) for header in before.split("{"))


def _retries(body: str, call: str) -> bool:
    """``atomicCAS(p, assumed, f(assumed)) != assumed``: an update that is tried again; no lane waits."""
    compared = call.split(",")[1].strip() if call.count(",") > 1 else ""
    if re.fullmatch(r"[a-z_]\w*", compared):
        return re.search(rf"\b{compared}\b[ \t]*=(?!=)", body) is not None
    return "(" in compared
