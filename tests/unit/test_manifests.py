"""Requirements, project files, lock files, conda environments."""

import pytest

from portaudit.analyze.requirement import cuda_tag, local_version, parse_requirement_line
from tests.unit.around import evidence, names, rows, skips


@pytest.mark.parametrize(
    ("line", "name", "attrs"),
    [
        ("torch==2.6.0+cu124", "torch", {"specifier": "==2.6.0+cu124", "local": "cu124"}),
        ("Torch_Scatter >= 2.1, <3", "torch-scatter", {"specifier": "<3,>=2.1"}),
        ("jax[cuda12]>=0.4", "jax", {"specifier": ">=0.4", "extras": "cuda12"}),
        ('a==1 ; python_version < "3.9" --hash=sha256:00', "a", {"marker": 'python_version < "3.9"'}),
        ("a (>=1.0)", "a", {"specifier": ">=1.0"}),
        ("numpy  # a comment", "numpy", {}),
        ("-e git+https://github.com/NVIDIA/apex.git@main#egg=apex", "apex", {}),
        ("flash-attn @ git+https://github.com/x/y.git", "flash-attn", {}),
        ("https://h/torch-2.6.0%2Bcu124-cp311-cp311-linux_x86_64.whl", "torch", {"local": "cu124"}),
        ("torch @ https://h/torch-2.6.0%2Bcu124-cp311-cp311-linux_x86_64.whl", "torch", {"local": "cu124"}),
        ("foo==$VERSION", "foo", {"specifier": "==$VERSION"}),
    ],
)
def test_requirement(line, name, attrs):
    found = parse_requirement_line(line)
    assert found is not None and found[0] == name
    assert attrs.items() <= found[1].items()


@pytest.mark.parametrize(
    "line", ["", "# a", "-r other.txt", "--index-url x", "./local", ".[all]", "if(A)", "$A"]
)
def test_no_requirement(line):
    assert parse_requirement_line(line) is None


def test_tags_of_cuda_builds():
    assert cuda_tag("https://h/whl/cu124") == "cu124"
    assert cuda_tag("torch-2.4.0+cu121.html") == "cu121"
    assert cuda_tag("cucumber") == cuda_tag("focus1") == cuda_tag("whl/rocm6.2") == ""
    assert local_version("==2.6.0+rocm6.2") == "rocm6.2" and local_version(">=2") == ""


def test_requirement_file():
    source = (
        "--extra-index-url https://h/whl/cu124\n# cupy-cuda12x\ntorch==2.6.0+cu124 \\\n"
        "    --hash=sha256:aa\nnumpy\n"
    )
    assert rows("manifests", "requirements.txt", source) == [
        "1 index cuda-wheel-index",
        "3 package torch",
        "5 package numpy",
    ]


def test_known_packages_are_marked():
    found = {
        e.name: e.attr("known")
        for e in evidence("manifests", "requirements.txt", "torch\nnvidia-cuda-x\nq\n")
    }
    assert found == {"torch": True, "nvidia-cuda-x": True, "q": None}


def test_indexes():
    source = "\n".join(
        [
            "-f https://data.pyg.org/whl/torch-2.4.0+cu121.html",
            "--index-url https://pypi.nvidia.com",
            "--index-url https://download.pytorch.org/whl/rocm6.2",
            "--index-url https://pypi.org/simple",
        ]
    )
    assert rows("manifests", "requirements.txt", source) == [
        "1 index cuda-wheel-index",
        "2 index nvidia-wheel-index",
    ]


PYPROJECT = """\
[build-system]
requires = ["torch==2.6.0+cu124"]
[project]
dependencies = ["numpy", 'jax[cuda12]']
[project.optional-dependencies]
cuda = ["cupy-cuda12x"]
rocm = ["cupy-rocm-7-0"]
[tool.poetry.dependencies]
python = "^3.11"
torch = {version = "2.6.0+cu124", extras = ["opt"]}
[[tool.uv.index]]
url = "https://h/whl/cu124"
[tool.scikit-build.cmake.define]
GGML_CUDA = "ON"
"""


def test_pyproject():
    found = evidence("manifests", "pyproject.toml", PYPROJECT)
    assert [(e.span.line, e.name) for e in found] == [
        (2, "torch"),
        (4, "numpy"),
        (4, "jax[cuda12]"),
        (6, "cupy-cuda12x"),
        (7, "cupy-rocm-7-0"),
        (10, "torch"),
        (12, "cuda-wheel-index"),
        (14, "-DGGML_CUDA"),
    ]
    assert found[0].attr("section") == "build-system"
    assert found[3].guard is not None and found[3].guard.side == "cuda"
    assert found[4].guard is not None and found[4].guard.side == "rocm"
    assert found[5].attr("local") == "cu124" and found[5].attr("extras") == "opt"


def test_an_extra_for_cuda_alone_is_no_excuse():
    source = '[project.optional-dependencies]\ncuda = ["cupy-cuda12x"]\n'
    (found,) = evidence("manifests", "pyproject.toml", source)
    assert found.guard is None and found.attr("optional") is True


def test_broken_toml_is_read_as_far_as_it_goes():
    source = '[project]\ndependencies = ["cupy-cuda12x"]\nthis is not toml\nname = "x"\n'
    assert names("manifests", "pyproject.toml", source) == ["cupy-cuda12x"]
    (skip,) = skips("manifests", "pyproject.toml", source)
    assert skip.reason == "syntax" and not skip.whole and "line 3" in skip.detail


def test_setup_cfg():
    source = (
        "[metadata]\nname = torch\n[options]\ninstall_requires =\n    numpy\n"
        "    torch>=2\n[options.extras_require]\ngpu = cupy-cuda12x\n"
    )
    assert rows("manifests", "setup.cfg", source) == [
        "5 package numpy",
        "6 package torch",
        "8 package cupy-cuda12x",
    ]


def test_uv_lock():
    source = (
        '[[package]]\nname = "torch"\nversion = "2.6.0+cu124"\n'
        'source = { registry = "https://h/whl/cu124" }\n'
        'dependencies = [{ name = "triton" }]\n[[package]]\nname = "cupy-cuda12x"\nversion = "13"\n'
    )
    assert rows("manifests", "uv.lock", source) == [
        "2 package torch",
        "4 index cuda-wheel-index",
        "7 package cupy-cuda12x",
    ]


def test_pipfile_and_its_lock():
    pipfile = '[[source]]\nurl = "https://h/whl/cu121"\n[packages]\ntorch = {version = "==2.4.0+cu121"}\n'
    assert rows("manifests", "Pipfile", pipfile) == ["2 index cuda-wheel-index", "4 package torch"]
    lock = '{"_meta": {}, "default": {"cupy-cuda12x": {"version": "==13"}}, "develop": ["x"]}'
    assert names("manifests", "Pipfile.lock", lock) == ["cupy-cuda12x"]


def test_conda_environment():
    source = (
        "channels: [nvidia, conda-forge]\ndependencies:\n  - nvidia::cuda-nvcc=12.4\n"
        "  - pytorch=2.1=py3_cuda12\n"
        "  - pip:\n    - --index-url https://h/whl/cu124\n    - cupy-cuda12x\n"
    )
    found = evidence("manifests", "environment.yml", source)
    assert [(e.span.line, e.name) for e in found] == [
        (1, "conda-channel:nvidia"),
        (1, "conda-channel:conda-forge"),
        (3, "cuda-nvcc"),
        (4, "pytorch"),
        (6, "cuda-wheel-index"),
        (7, "cupy-cuda12x"),
    ]
    assert found[2].attr("channel") == "nvidia" and found[3].attr("build") == "py3_cuda12"


def test_an_environment_that_is_no_yaml():
    source = "dependencies:\n  - cudatoolkit=11\n {% if x %}\n  - : [\n"
    (skip,) = skips("manifests", "environment.yml", source)
    assert skip.reason == "syntax"
    found = evidence("manifests", "environment.yml", source)
    assert "cudatoolkit" in [e.name for e in found] and found[0].confidence.value == "low"


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("pyproject.toml", "a = " + "[" * 20_000),
        ("Pipfile.lock", '{"a":' * 20_000),
        ("Pipfile.lock", "7"),
        ("environment.yml", "[" * 20_000),
        ("environment.yml", "a: &a [x]\nb: [" + ",".join(["*a"] * 5_000) + "]"),
        ("requirements.txt", "\\\n" * 100_000),
        ("uv.lock", "[[package]]\nname = 1\nversion = []\n"),
    ],
)
def test_hostile_files_end(path, source):
    assert isinstance(rows("manifests", path, source), list)


@pytest.mark.parametrize(
    "option", ["--torch-backend", "--torch-backend=", "--torch-backends cu1", "-i", "-f ", "--index="]
)
def test_options_without_a_value(option):
    assert names("manifests", "requirements.txt", f"{option}\ntorch\n")[-1:] == ["torch"]
