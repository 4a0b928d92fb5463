"""Each case through the whole pipeline. A known miss is strict: the day it works, its mark has to go."""

import pytest

from portaudit.engine.config import Config
from portaudit.engine.scan import scan
from portaudit.model.findings import State
from tests.cases.casefile import judge, load_cases, write_tree

CASES = load_cases()


def rows(report):
    for finding in report.findings:
        if finding.state is State.SHOWN:
            span = finding.span
            last = span.end_line if span.end_column > 1 or span.end_line == span.line else span.end_line - 1
            yield span.path, span.line, last, finding.verdict.value, finding.rule


@pytest.mark.parametrize("case_id", sorted(CASES))
def test_case(case_id, tmp_path):
    case = CASES[case_id]
    write_tree(case, tmp_path)
    report = scan(tmp_path, Config(target=case.get("target", "")))
    outcome = judge(case, rows(report))
    # a message that asks for an attribute which the evidence does not have reads "…"
    assert not [f.message for f in report.findings if "…" in f.message]
    assert not outcome.alarms, "\n".join(outcome.alarms)
    if "known_miss" in case:
        assert outcome.wrong, f"{case_id} works now: delete its known_miss ({case['known_miss']})"
    else:
        assert not outcome.wrong, "\n".join(outcome.wrong)
