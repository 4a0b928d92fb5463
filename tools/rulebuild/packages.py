"""rules/tables/packages.csv and modules.csv: distributions, conda and system packages, import names."""

import re
from pathlib import Path

from portaudit.knowledge.schema import TABLE_COLUMNS
from rulebuild.files import Row, confidence, read, table_row, unique, words

_NEUTRAL = ("works", "works_with_other_build")
"""Statuses where importing the module says nothing: what matters is which build is installed."""


def packages(facts: Path, seed: Path, api: Path, as_of: str) -> list[Row]:
    """One row per distribution name, conda package and system package."""
    rows = [row for fact in read(facts / "packages.csv") for row in _packages(fact)]
    rows = _with_seed(rows, read(seed / "packages.csv"))
    rows.extend(_conda(read(api / "libraries.csv"), as_of))
    return sorted(unique(rows, "name"), key=lambda r: r["name"])


def _packages(fact: Row) -> list[Row]:
    verdict, kind = fact["verdict"], fact["category"]
    if kind == "nvidia-wheel":
        # The wheel itself has nothing to port; the line that asks for it has to go.
        verdict = "adaptation" if verdict == "direct" else verdict
    elif verdict == "direct" and fact["rocm_status"] != "fork":
        verdict = "portable"
    cells = {
        "library": fact["id"],
        "kind": kind,
        "status": "bundled" if kind == "nvidia-wheel" and verdict == "adaptation" else fact["rocm_status"],
        "verdict": verdict,
        "level": "functional" if verdict == "blocker" else "operational",
        "equivalent": _equivalent(fact),
        "native": " ".join(p for p in (fact["replacement_dist"], fact["replacement_specifier"]) if p),
        "gfx": "" if fact["gfx"] in ("unknown", "n/a") else fact["gfx"],
        "args": fact["rocm_specifier"],
        "note": _note(fact),
        "why": _why(fact),
        "fix": _fix(fact),
        "confidence": confidence(fact["confidence"]),
        "evidence": fact["evidence"],
        "as_of": fact["as_of"],
    }
    return [table_row(_normal(name), **cells) for name in words(fact["dist_names"])]


def _normal(name: str) -> str:
    head, bracket, extra = name.partition("[")
    return re.sub(r"[-_.]+", "-", head).lower() + bracket + extra


def _equivalent(fact: Row) -> str:
    text = fact["replacement"]
    return "none" if text in ("", "n/a") else text


def _note(fact: Row) -> str:
    # Free text such as "6.3 source; 7.2 or 10.0 wheels": to be read, not compared.
    known = fact["min_rocm"] not in ("", "unknown", "n/a")
    return "; ".join(t for t in (fact["caveats"], f"ROCm: {fact['min_rocm']}" if known else "") if t)


def _why(fact: Row) -> str:
    kind, status = fact["category"], fact["rocm_status"]
    if kind == "nvidia-wheel":
        return "It holds NVIDIA's own binaries; the ROCm build of the framework brings its own libraries"
    text = {
        "works": "The same distribution runs on ROCm",
        "works_with_other_build": "This distribution is built for CUDA; ROCm needs another wheel or build",
        "fork": "Another distribution or repository carries the AMD version",
        "partial": "Only part of its features runs on ROCm",
        "experimental": "ROCm support is unmerged, beta or young",
        "none": "No ROCm version was found",
        "unknown": "Whether it runs on ROCm is not settled",
    }[status]
    needs = fact["needs"]
    return f"{text}; needs {needs}" if needs and status not in ("works",) else text


def _fix(fact: Row) -> str:
    if fact["category"] == "nvidia-wheel" and fact["verdict"] == "direct":
        return f"Remove the requirement; the ROCm build brings its own libraries ({fact['replacement']})"
    index = words(fact["replacement_index"])
    text = fact["replacement"] if fact["replacement"] not in ("", "n/a", "none") else ""
    if not text:
        return (
            "Nothing to do"
            if fact["verdict"] == "direct"
            else "Keep this part on NVIDIA hardware or replace it"
        )
    return f"Use {text}" + (f", index {index[0]}" if index and index[0] not in text else "")


def _with_seed(rows: list[Row], seed: list[Row]) -> list[Row]:
    """Seed rows with evidence are rows of their own; those without change cells of a row that exists."""
    by_name = {row["name"]: row for row in reversed(rows)}
    for own in seed:
        cells = {k: v for k, v in own.items() if k in TABLE_COLUMNS and v}
        base = by_name.get(own["name"]) or by_name.get(own.get("like", ""))
        if base is None and not own.get("evidence"):
            raise ValueError(f"seed row without a fact and without evidence: {own['name']}")
        by_name[own["name"]] = (base or table_row(own["name"])) | cells
    return list(by_name.values())


def _conda(libraries: list[Row], as_of: str) -> list[Row]:
    rows = []
    for fact in libraries:
        for name in words(fact["conda_packages"]):
            rows.append(
                table_row(
                    _normal(name),
                    library=fact["cuda_library"],
                    kind="conda",
                    status="bundled" if fact["status"] != "none" else "none",
                    verdict="blocker"
                    if fact["status"] == "none" and not fact["rocm_library"]
                    else "adaptation",
                    level="operational",
                    equivalent=fact["hip_wrapper"] or fact["rocm_library"] or "none",
                    why="conda has no ROCm packages of this kind; ROCm comes from wheels or system packages",
                    fix="Remove it from the environment and install the ROCm build with pip",
                    confidence="medium",
                    evidence=fact["evidence"],
                    as_of=as_of,
                )
            )
    return rows


def modules(facts: Path, seed: Path) -> list[Row]:
    """One row per import name; the first package that has it decides."""
    rows = []
    for fact in read(facts / "packages.csv"):
        row = _packages(fact)[0]
        if fact["category"] == "nvidia-wheel":
            row = row | {"verdict": "adaptation", "status": "bundled"} if fact["verdict"] == "direct" else row
        elif fact["rocm_status"] in _NEUTRAL or fact["verdict"] == "direct":
            row = row | {"verdict": "portable"}
        for name in words(fact["import_names"].replace(",", ";")):
            if re.fullmatch(r"[A-Za-z_][\w.]*", name) and name != "none":
                rows.append(row | {"name": name})
    rows = list(unique(rows, "name"))
    return sorted(unique(_with_seed(rows, read(seed / "modules.csv")), "name"), key=lambda r: r["name"])
