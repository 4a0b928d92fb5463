"""What only the whole tree can tell: names that the project defines itself, macros that paste names together,
headers that map CUDA names to HIP ones."""

from collections import defaultdict, deque
from collections.abc import Iterable
from posixpath import basename, dirname, join, normpath

from portaudit.model.evidence import Evidence, EvidenceKind, Guard

_MAPPED_TO = ("hip", "HIP", "roc", "ROC", "miopen", "rccl", "amdsmi", "__hip")


class TreeFacts:
    """Facts that hold across files."""

    def __init__(self, evidence: Iterable[Evidence], paths: Iterable[str] = ()) -> None:
        self.own: set[str] = set()
        """CUDA-looking names that the tree itself defines."""
        self.namespaces: set[str] = set()
        """CUDA's namespaces that the tree opens itself: a vendored copy, or its own code."""
        self.paths = frozenset(paths)
        self._packages = _packages(self.paths)
        self._pasting: dict[str, str] = {}
        self._given: dict[str, set[str]] = defaultdict(set)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in self.paths:
            self._by_name[basename(path)].append(path)
        self.includes: dict[str, list[Evidence]] = defaultdict(list)
        for_hip: set[str] = set()
        macros: list[Evidence] = []
        for item in evidence:
            if item.kind is EvidenceKind.DEFINE:
                self._define(item, macros)
            elif item.kind is EvidenceKind.INCLUDE:
                if item.attr("local"):
                    self.includes[item.span.path].append(item)
                if item.name.startswith("hip/") and (item.guard is None or item.guard.side == "rocm"):
                    for_hip.add(item.span.path)
        for item in macros:
            # A macro with a name of CUDA's, in a header for HIP or in a branch for it, is a mapping.
            if item.span.path in for_hip or (item.guard is not None and item.guard.side == "rocm"):
                self._given[item.span.path].add(item.name)
        self._seen_in = self._reach() if self._given else {}

    def _define(self, item: Evidence, macros: list[Evidence]) -> None:
        form = item.attr("form")
        if form == "namespace":
            self.namespaces.add(item.name)
            return
        value = item.attr("value")
        if form == "function":
            self._given[item.span.path].add(item.name)
        elif form == "macro" and isinstance(value, str):
            if value.startswith(_MAPPED_TO):
                self._given[item.span.path].add(item.name)
            else:
                macros.append(item)
        pasted = item.attr("pastes")
        if isinstance(pasted, str):
            self._pasting[item.name] = pasted
        self.own.add(item.name)

    def _reach(self) -> dict[str, set[str]]:
        """Path -> names that the file or some header it includes, directly or not, gives a meaning. Cycles
        end."""
        reverse = self.includers()
        seen_in: dict[str, set[str]] = defaultdict(set)
        for header, given in self._given.items():
            pending, seen = deque([header]), {header}
            while pending:
                path = pending.popleft()
                seen_in[path] |= given
                fresh = reverse.get(path, set()) - seen
                seen |= fresh
                pending.extend(fresh)
        return seen_in

    def includers(self) -> dict[str, set[str]]:
        """Path of a header -> files that include it directly."""
        reverse: dict[str, set[str]] = defaultdict(set)
        for path, items in self.includes.items():
            for item in items:
                for target in self.resolve(path, item.name):
                    reverse[target].add(path)
        return reverse

    def resolve(self, path: str, name: str) -> list[str]:
        """Files of the tree that an include may mean: the one beside, else all whose path ends like it."""
        candidates = self._by_name.get(basename(name), [])
        beside = normpath(join(dirname(path), name))
        if beside in self.paths:
            return [beside]
        tail = normpath(name).lstrip("./")
        return [c for c in candidates if c == tail or c.endswith("/" + tail)]

    def gives(self, path: str, name: str) -> bool:
        """Whether the tree itself gives a name its meaning for a file: by a macro for HIP, or as a
        function."""
        names = self._seen_in.get(path)
        return names is not None and name in names

    def is_package(self, module: str) -> bool:
        """Whether the tree itself is, or holds, the Python package of a module."""
        return module.partition(".")[0] in self._packages

    def pastes(self, macro: str, prefix: str) -> bool:
        """Whether a macro of the tree puts ``prefix`` before its argument."""
        return self._pasting.get(macro) == prefix


def _packages(paths: frozenset[str]) -> frozenset[str]:
    """Names of the outermost Python packages: folders with an ``__init__.py`` below one without."""
    folders = {dirname(path) for path in paths if basename(path) == "__init__.py"}
    return frozenset(basename(folder) for folder in folders if dirname(folder) not in folders and folder)


OWN_GUARD = Guard("rocm", "this tree gives the name a meaning of its own", 0)
