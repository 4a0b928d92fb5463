"""rules/support: architectures, ROCm releases and framework pairs."""

import re
from pathlib import Path

from portaudit.knowledge.schema import FRAMEWORK_COLUMNS
from rulebuild.files import Row, confidence, read

_RELEASE = re.compile(r"\d+\.\d+(?:\.\d+)?$")
_LDS_OF_A_WORKGROUP_ON_RDNA = "64"


def targets(facts: Path, seed: Path) -> list[Row]:
    """One row per architecture; boards that share it share the row."""
    own = {row["gfx"]: row for row in read(seed / "targets.csv")}
    rows: dict[str, Row] = {}
    for fact in read(facts / "targets.csv"):
        for gfx in fact["gfx"].split(";"):
            if not gfx.startswith("gfx"):
                continue
            if gfx in rows:
                if not own.get(gfx, {}).get("product"):
                    rows[gfx]["product"] += f"; {fact['product']}"
                rows[gfx]["evidence"] += f" ; {fact['evidence']}"
            else:
                rows[gfx] = _target(gfx, fact, own)
    return sorted(rows.values(), key=lambda r: (int(r["gfx"][3:].split("-")[0], 16), r["gfx"]))


def _target(gfx: str, fact: Row, seed: dict[str, Row]) -> Row:
    own = seed.get(gfx, {})
    fp8 = fact["fp8_formats"]
    lds = re.match(r"\d+", fact["lds_kib_per_cu"])
    rdna = fact["family"] == "RDNA"
    return {
        "gfx": gfx,
        "product": own.get("product") or fact["product"],
        "aliases": own.get("aliases", ""),
        "family": fact["family"],
        "wavefront": (re.match(r"\d+", fact["wavefront"]) or [""])[0],
        "lds_kib": _LDS_OF_A_WORKGROUP_ON_RDNA if rdna or lds is None else lds[0],
        "images": own.get("images") or ("yes" if rdna else "no"),
        "fp8": "fnuz" if "fnuz" in fp8 else "ocp" if "OCP" in fp8 or fp8.startswith("as gfx1250") else "none",
        "matrix": fact["matrix_unit"],
        "rocm_from": _since(fact["rocm_from"]),
        "rocm_to": "" if fact["rocm_to"].startswith(("current", "unknown")) else fact["rocm_to"],
        "xnack": fact["xnack"],
        "torch_capability": fact["torch_device_capability"],
        "note": "; ".join(t for t in (fact["notes"], own.get("note", "")) if t),
        "evidence": "; ".join(t for t in (fact["evidence"], own.get("evidence", "")) if t),
        "as_of": max(fact["as_of"], own.get("as_of", "")),
    }


def _since(text: str) -> str:
    match = re.match(r"\d+\.\d+(?:\.\d+)?", text)
    return match[0] if match else ""


def releases(facts: Path) -> list[Row]:
    """Releases that exist, by number; rules about numbers and nightlies are left out."""
    rows = []
    for fact in read(facts / "os_driver.csv"):
        if not _RELEASE.match(fact["rocm_version"]):
            continue
        rows.append(
            {
                "rocm": fact["rocm_version"],
                "date": fact["release_date"],
                "stream": fact["stream"],
                "os": fact["os_support"],
                "kernel": fact["kernel"],
                "driver": fact["gpu_driver"],
                "driver_rule": fact["driver_compat_rule"],
                "python": fact["python"],
                "gfx": fact["gpu_targets"],
                "prefix": fact["install_prefix"],
                "packages": fact["package_naming"],
                "note": fact["notes"],
                "evidence": fact["evidence"],
                "as_of": fact["as_of"],
            }
        )
    return sorted(rows, key=lambda r: [int(n) for n in r["rocm"].split(".")])


def frameworks(facts: Path) -> list[Row]:
    """Which framework release is known with which ROCm release."""
    names = ("framework", "framework_version", "rocm_versions", "support_kind", "python", "gfx")
    rest = ("container_image", "install_source", "notes", "confidence", "evidence", "as_of")
    rows = []
    for fact in read(facts / "frameworks.csv"):
        row = dict(zip(FRAMEWORK_COLUMNS, (fact[n] for n in (*names, *rest)), strict=True))
        rows.append(row | {"confidence": confidence(fact["confidence"])})
    return rows
