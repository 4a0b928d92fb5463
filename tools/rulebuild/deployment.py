"""rules/tables: images, tools, env, keys, flags and PTX opcodes, from facts and from the names in seed/.

The fact tables describe tools, variables and images in prose (``NCCL_NVLS_ENABLE, NCCL_NVLSTREE_*``).
Variables are read out of that prose; for the rest a seed row gives the name and the fact it stands on.
"""

import re
from pathlib import Path

from portaudit.knowledge.schema import TABLE_COLUMNS
from rulebuild.files import Row, confidence, read, table_row

_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]*\*?|\bCUDAARCHS\b|\bCUDACXX\b")
_VALUES = frozenset({"FLASH_ATTN_VLLM_V1"})
_SAME = re.compile(
    r"honoured(?:;|$| \()|^same\b|works|used automatically|HIP lazy|^none$|MAX_JOBS$", re.IGNORECASE
)
TABLES = {
    "images": "containers",
    "tools": "tools_env",
    "env": "tools_env",
    "keys": "tools_env",
    "flags": "tools_env",
    "ptx": "tools_env",
}


def table(name: str, facts: Path, seed: Path) -> list[Row]:
    """Rows of one of the deployment tables, sorted by name."""
    by_id = {row["id"]: row for file in ("containers", "tools_env") for row in read(facts / f"{file}.csv")}
    rows: dict[str, Row] = {}
    if name == "env":
        for fact in by_id.values():
            if fact.get("kind") in ("env", "env-nccl"):
                rows |= {variable: _variable(variable, fact) for variable in _variables(fact)}
    for own in read(seed / f"{name}.csv"):
        base = rows.get(own["name"])
        if own["fact"]:
            base = _from_fact(own["name"], by_id[own["fact"]])
        elif base is None and not own["evidence"]:
            raise ValueError(f"{name}: {own['name']} has neither a fact nor evidence")
        cells = {k: v for k, v in own.items() if k in TABLE_COLUMNS and v}
        rows[own["name"]] = (base or table_row(own["name"])) | cells
    return sorted(rows.values(), key=lambda r: r["name"])


def unused(facts: Path, seed: Path) -> list[str]:
    """Ids of facts that no row stands on, for the report of the build."""
    used = {row["fact"] for name in TABLES for row in read(seed / f"{name}.csv")}
    left = [row["id"] for row in read(facts / "containers.csv") if row["id"] not in used]
    for row in read(facts / "tools_env.csv"):
        if row["id"] not in used and not (row["kind"].startswith("env") and list(_variables(row))):
            left.append(row["id"])
    return left


def _variables(fact: Row) -> list[str]:
    text = re.sub(r"=\S+|\(new\)|-D\S+", " ", fact["cuda_item"])
    return [v for v in dict.fromkeys(_VARIABLE.findall(text)) if v not in _VALUES]


def _variable(name: str, fact: Row) -> Row:
    row = _from_fact(name, fact)
    if "(new)" in fact["cuda_item"] or "ROCm only" in fact["amd_equivalent"]:
        return row | {"verdict": "portable", "kind": "rocm-only"}
    if row["verdict"] == "direct" and _SAME.search(fact["amd_equivalent"]):
        row |= {"verdict": "portable"}
    if fact["amd_equivalent"].startswith("RCCL: honoured"):
        note = fact["amd_equivalent"].removeprefix("RCCL: honoured").strip("; ")
        row |= {
            "equivalent": "same name, read by RCCL",
            "note": "; ".join(t for t in (note, row["note"]) if t),
        }
    return row


def _from_fact(name: str, fact: Row) -> Row:
    unknown = fact["verdict"] == "unknown"
    container = "cuda_image_pattern" in fact
    env = fact.get("kind", "").startswith("env")
    note = fact["notes"] if container and "notes" in fact else fact.get("caveats", "")
    return table_row(
        name,
        library=fact["purpose"] if container else name.partition("_")[0] if env else "",
        kind="image" if container else fact["kind"],
        verdict="adaptation" if unknown else fact["verdict"],
        level=fact["level"],
        equivalent=fact["rocm_image"] if container else fact["amd_equivalent"],
        note=note,
        why=note or ("The image holds CUDA" if container else "It belongs to NVIDIA's stack"),
        fix=fact.get("remediation") or f"Use {fact['rocm_image'] if container else fact['amd_equivalent']}",
        confidence="low" if unknown else confidence(fact["confidence"]),
        evidence=fact["evidence"],
        as_of=fact["as_of"],
    )
