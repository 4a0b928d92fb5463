"""The work of one process: files in, readings out. Everything that crosses the border pickles."""

import gc
import logging
import os
from pathlib import Path

import msgspec

from portaudit.analyze.base import NotText, Text
from portaudit.analyze.registry import analyzer, spec_of
from portaudit.discover import opening
from portaudit.errors import VersionSkew
from portaudit.knowledge.store import load
from portaudit.model.evidence import Evidence, Reading, Vocabulary
from portaudit.model.places import Skip, Source

_log = logging.getLogger(__name__)


class Batch(msgspec.Struct, frozen=True):
    """A piece of work for one process."""

    root: str
    sources: tuple[Source, ...]
    digest: str
    """Digest of the rule set that the caller holds."""
    limit: int
    """Bytes of a file that are read at the most."""


def analyze_batch(batch: Batch) -> bytes:
    """The readings of a batch, as msgpack. Raises ``VersionSkew`` when this process holds other rules."""
    vocabulary = load().vocabulary()
    if vocabulary.digest != batch.digest:
        raise VersionSkew("a worker process holds another rule set; were rules/ changed during the scan?")
    root = Path(batch.root)
    return msgspec.msgpack.encode([read_one(root, s, vocabulary, batch.limit) for s in batch.sources])


def analyze_in_child(batch: Batch) -> bytes:
    """As ``analyze_batch``, for a process that does nothing else: without looking for cycles among live
    values."""
    gc.disable()
    return analyze_batch(batch)


def decode(data: bytes) -> list[Reading]:
    """The inverse of what ``analyze_batch`` returns."""
    return _DECODER.decode(data)


_DECODER = msgspec.msgpack.Decoder(list[Reading])


def read_one(root: Path, source: Source, vocabulary: Vocabulary, limit: int) -> Reading:
    """The reading of one file. An analyzer that raises makes a ``Skip``, not an end."""
    spec = spec_of(source.kind)
    if spec is None:
        return Reading(source.path, 0, (), (), False)
    data = opening.read(root, source.raw or source.path, limit)
    if isinstance(data, Skip):
        skip = msgspec.structs.replace(data, path=source.path)
        return Reading(source.path, 0, (), (skip,), False)
    try:
        text = Text.decode(source.path, data)
    except NotText as error:
        return Reading(source.path, 0, (), (Skip(source.path, "not-text", str(error)),), False)
    evidence: list[Evidence] = []
    skips: list[Skip] = []
    try:
        for item in analyzer(spec.module)(text, vocabulary):
            if isinstance(item, Skip):
                skips.append(item)
            else:
                evidence.append(item)
    except Exception as error:
        if os.environ.get("PORTAUDIT_RAISE"):
            raise
        _log.debug("%s: analyzer %s failed", source.path, spec.module, exc_info=True)
        skips.append(Skip(source.path, "crashed", f"{spec.module}: {type(error).__name__}", not evidence))
    if not text.certain:
        skips.append(Skip(source.path, "encoding", "not UTF-8: read as latin-1", False))
    return Reading(source.path, text.line_count, tuple(evidence), tuple(skips), True)
