"""What the tests of analyzers around the code share: one vocabulary, evidence as short rows."""

from importlib import import_module

from portaudit.analyze.base import Text
from portaudit.model.places import Skip
from tests.unit.vocabularies import vocabulary

VOCABULARY = vocabulary(
    packages=frozenset({"torch", "cupy-cuda12x", "jax[cuda12]", "transformer-engine", "nvidia-cuda-*"}),
    tools=frozenset({"nvcc", "nvidia-smi", "nsys", "ptxas"}),
    env=frozenset({"CUDA_HOME", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "TORCH_CUDA_ARCH_LIST"}),
    libraries=frozenset({"cudart", "cublas", "CUDA::cufft", "nvinfer", "cudnn"}),
    flags=frozenset(
        {
            "-arch",
            "-gencode",
            "--use_fast_math",
            "-Xcompiler",
            "-Xptxas",
            "-ptx",
            "--default-stream",
            "--gpus",
        }
    ),
    keys=frozenset({"nvidia", "a100", "h100", "t4", "nvidia.com/gpu", "gpu-operator"}),
    watched=frozenset({"WARP_SIZE", "kserve-tritonserver"}),
)


def evidence(module, path, source):
    """All evidence of a text."""
    found = import_module(f"portaudit.analyze.{module}").analyze(Text(path, source), VOCABULARY)
    return [item for item in found if not isinstance(item, Skip)]


def skips(module, path, source):
    """What an analyzer says it could not read."""
    found = import_module(f"portaudit.analyze.{module}").analyze(Text(path, source), VOCABULARY)
    return [item for item in found if isinstance(item, Skip)]


def rows(module, path, source):
    """Evidence as ``line kind name``."""
    return [f"{e.span.line} {e.kind.value} {e.name}" for e in evidence(module, path, source)]


def names(module, path, source):
    """Names only."""
    return [e.name for e in evidence(module, path, source)]
