"""The report on one screen of a terminal, whatever the size of the tree; ``concise``: one line a finding."""

import unicodedata
from collections.abc import Iterator

from portaudit.model.findings import Finding, State
from portaudit.model.report import Report
from portaudit.render.escape import visible
from portaudit.render.registry import RenderContext
from portaudit.render.view import NOT_READ, Bar, Blocker, Unread, View, headline, view
from portaudit.render.words import Words, number, words

_GLYPHS = {"portable": "░", "direct": "▒", "adaptation": "▓", "blocker": "█", NOT_READ: "·"}
_ASCII = {"portable": ".", "direct": "-", "adaptation": "+", "blocker": "#", NOT_READ: "?"}
# Codes of the 16 colours that every terminal theme sets to be readable.
_COLORS = {"portable": "90", "direct": "34", "adaptation": "33", "blocker": "31", NOT_READ: "35"}
_BOLD, _FAINT = "1", "2"
_LABEL, _CELL = 12, 13
_LIST = 5
_LEAST_LIST = 2


def render(report: Report, context: RenderContext) -> Iterator[str]:
    """The screen, or with ``concise`` all shown findings as ``path:line:column: ID slug message``."""
    if context.concise:
        yield from _concise(report)
    else:
        yield from _Screen(view(report), context, words()).lines()


def _concise(report: Report) -> Iterator[str]:
    ids = {rule.slug: rule.id for rule in report.rules}
    for finding in report.findings:
        if finding.state is State.SHOWN:
            text = f"{_place(finding)}:{finding.span.column}: {ids.get(finding.rule, '')} {finding.rule}"
            yield f"{visible(text)} {visible(finding.message)}\n"


def _place(finding: Finding) -> str:
    return f"{finding.span.path}:{finding.span.line}"


class _Screen:
    """Puts the lines together; each method gives those of one section."""

    def __init__(self, figures: View, context: RenderContext, say: Words) -> None:
        self.view = figures
        self.context = context
        self.say = say
        self.width = max(60, min(context.width, 120))
        self.glyphs = _ASCII if context.ascii else _GLYPHS

    def lines(self) -> Iterator[str]:
        """All lines, with lists as long as the screen allows."""
        head, tail = [*self._verdict(), "", *self._table()], [*self._notes(), *self._next()]
        lists = [entry for entry in (self._blockers(), self._topics()) if entry]
        # A file or a pipe has no screen: there the lists may be as long as they like to be.
        height = self.context.height if self.context.tty else max(self.context.height, 40)
        free = height - 2 - len(head) - len(tail)
        airy = free >= sum(2 + min(len(rows), _LIST + 1) for rows in lists) + 1
        room = free - (len(lists) + 1 if airy else 0)
        for line in head:
            yield line + "\n"
        for order, rows in enumerate(lists):
            share = room // (len(lists) - order)
            kept = rows[: max(1 + _LEAST_LIST, min(share, 1 + _LIST))]
            room -= len(kept)
            for line in ([""] if airy else []) + kept:
                yield line + "\n"
        for line in ([""] if airy else []) + tail:
            yield line + "\n"

    def _verdict(self) -> Iterator[str]:
        report = self.view.report
        name = report.verdict.value
        text = self._fit(visible(headline(report, self.say)), self.width)
        yield self._paint(text, _BOLD, _COLORS[name])
        yield from self._wrapped(visible(report.reason[:1].upper() + report.reason[1:]), 2)

    def _table(self) -> Iterator[str]:
        names = [part.name for bar in self.view.bars for part in bar.parts]
        columns = [name for name in _GLYPHS if name in names]
        heads = (f"{self.glyphs[n]} {self.say('verdict.' + n)}".rjust(_CELL) for n in columns)
        yield (
            " " * _LABEL
            + "".join(self._paint(h, _COLORS[n]) for h, n in zip(heads, columns, strict=True)).rstrip()
        )
        for bar in self.view.bars:
            counts = {part.name: part for part in bar.parts}
            cells = [
                f"{number(part.count)} {part.percent:>5}" if (part := counts.get(n)) and part.count else "-"
                for n in columns
            ]
            label = self.say("what." + bar.what).ljust(_LABEL)
            yield (label + "".join(cell.rjust(_CELL) for cell in cells)).rstrip()
            if bar.what != "findings" and bar.total:
                yield " " * _LABEL + self._stacked(bar)

    def _stacked(self, bar: Bar) -> str:
        length = min(self.width - _LABEL, _CELL * 5)
        pieces = []
        for part, cells in zip(bar.parts, _shares([p.count for p in bar.parts], length), strict=True):
            pieces.append(self._paint(self.glyphs[part.name] * cells, _COLORS[part.name]) if cells else "")
        return "".join(pieces)

    def _blockers(self) -> list[str]:
        found = self.view.blockers
        if not found:
            return []
        rows = []
        for blocker in found[:_LIST]:
            amount = self._amount(blocker.count, blocker.files)
            note = "" if blocker.certain else f", {self.say('text.unsure')}"
            rows.append((self._named(blocker), _place(blocker.first), amount + note))
        title = self.say("text.blockers", shown=len(rows), n=len(found))
        return [self._paint(title, _BOLD), *self._columns(rows)]

    def _named(self, blocker: Blocker) -> str:
        if blocker.distinct == 1:
            return blocker.name if blocker.name == blocker.names[0] else f"{blocker.name}: {blocker.names[0]}"
        return f"{blocker.name}: {self.say('count.names', n=blocker.distinct)}"

    def _topics(self) -> list[str]:
        adapt = [topic for topic in self.view.topics if topic.verdict == "adaptation"]
        found, key = (adapt, "text.topics") if adapt else (list(self.view.renames), "text.renames")
        if not found:
            return []
        rows = [(t.title, t.rule, self._amount(t.count, t.files)) for t in found[:_LIST]]
        return [self._paint(self.say(key, shown=len(rows), n=len(found)), _BOLD), *self._columns(rows)]

    def _columns(self, rows: list[tuple[str, str, str]]) -> Iterator[str]:
        """Name, place and amount. A place that is too long keeps its end, where the line number is."""
        rows = [(visible(name), visible(place), amount) for name, place, amount in rows]
        last = max(cells(amount) for *_, amount in rows)
        free = self.width - 6 - last
        names = max(cells(name) for name, *_ in rows)
        places = max(cells(place) for _, place, _ in rows)
        middle = max(free - names, min(places, free // 2))
        for name, place, amount in rows:
            left, right = self._fit(name, free - middle), self._fit_end(place, middle)
            left += " " * (free - middle - cells(left))
            right += " " * (middle - cells(right))
            yield f"  {left}  {right}  {self._paint(amount.rjust(last), _FAINT)}"

    def _amount(self, count: int, files: int) -> str:
        places = self.say("count.places", n=count)
        return self.say("text.places", places=places, files=self.say("count.files", n=files))

    def _notes(self) -> Iterator[str]:
        report = self.view.report
        for whole, key in ((True, "text.unread"), (False, "text.partly")):
            groups = [group for group in self.view.unread if group.whole is whole]
            if groups:
                yield self._listed(key, sum(g.count for g in groups), self._first_unread(groups))
        if report.unknown:
            first = [f"{u.name} ({u.path}:{u.line})" for u in report.unknown[:3]]
            yield self._listed("text.unknown", len(report.unknown), first)
        if report.counts.guarded or report.counts.ignored:
            yield self.say("text.set-aside", guarded=report.counts.guarded, ignored=report.counts.ignored)

    def _first_unread(self, groups: list[Unread]) -> list[str]:
        named = [(skip, group) for group in groups for skip in group.first]
        return [f"{skip.path} ({self.say.reason(group.reason)})" for skip, group in named[:3]]

    def _listed(self, key: str, count: int, first: list[str]) -> str:
        more = count - len(first)
        text = ", ".join(map(visible, first)) + (self.say("text.more", n=more) if more > 0 else "")
        return self._fit(self.say(key, n=count, first=text), self.width)

    def _next(self) -> Iterator[str]:
        rows = [("portaudit scan PATH -f html -o report.html", self.say("text.next-html"))]
        leading = self.view.topics or self.view.renames
        if leading:
            rows.append((f"portaudit explain {visible(leading[0].rule)}", self.say("text.next-explain")))
        wide = max(len(command) for command, _ in rows)
        for command, text in rows:
            yield self._fit(f"{command.ljust(wide)}  {text}", self.width)

    def _wrapped(self, text: str, most: int) -> Iterator[str]:
        """The text on at most so many lines, broken at blanks where there are any."""
        for order in range(most):
            if cells(text) <= self.width or order == most - 1:
                yield self._fit(text, self.width)
                return
            head = text[: self.width]
            at = head.rfind(" ") if " " in head[self.width // 2 :] else len(head)
            yield text[:at]
            text = text[at:].lstrip()

    def _fit(self, text: str, width: int) -> str:
        if cells(text) <= width:
            return text
        mark = "..." if self.context.ascii else "…"
        while text and cells(text) > width - len(mark):
            text = text[: -max(1, (cells(text) - width) // 2)]
        return text + mark

    def _fit_end(self, text: str, width: int) -> str:
        """The end of a text that is too long, so that ``path:line`` keeps its line."""
        return self._fit(text[::-1], width)[::-1]

    def _paint(self, text: str, *codes: str) -> str:
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self.context.color else text


def cells(text: str) -> int:
    """Columns that a text takes: two for wide letters, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def _shares(counts: list[int], length: int) -> list[int]:
    """Lengths that add up to ``length``: at least one for what is there, the rest by largest remainder."""
    total = sum(counts)
    if not total:
        return [0] * len(counts)
    least = [1 if count else 0 for count in counts]
    free = length - sum(least)
    exact = [count * free / total for count in counts]
    given = [int(x) for x in exact]
    by_rest = sorted(range(len(counts)), key=lambda i: (given[i] - exact[i], i))
    for i in by_rest[: free - sum(given)]:
        given[i] += 1
    return [a + b for a, b in zip(least, given, strict=True)]
