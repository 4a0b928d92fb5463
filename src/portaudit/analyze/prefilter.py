"""One look over a file: can it matter at all? Most files of a tree end here."""

import re

_CXX = re.compile(
    r"cuda|CUDA|Cuda|\bcu[A-Z]|\bCU_|__global__|__device__|__shared__|__launch_bounds__|<<<|nccl|NCCL|nvml|nvrtc|nvtx|nvshmem|nvjpeg"
    r"|\bnpp|cub::|thrust|cutlass|\bcute\b|cublas|cudnn|cufft|curand|cusparse|cusolver|[Oo]ptix|OPTIX|NvInfer|nvinfer|tensorrt|TensorRT"
    r"|nvEncode|nvcuvid|NvEnc|__shfl|__ballot|warpSize|\bhip[A-Z]|hip/|HIP|ROCM|wmma|nvidia|NVIDIA|\bfloat[234]\b|Kokkos|OpticalFlow|cuco::"
)


def cxx_matters(text: str) -> bool:
    """Whether a C or C++ file can hold anything to say."""
    return _CXX.search(text) is not None


def device_code(code: str) -> bool:
    """Whether a file holds device code, so that functions and scopes are needed."""
    return "__global__" in code or "__device__" in code or "<<<" in code or "__shared__" in code
