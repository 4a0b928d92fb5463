"""The walk of a tree that nobody promised to be friendly."""

import os

import pytest

from portaudit.discover import opening
from portaudit.discover.classify import classify
from portaudit.discover.walk import walk
from portaudit.model.places import Kind, Skip, Source


def paths(items, kind=Source):
    return [item.path for item in items if isinstance(item, kind)]


def test_sorted_and_complete(tmp_path):
    for name in ("b/x.cu", "a.py", "b/y.cu", ".github/workflows/ci.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert paths(walk(tmp_path)) == [".github/workflows/ci.yml", "a.py", "b/x.cu", "b/y.cu"]


def test_links_are_not_followed_outside_and_loops_end(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.cu").write_text("x")
    root = tmp_path / "root"
    root.mkdir()
    (root / "loop").symlink_to(root)
    (root / "out").symlink_to(outside)
    (root / "secret.cu").symlink_to(outside / "secret.cu")
    (root / "own.cu").write_text("x")
    (root / "again.cu").symlink_to(root / "own.cu")
    found = list(walk(root))
    assert paths(found) == ["own.cu"]
    assert {s.path: s.reason for s in found if isinstance(s, Skip)} == {
        "out": "link-outside",
        "secret.cu": "link-outside",
    }


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_pipes_are_listed_and_never_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.cu")
    (skip,) = walk(tmp_path)
    assert skip == Skip("pipe.cu", "special-file", "not a regular file")
    assert opening.read(tmp_path, "pipe.cu", 10) == Skip("pipe.cu", "special-file", "not a regular file")


def test_ignore_files(tmp_path):
    (tmp_path / ".gitignore").write_text("build/\n*.gen.cu\n!keep.gen.cu\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/.gitignore").write_text("/local.cu\n")
    for name in ("build/a.cu", "b.gen.cu", "keep.gen.cu", "sub/local.cu", "sub/deep/local.cu"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    code = [p for p in paths(walk(tmp_path)) if p.endswith(".cu")]
    assert code == ["keep.gen.cu", "sub/deep/local.cu"]
    everything = [p for p in paths(walk(tmp_path, use_ignore_files=False)) if p.endswith(".cu")]
    assert len(everything) == 5


def test_exclude(tmp_path):
    for name in ("third_party/x/a.cu", "src/a.cu"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert paths(walk(tmp_path, ("third_party/**",))) == ["src/a.cu"]


def test_too_large_gone_and_empty(tmp_path):
    (tmp_path / "big.cu").write_bytes(b"x" * 11)
    (tmp_path / "fits.cu").write_bytes(b"x" * 10)
    assert opening.read(tmp_path, "big.cu", 10) == Skip("big.cu", "too-large", "over 10 bytes")
    assert opening.read(tmp_path, "fits.cu", 10) == b"x" * 10
    gone = opening.read(tmp_path, "gone.cu", 10)
    assert isinstance(gone, Skip) and gone.reason == "unreadable"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.cu", Kind.CUDA),
        ("a.cuh", Kind.CUDA),
        ("kernel.cu.in", Kind.CUDA),
        ("A.H", Kind.CXX),
        ("x.hip", Kind.HIP),
        ("src/CMakeLists.txt", Kind.CMAKE),
        ("x.cmake", Kind.CMAKE),
        ("GNUmakefile", Kind.MAKE),
        ("Dockerfile.rocm", Kind.DOCKERFILE),
        ("docker/cuda.dockerfile", Kind.DOCKERFILE),
        ("requirements-dev.txt", Kind.REQUIREMENTS),
        ("requirements/test.txt", Kind.REQUIREMENTS),
        ("environment.yml", Kind.CONDA),
        ("docker-compose.yml", Kind.YAML),
        ("uv.lock", Kind.LOCK),
        ("notes.txt", Kind.OTHER),
        ("setup.py", Kind.PYTHON),
        ("k.ptx", Kind.PTX),
        ("job.sbatch", Kind.SHELL),
    ],
)
def test_classify(name, kind):
    assert classify(name) is kind


def test_scripts_without_suffix(tmp_path):
    assert classify("run", b"#!/usr/bin/env python3\n") is Kind.PYTHON
    assert classify("run", b"#!/bin/bash\n") is Kind.SHELL
    assert classify("run", b"\x7fELF") is Kind.OTHER
