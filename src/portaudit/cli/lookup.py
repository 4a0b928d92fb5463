"""portaudit lookup NAME...: what a CUDA name becomes on ROCm, from the tables, without a scan."""

import shutil
import sys

import click
import msgspec

from portaudit.knowledge.store import Knowledge, load
from portaudit.knowledge.support import parse_target
from portaudit.model.facts import Fact, Gfx, Target
from portaudit.render.cards import fact_card, gfx_card
from portaudit.render.escape import visible


@click.command("lookup")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "-t",
    "--target",
    metavar="TARGET",
    help="rocm=7.2,gfx942 or a product such as mi300x. [default: newest ROCm, gfx942]",
)
@click.option(
    "-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(names: tuple[str, ...], target: str | None, form: str) -> None:
    """Say what CUDA symbols, headers, packages, images, tools, variables or libraries become on ROCm.

    Offline. Exit code 1 when a name is unknown.

    \b
    portaudit lookup cudaMallocAsync cudnn.h nvidia-cudnn-cu12
    portaudit lookup nvcr.io/nvidia/pytorch:24.05-py3 --target rocm=7.2,mi355x
    portaudit lookup -- --use_fast_math
    """
    knowledge = load()
    wanted = parse_target(target, knowledge)
    answers = [(name, _facts(name, knowledge), _gfx(name, knowledge)) for name in names]
    if form == "json":
        items = [_object(name, facts, gfx, wanted, knowledge) for name, facts, gfx in answers]
        body = {"target": str(wanted), "knowledge_date": knowledge.newest, "names": items}
        click.echo(msgspec.json.format(msgspec.json.encode(body), indent=2).decode())
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        click.echo("\n\n".join(_text(*answer, wanted, knowledge, width) for answer in answers))
    if not all(facts or gfx for _, facts, gfx in answers):
        sys.exit(1)


def _facts(name: str, knowledge: Knowledge) -> list[Fact]:
    bare = name.removeprefix("#include").strip().strip("<>\"'")
    found = knowledge.lookup(bare) or knowledge.lookup(bare.removesuffix("()"))
    return [_with_family(fact, knowledge.family(fact)) for fact in found]


def _with_family(fact: Fact, family: Fact | None) -> Fact:
    """A name without HIP name, with the hours, devices and sources of the family that judges it."""
    if family is None:
        return fact
    evidence = "; ".join(t for t in (fact.evidence, family.evidence) if t)
    as_of = max(fact.as_of, family.as_of)
    return msgspec.structs.replace(fact, hours=family.hours, gfx=family.gfx, evidence=evidence, as_of=as_of)


def _gfx(name: str, knowledge: Knowledge) -> Gfx | None:
    bare = name.lower().replace(" ", "").replace("-", "")
    return knowledge.gfx.get(bare) or knowledge.gfx.get(knowledge.products.get(bare, ""))


def _text(
    name: str, facts: list[Fact], gfx: Gfx | None, target: Target, knowledge: Knowledge, width: int
) -> str:
    if not facts and gfx is None:
        near = knowledge.suggest(name)
        hint = f"; near: {', '.join(near)}" if near else ""
        return f"{visible(name)}: in no table{hint}"
    cards = [gfx_card(gfx, width)] if gfx else []
    for fact in facts:
        ruling = knowledge.ruling(fact, target)
        cards.append(fact_card(fact, ruling, knowledge.rule(ruling.rule), target, width))
    return "\n\n".join(cards)


def _object(
    name: str, facts: list[Fact], gfx: Gfx | None, target: Target, knowledge: Knowledge
) -> dict[str, object]:
    found = []
    for fact in facts:
        ruling = knowledge.ruling(fact, target)
        rule = knowledge.rule(ruling.rule)
        found.append({"fact": fact, "ruling": ruling, "rule_id": rule.id if rule else ""})
    item: dict[str, object] = {"name": name.encode("utf-8", "backslashreplace").decode(), "found": found}
    if gfx:
        item["architecture"] = gfx
    if not facts and gfx is None:
        item["near"] = knowledge.suggest(name)
    return item
