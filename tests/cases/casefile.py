"""Case files: a small tree, what must be found in it, what must stay quiet."""

import os
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import yaml

WORK = {"adaptation", "blocker"}
RANK = {"portable": 0, "direct": 1, "adaptation": 2, "blocker": 3}
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "cases"


def case_folders():
    """The project's cases, and the folders named in PORTAUDIT_CASES."""
    extra = [Path(p) for p in os.environ.get("PORTAUDIT_CASES", "").split(os.pathsep) if p]
    return [FIXTURES, *extra]


def load_cases():
    """All cases, by id."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    cases = {}
    for folder in case_folders():
        for path in sorted(folder.rglob("*.yaml")):
            case = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
            assert case["id"] not in cases, f"{path}: the id {case['id']} is taken"
            cases[case["id"]] = case
    return cases


def write_tree(case, root):
    """Writes the files of a case below root and applies its make steps, in order."""
    for name, text in case["files"].items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    for step in case.get("make") or ():
        path = root / step["path"]
        data = path.read_bytes()
        if step["op"] == "replace_bytes":
            data = data.replace(step["find"].encode(), bytes.fromhex(step["hex"]), 1)
        elif step["op"] == "newline":
            data = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        elif step["op"] == "repeat_before":
            at = data.index(step["find"].encode())
            data = data[:at] + step["text"].encode() * int(step["count"]) + data[at:]
        else:
            raise ValueError(f"unknown make step {step['op']}")
        path.write_bytes(data)


@dataclass
class Outcome:
    """What a report got wrong about a case, in words."""

    wrong: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)

    @property
    def passed(self):
        return not self.wrong and not self.alarms


def judge(case, rows):
    """Compares ``(path, first line, last line, verdict, rule)`` rows of a report with what a case expects.

    An expectation that names a ``rule`` wants a finding of that rule. Expectations of low confidence weigh
    nothing. A quiet line is hit by work that begins on it.
    """
    outcome = Outcome()
    by_file = defaultdict(list)
    for path, first, last, verdict, rule in rows:
        by_file[path].append((first, last, verdict, rule))
    wanted = defaultdict(set)
    for entry in case["expect"]:
        places = {
            (entry["file"], n) for n in range(entry["line"], (entry.get("end_line") or entry["line"]) + 1)
        }
        places |= {(other["file"], other["line"]) for other in entry.get("or_lines") or ()}
        for file, line in places:
            wanted[file].add(line)
        found = {(v, r) for file, n in places for first, last, v, r in by_file[file] if first <= n <= last}
        here = {v for v, _ in found}
        accepted = {entry["verdict"], *(entry.get("also_accept") or ())}
        if "rule" in entry:
            right = any(v in accepted and r == entry["rule"] for v, r in found)
        elif entry["verdict"] == "portable":
            right = not ((here & WORK) - accepted)
        else:
            right = bool(here & accepted) or ("portable" in accepted and not here - {"portable"})
        if not right and entry.get("confidence") != "low":
            got = ", ".join(sorted(f"{v} by {r}" for v, r in found)) or "nothing"
            wants = f"{entry['verdict']} by {entry['rule']}" if "rule" in entry else entry["verdict"]
            outcome.wrong.append(
                f"{entry['file']}:{entry['line']} {entry['construct']}: wants {wants}, got {got}"
            )
    for entry in case.get("must_not_flag") or ():
        if entry["line"] in wanted[entry["file"]]:
            continue
        hits = [rule for first, _, v, rule in by_file[entry["file"]] if first == entry["line"] and v in WORK]
        if hits:
            outcome.alarms.append(
                f"{entry['file']}:{entry['line']} must stay quiet ({entry['why']}), hit by {hits}"
            )
    return outcome
