"""Which names analyzers look for, sorted by how sure it is that a name means CUDA when it is met in code."""

import re
from collections.abc import Container, Iterable, Mapping

from portaudit.knowledge.support import is_bound, numbers
from portaudit.model.facts import Fact, Rule

# Spellings that only CUDA and its libraries use. Everything else is an ordinary word somewhere.
_VENDOR = re.compile(
    r"^(?:_*(?:cu|CU)(?:[A-Z_]|da|DA|blas|BLAS|dnn|DNN|fft|FFT|rand|RAND|sparse|SPARSE|solver|SOLVER|tensor|TENSOR|pti"
    r"|PTI|file|FILE|dss|DSS|vid|state|STATE|net|VID|[a-z]\w+_st$)|_*nv|_*NV|_*Nv|nccl|NCCL|npp|NPP|Npp|optix|Optix|OPTIX|cupti|make_cu"
    r"|sanitizer|Sanitizer|SANITIZER|__|bsr|csr|gesvdj|syevj|atomic\w+_(?:block|system)$|NVENC|initLibNv|createInfer"
    r"|REGISTER_TENSORRT|(?:make_)?(?:u?long(?:long)?4|double4)_(?:16|32)a$|NvOF)"
)
# Macros and functions of the C library that bear the same names.
_LIBC = re.compile(r"^__(?:finite|isinf|isnan|signbit)[fl]?$|^__(?:trap|assert_fail|assertfail)$|^_(?!_)")
_WATCHED_KINDS = frozenset(
    [
        "call",
        "name",
        "import",
        "attribute",
        "string",
        "env",
        "library",
        "flag",
        "key",
        "tool",
        "define",
        "condition",
        "package",
        "include",
        "image",
    ]
)
_OF_CODE = frozenset({"call", "name", "attribute"})
_SINCE_RECENT = (6, 0)
_DEVICE = frozenset(["device", "runtime", "curand", "wmma", "cooperative_groups"])
_ORDINARY = frozenset(["nvblas", "cufftw"])
"""Libraries with the names of other libraries: a call of theirs can't be told from one of the original."""


def group(fact: Fact, policies: Mapping[str, Fact]) -> str:
    """``qualified``, ``symbols``, ``device``, ``quiet`` or ``other`` for a fact about the API."""
    name = fact.name
    if "*" in name:
        return "other"
    if fact.equivalent == name and not _needs_ruling(fact, policies):
        if name.startswith(("tex", "surf", "clock")) and fact.kind == "device_function":
            return "device"
        return "quiet"
    if "::" in name:
        return "qualified"
    if fact.library in _ORDINARY:
        return "other"
    if _VENDOR.match(name) and not _LIBC.match(name):
        return "symbols"
    if fact.library in _DEVICE and fact.kind not in ("macro", "enum_value"):
        return "device"
    if fact.library in ("optix", "nvenc", "nvdec", "tensorrt", "nvof"):
        return "symbols"
    return "other"


def _needs_ruling(fact: Fact, policies: Mapping[str, Fact]) -> bool:
    """Whether a name that ROCm spells alike still depends on the target or the call."""
    recent = not is_bound(fact.since) and numbers(fact.since) >= _SINCE_RECENT
    late_bound = is_bound(fact.since) and numbers(fact.since) >= (10,)
    policy = policies.get(fact.library)
    strict = policy is not None and policy.verdict is not None
    return bool(
        fact.status != "mapped" or fact.args or fact.verdict is not None or recent or late_bound or strict
    )


def watched(rules: Iterable[Rule], tabled: Container[str]) -> tuple[set[str], set[str]]:
    """Names that semantic rules ask for by exact spelling: without namespace, and those of code with one.

    Names of tools, variables and libraries that tables have anyway are left out: ``cuda`` is a library
    on a link line, but an ordinary word in code.
    """
    plain: set[str] = set()
    qualified: set[str] = set()
    for rule in rules:
        when = rule.when
        if when is None:
            continue
        names: set[str] = set(when.near) | set(when.near_function) | set(when.not_near)
        if _WATCHED_KINDS & set(when.kind):
            names |= set(when.name)
        for name in names:
            if "*" in name or "?" in name:
                continue
            if _OF_CODE & set(when.kind):
                (qualified if "::" in name else plain).add(name)
            elif name not in tabled:
                plain.add(name)
    return plain, qualified
