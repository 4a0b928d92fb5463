"""The state of one Python file while it is read: text, names, marks, and the evidence found so far."""

import re
from collections.abc import Mapping

from tree_sitter import Node

from portaudit.analyze.base import Text
from portaudit.analyze.pymarks import Lexicon, Marks
from portaudit.analyze.pysources import is_source_name
from portaudit.analyze.pyvalues import CUDA, PLAIN, ROCM, Binding, Names, Place, Truths, Value
from portaudit.model.evidence import AttrValue, Confidence, Evidence, EvidenceKind, Guard, Vocabulary

_ROCM_WORDS = (
    "rocm",
    "version.hip",
    "is_hip",
    "hipcc",
    "gfx9",
    "gfx1",
    "amdhip64",
    "current_platform.is_cuda",
)
_TRACKED_LIMIT = 400
_VALUE_LIMIT = 160
_COUNTERPART = {
    "product": re.compile(r"\bMI\d{2,3}[A-Z]?\b|Radeon|Instinct|gfx\d|\bAMD\b"),
    "tool": re.compile(
        r"rocm[-_]smi|amd[-_]smi|rocminfo|hipcc|hipconfig|rocprof|rocgdb|rocm_agent_enumerator"
    ),
    "library": re.compile(
        r"amdhip64|librocm|hipblas|rocblas|miopen|librccl|hiprtc|hipfft|rocfft|amd_comgr|hsa-runtime64"
    ),
    "provider": re.compile(r"ROCMExecutionProvider|MIGraphXExecutionProvider"),
    "codec": re.compile(r"_amf\b|vaapi|\bamf\b"),
    "error": re.compile(r"HIP out of memory|HIP error|hipError|HIPBLAS_STATUS|miopenStatus|MIOpen Error"),
    "module": re.compile(r"\bamdsmi\b|\bimport hip\b|\bfrom hip\b|pyhip|migraphx|rocm_smi|pyrsmi"),
}
_COUNTERPART_WORDS = {
    "product": ("mi2", "mi3", "mi5", "radeon", "instinct", "gfx", "amd"),
    "tool": ("rocm", "amd-smi", "amd_smi", "hipc", "rocp", "rocg"),
    "library": ("amd", "rocm", "hip", "roc", "miopen", "rccl", "hsa"),
    "provider": ("rocmexec", "migraphx"),
    "codec": ("amf", "vaapi"),
    "error": ("hip", "miopen"),
    "module": ("amdsmi", "hip", "migraphx", "rocm_smi", "pyrsmi"),
}
_BESIDE = "beside its ROCm counterpart"
_PAIRED = re.compile(
    r"(\w+)(?:\[[^\]\n]{0,40}\])?(?:\.(?:lower|upper)\(\))?\s*(?:==|!=|in)\s*[\[({]?\s*[\"'](?:rocm|hip|amd|amdgpu)[\"']",
    re.IGNORECASE,
)
_FOLLOWED = frozenset(
    {
        "capability",
        "device-name",
        "arch",
        "arch-list",
        "cuda-version",
        "cuda-number",
        "cudnn-version",
        "toolkit-home",
        "handle",
        "properties",
    }
)

Attrs = dict[str, AttrValue]


class PyFile:
    """One file being read."""

    def __init__(self, text: Text, raw: bytes, vocabulary: Vocabulary, words: Lexicon) -> None:
        self.text = text
        self.source = text.text
        self.raw = raw
        self.vocabulary = vocabulary
        self.words = words
        self.marks = Marks(raw, words)
        self.found: list[tuple[int, Evidence]] = []
        self.names = Names()
        self.members: dict[str, Binding] = {}
        """What ``self.NAME`` and ``cls.NAME`` stand for, all classes of the file together."""
        self.methods: dict[str, Node] = {}
        self._lowered = lowered = text.text.lower()
        self.knows_rocm = any(word in lowered for word in _ROCM_WORDS)
        """Whether the file speaks of ROCm at all: then a test of CUDA alone is a deliberate switch."""
        self.calls: list[tuple[str, str, bool]] = []
        """Local functions called: name, calling scope, whether the place is reached on CUDA only."""
        self.told: set[tuple[str, str]] = set()
        """What is told once a function: name and scope."""
        self.memo: dict[tuple[int, int], object] = {}
        self.budget = 3_000_000
        """Expressions that may still be resolved: a bound on the work that a hostile file can ask for."""
        self._tracked = 0
        self._beside: dict[tuple[int, int, str], bool] = {}
        self._anywhere: dict[str, bool] = {}
        self._paired: frozenset[str] | None = None

    def slice(self, node: Node) -> str:
        """The source of a node."""
        return self.source[node.start_byte : node.end_byte]

    def marked(self, node: Node) -> bool:
        """Whether a telling word begins inside a node."""
        return self.marks.between(node.start_byte, node.end_byte)

    def bind(self, name: str, value: Value, place: Place, names: Names | None = None) -> None:
        """Gives a name a value, and marks its uses when they will tell something."""
        (names or place.names).bind(name, value, place.reach)
        self._follow(name, value)

    def bind_member(self, name: str, value: Value, place: Place) -> None:
        """Gives ``self.NAME`` a value."""
        scratch = Names()
        old = self.members.get(name)
        if old is not None:
            scratch.bind(name, old.rocm, (True, True, True))
        scratch.bind(name, value, place.reach)
        bound = scratch.own(name)
        if bound is not None:
            self.members[name] = bound
        self._follow(name, value)

    def _follow(self, name: str, value: Value) -> None:
        if (
            value.tag in _FOLLOWED
            or value.truth[ROCM] != value.truth[CUDA]
            or (value.known and self._asked_for(value.name))
            or (value.text is not None and self._is_tool(value.text))
        ):
            self.track(name)
        if value.known and value.name in self.words.members and name != value.name.rpartition(".")[2]:
            for member in self.words.members[value.name]:
                self.marks.add_member(name, member)

    def _is_tool(self, text: str) -> bool:
        return text.rsplit("/", 1)[-1].partition(" ")[0] in self.vocabulary.tools

    def track(self, name: str) -> None:
        """Marks all places of a name; there is a bound on how many."""
        if self._tracked < _TRACKED_LIMIT:
            self._tracked += 1
            self.marks.add(name)

    def _asked_for(self, name: str) -> bool:
        return self.words.watches(name) or is_source_name(name)

    def guard(self, place: Place) -> Guard | None:
        """The guard of a place."""
        rocm, cuda, plain = (place.reach[v] for v in (ROCM, CUDA, PLAIN))
        if plain is False or (rocm is False and self.knows_rocm):
            return Guard("cuda", place.cause[:_VALUE_LIMIT], place.cause_line)
        if cuda is False:
            return Guard("rocm", place.cause[:_VALUE_LIMIT], place.cause_line)
        if rocm is False:
            return Guard("gate", place.cause[:_VALUE_LIMIT], place.cause_line)
        if place.caught:
            return Guard("optional", place.caught[:_VALUE_LIMIT], place.caught_line)
        return None

    def add(
        self,
        kind: EvidenceKind,
        name: str,
        span: Node | tuple[int, int],
        place: Place,
        attrs: Mapping[str, AttrValue | None] | None = None,
        confidence: Confidence = Confidence.HIGH,
        guard: Guard | None = None,
    ) -> None:
        """One piece of evidence; attributes that are None are left out."""
        if place.dead or not name:
            return
        start, end = span if isinstance(span, tuple) else (span.start_byte, span.end_byte)
        kept = {
            k: v[:_VALUE_LIMIT] if isinstance(v, str) else v
            for k, v in (attrs or {}).items()
            if v is not None
        }
        scope = f"function:{place.scope}" if place.scope else ""
        if not self.text.certain:
            confidence = Confidence.LOW
        item = self.text.evidence(
            kind,
            name,
            start,
            end,
            attrs=kept,
            guard=guard or self.guard(place),
            scope=scope,
            confidence=confidence,
        )
        self.found.append((start, item))

    def paired(self, name: str) -> bool:
        """Whether the file elsewhere compares the same name with a word for ROCm."""
        if self._paired is None:
            self._paired = frozenset(_PAIRED.findall(self.source)) if self.knows_rocm else frozenset()
        return name in self._paired

    def beside(self, place: Place, what: str) -> Guard | None:
        """A guard when the same function, or statement at module level, names the ROCm counterpart too."""
        start, end = place.extent
        key = (start, end, what)
        if self._anywhere.get(what) is None:
            quick = any(word in self._lowered for word in _COUNTERPART_WORDS[what])
            self._anywhere[what] = quick and _COUNTERPART[what].search(self.source) is not None
        if not self._anywhere[what]:
            return None
        if key not in self._beside:
            self._beside[key] = _COUNTERPART[what].search(self.source, start, end) is not None
        return Guard("cuda", _BESIDE, self.text.place(start)[0]) if self._beside[key] else None

    def add_foreign(self, item: Evidence, offset: int) -> None:
        """Evidence that another analyzer made of a part of this file."""
        self.found.append((offset, item))


def view_of(reach: Truths) -> int:
    """The view to read names in at a place: the CUDA one only where ROCm never comes."""
    return CUDA if reach[ROCM] is False else ROCM
