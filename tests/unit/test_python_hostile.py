"""Python files made to hurt: depth, length, repetition. Each must end soon and never raise."""

from time import monotonic

import pytest

from portaudit.analyze.base import Text
from portaudit.analyze.python import analyze
from tests.unit.vocabularies import vocabulary

VOCABULARY = vocabulary(modules=frozenset({"torch", "cupy"}))
N = 20_000
SOURCES = {
    "brackets": "import torch\nx = " + "(" * N + "torch.version.cuda" + ")" * N,
    "lists": "import torch\nx = " + "[" * N + "'nvidia-smi'" + "]" * N,
    "open": "import torch\nx = " + "[" * N,
    "attributes": "import torch\nx = torch.version.cuda" + ".a" * N,
    "calls": "import torch\nx = torch.cuda" + "(1)" * N,
    "sums": "import torch\nx = torch.version.cuda" + " + torch.version.cuda" * N,
    "ands": "import torch\nx = torch.version.hip" + " and torch.version.cuda" * N,
    "nots": "import torch\nx = " + "not " * N + "torch.version.hip",
    "ternaries": "import torch\nx = " + "torch.version.hip if torch.version.cuda else " * 3000 + "1",
    "comparisons": "import torch\nx = torch.version.cuda" + " < torch.version.cuda" * N,
    "strings": "import torch\nx = (" + "'nvidia-smi -L' " * N + ")",
    "elif": "import torch\nif torch.version.hip:\n    pass\n" + "elif torch.version.cuda:\n    pass\n" * 5000,
    "blocks": "import torch\n"
    + "".join(" " * i + "if torch.version.hip:\n" for i in range(600))
    + " " * 600
    + "x = 1",
    "functions": "import torch\n"
    + "".join(f"def f{i}():\n    return f{i + 1}()\n" for i in range(5000))
    + "f0()",
    "itself": "import torch\ndef f():\n    return f() or torch.version.hip\nif f():\n    pass\n",
    "names": "import torch\n" + "".join(f"v{i} = torch.version.cuda\nv{i}.split()\n" for i in range(5000)),
    "lambdas": "import torch\nx = " + "lambda: " * N + "torch.version.cuda",
    "fstrings": "import torch\nx = " + "f'{torch.version.cuda}' " * N,
    "decorators": "import torch\n" + "@torch.version.hip\n" * N + "def f(): pass",
    "kernels": "import cupy\n" + "k = '__global__ void k() { cudaMalloc(); }'\n" * 500,
    "bytes": "import torch\n" + "\x00\x01\x02torch.version.cuda\x0c" * 50,
    "tabs": "import torch\n" + "\t" * N + "torch.version.cuda",
}


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_it_ends(name):
    began = monotonic()
    list(analyze(Text("a.py", SOURCES[name]), VOCABULARY))
    assert monotonic() - began < 8


@pytest.mark.parametrize("ending", ["pyx", "pxd"])
def test_cython_ends(ending):
    source = "cdef extern from 'cuda_runtime.h':\n" + "    int cudaMalloc(\n" * N + "IF HIP:\n" * 2000
    began = monotonic()
    list(analyze(Text(f"a.{ending}", source), VOCABULARY))
    assert monotonic() - began < 8
