"""The builder of rule tables: what it does to facts, on small ones."""

import csv
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

from rulebuild import api, deployment, files, overlay, packages, sources  # noqa: E402


def table(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)


FAMILY = {
    "library": "nvml",
    "pattern": "^x",
    "verdict": "adaptation",
    "level": "functional",
    "equivalent": "y",
    "rocm_since": "6.0",
    "gfx_scope": "all",
    "why": "w",
    "remediation": "r",
    "effort_hours_low": "1",
    "effort_hours_high": "2",
    "confidence": "expert",
    "evidence": "facts/ecosystem/things.csv: one",
    "as_of": "2026-01-01",
}
SYMBOL = """
cuda_name kind cuda_added cuda_deprecated cuda_removed hip_name hip_added hip_removed hip_experimental
roc_name in_rocm_10 map_status signature_change source note
"""


def test_family_keys_become_unique_and_sources_are_followed(tmp_path):
    rows = [{"order": "2", "family": "a", **FAMILY}, {"order": "1", "family": "a", **FAMILY}]
    table(tmp_path / "api" / "families.csv", rows)
    table(
        tmp_path / "ecosystem" / "things.csv", [{"id": "one", "evidence": "https://a.test ; https://b.test"}]
    )
    built = api.families(tmp_path / "api")
    assert [r["family"] for r in built] == ["a", "a-2"]
    assert [r["order"] for r in built] == ["1", "2"]
    assert built[0]["evidence"] == "https://a.test; https://b.test"
    assert built[0]["confidence"] == "medium" and built[0]["fix"] == "r"


def test_sources_that_point_nowhere_stay(tmp_path):
    table(tmp_path / "ecosystem" / "things.csv", [{"id": "one", "evidence": "https://a.test"}])
    found = sources.Sources(tmp_path)
    assert found.resolved("https://x.test; facts/ecosystem/things.csv: two") == (
        "https://x.test; facts/ecosystem/things.csv: two"
    )


def test_symbol_status_decides_not_the_hip_name():
    fact = dict.fromkeys(SYMBOL.split(), "")
    row = api._symbol(fact | {"map_status": "roc_only", "hip_name": "gone", "roc_name": "roc"}, "2026-01-01")
    assert row["hip"] == "" and row["native"] == "roc"
    weak = api._symbol(fact | {"map_status": "mapped", "source": "cuda_headers;hipcub_2024"}, "2026-01-01")
    strong = api._symbol(fact | {"map_status": "mapped", "source": "hipcub_2024;bindings_10"}, "2026-01-01")
    assert (weak["confidence"], strong["confidence"]) == ("medium", "high")


def test_variables_are_read_out_of_prose():
    fact = {"cuda_item": "NCCL_NVLS_ENABLE, NCCL_NVLSTREE_*, LD_PATH=/x/CUDA_NOT_ME (DeepSpeed)"}
    assert deployment._variables(fact) == ["NCCL_NVLS_ENABLE", "NCCL_NVLSTREE_*", "LD_PATH"]


def test_corrections_need_evidence_and_a_row(tmp_path):
    row = {"name": "a", "hip": "x", "evidence": "e", "as_of": "2026-01-01"}
    change = {
        "table": "t",
        "name": "a*",
        "column": "hip",
        "value": "y",
        "evidence": "f",
        "as_of": "2026-02-01",
    }
    (changed,) = overlay.apply("t", [dict(row)], [change])
    assert changed == {"name": "a", "hip": "y", "evidence": "e;f", "as_of": "2026-02-01"}
    with pytest.raises(ValueError, match="matches no row"):
        overlay.apply("t", [dict(row)], [change | {"name": "b"}])
    with pytest.raises(ValueError, match="no column"):
        overlay.apply("t", [dict(row)], [change | {"column": "hop"}])
    table(tmp_path / "corrections.csv", [change | {"evidence": ""}])
    with pytest.raises(ValueError, match="without evidence"):
        overlay.corrections(tmp_path)


def test_seed_rows_of_packages():
    base = files.table_row("foo-cu12", verdict="adaptation", why="w", evidence="e", as_of="2026-01-01")
    seed = [
        {"name": "foo-cu*", "like": "foo-cu12", "why": "", "evidence": ""},
        {"name": "foo-cu12", "like": "", "why": "better", "evidence": ""},
    ]
    rows = {r["name"]: r for r in packages._with_seed([base], seed)}
    assert rows["foo-cu*"]["why"] == "w" and rows["foo-cu12"]["why"] == "better"
    with pytest.raises(ValueError, match="without a fact"):
        packages._with_seed([base], [{"name": "bar", "like": "", "why": "x", "evidence": ""}])


def test_files_are_written_the_same_on_every_system(tmp_path):
    files.write(tmp_path / "a" / "b.csv", ("x", "y"), [{"x": "1,2", "y": "é", "z": "no"}])
    assert (tmp_path / "a" / "b.csv").read_bytes() == 'x,y\n"1,2",é\n'.encode()
