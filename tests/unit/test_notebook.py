"""Notebooks: cells, magics, and the way back to the JSON file."""

import json

import pytest

from portaudit.analyze.base import Text
from portaudit.analyze.notebook import analyze
from portaudit.model.evidence import Evidence
from portaudit.model.places import Skip
from tests.unit.vocabularies import vocabulary

VOCABULARY = vocabulary(
    modules=frozenset({"cupy", "nvcc4jupyter"}),
    env=frozenset({"CUDA_VISIBLE_DEVICES"}),
    packages=frozenset({"torch"}),
)


def notebook(*cells, indent=1):
    code = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": c} for c in cells]
    return json.dumps(
        {"cells": code, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4}, indent=indent
    )


def run(source):
    return list(analyze(Text("n.ipynb", source), VOCABULARY))


def told(source):
    return [(e.span.cell, e.kind.value, e.name) for e in run(source) if isinstance(e, Evidence)]


def test_lines_and_columns_are_those_of_the_file():
    source = notebook(["x = 1\n", 'y = "ä", __import__("cupy")\n'])
    (item,) = run(source)
    line = source.splitlines()[item.span.line - 1]
    assert line[item.span.column - 1 :].startswith("__import__")
    assert item.line_text.startswith("y = ")


def test_escapes_before_a_place_shift_it():
    source = notebook(['a = "\\t\\u00e4\\"\\\\"; import cupy\n'])
    (item,) = run(source)
    line = source.splitlines()[item.span.line - 1]
    assert line[item.span.column - 1 :].startswith("cupy")


def test_source_as_one_string_and_old_worksheets():
    assert told(notebook("import os\nimport cupy")) == [(0, "import", "cupy")]
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["import cupy"]}]}], "metadata": {}}
    assert told(json.dumps(old)) == [(0, "import", "cupy")]


def test_cells_share_their_names():
    source = notebook(["import torch\n"], ["torch.version.cuda.split()"])
    assert (1, "attribute", "torch.version.cuda") in told(source)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("!nvidia-smi -L", ("tool", "nvidia-smi")),
        ("out = !nvidia-smi", ("tool", "nvidia-smi")),
        ("%%bash\nnvidia-smi", ("tool", "nvidia-smi")),
        ("%pip install torch==2.4.0+cu121", ("package", "torch")),
        ("!{sys.executable} -m pip install torch==2.4.0+cu121", ("package", "torch")),
        ("%load_ext nvcc4jupyter", ("import", "nvcc4jupyter")),
        ("%env CUDA_VISIBLE_DEVICES=1", ("env", "CUDA_VISIBLE_DEVICES")),
        ("%%cuda\nint main() { cudaMalloc(&p, 1); }", ("call", "cudaMalloc")),
        ("%%writefile k.cu\nint main() { cudaMalloc(&p, 1); }", ("call", "cudaMalloc")),
        ("%%time\nimport cupy", ("import", "cupy")),
    ],
)
def test_magics(cell, expected):
    assert (0, *expected) in told(notebook(cell))


@pytest.mark.parametrize(
    "cell", ["%%html\nimport cupy", "%%javascript\nnvidia-smi", "# !nvidia-smi", "%matplotlib inline"]
)
def test_what_is_not_code(cell):
    assert told(notebook(cell)) == []


def test_prose_and_outputs_are_never_read():
    cells = [
        {"cell_type": "markdown", "source": ["import cupy"]},
        {
            "cell_type": "code",
            "source": ["1"],
            "outputs": [{"text": ["import cupy\n"], "source": ["import cupy"]}],
        },
    ]
    assert told(json.dumps({"cells": cells, "metadata": {}})) == []


@pytest.mark.parametrize(
    "source",
    [
        "",
        "[]",
        "{",
        '{"cells": [',
        '{"cells": ]}',
        '{"cells": [{"cell_type": "code", "source": ["import cupy"',
        "{" + '"a": [' * 400 + "]" * 400 + "}",
        "import cupy",
    ],
)
def test_what_is_no_notebook_is_skipped(source):
    assert [s.reason for s in run(source) if isinstance(s, Skip)] == ["syntax"]


@pytest.mark.parametrize(
    "cells",
    [
        5,
        None,
        {"a": 1},
        [1, None, "x", []],
        [{"cell_type": 3, "source": {"a": ["import cupy"]}}],
        [{"cell_type": "code", "source": [1, None, {"x": "import cupy"}, ["import cupy"]]}],
        [{"cell_type": "code", "source": None}],
    ],
)
def test_wrong_types_do_no_harm(cells):
    assert told(json.dumps({"cells": cells, "metadata": [], "nbformat": "x"})) == []


def test_lone_surrogates_and_astral_characters():
    lines = '["s = \\"\\ud83d\\ude00 \\ud800\\"\\n", "import cupy"]'
    source = f'{{"cells": [{{"cell_type": "code", "source": {lines}}}], "metadata": {{}}}}'
    assert told(source) == [(0, "import", "cupy")]


def test_other_languages():
    r = json.dumps(
        {
            "cells": [{"cell_type": "code", "source": "import cupy"}],
            "metadata": {"language_info": {"name": "R"}},
        }
    )
    assert told(r) == []
