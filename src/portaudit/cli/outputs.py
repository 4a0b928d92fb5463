"""Where reports go: stdout, or files that are written beside and renamed, so that there is never half a
report."""

import datetime
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from portaudit.errors import OutputError, UsageError
from portaudit.model.report import Report
from portaudit.render import registry
from portaudit.render.registry import RenderContext

Wanted = list[tuple[str, Path | None]]
"""Format and file; None: stdout."""


def pair(formats: tuple[str, ...], paths: tuple[Path, ...]) -> Wanted:
    """Formats with their files, by position. Raises ``UsageError`` when they don't fit together."""
    if len(paths) > len(formats):
        raise UsageError(
            f"{len(paths)} output files for {len(formats)} format(s): give one --format for each --output"
        )
    wanted: Wanted = [
        (f, paths[i] if i < len(paths) and str(paths[i]) != "-" else None) for i, f in enumerate(formats)
    ]
    if sum(path is None for _, path in wanted) > 1:
        raise UsageError("two reports can't share stdout: give each further --format an --output")
    files = [path for _, path in wanted if path is not None]
    if len({os.path.abspath(p) for p in files}) < len(files):
        raise UsageError("two reports can't share one file: each --output needs a name of its own")
    return wanted


def check_writable(wanted: Wanted) -> None:
    """Fails before the scan, not after it, when a report could not be written."""
    for _, path in wanted:
        if path is None:
            continue
        folder = path.parent
        if path.is_dir():
            raise OutputError(f"{path}: is a folder; give a file name")
        if not folder.is_dir():
            raise OutputError(f"{path}: the folder {folder} does not exist")
        if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
            raise OutputError(f"{path}: no permission to write")


def write(report: Report, wanted: Wanted, color: str, concise: bool) -> None:
    """Renders and writes all that is wanted."""
    for name, path in wanted:
        chunks = registry.render(name, report, _context(path is None, color, concise))
        if path is None:
            _to_stdout(chunks)
        else:
            _to_file(chunks, path)


def _to_stdout(chunks: Iterator[str]) -> None:
    stream = sys.stdout.buffer
    for chunk in chunks:
        stream.write(chunk.encode("utf-8", "backslashreplace"))
    stream.flush()


def _to_file(chunks: Iterator[str], path: Path) -> None:
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(
            "wb", dir=path.parent, prefix=f".{path.name}.", suffix=".part", delete=False
        ) as handle:
            temporary = handle.name
            for chunk in chunks:
                handle.write(chunk.encode("utf-8", "backslashreplace"))
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror or error}") from error
    finally:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)


def _context(to_stdout: bool, color: str, concise: bool) -> RenderContext:
    tty = to_stdout and sys.stdout.isatty()
    size = shutil.get_terminal_size((100, 40)) if tty else os.terminal_size((100, 40))
    encoding = (sys.stdout.encoding or "").lower().replace("-", "") if to_stdout else "utf8"
    return RenderContext(
        generated_at=_now(),
        color=to_stdout and _wants_color(color, tty),
        width=size.columns,
        height=size.lines,
        ascii=encoding != "utf8",
        tty=tty,
        concise=concise,
    )


def _wants_color(color: str, tty: bool) -> bool:
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (tty and os.environ.get("TERM") != "dumb")


def _now() -> str:
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdigit():
        moment = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
    else:
        moment = datetime.datetime.now(datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def say_done(report: Report, wanted: Wanted, seconds: float) -> None:
    """How much was looked at, and what was written where."""
    counts = report.counts
    shown = sum(counts.findings.values())
    click.echo(
        f"{counts.read} file{'s' if counts.read != 1 else ''} read, {counts.skipped} not read,"
        f" {shown} finding{'s' if shown != 1 else ''}, {seconds:.1f} s",
        err=True,
    )
    for name, path in wanted:
        if path is not None:
            place = path.resolve().as_uri() if sys.stderr.isatty() else str(path)
            click.echo(f"{name} report: {place}", err=True)
