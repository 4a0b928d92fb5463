"""Sources -> batches by bytes, so that processes get equal work."""

from collections.abc import Iterable, Iterator

from portaudit.model.places import Source

_BYTES = 1 << 20
_FILES = 64


def batches(sources: Iterable[Source]) -> Iterator[tuple[Source, ...]]:
    """About 1 MiB or 64 files each, in the order given."""
    batch: list[Source] = []
    size = 0
    for source in sources:
        if batch and (size + source.size > _BYTES or len(batch) >= _FILES):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(source)
        size += source.size
    if batch:
        yield tuple(batch)
