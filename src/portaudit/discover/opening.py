"""The one function that opens files of a scanned tree: regular files only, no link followed, bounded,
never hung."""

import os
import stat
from pathlib import Path

from portaudit.model.places import Skip

_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
)
_FLAGS |= getattr(os, "O_BINARY", 0)


def head(root: Path, path: str, count: int = 4096) -> bytes:
    """The first bytes of a regular file below root; empty when it cannot be read."""
    start = _open(root, path)
    if isinstance(start, Skip):
        return b""
    try:
        return os.read(start, count)
    except OSError:
        return b""
    finally:
        os.close(start)


def read(root: Path, path: str, limit: int) -> bytes | Skip:
    """The bytes of a file below root, or why it was not read. A pipe or a device never hangs the reader."""
    handle = _open(root, path)
    if isinstance(handle, Skip):
        return handle
    try:
        chunks: list[bytes] = []
        left = limit + 1
        while left > 0 and (chunk := os.read(handle, min(left, 1 << 20))):
            chunks.append(chunk)
            left -= len(chunk)
        if left <= 0:
            return Skip(path, "too-large", f"over {limit} bytes")
        return b"".join(chunks)
    except OSError as error:
        return Skip(path, "unreadable", error.strerror or type(error).__name__)
    finally:
        os.close(handle)


def _open(root: Path, path: str) -> int | Skip:
    try:
        handle = os.open(os.path.join(root, path), _FLAGS)
    except (OSError, ValueError) as error:
        return Skip(path, "unreadable", getattr(error, "strerror", None) or type(error).__name__)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    return Skip(path, "special-file", "not a regular file")
