"""What only the whole tree can tell: names that the project defines itself, macros that paste names together,
headers that map CUDA names to HIP ones."""

from collections import defaultdict, deque
from collections.abc import Iterable
from posixpath import basename, dirname, join, normpath

from portaudit.model.evidence import Evidence, EvidenceKind, Guard

_MAPPED_TO = ("hip", "HIP", "roc", "ROC", "miopen", "rccl", "amdsmi", "__hip")


class TreeFacts:
    """Facts that hold across files."""

    def __init__(self, evidence: Iterable[Evidence]) -> None:
        self.own: set[str] = set()
        """CUDA-looking names that the tree itself defines."""
        self.namespaces: set[str] = set()
        """CUDA's namespaces that the tree opens itself: a vendored copy, or its own code."""
        self._pasting: dict[str, str] = {}
        self._mapping: dict[str, set[str]] = defaultdict(set)
        includes: dict[str, list[str]] = defaultdict(list)
        for item in evidence:
            if item.kind is EvidenceKind.DEFINE:
                self._define(item)
            elif item.kind is EvidenceKind.INCLUDE and item.attr("local"):
                includes[item.span.path].append(item.name)
        self._mapped_in = self._reach(includes) if self._mapping else {}

    def _define(self, item: Evidence) -> None:
        form = item.attr("form")
        if form == "namespace":
            self.namespaces.add(item.name)
            return
        value = item.attr("value")
        if form == "macro" and isinstance(value, str) and value.startswith(_MAPPED_TO):
            self._mapping[item.span.path].add(item.name)
        pasted = item.attr("pastes")
        if isinstance(pasted, str):
            self._pasting[item.name] = pasted
        self.own.add(item.name)

    def _reach(self, includes: dict[str, list[str]]) -> dict[str, set[str]]:
        """Path -> names that some header it includes, directly or not, maps to HIP. Cycles end."""
        by_name: dict[str, list[str]] = defaultdict(list)
        for path in {*includes, *self._mapping}:
            by_name[basename(path)].append(path)
        reverse: dict[str, set[str]] = defaultdict(set)
        for path, names in includes.items():
            for name in names:
                for target in _resolve(path, name, by_name):
                    reverse[target].add(path)
        mapped: dict[str, set[str]] = defaultdict(set)
        for header, given in self._mapping.items():
            pending, seen = deque([header]), {header}
            while pending:
                path = pending.popleft()
                mapped[path] |= given
                fresh = reverse[path] - seen
                seen |= fresh
                pending.extend(fresh)
        return mapped

    def maps(self, item: Evidence) -> bool:
        """Whether a header that this file includes turns the name into a HIP one."""
        names = self._mapped_in.get(item.span.path)
        return names is not None and item.name in names

    def pastes(self, macro: str, prefix: str) -> bool:
        """Whether a macro of the tree puts ``prefix`` before its argument."""
        return self._pasting.get(macro) == prefix


def _resolve(path: str, name: str, by_name: dict[str, list[str]]) -> list[str]:
    """Files of the tree that an include may mean: the one beside, else all whose path ends like it."""
    candidates = by_name.get(basename(name), [])
    beside = normpath(join(dirname(path), name))
    if beside in candidates:
        return [beside]
    tail = normpath(name).lstrip("./")
    return [c for c in candidates if c == tail or c.endswith("/" + tail)]


COMPAT_GUARD = Guard("rocm", "mapped to HIP by a header of this tree", 0)
