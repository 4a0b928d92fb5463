"""Uses of names in C++ code as evidence: known ones, suspicious ones, and those that a macro pastes
together."""

import re
from collections.abc import Iterator

from portaudit.analyze import cxxnames, warp
from portaudit.analyze.cxxfile import CxxFile
from portaudit.analyze.lexical import after_template, arguments
from portaudit.model.evidence import AttrValue, Confidence, Evidence, EvidenceKind

_MACRO_NAME = re.compile(r"[ \t]*(\w+)")
_TYPE_BEFORE = re.compile(r"[\w>*&\]][ \t]*[*&]*[ \t]+[*&]*$|[*&]$")
_NOT_TYPES = re.compile(
    r"\b(?:return|else|case|goto|throw|new|delete|co_return|co_await|and|or|not|sizeof|typename)[ \t]+$"
)
_TYPE_HEAD = re.compile(r"\b(?:struct|class|enum|union|namespace|using|typedef)\b[^;{}()]*$")
_MACRO_CALL = re.compile(r"\b([A-Za-z_]\w*)\([ \t]*\Z")
_PASTED_PREFIXES = ("cuda", "cu", "cublas", "cufft", "cudnn", "nccl")
_OWN_NAMESPACE = re.compile(
    r"namespace[ \t]+(?:\w+[ \t]*::[ \t]*)*(cub|thrust|cuda|cutlass|cute)\b[^;={]{0,80}\{"
)
_BIG_SPACES = ("cutlass", "cute")


def use_evidence(file: CxxFile) -> Iterator[Evidence]:
    """Evidence of all uses in a file, in no order."""
    macro_names = _macro_names(file)
    yield from _plain(file, macro_names)
    yield from _qualified(file)
    yield from _unknown(file, macro_names)
    yield from _pasted(file)
    yield from _own_functions(file)
    if "namespace" in file.words:
        for match in _OWN_NAMESPACE.finditer(file.code):
            yield file.evidence(EvidenceKind.DEFINE, match.group(1), *match.span(1), {"form": "namespace"})


def _own_functions(file: CxxFile) -> Iterator[Evidence]:
    """Functions of the project that have a name of CUDA's: ``atomicAdd`` for a type that CUDA lacks."""
    known = (file.vocabulary.symbols, file.vocabulary.quiet, file.vocabulary.watched)
    for function in file.functions.all:
        if function.name and any(function.name in names for names in known):
            end = function.params[0]
            yield file.evidence(EvidenceKind.DEFINE, function.name, function.start, end, {"form": "function"})


def _macro_names(file: CxxFile) -> frozenset[int]:
    """Offsets of names that a directive gives, takes away or asks for: there they are not used."""
    found = set()
    for directive in file.directives:
        if directive.word in ("define", "undef", "ifdef", "ifndef"):
            match = _MACRO_NAME.match(directive.body)
            if match:
                found.add(directive.body_start + match.start(1))
        elif directive.word in ("if", "elif"):
            # what a condition asks for is evidence of its own kind
            found |= {directive.body_start + m.start() for m in cxxnames.WORD.finditer(directive.body)}
    return frozenset(found)


def _plain(file: CxxFile, macro_names: frozenset[int]) -> Iterator[Evidence]:
    code, vocabulary = file.code, file.vocabulary
    device = bool(file.functions.all) or bool(file.embedded)
    for hit in cxxnames.plain_hits(code, file.words, vocabulary, device):
        if hit.start in macro_names or cxxnames.in_translated_space(code, hit.start):
            continue
        ordinary = hit.name in vocabulary.device_symbols and hit.name not in vocabulary.symbols
        if ordinary and not file.on_device(hit.start):
            continue
        if code[hit.start - 1 : hit.start] == "." or code[hit.start - 2 : hit.start] == "->":
            continue
        yield _use(file, hit)


def _qualified(file: CxxFile) -> Iterator[Evidence]:
    if not cxxnames.opens_namespaces(file.words, file.vocabulary):
        return
    code = file.code
    scope = cxxnames.qualifiers(code)
    seen: set[str] = set()
    hits = (
        *cxxnames.qualified_hits(code, file.words, scope, file.vocabulary),
        *cxxnames.opened_hits(code, file.words, scope, file.vocabulary),
    )
    for hit in hits:
        if hit.known:
            yield _use(file, hit)
        elif hit.name not in seen:
            # Template libraries repeat their names hundreds of times; one place a file is enough to judge.
            seen.add(hit.name)
            known_space = hit.name.startswith(_BIG_SPACES)
            kind = EvidenceKind.NAME if known_space else EvidenceKind.UNKNOWN
            yield file.evidence(kind, hit.name, hit.start, hit.end, {"qualified": True}, Confidence.MEDIUM)


def _use(file: CxxFile, hit: cxxnames.NameHit) -> Evidence:
    code = file.code
    at = _skip_blanks(code, hit.end)
    if code.startswith("<", at) and not code.startswith("<<<", at):
        at = _skip_blanks(code, after_template(code, at))
    if not code.startswith("(", at):
        return file.evidence(EvidenceKind.NAME, hit.name, hit.start, hit.end)
    spans, end = arguments(code, at)
    attrs: dict[str, AttrValue] = {}
    if end > 0:
        attrs["nargs"] = len(spans)
        attrs |= warp.call_attrs(file, hit.name, hit.start, spans)
    return file.evidence(EvidenceKind.CALL, hit.name, hit.start, hit.end, attrs)


def _skip_blanks(code: str, at: int) -> int:
    while at < len(code) and code[at] in " \t\r\n":
        at += 1
    return at


def _unknown(file: CxxFile, macro_names: frozenset[int]) -> Iterator[Evidence]:
    code = file.code
    suspicious = cxxnames.unknown_words(file.words, file.vocabulary)
    for hit in cxxnames.unknown_hits(code, suspicious):
        if hit.start in macro_names or cxxnames.in_translated_space(code, hit.start):
            continue
        if code[hit.start - 1 : hit.start] in (".", "#") or code[hit.start - 2 : hit.start] == "->":
            continue
        form = _definition_form(code, hit)
        if form:
            yield file.evidence(EvidenceKind.DEFINE, hit.name, hit.start, hit.end, {"form": form})
        elif _used_as_api(code, hit):
            yield file.evidence(EvidenceKind.UNKNOWN, hit.name, hit.start, hit.end, {}, Confidence.LOW)


def _used_as_api(code: str, hit: cxxnames.NameHit) -> bool:
    follows = code[hit.end : hit.end + 80].lstrip()[:1]
    return follows == "(" or hit.name.isupper() or hit.name.endswith(("_t", "_st"))


def _definition_form(code: str, hit: cxxnames.NameHit) -> str:
    """Whether the project gives this name a meaning here: ``type``, ``function``, ``variable``, or empty."""
    before = code[max(0, hit.start - 200) : hit.start]
    line = before[before.rfind("\n") + 1 :]
    if _TYPE_HEAD.search(before):
        return "type"
    if _TYPE_BEFORE.search(line) and not _NOT_TYPES.search(line):
        return "function" if code[hit.end : hit.end + 80].lstrip().startswith("(") else "variable"
    if (
        not line.strip()
        and code[hit.end : hit.end + 80].lstrip().startswith(("(", "="))
        and _typed_line_above(before)
    ):
        return "function"
    return ""


def _typed_line_above(before: str) -> bool:
    """A return type alone on the line above: ``static void`` and then the name."""
    lines = before.rstrip().splitlines()
    return bool(lines) and re.fullmatch(r"[ \t]*(?:[\w:<>]+[ \t*&]+)*[\w:<>]+[ \t*&]*", lines[-1]) is not None


def _pasted(file: CxxFile) -> Iterator[Evidence]:
    """``RT(MallocAsync)``: whether RT pastes ``cuda`` in front is known once the whole tree has been read."""
    tails = cxxnames.tails(file.vocabulary, _PASTED_PREFIXES)
    for prefix, word in ((prefix, w) for w in file.words & tails.keys() for prefix in tails[w]):
        for start, end in cxxnames.occurrences(file.code, word):
            before = _MACRO_CALL.search(file.code, max(0, start - 60), start)
            if before and file.code[end : end + 20].lstrip().startswith(")"):
                attrs: dict[str, AttrValue] = {"pasted_by": before.group(1), "prefix": prefix}
                yield file.evidence(EvidenceKind.NAME, prefix + word, before.start(), end + 1, attrs)
