"""What a word list of a build says: nvcc options, libraries, definitions, toolkit folders.

Repeated options of one command are one piece of evidence: a list of ten ``-gencode`` is one thing to change.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from portaudit.analyze.words import Frame, Word, word_set
from portaudit.model.evidence import Evidence, EvidenceKind, Vocabulary

# Options that other compilers have as well; they speak of nvcc only where nvcc is known to read them.
_SHARED = word_set(
    "arch c dc dlink g G O std x t m64 v w o shared threads verbose Xcompiler Xlinker link lib E M MD "
    "MF cc cubin ptx fatbin keep code ccbin compiler-bindir run time version help dryrun device-debug "
    "debug optimize include library output-file machine Werror disable-warnings profile static"
)
_TAKES_NEXT = word_set(
    "gencode generate-code arch gpu-architecture code gpu-code maxrregcount Xptxas ptxas-options "
    "Xcudafe cudafe Xnvlink nvlink-options Xfatbin fatbin-options t threads default-stream rdc "
    "relocatable-device-code ccbin compiler-bindir cudart x std Xcompiler compiler-options Xlinker "
    "linker-options diag-suppress diag_suppress Werror ftz prec-div prec-sqrt fmad compress-mode "
    "split-compile"
)
_OF_CONTAINERS = frozenset({"--gpus", "--nv", "--nvccli"})
_ARCHITECTURE = frozenset({"arch", "gencode", "generate-code", "gpu-architecture", "code", "gpu-code"})
_ARCH_VALUE = re.compile(r"-{1,2}(?:arch|gpu-architecture)=(?:sm_|compute_|lto_)")
_LIBRARY_FILE = re.compile(r"(?:^|/)lib([A-Za-z0-9_+-]{2,60})\.(?:so|a|dylib)(?:[.\d]*)$")
_TOOLKIT = re.compile(
    r"(?:/usr/local|/opt|/usr|/usr/lib|/usr/lib64|/usr/local/lib)/(?:nvidia/)?cuda(?![A-Za-z_])"
    r"|/opt/nvidia/|/usr/local/nvidia(?![A-Za-z_])|NVIDIA GPU Computing Toolkit"
)
_TOOLKIT_VARIABLE = re.compile(
    r"\$[({]?(?:ENV\{)?(CUDA_?(?:HOME|PATH|ROOT|DIR|BIN_PATH|TOOLKIT(?:_ROOT|_PATH|_ROOT_DIR)?|INSTALL_(?:PATH|DIR)"
    r"|LIB(?:_DIR|RARY_PATH)?|INC(?:LUDE)?(?:_DIR)?))(?![A-Za-z_])"
)
_DEFINITION = re.compile(r"-D\s?([A-Za-z_]\w{0,80})(?:=(.{0,120}))?$", re.DOTALL)


def nvcc_options(
    words: Sequence[Word], frame: Frame, nvcc: bool = False, **attrs: str | bool
) -> Iterator[Evidence]:
    """nvcc options among words. ``nvcc``: it is known that nvcc reads them."""
    names = _by_bare_name(frame.vocabulary)
    found: dict[str, tuple[str, Word, int, list[str]]] = {}
    skip = -1
    for index, word in enumerate(words):
        if index == skip or not word.text.startswith("-"):
            continue
        head, _, value = word.text.partition("=")
        bare = head.lstrip("-")
        name = names.get(bare)
        if name is None or (bare in _SHARED and not nvcc and not _ARCH_VALUE.match(word.text)):
            continue
        end = word.end
        if not value and bare in _TAKES_NEXT and index + 1 < len(words):
            following = words[index + 1]
            value, end, skip = following.text, following.end, index + 1
        family = "arch" if bare in _ARCHITECTURE else bare.replace("_", "-")
        found.setdefault(family, (name, word, end, []))[3].append(value)
    for name, first, end, values in found.values():
        text = " ".join(filter(None, values))
        yield frame.evidence(
            EvidenceKind.FLAG, name, first.start, end, value=text or None, count=len(values), **attrs
        )


@lru_cache(maxsize=4)
def _bare_names(flags: frozenset[str]) -> dict[str, str]:
    return {f.lstrip("-"): f for f in sorted(flags - _OF_CONTAINERS, reverse=True) if "=" not in f}


def _by_bare_name(vocabulary: Vocabulary) -> dict[str, str]:
    return _bare_names(vocabulary.flags)


def libraries(words: Iterable[Word], frame: Frame, bare: bool = False) -> Iterator[Evidence]:
    """Libraries that are linked: ``-lcublas``, ``libcublas.so``, ``CUDA::cublas``; also plain names."""
    seen: set[str] = set()
    for word in words:
        name, target = link_name(word.text, bare)
        if not name or name in seen:
            continue
        seen.add(name)
        known = _known_library(name, target, frame.vocabulary)
        if known in frame.vocabulary.libraries or known in frame.vocabulary.watched:
            yield frame.evidence(EvidenceKind.LIBRARY, known, word.start, word.end, target=target or None)
        elif target.startswith("CUDA::"):
            yield frame.evidence(EvidenceKind.LIBRARY, target, word.start, word.end, target=target)


def _known_library(name: str, target: str, vocabulary: Vocabulary) -> str:
    """The spelling that tables have: the imported target, the plain name, or either without ``_static``."""
    for spelling in (target, name, target.removesuffix("_static"), name.removesuffix("_static")):
        if spelling and spelling in vocabulary.libraries:
            return spelling
    return name


def link_name(text: str, bare: bool = False) -> tuple[str, str]:
    """Link name of an argument and the CMake target it was written as; both empty when it is no library."""
    if text.startswith("-l") and len(text) > 2:
        text = text[2:].lstrip(":")
        bare = True
    if match := _LIBRARY_FILE.search(text[-200:]):
        return match.group(1), ""
    package, colons, target = text.partition("::")
    if colons and "::" not in target and package.isidentifier():
        return (target, text) if package in ("CUDA", "cuda") else (f"{package}::{target}", text)
    return (text, "") if bare and len(text) < 80 else ("", "")


def definitions(words: Iterable[Word], frame: Frame) -> Iterator[Evidence]:
    """Macros that a build hands to the compiler and that tables or rules know."""
    known = (frame.vocabulary.watched, frame.vocabulary.symbols)
    for word in words:
        match = _DEFINITION.match(word.text[:240])
        if match and any(match.group(1) in names for names in known):
            value = match.group(2)
            number: str | int | None = int(value) if value and value.isdecimal() and len(value) < 9 else value
            yield frame.evidence(
                EvidenceKind.DEFINE, match.group(1), word.start, word.end, value=number, origin="build"
            )


def toolkit_folder(words: Iterable[Word], frame: Frame) -> Iterator[Evidence]:
    """The first word that names a folder of the CUDA toolkit."""
    for word in words:
        if _TOOLKIT.search(word.text[:4000]):
            yield frame.evidence(
                EvidenceKind.STRING, "cuda-toolkit-path", word.start, word.end, value=word.text
            )
            return


def names_toolkit(value: str, assigned: frozenset[str] = frozenset()) -> bool:
    """Whether a value names a folder of the CUDA toolkit, as it is or by a variable set elsewhere."""
    value = value[:4000]
    if _TOOLKIT.search(value):
        return True
    variable = _TOOLKIT_VARIABLE.search(value)
    return variable is not None and variable.group(1) not in assigned
