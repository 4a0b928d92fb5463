"""The rule of doors: which room may import which. A new door is a decision, made here."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "src" / "portaudit"
COMMON = {"model", "errors", "resources"}
DOORS = {
    "model": set(),
    "discover": COMMON,
    "knowledge": COMMON,
    "analyze": COMMON,
    "match": COMMON | {"knowledge"},
    "assess": COMMON | {"knowledge"},
    "gate": COMMON,
    "port": COMMON | {"knowledge"},
    "render": COMMON,
    "engine": COMMON | {"discover", "knowledge", "analyze", "match", "assess", "gate", "port"},
    "cli": COMMON | {"engine", "knowledge", "gate", "port", "render"},
}


def imports(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


MODULES = sorted(p for p in ROOT.rglob("*.py") if p.parent != ROOT)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_doors(path):
    room = path.relative_to(ROOT).parts[0]
    for name in imports(path):
        parts = name.split(".")
        if parts[0] != "portaudit" or len(parts) == 1 or parts[1] in (room, "__version__"):
            continue
        assert parts[1] in DOORS[room], f"{room} has no door to {parts[1]}"


def test_modules_and_functions_stay_small():
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 400, f"{path.name} has over 400 lines: split by noun"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < 60, f"{path.name}: {node.name} is over 60 lines"
