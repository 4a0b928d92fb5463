"""rules/tables/libraries.csv and headers.csv."""

import re
from pathlib import Path

from portaudit.knowledge.schema import TABLE_COLUMNS
from rulebuild.files import Row, read, table_row, unique, version, words

_SONAME = re.compile(r"^lib([\w.+-]+?)(?:_static)?\.(?:so|a)\b")


def libraries(facts: Path, seed: Path, as_of: str) -> list[Row]:
    """One row per link name, per CMake target, and one of kind ``group`` per library with its policy."""
    policy = {row["library"]: row for row in read(seed / "libraries.csv")}
    rows: list[Row] = []
    shared = []
    for fact in read(facts / "libraries.csv"):
        own = policy.get(fact["library"], {})
        rows.append(_group(fact, own, as_of))
        target = shared if fact["sonames"].startswith("part of") else rows
        target.extend(_link_rows(fact, own, as_of))
    # A library that lives inside another one does not own the link name.
    every = [*rows, *shared]
    groups = unique((r for r in every if r["kind"] == "group"), "name")
    links = unique((r for r in every if r["kind"] != "group"), "name")
    return sorted([*groups, *links], key=lambda r: (r["kind"], r["name"]))


def _group(fact: Row, own: Row, as_of: str) -> Row:
    row = _common(fact, own, as_of)
    return table_row(fact["library"], kind="group", equivalent=_counterpart(fact), **row) | {
        "mapped_verdict": own.get("mapped_verdict", ""),
        "mapped_why": own.get("mapped_why", ""),
    }


def _link_rows(fact: Row, own: Row, as_of: str) -> list[Row]:
    row = _common(fact, own, as_of)
    flags = [f.removeprefix("-l") for f in words(fact["link_flags"])]
    sonames = [m.group(1) for m in map(_SONAME.match, words(fact["sonames"])) if m]
    flag = words(fact["rocm_link_flags"])
    plain = " ".join(flag[:1]) or _counterpart(fact)
    found = []
    for name in dict.fromkeys(n.removesuffix("_static") for n in [*flags, *sonames]):
        found.append(table_row(name, kind="link", equivalent=plain, **row))
    target = words(fact["rocm_cmake_targets"])
    for name in words(fact["cmake_targets"]):
        found.append(table_row(name, kind="cmake-target", equivalent=(target or [plain])[0], **row))
    return found


def _counterpart(fact: Row) -> str:
    names = [n for n in (fact["hip_wrapper"], fact["rocm_library"]) if n]
    return " / ".join(dict.fromkeys(names)) or "none"


def _common(fact: Row, own: Row, as_of: str) -> Row:
    verdict = own.get("link_verdict") or ("blocker" if fact["status"] == "none" else "adaptation")
    why = own.get("link_why") or _why(fact, verdict)
    return {
        "library": fact["cuda_library"],
        "status": fact["status"],
        "verdict": verdict,
        "level": "functional" if verdict == "blocker" else "syntactic",
        "since": version(fact["min_rocm"]),
        "note": fact["note"],
        "why": why,
        "fix": _fix(fact, verdict),
        "confidence": "high" if fact["status"] != "none" or not fact["note"] else "medium",
        "evidence": fact["evidence"],
        "as_of": as_of,
    }


def _why(fact: Row, verdict: str) -> str:
    name, other = fact["cuda_library"], _counterpart(fact)
    if verdict == "blocker":
        return f"{name} has no counterpart on ROCm" + (f"; nearest is {other}" if other != "none" else "")
    if fact["status"] == "equivalent":
        return f"The library is called {other} on ROCm, so link lines and load calls name another file"
    return f"{other} covers part of {name}: " + (fact["note"] or "check the calls in use")


def _fix(fact: Row, verdict: str) -> str:
    flags, target = fact["rocm_link_flags"], fact["rocm_cmake_targets"]
    if verdict == "blocker":
        return fact["note"] or "Replace the use of this library or keep this part on NVIDIA hardware"
    if not (flags or target):
        return fact["note"] or f"Move to {_counterpart(fact)}"
    return (
        "Link "
        + " or ".join(words(flags)[:2] or words(target)[:1])
        + (f" (CMake: {', '.join(words(target)[:2])})" if target and flags else "")
    )


def headers(facts: Path, seed: Path, as_of: str) -> list[Row]:
    """Rows of headers.csv: seed rows first, since they carry what the fact table leaves open."""
    own = {row["name"]: row for row in read(seed / "headers.csv")}
    groups = {row["library"]: row for row in read(facts / "libraries.csv")}
    policy = {row["library"]: row for row in read(seed / "libraries.csv")}
    rows = []
    for fact in read(facts / "headers.csv"):
        if fact["cuda_header"] not in own:
            rows.append(_header(fact, groups[fact["library"]], policy.get(fact["library"], {}), as_of))
    for row in own.values():
        cells = {k: v for k, v in row.items() if k in TABLE_COLUMNS and k != "name"}
        rows.append(table_row(row["name"], **cells))
    return sorted(unique(rows, "name"), key=lambda r: r["name"])


def _header(fact: Row, group: Row, policy: Row, as_of: str) -> Row:
    name, target = fact["cuda_header"], fact["hip_header"] or fact["roc_header"]
    cells = {"library": fact["library"], "note": fact["note"], "evidence": fact["source"], "as_of": as_of}
    if target:
        same = "portable" if target == name else "direct"
        verdict = policy.get("mapped_header_verdict") or policy.get("header_verdict") or same
        since = version(group["min_rocm"]) if fact["library"] in ("libcudacxx", "nvshmem", "cufile") else ""
        why = policy.get("mapped_why") or f"The header of {_counterpart(group)} has another path"
        old = all(s == "cuda_headers" or s.endswith(("_2024", "_2025")) for s in fact["source"].split(";"))
        return table_row(
            name,
            status="mapped",
            verdict=verdict,
            level="syntactic",
            equivalent=target,
            since=since,
            native=fact["roc_header"],
            why=why,
            fix=f"Include <{target}>",
            confidence="medium" if old else "high",
            **cells,
        )
    verdict = policy.get("header_verdict") or ("blocker" if group["status"] == "none" else "adaptation")
    other = _counterpart(group)
    why = _why(group, verdict) if verdict == "blocker" else f"No header of {other} stands for this one"
    return table_row(
        name,
        status="unmapped",
        verdict=verdict,
        level="syntactic",
        equivalent=other,
        why=why,
        fix=_fix(group, verdict),
        confidence="medium",
        **cells,
    )
