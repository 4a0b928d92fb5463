"""Reading fact tables and writing rule tables: UTF-8, LF, one header, stable order."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from portaudit.knowledge.schema import TABLE_COLUMNS

Row = dict[str, str]


def read(path: Path) -> list[Row]:
    """All rows of a CSV file, cells stripped."""
    with path.open(encoding="utf-8", newline="") as stream:
        return [{k: (v or "").strip() for k, v in row.items()} for row in csv.DictReader(stream)]


def write(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> int:
    """Writes rows with the given columns and returns how many there were."""
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            writer.writerow([row.get(c, "") for c in columns])
            count += 1
    return count


def unique(rows: Iterable[Row], *keys: str) -> Iterator[Row]:
    """Rows whose key was not seen before; the first one wins."""
    seen = set()
    for row in rows:
        key = tuple(row.get(k, "") for k in keys)
        if key not in seen:
            seen.add(key)
            yield row


def table_row(name: str, **cells: str) -> Row:
    """A row of a rule table; unnamed cells are empty."""
    row = dict.fromkeys(TABLE_COLUMNS, "")
    unknown = set(cells) - set(TABLE_COLUMNS)
    if unknown:
        raise KeyError(f"no such column: {', '.join(sorted(unknown))}")
    return row | {"name": name} | cells


def words(text: str, separator: str = ";") -> list[str]:
    """The parts of a list cell."""
    return [part.strip() for part in text.split(separator) if part.strip()]


def confidence(word: str) -> str:
    """The confidence column of a rule table from the word that rates the evidence of a fact."""
    return {"doc": "high", "source": "high", "field": "medium", "expert": "medium"}.get(word, "low")


def version(text: str) -> str:
    """``7.2.0`` -> ``7.2.0``, ``<=10.0.0`` kept; text without a leading number is dropped."""
    bare = text.removeprefix("<=").removeprefix(">=")
    return text.removeprefix(">=") if bare[:1].isdigit() else ""
