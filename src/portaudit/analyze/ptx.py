"""PTX: the strings of ``asm`` statements, and PTX files, as instructions."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from portaudit.analyze.base import Text
from portaudit.analyze.lexical import Lexed, StringToken
from portaudit.model.evidence import AttrValue, Evidence, EvidenceKind, Vocabulary
from portaudit.model.places import Skip

_STATEMENT = re.compile(
    r"(?:^|[;{}\n]|\\n|\\t)[ \t]*(?:[\w$%]+:[ \t]*)?(?:@!?%?\w+[ \t]+)?"
    r"([a-z][a-z0-9_]*(?:(?:\.|::)[a-zA-Z0-9_]+)*)(?=[ \t;]|\\[nt]|$)"
)
_ASM = re.compile(
    r"\b(?:asm|__asm__|__asm)\b[ \t\r\n]*(?:(?:volatile|__volatile__|goto|inline)\b[ \t\r\n]*)*\("
)
# Opcodes of the PTX ISA up to 9.0, without modifiers: what tells PTX from host or AMDGCN assembly.
_OPCODES = frozenset(
    " ".join(
        (
            "abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev",
            "brkpt brx call clmad clusterlaunchcontrol clz cnot copysign cos cp createpolicy cvt "
            "cvta discard",
            "div dp2a dp4a elect ex2 exit fence fma fns getctarank griddepcontrol isspacep istypep ld",
            "ldmatrix ldu lg2 lop3 mad mad24 madc mapa match mbarrier membar max min mma mov movmatrix mul",
            "mul24 multimem nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp red redux rem ret",
            "rsqrt sad selp set setmaxnreg setp shf shfl shl shr sin slct sqrt st stackrestore stacksave",
            "stmatrix sub subc suld suq sured sust szext tanh tcgen05 tensormap testp tex tld4 trap txq",
            "vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2",
            "vmin4 vote vset vset2 vset4 vshl vshr vsub vsub2 vsub4 wgmma wmma xor",
        )
    ).split()
)
_HELPERS = frozenset({"setp", "selp", "mov", "cvta", "and", "or", "not"})
_BARE = frozenset({"trap", "brkpt", "exit", "ret", "bra", "call", "pmevent"})
_SPECIAL = re.compile(
    r"%%?(laneid|warpid|nwarpid|smid|nsmid|gridid|lanemask_(?:eq|le|lt|ge|gt)|clock(?:64|_hi)?|globaltimer\w*"
    r"|pm\d+|cluster\w*|is_explicit_cluster|dynamic_smem_size|total_smem_size|aggr_smem_size|envreg\d+)\b"
)


class Instruction(NamedTuple):
    """One instruction at an offset."""

    opcode: str
    """With its modifiers: ``mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32``."""
    register: str
    """Special register that it reads, without ``%``; empty for most."""
    start: int
    end: int


def instructions(text: str, start: int, end: int) -> Iterator[Instruction]:
    """Instructions in ``text[start:end]``, which may be the inside of a C string with ``\\n`` written out."""
    for match in _STATEMENT.finditer(text[start:end]):
        opcode = match.group(1)
        base, dot, _ = opcode.partition(".")
        if base.partition("::")[0] in _OPCODES and (dot or base in _BARE):
            tail = text[start + match.end(1) : min(end, start + match.end(1) + 200)].partition(";")[0]
            special = _SPECIAL.search(tail)
            register = special.group(1) if special else ""
            yield Instruction(opcode, register, start + match.start(1), start + match.end(1))


def is_helper(instruction: Instruction) -> bool:
    """Whether an instruction only prepares another one: predicates, moves, address conversions."""
    return instruction.opcode.partition(".")[0] in _HELPERS and not instruction.register


class AsmStatement(NamedTuple):
    """An ``asm`` statement with its template strings."""

    start: int
    end: int
    templates: tuple[StringToken, ...]


def asm_statements(lexed: Lexed) -> Iterator[AsmStatement]:
    """All ``asm`` statements of a file, also inside macros; only template strings, not constraints."""
    for match in _ASM.finditer(lexed.code):
        open_at = match.end()
        stop = _template_end(lexed.code, open_at)
        templates = tuple(s for s in _strings_between(lexed.strings, open_at, stop))
        yield AsmStatement(match.start(), templates[-1].end if templates else match.end(), templates)


def _template_end(code: str, open_at: int) -> int:
    """Offset of the first ``:`` or the closing bracket at the outer level."""
    depth = 1
    for match in re.finditer(r'"[^"]*"|[():]', code[open_at : open_at + 60_000]):
        sign = match.group()
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
        if depth == 0 or (sign == ":" and depth == 1):
            return open_at + match.start()
    return min(len(code), open_at + 60_000)


def _strings_between(strings: list[StringToken], start: int, end: int) -> Iterator[StringToken]:
    index = bisect_left(strings, (start,))
    while index < len(strings) and strings[index].start < end:
        yield strings[index]
        index += 1


def instruction_attrs(instruction: Instruction, form: str) -> dict[str, AttrValue]:
    """What rules ask of an instruction: its base, the special register, and where it stood (asm, triton,
    file)."""
    attrs: dict[str, AttrValue] = {"base": instruction.opcode.partition(".")[0], "form": form}
    if instruction.register:
        attrs["register"] = instruction.register
    return attrs


def analyze(text: Text, vocabulary: Vocabulary) -> Iterator[Evidence | Skip]:
    """Evidence of a PTX file: one for each distinct opcode, at its first place."""
    seen: set[str] = set()
    body = re.sub(
        r"//[^\n]*|/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text.text, flags=re.DOTALL
    )
    yield text.evidence(EvidenceKind.PATTERN, "ptx-file", 0, min(len(text.text), 1))
    for instruction in instructions(body, 0, len(body)):
        if instruction.opcode not in seen:
            seen.add(instruction.opcode)
            attrs = instruction_attrs(instruction, "file")
            yield text.evidence(
                EvidenceKind.ASM, instruction.opcode, instruction.start, instruction.end, attrs=attrs
            )
