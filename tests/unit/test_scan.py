"""Whole scans: what must not depend on order, processes, place of the tree or line ends, and what the tree as a whole
decides."""

import shutil
from pathlib import Path

import pytest

from portaudit.engine.config import Config
from portaudit.engine.scan import scan
from portaudit.errors import UsageError
from portaudit.model.facts import Verdict
from portaudit.model.findings import State

REPOS = Path(__file__).resolve().parents[2] / "fixtures" / "repos"


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def shown(report):
    return [
        (f.span.path, f.span.line, f.rule, f.verdict.value) for f in report.findings if f.state is State.SHOWN
    ]


def test_processes_change_nothing():
    alone = scan(REPOS / "first-look", Config(jobs=1))
    pooled = scan(REPOS / "first-look", Config(jobs=2))
    assert alone == pooled


def test_the_place_of_a_tree_changes_nothing(tmp_path):
    shutil.copytree(REPOS / "first-look", tmp_path / "elsewhere" / "first-look")
    assert scan(tmp_path / "elsewhere" / "first-look", Config()) == scan(REPOS / "first-look", Config())


def test_line_ends_and_bom_move_no_verdict(tmp_path):
    source = (REPOS / "first-look" / "csrc" / "rowstats.cu").read_bytes()
    write(tmp_path / "a", {"rowstats.cu": source})
    write(tmp_path / "b", {"rowstats.cu": b"\xef\xbb\xbf" + source.replace(b"\n", b"\r\n")})
    assert shown(scan(tmp_path / "a", Config())) == shown(scan(tmp_path / "b", Config()))


def test_fingerprints_survive_moved_lines(tmp_path):
    source = "void f(void* p) { cudaFree(p); }\nvoid g(void* p) { cudaFree(p); }\n"
    write(tmp_path / "a", {"x.cu": source})
    write(tmp_path / "b", {"x.cu": "// new\n\n" + source.replace("{ ", "{   ")})
    first, second = ([f.fingerprint for f in scan(tmp_path / n, Config()).findings] for n in "ab")
    assert first == second and len(set(first)) == len(first) == 2


def test_a_header_that_maps_cuda_names_reaches_its_includers(tmp_path):
    write(
        tmp_path,
        {
            "gpu/compat.h": "#include <hip/hip_runtime.h>\n#define cudaFree hipFree\n",
            "common.h": '#include "gpu/compat.h"\n',
            "a.cpp": '#include "common.h"\nvoid f(void* p) { cudaFree(p); }\n',
            "b.cpp": "#include <cuda_runtime.h>\nvoid f(void* p) { cudaFree(p); }\n",
        },
    )
    report = scan(tmp_path, Config())
    calls = {f.span.path: f.state for f in report.findings if f.subject == "cudaFree"}
    assert calls == {"a.cpp": State.GUARDED, "b.cpp": State.SHOWN}


def test_headers_that_include_each_other_end(tmp_path):
    write(
        tmp_path,
        {
            "a.h": '#include "b.h"\n#define cudaFree hipFree\n',
            "b.h": '#include "a.h"\n',
            "c.cu": '#include "b.h"\nvoid f(void* p) { cudaFree(p); }\n',
        },
    )
    assert shown(scan(tmp_path, Config())) == []


def test_a_blocked_header_blocks_its_includers(tmp_path):
    write(
        tmp_path,
        {
            "gemm.h": "#include <cutlass/gemm/device/gemm.h>\n",
            "launch.h": '#include "gemm.h"\n',
            "a.cu": '#include "launch.h"\n__global__ void k() {}\n',
            "b.cu": "__global__ void k() {}\n",
        },
    )
    report = scan(tmp_path, Config())
    verdicts = {f.path: f.verdict for f in report.files}
    assert verdicts["a.cu"] is Verdict.BLOCKER and verdicts["launch.h"] is Verdict.BLOCKER
    assert verdicts["b.cu"] is Verdict.PORTABLE
    (inherited,) = [
        f for f in report.findings if f.span.path == "a.cu" and f.rule == "blocked-header-included"
    ]
    assert inherited.related[0].path == "gemm.h"


def test_own_names_are_not_unknown_and_unknown_ones_are_counted(tmp_path):
    write(
        tmp_path,
        {
            "check.h": "#define CUDA_R_CHECKED(x) (x)\ninline void cudaMine(int) {}\n",
            "a.cu": '#include "check.h"\nvoid f() { cudaMine(1); cudaNobodyKnowsThis(2); cudaNobodyKnowsThis(3); }\n',
        },
    )
    report = scan(tmp_path, Config())
    assert [(u.name, u.count, u.path, u.line) for u in report.unknown] == [
        ("cudaNobodyKnowsThis", 2, "a.cu", 2)
    ]
    unknown = [f for f in report.findings if f.rule == "api-unknown"]
    assert {f.confidence.value for f in unknown} == {"low"}


def test_an_atomic_of_the_project_itself_is_its_own(tmp_path):
    kernel = "__global__ void k(__half* p) { atomicAdd(p, __half(1)); }\n"
    write(tmp_path / "with", {"a.cu": "__device__ void atomicAdd(__half* a, __half v) {}\n" + kernel})
    write(tmp_path / "without", {"a.cu": kernel})
    assert "half-atomic" not in {row[2] for row in shown(scan(tmp_path / "with", Config()))}
    assert "half-atomic" in {row[2] for row in shown(scan(tmp_path / "without", Config()))}


def test_a_project_that_is_itself_in_the_tables_does_not_depend_on_itself(tmp_path):
    write(tmp_path, {"cupy/__init__.py": "", "cupy/core.py": "import cupy\nimport pycuda\n"})
    assert {(p, s) for p, _, _, s in shown(scan(tmp_path, Config()))} <= {
        ("cupy/core.py", "adaptation"),
        ("cupy/core.py", "blocker"),
    }
    subjects = {f.subject for f in scan(tmp_path, Config()).findings}
    assert "pycuda" in subjects and "cupy" not in subjects


def test_optional_blockers_do_not_block_the_whole(tmp_path):
    write(tmp_path, {"a.py": "try:\n    import tensorrt\nexcept ImportError:\n    tensorrt = None\n"})
    report = scan(tmp_path, Config())
    assert report.verdict is not Verdict.BLOCKER


@pytest.mark.parametrize(
    ("target", "expected"),
    [("rocm=6.3,gfx942", "adaptation"), ("rocm=7.2,gfx942", "direct"), (None, "direct")],
)
def test_a_name_that_arrives_later_is_not_direct_before(tmp_path, target, expected):
    write(
        tmp_path,
        {"a.cpp": "#include <cuda_runtime.h>\nvoid f() { cudaLibraryLoadData(&l, i, 0, 0, 0, 0, 0, 0); }\n"},
    )
    report = scan(tmp_path, Config(target=target or ""))
    (finding,) = [f for f in report.findings if f.subject == "cudaLibraryLoadData"]
    assert finding.verdict.value == expected


def test_wave_rules_depend_on_the_architecture(tmp_path):
    write(
        tmp_path,
        {"a.cu": "__global__ void k() { unsigned v = __ballot_sync(~0ull, 1); int n = __popc(v); }\n"},
    )
    wide = {row[2] for row in shown(scan(tmp_path, Config(target="gfx942")))}
    narrow = {row[2] for row in shown(scan(tmp_path, Config(target="gfx1100")))}
    assert {"ballot-in-int", "bit-count-of-ballot"} <= wide
    assert not {"ballot-in-int", "bit-count-of-ballot"} & narrow


def test_a_single_file_can_be_scanned():
    report = scan(REPOS / "first-look" / "csrc" / "rowstats.cu", Config())
    assert [f.path for f in report.files] == ["rowstats.cu"]


def test_what_does_not_exist_is_told():
    with pytest.raises(UsageError, match="no such file"):
        scan(Path("no-such-folder"), Config())


def test_component_verdict_is_the_worst_and_says_why():
    report = scan(REPOS / "first-look", Config())
    by_name = {c.name: c for c in report.components}
    assert by_name["first-look"].verdict is Verdict.BLOCKER and "ensor" in by_name["first-look"].reason
    assert by_name["docker/Dockerfile"].verdict is Verdict.ADAPTATION
    low, likely, high = by_name["first-look"].hours
    assert 0 < low <= likely <= high


MATRIX_KERNEL = """
__global__ void k{0}(float* c) {{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%0}}, {{%1}}, {{%2}}, {{%0}};" : "+f"(c[0]) : "r"(1), "r"(2));
}}
"""


def test_a_component_of_matrix_kernels_alone_is_blocked(tmp_path):
    only = {f"k{n}.cu": MATRIX_KERNEL.format(n) for n in range(3)}
    write(tmp_path / "only", only)
    write(tmp_path / "mixed", {**only, "plain.cu": "__global__ void plain(float* c) { c[0] = 1; }\n"})
    write(tmp_path / "few", {"k.cu": MATRIX_KERNEL.format(0)})
    verdicts = {
        name: scan(tmp_path / name, Config()).components[0].verdict.value for name in ("only", "mixed", "few")
    }
    assert verdicts == {"only": "blocker", "mixed": "adaptation", "few": "adaptation"}
