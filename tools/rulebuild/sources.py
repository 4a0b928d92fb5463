"""Evidence that points at another fact table -> the sources which that table names."""

import re
from pathlib import Path

from rulebuild.files import read

_POINTER = re.compile(r"facts/(api|ecosystem)/(\w+)\.csv(?::\s*([^;]+))?$")
_NAMES = {"symbols": "headers of CUDA and bindings of ROCm"}


class Sources:
    """The evidence columns of the fact tables, by table and key."""

    def __init__(self, facts: Path) -> None:
        self._facts = facts
        self._tables: dict[str, dict[str, str]] = {}

    def resolved(self, evidence: str) -> str:
        """Evidence whose pointers are replaced; what they point at may be several sources."""
        parts = [self._part(part.strip()) for part in evidence.split(";")]
        return "; ".join(dict.fromkeys(source for part in parts for source in part if source))

    def _part(self, text: str) -> list[str]:
        match = _POINTER.match(text)
        if match is None:
            return [text]
        folder, table, words = match.groups()
        if table in _NAMES:
            return [f"{_NAMES[table]} ({words.strip()})" if words else _NAMES[table]]
        known = self._table(folder, table)
        keys = [key.strip() for key in (words or "").split(",")]
        found = [source.strip() for key in keys for source in known.get(key, "").split(";")]
        if not any(found):
            found = (
                [source.strip() for source in next(iter(known.values()), "").split(";")]
                if not words
                else [text]
            )
        return found

    def _table(self, folder: str, table: str) -> dict[str, str]:
        if table not in self._tables:
            rows = read(self._facts / folder / f"{table}.csv")
            self._tables[table] = {next(iter(row.values())): row.get("evidence", "") for row in rows}
        return self._tables[table]
