"""Every name of rules/api is found and ruled on as its row says; the expectation is computed here, from the
files alone, not by the code under test."""

import csv
from pathlib import Path

import pytest

from portaudit.knowledge.store import load
from portaudit.knowledge.support import parse_target

RULES = Path(__file__).resolve().parents[2] / "rules"
TARGETS = {"default": (None, (10, 2)), "older": ("rocm=6.3,gfx90a", (6, 3))}
ORDER = ("portable", "direct", "adaptation", "blocker")


def table(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


FAMILIES = {(r["library"], r["family"]): r for r in table(RULES / "api" / "families.csv")}
POLICIES = {
    r["name"]: r["mapped_verdict"] for r in table(RULES / "tables" / "libraries.csv") if r["kind"] == "group"
}
FILES = sorted(p for p in (RULES / "api").glob("*.csv") if p.stem != "families")


def release(text):
    return tuple(int(n) for n in text.removeprefix("<=").split(".")) if text else ()


def there(row, rocm):
    """Whether the HIP name of a row exists at a release; 6.3 stands for its whole series."""
    since, until = release(row["since"])[: len(rocm)], release(row["until"])[: len(rocm)]
    return since <= rocm and not (until and until <= rocm)


def expected(library, row, rocm):
    if row["status"] == "absent_in_rocm" and row["since"] and row["until"] and there(row, rocm):
        return "adaptation" if POLICIES.get(library) else "direct"
    if row["status"] == "mapped":
        if not there(row, rocm):
            return "adaptation"
        if row["verdict"] in ("adaptation", "blocker"):
            return row["verdict"]
        if POLICIES.get(library) == "adaptation":
            return "adaptation"
        # Without a call at hand, differing parameter lists need a look, unless the rest is optional.
        return "adaptation" if row["args"] and "optional" not in row["args"] else "direct"
    if row["status"] == "roc_only" and not row["verdict"]:
        return "adaptation"
    family = FAMILIES[library, row["family"]]
    verdict = row["verdict"] or family["verdict"]
    late = family["equivalent"] not in ("", "none") and release(family["since"])[: len(rocm)] > rocm
    return max(verdict, "adaptation", key=ORDER.index) if late else verdict


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_name_is_reachable(path, target):
    knowledge = load()
    text, rocm = TARGETS[target]
    wanted = parse_target(text, knowledge)
    assert wanted.rocm == rocm
    wrong = []
    for row in table(path):
        fact = knowledge.find("api", row["name"])
        if fact is None:
            wrong.append(f"{row['name']}: not found")
        elif fact.library != path.stem:
            continue
        else:
            verdict = knowledge.ruling(fact, wanted).verdict.value
            if verdict != expected(path.stem, row, rocm):
                wrong.append(f"{row['name']}: {verdict}, expected {expected(path.stem, row, rocm)}")
    assert not wrong, wrong[:20]


def test_names_of_two_libraries_are_both_listed():
    seen, twice = {}, set()
    for path in FILES:
        for row in table(path):
            twice |= {row["name"]} if seen.setdefault(row["name"], path.stem) != path.stem else set()
    knowledge = load()
    for name in twice:
        assert len({f.library for f in knowledge.lookup(name)}) > 1, name


def test_every_ruling_is_complete():
    """Each ruling names a rule that exists, says one sentence, and where it is work, why and what to do."""
    knowledge = load()
    target = parse_target(None, knowledge)
    for name in ("api", "header", "package", "module", "image", "tool", "env", "library", "flag", "key"):
        for fact in knowledge.facts(name):
            ruling = knowledge.ruling(fact, target)
            place = f"{name}:{fact.name}"
            assert knowledge.rule(ruling.rule) is not None, place
            assert ruling.message and "\n" not in ruling.message, place
            assert ruling.equivalent, place
            if ruling.verdict.rank >= 2:
                assert ruling.why and ruling.fix, place
            assert fact.evidence and fact.as_of, place
