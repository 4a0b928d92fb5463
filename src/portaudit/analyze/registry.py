"""Which analyzer reads which kind of file, and what it can and can't see. Modules are imported on first
use."""

from functools import cache
from importlib import import_module

import msgspec

from portaudit.analyze.base import Analyzer
from portaudit.model.places import Kind


class AnalyzerSpec(msgspec.Struct, frozen=True):
    """One analyzer."""

    module: str
    """Below ``portaudit.analyze``."""
    kinds: tuple[Kind, ...]
    sees: str
    blind: str
    """What it does not see; printed under method and limits."""


ANALYZERS: tuple[AnalyzerSpec, ...] = (
    AnalyzerSpec(
        "cuda",
        (Kind.CUDA, Kind.CXX, Kind.HIP),
        "API names, headers, launches, device code, inline PTX, preprocessor branches",
        "values known at run time only, names built by more than one macro level, templates of other trees",
    ),
    AnalyzerSpec(
        "python",
        (Kind.PYTHON, Kind.CYTHON),
        "imports, calls by qualified name, kernel strings, ROCm guards, build scripts",
        "names made at run time, attributes set from outside the module",
    ),
    AnalyzerSpec("notebook", (Kind.NOTEBOOK,), "code cells, shell and CUDA magics", "stored outputs"),
    AnalyzerSpec(
        "manifests",
        (Kind.REQUIREMENTS, Kind.PYPROJECT, Kind.SETUP_CFG, Kind.CONDA, Kind.LOCK),
        "packages, versions, extras, indexes",
        "what an index serves today",
    ),
    AnalyzerSpec(
        "dockerfile", (Kind.DOCKERFILE,), "base images, variables, commands", "contents of base images"
    ),
    AnalyzerSpec(
        "cmake", (Kind.CMAKE,), "languages, packages, targets, flags", "values set on the command line"
    ),
    AnalyzerSpec("make", (Kind.MAKE,), "compilers, flags, libraries", "recursive includes"),
    AnalyzerSpec(
        "shell", (Kind.SHELL,), "commands, variables, installs", "text that is evaluated at run time"
    ),
    AnalyzerSpec(
        "deployment",
        (Kind.YAML,),
        "compose, Kubernetes, Terraform and CI files",
        "templates that need rendering",
    ),
    AnalyzerSpec("ptx", (Kind.PTX,), "instructions of PTX files", "binaries"),
)

_BY_KIND = {kind: spec for spec in ANALYZERS for kind in spec.kinds}


def spec_of(kind: Kind) -> AnalyzerSpec | None:
    """The analyzer of a kind, None when files of that kind are only listed."""
    return _BY_KIND.get(kind)


@cache
def analyzer(module: str) -> Analyzer:
    """The ``analyze`` function of a module below ``portaudit.analyze``."""
    function: Analyzer = import_module(f"portaudit.analyze.{module}").analyze
    return function
