"""Imports of a Python file: names that they bind, and evidence for the modules that tables or rules know."""

from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from portaudit.analyze.pyfile import Attrs, PyFile
from portaudit.analyze.pyvalues import Place, Value
from portaudit.model.evidence import EvidenceKind

_BY_FUNCTION = frozenset(
    {"importlib.import_module", "import_module", "__import__", "pytest.importorskip", "importorskip"}
)
_PROBES = frozenset(
    {
        "importlib.util.find_spec",
        "find_spec",
        "importlib.find_loader",
        "pkgutil.find_loader",
        "importlib.util.find_loader",
    }
)
_VERSIONS = frozenset(
    {
        "importlib.metadata.version",
        "metadata.version",
        "pkg_resources.get_distribution",
        "importlib_metadata.version",
    }
)
# Names that a star import may bring and that resolve all the same, since they are telling by themselves.
_STAR = "*"


class Imported(NamedTuple):
    """One name that an import binds."""

    module: str
    name: str
    """Empty for ``import module``."""
    alias: str
    node: Node


def statement(file: PyFile, node: Node, place: Place) -> None:
    """Binds the names of an import statement and gives its evidence."""
    seen: dict[str, list[Imported]] = {}
    for imported in _imported(file, node):
        _bind(file, imported, place)
        seen.setdefault(imported.module, []).append(imported)
    for module, group in seen.items():
        _evidence(file, module, group, node.child_by_field_name("module_name") or group[0].node, place)


def _imported(file: PyFile, node: Node) -> Iterator[Imported]:
    if node.type == "import_statement":
        for child in node.children_by_field_name("name"):
            name, alias = _aliased(file, child)
            yield Imported(name, "", alias, child)
        return
    module_node = node.child_by_field_name("module_name")
    if module_node is None:
        return
    module = file.slice(module_node)
    names = node.children_by_field_name("name")
    if not names:
        yield Imported(module, _STAR, "", module_node)
    for child in names:
        name, alias = _aliased(file, child)
        yield Imported(module, name, alias, child)


def _aliased(file: PyFile, node: Node) -> tuple[str, str]:
    if node.type == "aliased_import":
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        return (file.slice(name) if name else ""), (file.slice(alias) if alias else "")
    return file.slice(node), ""


def _bind(file: PyFile, imported: Imported, place: Place) -> None:
    if imported.name == _STAR:
        return
    if not imported.name:
        bound = imported.alias or imported.module.partition(".")[0]
        whole = imported.module if imported.alias else bound
    else:
        bound = imported.alias or imported.name
        whole = f"{imported.module}.{imported.name}"
    if not bound.isidentifier():
        return
    known = not imported.module.startswith(".")
    value = Value(whole, known, tag="cuda-version" if whole == "torch.version.cuda" else "")
    if whole == "torch.utils.cpp_extension.CUDA_HOME":
        value = value._replace(tag="toolkit-home", origin=whole)
    elif value.tag:
        value = value._replace(origin=whole)
    file.bind(bound, value, place)


def _evidence(file: PyFile, module: str, group: list[Imported], node: Node, place: Place) -> None:
    if module.startswith("."):
        return
    names = [i.name for i in group if i.name]
    common: Attrs = {"names": ",".join(names)[:160]} if names else {}
    alias = group[0].alias
    if alias:
        common["alias"] = alias
    if place.caught:
        common["caught"] = True
    guard = file.beside(place, "module")
    told = False
    for imported in group:
        deeper = f"{module}.{imported.name}"
        if (
            imported.name
            and imported.name != _STAR
            and (_known_below(file, deeper, module) or file.words.watches(deeper))
        ):
            file.add(EvidenceKind.IMPORT, deeper, imported.node, place, common, guard=guard)
            told = True
    if told or not (file.words.module_of(module) or file.words.watches(module) or module in file.words.texts):
        return
    file.add(EvidenceKind.IMPORT, module, node, place, common, guard=guard)


def _known_below(file: PyFile, deeper: str, module: str) -> bool:
    """Whether the imported name is itself a known module, beyond what its parent is."""
    return file.words.module_of(deeper) == deeper != file.words.module_of(module)


def by_function(file: PyFile, node: Node, callee: str, text: str | None, place: Place) -> None:
    """Imports that a call makes or tries, and questions whether a module is there."""
    if text is None or not text.replace(".", "").isidentifier():
        return
    if callee in _VERSIONS or not (file.words.module_of(text) or file.words.watches(text)):
        return
    attrs: Attrs = {"by": callee.rpartition(".")[2]}
    if callee in _PROBES:
        attrs["probe"] = True
    if place.caught or callee.endswith("importorskip"):
        attrs["caught"] = True
    file.add(EvidenceKind.IMPORT, text, node, place, attrs, guard=file.beside(place, "module"))


def is_import_function(name: str) -> bool:
    """Whether a function imports a module, or asks for one, by its name."""
    return name in _BY_FUNCTION or name in _PROBES or name in _VERSIONS
