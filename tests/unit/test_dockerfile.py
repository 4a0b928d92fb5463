"""Stages, arguments, variables, commands of Dockerfiles."""

import pytest

from tests.unit.around import evidence, names, rows


def test_base_images_behind_arguments():
    source = (
        "ARG V=12.4.1\nARG BASE=nvidia/cuda:${V}-devel\nFROM --platform=linux/amd64 ${BASE} AS build\n"
        "FROM build AS test\nFROM ${X:-ubuntu:22.04}\nFROM $UNKNOWN\nFROM scratch\n"
    )
    found = evidence("dockerfile", "Dockerfile", source)
    assert [(e.span.line, e.name) for e in found] == [(3, "nvidia/cuda:12.4.1-devel"), (5, "ubuntu:22.04")]
    assert found[0].attr("stage") == "build" and found[0].scope == "stage:build"
    assert found[0].attr("argument") == "BASE"


def test_names_of_images():
    source = "FROM docker.io/library/ubuntu\nFROM nvcr.io/nvidia/pytorch:24.10-py3@sha256:" + "0" * 64 + "\n"
    assert names("dockerfile", "Dockerfile", source) == ["ubuntu", "nvcr.io/nvidia/pytorch:24.10-py3"]


def test_variables_over_several_lines():
    source = (
        "FROM a\nENV CUDA_HOME=/usr/local/cuda \\\n  # comment\n  A=b \\\n\n"
        "  NVIDIA_VISIBLE_DEVICES=all\nENV LD_LIBRARY_PATH /usr/local/cuda/lib64\n"
        "ARG TORCH_CUDA_ARCH_LIST=8.0\n"
    )
    assert rows("dockerfile", "Dockerfile", source) == [
        "1 image a",
        "2 env CUDA_HOME",
        "6 env NVIDIA_VISIBLE_DEVICES",
        "7 env LD_LIBRARY_PATH",
        "8 env TORCH_CUDA_ARCH_LIST",
    ]


def test_commands():
    source = (
        "FROM a\nRUN --mount=type=cache,target=/x apt-get install -y \\\n    # why\n"
        "    libcudnn9 && \\\n    nvidia-smi\n"
        'RUN ["nvidia-smi", "-L"]\nENTRYPOINT ["sh", "-c", "nvcc --version"]\n'
        "HEALTHCHECK --interval=5s CMD nvidia-smi || exit 1\nRUN echo nvcc\nCMD python a.py\n"
    )
    assert rows("dockerfile", "Dockerfile", source)[1:] == [
        "4 package system:libcudnn9",
        "5 tool nvidia-smi",
        "6 tool nvidia-smi",
        "7 tool nvcc",
        "8 tool nvidia-smi",
    ]


def test_heredocs():
    source = "FROM a\nRUN <<EOF\nnvidia-smi\nEOF\nRUN cat <<EOF > /x.conf\nnvidia-smi\nEOF\nRUN nvcc a.cu\n"
    assert rows("dockerfile", "Dockerfile", source)[1:] == ["3 tool nvidia-smi", "8 tool nvcc"]


def test_labels_and_copies():
    source = (
        "FROM a AS b\nLABEL com.nvidia.volumes.needed=x maintainer=y\nCOPY --from=b /a /b\n"
        "COPY --from=nvcr.io/nvidia/tritonserver:24.05 /a /b\n"
        "ADD https://developer.download.nvidia.com/x /x\n"
    )
    assert rows("dockerfile", "Dockerfile", source)[1:] == [
        "2 key com.nvidia.volumes.needed",
        "4 image nvcr.io/nvidia/tritonserver:24.05",
        "5 index nvidia-package-repository",
    ]


def test_stages_of_the_other_vendor():
    source = (
        "FROM rocm/dev-ubuntu-22.04 AS rocm\nRUN nvidia-smi\nFROM rocm AS app\n"
        "RUN nvidia-smi\nFROM x\nRUN nvidia-smi\n"
    )
    tools = [e for e in evidence("dockerfile", "Dockerfile", source) if e.name == "nvidia-smi"]
    assert [e.guard.side if e.guard else "" for e in tools] == ["rocm", "rocm", ""]


def test_a_file_named_rocm():
    found = evidence("dockerfile", "docker/Dockerfile.rocm", "FROM nvidia/cuda:12\nENV CUDA_HOME=/c\n")
    assert found[0].guard is None, "a CUDA image in a ROCm file is a mistake worth telling"
    assert found[1].guard is not None and found[1].guard.side == "rocm"


@pytest.mark.parametrize(
    "source",
    [
        "FROM ${" + "A:-${" * 20_000,
        "ENV " + '"' * 100_000,
        "RUN a \\\n" * 50_000,
        "RUN <<A\n" * 20_000,
        "".join(f"ARG A{i}=${{A{i - 1}}}${{A{i - 1}}}\n" for i in range(1, 60)) + "FROM ${A59}\n",
    ],
)
def test_hostile_files_end(source):
    assert isinstance(rows("dockerfile", "Dockerfile", source), list)


def test_singularity_definitions():
    source = (
        "Bootstrap: docker\nFrom: nvcr.io/nvidia/pytorch:24.05-py3\n%post\n  pip install cupy-cuda12x\n"
        "%labels\n  Author nvcc\n%runscript\n  nvidia-smi\n"
    )
    assert rows("dockerfile", "a.def", source) == [
        "2 image nvcr.io/nvidia/pytorch:24.05-py3",
        "4 package cupy-cuda12x",
        "8 tool nvidia-smi",
    ]
