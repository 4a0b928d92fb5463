import pytest

from portaudit.model.evidence import Confidence, Guard
from portaudit.model.facts import Verdict
from portaudit.model.places import Skip
from portaudit.render.view import gpus, headline, library, percent, view
from portaudit.render.words import words
from tests.unit import report_factory as factory


@pytest.mark.parametrize(
    ("name", "origin"),
    [
        ("cutlass::half_t", "cutlass"),
        ("cutlass/numeric_types.h", "cutlass"),
        ("cutlass.cute", "cutlass"),
        ("optixTrace", "optix"),
        ("OptixPipeline", "OptixPipeline"),
        ("NPP_SUCCESS", "NPP_SUCCESS"),
        ("cudaGraphInstantiate", "cudaGraphInstantiate"),
        ("cuTensorMapEncodeTiled", "cuTensorMapEncodeTiled"),
        ("cuda.bindings", "cuda.bindings"),
        ("cuda/barrier", "cuda/barrier"),
        ("nvidia-dali", "nvidia-dali"),
        ("nvjpegDecode", "nvjpeg"),
        ("", ""),
    ],
)
def test_library_of_a_name(name, origin):
    assert library(name) == origin


def test_blockers_of_one_library_are_one_row():
    site = ("optix-program", "optixTrace", "none", Verdict.BLOCKER, "optixTrace(a);")
    names = ["optixTrace", "optixLaunch", "optixLaunch", "optixInit"]
    found = [
        factory.finding(site, f"a{i}.cu", i + 1, subject=n, table=f"api:{n}") for i, n in enumerate(names)
    ]
    (row,) = view(factory.report(found)).blockers
    assert (row.name, row.distinct, row.count, row.files, row.names[0]) == ("optix", 3, 4, 4, "optixLaunch")


def test_uncertain_blockers_come_last():
    sure, unsure, optional = factory.SITES[4], factory.SITES[5], factory.SITES[5]
    found = [
        *(factory.finding(unsure, f"b{i}.cu", 1, confidence=Confidence.LOW) for i in range(5)),
        factory.finding(optional, "c.cu", 9, guard=Guard("optional", "except ImportError", 3)),
        factory.finding(sure, "z.cu", 1),
    ]
    rows = view(factory.report(found)).blockers
    assert [(row.rule, row.certain) for row in rows] == [("ptx-wgmma", True), ("optix-program", False)]


def test_bars_count_each_file_once_and_what_was_not_read():
    bar = view(factory.small()).bar("files")
    assert [(p.name, p.count) for p in bar.parts] == [
        ("portable", 2), ("direct", 2), ("adaptation", 3), ("blocker", 2), ("not-read", 1)
    ]  # fmt: skip
    assert bar.total == 10
    assert sum(p.share for p in bar.parts) == pytest.approx(1)


def test_shares_never_deny_what_is_there():
    assert percent(1, 1 / 1000) == "<1 %"
    assert percent(999, 999 / 1000) == ">99 %"
    assert percent(0, 0.0) == "0 %"
    assert percent(5, 1.0) == "100 %"


def test_ignored_and_guarded_findings_are_no_topics():
    figures = view(factory.small())
    assert sum(t.count for t in (*figures.topics, *figures.renames)) == len(figures.shown) == 7


def test_skips_are_grouped_whole_files_first():
    skips = [
        Skip("b", "syntax", "", False),
        Skip("a", "crashed"),
        Skip("c", "crashed"),
        Skip("d", "too-large"),
    ]
    groups = view(factory.report((), skips=skips, files=())).unread
    assert [(g.reason, g.count, g.whole) for g in groups] == [
        ("crashed", 2, True), ("too-large", 1, True), ("syntax", 1, False)
    ]  # fmt: skip


def test_headline_says_when_nothing_was_read():
    assert "No file of demo was read" in headline(factory.empty(), words())
    assert headline(factory.small(), words()) == "demo has blockers for ROCm 7.2 on gfx942 (MI300X)"


def test_products_are_named_as_people_know_them():
    long = factory.MI300.__class__(
        "gfx942", "Instinct MI300A (APU); Instinct MI300X; Instinct MI325X", 64, 64, False, "fnuz", ""
    )
    report = factory.report((), files=(), target=factory.TARGET.__class__((7, 2), (long,)))
    assert gpus(report) == "gfx942 (MI300A, MI300X, …)"
