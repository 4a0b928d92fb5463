"""Rule folders that are wrong say so in one go; the decoded index is kept, checked and never trusted."""

import shutil
from pathlib import Path

import pytest

from portaudit.errors import RulesError
from portaudit.knowledge import assembly, index
from portaudit.knowledge.store import Knowledge, load

RULES = Path(__file__).resolve().parents[2] / "rules"


@pytest.fixture
def small(tmp_path):
    """A copy of rules/ with one API file only."""
    root = tmp_path / "rules"
    shutil.copytree(RULES, root, ignore=lambda _, names: [n for n in names if n in _OTHERS])
    return root


_OTHERS = {p.name for p in (RULES / "api").glob("*.csv")} - {"families.csv", "complex.csv"}


def test_a_small_folder_loads(small):
    knowledge = Knowledge(assembly.build(small))
    assert knowledge.find("api", "cuCabs").equivalent == "hipCabs"
    assert knowledge.find("api", "cudaMalloc") is None


def test_all_errors_of_all_files_at_once(small):
    api = small / "api" / "complex.csv"
    lines = api.read_text().splitlines()
    lines[1] = lines[1].replace(",mapped,", ",maped,", 1)
    lines.append(lines[2])
    api.write_text("\n".join(lines) + "\n")
    env = small / "tables" / "env.csv"
    env.write_text(env.read_text().replace(",adaptation,", ",adaptaton,", 1))
    tools = small / "tables" / "tools.csv"
    tools.write_text(tools.read_text().replace("name,library", "nam,library", 1))
    rule = small / "semantic" / "ballot-in-int.yaml"
    rule.write_text(rule.read_text().replace("verdict: adaptation", "verdit: adaptation"))
    other = small / "semantic" / "arch-gate.yaml"
    other.write_text(other.read_text().replace("level: functional", "level: deep").replace("kind:", "kinds:"))
    (small / "semantic" / "broken.yaml").write_text("id: [PA999\n")
    with pytest.raises(RulesError) as caught:
        assembly.build(small)
    text = str(caught.value)
    for part in (
        "api/complex.csv:2: status: 'maped' is not accepted; accepted: mapped",
        "stands here twice",
        "tables/env.csv:",
        "'adaptaton' is not accepted; accepted: portable, direct, adaptation, blocker",
        "tables/tools.csv:1: header: missing name; unknown nam",
        "semantic/ballot-in-int.yaml:",
        "verdit: unknown key; did you mean verdict?",
        "verdict: missing",
        "semantic/arch-gate.yaml:",
        "level: 'deep' is not accepted; accepted: syntactic, functional, operational",
        "when.kinds: unknown key; did you mean kind?",
        "semantic/broken.yaml:",
    ):
        assert part in text, f"{part}\n--\n{text}"
    assert text.startswith(f"{text.count(chr(10))} errors in rules:")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("id: PA", "id: XX", "is not PA and three digits"),
        ("slug: arch-gate", "slug: other", "must be the file name 'arch-gate'"),
        ("effort: ", "effort: huge-", "accepted: rename, config-small"),
        ("as_of: '2026", "as_of: 'x2026", "is not a date"),
        ("kind:\n  - condition", "kind:\n  - conditoin", "kind 'conditoin' is not accepted"),
    ],
)
def test_rule_files(small, old, new, message):
    path = small / "semantic" / "arch-gate.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(RulesError, match=message):
        assembly.build(small)


def test_missing_folder(tmp_path):
    with pytest.raises(RulesError, match=r"families\.csv"):
        assembly.build(tmp_path / "nowhere")


def test_digest_follows_every_file(small):
    before = index.digest_of(small)
    assert index.digest_of(small) == before
    path = small / "tables" / "tools.csv"
    path.write_text(path.read_text() + "\n")
    assert index.digest_of(small) != before


def test_index_is_kept_and_checked(small, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    first = index.read(small)
    (kept,) = (tmp_path / "cache" / "portaudit").iterdir()
    monkeypatch.setattr(assembly, "build", None)
    assert index.read(small).digest == first.digest
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    for broken in (b"", b"\xc1", b"\x90" * 100_000, kept.read_bytes()[:-40]):
        kept.write_bytes(broken)
        assert index.read(small).digest == first.digest
    assert Knowledge(index.read(small)).find("api", "cuCabs") is not None


def test_index_without_a_place_for_it(small, tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setenv("LOCALAPPDATA", str(blocked))
    assert index.read(small).newest
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("LOCALAPPDATA", "relative")
    monkeypatch.setenv("HOME", "")
    monkeypatch.setenv("USERPROFILE", "")
    assert index.read(small).newest


def test_shipped_rules():
    knowledge = load()
    ids = [rule.id for rule in knowledge.rules]
    assert len(ids) == len(set(ids))
    for rule in knowledge.rules:
        low, likely, high = knowledge.hours(rule.effort)
        assert 0 <= low <= likely <= high
        assert rule.references, rule.slug
        assert knowledge.rule(rule.id) is knowledge.rule(rule.slug) is rule
        assert knowledge.rule(rule.id.lower()) is rule
    assert knowledge.newest <= "2027" and knowledge.newest >= "2026-11-30"
