"""What a scan found, as a whole."""

import msgspec

from portaudit.model.facts import Rule, Target, Verdict
from portaudit.model.findings import Finding
from portaudit.model.places import Kind, Skip


class FileReport(msgspec.Struct, frozen=True, gc=False):
    """One file that was looked at."""

    path: str
    kind: Kind
    lines: int
    verdict: Verdict
    component: str
    findings: int
    """Shown findings."""


class Component(msgspec.Struct, frozen=True):
    """A part of the tree that is built, installed or deployed as one."""

    name: str
    kind: str
    """native, python, image, service, manifest, scripts."""
    path: str
    """Folder or file, POSIX, relative to the root; empty for the root."""
    verdict: Verdict
    reason: str
    """Why it has this verdict, in one sentence."""
    files: int
    lines: int
    counts: dict[str, int]
    """Shown findings by verdict."""
    complete: bool
    """False when one of its files was not read."""
    hours: tuple[float, float, float]
    """Low, likely, high."""


class Unknown(msgspec.Struct, frozen=True):
    """A name that looks like CUDA and is in no table."""

    name: str
    count: int
    path: str
    line: int
    """First place."""


class Counts(msgspec.Struct, frozen=True):
    """How much was looked at and what came out."""

    files: int
    """All files seen."""
    read: int
    """Files that were opened and analyzed."""
    lines: int
    """Lines of the files that were read."""
    findings: dict[str, int]
    """Shown findings by verdict."""
    components: dict[str, int]
    """Components by verdict."""
    guarded: int
    ignored: int
    unknown: int
    """Distinct unknown names."""
    skipped: int


class Report(msgspec.Struct, frozen=True):
    """Everything a renderer needs."""

    version: str
    rules_digest: str
    target: Target
    root: str
    """Name of the scanned folder, never its absolute path."""
    verdict: Verdict
    reason: str
    components: tuple[Component, ...]
    files: tuple[FileReport, ...]
    findings: tuple[Finding, ...]
    skips: tuple[Skip, ...]
    unknown: tuple[Unknown, ...]
    counts: Counts
    rules: tuple[Rule, ...]
    """The rules that fired."""
    knowledge_date: str
    """Newest date in the tables that were used."""
