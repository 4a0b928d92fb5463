"""A small vocabulary for tests of analyzers, so that they don't depend on what rules/ holds today."""

from portaudit.model.evidence import Vocabulary

SYNC = {
    f"__{n}_sync" for n in ("shfl", "shfl_up", "shfl_down", "shfl_xor", "ballot", "any", "all", "reduce_add")
}


def vocabulary(**more):
    """The vocabulary, with fields replaced."""
    fields = {
        "digest": "test",
        "symbols": frozenset(
            {"cudaMalloc", "cudaFree", "cudaStream_t", "cudaMallocAsync", "cublasSgemm", "__syncwarp", *SYNC}
        ),
        "device_symbols": frozenset({"tex2D", "clock"}),
        "qualified": frozenset({"cub::BlockReduce", "nvcuda::wmma::fragment", "cooperative_groups::reduce"}),
        "quiet": frozenset({"threadIdx", "__syncthreads", "atomicAdd"}),
        "headers": frozenset({"cuda_runtime.h"}),
        "modules": frozenset({"cupy", "pycuda", "tensorrt"}),
        "packages": frozenset({"cupy-cuda12x"}),
        "tools": frozenset({"nvcc", "nvidia-smi"}),
        "env": frozenset({"CUDA_HOME"}),
        "libraries": frozenset({"cudart", "cublas"}),
        "flags": frozenset({"-arch", "-gencode", "-dlto"}),
        "keys": frozenset({"nvidia.com/gpu"}),
        "watched": frozenset({"__ballot_sync", "__activemask", "cudaFuncSetAttribute", "Kokkos::Cuda"}),
    }
    return Vocabulary(**{**fields, **more})
