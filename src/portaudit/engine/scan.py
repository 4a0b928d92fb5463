"""The pipeline: discover, analyze, match, assess. One library call."""

from collections.abc import Callable
from pathlib import Path

from portaudit import __version__
from portaudit.assess.report import make_report
from portaudit.discover.walk import walk
from portaudit.engine import executor
from portaudit.engine.batches import batches
from portaudit.engine.config import Config
from portaudit.engine.worker import Batch
from portaudit.errors import UsageError
from portaudit.knowledge.store import load
from portaudit.knowledge.support import parse_target
from portaudit.match.engine import Matcher
from portaudit.match.tree import TreeFacts
from portaudit.model.evidence import Reading
from portaudit.model.places import Skip, Source
from portaudit.model.report import Report

Progress = Callable[[int, int], None]
"""Told how many files are done, of how many."""


def scan(root: Path, config: Config, progress: Progress | None = None) -> Report:
    """Audits the tree below ``root``.

    Raises ``UsageError`` when root is no readable folder or the target is not known.
    """
    if not root.exists():
        raise UsageError(f"{root}: no such file or folder")
    name = root.resolve().name or "/"
    single = root.is_file()
    base = root.parent if single else root
    knowledge = load()
    target = parse_target(config.target or None, knowledge)
    found = list(walk(base, config.exclude, config.use_ignore_files)) if not single else _single(root)
    sources = [item for item in found if isinstance(item, Source)]
    skips = [item for item in found if isinstance(item, Skip)]
    readings = _read(base, sources, config, knowledge.digest, progress)
    own = TreeFacts((item for r in readings for item in r.evidence), (r.path for r in readings))
    matcher = Matcher(knowledge, target, own)
    findings = matcher.tree_findings(readings)
    return make_report(
        version=__version__,
        root=name,
        target=target,
        knowledge=knowledge,
        sources=sources,
        readings=readings,
        findings=findings,
        skips=skips,
    )


def _single(path: Path) -> list[Source | Skip]:
    from portaudit.discover import opening
    from portaudit.discover.classify import classify

    head = opening.head(path.parent, path.name)
    return [Source(path.name, classify(path.name, head), path.stat().st_size)]


def _read(
    base: Path, sources: list[Source], config: Config, digest: str, progress: Progress | None
) -> list[Reading]:
    from portaudit.analyze.registry import spec_of

    wanted = [s for s in sources if spec_of(s.kind) is not None]
    # Files of one kind together: a process then imports the parsers that it needs and no others.
    wanted.sort(key=lambda s: (s.kind.value, s.path))
    work = [Batch(str(base), batch, digest, config.max_file_size) for batch in batches(wanted)]
    jobs = executor.jobs_for(sum(s.size for s in wanted), config.jobs)
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(done, len(wanted))

    readings = list(executor.run(work, jobs, advance))
    readings.sort(key=lambda r: r.path)
    return readings
