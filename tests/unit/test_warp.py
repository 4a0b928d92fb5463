"""Code that depends on the number of lanes, beside code that only looks like it."""

import pytest

from portaudit.analyze.base import Text
from portaudit.analyze.cuda import analyze
from portaudit.model.evidence import Evidence
from tests.unit.vocabularies import vocabulary

VOCABULARY = vocabulary()


def evidence(body, before=""):
    source = f"{before}\n__global__ void k(int* p, volatile float* s, unsigned* lock) {{\n{body}\n}}\n"
    return [e for e in analyze(Text("a.cu", source), VOCABULARY) if isinstance(e, Evidence)]


def patterns(body, before=""):
    return sorted({e.name for e in evidence(body, before) if e.kind.value == "pattern"})


@pytest.mark.parametrize(
    "body",
    [
        "int lane = threadIdx.x & 31; __syncwarp();",
        "int lane_id = threadIdx.x % 32;",
        "int t = threadIdx.x; int warp = t >> 5;",
        "int t = threadIdx.x; int wid = t / 32;",
        "const int lane = (threadIdx.x) & 0x1f;",
        "int lane = threadIdx.x & (32 - 1);",
        "int warps = (blockDim.x + 31) / 32; __syncwarp();",
        "__syncwarp(); s[0] = blockDim.x >> 5;",
        "int i = blockIdx.x * blockDim.x + threadIdx.x; int warp_id = i / 32;",
    ],
)
def test_lane_arithmetic(body):
    assert patterns(body) == ["lane-literal"]


@pytest.mark.parametrize(
    "body",
    [
        "int lane = threadIdx.x % warpSize;",
        "if ((threadIdx.x & 3) == 0) p[0] = 1;",
        "int i = blockIdx.x * 32 + threadIdx.x; p[i >> 5] |= 1u << (i & 31);",
        "int words = n / 32;",
        "int x = p[0] & 31;",
        "int tile_row = threadIdx.y / 32;",
    ],
)
def test_no_lane_arithmetic(body):
    assert patterns(body) == []


@pytest.mark.parametrize(
    ("mask", "bits"),
    [
        ("0xffffffff", 32),
        ("0xFFFFFFFFu", 32),
        ("~0u", 32),
        ("-1", 32),
        ("FULL", 32),
        ("0xffffffffffffffffull", 64),
        ("m32", 32),
        ("m64", 64),
        ("__activemask()", None),
    ],
)
def test_masks(mask, bits):
    before = "#define FULL 0xffffffffu"
    body = f"unsigned m32 = 1; unsigned long long m64 = 1; float v = __shfl_down_sync({mask}, 1.f, 1);"
    (call,) = [e for e in evidence(body, before) if e.name == "__shfl_down_sync"]
    assert call.attr("mask_bits") == bits


@pytest.mark.parametrize(
    ("left", "width"),
    [
        ("unsigned v =", 32),
        ("int v =", 32),
        ("uint32_t v =", 32),
        ("const unsigned int v =", 32),
        ("unsigned int const v =", 32),
        ("unsigned v = static_cast<unsigned>(", 32),
        ("unsigned v = unsigned(", 32),
        ("int v = __popcll(", None),
        ("unsigned long long v =", None),
        ("auto v =", None),
        ("", None),
        ("return", None),
    ],
)
def test_ballot_destinations(left, width):
    close = ")" * left.count("(")
    (call,) = [e for e in evidence(f"{left} __ballot_sync(m, 1){close};") if e.name == "__ballot_sync"]
    assert call.attr("assigned_width") == width


@pytest.mark.parametrize(
    ("result", "width"), [("unsigned", 32), ("uint32_t", 32), ("unsigned long long", None), ("auto", None)]
)
def test_ballots_that_a_function_returns(result, width):
    before = f"__device__ inline {result} votes(bool p) {{ return __ballot_sync(~0ull, p); }}"
    (call,) = [e for e in evidence("", before) if e.name == "__ballot_sync"]
    assert call.attr("assigned_width") == width


@pytest.mark.parametrize(
    ("alias", "width"),
    [
        ("using lanes_t = unsigned;", 32),
        ("typedef unsigned int lanes_t;", 32),
        ("using lanes_t = unsigned long long;", None),
        ("template <class T> using lanes_t = typename T::mask;", None),
    ],
)
def test_ballot_in_an_alias(alias, width):
    (call,) = [e for e in evidence("lanes_t v = __ballot_sync(m, 1);", alias) if e.kind.value == "call"]
    assert call.attr("assigned_width") == width


@pytest.mark.parametrize(
    ("other", "width"), [("0xffffffff", 32), ("~0u", 32), ("0xffffffffffffffffull", None), ("0", None)]
)
def test_ballots_compared_with_all_lanes(other, width):
    (call,) = [
        e for e in evidence(f"if (__ballot_sync(m, 1) == {other}) p[0] = 1;") if e.kind.value == "call"
    ]
    assert call.attr("assigned_width") == width


def test_bit_counts_of_ballots_only():
    assert patterns("unsigned v = __ballot_sync(m, 1); int n = __popc(v);") == ["bit-count-of-ballot"]
    assert patterns("int n = __ffs(__activemask());") == ["bit-count-of-ballot"]
    assert patterns("int n = __popc(p[0]);") == []


def test_lock_step_reductions():
    steps = " ".join(f"s[t] += s[t + {n}];" for n in (32, 16, 8, 4, 2, 1))
    assert patterns(f"int t = threadIdx.x; {steps}") == ["lockstep-reduction"]
    barred = " ".join(f"s[t] += s[t + {n}]; __syncthreads();" for n in (32, 16, 8, 4, 2, 1))
    assert patterns(f"int t = threadIdx.x; {barred}") == []


@pytest.mark.parametrize(
    "body",
    [
        "while (atomicCAS(lock, 0, 1) != 0) {}",
        "while (atomicCAS(lock, 0u, 1u));",
        "while (atomicExch(lock, 1)) { ; }",
        "do {} while (atomicCAS(lock, FREE, TAKEN) != FREE);",
        "for (;;) { if (atomicCAS(lock, 0, 1) == 0) break; }",
        "if (threadIdx.x == 0) { p[0] = 1; } while (atomicCAS(lock, 0, 1) != 0) ;",
    ],
)
def test_spin_locks_of_lanes(body):
    assert patterns(body) == ["lane-spin-lock"]


@pytest.mark.parametrize(
    "body",
    [
        "if (threadIdx.x == 0) { while (atomicCAS(lock, 0, 1) != 0) {} }",
        "if (threadIdx.x == 0) { if (p[0]) { p[1] = 0; } int n = 0; while (atomicCAS(lock, 0, 1) != 0) {} }",
        "int lane = threadIdx.x % warpSize; if (lane == 0) while (atomicCAS(lock, 0, 1) != 0) {}",
        "bool done = false; while (!done) { if (atomicCAS(lock, 0, 1) == 0) { p[0]++; atomicExch(lock, 0); done = true; } }",
        "while (atomicCAS(lock, 0, 1) != 0) { p[0]++; }",
        "int was = p[0], a; do { a = was; was = p[0]; } while (atomicCAS(p, a, a + 1) != a);",
        "do { s[0] = 1; } while (atomicCAS(p, __float_as_int(s[1]), 1) != 0);",
        "int a = p[0]; while (true) { a = p[1]; if (atomicCAS(p, a, a + 1) == a) break; }",
    ],
)
def test_other_uses_of_compare_and_swap(body):
    assert patterns(body) == []


@pytest.mark.parametrize(
    "before",
    [
        "constexpr int kWarpSize = 32;",
        "static const int WARP_SIZE = 32;",
        "enum { warp_size = 32 };",
        "template <typename T, int kWarpSize = 32> struct Tile {};",
        "constexpr unsigned WARP = 32u;",
    ],
)
def test_warp_constants(before):
    assert patterns("", before) == ["warp-constant"]


@pytest.mark.parametrize(
    "before",
    [
        "constexpr int kTile = 32;",
        "static const int WARPS = 4;",
        "int warm = 32;",
        "constexpr int kRowsPerWarp = 32;",
        "const int warp_size = amd ? 64 : 32;",
        "template <unsigned wave_size> constexpr bool narrow() { return wave_size == 32; }",
        "static const int kWarpSize = kBlock / 32;",
    ],
)
def test_other_constants(before):
    assert patterns("", before) == []


def test_warpsize_where_a_constant_is_needed():
    assert patterns("__shared__ float x[256 / warpSize];") == ["warpsize-as-constant"]
    assert patterns("Reduce<float, warpSize> r;") == ["warpsize-as-constant"]
    assert patterns("int n = 256 / warpSize;") == []
    assert patterns("for (int i = 0; i < warpSize; ++i) p[i] = 0;") == []


@pytest.mark.parametrize(
    "loop",
    [
        "for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(m, v, o);",
        "for (unsigned o = 32 / 2; o; o /= 2) { v += __shfl_xor(v, o); }",
        "for (int d = 1; d < 32; d <<= 1) { float u = __shfl_up_sync(m, v, d); if (l >= d) v += u; }",
    ],
)
def test_shuffle_loops_over_32_lanes(loop):
    assert "shuffle-loop-32" in patterns(f"float v = 0; {loop}")


@pytest.mark.parametrize(
    "loop",
    [
        "for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(m, v, o, 32);",
        "for (int o = warpSize / 2; o > 0; o >>= 1) v += __shfl_down_sync(m, v, o);",
        "for (int o = 4; o > 0; o >>= 1) v += __shfl_xor_sync(m, v, o);",
        "for (int o = 16; o > 0; o >>= 1) { s[o] = 0; __syncthreads(); }",
        "for (int o = 16; o > 0; o >>= 1) v += __shfl_sync(m, v, 0);",
        "for (int i = 0; i < 32; i *= 2) v += __shfl_up_sync(m, v, i);",
    ],
)
def test_other_loops(loop):
    assert "shuffle-loop-32" not in patterns(f"float v = 0; {loop}")


def test_bit_of_a_lane():
    assert patterns("int lane = threadIdx.x % warpSize; p[0] = (1u << lane) - 1;") == ["lane-bit"]
    assert patterns("int lane = threadIdx.x % warpSize; s[0] = (1ull << lane) - 1;") == []
    assert patterns("int lane = threadIdx.x % 8; p[0] = (1u << lane) - 1;") == []
    assert patterns("int plane = p[1]; p[0] = 1u << plane;") == []


@pytest.mark.parametrize(
    ("source", "path", "found"),
    [
        ("#define FULL_WARP_MASK 0xFFFFFFFF", "a.cuh", True),
        ("constexpr unsigned kAllLanes = ~0u;\n__device__ void f();", "a.h", True),
        ("#define FULL_MASK (-1)\n__device__ int f();", "a.h", True),
        ("#define FULL_WARP_MASK 0xFFFFFFFFFFFFFFFFull", "a.cuh", False),
        ("#define IP_FULL_MASK 0xFFFFFFFF\n__device__ int f();", "a.h", False),
        (
            "#define WARP_MASK 0xFFFFFFFF\n__device__ int f() { return __any_sync(WARP_MASK, 1); }",
            "a.cuh",
            False,
        ),
    ],
)
def test_masks_that_headers_name(source, path, found):
    names = {e.name for e in analyze(Text(path, source + "\n"), VOCABULARY) if isinstance(e, Evidence)}
    assert ("mask-constant" in names) == found
