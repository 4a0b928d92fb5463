"""The commands lookup, explain and rules, as a user runs them."""

import json

import pytest
from click.testing import CliRunner

from portaudit.cli import explain, lookup, rules
from portaudit.errors import UsageError


def run(module, *args):
    return CliRunner().invoke(module.command, args, catch_exceptions=True)


def test_symbol_with_history():
    done = run(lookup, "cudaMallocAsync", "--target", "rocm=7.2,gfx942")
    assert done.exit_code == 0
    for part in (
        "DIRECT for ROCm 7.2, gfx942",
        "hipMallocAsync",
        "added 11.2",
        "since 5.2.0",
        "PA101",
        "2026-",
    ):
        assert part in done.output


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("<cuda_runtime.h>", "hip/hip_runtime.h"),
        ("cudaFree()", "hipFree"),
        ("nvidia-cudnn-cu12", "package-bundled-cuda"),
        ("nvcr.io/nvidia/pytorch:24.05-py3", "rocm/pytorch"),
        ("nvidia-smi", "amd-smi"),
        ("CUDA_HOME", "ROCM_PATH"),
        ("gfx942", "64 lanes"),
        ("MI355X", "gfx950"),
        ("nvinfer", "MIGraphX"),
        ("CUDA::cublas", "roc::hipblas"),
        ("nvidia.com/gpu", "amd.com/gpu"),
        ("--use_fast_math", "-ffast-math"),
        ("sgemm", "nvblas"),
    ],
)
def test_every_sort_of_name(name, part):
    done = run(lookup, "--", name)
    assert done.exit_code == 0 and part in done.output, done.output


def test_family_gives_reasons_hours_and_sources():
    done = run(lookup, "nvjpegEncodeImage")
    assert done.exit_code == 0
    for part in ("BLOCKER", "jpeg-encode", "hours", "in one component", "source"):
        assert part in done.output, done.output


def test_unknown_names_get_the_nearest_spelling():
    done = run(lookup, "cudaMalloc", "cudaMaloc", "zzzzqqqq")
    assert done.exit_code == 1
    assert "cudaMaloc: in no table; near: cudaMalloc" in done.output
    assert "zzzzqqqq: in no table\n" in done.output
    assert "hipMalloc" in done.output


def test_target_changes_the_answer():
    assert "DIRECT" in run(lookup, "cudaLibraryLoadData", "-t", "rocm=7.2").output
    assert "ADAPTATION" in run(lookup, "cudaLibraryLoadData", "-t", "rocm=6.3,mi250x").output
    failed = run(lookup, "cudaMalloc", "-t", "rocm=8.1")
    assert isinstance(failed.exception, UsageError) and "7.2" in str(failed.exception)


def test_json():
    done = run(lookup, "cudaMalloc", "nosuchname", "gfx90a", "--format", "json")
    assert done.exit_code == 1
    body = json.loads(done.output)
    known, unknown, device = body["names"]
    assert known["found"][0]["fact"]["equivalent"] == "hipMalloc"
    assert known["found"][0]["ruling"]["verdict"] == "direct"
    assert known["found"][0]["rule_id"] == "PA101"
    assert unknown["found"] == [] and "near" in unknown
    assert device["architecture"]["wavefront"] == 64
    assert body["target"].startswith("rocm=") and body["knowledge_date"]


def test_odd_names_are_shown_safely():
    done = run(lookup, "cuda\x1b[31mMalloc", "\u202eevil", "")
    assert done.exit_code == 1
    assert "\x1b" not in done.output and "\u202e" not in done.output


@pytest.mark.parametrize("key", ["api-renamed", "PA101", "pa101"])
def test_explain(key):
    done = run(explain, key)
    assert done.exit_code == 0
    for part in (
        "PA101 api-renamed",
        "DIRECT",
        "why",
        "fix",
        "before",
        "hipMalloc",
        "rename: 0.1 to 1 hours",
    ):
        assert part in done.output
    assert json.loads(run(explain, key, "-f", "json").output)["slug"] == "api-renamed"


def test_explain_names_the_nearest_rule():
    for wrong, right in (("api-renamd", "api-renamed"), ("Image_CUDA", "image-cuda")):
        failed = run(explain, wrong)
        assert isinstance(failed.exception, UsageError)
        assert f"did you mean {right}?" in str(failed.exception)


def test_rules():
    every = run(rules).output.splitlines()
    assert len(every) > 50 and every == sorted(every)
    some = run(rules, "--element", "containers").output.splitlines()
    assert 0 < len(some) < len(every)
    listed = json.loads(run(rules, "--element", "containers", "--verdict", "adaptation", "-f", "json").output)
    assert {r["element"] for r in listed} == {"containers"}
    assert run(rules, "--element", "nonsense").exit_code == 2
