"""Keys and values of deployment files that name a vendor: resources, runtimes, labels, devices, matrices."""

import re
from collections.abc import Iterator

from portaudit.analyze import clusters
from portaudit.analyze.leaves import Leaf
from portaudit.analyze.words import Frame, word_set
from portaudit.model.evidence import Evidence, EvidenceKind

_VENDOR_NAME = re.compile(r"(?<![\w.-])([a-z0-9.-]{0,60}?nvidia\.com(?:/[A-Za-z0-9_.-]{1,80})?)(?![\w/-])")
_HOST_PATH = re.compile(
    r"/dev/nvidia|/usr/local/nvidia|/usr/local/cuda|/(?:var/)?run/nvidia|/tmp/nvidia-mps|/proc/driver/nvidia"
)
_METRIC = re.compile(r"\b(DCGM_FI_[A-Z0-9_]+|nvidia_smi_\w+|nvidia_gpu_\w+|nv_gpu_\w+)")
_CUDA_MATRIX = re.compile(r"cuda|nvcc|cudnn", re.IGNORECASE)
_ARCHITECTURE_KEY = re.compile(
    r"(?:^|[_-])(?:arch|archs|arches|architectures?|sm|sms|cc|compute|capability|capabilities|gencode)(?:[_-]|$)",
    re.IGNORECASE,
)
_CAPABILITY = re.compile(
    r"(?:sm_?|compute_?)?(?:[5-8]\.?[0-9]|9\.?0[af]?|10\.?[0-7][af]?|11\.?0[af]?|12\.?[01][af]?)(?:\+PTX|-real|-virtual)?"
)
_RUNNER_KEYS = word_set(
    "runs-on runs_on tags labels queue pool vmImage runner runner_label agent_label instance"
)
_PRODUCT_KEYS = word_set(
    "accelerator accelerators accelerator_type acceleratorType gpu gpus gpu_type gpuType gpu-type gpu_model "
    "instance_type instance-type instanceType machine_type machine-type machineType node_type vm_size vmSize "
    "partition constraint gres node_pool nodepool worker_type nvidia_gpu device_type resource_class roles "
    "role"
)
_INSTANCE_KEY = re.compile(r"instance[-_]?types?$|machine[-_]?type$|vm[-_]?size$", re.IGNORECASE)
_INSTANCE = re.compile(r"[A-Za-z][A-Za-z0-9]{1,30}(?:[._-][A-Za-z0-9]{1,24}){1,6}")
_NODE_PARENTS = frozenset({"nodeSelector", "nodeAffinity", "accelerators"})
_RUNTIMES = {
    "runtimeclassname": "runtimeClassName: nvidia",
    "runtime": "runtime: nvidia",
    "driver": "driver: nvidia",
}


def vendor_key(leaf: Leaf, frame: Frame) -> Iterator[Evidence]:
    """A key or value that is NVIDIA's own name for something."""
    key, value = leaf.key, leaf.text
    parent = next((p for p in reversed(leaf.path[:-1]) if isinstance(p, str)), "")
    direct = bool(leaf.path) and leaf.path[-1] == key
    if direct and (match := _VENDOR_NAME.search(key)):
        yield _key(match.group(1), leaf.key_start, leaf, frame, role=parent)
        return
    runtime = _RUNTIMES.get(key.lower())
    if runtime is not None and "nvidia" in value.lower() and len(value) < 60:
        yield _key(runtime, leaf.key_start, leaf, frame, role=parent)
    elif key in ("gpus", "gpu") and "services" in leaf.path[:1] and direct:
        yield _key("gpus", leaf.key_start, leaf, frame, role="service")
    elif "://" not in value and (match := _VENDOR_NAME.search(value[:400])):
        yield _key(match.group(1), min(leaf.start, leaf.key_start), leaf, frame, role=key)
    elif direct and (name := _known_key(key, value, frame)):
        yield _key(name, leaf.key_start, leaf, frame, role=parent)
    elif len(value) > 6 and ("-" in value or "/" in value) and _is_asked_for(value, frame):
        yield _key(value, min(leaf.start, leaf.key_start), leaf, frame, role=key)


def _is_asked_for(value: str, frame: Frame) -> bool:
    return value in frame.vocabulary.keys or value in frame.vocabulary.watched


def instance_type(leaf: Leaf, frame: Frame, key: str = "") -> Iterator[Evidence]:
    """A machine of a cloud, by its name there: ``instance:p4d.24xlarge``."""
    if _INSTANCE_KEY.search(key or leaf.key) and _INSTANCE.fullmatch(leaf.text):
        name = f"instance:{leaf.text.lower()}"
        yield frame.evidence(
            EvidenceKind.KEY, name, min(leaf.start, leaf.key_start), leaf.end, value=leaf.text, role=leaf.key
        )


def _known_key(key: str, value: str, frame: Frame) -> str:
    """The key, or key and value, as the tables write it; words too short to be certain don't count."""
    pair = f"{key}: {value}"
    if pair in frame.vocabulary.keys:
        return pair
    certain = "/" in key or "." in key or "nvidia-" in key.lower()
    return key if certain and key in frame.vocabulary.keys else ""


def _key(name: str, start: int, leaf: Leaf, frame: Frame, role: str) -> Evidence:
    return frame.evidence(EvidenceKind.KEY, name, start, leaf.end, value=leaf.text, role=role or None)


def product_label(leaf: Leaf, frame: Frame) -> Iterator[Evidence]:
    """Runner labels, node selectors, accelerator types: the product that they name."""
    if len(leaf.text) > 200:
        return
    parents = {p for p in leaf.path if isinstance(p, str)}
    key = leaf.key
    runner = bool(parents & _RUNNER_KEYS) and (key in _RUNNER_KEYS or "runs-on" in parents)
    if runner or "agents" in parents or (key == "os" and "matrix" in parents):
        yield from clusters.products(leaf.text, leaf.start, leaf.end, frame, "runner")
    elif key in _PRODUCT_KEYS or parents & _NODE_PARENTS or any("accelerator" in p.lower() for p in parents):
        yield from clusters.products(leaf.text, min(leaf.start, leaf.key_start), leaf.end, frame, "node")


def host_path(leaf: Leaf, frame: Frame) -> Iterator[Evidence]:
    """Device files and driver folders of the host."""
    value = leaf.text
    if len(value) < 400 and value.startswith("/") and _HOST_PATH.match(value):
        yield frame.evidence(
            EvidenceKind.STRING, "nvidia-host-path", leaf.start, leaf.end, value=value, role=leaf.key
        )


def metric(leaf: Leaf, frame: Frame) -> Iterator[Evidence]:
    """The first metric of an NVIDIA exporter in an expression."""
    match = _METRIC.search(leaf.text[:4000])
    if match:
        start = frame.text.text.find(match.group(1), leaf.start, leaf.end)
        begin = start if start >= 0 else leaf.start
        yield frame.evidence(
            EvidenceKind.STRING, "nvidia-metric", begin, begin + len(match.group(1)), value=match.group(1)
        )


def matrix(members: list[Leaf], frame: Frame) -> Iterator[Evidence]:
    """One axis of a build matrix: CUDA releases, or compute capabilities."""
    first, last = members[0], members[-1]
    key = first.key
    name = ""
    if _CUDA_MATRIX.search(key) and any(re.search(r"\d", m.text) for m in members):
        name = "cuda-matrix"
    elif _ARCHITECTURE_KEY.search(key) and all(_CAPABILITY.fullmatch(m.text.strip()) for m in members):
        name = "capability-matrix"
    if name:
        values = " ".join(m.text for m in members[:20])
        start = min(first.start, first.key_start)
        yield frame.evidence(EvidenceKind.KEY, name, start, last.end, value=values, role=key)
