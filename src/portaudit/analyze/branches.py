"""Conditions of build scripts -> which parts a ROCm build reaches; for CMake, Make, shell and templates.

Conditions are judged by the vendor words in them. An option that switches CUDA on is a reason to stay quiet
only when the same file also knows ROCm; alone it says that somebody must still write the other branch.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from portaudit.analyze.words import Regions
from portaudit.model.evidence import Guard

_VENDOR = re.compile(
    r"(?<![A-Za-z])(?:(?P<rocm>rocm(?:-smi|info|_agent_enumerator)?|hip(?:cc|config|blas|ify)?|amd(?:gpu|-smi)?(?!64)|kfd|gfx\d\w*)"
    r"|(?P<cuda>cuda(?:toolkit)?|nvidia(?:-smi)?|nvcc|cudnn))(?:\d[\d.]*)?(?![A-Za-z])",
    re.IGNORECASE,
)
_NEGATED_BEFORE = re.compile(r"(?:\bNOT\b|!(?!=)|(?<!\S)-z)[\s\"'(\w${}./:-]{0,80}$", re.IGNORECASE)
_UNEQUAL = re.compile(r"!=|\bne\b|<>")
_FALSE_AFTER = re.compile(r"[\w}\")]{0,60}\s*(?:==?|,|STREQUAL)\s*[\"']?(?:0|OFF|FALSE|no|false|off)\b")
_TARGET_TEST = re.compile(r"\bTARGET\s+\S{1,80}")
# A test of the release of one side says nothing about the side.
_VERSION_TEST = re.compile(r"\w{0,60}VERSION|[\w}\")]{0,60}\s*VERSION_")
_CONDITION_LIMIT = 600
_TEXT_LIMIT = 120
_END = 1 << 62


class Turn(NamedTuple):
    """A place where a condition opens, changes or closes."""

    step: str
    """``if``, ``elif``, ``else``, ``end``, or ``stop`` for a return or exit."""
    start: int
    end: int
    condition: str = ""
    line: int = 0


class _Body(NamedTuple):
    start: int
    end: int
    guard: Guard | None


class _Branch:
    __slots__ = ("line", "side", "start", "stopped", "tails", "text")

    def __init__(self, start: int, side: str, text: str, line: int) -> None:
        self.start = start
        self.side = side
        self.text = text
        self.line = line
        self.stopped = False
        self.tails: list[tuple[int, Guard]] = []
        """What holds from a place inside the branch to its end."""


def side_of(condition: str, inverted: bool = False) -> str:
    """``rocm``, ``not-rocm``, ``cuda``, ``not-cuda``, or empty: what a condition asks for."""
    condition = condition[:_CONDITION_LIMIT].replace("HIP_PLATFORM", "PLATFORM")
    condition = _TARGET_TEST.sub("", condition)
    if _UNEQUAL.search(condition):
        inverted = not inverted
    seen: set[str] = set()
    for match in _VENDOR.finditer(condition):
        if _VERSION_TEST.match(condition, match.end()):
            continue
        vendor = "rocm" if match.group("rocm") else "cuda"
        negated = inverted ^ bool(_NEGATED_BEFORE.search(condition[: match.start()]))
        negated ^= bool(_FALSE_AFTER.match(condition, match.end()))
        seen.add(f"not-{vendor}" if negated else vendor)
    if seen in ({"rocm"}, {"rocm", "not-cuda"}):
        return "rocm"
    if seen in ({"not-rocm"}, {"not-rocm", "cuda"}) and not re.search(r"\bOR\b|\|\|", condition):
        return "not-rocm"
    return seen.pop() if len(seen) == 1 else ""


def regions(turns: Iterable[Turn], knows_rocm: bool = False) -> Regions:
    """The guards that hold from each place on. ``knows_rocm``: the file has a ROCm side anyway."""
    ordered = [(turn, side_of(turn.condition) if turn.condition else "") for turn in turns]
    aware = knows_rocm or any(side in ("rocm", "not-rocm") for _, side in ordered)
    stack = [[_Branch(0, "", "", 0)]]
    bodies: list[_Body] = []
    for turn, side in ordered:
        chain = stack[-1]
        if turn.step == "if":
            stack.append([_Branch(turn.end, side, turn.condition, turn.line)])
        elif turn.step == "stop":
            chain[-1].stopped = True
        elif len(stack) > 1 and turn.step in ("elif", "else"):
            side = side if turn.step == "elif" else "else"
            chain.append(_Branch(turn.end, side, turn.condition or "else", turn.line))
        elif len(stack) > 1:
            stack.pop()
            bodies.extend(_close(chain, stack[-1][-1], turn, aware))
    bodies.extend(_Body(start, _END, guard) for start, guard in stack[0][0].tails)
    return _flatten(bodies)


def _close(chain: list[_Branch], outer: _Branch, end: Turn, aware: bool) -> Iterable[_Body]:
    """The bodies of a finished chain; what follows a ROCm branch that returned goes to the outer one."""
    for index, branch in enumerate(chain):
        guard = _guard(chain, index, aware)
        close = chain[index + 1].start if index + 1 < len(chain) else end.start
        if guard is not None:
            yield _Body(branch.start, close, guard)
            if branch.stopped and guard.side == "rocm":
                outer.tails.append((end.end, Guard("cuda", f"after the end of: {guard.text}", guard.line)))
        for start, tail in branch.tails:
            yield _Body(start, close, tail)


def _guard(chain: list[_Branch], index: int, aware: bool) -> Guard | None:
    side, text, line = chain[index].side, chain[index].text, chain[index].line
    if side == "else":
        before = [branch.side for branch in chain[:index]]
        side = "not-rocm" if "rocm" in before else "rocm" if "not-rocm" in before else ""
        text, line = f"else of: {chain[0].text}", chain[0].line
    if side == "rocm":
        return Guard("rocm", text[:_TEXT_LIMIT], line)
    if side == "not-rocm" or (side == "cuda" and aware):
        return Guard("cuda", text[:_TEXT_LIMIT], line)
    return Guard("unknown", text[:_TEXT_LIMIT], line) if side == "cuda" else None


def _flatten(bodies: list[_Body]) -> Regions:
    """Nested bodies as one row of places; a decided guard is not hidden by an undecided one inside it."""
    starts: list[int] = []
    guards: list[Guard | None] = []
    stack: list[tuple[int, Guard | None]] = [(_END, None)]

    def mark(offset: int) -> None:
        starts.append(offset)
        guards.append(stack[-1][1])

    for body in sorted(bodies, key=lambda b: (b.start, -b.end)):
        while stack[-1][0] <= body.start:
            end, _ = stack.pop()
            mark(end)
        around = stack[-1][1]
        keep = body.guard is not None and body.guard.side == "unknown" and around is not None
        stack.append((body.end, around if keep else body.guard))
        mark(body.start)
    while len(stack) > 1:
        end, _ = stack.pop()
        mark(end)
    return Regions(tuple(starts), tuple(guards))
