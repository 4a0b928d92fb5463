"""Corrections and additions by hand: each changed cell carries its own source and date."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from rulebuild.files import Row, read


def corrections(seed: Path) -> list[Row]:
    """Rows ``table,name,column,value,evidence,as_of``; table is ``api/<library>`` or the name of a table."""
    rows = read(seed / "corrections.csv")
    for row in rows:
        if not (row["evidence"] and row["as_of"]):
            raise ValueError(f"correction without evidence or date: {row['table']} {row['name']}")
    return rows


def apply(table: str, rows: Iterable[Row], overlay: list[Row]) -> list[Row]:
    """Rows with the corrections of their table; a correction that matches no row is an error."""
    listed = list(rows)
    for change in (c for c in overlay if c["table"] == table):
        hit = False
        for row in listed:
            if fnmatchcase(row.get("name") or row["family"], change["name"]):
                hit = True
                _change(row, change)
        if not hit:
            raise ValueError(f"correction of {table}:{change['name']} matches no row")
    return listed


def _change(row: Row, change: Row) -> None:
    if change["column"] not in row:
        raise ValueError(f"correction of {change['table']}:{change['name']}: no column {change['column']}")
    row[change["column"]] = change["value"]
    if change["evidence"] not in row["evidence"]:
        row["evidence"] = f"{row['evidence']};{change['evidence']}" if row["evidence"] else change["evidence"]
    row["as_of"] = max(row["as_of"], change["as_of"])


def additions(seed: Path) -> dict[str, list[Row]]:
    """Rows of seed/api/<library>.csv: names that the fact tables do not have."""
    return {path.stem: read(path) for path in sorted((seed / "api").glob("*.csv"))}
