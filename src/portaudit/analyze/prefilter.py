"""One look over a file: can it matter at all? Most files of a tree end here."""

# Plain substrings: a search for each is several times faster than one pattern with all of them.
_CXX = (
    *(
        "cuda",
        "CUDA",
        "__global__",
        "__device__",
        "<<<",
        "cublas",
        "cudnn",
        "cufft",
        "curand",
        "cusparse",
        "cusolver",
    ),
    *(
        "nccl",
        "nvml",
        "nvrtc",
        "nvtx",
        "nvToolsExt",
        "nvshmem",
        "nvjpeg",
        "nppi",
        "npps",
        "cutlass",
        "cute/",
        "thrust",
    ),
    *(
        "cub::",
        "<cub/",
        "ptix",
        "OPTIX",
        "NvInfer",
        "nvinfer",
        "nvEncode",
        "nvcuvid",
        "NvEnc",
        "wmma",
        "Kokkos::Cuda",
    ),
    *(
        "KOKKOS_ENABLE_CUDA",
        "nvidia",
        "float4",
        "float3",
        "float2",
        "OpticalFlow",
        "cuco",
        "CUdevice",
        "CUstream",
    ),
)


def cxx_matters(text: str) -> bool:
    """Whether a C or C++ file can hold anything to say."""
    return any(word in text for word in _CXX)


def device_code(code: str) -> bool:
    """Whether a file holds device code, so that functions and scopes are needed."""
    return "__global__" in code or "__device__" in code or "<<<" in code or "__shared__" in code
