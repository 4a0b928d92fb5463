"""The knowledge base as the other rooms see it: facts by name, rulings, rules, vocabulary."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import chain

import msgspec

from portaudit import resources
from portaudit.knowledge import index, lookup, rulings
from portaudit.knowledge.index import Facts, Hours, Index
from portaudit.model.evidence import Vocabulary
from portaudit.model.facts import Fact, Gfx, Rule, Ruling, Target

_NAMES: dict[str, Callable[[str], Iterator[str]]] = {
    "api": lookup.api_names,
    "package": lookup.package_names,
    "module": lookup.module_names,
    "image": lookup.image_names,
    "library": lookup.library_names,
}
_GLOBS = frozenset({"api", "header", "package", "image", "env", "key", "tool"})
TABLES = ("api", "header", "package", "module", "image", "tool", "env", "library", "flag", "key")
"""Tables by the order in which ``lookup`` looks."""


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
            raw = self._raw(table, candidate)
            if raw is not None:
                fact = index.decode(raw)
                # A wheel for another CUDA release is spoken of by its own name.
                return msgspec.structs.replace(fact, name=name) if table == "package" else fact
        if table in _GLOBS:
            bare = next(names(name)) if names else name
            pattern = self._patterns(table).first(bare)
            raw = self._raw(table, pattern) if pattern else None
            # A pattern speaks of the name that was asked for.
            return msgspec.structs.replace(index.decode(raw), name=name) if raw is not None else None
        return None

    def _raw(self, table: str, name: str) -> msgspec.Raw | None:
        if table != "api":
            return self._index.tables[table].get(name)
        for group in ("symbols", "quiet", "qualified", "device", "other"):
            raw = self._index.api.get(group, {}).get(name)
            if raw is not None:
                return raw
        return None

    def _patterns(self, table: str) -> lookup.Globs:
        if table not in self._globs:
            names = self._index.api.get("other", {}) if table == "api" else self._index.tables[table]
            self._globs[table] = lookup.Globs(n for n in names if "*" in n)
        return self._globs[table]

    def facts(self, table: str) -> Iterator[Fact]:
        """All facts of a table; of the API also those of a second library that has the same name."""
        return (index.decode(raw) for raw in chain.from_iterable(d.values() for d in self._dicts(table)))

    def _dicts(self, table: str) -> list[Facts]:
        if table != "api":
            return [self._index.tables[table]]
        own = [facts for group, facts in self._index.api.items() if group != "watched-qualified"]
        return [*own, *self._index.twins.values()]

    def ruling(self, fact: Fact, target: Target, nargs: int | None = None) -> Ruling:
        """What a fact means for a target; ``nargs`` is the number of arguments of a call."""
        return rulings.ruling(fact, target, nargs, self._context)

    @cached_property
    def _context(self) -> rulings.Context:
        return rulings.Context(
            {key: index.decode(raw) for key, raw in self._index.families.items()},
            {key: index.decode(raw) for key, raw in self._index.policies.items()},
        )

    def vocabulary(self) -> Vocabulary:
        """The names that analyzers look for."""
        return self._vocabulary

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        api, tables = self._index.api, self._index.tables
        names = {group: api.get(group, {}).keys() for group in ("symbols", "device", "qualified", "quiet")}
        return Vocabulary(
            digest=self.digest,
            symbols=frozenset(names["symbols"]),
            device_symbols=frozenset(names["device"]),
            qualified=frozenset(chain(names["qualified"], api.get("watched-qualified", {}))),
            quiet=frozenset(names["quiet"]),
            headers=frozenset(tables["header"]),
            modules=frozenset(tables["module"]),
            packages=frozenset(tables["package"]),
            tools=frozenset(tables["tool"]),
            env=frozenset(tables["env"]),
            libraries=frozenset(tables["library"]),
            flags=frozenset(tables["flag"]),
            keys=frozenset(tables["key"]),
            watched=frozenset(self._index.watched),
        )

    def lookup(self, name: str) -> list[Fact]:
        """All facts about a name, over all tables: exact ones, and only without any, aliases and patterns."""
        raws = [self._raw(table, name) for table in TABLES]
        raws += [facts.get(name) for facts in self._index.twins.values()]
        exact = [index.decode(raw) for raw in raws if raw is not None]
        if exact:
            return exact
        return [fact for table in TABLES if (fact := self.find(table, name)) is not None]

    def suggest(self, name: str, limit: int = 3) -> list[str]:
        """The nearest spellings of a name, over all tables."""
        names = chain.from_iterable(d for table in TABLES for d in self._dicts(table))
        return lookup.near(name, chain(names, self.gfx, self.products), limit)


@lru_cache(maxsize=1)
def load() -> Knowledge:
    """The knowledge base that ships with this version. Raises ``RulesError`` with all errors of its files."""
    return Knowledge(index.read(resources.rules()))
