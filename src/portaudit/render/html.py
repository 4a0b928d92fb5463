"""The report as one page that needs no network: markup for what must be read without JavaScript, the findings
as data for its script. All texts from the tree pass ``visible`` and the autoescape of the template."""

import base64
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from portaudit import resources
from portaudit.model.evidence import Confidence
from portaudit.model.facts import Element, Level, Rule
from portaudit.model.findings import Finding, State
from portaudit.model.report import Component, Report
from portaudit.render.escape import visible, visible_code
from portaudit.render.island import island
from portaudit.render.registry import RenderContext
from portaudit.render.view import NOT_READ, VERDICTS, Bar, Part, View, headline, view
from portaudit.render.words import Words, number, words

_ROWS = 100
"""Rows of a table in the markup; the script shows more of the components."""
_SCRIPTS = ("base", "findings", "filters", "detail", "list", "components", "start")
_SCRIPT_WORDS = ("js.", "verdict.", "level.", "confidence.", "state.", "element.", "kind.", "components.inc")
_BAR, _GAP, _LEAST = 1000, 4, 8


class _Piece(msgspec.Struct, frozen=True):
    """One rectangle of a bar."""

    name: str
    x: int
    width: int


def render(report: Report, context: RenderContext) -> Iterator[str]:
    """The page in chunks."""
    say = words()
    yield from _environment().get_template("report.html.j2").generate(_values(report, context, say))


def _values(report: Report, context: RenderContext, say: Words) -> dict[str, object]:
    figures = view(report)
    style, script = _style(), _script()
    data = island(report, {k: v for k, v in say.catalogue.items() if k.startswith(_SCRIPT_WORDS)})
    columns = [*VERDICTS, NOT_READ] if report.counts.skipped else list(VERDICTS)
    return {
        "w": say,
        "report": report,
        "view": figures,
        "headline": headline(report, say),
        "reason": report.reason[:1].upper() + report.reason[1:],
        "state": report.verdict.value if report.counts.read else NOT_READ,
        "made": context.generated_at.partition("T")[0],
        "columns": columns,
        "verdicts": VERDICTS,
        "worst": _worst(report, 4 - len(figures.blockers)),
        "partly": sum(group.count for group in figures.unread if not group.whole),
        "listed": max(0, report.counts.files - report.counts.read - report.counts.skipped),
        "elements": _elements(figures),
        "facets": _facets(),
        "fired": _fired(report),
        "skips": sorted(report.skips, key=lambda s: (not s.whole, s.path, s.reason)),
        "limit": _ROWS,
        "island": data,
        "island_text": Markup(data.text),
        "style": Markup(style),
        "script": Markup(script),
        "style_hash": _policy_hash(style),
        "script_hash": _policy_hash(script),
    }


def _worst(report: Report, most: int) -> list[Component]:
    """The components that cost most, worst verdict first."""
    heavy = [c for c in report.components if c.verdict.rank > 1]
    return sorted(heavy, key=lambda c: (-c.verdict.rank, -c.hours[1], c.path))[: max(0, most)]


def _facets() -> dict[str, list[str]]:
    """The filters with few values; the script fills those with many."""
    return {
        "verdict": list(VERDICTS[::-1]),
        "state": [state.value for state in State],
        "level": [level.value for level in Level],
        "confidence": [confidence.value for confidence in Confidence],
    }


def _elements(figures: View) -> dict[str, dict[str, int] | None]:
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for finding in figures.shown:
        counted[finding.element.value][finding.verdict.value] += 1
    return {
        e.value: {v: counted[e.value][v] for v in VERDICTS} if e.value in counted else None for e in Element
    }


def _fired(report: Report) -> list[tuple[Rule, int, int, str]]:
    """Each rule with its places, files, and the worst verdict that it gave."""
    found: dict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        found[finding.rule].append(finding)
    rows = []
    for rule in report.rules:
        own = found[rule.slug]
        worst = max((f.verdict for f in own), key=lambda v: v.rank, default=rule.verdict)
        rows.append((rule, len(own), len({f.span.path for f in own}), worst.value))
    return sorted(rows, key=lambda r: (-VERDICTS.index(r[3]), -r[1], r[0].slug))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(resources.templates() / "html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        seen=visible, code=_code, num=number, days=_days, pieces=_pieces, part=_part, told=_told
    )
    return environment


def _code(text: str) -> str:
    return "\n".join(map(visible_code, text.rstrip("\n").split("\n")))


def _days(value: float) -> str:
    """Days with the precision that an estimate deserves."""
    if 0 < value < 0.1:
        return "<0.1"
    return f"{value:.1f}" if 0 < value < 10 else number(round(value))


def _part(bar: Bar, name: str) -> Part | None:
    return next((part for part in bar.parts if part.name == name), None)


def _told(bar: Bar) -> str:
    say = words()
    told = [f"{number(p.count)} {say('verdict.' + p.name)} ({p.percent})" for p in bar.parts if p.count]
    return f"{say('what.' + bar.what)}: {', '.join(told)}"


def _pieces(bar: Bar) -> list[_Piece]:
    """Rectangles whose widths follow the shares; whatever is there stays wide enough to be seen."""
    there = [part for part in bar.parts if part.count]
    free = _BAR - (_GAP + _LEAST) * len(there) + _GAP
    pieces, x = [], 0.0
    for part in there:
        width = _LEAST + free * part.share
        pieces.append(_Piece(part.name, round(x), round(x + width) - round(x)))
        x += width + _GAP
    return pieces


def _style() -> str:
    return _text(resources.templates() / "html" / "report.css")


@cache
def _script() -> str:
    """The parts of the script as one: each part is a few functions, ``start`` calls them."""
    folder = resources.templates() / "html" / "script"
    parts = (_text(folder / f"{name}.js") for name in _SCRIPTS)
    return '"use strict";\n(() => {\n' + "".join(parts) + "})();\n"


def _text(path: Path) -> str:
    # A parser of HTML turns CR LF into LF before the policy hashes the text.
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")


def _policy_hash(text: str) -> str:
    digest = base64.b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"sha256-{digest}"
