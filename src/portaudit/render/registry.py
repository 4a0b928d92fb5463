"""Format name -> renderer. A renderer is one module with ``render(report, context) -> Iterator[str]``; it is
imported on first use, so that a format costs nothing where it is not asked for."""

from collections.abc import Callable, Iterator
from importlib import import_module

import msgspec

from portaudit.errors import UsageError
from portaudit.model.report import Report


class RenderContext(msgspec.Struct, frozen=True):
    """What a renderer may know about the outside: it never looks at a clock or a terminal itself."""

    generated_at: str = ""
    """ISO time; empty where a report must not depend on it."""
    color: bool = False
    width: int = 100
    """Columns of the terminal."""
    tty: bool = False
    concise: bool = False
    """Text only: one line a finding and nothing else."""
    height: int = 24
    """Lines of the terminal."""
    ascii: bool = False
    """Text only: draw with ASCII, for terminals of another encoding."""


Render = Callable[[Report, RenderContext], Iterator[str]]


class Format(msgspec.Struct, frozen=True):
    """One line of the registry."""

    name: str
    module: str
    """Below ``portaudit.render``."""
    suffix: str
    """Usual suffix of the file."""


FORMATS: tuple[Format, ...] = (
    Format("text", "terminal", ".txt"),
    Format("html", "html", ".html"),
    Format("json", "json_v1", ".json"),
)


def formats() -> tuple[str, ...]:
    """Names for the choices of the command line, the default first."""
    return tuple(item.name for item in FORMATS)


def render(name: str, report: Report, context: RenderContext) -> Iterator[str]:
    """The report as chunks of text. Raises ``UsageError`` for a format that does not exist."""
    for item in FORMATS:
        if item.name == name:
            renderer: Render = import_module(f"portaudit.render.{item.module}").render
            return renderer(report, context)
    raise UsageError(f"no format {name!r}; known: {', '.join(formats())}")
