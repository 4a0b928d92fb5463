"""Names in C++ code: which of them the vocabulary knows, which look like CUDA and are known to nobody."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from portaudit.model.evidence import Vocabulary

WORD = re.compile(r"[A-Za-z_]\w*")
_QUALIFIED = re.compile(r"\b([A-Za-z_]\w*)[ \t]*::[ \t]*((?:[A-Za-z_]\w*[ \t]*::[ \t]*)*[A-Za-z_]\w*)")
_ALIAS = re.compile(r"namespace[ \t]+([A-Za-z_]\w*)[ \t]*=[ \t]*(?:::)?[ \t]*([A-Za-z_][\w:]*)[ \t]*;")
_USING_SPACE = re.compile(r"using[ \t]+namespace[ \t]+(?:::)?([A-Za-z_][\w:]*)[ \t]*;")
_USING_NAME = re.compile(r"using[ \t]+(?:::)?((?:[A-Za-z_]\w*::)+)([A-Za-z_]\w*)[ \t]*;")
_TAIL = re.compile(r"(?:[ \t]*::[ \t]*[A-Za-z_]\w*)+")
_INNER = re.compile(r"\w[ \t]*::[ \t]*\Z")
_SPACES = re.compile(r"[ \t]+")

# Spellings that NVIDIA's libraries use. A name of this form that no table has is worth a question.
_LOOKS_CUDA = re.compile(
    r"^(?:cuda[A-Z]\w+|CUDA_(?:SUCCESS|ERROR|R|C|MEM\w*)_\w+"
    r"|cu(?:Ctx|Device|Mem|Module|Launch|Stream|Event|Func|Graph|Link|Tensor|Array|Texref|TexRef|Surf|Library|Kernel"
    r"|Pointer|Occupancy|Init|Driver|Get|Ipc|Multicast|Coredump|Green|Checkpoint|Eglstream)[A-Z]\w*|cu(?:blas|dnn|fft|rand|sparse|solver|tensor|pti|file)(?:[A-Z]\w+|L[tT]\w+)"
    r"|CU(?:BLAS|DNN|FFT|RAND|SPARSE|SOLVER|TENSOR|PTI)_[A-Z]\w+|nccl[A-Z]\w+|nvml[A-Z]\w+|nvrtc[A-Z]\w+|nvjpeg[A-Z]\w+"
    r"|npp[isc]?[A-Z]\w+|nvshmemx?_\w+|optix[A-Z]\w+)$"
)
_STARTS = ("cu", "CU", "nccl", "nv", "npp", "optix")
# Names of projects that live beside CUDA and keep their spelling on ROCm, because their build translates
# them.
_OWN_SPACES = frozenset(
    {"cub", "thrust", "cuda", "nvcuda", "cooperative_groups", "cutlass", "cute", "nvtx3", "cuco"}
)


# A search for each name beats a look at each word up to about this many names.
_MANY = 100


class NameHit(NamedTuple):
    """A known or suspicious name at an offset."""

    name: str
    start: int
    end: int
    known: bool


class Qualifiers(NamedTuple):
    """What a file says about C++ namespaces."""

    aliases: dict[str, str]
    opened: tuple[str, ...]
    names: dict[str, str]
    """Names brought in one by one: short -> qualified."""


def qualifiers(code: str) -> Qualifiers:
    """Aliases and using-declarations of a file."""
    aliases = {m.group(1): m.group(2) for m in _ALIAS.finditer(code)}
    opened = tuple(sorted({_expand(m.group(1), aliases) for m in _USING_SPACE.finditer(code)} - {"std"}))
    names = {m.group(2): _expand(m.group(1) + m.group(2), aliases) for m in _USING_NAME.finditer(code)}
    return Qualifiers(aliases, opened, names)


def _expand(name: str, aliases: dict[str, str]) -> str:
    head, separator, rest = name.partition("::")
    return aliases.get(head, head) + separator + rest


def plain_hits(code: str, words: frozenset[str], vocabulary: Vocabulary, device: bool) -> Iterator[NameHit]:
    """Names without namespace, in no order. ``words`` are the identifiers of ``code``."""
    wanted = (words & vocabulary.symbols) | (words & vocabulary.watched)
    if device:
        wanted |= words & vocabulary.device_symbols
    if len(wanted) > _MANY:
        for match in WORD.finditer(code):
            if match.group() in wanted:
                yield NameHit(match.group(), match.start(), match.end(), True)
        return
    for name in wanted:
        yield from ((NameHit(name, start, end, True)) for start, end in occurrences(code, name))


def unknown_words(words: frozenset[str], vocabulary: Vocabulary) -> set[str]:
    """Identifiers that look like CUDA's and are in no table."""
    known = (vocabulary.symbols, vocabulary.quiet, vocabulary.device_symbols, vocabulary.watched)
    likely = (w for w in words if w.startswith(_STARTS))
    return {w for w in likely if _LOOKS_CUDA.match(w) and not any(w in names for names in known)}


def unknown_hits(code: str, names: set[str]) -> Iterator[NameHit]:
    """Places of suspicious names."""
    for name in names:
        yield from ((NameHit(name, start, end, False)) for start, end in occurrences(code, name))


def occurrences(code: str, name: str) -> Iterator[tuple[int, int]]:
    """Offsets of a name as a whole word."""
    size = len(name)
    at = code.find(name)
    while at >= 0:
        end = at + size
        before = code[at - 1] if at else " "
        after = code[end] if end < len(code) else " "
        if not (before.isalnum() or before == "_" or after.isalnum() or after == "_"):
            yield at, end
        at = code.find(name, end)


def opens_namespaces(words: frozenset[str], vocabulary: Vocabulary) -> bool:
    """Whether a file names any namespace that the vocabulary knows; without one there are no qualified
    names."""
    return not words.isdisjoint(_heads(vocabulary.digest, vocabulary))


_TAILS: dict[str, dict[str, list[str]]] = {}


def tails(vocabulary: Vocabulary, prefixes: tuple[str, ...]) -> dict[str, list[str]]:
    """What is left of known names without a prefix -> the prefixes: ``MallocAsync`` -> ``cuda``."""
    found = _TAILS.get(vocabulary.digest)
    if found is None:
        found = _TAILS[vocabulary.digest] = {}
        for name in vocabulary.symbols:
            for prefix in prefixes:
                if name.startswith(prefix) and name[len(prefix) : len(prefix) + 1].isupper():
                    found.setdefault(name[len(prefix) :], []).append(prefix)
    return found


_HEADS: dict[str, frozenset[str]] = {}


def _heads(digest: str, vocabulary: Vocabulary) -> frozenset[str]:
    found = _HEADS.get(digest)
    if found is None:
        names = (*vocabulary.qualified, *(w for w in vocabulary.watched if "::" in w))
        found = _HEADS[digest] = frozenset({n.partition("::")[0] for n in names} | _OWN_SPACES)
    return found


def qualified_hits(
    code: str, words: frozenset[str], scope: Qualifiers, vocabulary: Vocabulary
) -> Iterator[NameHit]:
    """Names with a namespace, resolved through aliases and using-declarations."""
    for start, end, written in _qualified(code, words, scope, vocabulary):
        name = _expand(written, scope.aliases)
        resolved = _known_prefix(name, vocabulary)
        if resolved is None:
            for space in scope.opened:
                resolved = _known_prefix(f"{space}::{name}", vocabulary)
                if resolved is not None:
                    break
        if resolved is not None:
            yield NameHit(resolved, start, end, True)
        elif name.partition("::")[0] in _OWN_SPACES:
            yield NameHit(name, start, end, False)
    for short, full in scope.names.items():
        if full in vocabulary.qualified:
            for start, end in occurrences(code, short):
                if code[start - 2 : start] != "::":
                    yield NameHit(full, start, end, True)


def _qualified(
    code: str, words: frozenset[str], scope: Qualifiers, vocabulary: Vocabulary
) -> Iterator[tuple[int, int, str]]:
    """Offsets and text of names with a namespace that may be known."""
    if scope.opened:
        # an opened namespace makes its inner ones first words too: wmma::fragment after "using namespace
        # nvcuda"
        for match in _QUALIFIED.finditer(code):
            yield match.start(), match.end(), _SPACES.sub("", f"{match.group(1)}::{match.group(2)}")
        return
    heads = words & (_heads(vocabulary.digest, vocabulary) | scope.aliases.keys())
    for head in heads:
        for start, end in occurrences(code, head):
            tail = _TAIL.match(code, end)
            if tail and not _INNER.search(code, max(0, start - 40), start):
                yield start, tail.end(), _SPACES.sub("", code[start : tail.end()])


def opened_hits(
    code: str, words: frozenset[str], scope: Qualifiers, vocabulary: Vocabulary
) -> Iterator[NameHit]:
    """Unqualified names that an opened namespace brings in: ``using namespace nvcuda::wmma;
    fragment<...>``."""
    for space in scope.opened:
        if space.partition("::")[0] not in _OWN_SPACES:
            continue
        for word in words:
            full = f"{space}::{word}"
            if full in vocabulary.qualified:
                for start, end in occurrences(code, word):
                    if code[start - 2 : start] != "::":
                        yield NameHit(full, start, end, True)


def _known_prefix(name: str, vocabulary: Vocabulary) -> str | None:
    parts = name.split("::")
    for count in range(len(parts), 1, -1):
        candidate = "::".join(parts[:count])
        if candidate in vocabulary.qualified or candidate in vocabulary.watched:
            return candidate
    return None


def in_translated_space(code: str, start: int) -> bool:
    """Whether the name at ``start`` is a member of a namespace that its own build translates, or of a
    project's."""
    if code[start - 2 : start] != "::":
        return False
    head = re.search(
        r"([A-Za-z_]\w*)(?:[ \t]*::[ \t]*[A-Za-z_]\w*)*[ \t]*::$", code[max(0, start - 200) : start]
    )
    return head is not None and head.group(1) not in _OWN_SPACES
