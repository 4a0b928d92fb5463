"""What reaches a place in Python code: ROCm tests in all spellings, early exits, branches, callers."""

import pytest

from portaudit.analyze.base import Text
from portaudit.analyze.pyguards import vendor_test
from portaudit.analyze.python import analyze
from tests.unit.vocabularies import vocabulary

VOCABULARY = vocabulary(modules=frozenset({"torch", "cupy"}))
HEAD = "import torch\nfrom project import is_cuda, is_hip, is_rocm, current_platform, IS_ROCM\n"
PLACE = "torch.version.cuda.split()"


def side(source, path="a.py"):
    found = [
        e
        for e in analyze(Text(path, HEAD + source), VOCABULARY)
        if e.kind.value == "attribute" and e.attr("used_as") == "text"
    ]
    assert len(found) == 1, found
    return found[0].guard.side if found[0].guard else ""


@pytest.mark.parametrize(
    "condition",
    [
        "torch.version.hip is None",
        "not torch.version.hip",
        "torch.version.hip == None",
        "getattr(torch.version, 'hip', None) is None",
        "not (hasattr(torch.version, 'hip') and torch.version.hip is not None)",
        "not is_hip()",
        "not is_rocm()",
        "is_cuda()",
        "current_platform.is_cuda()",
        "not current_platform.is_rocm()",
        "not current_platform.is_rocm() and x",
        "not IS_ROCM",
        "IS_ROCM is False",
        "not (IS_ROCM or x)",
        "backend == 'cuda' and target.backend != 'hip'",
        "triton.runtime.driver.active.get_current_target().backend == 'cuda'",
        "'AMD' not in torch.cuda.get_device_name()",
        "torch.cuda.get_device_name().startswith('NVIDIA')",
        "not shutil.which('rocm-smi')",
        "'rocm' not in torch.__version__",
        "platform.vendor == 'nvidia'",
        "not any([is_hip(), x])",
    ],
)
def test_conditions_that_rocm_never_meets(condition):
    assert side(f"if {condition}:\n    {PLACE}\n") == "cuda"
    assert side(f"x = {PLACE} if {condition} else 0\n") == "cuda"
    assert side(f"if not ({condition}):\n    pass\nelse:\n    {PLACE}\n") == "cuda"
    assert side(f"def f():\n    if not ({condition}):\n        return\n    {PLACE}\n") == "cuda"


@pytest.mark.parametrize(
    "condition",
    [
        "torch.version.hip",
        "is_rocm()",
        "IS_ROCM and x",
        "torch.version.hip is not None",
        "target.backend == 'hip'",
        "on_gfx942()",
        "os.path.exists('/opt/rocm')",
        "props.gcnArchName.startswith('gfx9')",
    ],
)
def test_conditions_that_cuda_never_meets(condition):
    assert side(f"if {condition}:\n    {PLACE}\n") == "rocm"


@pytest.mark.parametrize(
    "condition",
    [
        "torch.cuda.is_available()",
        "device.type == 'cuda'",
        "tensor.is_cuda",
        "x.device == 'cuda'",
        "use_cuda",
        "is_cuda_available()",
        "current_platform.is_cuda_alike()",
        "torch.cuda.get_device_capability() >= (9, 0)",
        "os.environ.get('X') == 'cuda'",
        "left_hip_joint",
        "relationship",
        "chip == 'x'",
        "is_amd_cpu",
    ],
)
def test_conditions_that_say_nothing_about_the_vendor(condition):
    assert side(f"if {condition}:\n    {PLACE}\n") in ("", "gate")
    assert side(f"def f():\n    if {condition}:\n        return\n    {PLACE}\n") in ("", "gate")


@pytest.mark.parametrize(
    "source",
    [
        f"HIP = torch.version.hip is not None\ndef f():\n    if HIP:\n        return\n    {PLACE}\n",
        f"def hip():\n    return torch.version.hip is not None\nif not hip():\n    {PLACE}\n",
        f"def nv():\n    if torch.version.hip:\n        return 0\n    return True\nif nv():\n    {PLACE}\n",
        f"if IS_ROCM:\n    B = 'hip'\nelse:\n    B = 'cuda'\nif B == 'cuda':\n    {PLACE}\n",
        f"def f(b):\n    if b == 'rocm':\n        pass\n    elif b == 'cuda':\n        {PLACE}\n",
        "class C:\n    def __init__(self):\n        self.h = is_hip()\n"
        f"    def f(self):\n        if self.h:\n            return\n        {PLACE}\n",
        f"def f():\n    assert is_cuda()\n    {PLACE}\n",
        f"def f():\n    if IS_ROCM:\n        raise ValueError\n    {PLACE}\n",
        f"for i in x:\n    if IS_ROCM:\n        continue\n    {PLACE}\n",
        f"def f():\n    with a:\n        if IS_ROCM:\n            return\n    {PLACE}\n",
        f"import pytest\n@pytest.mark.skipif(IS_ROCM, reason='')\ndef test():\n    {PLACE}\n",
        f"import pytest\npytestmark = pytest.mark.skipif(not is_cuda(), reason='')\ndef t():\n    {PLACE}\n",
        f"x = not IS_ROCM and {PLACE}\n",
        f"if {PLACE} and not IS_ROCM:\n    pass\n",
        f"x = torch.version.hip or {PLACE}\n",
        f"x = {{'cuda': {PLACE}, 'rocm': 1}}\n",
        f"match b:\n    case 'hip':\n        pass\n    case 'cuda':\n        {PLACE}\n",
        f"def _only():\n    {PLACE}\nif not IS_ROCM:\n    _only()\n",
    ],
)
def test_guards_that_are_kept_or_stand_elsewhere(source):
    assert side(source) == "cuda"


@pytest.mark.parametrize(
    "source",
    [
        f"if IS_ROCM:\n    pass\n{PLACE}\n",
        f"def f():\n    if IS_ROCM and x:\n        return\n    {PLACE}\n",
        f"def f():\n    if x or not IS_ROCM:\n        {PLACE}\n",
        f"def _both():\n    {PLACE}\nif not IS_ROCM:\n    _both()\n_both()\n",
        f"IS_CUDA = torch.cuda.is_available()\nif IS_CUDA:\n    {PLACE}\n",
        f"def is_cuda():\n    return torch.cuda.is_available()\nif is_cuda():\n    {PLACE}\n",
        f"x = {PLACE} or torch.version.hip\n",
    ],
)
def test_what_looks_like_a_guard_and_is_none(source):
    assert side(source) == ""


def test_cuda_alone_is_a_gate_where_nobody_speaks_of_rocm():
    source = "import torch\nif torch.version.cuda:\n    import cupy\n"
    (item,) = [e for e in analyze(Text("a.py", source), VOCABULARY) if e.name == "cupy"]
    assert item.guard is not None and item.guard.side == "gate"


def test_neither_vendor_is_still_a_place():
    source = (
        HEAD + "if torch.version.hip:\n    pass\nelif torch.version.cuda:\n    pass\nelse:\n    import cupy\n"
    )
    (item,) = [e for e in analyze(Text("a.py", source), VOCABULARY) if e.name == "cupy"]
    assert item.guard is not None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("IS_ROCM", True),
        ("use_hip", True),
        ("torch_is_hip", True),
        ("on_gfx942", True),
        ("is_not_hip", False),
        ("is_cuda", False),
        ("_is_cuda", False),
        ("is_nvidia_gpu", False),
        ("is_cuda_alike", None),
        ("hipify", None),
        ("left_hip_angle", None),
        ("no_rocm", None),
        ("is_cuda_or_rocm", None),
        ("is_amd64", None),
    ],
)
def test_names_that_promise_a_vendor(name, expected):
    assert vendor_test(name)[0] is expected
