"""CMake cache variables on command lines and in lists of arguments: ``-DCMAKE_CUDA_ARCHITECTURES=80``."""

import re
from collections.abc import Iterable, Iterator

from portaudit.analyze.words import Frame, Word
from portaudit.model.evidence import Evidence, EvidenceKind

_OPTION = re.compile(r"-D([A-Za-z_]\w{0,80})(?::[A-Za-z]{1,12})?=(.{0,300})", re.DOTALL)
_CUDA_NAME = re.compile(r"CUDA|NVCC|CUDNN|NVIDIA|TENSORRT|CUBLAS|NCCL|CUTLASS|NVTX|NVML", re.IGNORECASE)
_OFF = frozenset({"0", "off", "no", "false", "n", "none", ""})
_LANGUAGE = re.compile(r"CMAKE_CUDA_\w+|CUDA_\w+|CUDAToolkit_ROOT|CMAKE_LIBRARY_PATH")


def cache_options(words: Iterable[Word], frame: Frame) -> Iterator[Evidence]:
    """Evidence for ``-D`` options that name CUDA and do not switch it off.

    Variables of CMake's CUDA language keep their name; options of the project are named ``-DNAME``.
    """
    for word in words:
        match = _OPTION.match(word.text) if word.text.startswith("-D") else None
        if match is None or not _CUDA_NAME.search(match.group(1)):
            continue
        name, value = match.group(1), match.group(2).strip("\"'")
        if _LANGUAGE.fullmatch(name):
            yield frame.evidence(
                EvidenceKind.COMMAND, name, word.start, word.end, value=value, origin="command-line"
            )
        elif value.lower() not in _OFF:
            yield frame.evidence(EvidenceKind.COMMAND, f"-D{name}", word.start, word.end, value=value)
