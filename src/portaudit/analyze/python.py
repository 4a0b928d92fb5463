"""Python files: imports, calls by qualified name, kernel strings, ROCm guards, build scripts.

One parse by tree-sitter, one walk that enters only what holds a telling word.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from time import monotonic

import msgspec
import tree_sitter

from portaudit.analyze.base import Text
from portaudit.analyze.pyfile import PyFile
from portaudit.analyze.pymarks import Lexicon, lexicon, matters
from portaudit.analyze.pywalk import Walker
from portaudit.model.evidence import Confidence, Evidence, EvidenceKind, Guard, Vocabulary
from portaudit.model.places import Skip

_SECONDS = 2.0
_PARSE_LIMIT = 8 << 20
_CAPABILITY = "compute-capability"
_CYTHON = (".pyx", ".pxd", ".pxi")
_IMPORT_LINE = re.compile(r"^[ \t]*(?:import|from)[ \t]+([A-Za-z_][\w.]{0,120})", re.MULTILINE)
_FP8_FILE = re.compile(rb"fp8|float8|e4m3", re.IGNORECASE)
_FP8_LITERAL = re.compile(rb"(?<![\w.])448(?:\.0?)?(?![\w.])")
_OPTION_SIGNS = (
    b"nvcc",
    b"cpp_extension",
    b"extra_compile_args",
    b"RawKernel",
    b"RawModule",
    b"SourceModule",
    b"nvrtc",
    b"cuda_flags",
)
_OPTION = re.compile(rb"(?<=[\"'])-{1,2}[A-Za-z][\w-]{2,40}")
_BUILD_TAG = re.compile(rb"\+(?:cu(?:\d{2,3}\b|\{|[\"'])|[\"'])|whl/cu")


def analyze(text: Text, vocabulary: Vocabulary) -> Iterator[Evidence | Skip]:
    """Evidence of one Python or Cython file, in the order of the file."""
    raw = text.raw
    if not matters(raw):
        return
    if text.path.endswith(_CYTHON):
        from portaudit.analyze import cython

        yield from cython.analyze(text, vocabulary)
        return
    yield from read(text, raw, vocabulary)


def read(text: Text, raw: bytes, vocabulary: Vocabulary) -> Iterator[Evidence | Skip]:
    """Evidence of Python source that is known to matter."""
    words = lexicon(vocabulary)
    tree = _parsed(raw) if len(raw) <= _PARSE_LIMIT else None
    if tree is None:
        yield Skip(text.path, "syntax", "too large or too slow to parse: imports read by words alone", False)
        yield from _by_lines(text, words, set())
        return
    file, cut = _walked(text, raw, vocabulary, tree.root_node, ())
    if callees := _callees(file):
        file, cut = _walked(text, raw, vocabulary, tree.root_node, callees)
    found = [item for _, item in sorted(_judged_later(_with_callers(file)), key=lambda pair: pair[0])]
    yield from found
    if cut:
        yield Skip(text.path, "syntax", "blocks nested too deep are not read", False)
    if tree.root_node.has_error:
        told = {(item.name, item.span.line) for item in found if item.kind is EvidenceKind.IMPORT}
        yield from _by_lines(text, words, {line for _, line in told})
        yield Skip(text.path, "syntax", "the parser does not follow all of it: read as far as it goes", False)


def _walked(
    text: Text, raw: bytes, vocabulary: Vocabulary, root: tree_sitter.Node, names: Iterable[str]
) -> tuple[PyFile, bool]:
    """The file after a walk that also enters the places of ``names``; and whether it was cut short."""
    file = PyFile(text, raw, vocabulary, lexicon(vocabulary))
    if b"448" in raw and b"fnuz" not in raw and _FP8_FILE.search(raw):
        file.marks.add_pattern(_FP8_LITERAL)
    if (b"cu" in raw and b"+" in raw) or b"whl/cu" in raw:
        file.marks.add_pattern(_BUILD_TAG)
    if any(sign in raw for sign in _OPTION_SIGNS):
        file.marks.add_pattern(_OPTION)
    for name in names:
        file.track(name)
    walker = Walker(file)
    walker.run(root)
    return file, walker.cut


def _callees(file: PyFile) -> frozenset[str]:
    """Functions whose callers may all stand under a guard: worth a second walk that sees the calls."""
    if not file.knows_rocm:
        return frozenset()
    script = _is_script(file)
    bare = {
        i.scope.rpartition(".")[2]
        for _, i in file.found
        if i.scope and (i.guard is None or i.guard.side == "gate")
    }
    names = (n.rpartition(":")[2] for n in bare)
    return frozenset(n for n in names if n.isidentifier() and (script or _is_private(n)))


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _is_script(file: PyFile) -> bool:
    return file.text.path.rsplit("/", 1)[-1] == "setup.py"


@lru_cache(maxsize=1)
def _language() -> tree_sitter.Language:
    import tree_sitter_python

    return tree_sitter.Language(tree_sitter_python.language())


def _parsed(raw: bytes) -> tree_sitter.Tree | None:
    deadline = monotonic() + _SECONDS

    def late(*_state: object) -> bool:
        return monotonic() > deadline

    parser = tree_sitter.Parser(_language())
    if len(raw) < 1 << 20:
        return parser.parse(raw)
    try:
        return parser.parse(lambda offset, _point: raw[offset : offset + 65536], progress_callback=late)
    except ValueError:
        return None


def _by_lines(text: Text, words: Lexicon, told: set[int]) -> Iterator[Evidence]:
    """Import lines by their form, for what the parser could not place."""
    for match in _IMPORT_LINE.finditer(text.text):
        name = match.group(1)
        if words.module_of(name) and text.place(match.start(1))[0] not in told:
            yield text.evidence(EvidenceKind.IMPORT, name, *match.span(1), confidence=Confidence.LOW)


def _with_callers(file: PyFile) -> list[tuple[int, Evidence]]:
    """A private function, or any of a build script, that is called on CUDA only is guarded too."""
    callers: dict[str, list[tuple[str, bool]]] = {}
    for name, scope, guarded in file.calls:
        callers.setdefault(name, []).append((scope, guarded))
    script = _is_script(file)
    names = {n for n in callers if _is_private(n.rpartition(".")[2]) or script}
    safe: set[str] = set()
    for _ in range(4):
        more = {n for n in names if all(g or s.rpartition(".")[2] in safe for s, g in callers[n])}
        if more == safe:
            break
        safe = more
    if not safe:
        return file.found
    guard = Guard("cuda", "every call in this file is reached on CUDA only", 0)
    return [(at, _guarded(item, safe, guard)) for at, item in file.found]


def _judged_later(found: list[tuple[int, Evidence]]) -> list[tuple[int, Evidence]]:
    """A capability kept in a name is told where it is compared; only without such a place is it handed on."""
    judged = {
        i.scope for _, i in found if i.name == _CAPABILITY and i.attr("used_as") in (None, "arch-name", "key")
    }
    kept = []
    for at, item in found:
        if item.name == _CAPABILITY and item.attr("used_as") == "assigned":
            if item.scope in judged:
                continue
            attrs = tuple(sorted({**dict(item.attrs), "used_as": "stored"}.items()))
            item = msgspec.structs.replace(item, attrs=attrs)
        kept.append((at, item))
    return kept


def _guarded(item: Evidence, safe: set[str], guard: Guard) -> Evidence:
    kind, _, scope = item.scope.partition(":")
    if kind != "function" or scope.rpartition(".")[2] not in safe:
        return item
    if item.guard is not None and item.guard.side in ("cuda", "rocm"):
        return item
    return msgspec.structs.replace(item, guard=msgspec.structs.replace(guard, line=item.span.line))
