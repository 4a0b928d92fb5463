"""Makefiles: compilers, options, branches, recipes."""

import pytest

from tests.unit.around import evidence, names, rows

SIMPLE = (
    "CC        = nvcc\nARCH      = sm_60\nCFLAGS := -Xcompiler -Wall -arch=$(ARCH)\n"
    "LDFLAGS = -lcublas -lm\na: a.o\n\t$(CC) $(CFLAGS) a.o\n"
)


def test_a_simple_makefile():
    found = evidence("make", "Makefile", SIMPLE)
    assert [(e.span.line, e.name) for e in found] == [
        (1, "nvcc"),
        (3, "-Xcompiler"),
        (3, "-arch"),
        (4, "cublas"),
    ]
    assert found[0].attr("role") == "compiler" and found[0].attr("path") is None
    assert found[2].attr("value") == "$(ARCH)"


def test_a_compiler_in_the_toolkit():
    found = evidence(
        "make",
        "Makefile",
        "NVCC ?= $(CUDA_HOME)/bin/nvcc\nGEN = -gencode arch=compute_80,code=sm_80 \\\n  --use_fast_math\n",
    )
    assert [(e.span.line, e.name) for e in found] == [
        (1, "nvcc"),
        (1, "CUDA_HOME"),
        (2, "-gencode"),
        (3, "--use_fast_math"),
    ]
    assert found[0].attr("path") is True


def test_toolkit_folders_and_definitions():
    source = (
        "CUDA_HOME = /usr/local/cuda\nINC = -I/usr/local/cuda/include -DWARP_SIZE=32\n"
        "L = -L$(CUDA_HOME)/lib64\n"
    )
    assert rows("make", "Makefile", source) == [
        "1 env CUDA_HOME",
        "2 string cuda-toolkit-path",
        "2 define WARP_SIZE",
    ]


def test_host_flags_are_not_read_as_nvcc_flags():
    assert names("make", "Makefile", "CC = gcc\nCFLAGS = -G 0 -x c -t\n") == []


def test_recipes():
    source = "a.o: a.cu\n\t@nvcc -c a.cu\n\t-nvidia-smi\n\t@echo nvcc\nb: ; nvcc b.cu\n"
    found = evidence("make", "Makefile", source)
    assert [(e.span.line, e.name) for e in found] == [(2, "nvcc"), (3, "nvidia-smi"), (5, "nvcc")]
    assert found[0].attr("role") == "recipe"


@pytest.mark.parametrize(
    ("opening", "sides"),
    [
        ("ifeq ($(B),hip)", ("rocm", "cuda")),
        ("ifneq ($(USE_ROCM),1)", ("cuda", "rocm")),
        ("ifdef USE_HIP", ("rocm", "cuda")),
        ("ifndef USE_HIP", ("cuda", "rocm")),
        ("ifeq ($(USE_HIP),)", ("cuda", "rocm")),
        ("ifneq ($(USE_HIP),)", ("rocm", "cuda")),
        ("ifeq ($(B),x)", ("", "")),
    ],
)
def test_branches(opening, sides):
    source = f"{opening}\nA = -lcublas\nelse\nB = -lcudart\nendif\n"
    found = evidence("make", "Makefile", source)
    assert tuple(e.guard.side if e.guard else "" for e in found) == sides


def test_hostile_files_end():
    for source in ("A = \\\n" * 50_000, "ifeq (cuda,1)\n" * 20_000, "$(" * 100_000, "A=" * 100_000):
        assert isinstance(rows("make", "Makefile", source), list)
