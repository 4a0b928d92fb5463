"""The public JSON of a report, version 1. Field names are an interface: within 1.x only additions. The schema
is templates/schema/report-1.schema.json."""

from collections.abc import Iterable, Iterator

import msgspec

from portaudit.model.facts import Rule
from portaudit.model.findings import Finding
from portaudit.model.places import Span
from portaudit.model.report import Component, Report
from portaudit.render.escape import encodable
from portaudit.render.registry import RenderContext

SCHEMA_VERSION = "1.0"
_ROWS_A_CHUNK = 2000
_ENCODER = msgspec.json.Encoder()


class _Guard(msgspec.Struct):
    side: str
    text: str
    line: int


class _Place(msgspec.Struct, omit_defaults=True):
    path: str
    line: int
    column: int
    end_line: int
    end_column: int | None
    cell: int | None = None


class _Row(msgspec.Struct, omit_defaults=True):
    rule: str
    rule_id: str
    path: str
    line: int
    column: int
    end_line: int
    end_column: int | None
    verdict: str
    level: str
    confidence: str
    element: str
    subject: str
    equivalent: str
    message: str
    why: str
    fix: str
    state: str
    guard: _Guard | None
    fact: str | None
    fingerprint: str
    snippet: str
    component: str
    kind: str
    scope: str
    cell: int | None = None
    related: tuple[_Place, ...] = ()


def render(report: Report, context: RenderContext) -> Iterator[str]:
    """The report, one finding a line."""
    yield "{\n"
    for name, value in _head(report).items():
        yield f'"{name}": {_encode(value)},\n'
    yield from _array("components", map(_component, report.components))
    yield from _array("files", report.files)
    yield from _array("rules", map(_rule, report.rules))
    yield from _array("findings", _findings(report))
    yield from _array("skips", report.skips)
    yield from _array("unknown", report.unknown, last=True)
    yield "}\n"


def _head(report: Report) -> dict[str, object]:
    counts = report.counts
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {
            "name": "portaudit",
            "version": report.version,
            "rules_digest": report.rules_digest,
            "knowledge_date": report.knowledge_date,
        },
        "target": {
            "rocm": report.target.release,
            "gfx": [gfx.name for gfx in report.target.gfx],
            "text": str(report.target),
        },
        "root": report.root,
        "summary": {
            "verdict": report.verdict,
            "reason": report.reason,
            "files": counts.files,
            "read": counts.read,
            "lines": counts.lines,
            "findings": counts.findings,
            "components": counts.components,
            "guarded": counts.guarded,
            "ignored": counts.ignored,
            "unknown": counts.unknown,
            "skipped": counts.skipped,
        },
    }


def _component(component: Component) -> dict[str, object]:
    low, likely, high = component.hours
    return {
        "name": component.name,
        "kind": component.kind,
        "path": component.path,
        "verdict": component.verdict,
        "reason": component.reason,
        "files": component.files,
        "lines": component.lines,
        "findings": component.counts,
        "complete": component.complete,
        "hours": {"low": low, "likely": likely, "high": high},
    }


def _rule(rule: Rule) -> dict[str, object]:
    names = (
        "id slug title verdict level element confidence effort equivalent why fix examples references since"
    )
    return {name: getattr(rule, name) for name in (*names.split(), "as_of")}


def _findings(report: Report) -> Iterator[_Row]:
    ids = {rule.slug: rule.id for rule in report.rules}
    owner = {file.path: file.component for file in report.files}
    for finding in report.findings:
        yield _row(finding, ids.get(finding.rule, ""), owner.get(finding.span.path, ""))


def _row(finding: Finding, rule_id: str, component: str) -> _Row:
    span, guard = finding.span, finding.guard
    end_line, end_column = _inclusive_end(span)
    return _Row(
        rule=finding.rule,
        rule_id=rule_id,
        path=span.path,
        line=span.line,
        column=span.column,
        end_line=end_line,
        end_column=end_column,
        verdict=finding.verdict.value,
        level=finding.level.value,
        confidence=finding.confidence.value,
        element=finding.element.value,
        subject=finding.subject,
        equivalent=finding.equivalent,
        message=finding.message,
        why=finding.why,
        fix=finding.fix,
        state=finding.state.value,
        guard=None if guard is None else _Guard(guard.side, guard.text, guard.line),
        fact=finding.table or None,
        fingerprint=finding.fingerprint,
        snippet=finding.line_text,
        component=component,
        kind=finding.evidence_kind,
        scope=finding.scope,
        cell=span.cell,
        related=tuple(map(_place, finding.related)) if finding.related else (),
    )


def _inclusive_end(span: Span) -> tuple[int, int | None]:
    """The line of the last character and the column behind it; no column where that is the line end."""
    if span.end_column == 1 and span.end_line > span.line:
        return span.end_line - 1, None
    return span.end_line, span.end_column


def _place(span: Span) -> _Place:
    end_line, end_column = _inclusive_end(span)
    return _Place(span.path, span.line, span.column, end_line, end_column, span.cell)


def _array(name: str, rows: Iterable[object], last: bool = False) -> Iterator[str]:
    """``"name": [...]`` in chunks, so that the whole never lies in memory."""
    lines: list[str] = []
    opening = f'"{name}": ['
    for row in rows:
        lines.append(_encode(row))
        if len(lines) >= _ROWS_A_CHUNK:
            yield opening + "\n" + ",\n".join(lines)
            opening, lines = ",", []
    if lines:
        yield opening + "\n" + ",\n".join(lines)
    elif opening != ",":
        yield opening
    yield "]\n" if last else "],\n"


def _encode(value: object) -> str:
    try:
        return _ENCODER.encode(value).decode("utf-8")
    except UnicodeEncodeError:
        # A name of bytes that are no UTF-8, or half a surrogate pair in a notebook.
        return _ENCODER.encode(_clean(msgspec.to_builtins(value))).decode("utf-8")


def _clean(value: object) -> object:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(item) for item in value]
    return value
