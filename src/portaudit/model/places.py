"""Where things are: files, spans inside them, and files that were not read."""

from enum import Enum

import msgspec


class Kind(str, Enum):
    """What a file is; decided once, by ``discover.classify``."""

    CUDA = "cuda"
    CXX = "cxx"
    HIP = "hip"
    PTX = "ptx"
    PYTHON = "python"
    CYTHON = "cython"
    NOTEBOOK = "notebook"
    CMAKE = "cmake"
    MAKE = "make"
    SHELL = "shell"
    DOCKERFILE = "dockerfile"
    YAML = "yaml"
    REQUIREMENTS = "requirements"
    PYPROJECT = "pyproject"
    SETUP_CFG = "setup-cfg"
    CONDA = "conda"
    LOCK = "lock"
    OTHER = "other"


class Source(msgspec.Struct, frozen=True, gc=False):
    """One file of the scanned tree."""

    path: str
    """POSIX, relative to the scanned root."""
    kind: Kind
    size: int
    """Bytes."""
    raw: str = ""
    """The name to open it by, where the real one is not valid UTF-8 and ``path`` only shows it."""


class Span(msgspec.Struct, frozen=True, gc=False):
    """A range of characters in a file. Lines and columns start at 1, ends are exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None = None
    """Index of the notebook cell, notebooks only."""


class Skip(msgspec.Struct, frozen=True, gc=False):
    """A file, or a part of one, that was not read or not understood."""

    path: str
    reason: str
    """too-large, not-text, syntax, unreadable, crashed, too-slow, unsupported, link-outside, special-file."""
    detail: str = ""
    whole: bool = True
    """False when the file was read all the same, by a lexical second try."""
