"""rules/api: one file per CUDA library, and the families that judge names without a HIP name."""

import re
from collections import Counter, defaultdict
from pathlib import Path

from portaudit.knowledge.schema import API_COLUMNS, FAMILY_COLUMNS
from rulebuild.files import Row, confidence, read, unique, write
from rulebuild.sources import Sources

_WITHOUT_NAME = ("unmapped", "unsupported", "absent_in_rocm")
# Header trees of 2024 and 2025: the identifier is declared or called there, which is weak evidence for today.
_OLD_HEADERS = re.compile(r"_(?:2024|2025)$|^(?:rocwmma|hip_cg|cuda_headers)$")


def families(facts: Path) -> list[Row]:
    """Rows of rules/api/families.csv; a key that two patterns of a library share gets a number."""
    rows, seen = [], Counter[tuple[str, str]]()
    sources = Sources(facts.parent)
    for fact in sorted(read(facts / "families.csv"), key=lambda r: int(r["order"])):
        seen[fact["library"], fact["family"]] += 1
        number = seen[fact["library"], fact["family"]]
        rows.append(
            {
                **fact,
                "family": fact["family"] if number == 1 else f"{fact['family']}-{number}",
                "since": fact["rocm_since"],
                "gfx": fact["gfx_scope"],
                "fix": fact["remediation"],
                "hours_low": fact["effort_hours_low"],
                "hours_high": fact["effort_hours_high"],
                "confidence": confidence(fact["confidence"]),
                "evidence": sources.resolved(fact["evidence"]),
            }
        )
    return rows


def symbols(facts: Path, family_rows: list[Row], as_of: str) -> dict[str, list[Row]]:
    """Rows of rules/api/<library>.csv by library, sorted by name."""
    patterns: dict[str, list[tuple[re.Pattern[str], str]]] = defaultdict(list)
    for row in family_rows:
        patterns[row["library"]].append((re.compile(row["pattern"]), row["family"]))
    found: dict[str, list[Row]] = defaultdict(list)
    for fact in read(facts / "symbols.csv"):
        row = _symbol(fact, as_of)
        if row["status"] in _WITHOUT_NAME:
            row["family"] = next((key for p, key in patterns[fact["library"]] if p.match(row["name"])), "")
            if not row["family"]:
                raise ValueError(f"{fact['library']}: no family for {row['name']}")
        found[fact["library"]].append(row)
    return found


def _symbol(fact: Row, as_of: str) -> Row:
    sources = [s for s in fact["source"].split(";") if s]
    strong = [s for s in sources if not _OLD_HEADERS.search(s)]
    mapped = fact["map_status"] == "mapped"
    weak = fact["hip_experimental"] or "matched by name only" in fact["note"]
    return {
        "name": fact["cuda_name"],
        "kind": fact["kind"],
        "status": fact["map_status"],
        "hip": "" if fact["map_status"] == "roc_only" else fact["hip_name"],
        "since": fact["hip_added"],
        "until": fact["hip_removed"],
        "native": fact["roc_name"],
        "cuda_added": fact["cuda_added"],
        "cuda_deprecated": fact["cuda_deprecated"],
        "cuda_removed": fact["cuda_removed"],
        "in_rocm_10": fact["in_rocm_10"],
        "args": fact["signature_change"],
        "experimental": fact["hip_experimental"],
        "family": "",
        "verdict": "",
        "level": "",
        "note": fact["note"],
        "why": "",
        "fix": "",
        "confidence": "medium" if mapped and (not strong or weak) else "high",
        "evidence": ";".join(sources),
        "as_of": as_of,
    }


def write_all(out: Path, family_rows: list[Row], by_library: dict[str, list[Row]]) -> int:
    """Writes rules/api and returns the number of names."""
    write(out / "api" / "families.csv", FAMILY_COLUMNS, family_rows)
    total = 0
    for library in sorted(by_library):
        rows = unique(sorted(by_library[library], key=lambda r: r["name"]), "name")
        total += write(out / "api" / f"{library}.csv", API_COLUMNS, rows)
    return total


def own_families(seed: Path) -> list[Row]:
    """Families for libraries that no fact table covers; their names say which family is theirs."""
    return read(seed / "families.csv")


def apply_policies(by_library: dict[str, list[Row]], seed: Path) -> None:
    """Gives mapped names without a release the one that their library arrived in."""
    for policy in read(seed / "libraries.csv"):
        for row in by_library.get(policy["library"], []) if policy["names_since"] else []:
            if row["status"] == "mapped" and not row["since"]:
                row["since"] = policy["names_since"]
