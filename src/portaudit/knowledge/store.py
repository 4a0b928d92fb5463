"""The knowledge base as the other rooms see it: facts by name, rulings, rules, vocabulary."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import chain

import msgspec

from portaudit import resources
from portaudit.knowledge import index, lookup, rulings
from portaudit.knowledge.index import Facts, FactTable, Hours, Index
from portaudit.model.evidence import Vocabulary
from portaudit.model.facts import Fact, Gfx, Rule, Ruling, Target

_NAMES: dict[str, Callable[[str], Iterator[str]]] = {
    "api": lookup.api_names,
    "package": lookup.package_names,
    "module": lookup.module_names,
    "image": lookup.image_names,
    "library": lookup.library_names,
}
_GLOBS = frozenset({"api", "header", "package", "image", "env", "key", "tool", "ptx"})
TABLES = ("api", "header", "package", "module", "image", "tool", "env", "library", "flag", "key")
"""Tables by the order in which ``lookup`` looks."""
_GROUPS = ("symbols", "quiet", "qualified", "device", "other")
"""Parts of the API table, see ``vocabulary.group``."""


class Knowledge:
    """Facts and rules of one rules folder."""

    def __init__(self, found: Index) -> None:
        self._index = found
        self.digest = found.digest
        self.newest = found.newest
        """Newest date in the tables."""
        self.rules: tuple[Rule, ...] = found.rules
        self.gfx: Mapping[str, Gfx] = found.gfx
        self.products: Mapping[str, str] = found.products
        """Architectures by short product name, e.g. ``mi300x``."""
        self.releases = found.releases
        """ROCm releases, ascending."""
        self._by_key = {key: rule for rule in found.rules for key in (rule.slug, rule.id)}
        self._opened: dict[str, tuple[FactTable, ...]] = {}
        self._globs: dict[str, lookup.Globs] = {}

    def rule(self, key: str) -> Rule | None:
        """A rule by slug or id."""
        return self._by_key.get(key) or self._by_key.get(key.upper())

    def hours(self, effort: str) -> Hours:
        """Hours low, likely and high of an effort class."""
        return self._index.efforts[effort]

    def find(self, table: str, name: str) -> Fact | None:
        """The fact of a table about a name: exact, alias, glob, or the longest dotted prefix of a module."""
        names = _NAMES.get(table)
        for candidate in names(name) if names else (name,):
            fact = self._exact(table, candidate)
            if fact is not None:
                # A wheel for another CUDA release is spoken of by its own name.
                return msgspec.structs.replace(fact, name=name) if table == "package" else fact
        if table in _GLOBS:
            pattern = self._patterns(table).first(next(names(name)) if names else name)
            fact = self._exact(table, pattern) if pattern else None
            return _of_pattern(fact, name) if fact is not None else None
        return None

    def _exact(self, table: str, name: str) -> Fact | None:
        for part in self._tables(table):
            fact = part.get(name)
            if fact is not None:
                return fact
        return None

    def _tables(self, table: str) -> tuple[FactTable, ...]:
        """The parts of a table, opened when first asked for."""
        if table not in self._opened:
            api, tables = self._index.api, self._index.tables
            parts = [api[g] for g in _GROUPS if g in api] if table == "api" else [tables[table]]
            self._opened[table] = tuple(self._open(part) for part in parts)
        return self._opened[table]

    def _open(self, facts: Facts) -> FactTable:
        return FactTable(facts, self._index.sources)

    @cached_property
    def _twins(self) -> tuple[FactTable, ...]:
        return tuple(self._open(facts) for facts in self._index.twins.values())

    def _patterns(self, table: str) -> lookup.Globs:
        if table not in self._globs:
            names = chain.from_iterable(self._tables(table)[-1:] if table == "api" else self._tables(table))
            self._globs[table] = lookup.Globs(n for n in names if "*" in n)
        return self._globs[table]

    def facts(self, table: str) -> Iterator[Fact]:
        """All facts of a table; of the API also those of a second library that has the same name."""
        parts = (*self._tables(table), *self._twins) if table == "api" else self._tables(table)
        return chain.from_iterable(part.values() for part in parts)

    def ruling(self, fact: Fact, target: Target, nargs: int | None = None) -> Ruling:
        """What a fact means for a target; ``nargs`` is the number of arguments of a call."""
        return rulings.ruling(fact, target, nargs, self._context)

    @cached_property
    def _context(self) -> rulings.Context:
        return rulings.Context(self._open(self._index.families), self._open(self._index.policies))

    def family(self, fact: Fact) -> Fact | None:
        """The family that judges a name without HIP name: its reasons, hours and sources."""
        return self._context.families.get(f"{fact.library}/{fact.family}") if fact.family else None

    def vocabulary(self) -> Vocabulary:
        """The names that analyzers look for."""
        return self._vocabulary

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        api, tables = self._index.api, self._index.tables
        empty = Facts()
        plain = {group: _names(api.get(group, empty)) for group in _GROUPS}
        named = {table: frozenset(_names(facts)) for table, facts in tables.items()}
        return Vocabulary(
            digest=self.digest,
            symbols=frozenset(plain["symbols"]),
            device_symbols=frozenset(plain["device"]),
            qualified=frozenset((*plain["qualified"], *self._index.watched_qualified)),
            quiet=frozenset(plain["quiet"]),
            headers=named["header"],
            modules=named["module"],
            packages=named["package"],
            tools=named["tool"],
            env=named["env"],
            libraries=named["library"],
            flags=named["flag"],
            keys=named["key"],
            watched=frozenset(self._index.watched),
        )

    def lookup(self, name: str) -> list[Fact]:
        """All facts about a name, over all tables: exact ones, and only without any, aliases and patterns."""
        found = [self._exact(table, name) for table in TABLES]
        found += [part.get(name) for part in self._twins]
        exact = [fact for fact in found if fact is not None]
        return exact or [fact for table in TABLES if (fact := self.find(table, name)) is not None]

    def suggest(self, name: str, limit: int = 3) -> list[str]:
        """The nearest spellings of a name, over all tables."""
        names = chain.from_iterable(part for table in TABLES for part in self._tables(table))
        return lookup.near(name, chain(names, self.gfx, self.products), limit)


def _of_pattern(fact: Fact, name: str) -> Fact:
    """A pattern speaks of the name that was asked for."""
    same = fact.equivalent == fact.name
    return msgspec.structs.replace(fact, name=name, equivalent=name if same else fact.equivalent)


def _names(facts: Facts) -> list[str]:
    return facts.names.split("\n") if facts.names else []


@lru_cache(maxsize=1)
def load() -> Knowledge:
    """The knowledge base that ships with this version. Raises ``RulesError`` with all errors of its files."""
    return Knowledge(index.read(resources.rules()))
