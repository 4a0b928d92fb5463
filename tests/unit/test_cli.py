"""The command line: bad input is one clear line with its exit code, and nothing is half-written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIRST_LOOK = ROOT / "fixtures" / "repos" / "first-look"


def run(*args, cwd=None, **env):
    environment = {k: v for k, v in os.environ.items() if k != "PORTAUDIT_RAISE"}
    return subprocess.run(
        [sys.executable, "-m", "portaudit", *map(str, args)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**environment, **env},
        timeout=120,
    )


def one_line(done):
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


def test_scan_writes_several_reports_at_once(tmp_path):
    done = run(
        "scan",
        FIRST_LOOK,
        "-f",
        "json",
        "-o",
        tmp_path / "r.json",
        "-f",
        "html",
        "-o",
        tmp_path / "r.html",
        "-f",
        "text",
    )
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["schema_version"].startswith("1.")
    assert report["summary"]["verdict"] == "blocker"
    assert {f["path"] for f in report["files"]} >= {"csrc/rowstats.cu", "requirements.txt"}
    assert (tmp_path / "r.html").read_text().lstrip().lower().startswith("<!doctype html>")
    assert "blocker" in done.stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.html", "r.json"]


def test_missing_path():
    done = run("scan", "no/such/place")
    assert done.returncode == 2
    assert "no/such/place" in one_line(done) and "no such" in one_line(done)


def test_empty_tree(tmp_path):
    (tmp_path / "empty").mkdir()
    done = run("scan", tmp_path / "empty")
    assert done.returncode == 0
    assert "0 files read" in done.stderr


def test_unknown_option_and_command():
    assert run("scan", ".", "--fromat", "json").returncode == 2
    done = run("scna", ".")
    assert done.returncode == 2 and "scan" in done.stderr


def test_unknown_target():
    for target in ("gfx000", "rocm=banana", "mi9000x"):
        done = run("scan", FIRST_LOOK, "--target", target)
        assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1, done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.portaudit]\nexlude = ['a']\n", ("exlude", "exclude", "pyproject.toml")),
        ("[tool.portaudit]\nexclude = 3\n", ("exclude", "pyproject.toml")),
        ("[tool.portaudit]\nfail-on = 'everything'\n", ("everything", "blocker", "pyproject.toml")),
        ("[tool.portaudit]\ntarget = 'gfx000'\n", ("gfx000",)),
        ("[tool.portaudit]\njobs = 64\n", ("jobs", "command line", "pyproject.toml")),
        ("[tool.portaudit]\nmax-file-size = 99999999999\n", ("max-file-size", "pyproject.toml")),
    ],
)
def test_wrong_config(tmp_path, text, words):
    (tmp_path / "pyproject.toml").write_text(text)
    done = run("scan", tmp_path)
    assert done.returncode == 2
    assert all(word in one_line(done) for word in words), done.stderr
    assert run("scan", tmp_path, "--isolated").returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_output_that_can_not_be_written(tmp_path):
    target = tmp_path / "missing" / "r.json"
    done = run("scan", FIRST_LOOK, "-f", "json", "-o", target)
    assert done.returncode == 3 and "missing" in one_line(done)
    done = run("scan", FIRST_LOOK, "-f", "json", "-o", tmp_path)
    assert done.returncode == 3 and "folder" in one_line(done)
    assert list(tmp_path.iterdir()) == []


def test_outputs_that_do_not_fit_the_formats(tmp_path):
    assert run("scan", FIRST_LOOK, "-o", tmp_path / "a", "-o", tmp_path / "b").returncode == 2
    assert run("scan", FIRST_LOOK, "-f", "json", "-f", "text").returncode == 2


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file_is_counted(tmp_path):
    (tmp_path / "a.cu").write_text("int x;")
    (tmp_path / "a.cu").chmod(0)
    done = run("scan", tmp_path, "--strict")
    assert done.returncode == 3 and "1 not read" in done.stderr


def test_what_is_not_read_is_shown(tmp_path):
    (tmp_path / "a.cu").write_bytes(b"\0" * 100)
    (tmp_path / "b.cu").write_text("void f() { cudaFree(p); }\n")
    done = run("scan", tmp_path, "-f", "json")
    report = json.loads(done.stdout)
    assert [(s["path"], s["reason"]) for s in report["skips"]] == [("a.cu", "not-text")]
    assert [f["path"] for f in report["findings"]] == ["b.cu"]
    assert run("scan", tmp_path, "--strict", "-q").returncode == 3


def test_fail_on():
    assert run("scan", FIRST_LOOK, "-q", "--fail-on", "blocker").returncode == 1
    assert run("scan", FIRST_LOOK / "serve" / "train.py", "-q", "--fail-on", "direct").returncode == 0


def test_version_and_help():
    assert run("--version").stdout.startswith("portaudit")
    text = run("--help").stdout
    assert "scan" in text and "lookup" in text and "Exit codes" in text
    assert "--target" in run("scan", "--help").stdout


def test_lookup_and_explain():
    done = run("lookup", "cudaMalloc", "nvidia-smi")
    assert done.returncode == 0 and "hipMalloc" in done.stdout and "amd-smi" in done.stdout
    done = run("lookup", "cudaMallocAsinc")
    assert done.returncode == 1 and "cudaMallocAsync" in done.stdout + done.stderr
    assert "PA206" in run("explain", "ballot-in-int").stdout
    done = run("explain", "balot-in-int")
    assert done.returncode == 2 and "ballot-in-int" in done.stderr


def test_names_from_the_tree_do_not_reach_the_terminal_raw(tmp_path):
    (tmp_path / "a\x1b[31m\nb.cu").write_text("void f() { cudaGraphConditionalHandleCreate(&h, g, 1, 0); }\n")
    done = run("scan", tmp_path)
    assert "\x1b" not in done.stdout + done.stderr
