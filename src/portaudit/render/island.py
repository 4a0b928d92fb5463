"""The findings as data inside the page: one array a column, texts once in tables, everything visible and safe
to stand in a script element."""

import base64
import gzip

import msgspec

from portaudit.model.evidence import Confidence
from portaudit.model.facts import Element, Level, Verdict
from portaudit.model.findings import Finding, State
from portaudit.model.places import Span
from portaudit.model.report import Report
from portaudit.render.escape import marked, visible

PACKED_ABOVE = 2_000_000
"""Bytes of JSON from which on the page carries them compressed."""
_ENUMS = {
    "verdict": [v.value for v in Verdict],
    "level": [v.value for v in Level],
    "confidence": [v.value for v in Confidence],
    "element": [v.value for v in Element],
    "state": [v.value for v in State],
}


class Island(msgspec.Struct, frozen=True):
    """Text for one script element."""

    text: str
    packed: bool
    """True: gzip in base64."""


class _Table:
    """Texts with their numbers, in the order of their first use."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of a text; a new text gets the next one."""
        return self.numbers.setdefault(text, len(self.numbers))

    def texts(self) -> list[str]:
        """All texts, fit to be shown."""
        return [visible(text) for text in self.numbers]


_TEXTS = (
    "rule",
    "path",
    "component",
    "subject",
    "equivalent",
    "message",
    "why",
    "fix",
    "scope",
    "fact",
    "guard",
)
_NUMBERS = ("line", "column", "end_line", "mark", "mark_end", "cell", *_ENUMS)


class _Columns:
    """Collects the findings column by column."""

    def __init__(self, owner: dict[str, str]) -> None:
        self.owner = owner
        self.tables = {name: _Table() for name in (*_TEXTS, "code")}
        self.columns: dict[str, list[int]] = {name: [] for name in (*_TEXTS, "code", *_NUMBERS)}
        self.fingerprints: list[str] = []
        self.related: dict[int, list[str]] = {}
        self.ranks = {name: {v: i for i, v in enumerate(values)} for name, values in _ENUMS.items()}

    def add(self, finding: Finding) -> None:
        """One more row."""
        columns, tables = self.columns, self.tables
        span, guard = finding.span, finding.guard
        code, start, end = marked(finding.line_text, span.column - 1, _mark_end(span, finding.line_text))
        texts = (
            finding.rule,
            span.path,
            self.owner.get(span.path, ""),
            finding.subject,
            finding.equivalent,
            finding.message,
            finding.why,
            finding.fix,
            finding.scope,
            finding.table,
            f"{guard.side}: {guard.text} ({guard.line})" if guard else "",
        )
        for name, text in zip(_TEXTS, texts, strict=True):
            columns[name].append(tables[name].number(text))
        columns["code"].append(tables["code"].number(code))
        cell = -1 if span.cell is None else span.cell
        places = (span.line, span.column, span.end_line, start, end, cell)
        for name, value in zip(_NUMBERS, places, strict=False):
            columns[name].append(value)
        for name, ranks in self.ranks.items():
            columns[name].append(ranks[getattr(finding, name).value])
        if finding.related:
            self.related[len(self.fingerprints)] = [visible(f"{s.path}:{s.line}") for s in finding.related]
        self.fingerprints.append(finding.fingerprint)


def island(report: Report, texts: dict[str, object]) -> Island:
    """The data of the page; ``texts`` are the words that its script needs."""
    collected = _Columns({file.path: file.component for file in report.files})
    for finding in report.findings:
        collected.add(finding)
    tables = {name: table.texts() for name, table in collected.tables.items() if name != "code"}
    # Lines of code were made visible with their marks; their tabs stay.
    tables["code"] = list(collected.tables["code"].numbers)
    data = {
        "enums": _ENUMS,
        "tables": tables,
        "columns": collected.columns,
        "fingerprints": collected.fingerprints,
        "related": {str(row): places for row, places in collected.related.items()},
        "components": [_component(c) for c in report.components],
        "texts": texts,
    }
    raw = msgspec.json.encode(data)
    if len(raw) > PACKED_ABOVE:
        # No time and no name inside: the same findings give the same bytes.
        return Island(base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode("ascii"), True)
    return Island(raw.decode("utf-8").replace("<", "\\u003c"), False)


def _mark_end(span: Span, line: str) -> int:
    return span.end_column - 1 if span.end_line == span.line else len(line)


def _component(component: object) -> list[object]:
    names = ("name", "kind", "path", "verdict", "reason", "files", "lines", "complete", "counts", "hours")
    row: list[object] = []
    for name in names:
        value = getattr(component, name)
        row.append(visible(value) if isinstance(value, str) and name != "verdict" else value)
    return row
