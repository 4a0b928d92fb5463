"""Compose, Kubernetes, Helm, CI files, playbooks."""

from itertools import pairwise

import pytest

from portaudit.analyze.templates import masked
from tests.unit.around import evidence, names, rows, skips


def test_compose():
    source = """\
services:
  a:
    image: ${IMAGE:-nvcr.io/nvidia/pytorch:24.10-py3}
    runtime: nvidia
    gpus: all
    environment: [NVIDIA_VISIBLE_DEVICES=0, A=b]
    devices: [nvidia.com/gpu=all, /dev/nvidia0:/dev/nvidia0]
    healthcheck: {test: [CMD, nvidia-smi]}
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1}]}}}
  web: {image: nginx}
"""
    found = evidence("deployment", "compose.yaml", source)
    assert [f"{e.span.line} {e.name}" for e in found] == [
        "3 nvcr.io/nvidia/pytorch:24.10-py3",
        "4 runtime: nvidia",
        "5 gpus",
        "6 NVIDIA_VISIBLE_DEVICES",
        "7 nvidia.com/gpu",
        "7 nvidia-host-path",
        "8 nvidia-smi",
        "9 driver: nvidia",
        "10 nginx",
    ]
    assert found[0].scope == "service:a" and found[-1].scope == "service:web"


def test_kubernetes():
    source = """\
spec:
  runtimeClassName: nvidia
  nodeSelector: {nvidia.com/gpu.product: A100, pool: h100-pool}
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  containers:
    - name: app
      image: registry.example/a:1
      env:
        - {name: CUDA_VISIBLE_DEVICES, value: "0"}
        - name: LD_LIBRARY_PATH
          value: /usr/local/cuda/lib64
      resources: {limits: {nvidia.com/gpu: 1, cpu: 2}}
      command: [sh, -c, "nvidia-smi && serve"]
---
spec: {deviceClassName: gpu.nvidia.com}
"""
    assert rows("deployment", "a.yaml", source) == [
        "2 key runtimeClassName: nvidia",
        "3 key nvidia.com/gpu.product",
        "3 key h100",
        "4 key nvidia.com/gpu",
        "7 image registry.example/a:1",
        "9 env CUDA_VISIBLE_DEVICES",
        "10 env LD_LIBRARY_PATH",
        "12 key nvidia.com/gpu",
        "13 tool nvidia-smi",
        "15 key gpu.nvidia.com",
    ]


def test_workflow():
    source = """\
jobs:
  build:
    runs-on: [self-hosted, nvidia-a100]
    container: {image: "nvidia/cuda:${{ matrix.cuda }}-devel", options: --gpus all}
    strategy:
      matrix:
        cuda: ["12.1", "12.4"]
        arch: ["80", "90a"]
        python: ["3.11"]
        include:
          - cuda: "12.6"
    steps:
      - uses: Jimver/cuda-toolkit@v0.2
      - run: cmake -DCMAKE_CUDA_ARCHITECTURES=${{ matrix.arch }} .
      - run: |
          nvidia-smi
          echo nvcc
"""
    assert rows("deployment", ".github/workflows/a.yml", source) == [
        "3 key nvidia",
        "4 image nvidia/cuda:*-devel",
        "4 flag --gpus",
        "7 key cuda-matrix",
        "8 key capability-matrix",
        "13 key uses: cuda",
        "14 command CMAKE_CUDA_ARCHITECTURES",
        "16 tool nvidia-smi",
    ]


def test_jobs_for_either_vendor():
    source = "jobs:\n  cuda: {runs-on: t4, container: nvidia/cuda:12}\n  rocm: {runs-on: mi300}\n"
    found = evidence("deployment", "a.yml", source)
    assert found and all(e.guard is not None and e.guard.side == "cuda" for e in found)
    alone = evidence("deployment", "a.yml", source.partition("  rocm")[0])
    assert alone and all(e.guard is None for e in alone)


def test_architectures_of_processors_are_no_capabilities():
    assert names("deployment", "a.yml", "matrix: {arch: [x86_64, aarch64], sm: [1, 2]}\n") == []


HELM = """\
{{- if .Values.on }}
metadata:
  name: {{ include "a" . }}
  {{- if eq .Values.vendor "amd" }}
  x: {amd.com/gpu: 1}
  {{- else }}
  runtimeClassName: nvidia
  {{- end }}
  image: "{{ .Values.image }}:{{ .Values.tag }}"
  limits:
    nvidia.com/gpu: {{ .Values.gpus }}
{{- end }}
"""


def test_helm_templates():
    found = evidence("deployment", "templates/a.yaml", HELM)
    assert [f"{e.span.line} {e.name}" for e in found] == ["7 runtimeClassName: nvidia", "11 nvidia.com/gpu"]
    assert found[0].guard is not None and found[0].guard.side == "cuda"
    assert found[1].guard is None and found[1].confidence.value == "medium"
    assert found[1].attr("value") == "{{ .Values.gpus }}"
    assert not skips("deployment", "templates/a.yaml", HELM)


def test_masking_moves_nothing():
    source = "a: {{ b }}\n  {{- c }}\nd: 'x{{ e\n}}'\n{% f %}\n"
    blank = masked(source)
    assert len(blank) == len(source) and "{" not in blank
    assert blank.splitlines()[1].strip() == "" and blank.startswith("a: XXXXXXX\n")


def test_helm_values():
    source = "image:\n  registry: nvcr.io\n  repository: nvidia/tritonserver\n  tag: 24.05-py3\n"
    assert rows("deployment", "values.yaml", source) == ["3 image nvcr.io/nvidia/tritonserver:24.05-py3"]


def test_what_is_no_yaml_is_read_by_lines():
    source = "a: [\nimage: nvidia/cuda:12\n  runtimeClassName: nvidia\n  b: }\n"
    found = evidence("deployment", "a.yaml", source)
    assert {e.name for e in found} >= {"runtimeClassName: nvidia"}
    assert all(e.confidence.value == "low" for e in found)
    (skip,) = skips("deployment", "a.yaml", source)
    assert skip.reason == "syntax" and not skip.whole


def test_others():
    source = (
        "resources: {accelerators: 'A100:8', instance_type: p4d.24xlarge}\nsetup: |\n"
        "  pip install cupy-cuda12x\n---\n"
        "rules: [{expr: avg(DCGM_FI_DEV_GPU_TEMP) > 85}]\n---\n- hosts: all\n  tasks:\n"
        "  - apt: {name: [cuda-toolkit, git]}\n"
        "---\n"
        "spec: {repoURL: https://helm.ngc.nvidia.com/nvidia, chart: gpu-operator, "
        "runtime: kserve-tritonserver}\n"
    )
    assert rows("deployment", "a.yaml", source) == [
        "1 key a100",
        "1 key instance:p4d.24xlarge",
        "3 package cupy-cuda12x",
        "5 string nvidia-metric",
        "9 package system:cuda-toolkit",
        "9 package system:git",
        "11 index nvidia-package-repository",
        "11 key gpu-operator",
        "11 key kserve-tritonserver",
    ]


@pytest.mark.parametrize(
    "source",
    [
        "model: {device: cuda, backend: nccl, accelerator: gpu}",
        "metadata: {labels: {team: cuda}}",
        "data:\n  README: |\n    Use nvidia-smi with cuda.\n",
        "steps:\n  - run: echo 'lint the cuda docs'\n",
        "nvidia: vllm/image\namd: vllm/image-rocm\n",
        "args: [--device, cuda]",
    ],
)
def test_words_are_no_evidence(source):
    assert names("deployment", "a.yaml", source) == []


LETTERS = "abcdefghijkl"
BOMB = "a: &a [x]\n" + "".join(f"{c}: &{c} [*{b},*{b},*{b}]\n" for b, c in pairwise(LETTERS))


@pytest.mark.parametrize(
    "source",
    [
        "[" * 20_000,
        "{a: " * 20_000,
        "- " * 20_000 + "x",
        "{{" * 100_000,
        "{%" * 100_000,
        "{{ if a }}\n" * 20_000,
        "a: *b",
        "{{a}}" * 20_000,
        BOMB,
    ],
)
def test_hostile_files_end(source):
    assert isinstance(rows("deployment", "a.yaml", source), list)


def test_terraform():
    source = """\
resource "aws_instance" "a" {
  instance_type = "g6e.12xlarge" # t4
  tags          = { Name = "cuda" }
}
resource "x" "b" {
  guest_accelerator { type = "nvidia-tesla-t4" }
  limits = { "nvidia.com/gpu" = 1 }
  env {
    name  = "A"
    value = "b"
  }
  env {
    name  = "NVIDIA_VISIBLE_DEVICES"
    value = "all"
  }
  image     = "nvidia/cuda:12"
  user_data = <<-EOF
    nvidia-smi
  EOF
}
"""
    found = evidence("deployment", "main.tf", source)
    assert [f"{e.span.line} {e.name}" for e in found] == [
        "2 instance:g6e.12xlarge",
        "6 nvidia",
        "7 nvidia.com/gpu",
        "13 NVIDIA_VISIBLE_DEVICES",
        "16 nvidia/cuda:12",
        "18 nvidia-smi",
    ]
    assert found[3].attr("value") == "all"


@pytest.mark.parametrize(
    "source", ["a {" * 20_000, "a = [" * 20_000, '"' * 50_000, "}" * 50_000, "a = <<E\n" * 20_000]
)
def test_hostile_terraform_ends(source):
    assert isinstance(rows("deployment", "main.tf", source), list)


def test_machines_in_requirements_of_a_node_pool():
    source = "requirements:\n- {key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}\n"
    assert rows("deployment", "a.yaml", source) == ["2 key instance:p5.48xlarge"]


def test_conda_recipes():
    source = (
        '{% set v = "1" %}  # a note\npackage: {name: a, version: {{ v }}}\nbuild: {number: 1}\n'
        "requirements:\n  host:\n    - cudatoolkit {{ cuda }}\n    - numpy\n"
    )
    assert rows("deployment", "meta.yaml", source) == ["6 package cudatoolkit", "7 package numpy"]
