"""Start-up is part of the interface: what a command imports, by name, so that no clock decides."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "libcst",
    "jinja2",
    "rich",
    "yaml",
    "tree_sitter",
    "pathspec",
    "packaging",
    "pebble",
    "multiprocessing",
}
FIXTURE = Path(__file__).resolve().parents[2] / "fixtures" / "repos" / "first-look"


def imported(*args):
    code = (
        "import sys\n"
        f"sys.argv = ['portaudit', *{list(args)!r}]\n"
        "from portaudit.cli.main import run\n"
        "try:\n    run()\nexcept SystemExit:\n    pass\n"
        "print('MODULES', *{m.partition('.')[0] for m in sys.modules})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("MODULES ")[2].split())


@pytest.fixture(scope="module", autouse=True)
def _index():
    """The decoded index of the rules is made once; only then may yaml stay away."""
    subprocess.run(
        [sys.executable, "-m", "portaudit", "lookup", "cudaMalloc"], capture_output=True, check=True
    )


def test_version_imports_next_to_nothing():
    assert not imported("--version") & (HEAVY | {"msgspec"})


def test_help_imports_no_command():
    assert not imported("--help") & (HEAVY | {"msgspec"})


def test_lookup():
    assert not imported("lookup", "cudaMalloc") & HEAVY


def test_explain():
    assert not imported("explain", "ballot-in-int") & HEAVY


def test_scan_of_python_needs_no_cuda_grammar():
    names = imported("scan", str(FIXTURE / "serve" / "train.py"), "-f", "json")
    assert "tree_sitter_python" in names
    assert not names & {"tree_sitter_cuda", "tree_sitter_cpp", "jinja2", "rich", "libcst", "pebble", "yaml"}
