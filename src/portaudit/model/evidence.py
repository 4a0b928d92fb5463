"""What a file says, before anybody judges it."""

from enum import Enum

import msgspec

from portaudit.model.places import Skip, Span

AttrValue = str | int | bool


class Confidence(str, Enum):
    """How sure a statement is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """0 for low, 2 for high."""
        return ("low", "medium", "high").index(self.value)


class EvidenceKind(str, Enum):
    """What sort of thing was seen; the first column says which table it is looked up in."""

    CALL = "call"
    NAME = "name"
    UNKNOWN = "unknown"
    INCLUDE = "include"
    LAUNCH = "launch"
    KERNEL = "kernel"
    ASM = "asm"
    DEFINE = "define"
    CONDITION = "condition"
    PATTERN = "pattern"
    IMPORT = "import"
    ATTRIBUTE = "attribute"
    STRING = "string"
    PACKAGE = "package"
    INDEX = "index"
    IMAGE = "image"
    FLAG = "flag"
    ENV = "env"
    TOOL = "tool"
    LIBRARY = "library"
    KEY = "key"
    COMMAND = "command"


class Guard(msgspec.Struct, frozen=True, gc=False):
    """The condition under which a place is reached."""

    side: str
    """``cuda``: never reached in a ROCm build; ``rocm``: only there; ``gate``: only CUDA macros decide, so
    the code vanishes on ROCm without a word; ``optional``: a missing module is caught; ``unknown``:
    something else."""
    text: str
    line: int
    """Line of the test in the same file."""


class Evidence(msgspec.Struct, frozen=True, gc=False):
    """One thing that a file says."""

    kind: EvidenceKind
    name: str
    """The key for tables and rules: symbol, header, opcode, package, image, variable, pattern slug."""
    span: Span
    attrs: tuple[tuple[str, AttrValue], ...] = ()
    """Sorted by name."""
    guard: Guard | None = None
    scope: str = ""
    """``device:NAME``, ``kernel:NAME``, ``host:NAME``, ``function:NAME`` (Python), ``service:NAME``, or
    empty."""
    line_text: str = ""
    """The first line of the span, without its line end."""
    confidence: Confidence = Confidence.HIGH

    def attr(self, name: str) -> AttrValue | None:
        """The value of an attribute, None when it is not there."""
        for key, value in self.attrs:
            if key == name:
                return value
        return None


class Vocabulary(msgspec.Struct, frozen=True):
    """The names that analyzers look for. Made from rules/, the same for every target."""

    digest: str
    """sha256 of rules/, so that workers and caches notice another rule set."""
    symbols: frozenset[str]
    """C and C++ names without namespace that deserve evidence wherever they stand in code."""
    device_symbols: frozenset[str]
    """Names so ordinary that they count in device code only (``norm3df``, ``clock``)."""
    qualified: frozenset[str]
    """C++ names with namespace, e.g. ``cub::BlockReduce``."""
    quiet: frozenset[str]
    """Known names that are the same on ROCm: never unknown, never evidence."""
    headers: frozenset[str]
    modules: frozenset[str]
    """Python import names, dotted, e.g. ``cupy``, ``cuda.bindings``."""
    packages: frozenset[str]
    """Normalised distribution names (PEP 503)."""
    tools: frozenset[str]
    env: frozenset[str]
    """Environment variables; a trailing ``*`` is a prefix."""
    libraries: frozenset[str]
    """Shared libraries and link names without ``lib``, ``-l`` and version: ``cudart``, ``nvinfer``."""
    flags: frozenset[str]
    """Compiler options of nvcc, without values."""
    keys: frozenset[str]
    """Keys and values of deployment files that name the vendor, e.g. ``nvidia.com/gpu``."""
    watched: frozenset[str]
    """Further names that semantic rules ask for."""


class Reading(msgspec.Struct, frozen=True, gc=False):
    """What one file gave."""

    path: str
    lines: int
    evidence: tuple[Evidence, ...]
    skips: tuple[Skip, ...] = ()
    """Not empty when the file, or a part of it, was not understood."""
    read: bool = True
    """False when the file was not opened or gave nothing because of an error."""
