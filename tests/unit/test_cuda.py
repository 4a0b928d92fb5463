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


@pytest.mark.parametrize(
    ("before", "config", "threads", "shared"),
    [
        ("dim3 block(16, 2);", "g, block", 32, None),
        ("dim3 block = dim3(64);", "g, block", 64, None),
        ("dim3 block{8, 8};", "g, block", 64, None),
        ("size_t smem = 100 * 1024;", "g, 64, smem", 64, 102400),
        ("int block = 32; block = 2 * block;", "g, block", None, None),
        ("dim3 block(32); block.y = n;", "g, block", None, None),
        ("int block = n;", "g, block", None, None),
        ("", "g, n", None, None),
    ],
)
def test_launch_with_local_variables(before, config, threads, shared):
    (launch,) = evidence(f"void f(int n, dim3 g) {{ {before} k<<<{config}>>>(p); }}", kind="launch")
    assert (launch.attr("threads"), launch.attr("shared_bytes")) == (threads, shared)


def patterns(source):
    return sorted({e.name for e in evidence(source, kind="pattern")})


@pytest.mark.parametrize(
    "line",
    [
        "__device__ float4 operator+(float4 a, float4 b);",
        "float2& operator*=(float2& a, const float s) {}",
        "template <class T> __device__ float3 operator*(T s, float3 v) {}",
        "__device__ float3 operator-(float3 v) {}",
    ],
)
def test_operators_that_clash_with_those_of_hip(line):
    assert patterns(line) == ["vector-operator"]


@pytest.mark.parametrize(
    "line",
    [
        "__device__ float3 operator*(const Mat3& m, const float3& v);",
        "struct P { P operator*(float4 o) const; bool operator==(int2 o) {} };",
        "vec3 operator+(vec3 a, vec3 b);",
    ],
)
def test_operators_of_own_types(line):
    assert patterns(line) == []


def test_capability_asked_as_an_attribute():
    asked = "void f(int* p) { int m; cudaDeviceGetAttribute(&m, cudaDevAttrComputeCapabilityMajor, 0);"
    assert patterns(f"{asked} if (m >= 8) p[0] = 1; }}") == ["capability-compare"]
    assert patterns(f"{asked} int n = p->m > 3; }}") == []


def test_one_question_about_the_capability_is_told_once():
    asked = "int f(int d) { cudaDeviceProp p; cudaGetDeviceProperties(&p, d);"
    found = evidence(f"{asked} return p.major * 100 + p.minor * 10; }}", kind="pattern")
    assert [e.name for e in found] == ["capability-compare"]


def test_capability_is_not_the_version_of_a_file():
    asked = "bool f(Header h, int d) { cudaDeviceProp p; cudaGetDeviceProperties(&p, d);"
    assert patterns(f"{asked} return p.major == 9; }}") == ["capability-compare"]
    assert patterns(f"{asked} return h.major >= 2; }}") == []


def test_elements_of_fragments():
    made = "__global__ void k() { wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2]; Grid g;"
    assert patterns(f"{made} for (int i = 0; i < 8; ++i) acc[1].x[i] = 0; }}") == ["fragment-elements"]
    assert patterns(f"{made} for (int i = 0; i < acc[0].num_elements; ++i) acc[0].x[i] = 0; }}") == []
    assert patterns(f"{made} for (int i = 0; i < 8; ++i) g.x[i] = 0; }}") == []


def test_texture_fetches():
    for fetch in ("tex2Dgather<float4>(t, 0, 0, 1)", "tex2D<float>((cudaTextureObject_t)t, 0, 0)"):
        assert patterns(f"__global__ void k(cudaTextureObject_t t) {{ auto v = {fetch}; }}") == [
            "texture-fetch"
        ]
        assert patterns(f"void host(Image t) {{ auto v = {fetch}; }}") == []


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
