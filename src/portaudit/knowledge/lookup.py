"""Names as people and files write them -> the name that a table has: aliases, globs, prefixes, spellings."""

import re
from collections.abc import Container, Iterable, Iterator

_TWIN = re.compile(r"_(?:ptds|ptsz)$")
_NUMBERED = re.compile(r"_v\d+(?=_64$|$)")
_SEPARATORS = re.compile(r"[-_.]+")
_CUDA_SUFFIX = re.compile(r"-cu(?:da)?-?\d+x?$")
_REGISTRIES = (
    "docker.io/library/",
    "docker.io/",
    "index.docker.io/",
    "registry-1.docker.io/",
    "registry.hub.docker.com/",
)


class Globs:
    """Patterns with ``*``, the most exact one first. Matching is linear in the length of the name."""

    def __init__(self, patterns: Iterable[str]) -> None:
        ordered = sorted(patterns, key=lambda p: (-len(p.replace("*", "")), p))
        self._patterns = [(pattern, pattern.split("*")) for pattern in ordered]

    def first(self, name: str) -> str | None:
        """The most exact pattern that a name fits."""
        for pattern, parts in self._patterns:
            if _fits(name, parts):
                return pattern
        return None


def _fits(name: str, parts: list[str]) -> bool:
    head, tail = parts[0], parts[-1]
    if len(name) < len(head) + len(tail) or not name.startswith(head) or not name.endswith(tail):
        return False
    at, end = len(head), len(name) - len(tail)
    for part in parts[1:-1]:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def api_names(name: str) -> Iterator[str]:
    """A C or C++ name and what it is an alias of, nearest first."""
    name = name.removeprefix("::")
    yield name
    plain = _TWIN.sub("", name)
    if plain != name:
        yield plain
    base = _NUMBERED.sub("", plain)
    if base != plain:
        yield base
    else:
        # A header may rename the plain name to the numbered one: cublasSgemm, cublasSgemm_v2.
        yield f"{plain}_v2"
    if "::" in plain:
        parts = plain.split("::")
        for count in range(len(parts) - 1, 1, -1):
            yield "::".join(parts[:count])


def package_names(name: str) -> Iterator[str]:
    """A distribution name in normal form, and the same project built for another CUDA release."""
    head, bracket, extra = name.strip().partition("[")
    space, colon, bare = head.partition(":")
    if colon:
        yield f"{space}:{bare.lower()}"
        return
    head = _SEPARATORS.sub("-", head).lower()
    yield head + bracket + extra
    if bracket:
        yield head
    base = _CUDA_SUFFIX.sub("", head)
    if base != head:
        yield from (base + suffix for suffix in ("-cu13", "-cu12", "-cuda13x", "-cuda12x", "-cu11", ""))


def image_names(name: str) -> Iterator[str]:
    """An image reference with and without Docker Hub's own prefix, without digest."""
    bare = name.strip().partition("@")[0]
    for prefix in _REGISTRIES:
        if bare.startswith(prefix):
            bare = bare[len(prefix) :]
            break
    yield bare


def module_names(name: str) -> Iterator[str]:
    """A dotted module name and its parents."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        yield ".".join(parts[:count])


def library_names(name: str) -> Iterator[str]:
    """A link name, soname or CMake target without what build systems add."""
    yield name
    bare = re.sub(
        r"(?<=[\w+-])\.(?:so|a|dll|lib|dylib)(?:[.\d]*)$", "", name.removeprefix("-l").rpartition("/")[2]
    )
    bare = bare.removesuffix("_static")
    yield bare
    if bare.startswith("lib"):
        yield bare[3:]


def near(name: str, names: Iterable[str], limit: int, known: Container[str] = ()) -> list[str]:
    """The nearest spellings of a name. Shared pairs of letters keep the list to compare short."""
    import difflib

    wanted = name.lower()
    pairs = {wanted[i : i + 2] for i in range(len(wanted) - 1)}
    slack = max(3, len(wanted) // 4)
    scored: list[tuple[int, int, str]] = []
    for other in names:
        if abs(len(other) - len(wanted)) > slack or other in known:
            continue
        lower = other.lower()
        shared = sum(pair in lower for pair in pairs)
        if shared * 2 >= len(pairs):
            scored.append((-shared, abs(len(other) - len(wanted)), other))
    scored.sort()
    by_lower = {other.lower(): other for _, _, other in reversed(scored[:120])}
    return [by_lower[n] for n in difflib.get_close_matches(wanted, by_lower, limit, 0.7)]
