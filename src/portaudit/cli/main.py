"""The command group. A command's module is imported when that command runs."""

import gc
import os
import sys
from importlib import import_module

import click

from portaudit import __version__
from portaudit.errors import OutputError, PortauditError

# Name, module below portaudit.cli, one line of help: the help page imports no command.
COMMANDS: tuple[tuple[str, str, str], ...] = (
    ("scan", "scan", "Audit a folder and report what stands between it and ROCm."),
    ("lookup", "lookup", "Say what a CUDA symbol, header, package, image, tool or variable becomes on ROCm."),
    ("explain", "explain", "Explain a rule: what it found, why it matters, what to write instead."),
    ("rules", "rules", "List all rules."),
)


class LazyGroup(click.Group):
    """Imports a command on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return [name for name, _, _ in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, or None when there is none of that name."""
        for name, module, _ in COMMANDS:
            if name == cmd_name:
                command: click.Command = import_module(f"portaudit.cli.{module}").command
                return command
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, _, text in COMMANDS])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the nearest spelling when there is no such command."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and self.get_command(ctx, name) is None:
            import difflib

            near = difflib.get_close_matches(name, self.list_commands(ctx), 1)
            hint = (
                f" Did you mean {near[0]!r}?" if near else f" Commands: {', '.join(self.list_commands(ctx))}."
            )
            ctx.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "PORTAUDIT"}
)
@click.version_option(__version__, prog_name="portaudit")
def cli() -> None:
    """Find every CUDA dependency in a repository and what it becomes on ROCm.

    \b
    portaudit scan ./repo                        a summary in the terminal
    portaudit scan ./repo -f html -o report.html the inventory for a migration
    portaudit lookup cudaMallocAsync             one name, with its history

    Exit codes: 0 done, 1 findings at or above --fail-on, 2 usage or config, 3 portaudit itself failed.
    """


def run() -> None:
    """The entry point: every error that is meant for a person becomes one line and its exit code."""
    # One command, then the end: looking for cycles among hundred thousand live values costs a tenth of the
    # time.
    gc.disable()
    try:
        # click hands back the code of an Exit here, and what the command returned otherwise
        outcome = cli.main(standalone_mode=False)
        code = outcome if isinstance(outcome, int) else 0
    except click.Abort:
        code = 130
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except OutputError as error:
        code = _say(error, 3)
    except PortauditError as error:
        code = _say(error, 2)
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # The reader of a pipe has gone: nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def _say(error: PortauditError, code: int) -> int:
    click.echo(f"portaudit: {_printable(str(error))}", err=True)
    return code


def _printable(text: str) -> str:
    """One line, control and invisible characters shown: names in errors come from the scanned tree."""
    return "".join(
        c if c.isprintable() else f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{{{ord(c):x}}}" for c in text
    )
