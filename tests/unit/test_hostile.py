"""Files that somebody wrote to do harm, or that a generator wrote without thinking of readers. Each must end, cost no
other file its findings, and be told of when it was not understood."""

import os
import sys

import pytest

from portaudit.engine.config import Config
from portaudit.engine.scan import scan

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join('*' + chr(97 + i) for _ in range(9))}]\n" for i in range(9)
)
FILES = {
    "deep-brackets.cu": "__global__ void k() {" + "(" * 50_000 + ")" * 50_000 + "; }\n",
    "deep-blocks.cu": "void f() " + "{" * 50_000 + "}" * 50_000,
    "open-blocks.cu": "__global__ void k() " + "{" * 50_000,
    "one-line.cu": "__device__ int x[] = {" + "1234," * 400_000 + "0};\n",
    "nested-ifs.cu": "#if __CUDA_ARCH__ >= 800\n" * 5_000 + "cudaFree(p);\n" + "#endif\n" * 5_000,
    "long-chain.cu": "#if A\n" + "#elif __CUDA_ARCH__ == 1\ncudaFree(p);\n" * 5_000 + "#endif\n",
    "switch.cu": "__global__ void k(int x) { switch (x) {"
    + "".join(f"case {i}: x += threadIdx.x & 31; break;" for i in range(20_000))
    + "}}\n",
    "macro-cycle.cu": "#define A B\n#define B A\n#define C (A + 1)\nvoid f() { k<<<A, B, C>>>(); }\n",
    "huge-shift.cu": "#define X (1 << 999999999)\n#define Y (X * X * X)\nvoid f() { k<<<X, Y>>>(); }\n#if 1 << 99999999\n#endif\n",
    "long-condition.cu": "#if "
    + "(" * 5_000
    + "1"
    + ")" * 5_000
    + "\n#endif\n#if "
    + "!" * 50_000
    + "1\n#endif\n",
    "strings.cu": "const char* a[] = {" + '"x\\\\y", ' * 50_000 + "};\n__global__ void k() {}\n",
    "deep.py": "import torch\nx = " + "[" * 3_000 + "]" * 3_000 + "\n",
    "indented.py": "import torch\n"
    + "".join(" " * i + "if torch.version.hip:\n" for i in range(500))
    + " " * 500
    + "pass\n",
    "chain.py": "import torch\nx = " + " + ".join(["torch.version.cuda"] * 3_000) + "\n",
    "elif.py": "import torch\nif torch.version.hip:\n  pass\n" + "elif torch.version.cuda:\n  pass\n" * 3_000,
    "bomb.yaml": BOMB + "image: nvidia/cuda:12.0-base\n",
    "deep.yaml": "services: " + "[" * 20_000 + "]" * 20_000 + "\n",
    "brackets.ipynb": "[" * 50_000 + "]" * 50_000,
    "wrong-types.ipynb": '{"cells": [{"cell_type": "code", "source": {"a": 1}}, {"cell_type": 5, "source": [1]}, 7]}',
    "sub/pyproject.toml": '[project]\ndependencies = 7\n[tool.poetry]\ndependencies = ["x"]\n[build-system]\nrequires = {}\n',
    "poetry.lock": "package = 3\n",
    "Pipfile.lock": '{"default": [1]}',
    "requirements.txt": "-r requirements.txt\n" + "a" * 50_000 + "==1\n" + "[" * 5_000 + "\n",
    "Dockerfile": "FROM " + "$" * 5_000 + "\nARG A=${A}\nFROM ${A}\nRUN " + "a && " * 5_000 + "true\n",
    "CMakeLists.txt": "(" * 20_000 + "\nif(" * 2_000 + "find_package(CUDA)\n",
    "Makefile": "A = $(A)\n" + "x" * 100_000 + "\n" + "NVCC = nvcc \\\n" * 5_000,
    "run.sh": "$(" * 5_000 + "true" + ")" * 5_000 + "\n" + "<<EOF\n" * 1_000,
}


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_hostile_file_ends_and_costs_no_other(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FILES[name])
    (tmp_path / "good.cu").write_text("void f(void* p) { cudaFree(p); }\n")
    report = scan(tmp_path, Config())
    assert any(f.span.path == "good.cu" for f in report.findings)
    assert {f.path for f in report.files} | {s.path for s in report.skips} >= {name, "good.cu"}
    for finding in report.findings:
        assert 1 <= finding.span.line <= finding.span.end_line


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes")
def test_names_that_are_not_utf8(tmp_path):
    with open(os.fsencode(tmp_path) + b"/bad\xff.cu", "w") as handle:
        handle.write("void f(void* p) { cudaFree(p); }\n")
    report = scan(tmp_path, Config())
    assert [f.span.path for f in report.findings] == ["bad\\xff.cu"]
    assert report.skips == ()


def test_a_process_that_dies_costs_one_file(tmp_path, monkeypatch):
    for number in range(6):
        (tmp_path / f"{number}.cu").write_text("void f(void* p) { cudaFree(p); }\n")
    (tmp_path / "3.cu").write_text("die")
    monkeypatch.setattr("portaudit.engine.executor.analyze_in_child", _dies_on_three)
    monkeypatch.delenv("PORTAUDIT_RAISE")
    report = scan(tmp_path, Config(jobs=2))
    assert sorted(f.path for f in report.files) == [f"{n}.cu" for n in range(6) if n != 3]
    assert [(s.path, s.reason) for s in report.skips] == [("3.cu", "crashed")]


def _dies_on_three(batch):
    from portaudit.engine.worker import analyze_batch

    if any(source.path == "3.cu" for source in batch.sources):
        os._exit(1)
    return analyze_batch(batch)
