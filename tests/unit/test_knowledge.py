"""Known truths: names, aliases, patterns, versions, argument counts and the vocabulary."""

import pytest

from portaudit.errors import UsageError
from portaudit.knowledge.store import TABLES, load
from portaudit.knowledge.support import numbers, parse_target, since_ok


@pytest.fixture(scope="module")
def knowledge():
    return load()


def ruled(knowledge, table, name, target=None, nargs=None):
    fact = knowledge.find(table, name)
    assert fact is not None, name
    return knowledge.ruling(fact, parse_target(target, knowledge), nargs)


@pytest.mark.parametrize(
    ("name", "target", "verdict", "equivalent"),
    [
        ("cudaMalloc", None, "direct", "hipMalloc"),
        ("cudaGraphConditionalHandleCreate", None, "blocker", "none"),
        ("cublasGetStatusString", None, "direct", "hipblasStatusToString"),
        ("cuda::pipeline", None, "adaptation", "cuda::pipeline"),
        ("cuda::std::span", None, "direct", "cuda::std::span"),
        ("CUDA_VERSION", None, "adaptation", "HIP_VERSION"),
        ("threadIdx", None, "direct", "threadIdx"),
        ("cudaLibraryLoadData", "rocm=7.2", "direct", "hipLibraryLoadData"),
        ("cudaLibraryLoadData", "rocm=6.3", "adaptation", "hipLibraryLoadData (ROCm 7.1.0)"),
        ("cudnnBackendExecute", None, "adaptation", "hipdnnBackendExecute"),
        ("nppiResize_8u_C3R_Ctx", None, "adaptation", "rppt_resize"),
        ("nvjpegEncodeImage", None, "blocker", "none"),
        ("nvjpegDecode", None, "adaptation", "rocJpegCreate"),
        ("cuGraphicsEGLRegisterImage", None, "blocker", "none"),
        ("CUBLAS_GEMM_DEFAULT_TENSOR_OP", None, "adaptation", "HIPBLAS_GEMM_DEFAULT"),
        ("cublasGemmEx", None, "direct", "hipblasGemmEx"),
        ("__reduce_add_sync", None, "direct", "__reduce_add_sync"),
        ("__syncwarp", "rocm=6.4,gfx90a", "adaptation", "__syncwarp"),
        ("cusolverDnXgesvd_bufferSize", None, "adaptation", "hipsolver"),
        ("cusolverSpDcsrlsvqr", None, "direct", "hipsolverSpDcsrlsvqr"),
        ("cusolverSpDcsrlsvluHost", None, "adaptation", ""),
        ("cuMemcpy", None, "adaptation", "hipMemcpy"),
        ("cuMemcpyPeerAsync", None, "adaptation", "hipMemcpy"),
        ("nvmlDeviceGetPowerUsage", None, "adaptation", "amdsmi_get_power_info"),
        ("nvmlInit", None, "adaptation", "amdsmi_init"),
        ("ncclAllReduce", None, "direct", "ncclAllReduce"),
        ("cooperative_groups::reduce", None, "direct", "cooperative_groups::reduce"),
        ("cooperative_groups::reduce", "rocm=7.2", "adaptation", "cooperative_groups::reduce"),
        ("__nv_bfloat16", None, "direct", "__hip_bfloat16"),
        ("__dp4a", None, "adaptation", "amd_mixed_dot"),
        ("optixTrace", None, "blocker", "HIP RT"),
        ("cutlass::gemm::threadblock::MmaPipelined", None, "blocker", "Composable Kernel"),
        ("cuvidCreateDecoder", None, "adaptation", "rocDecode"),
    ],
)
def test_symbols(knowledge, name, target, verdict, equivalent):
    ruling = ruled(knowledge, "api", name, target)
    assert ruling.verdict.value == verdict
    assert equivalent in ruling.equivalent


@pytest.mark.parametrize(
    ("table", "name", "verdict"),
    [
        ("header", "cuda_runtime.h", "direct"),
        ("header", "cudnn.h", "adaptation"),
        ("header", "cudnn_ops.h", "adaptation"),
        ("header", "mma.h", "adaptation"),
        ("header", "nccl.h", "direct"),
        ("header", "cooperative_groups/reduce.h", "direct"),
        ("header", "curand_kernel.h", "direct"),
        ("header", "thrust/device_vector.h", "portable"),
        ("header", "thrust/some/new_header.h", "portable"),
        ("header", "cutlass/gemm/device/gemm.h", "blocker"),
        ("header", "cute/tensor.hpp", "blocker"),
        ("header", "optix_stubs.h", "blocker"),
        ("header", "NvInferPlugin.h", "blocker"),
        ("header", "nvEncodeAPI.h", "blocker"),
        ("header", "nppi_filtering_functions.h", "adaptation"),
        ("header", "nvjpeg.h", "adaptation"),
        ("header", "cudaEGL.h", "blocker"),
        ("header", "cuda/std/tuple", "adaptation"),
        ("header", "cuda/atomic", "adaptation"),
        ("header", "cub/util_debug.cuh", "direct"),
        ("header", "ATen/cuda/CUDAContext.h", "portable"),
        ("header", "c10/cuda/CUDAException.h", "portable"),
        ("package", "nvidia-cublas-cu12", "adaptation"),
        ("package", "Nvidia_cuDNN.cu13", "adaptation"),
        ("package", "cupy-cuda12x", "adaptation"),
        ("package", "cupy-cuda117", "adaptation"),
        ("package", "cupy-rocm-7-0", "portable"),
        ("package", "tensorrt-llm", "blocker"),
        ("package", "jax[cuda12]", "adaptation"),
        ("package", "jax[cuda13_local]", "adaptation"),
        ("package", "torch", "portable"),
        ("package", "numba-cuda", "adaptation"),
        ("package", "opencv-python", "portable"),
        ("package", "system:cuda-toolkit-12-4", "adaptation"),
        ("package", "system:libnvinfer-dev", "blocker"),
        ("module", "tensorrt", "blocker"),
        ("module", "flash_attn.flash_attn_interface", "portable"),
        ("module", "flash_attn_interface", "blocker"),
        ("module", "cuda.bindings.cyruntime", "adaptation"),
        ("module", "numba.cuda.random", "blocker"),
        ("module", "pynvml", "adaptation"),
        ("module", "faiss", "portable"),
        ("image", "nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04", "adaptation"),
        ("image", "docker.io/nvidia/cuda:12.6.0-base-ubi9", "adaptation"),
        ("image", "nvcr.io/nvidia/pytorch:24.10-py3", "adaptation"),
        ("image", "nvcr.io/nvidia/tritonserver:24.08-py3", "blocker"),
        ("image", "nvcr.io/nvidia/tritonserver:24.08-py3-sdk", "direct"),
        ("image", "nvcr.io/nvidia/k8s/dcgm-exporter:3.3.8", "adaptation"),
        ("image", "rocm/pytorch:latest", "portable"),
        ("image", "ollama/ollama:rocm", "portable"),
        ("tool", "nvidia-smi", "adaptation"),
        ("tool", "trtexec", "adaptation"),
        ("env", "CUDA_VISIBLE_DEVICES", "portable"),
        ("env", "CUDA_HOME", "adaptation"),
        ("env", "NCCL_DEBUG", "portable"),
        ("env", "NCCL_SOCKET_IFNAME", "portable"),
        ("env", "NCCL_NVLSTREE_MAX_CHUNKSIZE", "adaptation"),
        ("env", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "portable"),
        ("env", "HSA_OVERRIDE_GFX_VERSION", "portable"),
        ("library", "cudart", "adaptation"),
        ("library", "CUDA::cublas", "adaptation"),
        ("library", "libcublas.so.12", "adaptation"),
        ("library", "-lnvidia-ml", "adaptation"),
        ("library", "nvinfer", "blocker"),
        ("library", "OpenCL", "portable"),
        ("flag", "--use_fast_math", "adaptation"),
        ("flag", "-Xlinker", "portable"),
        ("flag", "--gpus", "adaptation"),
        ("key", "nvidia.com/gpu", "adaptation"),
        ("key", "nvidia.com/mig-1g.10gb", "adaptation"),
        ("key", "a100", "adaptation"),
    ],
)
def test_tables(knowledge, table, name, verdict):
    assert ruled(knowledge, table, name).verdict.value == verdict


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("api", "initCuda"),
        ("api", "barracuda"),
        ("header", "barracuda.h"),
        ("header", "cudahelpers.hpp"),
        ("header", "cuda/DeviceTensor.cuh"),
        ("package", "cuda-helpers-docs"),
        ("package", "cuda-pretty-docs-theme"),
        ("package", "numpy"),
        ("module", "math"),
        ("image", "nginx:1.27"),
        ("image", "registry.example/log:0.9"),
        ("library", "m"),
        ("key", "amd.com/gpu"),
        ("env", "OMP_NUM_THREADS"),
    ],
)
def test_names_that_no_table_has(knowledge, table, name):
    assert knowledge.find(table, name) is None


def test_argument_counts_decide(knowledge):
    assert ruled(knowledge, "api", "cudaGraphInstantiate").verdict.value == "adaptation"
    assert ruled(knowledge, "api", "cudaGraphInstantiate", nargs=3).verdict.value == "adaptation"
    assert ruled(knowledge, "api", "cudaGraphInstantiate", nargs=5).verdict.value == "direct"
    assert ruled(knowledge, "api", "cudaMallocHost").verdict.value == "direct"
    assert ruled(knowledge, "api", "cudaMallocHost", nargs=2).verdict.value == "direct"
    assert ruled(knowledge, "api", "cudaMemPrefetchAsync", nargs=4).verdict.value == "direct"
    assert ruled(knowledge, "api", "cudaMemPrefetchAsync", nargs=5).verdict.value == "adaptation"
    assert ruled(knowledge, "api", "cublasLtGetVersion", nargs=0).verdict.value == "adaptation"


def test_aliases(knowledge):
    assert knowledge.find("api", "cudaMemcpyAsync_ptsz").name == "cudaMemcpyAsync"
    assert knowledge.find("api", "::cudaMalloc").name == "cudaMalloc"
    assert knowledge.find("api", "cub::BlockReduce::TempStorage").name == "cub::BlockReduce"
    assert knowledge.find("api", "cudaNoSuchCall_v2") is None


def test_targets(knowledge):
    assert str(parse_target(None, knowledge)) == "rocm=10.2,gfx942"
    assert str(parse_target("rocm=7.2,gfx942,gfx1100", knowledge)) == "rocm=7.2,gfx942,gfx1100"
    assert str(parse_target("mi355x", knowledge)).endswith(",gfx950")
    assert str(parse_target("7.2.1, RX 7900 XTX".replace(" ", ""), knowledge)) == "rocm=7.2.1,gfx1100"
    assert str(parse_target("rocm=7,Instinct-MI300X", knowledge)) == "rocm=7.14,gfx942"
    assert str(parse_target("gfx90a:sramecc+:xnack-", knowledge)).endswith(",gfx90a")
    for text in ("rocm=8.0", "rocm=six", "h100", "gfx9999"):
        with pytest.raises(UsageError, match="accepted"):
            parse_target(text, knowledge)


def test_versions_are_numbers(knowledge):
    target = parse_target("rocm=7.10", knowledge)
    assert since_ok("7.9.0", target) and not since_ok("7.11", target)
    assert since_ok("7.10.3", target), "two numbers mean the whole series"
    assert numbers("<=10.0.0") == (10, 0, 0) and numbers("unknown") == ()
    assert knowledge.releases.index("7.9.0") < knowledge.releases.index("7.10.0")
    assert "10.3.0" not in knowledge.releases


def test_devices(knowledge):
    gfx = knowledge.gfx
    assert gfx["gfx942"].wavefront == 64 and gfx["gfx942"].fp8 == "fnuz" and not gfx["gfx942"].images
    assert gfx["gfx950"].lds_kib == 160 and gfx["gfx950"].fp8 == "ocp"
    assert gfx["gfx1100"].wavefront == 32 and gfx["gfx1100"].images and gfx["gfx1100"].lds_kib == 64
    assert gfx["gfx1250"].wavefront == 32 and gfx["gfx1250"].lds_kib == 320


def test_vocabulary(knowledge):
    words = knowledge.vocabulary()
    assert {
        "cudaMalloc",
        "__syncwarp",
        "__shfl_xor_sync",
        "__dp4a",
        "cublasSgemm",
        "nvjpegDecode",
    } <= words.symbols
    assert {"threadIdx", "__syncthreads", "dim3", "atomicAdd", "float4", "ncclAllReduce"} <= words.quiet
    assert {"cub::BlockReduce", "nvcuda::wmma::fragment"} <= words.qualified
    assert {"tex2D", "clock64"} <= words.device_symbols
    host = words.symbols | words.watched
    ordinary = "max min y0 j0 exp norm abs texture surface sgemm dgemm fftw_execute half clock saturate round"
    assert not host & set(ordinary.split())
    assert words.digest == knowledge.digest
    assert not words.symbols & words.quiet and not words.symbols & words.device_symbols


def test_facts_of_all_tables(knowledge):
    for table in TABLES:
        assert sum(1 for _ in knowledge.facts(table)) > 50, table


def test_nearest_spelling(knowledge):
    assert knowledge.suggest("cudaMaloc")[0] == "cudaMalloc"
    assert "nvidia-cudnn-cu12" in knowledge.suggest("nvidia-cudn-cu12")
    assert knowledge.suggest("zzzzqqqq") == []
