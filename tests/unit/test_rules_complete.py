"""Every rule is whole: its texts, its numbers, and a case that shows where it speaks and where it must not."""

import re
import string
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests.cases.casefile import FIXTURES, load_cases

RULES = Path(__file__).resolve().parents[2] / "rules"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _load(path):
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)


FILES = {path.stem: _load(path) for path in sorted((RULES / "semantic").glob("*.yaml"))}
EFFORTS = set(_load(RULES / "effort.yaml"))
SLUGS = sorted(FILES)

# Rules that no file can bring about, with the reason. Anything else needs a case.
NO_CASE: dict[str, str] = {}

# First digits of the ids that rules about a table or a kind of evidence may have.
_TABLES = {
    "api": "1", "header": "1", "module": "3", "ptx": "2", "library": "4", "flag": "45", "image": "5", "key": "5",
    "package": "6", "tool": "7", "env": "7",
}  # fmt: skip
_KINDS = {
    "launch": "2", "kernel": "2", "asm": "23", "condition": "2", "include": "238", "define": "24",
    "name": "238", "call": "238", "attribute": "348", "unknown": "1", "pattern": "23478", "command": "347",
    "flag": "2345", "library": "24", "index": "456", "package": "36", "import": "3", "image": "5",
    "key": "57", "tool": "457", "env": "3457", "string": "34578",
}  # fmt: skip


def _quiet_lines(case):
    return len(case.get("must_not_flag") or ())


def _demands():
    """Rule -> cases that demand a finding of it, with two quiet lines beside it."""
    own = {path.stem for path in FIXTURES.rglob("*.yaml")}
    found = {}
    for case in load_cases().values():
        if case["id"] in own and "known_miss" not in case and _quiet_lines(case) >= 2:
            for entry in case["expect"]:
                if "rule" in entry and entry.get("confidence") != "low":
                    found.setdefault(entry["rule"], set()).add(case["id"])
    return found


DEMANDS = _demands()


@pytest.mark.parametrize("slug", SLUGS)
def test_a_case_demands_the_rule_beside_quiet_lines(slug):
    if slug in NO_CASE:
        assert slug not in DEMANDS, f"{slug} has a case: take it from NO_CASE"
    else:
        assert slug in DEMANDS, f"no case has an expectation with rule: {slug} and two must_not_flag lines"


def test_cases_name_rules_that_there_are():
    named = {
        e["rule"]: case["id"]
        for case in load_cases().values()
        for e in case["expect"]
        if "rule" in e and e["rule"] not in FILES
    }
    assert not named
    assert set(NO_CASE) <= set(FILES)


def test_cases_are_named_by_their_file():
    for path in FIXTURES.rglob("*.yaml"):
        case = _load(path)
        assert (case["id"], case["family"]) == (path.stem, path.parent.name), path


def test_ids_are_unique():
    twice = [i for i, n in Counter(rule["id"] for rule in FILES.values()).items() if n > 1]
    assert not twice


@pytest.mark.parametrize("slug", SLUGS)
def test_the_id_is_of_the_right_hundred(slug):
    rule = FILES[slug]
    digit = re.fullmatch(r"PA([1-8])\d\d", rule["id"]).group(1)
    if "table" in rule:
        assert digit in _TABLES[rule["table"]]
    elif not rule.get("derived"):
        kinds = rule["when"]["kind"]
        for kind in [kinds] if isinstance(kinds, str) else kinds:
            assert digit in _KINDS[kind], f"{kind} evidence in {rule['id']}"


@pytest.mark.parametrize("slug", SLUGS)
def test_texts(slug):
    rule = FILES[slug]
    assert rule["slug"] == slug
    assert rule["effort"] in EFFORTS
    assert rule["references"] and all(re.match(r"(?:https://|PyPI:)\S+$", url) for url in rule["references"])
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", str(rule["as_of"]))
    for key in ("why", "fix"):
        assert re.search(r"[.:!?)]$", rule[key].strip()), f"{key} is a sentence and ends like one"
    for key in ("title", "message"):
        assert not rule[key].endswith("."), f"{key} stands in a line, without a full stop"
        assert "\n" not in rule[key].strip()


_PLAIN = {"name", "target", "gfx", "rocm"}
_DERIVED = _PLAIN | {"subject", "path", "line"}


@pytest.mark.parametrize("slug", SLUGS)
def test_placeholders_of_the_message(slug):
    rule = FILES[slug]
    for _, field, form, conversion in string.Formatter().parse(rule["message"]):
        if field is not None:
            assert re.fullmatch(r"\w+|attrs\.\w+", field), field
            assert field.startswith("attrs.") or field in (_DERIVED if rule.get("derived") else _PLAIN)
            assert not form and not conversion
