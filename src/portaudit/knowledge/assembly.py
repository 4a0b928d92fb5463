"""rules/ -> index: reads and checks all files, sorts names into the groups of the vocabulary."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from portaudit.knowledge import semantic, tables, vocabulary
from portaudit.knowledge.index import FORMAT, Encoder, Facts, Index, digest_of
from portaudit.knowledge.lookup import package_names
from portaudit.knowledge.schema import TABLE_FILES, Faults
from portaudit.model.facts import Fact

_STATUSES = ("unmapped", "unsupported", "absent_in_rocm", "roc_only", "mapped")


def build(root: Path, digest: str = "") -> Index:
    """The index of a rules folder. Raises ``RulesError`` with the errors of all files at once."""
    faults = Faults(root)
    efforts = semantic.efforts(root, faults)
    rules = semantic.rules(root, efforts, faults)
    families = tables.families(root, faults)
    facts = [fact for name in TABLE_FILES for fact in tables.table(name, root, faults)]
    policies = {fact.name: fact for fact in facts if fact.table == "group"}
    gfx, products = tables.gfx(root, faults)
    encode = Encoder()
    api, twins = _api(tables.api(root, families, faults), policies, encode)
    releases = tables.releases(root, faults)
    dates = [*tables.frameworks(root, faults), *(f.as_of for f in (*facts, *families.values()))]
    faults.check()
    plain, qualified = vocabulary.watched(rules, {fact.name for fact in facts})
    return Index(
        format=FORMAT,
        digest=digest or digest_of(root),
        newest=max(dates, default=""),
        rules=rules,
        efforts=efforts,
        gfx=gfx,
        products=products,
        releases=releases,
        api=api,
        tables={name: _by_name((f for f in facts if f.table == name), encode) for name in TABLE_FILES},
        families=encode(families),
        policies=_by_name(policies.values(), encode),
        watched=tuple(sorted(plain)),
        watched_qualified=tuple(sorted(qualified)),
        twins=twins,
        sources=encode.sources,
    )


def _api(
    facts: Iterable[Fact], policies: Mapping[str, Fact], encode: Encoder
) -> tuple[dict[str, Facts], dict[str, Facts]]:
    groups: dict[str, dict[str, Fact]] = {}
    twins: dict[str, dict[str, Fact]] = {}
    best: dict[str, Fact] = {}
    for fact in facts:
        other = best.setdefault(fact.name, fact)
        if other is not fact:
            # The library that has a HIP name for it knows more than the one that lists it as unmapped.
            first, second = (fact, other) if _rank(fact) > _rank(other) else (other, fact)
            best[fact.name] = first
            twins.setdefault(second.library, {})[second.name] = second
    for name, fact in best.items():
        groups.setdefault(vocabulary.group(fact, policies), {})[name] = fact
    return _encoded(groups, encode), _encoded(twins, encode)


def _encoded(groups: Mapping[str, Mapping[str, Fact]], encode: Encoder) -> dict[str, Facts]:
    return {key: encode(facts) for key, facts in groups.items()}


def _rank(fact: Fact) -> int:
    # A macro of the driver headers says more than the enumerator that another list calls it.
    return _STATUSES.index(fact.status) * 2 + (fact.kind == "macro") if fact.status in _STATUSES else -1


def _by_name(facts: Iterable[Fact], encode: Encoder) -> Facts:
    found: dict[str, Fact] = {}
    for fact in facts:
        found.setdefault(next(package_names(fact.name)) if fact.table == "package" else fact.name, fact)
    return encode(found)
