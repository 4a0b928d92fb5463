"""Where values come from that mean something else on ROCm: capability, device name, versions, handles."""

from portaudit.analyze.pyvalues import Value

CALL_TAGS = {
    "torch.cuda.get_device_capability": "capability",
    "torch.cuda.get_device_name": "device-name",
    "torch.cuda.get_device_properties": "properties",
    "torch.cuda.get_arch_list": "arch-list",
    "torch.backends.cudnn.version": "cudnn-version",
    "os.environ.copy": "environment",
    "ctypes.CDLL": "handle",
    "ctypes.cdll.LoadLibrary": "handle",
    "ctypes.PyDLL": "handle",
    "ctypes.WinDLL": "handle",
}
ATTRIBUTE_TAGS = {
    "torch.version.cuda": "cuda-version",
    "torch.utils.cpp_extension.CUDA_HOME": "toolkit-home",
    "os.environ": "environment",
}
LAST_TAGS = {
    "get_device_capability": "capability",
    "get_compute_capability": "capability",
    "compute_capability": "capability",
    "get_sm_version": "capability",
    "cuda_compute_capability": "capability",
    "nvmlDeviceGetCudaComputeCapability": "capability",
    "nvmlDeviceGetName": "device-name",
    "dlopen": "handle",
}


def is_source(callee: Value) -> bool:
    """Whether a call of this gives a value of a sort that is followed, by itself and not by its arguments."""
    return is_source_name(callee.name) or callee.node is not None


def is_source_name(name: str) -> bool:
    """The same by the name alone."""
    return name in CALL_TAGS or name in ATTRIBUTE_TAGS or name.rpartition(".")[2] in LAST_TAGS
