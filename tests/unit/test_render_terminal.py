import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from portaudit.render.registry import RenderContext, render
from portaudit.render.terminal import cells
from tests.unit import report_factory as factory

ROOT = Path(__file__).resolve().parents[2]
REPORTS = {
    "small": factory.small,
    "hostile": factory.hostile,
    "empty": factory.empty,
    "large": lambda: factory.large(3000),
}


def screen(report, **options):
    return "".join(render("text", report, RenderContext(**options)))


@pytest.mark.parametrize(("width", "height"), [(80, 24), (100, 40), (60, 24), (200, 60)])
@pytest.mark.parametrize("name", REPORTS)
def test_fits_one_screen(name, width, height):
    lines = screen(REPORTS[name](), width=width, height=height, tty=True).splitlines()
    # Two lines stay free: what was read, and the prompt.
    assert len(lines) <= height - 2
    assert max(map(cells, lines)) <= max(width, 60) or width < 80


def test_says_what_a_lead_asks_first():
    text = screen(factory.small())
    assert text.startswith("demo has blockers for ROCm 7.2 on gfx942 (MI300X)\n")
    for part in (
        "2 of 5 components use something without counterpart on ROCm: src/core, src/rt".capitalize(),
        "optixTrace",
        "src/core/file5.cu:15",
        "Warp size written as 32",
        "Not read: 1 file: data/blob.cu (too large)",
        "Read in part: 1 file: src/old.cu (syntax not understood)",
        "cudaFrobnicate (src/rt/file0.cu:12)",
        "Behind ROCm guards: 1, ignored on purpose: 1",
        "-f html -o report.html",
        "portaudit explain warp-size-constant",
    ):
        assert part.lower() in text.lower()


@pytest.mark.parametrize("options", [{}, {"concise": True}])
def test_nothing_from_a_tree_acts_on_the_terminal(options):
    text = screen(factory.hostile(), **options)
    odd = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")} - {"\n"}
    assert odd == set()


def test_colors_only_when_asked_and_never_alone():
    plain, colored = screen(factory.small()), screen(factory.small(), color=True)
    assert "\x1b" not in plain
    assert "\x1b[" in colored
    for word in ("portable", "direct", "adaptation", "blocker"):
        assert word in plain


def test_ascii_for_terminals_of_another_encoding():
    assert screen(factory.small(), ascii=True).isascii()


def test_concise_is_one_line_a_shown_finding():
    lines = screen(factory.small(), concise=True).splitlines()
    assert len(lines) == 7
    assert lines[1] == "src/core/file1.cu:11:3: PA101 api-renamed cublasSgemm becomes hipblasSgemm"


def test_a_bar_is_as_long_as_it_should_be():
    bars = [
        line.strip()
        for line in screen(factory.small(), width=100).splitlines()
        if set(line.strip()) <= set("░▒▓█·")
    ]
    assert [len(bar) for bar in bars if bar] == [65, 65]


def test_heavy_modules_stay_out():
    code = (
        "import sys, portaudit.render.registry as r, tests.unit.report_factory as f\n"
        "list(r.render('text', f.small(), r.RenderContext(color=True, tty=True)))\n"
        "list(r.render('json', f.small(), r.RenderContext()))\n"
        "sys.exit(' '.join({'rich', 'jinja2'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
