"""NVML calls: the AMD SMI call that answers the same question, from nvml_amdsmi.csv."""

from pathlib import Path

from rulebuild.files import Row, read


def annotate(rows: list[Row], facts: Path) -> None:
    """Puts the AMD SMI call, its Python name and the difference of units into the rows of NVML functions."""
    by_name = {fact["nvml_function"]: fact for fact in read(facts / "nvml_amdsmi.csv")}
    for row in rows:
        fact = by_name.get(row["name"])
        if fact is None:
            continue
        calls = [n for n in (fact["amdsmi_c"], fact["amdsmi_python"]) if n and n != "none"]
        row["native"] = " / ".join(dict.fromkeys(calls)) or row["native"]
        row["why"] = fact["difference"]
        # NVML has no drop-in: even a call of the same purpose has other handles, units and errors.
        row["verdict"] = "adaptation" if fact["verdict"] == "direct" else fact["verdict"]
        row["level"] = "functional"
        row["evidence"] = f"{row['evidence']};{fact['evidence']}"
        row["as_of"] = max(row["as_of"], fact["as_of"])
