"""Variables that a file sets: known ones, and others whose value speaks of a vendor."""

import re
from collections.abc import Iterator

from portaudit.analyze import containers, flags
from portaudit.analyze.cmakeoptions import cache_options
from portaudit.analyze.indexes import urls
from portaudit.analyze.words import Frame, Word, is_watched_env
from portaudit.model.evidence import Evidence, EvidenceKind

_SEARCH_PATHS = frozenset(
    {"PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LD_PRELOAD"}
    | {"LDFLAGS", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH", "CMAKE_ARGS"}
)
_LOOKS_LIKE_IMAGE = re.compile(
    r"(?:nvcr\.io/|[a-z0-9.-]{2,60}/)[^\s:]{0,200}(?:cuda|nvidia|nvcr|:)[^\s]{0,100}$"
)


def variable(name: str, value: str, word: Word, frame: Frame, **attrs: str | bool) -> Iterator[Evidence]:
    """Evidence for a variable that is set, where its name or its value speaks of a vendor."""
    known = is_watched_env(name, frame.vocabulary) and name not in _SEARCH_PATHS
    if known or (name in _SEARCH_PATHS and flags.names_toolkit(value, frame.assigned)):
        yield frame.evidence(
            EvidenceKind.ENV, name, word.start, word.end, write=True, value=value.strip("\"'"), **attrs
        )
    elif flags.names_toolkit(value, frame.assigned):
        inner = Word(value, word.start, word.end)
        yield from flags.toolkit_folder([inner], frame)
    pieces = [Word(piece, word.start, word.end) for piece in value.split()] if "-" in value else []
    yield from cache_options(pieces, frame)
    if not known:
        yield from flags.nvcc_options(pieces, frame)
        yield from flags.libraries((p for p in pieces if p.text.startswith("-l")), frame)
    if "://" in value:
        yield from urls(value, max(word.start, word.end - len(value)), frame, "variable")
    elif not known and _LOOKS_LIKE_IMAGE.match(value):
        yield from containers.image(value, word.start, word.end, frame, argument=name)
