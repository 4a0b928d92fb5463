import json
import tracemalloc

import jsonschema
import pytest

from portaudit import resources
from portaudit.model.places import Span
from portaudit.render.registry import RenderContext, render
from tests.unit import report_factory as factory


@pytest.fixture(scope="module")
def schema():
    text = (resources.templates() / "schema/report-1.schema.json").read_text("utf-8")
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
    return jsonschema.Draft202012Validator(json.loads(text))


def as_json(report):
    return json.loads("".join(render("json", report, RenderContext())))


@pytest.mark.parametrize("make", [factory.small, factory.hostile, factory.empty, lambda: factory.large(5000)])
def test_valid_against_the_schema(schema, make):
    document = as_json(make())
    assert [error.message for error in schema.iter_errors(document)] == []
    assert document["schema_version"] == "1.0"


def test_every_finding_is_there_with_its_state():
    document = as_json(factory.small())
    assert [f["state"] for f in document["findings"]].count("shown") == 7
    assert {f["state"] for f in document["findings"]} == {"shown", "guarded", "ignored"}
    guarded = next(f for f in document["findings"] if f["state"] == "guarded")
    assert guarded["guard"] == {"side": "rocm", "text": "#ifdef __HIP_PLATFORM_AMD__", "line": 3}
    assert guarded["rule_id"] == "PA101" and guarded["component"] == "src/core"


@pytest.mark.parametrize(
    ("span", "ends"),
    [
        (Span("a.cu", 3, 5, 3, 9), (3, 9)),
        (Span("a.cu", 3, 5, 4, 2), (4, 2)),
        (Span("a.cu", 3, 5, 4, 1), (3, None)),
        (Span("a.cu", 3, 1, 3, 1), (3, 1)),
    ],
)
def test_end_line_is_that_of_the_last_character(span, ends):
    (found,) = as_json(factory.report([factory.finding(factory.SITES[0], "a.cu", 3, span=span)]))["findings"]
    assert (found["end_line"], found["end_column"]) == ends
    assert "cell" not in found


def test_cells_of_notebooks_and_related_places():
    (found,) = [f for f in as_json(factory.small())["findings"] if f["path"].endswith(".ipynb")]
    assert found["cell"] == 3
    assert found["related"] == [
        {"path": "src/core/compat.h", "line": 1, "column": 1, "end_line": 1, "end_column": 5}
    ]


def test_names_that_are_no_text_do_not_stop_it():
    document = as_json(factory.hostile())
    subjects = {f["subject"] for f in document["findings"]}
    assert "bad\\xff\\x80name" in subjects
    assert factory.HOSTILE[3] in subjects, "what JSON can hold stays as it is"


def test_the_same_report_gives_the_same_bytes():
    texts = {
        "".join(render("json", factory.small(), RenderContext(generated_at=when))) for when in ("", "2026")
    }
    assert len(texts) == 1


def test_a_large_report_never_lies_in_memory_as_a_whole():
    report = factory.large(20000)
    tracemalloc.start()
    size = sum(len(chunk) for chunk in render("json", report, RenderContext()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 10_000_000
    assert peak < size / 2
