"""portaudit scan PATH: audit, render, write."""

import sys
import time
from pathlib import Path

import click

from portaudit.cli import outputs
from portaudit.engine import config as configs
from portaudit.engine.scan import Progress, scan
from portaudit.model.facts import Verdict
from portaudit.model.findings import State
from portaudit.model.report import Report
from portaudit.render import registry


@click.command("scan")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "-f",
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(registry.formats()),
    help="Report format; may repeat. [default: text]",
)
@click.option(
    "-o",
    "--output",
    "paths",
    multiple=True,
    type=click.Path(path_type=Path),
    help="File for the format at the same position; the others go to stdout.",
)
@click.option(
    "-t",
    "--target",
    metavar="TARGET",
    help="rocm=7.2,gfx942 or a product such as mi300x. [default: newest ROCm, gfx942]",
)
@click.option(
    "--fail-on",
    type=click.Choice(["blocker", "adaptation", "direct"]),
    help="Exit 1 when a finding of this verdict or worse is shown.",
)
@click.option(
    "--exclude", multiple=True, metavar="GLOB", help="Path below PATH that is not read; may repeat."
)
@click.option("-j", "--jobs", type=click.IntRange(min=0), help="Processes. [default: as many as pay]")
@click.option("--concise", is_flag=True, help="With text: one line a finding, path:line:column.")
@click.option("--isolated", is_flag=True, help="Ignore the config of the scanned tree.")
@click.option("--strict", is_flag=True, help="Exit 3 when a file was not read.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
@click.option("-q", "--quiet", is_flag=True, help="Errors only on stderr.")
def command(
    path: Path,
    formats: tuple[str, ...],
    paths: tuple[Path, ...],
    target: str | None,
    fail_on: str | None,
    exclude: tuple[str, ...],
    jobs: int | None,
    concise: bool,
    isolated: bool,
    strict: bool,
    color: str,
    quiet: bool,
) -> None:
    """Audit PATH and report what stands between it and ROCm."""
    wanted = outputs.pair(formats or ("text",), paths)
    flags = {"target": target, "fail-on": fail_on, "exclude": list(exclude) or None, "jobs": jobs}
    root = path.resolve()
    config = configs.load(root if root.is_dir() else root.parent, isolated, flags)
    outputs.check_writable(wanted)
    began = time.perf_counter()
    report = scan(path, config, _progress(quiet))
    seconds = time.perf_counter() - began
    outputs.write(report, wanted, color, concise)
    if not quiet:
        outputs.say_done(report, wanted, seconds)
    code = _exit_code(report, config.fail_on, strict)
    if code:
        raise click.exceptions.Exit(code)


def _exit_code(report: Report, fail_on: str, strict: bool) -> int:
    if strict and report.counts.skipped:
        return 3
    if fail_on:
        least = Verdict(fail_on).rank
        return int(any(f.state is State.SHOWN and f.verdict.rank >= least for f in report.findings))
    return 0


def _progress(quiet: bool) -> Progress | None:
    """A line on stderr that is written over, on a terminal only and after half a second."""
    import os

    if quiet or not sys.stderr.isatty() or os.environ.get("CI"):
        return None
    began = time.perf_counter()
    shown = 0.0

    def progress(done: int, of: int) -> None:
        nonlocal shown
        now = time.perf_counter()
        if now - began < 0.5 or (now - shown < 0.1 and done < of):
            return
        shown = now
        rate = done / (now - began)
        left = (of - done) / rate if rate else 0.0
        end = "\r\x1b[K" if done >= of else ""
        sys.stderr.write(f"\r\x1b[K{done} of {of} files, {rate:.0f} a second, {left:.0f} s left{end}")
        sys.stderr.flush()

    return progress
