"""Shell words, branches, and what commands say."""

import time

import pytest

from portaudit.analyze.base import Text
from portaudit.analyze.branches import Turn, regions, side_of
from portaudit.analyze.shell import script
from portaudit.analyze.shellwords import commands
from portaudit.analyze.words import frame_of
from tests.unit.around import VOCABULARY, evidence, names, rows


def words(source):
    return [[w.text for w in c.words] for c in commands(source)]


def test_words_of_commands():
    assert words("a 'b c' \"d $e\" f\\ g; h | i && j") == [["a", "b c", "d $e", "f g"], ["h"], ["i"], ["j"]]
    assert words("a \\\n b # c\nd#e") == [["a", "b"], ["d#e"]]
    assert words("a > out 2>&1 < in b") == [["a", "b"]]
    assert words("cat <<EOF > f\nnvcc\nEOF\nb") == [["cat"], ["b"]]
    assert words("x=$(nvcc -V | tail) y") == [["x=$(nvcc -V | tail)", "y"], ["nvcc", "-V"], ["tail"]]


def test_places_of_words():
    source = "  nvcc 'a b'"
    (command,) = commands(source, 10)
    assert [(w.start, w.end) for w in command.words] == [(12, 16), (17, 22)]


@pytest.mark.parametrize(
    ("condition", "side"),
    [
        ("USE_CUDA", "cuda"),
        ("NOT USE_HIP", "not-rocm"),
        ("USE_CUDA AND NOT USE_ROCM", "not-rocm"),
        ("USE_CUDA OR USE_ROCM", ""),
        ("$BACKEND != rocm", "not-rocm"),
        ('[ -z "$ROCM_PATH" ]', "not-rocm"),
        ("! command -v rocminfo", "not-rocm"),
        ("HIP_PLATFORM STREQUAL nvidia", "cuda"),
        ("USE_HIP == 0", "not-rocm"),
        ("CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER 12", ""),
        ("HIP_VERSION VERSION_LESS 6.1", ""),
        ("TARGET hipify_all", ""),
        ("arch = amd64", ""),
        ("chip OR whip", ""),
    ],
)
def test_side_of_a_condition(condition, side):
    assert side_of(condition) == side


def test_branches():
    turns = [
        Turn("if", 0, 10, "USE_CUDA"),
        Turn("elif", 20, 30, "USE_HIP"),
        Turn("else", 40, 50),
        Turn("end", 60, 70),
        Turn("if", 80, 90, "X STREQUAL rocm"),
        Turn("stop", 95, 96),
        Turn("end", 100, 110),
    ]
    found = regions(turns)
    sides = [guard.side if (guard := found.at(at)) else "" for at in (5, 15, 35, 55, 75, 92, 120)]
    assert sides == ["", "cuda", "rocm", "cuda", "", "rocm", "cuda"]


def test_a_cuda_option_alone_decides_nothing():
    turns = [Turn("if", 0, 10, "USE_CUDA"), Turn("end", 20, 30)]
    guard = regions(turns).at(15)
    assert guard is not None and guard.side == "unknown"
    known = regions(turns, knows_rocm=True).at(15)
    assert known is not None and known.side == "cuda"


def test_installs():
    source = (
        "pip install torch==2.6.0+cu124 --index-url https://h/whl/cu124 -r r.txt\n"
        "sudo apt-get install -y cuda-toolkit-12-4 git\n"
        "conda install -c nvidia cudatoolkit=11.8\n"
        "uv pip install torch --torch-backend=cu126\n"
        "python -m pip install 'jax[cuda12]'\n"
        "git clone https://github.com/NVIDIA/cutlass.git\n"
    )
    assert rows("shell", "a.sh", source) == [
        "1 package torch",
        "1 index cuda-wheel-index",
        "2 package system:cuda-toolkit-12-4",
        "2 package system:git",
        "3 index conda-channel:nvidia",
        "3 package cudatoolkit",
        "4 package torch",
        "4 index cuda-wheel-index",
        "5 package jax[cuda12]",
        "6 index nvidia-source:cutlass",
    ]


def test_variables():
    found = evidence(
        "shell",
        "a.sh",
        "export CUDA_HOME=/usr/local/cuda PATH=$CUDA_HOME/bin:$PATH\n"
        "CUDA_VISIBLE_DEVICES=0 python a.py\n"
        "echo 'export LD_LIBRARY_PATH=/usr/local/cuda/lib64' >> ~/.bashrc\n"
        "ls $TORCH_CUDA_ARCH_LIST $CUDA_HOME\n",
    )
    assert [(e.span.line, e.name, e.attr("write")) for e in found] == [
        (1, "CUDA_HOME", True),
        (2, "CUDA_VISIBLE_DEVICES", True),
        (3, "LD_LIBRARY_PATH", True),
        (4, "TORCH_CUDA_ARCH_LIST", False),
    ]
    assert found[0].attr("value") == "/usr/local/cuda"


def test_tools():
    source = (
        "nvidia-smi -L || true\nwhich nvcc\nsrun nsys profile a\nbash -c 'nvidia-smi -q'\n"
        "echo nvidia-smi\ngrep nvcc log\nSMI=$(which nvidia-smi || which rocm-smi)\n"
    )
    found = evidence("shell", "a.sh", source)
    assert [(e.span.line, e.name) for e in found] == [
        (1, "nvidia-smi"),
        (2, "nvcc"),
        (3, "nsys"),
        (4, "nvidia-smi"),
        (7, "nvidia-smi"),
    ]
    assert found[0].attr("caught") is True and found[0].attr("args") == "-L"
    assert found[1].attr("probe") is True
    assert found[4].guard is not None and found[4].guard.side == "cuda"


def test_vendors_of_branches():
    source = (
        "if command -v nvidia-smi; then\n  nvidia-smi\nelif command -v rocm-smi; then\n"
        "  pip install torch\nfi\n"
        "case $B in\n  cuda) nvcc a.cu ;;\n  rocm) hipcc a.cu ;;\n  *) nvcc b.cu ;;\nesac\n"
    )
    found = evidence("shell", "a.sh", source)
    sides = {(e.span.line, e.name): e.guard.side if e.guard else "" for e in found}
    assert sides[1, "nvidia-smi"] == sides[2, "nvidia-smi"] == "cuda"
    assert sides[4, "torch"] == "rocm" and sides[7, "nvcc"] == "cuda" and sides[9, "nvcc"] == "cuda"


def test_compilers():
    source = (
        "nvcc -arch=sm_80 -gencode arch=compute_80,code=sm_80 -lcublas -L/usr/local/cuda/lib64 a.cu\n"
        "gcc -arch x -lm\n"
    )
    found = evidence("shell", "a.sh", source)
    assert [e.name for e in found] == ["nvcc", "-arch", "cublas", "cuda-toolkit-path"]
    assert found[1].attr("count") == 2


def test_containers():
    source = (
        "docker run --rm --gpus all -e NVIDIA_VISIBLE_DEVICES=0 -v /dev/nvidia0:/x "
        "nvcr.io/nvidia/pytorch:24.10-py3 nvidia-smi\n"
        "singularity exec --nv docker://nvidia/cuda:12.4.1-base a\ndocker run ubuntu:22.04 true\n"
    )
    assert rows("shell", "a.sh", source) == [
        "1 flag --gpus",
        "1 env NVIDIA_VISIBLE_DEVICES",
        "1 string nvidia-host-path",
        "1 image nvcr.io/nvidia/pytorch:24.10-py3",
        "1 tool nvidia-smi",
        "2 flag --nv",
        "2 image nvidia/cuda:12.4.1-base",
        "3 image ubuntu:22.04",
    ]


def test_batch_jobs():
    source = (
        "#SBATCH --gres=gpu:a100:4\n#SBATCH --gres=gpu:4\nmodule load cuda/12.4\nsrun --constraint=h100 a\n"
    )
    assert rows("shell", "a.sbatch", source) == ["1 key a100", "3 command module:cuda", "4 key h100"]


def test_build_options():
    source = (
        "cmake -B b -DCMAKE_CUDA_ARCHITECTURES=80 -DGGML_CUDA=ON -DUSE_CUDA=OFF\n"
        "./configure --with-cuda=/opt/cuda --with-mpi\n"
    )
    assert names("shell", "a.sh", source) == [
        "CMAKE_CUDA_ARCHITECTURES",
        "-DGGML_CUDA",
        "--with-cuda",
        "cuda-toolkit-path",
    ]


def test_a_command_inside_another_file():
    text = Text("a.ipynb", '["!nvidia-smi -L"]')
    (found,) = script(text.text[3:16], 3, frame_of(text, VOCABULARY))
    assert found.name == "nvidia-smi" and (found.span.column, found.span.end_column) == (4, 14)


@pytest.mark.parametrize(
    "source",
    [
        "$(" * 50_000,
        '"$(' * 50_000,
        "`" * 50_000,
        "if cuda; then\n" * 20_000,
        "a <<E\n" * 20_000,
        "\x0b\xa0 " * 20_000,
    ],
)
def test_hostile_scripts_end(source):
    began = time.perf_counter()
    rows("shell", "a.sh", source)
    assert time.perf_counter() - began < 5


def test_variables_that_launchers_pass_on():
    source = "mpirun -x CUDA_HOME=/c ./a\nsrun --export=ALL,CUDA_VISIBLE_DEVICES=0 ./a\n"
    assert rows("shell", "a.sh", source) == ["1 env CUDA_HOME", "2 env CUDA_VISIBLE_DEVICES"]
