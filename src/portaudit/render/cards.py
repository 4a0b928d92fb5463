"""One rule, one fact or one architecture as plain text, for ``explain`` and ``lookup``."""

import textwrap
from collections.abc import Iterable, Iterator

from portaudit.model.facts import Fact, Gfx, Rule, Ruling, Target
from portaudit.render.escape import visible

_INDENT = "  "
_LABEL = 13


def fact_card(fact: Fact, ruling: Ruling, rule: Rule | None, target: Target, width: int = 100) -> str:
    """What is known about a name and what it means for a target."""
    kinds = [fact.table, fact.library, fact.kind.replace("_", " ")]
    title = f"{visible(fact.name)}  ({', '.join(dict.fromkeys(k for k in kinds if k))})"
    gfx = ", ".join(g.name for g in target.gfx)
    lines = [
        title,
        f"{_INDENT}{ruling.verdict.value.upper()} for ROCm {target.release}, {gfx}: {ruling.message}",
    ]
    fields = [
        ("equivalent", ruling.equivalent if ruling.equivalent != fact.name else "same name"),
        ("native", fact.native if fact.native != ruling.equivalent else ""),
        ("why", ruling.why),
        ("fix", ruling.fix),
        ("level", ruling.level.value),
        ("ROCm", _history(fact)),
        ("CUDA", fact.cuda),
        ("arguments", fact.args if fact.table == "api" else ""),
        ("versions", fact.args if fact.table == "package" else ""),
        ("devices", fact.gfx),
        ("hours", f"{fact.hours[0]:g} to {fact.hours[1]:g} in one component" if fact.hours else ""),
        ("note", fact.note if fact.note not in (ruling.why, "") else ""),
        ("family", fact.family),
        ("rule", f"{rule.id} {rule.slug}" if rule else ruling.rule),
        ("confidence", ruling.confidence.value),
        ("source", "; ".join(s.strip() for s in fact.evidence.split(";"))),
        ("as of", fact.as_of),
    ]
    return "\n".join([*lines, *_fields(fields, width)])


def _history(fact: Fact) -> str:
    bound = fact.since.startswith("<=")
    since = fact.since.removeprefix("<=")
    parts = [f"since {since}" + (" or before" if bound else "")] if since else []
    parts += [f"gone in {fact.until}"] if fact.until else []
    parts += ["experimental"] if fact.experimental else []
    return ", ".join(parts)


def gfx_card(gfx: Gfx, width: int = 100) -> str:
    """One GPU architecture."""
    fields = [
        ("products", gfx.product),
        ("wavefront", f"{gfx.wavefront} lanes"),
        ("LDS", f"{gfx.lds_kib} KiB for a workgroup"),
        ("images", "texture units" if gfx.images else "no texture units: texture fetches do not compile"),
        ("FP8", {"none": "no hardware", "fnuz": "fnuz formats", "ocp": "OCP formats"}.get(gfx.fp8, gfx.fp8)),
        ("matrix", gfx.matrix),
        ("ROCm", ", ".join(t for t in (f"from {gfx.rocm_from}" if gfx.rocm_from else "", gfx.rocm_to) if t)),
    ]
    return "\n".join([f"{gfx.name}  (architecture)", *_fields(fields, width)])


def rule_card(rule: Rule, hours: tuple[float, float, float], width: int = 100) -> str:
    """All texts of a rule."""
    low, likely, high = hours
    fields = [
        ("why", rule.why),
        ("fix", rule.fix),
        ("on ROCm", rule.equivalent),
        ("level", rule.level.value),
        ("element", rule.element.value),
        ("confidence", rule.confidence.value),
        ("effort", f"{rule.effort}: {low:g} to {high:g} hours, likely {likely:g}"),
        ("condition", _condition(rule)),
        ("references", "; ".join(rule.references)),
        ("since", f"portaudit {rule.since}, checked {rule.as_of}"),
    ]
    lines = [f"{rule.id} {rule.slug}", f"{_INDENT}{rule.verdict.value.upper()}: {rule.title}"]
    lines.extend(_fields(fields, width))
    for example in rule.examples:
        lines += ["", f"{_INDENT}before"]
        lines += [f"{_INDENT * 2}{line}" for line in example.before.splitlines()]
        lines += [f"{_INDENT}after"]
        lines += [f"{_INDENT * 2}{line}" for line in example.after.splitlines()]
    return "\n".join(lines)


def _condition(rule: Rule) -> str:
    if rule.when is None:
        return f"facts of the {rule.table} table"
    names = ", ".join(rule.when.name[:8]) + (", ..." if len(rule.when.name) > 8 else "")
    target = rule.when.target
    parts = [", ".join(rule.when.kind), names]
    if target is not None:
        wanted = [f"ROCm {target.rocm}"] if target.rocm else []
        wanted += [f"{target.wavefront} lanes"] if target.wavefront else []
        wanted += ["no texture units"] if target.images is False else []
        wanted += [*target.gfx, *target.fp8]
        parts.append("target: " + ", ".join(wanted))
    return "; ".join(p for p in parts if p)


def rule_list(rules: Iterable[Rule]) -> str:
    """One line a rule."""
    listed = list(rules)
    size = max((len(rule.slug) for rule in listed), default=0)
    return "\n".join(
        f"{rule.id}  {rule.slug.ljust(size)}  {rule.verdict.value.ljust(10)}  {rule.title}" for rule in listed
    )


def _fields(fields: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    for label, text in fields:
        if not text:
            continue
        wrapped = textwrap.wrap(
            visible(text),
            max(40, width - _LABEL - len(_INDENT)),
            break_long_words=False,
            break_on_hyphens=False,
        )
        for index, line in enumerate(wrapped):
            yield f"{_INDENT}{(label if index == 0 else '').ljust(_LABEL)}{line}"
