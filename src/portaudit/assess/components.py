"""Files -> components: what is built, installed or deployed as one."""

from collections import defaultdict
from collections.abc import Iterable
from posixpath import basename, dirname

import msgspec

from portaudit.model.places import Kind, Source

_BUILD_FILES = frozenset(
    {"setup.py", "pyproject.toml", "setup.cfg", "cmakelists.txt", "makefile", "gnumakefile", "meson.build"}
    | {"build", "build.bazel", "cargo.toml", "package.xml", "configure.ac", "sconstruct", "go.mod"}
)
_OWN = {Kind.DOCKERFILE: "image", Kind.YAML: "service", Kind.NOTEBOOK: "notebook"}
_MANIFESTS = frozenset({Kind.REQUIREMENTS, Kind.PYPROJECT, Kind.SETUP_CFG, Kind.CONDA, Kind.LOCK})
_NATIVE = frozenset({Kind.CUDA, Kind.CXX, Kind.HIP, Kind.PTX})


class Part(msgspec.Struct, frozen=True):
    """A component before its verdict."""

    name: str
    kind: str
    path: str
    files: tuple[str, ...]


def parts(sources: Iterable[Source], root: str) -> list[Part]:
    """The components of a tree.

    Code belongs to the nearest folder above it that holds a build file. The dependencies of a folder, each
    image
    and each deployment file are components of their own, since other people decide about them.
    """
    known = list(sources)
    roots = {dirname(s.path) for s in known if basename(s.path).lower() in _BUILD_FILES}
    code: dict[str, list[Source]] = defaultdict(list)
    manifests: dict[str, list[Source]] = defaultdict(list)
    found = []
    for source in known:
        if source.kind in _OWN:
            found.append(Part(source.path, _OWN[source.kind], source.path, (source.path,)))
        elif source.kind in _MANIFESTS:
            manifests[dirname(source.path)].append(source)
        elif source.kind is not Kind.OTHER:
            code[_nearest(dirname(source.path), roots)].append(source)
    top = f"{root} (top)" if root in code else root
    for folder, members in code.items():
        native = any(s.kind in _NATIVE for s in members)
        python = any(s.kind is Kind.PYTHON for s in members)
        kind = "native" if native else "python" if python else "scripts"
        found.append(Part(folder or top, kind, folder, tuple(s.path for s in members)))
    for folder, members in manifests.items():
        name = f"dependencies of {folder or root}"
        found.append(Part(name, "dependencies", folder, tuple(s.path for s in members)))
    return sorted(found, key=lambda p: (p.path, p.kind))


def _nearest(folder: str, roots: set[str]) -> str:
    while folder and folder not in roots:
        folder = dirname(folder)
    return folder
