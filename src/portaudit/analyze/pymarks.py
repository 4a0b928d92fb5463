"""Which words of a Python file can matter, and where they stand: the tree is entered only at those places."""

import re
from collections.abc import Iterator
from functools import lru_cache

from portaudit.model.evidence import Vocabulary

# One of these stands, in some case, in every file with anything to say. The usual ones come first.
_MATTERS = tuple(
    word.encode()
    for words in (
        "torch cuda gpu nvidia triton tensorrt onnxruntime jax tensorflow cupy numba nccl nvml nvcc rocm",
        "cudf cuml cugraph rapids rmm cutlass nvenc cuvid scale_npp nvrtc nvtx ptx sm_8 sm_9 cublas cudnn",
        "cufft warp_size taichi openmm hwaccel",
    )
    for word in words.split()
)
_TOKEN = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_SIGN = re.compile(
    rb"cuda|nvidia|nvcc|nvml|nvrtc|nvtx|nvenc|nvdec|cuvid|nvjpeg|nvshmem|nvlink|nvfp4|nccl|rocm|hip|amd|gfx\d"
    rb"|cu(?:blas|dnn|fft|rand|solver|sparse|tensor|file|pti|dss|tlass|py|tile)|tensorrt|ptx|cubin|gencode|ptxas"
    rb"|(?:^|_)(?:sm|compute)_?\d\d|capabilit|arch_list|get_device_(?:name|properties)|inline_asm|multimem"
    rb"|threads_per_warp|warp_threads|num_lanes|lanes_per_warp|num_warps|warp_size|maxnreg|launch_pdl|num_ctas"
    rb"|warp_specialize|gpuengine|float8|fp8|e4m3|hwaccel|geforce|tesla|(?:^|_)npp|CU_|aiter|[rc]dna"
    rb"|__global__|__device__|__shared__|threadIdx|blockIdx",
    re.IGNORECASE,
)
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([^\r\n#;]{1,300})", re.MULTILINE)
_PRODUCTS = (
    "A100 A800 H100 H800 H200 H20 B200 B300 GB200 V100 P100 P40 T4 L4 L40 L40S A10 A10G A30 A40 A6000 RTX GTX"
)
_METHOD = re.compile(r"(?=\w{8})[a-z][a-z0-9]*(?:_[a-z0-9]+)+_?")
_WORD_BYTES = frozenset(bytes([b]) for b in range(128) if chr(b).isalnum() or chr(b) == "_")
_MEMO_LIMIT = 300_000
Telling = bool | tuple[bytes, ...]
# device="cuda" and .to("cuda") are everywhere and say nothing.
_AS_ARGUMENT: tuple[bytes, ...] = (b"cuda",)
_COMMON = frozenset(
    {
        "compute",
        "all_reduce_perf",
        "PATH",
        "CFLAGS",
        "CXXFLAGS",
        "docker",
        "cuda",
        "jax",
        "tao",
        "raft",
        "dali",
    }
)


class Lexicon:
    """The words of a vocabulary, ready to look tokens up."""

    __slots__ = ("_parents", "_tops", "_words", "dotted", "members", "memo", "modules", "plain", "texts")

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
        self.members: dict[str, tuple[str, ...]] = {}
        """Last parts of the qualified names, by what stands before them."""
        for name in sorted(self.dotted):
            owner, _, last = name.rpartition(".")
            self.members[owner] = (*self.members.get(owner, ()), last)
        self._words = frozenset(_all_words(vocabulary, self.texts))
        self._parents = _parents(self.members)
        self._tops = frozenset(n.partition(".")[0].encode() for n in vocabulary.modules)
        self.memo: dict[bytes, Telling] = {}

    def learn(self, token: bytes) -> "Telling":
        """Whether a token is a reason to enter the tree; remembered in ``memo``."""
        if len(self.memo) > _MEMO_LIMIT:
            self.memo.clear()
        known: Telling = token in self._words or _SIGN.search(token) is not None
        if token == b"cuda":
            known = _AS_ARGUMENT
        elif not known:
            known = self._parents.get(token, False)
        self.memo[token] = known
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


def _all_words(vocabulary: Vocabulary, texts: frozenset[str]) -> Iterator[bytes]:
    """Words that are a reason to look wherever they stand."""
    words: set[str] = {*_PRODUCTS.split(), *(name.rstrip("*") for name in vocabulary.env)}
    words.update(w for w in texts if not w.isalpha() or not w.islower() or len(w) > 10)
    words.update(name.partition("-")[0] for name in vocabulary.tools)
    for name in vocabulary.libraries:
        words.update((name, f"l{name}", f"lib{name}"))
    for word in words - _COMMON:
        if len(word) > 1 and word.isidentifier() and word.isascii():
            yield word.encode()


def _parents(members: dict[str, tuple[str, ...]]) -> dict[bytes, tuple[bytes, ...]]:
    """Ordinary words that tell something only behind their owner: ``cuda.temperature``, ``jax.devices``."""
    found: dict[bytes, tuple[bytes, ...]] = {}
    for owner, lasts in members.items():
        before = owner.rpartition(".")[2].encode() + b"."
        for last in lasts:
            found[last.encode()] = (*found.get(last.encode(), ()), before)
    return found


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
            if telling is None:
                telling = learn(token)
            if telling:
                start = match.start()
                if not isinstance(telling, tuple) or _tells(raw, start, telling):
                    at[start] = 1
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
        raw, word = self._raw, name.encode()
        at = raw.find(word)
        while at >= 0:
            end = at + len(word)
            if raw[at - 1 : at] not in _WORD_BYTES and raw[end : end + 1] not in _WORD_BYTES:
                self._at[at] = 1
            at = raw.find(word, end)

    def add_member(self, name: str, member: str) -> None:
        """Marks all places of ``name.member``."""
        word = f"{name}.{member}".encode()
        at = self._raw.find(word)
        while at >= 0:
            self._at[at + len(name) + 1] = 1
            at = self._raw.find(word, at + len(word))

    def add_pattern(self, pattern: "re.Pattern[bytes]") -> None:
        """Marks all places of a pattern."""
        for match in pattern.finditer(self._raw):
            self._at[match.start()] = 1


def _tells(raw: bytes, start: int, owners: tuple[bytes, ...]) -> bool:
    """Whether an ordinary word stands behind an owner of it; ``cuda``, whether it is more than a device."""
    if owners is _AS_ARGUMENT:
        before = raw[start - 3 : start] if start > 2 else b"   "
        return not (before.endswith((b'="', b"='")) and before[:1] not in b"=!<> ") and not before.endswith(
            (b'o("', b"o('")
        )
    return raw[max(0, start - 40) : start].endswith(owners)
