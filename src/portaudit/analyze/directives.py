"""Includes, macros and conditions of a C++ file as evidence."""

import re
from collections.abc import Iterator

from portaudit.analyze.conditions import evaluate
from portaudit.analyze.cxxfile import CxxFile
from portaudit.analyze.cxxnames import WORD
from portaudit.analyze.guards import condition_of, is_nvidia_macro, is_rocm_macro
from portaudit.analyze.lexical import Directive
from portaudit.analyze.warp import is_warp_width, used_for_lanes, works_by_warps
from portaudit.model.evidence import AttrValue, Evidence, EvidenceKind

_INCLUDE = re.compile(r'[ \t]*(?:<([^>\n]+)>|"([^"\n]+)")')
_DEFINE = re.compile(r"[ \t]*([A-Za-z_]\w*)(\([^)]*\))?[ \t]*(.*)", re.DOTALL)
_PREFIX = r"cuda|cu|CUDA|CU|cublas|cublasLt|cufft|cudnn|curand|cusparse|cusolver|cusolverDn|nccl|nvrtc"
_PASTES = re.compile(rf"\b({_PREFIX})[ \t]*##|\b\w+\([ \t]*({_PREFIX})[ \t]*,[ \t]*\w+[ \t]*\)")


def object_macros(directives: list[Directive]) -> dict[str, str]:
    """Macros without parameters: name -> text."""
    macros: dict[str, str] = {}
    for directive in directives:
        if directive.word == "define" and (match := _DEFINE.match(directive.body)) and match.group(2) is None:
            macros.setdefault(match.group(1), match.group(3).strip()[:200])
    return macros


def directive_evidence(file: CxxFile) -> Iterator[Evidence]:
    """Evidence of all directives of a file, in order."""
    for directive in file.directives:
        if directive.word in ("include", "import", "include_next"):
            yield from _include(file, directive)
        elif directive.word == "define":
            yield from _define(file, directive)
        elif directive.word in ("if", "ifdef", "ifndef", "elif"):
            yield from _condition(file, directive)


def _include(file: CxxFile, directive: Directive) -> Iterator[Evidence]:
    match = _INCLUDE.match(file.lexed.text[directive.body_start : directive.end])
    if match is None:
        return
    group = 1 if match.group(1) else 2
    name = match.group(group).strip()
    start = directive.body_start + match.start(group)
    yield file.evidence(EvidenceKind.INCLUDE, name, start, start + len(name), {"local": group == 2})


def _define(file: CxxFile, directive: Directive) -> Iterator[Evidence]:
    match = _DEFINE.match(directive.body)
    if match is None:
        return
    name, value = match.group(1), match.group(3).strip()
    if not _worth(file, name, value):
        return
    start = directive.body_start + match.start(1)
    attrs: dict[str, AttrValue] = {"form": "macro", "value": value[:200]}
    if match.group(2) is None:
        number = file.constants.value(value)
        if number is not None and abs(number) < 1 << 63:
            attrs["int"] = number
        if is_warp_width(name) and _matters(file, name):
            attrs["warp_width"] = True
    elif pasted := _PASTES.search(value):
        attrs["pastes"] = pasted.group(1) or pasted.group(2)
    yield file.evidence(EvidenceKind.DEFINE, name, start, start + len(name), attrs)


def _matters(file: CxxFile, name: str) -> bool:
    """A width in a header is for others to use; in a source it must be used for more than the size of a
    block."""
    if not file.text.path.endswith((".cu", ".cpp", ".cc", ".cxx", ".c", ".hip")) or file.embedded:
        return True
    return works_by_warps(file.code) or used_for_lanes(file.code, name)


def _worth(file: CxxFile, name: str, value: str) -> bool:
    """Whether a macro can matter: it has a known or CUDA-like name, a small number, or pastes names."""
    if (
        name in file.vocabulary.symbols
        or name in file.vocabulary.watched
        or "cu" in name.lower()
        or "nv" in name.lower()
    ):
        return True
    return "warp" in name.lower() or "wave" in name.lower() or "mask" in name.lower() or "cu" in value.lower()


def _condition(file: CxxFile, directive: Directive) -> Iterator[Evidence]:
    condition = condition_of(directive)
    chain = file.regions.chains.get(directive.start)
    if chain is None or chain.rocm:
        return
    for name in dict.fromkeys(WORD.findall(condition)):
        if not (is_nvidia_macro(name) or name in file.vocabulary.watched) or is_rocm_macro(name):
            continue
        attrs: dict[str, AttrValue] = {"form": _form(name, condition), "text": condition[:120]}
        if attrs["form"] == "compare" and re.search(rf"defined[ \t]*\(?[ \t]*{name}\b", condition):
            attrs["protected"] = True
            attrs["harmless"] = _harmless(name, condition)
        attrs["has_else"] = chain.branches > 1
        yield file.evidence(EvidenceKind.CONDITION, name, directive.start, directive.end, attrs)


def _harmless(name: str, condition: str) -> bool:
    """``defined(X) && X < 700`` drops a branch for old hardware, ``!defined(X) || X >= 700`` keeps one for
    new hardware: both are right where the macro is missing."""
    if re.search(rf"\b{name}\b[ \t]*<", condition):
        return True
    return bool(evaluate(condition, lambda macro: False if macro == name else None))


def _form(name: str, condition: str) -> str:
    """``compare``, ``undefined``, ``defined`` or ``value``."""
    if re.search(rf"\b{name}\b[ \t]*(?:[<>]=?|[!=]=)|(?:[<>]=?|[!=]=)[ \t]*{name}\b", condition):
        return "compare"
    if re.search(rf"![ \t]*defined[ \t]*\(?[ \t]*{name}\b", condition):
        return "undefined"
    return "defined" if re.search(rf"defined[ \t]*\(?[ \t]*{name}\b", condition) else "value"
