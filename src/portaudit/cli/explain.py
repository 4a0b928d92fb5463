"""portaudit explain RULE: all texts of a rule."""

import difflib
import shutil

import click
import msgspec

from portaudit.errors import UsageError
from portaudit.knowledge.store import load
from portaudit.render.cards import rule_card


@click.command("explain")
@click.argument("rule", metavar="RULE")
@click.option(
    "-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(rule: str, form: str) -> None:
    """Explain a rule, given by id or slug: what it found, why it matters on ROCm, what to write instead.

    \b
    portaudit explain ballot-in-int
    portaudit explain PA214
    """
    knowledge = load()
    found = knowledge.rule(rule)
    if found is None:
        keys = [key for r in knowledge.rules for key in (r.id, r.slug)]
        near = difflib.get_close_matches(rule.lower(), keys, 1) or difflib.get_close_matches(
            rule.upper(), keys, 1
        )
        hint = f"did you mean {near[0]}?" if near else "portaudit rules lists them all"
        raise UsageError(f"no rule {rule!r}; {hint}")
    if form == "json":
        body = msgspec.structs.asdict(found) | {"hours": knowledge.hours(found.effort)}
        click.echo(msgspec.json.format(msgspec.json.encode(body), indent=2).decode())
    else:
        click.echo(
            rule_card(found, knowledge.hours(found.effort), shutil.get_terminal_size((100, 24)).columns)
        )
