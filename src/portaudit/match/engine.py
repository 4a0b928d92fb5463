"""Evidence -> findings: semantic rules first, then the fact of a table where no rule spoke."""

from collections.abc import Iterable, Iterator

from portaudit.knowledge.store import Knowledge
from portaudit.match import inherited, when
from portaudit.match.fingerprint import with_fingerprints
from portaudit.match.tree import OWN_GUARD, TreeFacts
from portaudit.match.when import Indexed, Neighbours
from portaudit.model.evidence import Confidence, Evidence, EvidenceKind, Guard, Reading
from portaudit.model.facts import Fact, Rule, Ruling, Target, Verdict
from portaudit.model.findings import Finding, State

TABLES: dict[EvidenceKind, str] = {
    EvidenceKind.CALL: "api",
    EvidenceKind.NAME: "api",
    EvidenceKind.UNKNOWN: "api",
    EvidenceKind.INCLUDE: "header",
    EvidenceKind.PACKAGE: "package",
    EvidenceKind.IMPORT: "module",
    EvidenceKind.IMAGE: "image",
    EvidenceKind.TOOL: "tool",
    EvidenceKind.ENV: "env",
    EvidenceKind.LIBRARY: "library",
    EvidenceKind.FLAG: "flag",
    EvidenceKind.KEY: "key",
    EvidenceKind.ASM: "ptx",
}
_QUIET_GUARDS = frozenset({"cuda", "rocm"})
_USES = frozenset({EvidenceKind.CALL, EvidenceKind.NAME, EvidenceKind.PATTERN})
_UNKNOWN_RULE = "api-unknown"


class Matcher:
    """Knowledge made ready for one target."""

    def __init__(self, knowledge: Knowledge, target: Target, own: TreeFacts) -> None:
        self.knowledge = knowledge
        self.target = target
        self.tree = own
        indexed = when.index(knowledge.rules, target)
        self._rules: dict[EvidenceKind, Indexed] = {EvidenceKind(kind): i for kind, i in indexed.items()}
        self._by_slug = {rule.slug: rule for rule in knowledge.rules}
        self._found: dict[tuple[str, str], Fact | None] = {}
        self._rulings: dict[tuple[str, str, int | None], Ruling] = {}
        self._unknown = self._by_slug.get(_UNKNOWN_RULE)

    def tree_findings(self, readings: Iterable[Reading]) -> list[Finding]:
        """The findings of all files, by path, with what files inherit from headers."""
        by_path = {reading.path: self.file(list(reading.evidence)) for reading in readings}
        rule = self._by_slug.get(inherited.SLUG)
        if rule is not None:
            own = [finding for found in by_path.values() for finding in found]
            for finding in inherited.inherited(own, self.tree, rule):
                by_path[finding.span.path].extend(with_fingerprints([finding]))
        for found in by_path.values():
            found.sort(key=_place)
        return [finding for path in sorted(by_path) for finding in by_path[path]]

    def file(self, evidence: list[Evidence]) -> list[Finding]:
        """The findings of one file, in order, with fingerprints."""
        near = Neighbours(evidence)
        found: dict[tuple[object, ...], Finding] = {}
        for item in evidence:
            for finding in self._judge(item, near):
                # One construct is told once: two ways to the same rule at the same place are one finding.
                span = finding.span
                key = (finding.rule, finding.subject, span.line, span.column, span.cell)
                found.setdefault(key, finding)
        return with_fingerprints(sorted(found.values(), key=_place))

    def _judge(self, item: Evidence, near: Neighbours) -> Iterator[Finding]:
        pasted = item.attr("pasted_by")
        if isinstance(pasted, str) and not self.tree.pastes(pasted, str(item.attr("prefix"))):
            return
        if item.kind is EvidenceKind.IMPORT and self.tree.is_package(item.name):
            return
        indexed = self._rules.get(item.kind)
        candidates = indexed.candidates(item.name) if indexed else []
        spoken = [r for r in candidates if r.when is not None and when.holds(r.when, item, near)]
        if any(not rule.fallback for rule in spoken):
            spoken = [rule for rule in spoken if not rule.fallback]
        if any(rule.tabled for rule in spoken) and (
            item.kind not in TABLES or self._from_table(item) is None
        ):
            spoken = [rule for rule in spoken if not rule.tabled]
        replaced = any(rule.replaces for rule in spoken)
        for rule in spoken:
            yield self._from_rule(rule, item)
        if item.kind is EvidenceKind.UNKNOWN:
            if not replaced and not self._is_own(item):
                # A pattern of the tables may know what the vocabulary of exact names does not.
                finding = self._from_table(item)
                if finding is not None:
                    yield finding
                elif self._found["api", item.name] is None:
                    yield self._from_unknown(item)
        elif not replaced and item.kind in TABLES:
            finding = self._from_table(item)
            if finding is not None:
                yield finding

    def _is_own(self, item: Evidence) -> bool:
        return item.name in self.tree.own or item.name.partition("::")[0] in self.tree.namespaces

    def _from_table(self, item: Evidence) -> Finding | None:
        table = TABLES[item.kind]
        key = (table, item.name)
        if key not in self._found:
            self._found[key] = self.knowledge.find(table, item.name)
        fact = self._found[key]
        if fact is None or self._own_header(item, fact):
            return None
        nargs = item.attr("nargs")
        count = nargs if isinstance(nargs, int) and fact.args else None
        ruling_key = (table, item.name, count)
        if ruling_key not in self._rulings:
            self._rulings[ruling_key] = self.knowledge.ruling(fact, self.target, count)
        ruling = self._rulings[ruling_key]
        if ruling.verdict is Verdict.PORTABLE:
            return None
        rule = self._by_slug[ruling.rule]
        guard = self._guard(item)
        return Finding(
            rule=rule.slug,
            verdict=self._verdict(ruling.verdict, guard),
            level=ruling.level,
            confidence=_weaker(ruling.confidence, item.confidence),
            element=rule.element,
            span=item.span,
            subject=item.name,
            equivalent=ruling.equivalent,
            message=ruling.message,
            why=ruling.why,
            fix=ruling.fix,
            state=_state(guard),
            guard=guard,
            table=f"{fact.table}:{fact.name}",
            evidence_kind=item.kind.value,
            scope=item.scope,
            line_text=item.line_text,
        )

    def _own_header(self, item: Evidence, fact: Fact) -> bool:
        """Whether a quoted include means a file of the tree, or only looks like one of CUDA's folders."""
        if item.kind is not EvidenceKind.INCLUDE or not item.attr("local"):
            return False
        return "*" in fact.name or bool(self.tree.resolve(item.span.path, item.name))

    def _guard(self, item: Evidence) -> Guard | None:
        if item.kind in _USES:
            symbol = item.attr("symbol") if item.kind is EvidenceKind.PATTERN else item.name
            if isinstance(symbol, str) and self.tree.gives(item.span.path, symbol):
                return OWN_GUARD
        return item.guard

    def _from_rule(self, rule: Rule, item: Evidence) -> Finding:
        guard = self._guard(item) if rule.guarded == "quiet" else None
        return Finding(
            rule=rule.slug,
            verdict=self._verdict(rule.verdict, guard),
            level=rule.level,
            confidence=_weaker(rule.confidence, item.confidence),
            element=rule.element,
            span=item.span,
            subject=item.name,
            equivalent=rule.equivalent,
            message=_message(rule, item, self.target),
            why=rule.why,
            fix=rule.fix,
            state=_state(guard),
            guard=guard or item.guard,
            evidence_kind=item.kind.value,
            scope=item.scope,
            line_text=item.line_text,
        )

    def _from_unknown(self, item: Evidence) -> Finding:
        rule = self._unknown
        assert rule is not None
        return self._from_rule(rule, item)

    @staticmethod
    def _verdict(verdict: Verdict, guard: Guard | None) -> Verdict:
        return Verdict.PORTABLE if guard is not None and guard.side in _QUIET_GUARDS else verdict


def _place(finding: Finding) -> tuple[int, int, str, str]:
    return finding.span.line, finding.span.column, finding.rule, finding.subject


def _state(guard: Guard | None) -> State:
    return State.GUARDED if guard is not None and guard.side in _QUIET_GUARDS else State.SHOWN


def _weaker(one: Confidence, other: Confidence) -> Confidence:
    return one if one.rank <= other.rank else other


class _Attrs:
    """Attributes of an evidence for ``{attrs.name}`` in messages; a missing one reads as an ellipsis."""

    def __init__(self, item: Evidence) -> None:
        self._item = item

    def __getattr__(self, name: str) -> str:
        value = self._item.attr(name)
        return "…" if value is None else str(value)


def _message(rule: Rule, item: Evidence, target: Target) -> str:
    gfx = ", ".join(g.name for g in target.gfx)
    return rule.message.format(
        name=item.name, attrs=_Attrs(item), target=str(target), gfx=gfx, rocm=target.release
    )
