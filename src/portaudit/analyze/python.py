"""Python files: imports, calls by qualified name, kernel strings, ROCm guards, build scripts.

One parse by tree-sitter, one walk that enters only what holds a telling word.
"""

import re
from collections.abc import Iterator
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
_CYTHON = (".pyx", ".pxd", ".pxi")
_IMPORT_LINE = re.compile(r"^[ \t]*(?:import|from)[ \t]+([A-Za-z_][\w.]{0,120})", re.MULTILINE)
_FP8_FILE = re.compile(rb"fp8|float8|e4m3", re.IGNORECASE)
_FP8_LITERAL = re.compile(rb"(?<![\w.])448(?:\.0?)?(?![\w.])")
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
    file = PyFile(text, raw, vocabulary, words)
    if b"448" in raw and b"fnuz" not in raw and _FP8_FILE.search(raw):
        file.marks.add_pattern(_FP8_LITERAL)
    if b"cu" in raw and b"+" in raw or b"whl/cu" in raw:
        file.marks.add_pattern(_BUILD_TAG)
    walker = Walker(file)
    walker.run(tree.root_node)
    found = [item for _, item in sorted(_with_callers(file), key=lambda pair: pair[0])]
    yield from found
    if walker.cut:
        yield Skip(text.path, "syntax", "blocks nested too deep are not read", False)
    if _broken(tree.root_node):
        told = {(item.name, item.span.line) for item in found if item.kind is EvidenceKind.IMPORT}
        yield from _by_lines(text, words, {line for _, line in told})
        yield Skip(text.path, "syntax", "not valid Python: read as far as it goes", False)


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


def _broken(root: tree_sitter.Node) -> bool:
    """Whether the grammar gave up near the root, so that statements may be lost."""
    if not root.has_error:
        return False
    return root.type == "ERROR" or any(child.type == "ERROR" for child in root.children)


def _by_lines(text: Text, words: Lexicon, told: set[int]) -> Iterator[Evidence]:
    """Import lines by their form, for what the parser could not place."""
    for match in _IMPORT_LINE.finditer(text.text):
        name = match.group(1)
        if words.module_of(name) and text.place(match.start(1))[0] not in told:
            yield text.evidence(EvidenceKind.IMPORT, name, *match.span(1), confidence=Confidence.LOW)


def _with_callers(file: PyFile) -> list[tuple[int, Evidence]]:
    """Evidence of a private function, or of any in a build script, that is called on CUDA only, is guarded too."""
    callers: dict[str, list[tuple[str, bool]]] = {}
    for name, scope, guarded in file.calls:
        callers.setdefault(name, []).append((scope, guarded))
    script = file.text.path.rsplit("/", 1)[-1] == "setup.py"
    names = {n for n in callers if n.rpartition(".")[2].startswith("_") or script}
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


def _guarded(item: Evidence, safe: set[str], guard: Guard) -> Evidence:
    kind, _, scope = item.scope.partition(":")
    if kind != "function" or scope.rpartition(".")[2] not in safe:
        return item
    if item.guard is not None and item.guard.side in ("cuda", "rocm"):
        return item
    return msgspec.structs.replace(item, guard=msgspec.structs.replace(guard, line=item.span.line))
