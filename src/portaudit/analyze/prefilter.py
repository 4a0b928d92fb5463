"""One look over the words of a C or C++ file: can it matter at all? Half of the files of a GPU tree end
here."""

import re

from portaudit.model.evidence import Vocabulary

_WORD = re.compile(r"[A-Za-z_]\w*")
# Blanks for all but the bytes of words: splitting at them is twice as fast as a regular expression.
_WORD_BYTES = bytes(byte if chr(byte).isalnum() or byte == 0x5F else 0x20 for byte in range(256))
# Spellings that no table lists and that still make a file worth a look.
_MORE = frozenset(
    {
        *(
            "__global__",
            "__device__",
            "__shared__",
            "__launch_bounds__",
            "warpSize",
            "threadIdx",
            "texture",
            "cuda",
        ),
        *(
            "float2",
            "float3",
            "float4",
            "double2",
            "double4",
            "__CUDA_ARCH__",
            "__CUDACC__",
            "__NVCC__",
            "CUDA",
        ),
        *(
            "CUDA_VERSION",
            "CUDART_VERSION",
            "Kokkos",
            "KOKKOS_ENABLE_CUDA",
            "cutlass",
            "cute",
            "cub",
            "thrust",
        ),
        *("nvcuda", "optix", "NvInfer", "nvrtc", "cuco", "nvtx3"),
    }
)


def words_of(text: str) -> frozenset[str]:
    """All identifiers of a text, those in comments and strings too; numbers may be among them."""
    if text.isascii():
        return frozenset(text.encode("ascii").translate(_WORD_BYTES).decode("ascii").split())
    return frozenset(_WORD.findall(text))


def cxx_matters(text: str, words: frozenset[str], vocabulary: Vocabulary) -> bool:
    """Whether a C or C++ file with these words can hold anything to say, be it a name of its own that looks
    like one of CUDA's."""
    if "cuda" in text or "CUDA" in text:
        return True
    known = (_MORE, vocabulary.symbols, vocabulary.watched, _header_words(vocabulary))
    return not all(words.isdisjoint(names) for names in known)


_HEADER_WORDS: dict[str, frozenset[str]] = {}


def _header_words(vocabulary: Vocabulary) -> frozenset[str]:
    """First word of each header: ``cublas_v2`` of cublas_v2.h, ``npp`` of npp.h."""
    found = _HEADER_WORDS.get(vocabulary.digest)
    if found is None:
        stems = (name.rpartition("/")[2].partition(".")[0] for name in vocabulary.headers)
        plain = frozenset(
            stem for stem in stems if any(mark in stem.lower() for mark in ("cu", "nv", "npp", "optix"))
        )
        found = _HEADER_WORDS[vocabulary.digest] = plain
    return found


def device_code(code: str) -> bool:
    """Whether a file holds device code, so that functions and scopes are needed."""
    return "__global__" in code or "__device__" in code or "<<<" in code or "__shared__" in code
