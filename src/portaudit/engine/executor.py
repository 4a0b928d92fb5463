"""Where batches run: in this process, or in a pool whose members may die one by one."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures import TimeoutError as LateError
from typing import Any

import msgspec

from portaudit.engine.worker import Batch, analyze_batch, analyze_in_child, decode
from portaudit.errors import PortauditError
from portaudit.model.evidence import Reading
from portaudit.model.places import Skip

# Two processes that import the parsers cost half a second of CPU: below this they don't pay.
_SERIAL_BYTES = 4 << 20
_SECONDS_A_FILE = 10.0

Advance = Callable[[int], None]


def jobs_for(bytes_to_read: int, wanted: int) -> int:
    """How many processes to use; 1 means: this one."""
    if wanted:
        return wanted
    if bytes_to_read < _SERIAL_BYTES:
        return 1
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def run(batches: list[Batch], jobs: int, advance: Advance) -> Iterator[Reading]:
    """The readings of all batches, in no order. ``advance`` is told how many files are done."""
    if jobs <= 1:
        for batch in batches:
            yield from decode(analyze_batch(batch))
            advance(len(batch.sources))
        return
    yield from _pooled(batches, jobs, advance)


def _pooled(batches: list[Batch], jobs: int, advance: Advance) -> Iterator[Reading]:
    import multiprocessing

    from pebble import ProcessPool

    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(["portaudit.engine.worker", "portaudit.analyze.cuda"])
    with ProcessPool(max_workers=jobs, context=context) as pool:
        waiting = list(reversed(batches))
        running: dict[Future[bytes], Batch] = {}
        try:
            while waiting or running:
                while waiting and len(running) < 2 * jobs:
                    batch = waiting.pop()
                    limit = _SECONDS_A_FILE + 2.0 * len(batch.sources)
                    future: Any = pool.schedule(analyze_in_child, args=(batch,), timeout=limit)
                    running[future] = batch
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    batch = running.pop(future)
                    yield from _outcome(future, batch, waiting, advance)
        except BaseException:
            pool.stop()  # type: ignore[no-untyped-call]
            raise


def _outcome(
    future: "Future[bytes]", batch: Batch, waiting: list[Batch], advance: Advance
) -> Iterator[Reading]:
    """The readings of a finished batch; one that broke its process is split until the file is found."""
    try:
        readings = decode(future.result())
    except PortauditError:
        raise
    except Exception as error:
        if os.environ.get("PORTAUDIT_RAISE"):
            raise
        if len(batch.sources) > 1:
            middle = len(batch.sources) // 2
            waiting.append(msgspec.structs.replace(batch, sources=batch.sources[middle:]))
            waiting.append(msgspec.structs.replace(batch, sources=batch.sources[:middle]))
            return
        path = batch.sources[0].path
        late = isinstance(error, LateError)
        detail = (
            f"over {_SECONDS_A_FILE:.0f} s"
            if late
            else f"the process that read it ended: {type(error).__name__}"
        )
        advance(1)
        yield Reading(path, 0, (), (Skip(path, "too-slow" if late else "crashed", detail),), False)
        return
    advance(len(batch.sources))
    yield from readings
