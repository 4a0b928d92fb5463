"""CSV files of rules/ -> facts, architectures and releases."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from portaudit.knowledge import schema
from portaudit.knowledge.schema import Faults
from portaudit.knowledge.support import numbers
from portaudit.model.evidence import Confidence
from portaudit.model.facts import Fact, Gfx, Level, Verdict

Row = Mapping[str, str]


def rows(
    path: Path, columns: tuple[str, ...], faults: Faults, api: bool = False
) -> Iterator[tuple[int, Row]]:
    """Line numbers and rows of a CSV file of known shape; nothing when the header is wrong."""
    try:
        stream = path.open(encoding="utf-8", newline="")
    except OSError as error:
        faults.add(path, 0, "", f"cannot be read: {error.strerror}")
        return
    with stream:
        reader = csv.DictReader(stream, restkey="_rest", restval="")
        if not schema.check_header(path, reader.fieldnames, columns, faults):
            return
        for row in reader:
            if "_rest" in row:
                faults.add(path, reader.line_num, "", "more cells than columns")
                continue
            schema.check_row(path, reader.line_num, row, faults, api)
            yield reader.line_num, row


def api(root: Path, families: Mapping[str, Fact], faults: Faults) -> Iterator[Fact]:
    """Facts of rules/api/, each name of a library once."""
    for path in sorted((root / "api").glob("*.csv")):
        if path.stem == "families":
            continue
        seen: set[str] = set()
        for line, row in rows(path, schema.API_COLUMNS, faults, api=True):
            if row["name"] in seen:
                faults.add(path, line, "name", f"{row['name']!r} stands here twice")
            seen.add(row["name"])
            if row["family"] and f"{path.stem}/{row['family']}" not in families:
                faults.add(path, line, "family", f"{row['family']!r} is not in families.csv for {path.stem}")
            yield _api_fact(path.stem, row)


def _api_fact(library: str, row: Row) -> Fact:
    mapped = row["status"] in ("mapped", "absent_in_rocm")
    return Fact(
        table="api",
        name=row["name"],
        library=library,
        kind=row["kind"],
        status=row["status"],
        verdict=_verdict(row["verdict"]),
        equivalent=row["hip"] if mapped else row["native"],
        native=row["native"],
        level=_level(row["level"] or "syntactic"),
        since=row["since"],
        until=row["until"],
        cuda=_history(row),
        args=row["args"],
        family=row["family"],
        note=row["note"],
        why=row["why"],
        fix=row["fix"],
        confidence=_confidence(row["confidence"] or "high"),
        experimental=row["experimental"] == "yes",
        evidence=row["evidence"],
        as_of=row["as_of"],
    )


def _history(row: Row) -> str:
    return ", ".join(
        f"{w} {row[f'cuda_{w}']}" for w in ("added", "deprecated", "removed") if row[f"cuda_{w}"]
    )


def families(root: Path, faults: Faults) -> dict[str, Fact]:
    """Facts of families.csv under ``library/family``."""
    path = root / "api" / "families.csv"
    found: dict[str, Fact] = {}
    for line, row in rows(path, schema.FAMILY_COLUMNS, faults):
        key = f"{row['library']}/{row['family']}"
        if key in found:
            faults.add(path, line, "family", f"{key} stands here twice")
        found[key] = Fact(
            table="family",
            name=row["family"],
            library=row["library"],
            verdict=_verdict(row["verdict"]),
            equivalent=row["equivalent"],
            level=_level(row["level"]),
            since=row["since"],
            gfx=row["gfx"],
            why=row["why"],
            fix=row["fix"],
            hours=_hours(row),
            confidence=_confidence(row["confidence"]),
            evidence=row["evidence"],
            as_of=row["as_of"],
        )
    return found


def table(name: str, root: Path, faults: Faults) -> Iterator[Fact]:
    """Facts of one file of rules/tables/; of libraries.csv also those of table ``group``."""
    path = root / "tables" / f"{schema.TABLE_FILES[name]}.csv"
    columns = schema.LIBRARY_COLUMNS if name == "library" else schema.TABLE_COLUMNS
    seen: set[tuple[str, str]] = set()
    for line, row in rows(path, columns, faults):
        group = name == "library" and row["kind"] == "group"
        key = ("group" if group else name, row["name"])
        if key in seen:
            faults.add(path, line, "name", f"{row['name']!r} stands here twice")
        seen.add(key)
        yield Fact(
            table=key[0],
            name=row["name"],
            library=row["library"],
            kind=row["kind"],
            status=row["status"],
            verdict=_verdict(row["mapped_verdict"] if group else row["verdict"]),
            equivalent=row["equivalent"],
            native=row["native"],
            level=_level(row["level"] or "operational"),
            since=row["since"],
            until=row["until"],
            gfx=row["gfx"],
            args=row["args"],
            note=row["note"],
            why=row["mapped_why"] if group else row["why"],
            fix=row["fix"],
            hours=_hours(row),
            confidence=_confidence(row["confidence"]),
            evidence=row["evidence"],
            as_of=row["as_of"],
        )


def gfx(root: Path, faults: Faults) -> tuple[dict[str, Gfx], dict[str, str]]:
    """Architectures by name, and their names by short product name."""
    path = root / "support" / "targets.csv"
    found: dict[str, Gfx] = {}
    products: dict[str, str] = {}
    for line, row in rows(path, schema.TARGET_COLUMNS, faults):
        for key in ("wavefront", "lds_kib"):
            if not row[key].isdigit():
                faults.add(path, line, key, f"{row[key]!r} is not a number")
                break
        else:
            found[row["gfx"]] = Gfx(
                name=row["gfx"],
                product=row["product"],
                wavefront=int(row["wavefront"]),
                lds_kib=int(row["lds_kib"]),
                images=row["images"] == "yes",
                fp8=row["fp8"],
                matrix=row["matrix"],
                rocm_from=row["rocm_from"],
                rocm_to=row["rocm_to"],
            )
        for alias in filter(None, row["aliases"].split(";")):
            if alias in products:
                faults.add(path, line, "aliases", f"{alias!r} already means {products[alias]}")
            products[alias] = row["gfx"]
    return found, products


def releases(root: Path, faults: Faults) -> tuple[str, ...]:
    """ROCm releases, ascending."""
    path = root / "support" / "releases.csv"
    found = []
    for line, row in rows(path, schema.RELEASE_COLUMNS, faults):
        if not numbers(row["rocm"]):
            faults.add(path, line, "rocm", f"{row['rocm']!r} is not a release such as 7.2.1")
        found.append(row["rocm"])
    return tuple(sorted(found, key=numbers))


def frameworks(root: Path, faults: Faults) -> tuple[str, ...]:
    """Dates of the framework table; its rows are for people and are only checked here."""
    path = root / "support" / "frameworks.csv"
    return tuple(row["as_of"] for _, row in rows(path, schema.FRAMEWORK_COLUMNS, faults))


def _verdict(text: str) -> Verdict | None:
    return _VERDICTS.get(text)


def _level(text: str) -> Level:
    return _LEVELS.get(text, Level.SYNTACTIC)


def _confidence(text: str) -> Confidence:
    return _CONFIDENCES.get(text, Confidence.LOW)


def _hours(row: Row) -> tuple[float, float] | None:
    try:
        return float(row["hours_low"]), float(row["hours_high"])
    except ValueError:
        return None


_VERDICTS = {v.value: v for v in Verdict}
_LEVELS = {v.value: v for v in Level}
_CONFIDENCES = {v.value: v for v in Confidence}
