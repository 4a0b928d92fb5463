"""Which lines a ROCm build reaches."""

import pytest

from portaudit.analyze.conditions import evaluate
from portaudit.analyze.guards import folder_guard, guarded_regions, is_rocm_macro
from portaudit.analyze.lexical import Lexed


def sides(source):
    """Word on a line -> side of its guard, ``dead``, or None."""
    lexed = Lexed(source)
    regions = guarded_regions(lexed.directives(), lambda offset: source.count("\n", 0, offset) + 1)
    found, at = {}, 0
    for line in source.splitlines(keepends=True):
        if not line.lstrip().startswith("#"):
            region = regions.at(at)
            found[line.strip()] = "dead" if region.dead else region.guard.side if region.guard else None
        at += len(line)
    return found


def test_rocm_branch_and_its_else():
    assert sides("a\n#ifdef USE_ROCM\nb\n#else\nc\n#endif\nd\n") == {
        "a": None,
        "b": "rocm",
        "c": "cuda",
        "d": None,
    }


@pytest.mark.parametrize(
    "condition",
    [
        "#ifndef USE_ROCM",
        "#if !defined(__HIP_PLATFORM_AMD__)",
        "#if !defined(USE_ROCM) && defined(USE_CUDA)",
        "#ifndef __HIPCC__",
    ],
)
def test_excluded_on_rocm(condition):
    assert sides(f"{condition}\nx\n#endif\n")["x"] == "cuda"


@pytest.mark.parametrize(
    "condition",
    [
        "#if defined(USE_CUDA) || defined(USE_ROCM)",
        "#if defined(__CUDACC__) || defined(__HIPCC__)",
        "#ifdef SOMETHING",
        "#ifdef USE_CUDA",
    ],
)
def test_reached_on_rocm_or_not_known(condition):
    assert sides(f"{condition}\nx\n#endif\n")["x"] is None


def test_cuda_macros_alone_are_a_gate_not_a_guard():
    assert sides("#if __CUDA_ARCH__ >= 800\nx\n#else\ny\n#endif\n") == {"x": "gate", "y": None}


def test_the_other_branch_of_a_rocm_chain_is_cuda_only():
    assert sides("#if defined(WITH_CUDA)\nx\n#elif defined(WITH_HIP)\ny\n#else\nz\n#endif\n") == {
        "x": "cuda",
        "y": "rocm",
        "z": "cuda",
    }


@pytest.mark.parametrize("macro", ["__HIP_PLATFORM_NVIDIA__", "__HIP_PLATFORM_NVCC__"])
def test_the_nvidia_side_of_hip_is_cuda_only(macro):
    assert sides(f"#ifdef {macro}\nx\n#else\ny\n#endif\n")["x"] == "cuda"


def test_if_zero_is_dead_and_its_else_is_not():
    assert sides("#if 0\nx\n#else\ny\n#endif\n") == {"x": "dead", "y": None}


def test_nested_guards_keep_the_outer_side():
    assert sides("#ifndef USE_ROCM\n#if FOO\nx\n#endif\n#endif\n")["x"] == "cuda"


def test_a_missing_endif_and_a_stray_else_do_no_harm():
    assert sides("#else\na\n#ifdef USE_ROCM\nb\n")["b"] == "rocm"


@pytest.mark.parametrize(
    "name",
    [
        "USE_ROCM",
        "__HIP_PLATFORM_AMD__",
        "__HIPCC__",
        "GGML_USE_HIP",
        "ENABLE_HIP",
        "__gfx942__",
        "WITH_AMDGPU",
    ],
)
def test_rocm_macros(name):
    assert is_rocm_macro(name)


@pytest.mark.parametrize(
    "name", ["SHIP_IT", "CHIP_ID", "ROCKET", "WHIP", "AMD64", "__HIP_PLATFORM_NVIDIA__", "USE_CUDA"]
)
def test_no_rocm_macros(name):
    assert not is_rocm_macro(name)


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("1 && 0", False),
        ("A && 0", False),
        ("A || 1", True),
        ("A", None),
        ("!A", None),
        ("ON", True),
        ("defined(ON) && !defined(OFF)", True),
        ("OFF >= 800", False),
        ("F(1, 2) || OFF", None),
        ("(ON", True),
        ("1 ? 2 : 3", None),
        ("", None),
    ],
)
def test_three_valued_logic(condition, value):
    known = {"ON": True, "OFF": False}
    result = evaluate(condition, known.get)
    assert (None if result is None else bool(result)) == value


def test_deep_nesting_ends():
    assert evaluate("(" * 5000 + "1" + ")" * 5000, lambda name: None) in (None, 1)


@pytest.mark.parametrize(
    ("path", "guarded"),
    [
        ("csrc/rocm/gemm.cu", True),
        ("HIP/gemm.cu", True),
        ("third_party/amd/lib.h", True),
        ("rocm7/gemm.cu", True),
        ("csrc/rocm.cu", False),
        ("gemm-hip/main.cu", False),
        ("dist/amd64/gemm.cu", False),
        ("chips/gemm.cu", False),
        ("cuda/hip/gemm.cu", False),
    ],
)
def test_a_folder_for_rocm_guards_its_sources(path, guarded):
    found = folder_guard(path)
    assert (found is not None and found.side == "rocm") == guarded
