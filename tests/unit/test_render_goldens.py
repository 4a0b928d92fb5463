"""Whole reports, byte for byte. ``PORTAUDIT_UPDATE_GOLDENS=1`` rewrites them; read the diff."""

import os
from pathlib import Path

import pytest

from portaudit.render.registry import RenderContext, render
from tests.unit import report_factory as factory

GOLDENS = Path(__file__).resolve().parents[2] / "fixtures" / "goldens" / "render"
CONTEXTS = {
    "screen.txt": ("text", RenderContext()),
    "screen-80.txt": ("text", RenderContext(width=80, height=24, tty=True, color=True)),
    "concise.txt": ("text", RenderContext(concise=True)),
    "report.json": ("json", RenderContext()),
}


@pytest.mark.parametrize("report", ["small", "hostile", "empty"])
@pytest.mark.parametrize("name", CONTEXTS)
def test_golden(report, name):
    form, context = CONTEXTS[name]
    made = "".join(render(form, getattr(factory, report)(), context)).encode("utf-8")
    path = GOLDENS / f"{report}-{name}"
    if os.environ.get("PORTAUDIT_UPDATE_GOLDENS"):
        path.write_bytes(made)
    assert made == path.read_bytes()
