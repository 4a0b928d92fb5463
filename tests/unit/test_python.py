"""What the Python analyzer says of code that someone could write: names, imports, strings, uses of values."""

import pytest

from portaudit.analyze.base import Text
from portaudit.analyze.python import analyze
from portaudit.model.evidence import Evidence
from portaudit.model.places import Skip
from tests.unit.vocabularies import vocabulary

VOCABULARY = vocabulary(
    symbols=frozenset({"cudaMalloc", "cudaMemcpy", "cublasCreate_v2", "nvmlDeviceGetPowerUsage"}),
    modules=frozenset({"cupy", "tensorrt", "pynvml", "numba.cuda", "cuda.bindings", "torch", "triton"}),
    libraries=frozenset({"cudart", "cublas", "nvinfer"}),
    tools=frozenset({"nvcc", "nvidia-smi"}),
    env=frozenset({"CUDA_HOME", "CUDA_VISIBLE_DEVICES", "TORCH_CUDA_ARCH_LIST"}),
    packages=frozenset({"torch", "cupy-cuda12x"}),
    flags=frozenset({"-gencode", "-arch", "--expt-relaxed-constexpr", "-Xptxas", "-lineinfo"}),
    watched=frozenset(
        {
            "torch.float8_e4m3fn",
            "torchvision.io.decode_jpeg",
            "deserialize_cuda_engine",
            "CUDAExecutionProvider",
            "h264_nvenc",
            "torch.utils.cpp_extension.CUDAExtension",
        }
    ),
)


def run(source, path="a.py"):
    return list(analyze(Text(path, source), VOCABULARY))


def evidence(source, kind=None, path="a.py"):
    found = [e for e in run(source, path) if isinstance(e, Evidence)]
    return [e for e in found if kind is None or e.kind.value == kind]


def told(source, kind):
    return [(e.span.line, e.name) for e in evidence(source, kind)]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import cupy as cp", ["cupy"]),
        ("from numba import cuda, jit", ["numba.cuda"]),
        ("from cuda.bindings import driver", ["cuda.bindings"]),
        ("import os, cupy", ["cupy"]),
        ("def f():\n    import tensorrt", ["tensorrt"]),
        ("import importlib\nm = importlib.import_module('cupy')", ["cupy"]),
        ("m = __import__('tensorrt')", ["tensorrt"]),
        ("from . import cuda", []),
        ("import cupy_like_gpu", []),
    ],
)
def test_imports(source, names):
    assert [n for _, n in told(source, "import")] == names


def test_an_import_that_is_caught_says_so():
    (item,) = evidence("try:\n    import pynvml\nexcept ImportError:\n    pynvml = None\n", "import")
    assert item.attr("caught") is True
    assert item.guard is not None and (item.guard.side, item.guard.line) == ("optional", 3)


def test_a_handler_that_gives_up_catches_nothing():
    (item,) = evidence("try:\n    import pynvml\nexcept ImportError:\n    raise SystemExit(1)\n", "import")
    assert item.attr("caught") is None and item.guard is None


def test_type_checking_imports_are_not_run():
    assert not evidence("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import cupy\n", "import")


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nx = torch.float8_e4m3fn",
        "import torch as t\nx = t.float8_e4m3fn",
        "from torch import float8_e4m3fn as f8\nx = f8",
        "import torch\nx = getattr(torch, 'float8' + '_e4m3fn')",
    ],
)
def test_names_through_aliases(source):
    names = {e.name for e in evidence(source, "attribute")}
    assert names == {"torch.float8_e4m3fn"} or "getattr" in source


def test_library_handles_and_put_together_names():
    source = (
        "import ctypes, ctypes.util\n"
        "p = ctypes.util.find_library('cudart') or 'libcudart.so'\n"
        "rt = ctypes.CDLL(p)\n"
        "f = getattr(rt, 'cuda' + 'Memcpy')\n"
        "rt.cudaMalloc(0)\n"
    )
    assert told(source, "library") == [(2, "cudart"), (2, "cudart")]
    assert told(source, "name") == [(4, "cudaMemcpy")]
    assert told(source, "call") == [(5, "cudaMalloc")]


def test_shim_of_torch_is_no_binding():
    assert not told("import torch\ntorch.cuda.cudart().cudaMalloc(1)\n", "call")


def test_nvml_calls_bear_their_c_name():
    source = "import pynvml as n\nn.nvmlDeviceGetPowerUsage(h)\n"
    assert told(source, "call") == [(2, "nvmlDeviceGetPowerUsage")]
    assert told("from pynvml import *\nnvmlDeviceGetPowerUsage(h)\n", "call") == [
        (2, "nvmlDeviceGetPowerUsage")
    ]


def test_a_file_that_defines_the_binding_is_not_its_user():
    source = "def nvmlDeviceGetPowerUsage(h):\n    return 0\nnvmlDeviceGetPowerUsage(1)\n"
    assert not told(source, "call")


@pytest.mark.parametrize(
    ("line", "used"),
    [
        ("torch.version.cuda.split('.')", "text"),
        ("float(torch.version.cuda)", "text"),
        ("packaging.version.parse(torch.version.cuda)", "text"),
        ("x = torch.version.cuda[:2]", "text"),
        ("x = 'cu' + torch.version.cuda", "text"),
        ("x = torch.version.cuda >= '12'", "compared"),
        ("x = torch.version.cuda is None", "switch"),
        ("print(torch.version.cuda)", "printed"),
        ("logger.info('%s', torch.version.cuda)", "printed"),
        ("x = f'CUDA {torch.version.cuda}'", "printed"),
    ],
)
def test_uses_of_the_cuda_version(line, used):
    (item,) = evidence(f"import torch, packaging\n{line}\n", "attribute")
    assert item.attr("used_as") == used


def test_a_kept_version_is_followed_to_its_use():
    source = "import os, torch\nv = os.getenv('V') or torch.version.cuda\nt = v.split('.')\nprint(v)\n"
    uses = [(e.span.line, e.attr("used_as")) for e in evidence(source, "attribute")]
    assert uses == [(2, "assigned"), (3, "text")]


@pytest.mark.parametrize(
    ("source", "compared"),
    [
        ("c = torch.cuda.get_device_capability()\nx = c >= (9, 0)", ">= (9, 0)"),
        ("a, b = torch.cuda.get_device_capability()\nx = a == 9", "== 9"),
        ("x = torch.cuda.get_device_capability()[0] >= 8", ">= 8"),
        ("x = int('%d%d' % torch.cuda.get_device_capability()) >= 80", None),
        ("p = torch.cuda.get_device_properties(0)\nx = p.major < 8", "< 8"),
        ("def f():\n    return torch.cuda.get_device_capability()\nx = f() >= (8, 0)", ">= (8, 0)"),
        ("c = torch.cuda.get_device_capability()\nx = c is not None", None),
    ],
)
def test_capability_is_followed_to_the_comparison(source, compared):
    found = [
        e.attr("compared") for e in evidence(f"import torch\n{source}\n", "pattern") if e.attr("compared")
    ]
    assert found == ([compared] if compared else [])


@pytest.mark.parametrize(
    "line",
    [
        'print("run nvidia-smi -L first")',
        'raise RuntimeError("nvidia-smi -L failed")',
        'x = "nvidia-smi is missing"',
        'def f():\n    """nvidia-smi -L"""',
        'parser.add_argument("--x", help="nvidia-smi -q")',
        'NAMES = ("nvidia-smi", "ToolName")',
    ],
)
def test_prose_about_tools_is_no_command(line):
    assert not told(f"import torch\n{line}\n", "tool")


@pytest.mark.parametrize(
    "line",
    [
        'subprocess.run(["nvidia-smi", "-L"])',
        'QUERY = ["nvidia-smi", "--query-gpu=name"]',
        'os.system("nvidia-smi")',
        'subprocess.run("nvidia-smi -L | head -1", shell=True)',
        'subprocess.run(["sudo", "nvidia-smi", "-pm", "1"])',
        'x = "nvidia-smi --query-gpu=name"',
        'shutil.which("nvidia-smi")',
        'T = "nvidia-smi"\nshutil.which(T)',
        'subprocess.run([CUDA_BIN + "/nvcc", "-V"])',
    ],
)
def test_commands(line):
    assert len(told(f"import os, shutil, subprocess\n{line}\n", "tool")) == 1


@pytest.mark.parametrize(
    ("line", "write"),
    [
        ('os.environ["CUDA_HOME"] = "/x"', True),
        ('os.environ.setdefault("CUDA_HOME", "/x")', True),
        ('os.environ.update({"CUDA_HOME": "/x"})', True),
        ('monkeypatch.setenv("CUDA_HOME", "/x")', True),
        ('env = os.environ.copy()\nenv["CUDA_HOME"] = "/x"', True),
        ('x = os.environ["CUDA_HOME"]', False),
        ('x = os.environ.get("CUDA_HOME")', False),
        ('x = os.getenv("CUDA_HOME", "")', False),
        ('from os import getenv as g\nx = g("CUDA_HOME")', False),
    ],
)
def test_environment(line, write):
    found = evidence(f"import os\n{line}\n", "env")
    assert [(e.name, e.attr("write")) for e in found] == [("CUDA_HOME", write)]


def test_options_libraries_and_requirements_of_a_build_script():
    source = (
        "from torch.utils.cpp_extension import CUDAExtension\n"
        "from setuptools import setup\n"
        "nvcc = ['-O3', '-gencode', 'arch=compute_80,code=sm_80', '--expt-relaxed-constexpr', '-lineinfo']\n"
        "setup(install_requires=['torch==2.4.0+cu121', 'numpy'],\n"
        "      ext_modules=[CUDAExtension('a', ['a.cu'], libraries=['cublas', 'z'],\n"
        "                   extra_link_args=['-lcudart'])])\n"
    )
    assert told(source, "flag") == [(3, "-gencode"), (3, "--expt-relaxed-constexpr"), (3, "-lineinfo")]
    assert told(source, "library") == [(5, "cublas"), (6, "cudart")]
    assert (4, "torch") in told(source, "package")
    assert told(source, "call") == [(5, "torch.utils.cpp_extension.CUDAExtension")]


def test_kernel_strings_are_read_as_cuda_at_their_place():
    source = 'import cupy\nSRC = r"""\n__global__ void k(float* p) {\n    cudaMalloc(p, 1);\n}\n"""\n'
    assert (4, "cudaMalloc") in told(source, "call")
    assert (3, "k") in told(source, "kernel")


def test_asm_of_triton_lines_of_parts():
    source = (
        "import triton.language as tl\n"
        "def f(x):\n"
        "    return tl.inline_asm_elementwise(\n"
        "        'mov.b32 $0, $1; '\n"
        "        'ex2.approx.f32 $0, $0;', '=r,r', [x], tl.float32, True, 1)\n"
    )
    assert told(source, "asm") == [(4, "mov.b32"), (5, "ex2.approx.f32")]
    assert not told(source.replace("mov.b32", "v_mov_b32").replace("ex2.approx.f32", "v_exp_f32"), "asm")


def test_words_in_constants():
    assert told("import torch\np = ['CUDAExecutionProvider']\n", "string") == [(2, "CUDAExecutionProvider")]
    assert told("import gpu\ncmd = 'ffmpeg -c:v h264_nvenc'\n", "string") == [(2, "h264_nvenc")]


def test_methods_by_their_name_alone():
    assert told("import gpu\ne = make().deserialize_cuda_engine(d)\n", "call") == [
        (2, "deserialize_cuda_engine")
    ]


def test_calls_on_a_cuda_device():
    source = (
        "import torch\nfrom torchvision.io import decode_jpeg as dj\n"
        "dev = torch.device('cuda')\ndj(x, device=dev)\ndj(x, device='cpu')\n"
    )
    found = [(e.span.line, e.attr("cuda_device")) for e in evidence(source, "call")]
    assert found == [(4, True), (5, None)]


def test_files_without_telling_words_are_not_parsed(monkeypatch):
    monkeypatch.setattr("portaudit.analyze.python._parsed", lambda raw: pytest.fail("parsed"))
    assert run("import os\nprint(os.name)\n") == []


def test_broken_files_still_give_their_imports():
    found = run('import cupy\nsrc = r"""\n__global__ void k(int* p) {}\n')
    assert any(isinstance(e, Evidence) and e.name == "cupy" for e in found)
    assert [s.whole for s in found if isinstance(s, Skip)] == [False]


def test_places_count_characters():
    (item,) = evidence("import torch\nx = 'äöü', torch.version.cuda.split()\n", "attribute")
    assert (item.span.line, item.span.column) == (2, 12)
