"""portaudit rules: the list of all rules."""

import click
import msgspec

from portaudit.knowledge.store import load
from portaudit.model.facts import Element, Verdict
from portaudit.render.cards import rule_list


@click.command("rules")
@click.option("--element", type=click.Choice([e.value for e in Element]), help="Only rules of this element.")
@click.option("--verdict", type=click.Choice([v.value for v in Verdict]), help="Only rules of this verdict.")
@click.option(
    "-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(element: str | None, verdict: str | None, form: str) -> None:
    """List all rules by id."""
    knowledge = load()
    found = [
        rule
        for rule in knowledge.rules
        if (element is None or rule.element.value == element)
        and (verdict is None or rule.verdict.value == verdict)
    ]
    if form == "json":
        body = [msgspec.structs.asdict(rule) | {"hours": knowledge.hours(rule.effort)} for rule in found]
        click.echo(msgspec.json.format(msgspec.json.encode(body), indent=2).decode())
    else:
        click.echo(rule_list(found))
