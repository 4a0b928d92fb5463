"""Which words of a Python file can matter, and where they stand: the tree is entered only at those places."""

import re
from functools import lru_cache

from portaudit.analyze.words import word_set
from portaudit.model.evidence import Vocabulary

# One of these stands, in some case, in every file with anything to say. The usual ones first: the look ends there.
_MATTERS = tuple(
    word.encode()
    for word in "torch cuda gpu nvidia triton tensorrt onnxruntime jax tensorflow cupy numba nccl nvml nvcc rocm cudf"
    " cuml cugraph rapids rmm cutlass nvenc cuvid scale_npp nvrtc nvtx ptx sm_8 sm_9 cublas cudnn cufft warp_size taichi"
    " openmm".split(" ")
)
_TOKEN = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_SIGN = re.compile(
    rb"cuda|nvidia|nvcc|nvml|nvrtc|nvtx|nvenc|nvdec|cuvid|nvjpeg|nvshmem|nvlink|nvfp4|nccl|rocm|hip|amd|gfx\d"
    rb"|cu(?:blas|dnn|fft|rand|solver|sparse|tensor|file|pti|dss|tlass|py|tile)|tensorrt|ptx|cubin|gencode|ptxas"
    rb"|(?:^|_)(?:sm|compute)_?\d\d|capabilit|arch_list|threads_per_warp|warp_threads|num_lanes|lanes_per_warp|maxnreg|launch_pdl|warp_specialize|num_ctas|float8|fp8|e4m3|hwaccel|num_warps|warp_size|geforce"
    rb"|__global__|__device__|__shared__|threadIdx|blockIdx|(?:^|_)npp|tesla|multimem|inline_asm|CU_|aiter|[rc]dna",
    re.IGNORECASE,
)
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([^\r\n#;]{1,300})", re.MULTILINE)
_PRODUCTS = (
    "A100 A800 H100 H800 H200 H20 B200 B300 GB200 V100 P100 P40 T4 L4 L40 L40S A10 A10G A30 A40 A6000 RTX GTX"
)
# Words that say too little to enter the tree for, although tables hold names that end in them.
_PLAIN = word_set(
    "torch utils io core language runtime compiler driver version distributed random device data tests nn ops lib"
    " main config api backend model models kernels kernel common tools cluster set get run load init"
    " stream event float int bool name list type array std arch link time help code add sub min max any"
    " include profile static debug optimize library threads shared verbose keep clean print copy"
)
_METHOD = re.compile(r"(?=\w{8})[a-z][a-z0-9]*(?:_[a-z0-9]+)+_?")
_MEMO_LIMIT = 300_000


class Lexicon:
    """The words of a vocabulary, ready to look tokens up."""

    __slots__ = ("_tops", "_words", "dotted", "memo", "modules", "plain", "texts")

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.modules = vocabulary.modules
        self.dotted = frozenset(n for n in vocabulary.watched if "." in n)
        """Qualified names that rules ask for."""
        others = frozenset().union(
            *(vocabulary.libraries, vocabulary.env, vocabulary.tools, vocabulary.flags, vocabulary.packages),
            *(vocabulary.keys, vocabulary.symbols, vocabulary.device_symbols, vocabulary.headers),
            *(vocabulary.modules, vocabulary.quiet),
        )
        self.texts = vocabulary.watched - others
        """Words that rules ask for in constants."""
        self.plain = frozenset(n for n in self.texts if _METHOD.fullmatch(n))
        """Names of methods and attributes that rules ask for, whatever they belong to."""
        self._words = frozenset(self._all_words(vocabulary))
        self._tops = frozenset(n.partition(".")[0].encode() for n in vocabulary.modules)
        self.memo: dict[bytes, bool] = {}

    def _all_words(self, vocabulary: Vocabulary) -> list[bytes]:
        words: set[str] = {*_PRODUCTS.split(), *self.texts}
        words.update(name.rpartition(".")[2] for name in self.dotted)
        for name in (*vocabulary.tools, *vocabulary.flags):
            words.update(re.findall(r"[A-Za-z_]\w{3,}", name))
        words.update(name.rstrip("*") for name in vocabulary.env)
        for name in vocabulary.libraries:
            words.update((name, f"l{name}", f"lib{name}"))
        return [
            w.encode() for w in words if len(w) > 1 and w not in _PLAIN and w.isidentifier() and w.isascii()
        ]

    def learn(self, token: bytes) -> bool:
        """Whether a token is a reason to enter the tree; remembered in ``memo``."""
        if len(self.memo) > _MEMO_LIMIT:
            self.memo.clear()
        self.memo[token] = known = token in self._words or _SIGN.search(token) is not None
        return known

    def imports_known(self, names: bytes) -> bool:
        """Whether an import names a known module."""
        return any(token in self._tops for token in _TOKEN.findall(names))

    def watches(self, name: str) -> bool:
        """Whether a rule asks for a dotted name, or for its last part alone."""
        return name in self.dotted or name.rpartition(".")[2] in self.plain

    def module_of(self, name: str) -> str:
        """The longest known module that a dotted name begins with, empty when there is none."""
        while name:
            if name in self.modules:
                return name
            name = name.rpartition(".")[0]
        return ""


@lru_cache(maxsize=4)
def lexicon(vocabulary: Vocabulary) -> Lexicon:
    """The lexicon of a vocabulary."""
    return Lexicon(vocabulary)


def matters(raw: bytes) -> bool:
    """One quick look: can this file have anything to do with a GPU?"""
    lowered = raw.lower()
    return any(word in lowered for word in _MATTERS)


class Marks:
    """The places of a file where a telling word begins."""

    __slots__ = ("_at", "_named", "_raw")

    def __init__(self, raw: bytes, words: Lexicon) -> None:
        self._raw = raw
        self._at = at = bytearray(len(raw) + 1)
        self._named: set[str] = set()
        known, learn = words.memo, words.learn
        for match in _TOKEN.finditer(raw):
            token = match.group()
            telling = known.get(token)
            if telling or (telling is None and learn(token)):
                at[match.start()] = 1
        for match in _IMPORT.finditer(raw):
            if words.imports_known(match.group(1)):
                at[match.start(1)] = 1

    def between(self, start: int, end: int) -> bool:
        """Whether a telling word begins in a range."""
        return self._at.find(1, start, end) >= 0

    def add(self, name: str) -> None:
        """Marks all places of a name that the file itself gave a meaning."""
        if name in self._named or len(name) > 80 or not name.isascii() or not name.isidentifier():
            return
        self._named.add(name)
        for match in re.finditer(rb"\b%s\b" % name.encode(), self._raw):
            self._at[match.start()] = 1

    def add_pattern(self, pattern: "re.Pattern[bytes]") -> None:
        """Marks all places of a pattern."""
        for match in pattern.finditer(self._raw):
            self._at[match.start()] = 1
