"""What the C++ and CUDA analyzer says of code that someone could write, and what it must not say."""

import pytest

from portaudit.analyze.base import Text
from portaudit.analyze.cuda import analyze, analyze_embedded
from portaudit.model.evidence import Evidence
from tests.unit.vocabularies import vocabulary

VOCABULARY = vocabulary()


def evidence(source, path="a.cu", kind=None):
    found = [e for e in analyze(Text(path, source), VOCABULARY) if isinstance(e, Evidence)]
    return [e for e in found if kind is None or e.kind.value == kind]


def names(source, *kinds, path="a.cu"):
    return sorted({e.name for e in evidence(source, path) if e.kind.value in kinds})


def test_calls_with_argument_count_and_place():
    (call,) = [e for e in evidence("void f() {\n  cudaMalloc(&p, g(1, 2));\n}\n") if e.kind.value == "call"]
    assert (call.name, call.span.line, call.span.column, call.attr("nargs")) == ("cudaMalloc", 2, 3, 2)


@pytest.mark.parametrize(
    "line",
    [
        "// cudaMalloc(&p, 1);",
        "/* cudaMalloc */",
        'const char* s = "cudaMalloc";',
        "#if 0\ncudaMalloc(&p, 1);\n#endif",
        "int barracudaMalloc = 1;",
        "mine::cudaMalloc(&p, 1);",
        "pool.cudaMalloc(1);",
        "pool->cudaFree(p);",
        "at::cuda::cudaFree(p);",
    ],
)
def test_quiet(line):
    assert names(f"#include <cuda_runtime.h>\n{line}\n", "call", "name", "unknown") == []


def test_own_functions_are_definitions_not_unknown_calls():
    source = "static void cudaCheckMine(int e) {}\nvoid f() { cudaCheckMine(0); cudaNobodyKnows(1); }\n"
    assert names(source, "define") == ["cudaCheckMine"]
    assert names(source, "unknown") == ["cudaCheckMine", "cudaNobodyKnows"]


@pytest.mark.parametrize("word", ["cudaCount", "cuddle", "CUSTOM_FLAG", "current", "cutoff", "nvalues"])
def test_ordinary_words_are_not_unknown(word):
    assert names(f"#include <cuda_runtime.h>\nint f(int {word}) {{ return {word}; }}\n", "unknown") == []


def test_guards_reach_the_evidence():
    source = "#ifndef USE_ROCM\nvoid f() { cudaMalloc(&p, 1); }\n#endif\n"
    (call,) = [e for e in evidence(source) if e.kind.value == "call"]
    assert call.guard is not None and call.guard.side == "cuda" and call.guard.line == 1


def test_namespaces_through_aliases_and_using():
    source = (
        "#include <mma.h>\nnamespace cg = cooperative_groups;\nusing namespace nvcuda;\nusing cub::BlockReduce;\n"
        "__global__ void k() { wmma::fragment<int> f; cg::reduce(t, v); BlockReduce<float, 128> r; }\n"
    )
    found = {e.name for e in evidence(source) if e.span.line == 5}
    assert {"nvcuda::wmma::fragment", "cooperative_groups::reduce", "cub::BlockReduce"} <= found


def test_launch_with_constant_geometry():
    source = "#define T 32\nconstexpr int kBytes = 96 * 1024;\nvoid f() { k<float><<<n / T, T * 2, kBytes, s>>>(p); }\n"
    (launch,) = evidence(source, kind="launch")
    assert launch.name == "k"
    assert (launch.attr("threads"), launch.attr("shared_bytes"), launch.attr("stream")) == (64, 98304, "s")
    assert launch.scope == "host:f"


def test_launch_in_device_code_and_in_a_macro():
    source = "__global__ void a() { b<<<1, 1>>>(); }\n#define GO(k) k<<<1, 2>>>()\n"
    first, second = evidence(source, kind="launch")
    assert first.scope == "kernel:a" and first.attr("in_macro") is None
    assert second.attr("in_macro") is True


def test_shifts_are_no_launches():
    assert evidence("int a = b << 2; x = y <<< 3;\n", kind="launch") == []


def test_inline_ptx_instructions():
    source = '__device__ void f() { asm volatile("mov.u32 %0, %%laneid;\\n ld.global.nc.f32 %1, [%2];" : "=r"(l)); }\n'
    found = {e.name: e.attr("register") for e in evidence(source, kind="asm")}
    assert found == {"mov.u32": "laneid", "ld.global.nc.f32": None}


@pytest.mark.parametrize(
    "text", ["pause", "rdtsc", "mov %%eax, %0", "s_waitcnt vmcnt(0)", "v_add_f32 v0, v1, v2", ""]
)
def test_other_assembly_is_no_ptx(text):
    assert evidence(f'__device__ void f() {{ asm volatile("{text}" ::: "memory"); }}\n', kind="asm") == []


def test_kernel_strings_are_read_at_their_place():
    source = (
        "#include <nvrtc.h>\nconst char* k =\n"
        '  "__global__ void k(int64_t n) {\\n"\n'
        '  "  std::move(n); }\\n";\n'
    )
    found = {(e.name, e.span.line) for e in evidence(source, kind="pattern")}
    assert ("fixed-width-type-in-rtc", 3) in found and ("std-name-in-rtc", 4) in found


def test_embedded_code_has_places_of_the_outer_file():
    outer = 'SRC = """\n__global__ void k() { cudaFree(0); }\n"""\n'
    start, end = outer.index("__global__"), outer.rindex('"""')
    found = [e for e in analyze_embedded(Text("a.py", outer), start, end, VOCABULARY) if e.name == "cudaFree"]
    assert [(e.span.path, e.span.line, e.scope) for e in found] == [("a.py", 2, "kernel:k")]


def test_conditions_on_cuda_macros():
    source = "#if __CUDA_ARCH__ >= 800\n#endif\n#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600\n#endif\n"
    source += "#if __CUDA_ARCH__ >= 700 || defined(USE_ROCM)\n#endif\n"
    first, second = evidence(source, kind="condition")
    assert (first.attr("form"), first.attr("harmless")) == ("compare", None)
    assert second.attr("harmless") is True


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_move_no_place(newline):
    source = newline.join(["#define A(x) \\", "  cudaFree(x)", "void f() { cudaFree(p); }", ""])
    assert sorted(e.span.line for e in evidence(source) if e.name == "cudaFree") == [2, 3]


def test_characters_beyond_ascii_move_no_column():
    source = 'void f() { /* é */ auto s = "日本"; cudaFree(p); }\n'
    (call,) = [e for e in evidence(source) if e.name == "cudaFree"]
    assert source[call.span.column - 1 :].startswith("cudaFree")


def test_unparsable_code_still_gives_names():
    assert names("__global__ void k( { ) cudaFree(p; }}}} \n cudaMalloc(", "call", "name") == [
        "cudaFree",
        "cudaMalloc",
    ]


def test_very_deep_nesting_ends():
    depth = 20_000
    source = "__global__ void k() {" + "{" * depth + "}" * depth + "}\nvoid f() { cudaFree(p); }\n"
    assert "cudaFree" in names(source, "call")
