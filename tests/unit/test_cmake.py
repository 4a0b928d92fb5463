"""CMake: tokens, languages, variables, properties, options, branches."""

import pytest

from portaudit.analyze.cmakewords import cmake_commands
from tests.unit.around import evidence, names, rows


def arguments(source):
    return [(c.name, [a.text for a in c.arguments]) for c in cmake_commands(source)]


def test_tokens():
    assert arguments('Set(A "b c;d" e) # f()\nif((A AND "B") OR C)\n') == [
        ("set", ["A", "b c;d", "e"]),
        ("if", ["(", "A", "AND", "B", ")", "OR", "C"]),
    ]
    assert arguments("a([=[x ] y]=] z)\n#[[ b(c)\n]] d(e)") == [("a", ["x ] y", "z"]), ("d", ["e"])]
    assert arguments("a($<$<COMPILE_LANGUAGE:CUDA>:-b\n -c> d)") == [
        ("a", ["$<$<COMPILE_LANGUAGE:CUDA>:-b\n -c>", "d"])
    ]
    assert arguments("a(b") == [("a", ["b"])]


def test_languages_and_packages():
    source = (
        "project(a LANGUAGES CXX CUDA)\nproject(cuda CXX)\nenable_language(CUDA)\n"
        "find_package(CUDA 10 REQUIRED)\nlist(APPEND L_LANGUAGES CUDA)\n"
    )
    found = evidence("cmake", "CMakeLists.txt", source)
    assert [(e.span.line, e.name) for e in found] == [
        (1, "project(CUDA)"),
        (3, "enable_language(CUDA)"),
        (4, "find_package(CUDA)"),
        (5, "project(CUDA)"),
    ]
    assert found[2].attr("required") is True


def test_variables_and_flags():
    source = (
        'set(CMAKE_CUDA_ARCHITECTURES 70 80)\nset(A "${CUDA_B}")\n'
        'set(CUDA_NVCC_FLAGS "-O3;-gencode arch=compute_70,code=sm_70;'
        '-gencode arch=compute_80,code=sm_80;--use_fast_math")\n'
        "include_directories(${CUDA_INCLUDE_DIRS} /usr/local/cuda/include)\n"
    )
    found = evidence("cmake", "CMakeLists.txt", source)
    assert [(e.span.line, e.name) for e in found] == [
        (1, "CMAKE_CUDA_ARCHITECTURES"),
        (3, "CUDA_NVCC_FLAGS"),
        (3, "-gencode"),
        (3, "--use_fast_math"),
        (4, "CUDA_INCLUDE_DIRS"),
        (4, "cuda-toolkit-path"),
    ]
    assert found[2].attr("count") == 2


def test_targets():
    source = (
        "target_link_libraries(t PRIVATE CUDA::cufft CUDA::cublas_static nvinfer m)\n"
        "set_target_properties(t PROPERTIES\n  CUDA_SEPARABLE_COMPILATION ON)\n"
        "target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--default-stream=per-thread>)\n"
        "target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-O3>)\n"
        "target_compile_options(t PRIVATE $<$<COMPILE_LANGUAGE:CUDA,HIP>:-O3>)\n"
        "target_compile_definitions(t PRIVATE WARP_SIZE=32 CUDA_FOO=1)\n"
    )
    found = evidence("cmake", "CMakeLists.txt", source)
    assert [(e.span.line, e.name) for e in found] == [
        (1, "CUDA::cufft"),
        (1, "cublas"),
        (1, "nvinfer"),
        (3, "CUDA_SEPARABLE_COMPILATION"),
        (4, "--default-stream"),
        (5, "COMPILE_LANGUAGE:CUDA"),
        (7, "WARP_SIZE"),
    ]
    assert {e.scope for e in found} == {"target:t"}
    assert found[4].attr("tested") == "CUDA" and found[4].attr("value") == "per-thread"


def test_tools_and_sources():
    source = (
        "find_program(NVCC nvcc)\nfind_library(L cudnn PATHS /usr/local/cuda)\n"
        "execute_process(COMMAND nvidia-smi -L)\n"
        "add_custom_command(OUTPUT a COMMAND ${CMAKE_CUDA_COMPILER} -ptx a.cu)\n"
        'CPMAddPackage("gh:NVIDIA/cccl@2.3")\n'
        "FetchContent_Declare(c GIT_REPOSITORY https://github.com/NVIDIA/cutlass.git)\n"
    )
    assert rows("cmake", "CMakeLists.txt", source) == [
        "1 tool nvcc",
        "2 library cudnn",
        "3 tool nvidia-smi",
        "4 tool nvcc",
        "4 flag -ptx",
        "5 index nvidia-source:cccl",
        "6 index nvidia-source:cutlass",
    ]


def test_branches():
    source = (
        "if(USE_HIP)\n enable_language(HIP)\nelse()\n enable_language(CUDA)\nendif()\n"
        "if(B_CUDA)\n find_package(CUDAToolkit)\nendif()\n"
    )
    found = evidence("cmake", "CMakeLists.txt", source)
    assert [(e.name, e.guard.side) for e in found if e.guard] == [
        ("enable_language(CUDA)", "cuda"),
        ("find_package(CUDAToolkit)", "cuda"),
    ]


def test_return_leaves_a_function_only():
    source = (
        "function(f)\n if(HIP)\n  return()\n endif()\n enable_language(CUDA)\n"
        "endfunction()\nenable_language(CUDA)\n"
    )
    inside, outside = evidence("cmake", "a.cmake", source)
    assert inside.guard is not None and inside.guard.side == "cuda" and outside.guard is None


@pytest.mark.parametrize(
    "line", ['message("CUDA nvcc")', "option(USE_CUDA on)", "# project(a CUDA)", "set(S cuda.cpp)"]
)
def test_words_are_no_evidence(line):
    assert names("cmake", "CMakeLists.txt", line) == []


@pytest.mark.parametrize(
    "source",
    [
        "(" * 100_000,
        "f(" * 50_000,
        "f($<a " * 20_000,
        "f(" + "$<a " * 50_000,
        "if(CUDA)\n" * 20_000,
        'set(A "' * 20_000,
    ],
)
def test_hostile_files_end(source):
    assert isinstance(rows("cmake", "CMakeLists.txt", source), list)
