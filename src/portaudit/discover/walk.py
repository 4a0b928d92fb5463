"""A bounded walk of the tree with nested ignore files. Never runs git, never leaves the root, never
follows a loop."""

import os
import stat
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from portaudit.discover import opening
from portaudit.discover.classify import classify, needs_head
from portaudit.model.places import Kind, Skip, Source

_NEVER = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".jj",
        "__pycache__",
        "node_modules",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".pytest_cache",
    }
    | {".ruff_cache", ".portaudit_cache", ".eggs", ".ipynb_checkpoints"}
)
_IGNORE_FILE_LIMIT = 1 << 20
_DEPTH_LIMIT = 200

Ignored = Callable[[str, bool], bool]


def walk(root: Path, exclude: tuple[str, ...] = (), use_ignore_files: bool = True) -> Iterator[Source | Skip]:
    """Every file below root as a ``Source``, and every one that can't be one as a ``Skip``; sorted by path.

    ``exclude`` are globs on POSIX paths relative to root; ``**`` at the end takes the folder with it.
    """
    pending: list[tuple[str, tuple[tuple[str, Ignored], ...]]] = [("", ())]
    found: list[Source | Skip] = []
    real_root = os.path.realpath(root)
    while pending:
        folder, rules = pending.pop()
        try:
            entries = sorted(os.scandir(os.path.join(root, folder)), key=lambda e: e.name)
        except OSError as error:
            found.append(Skip(shown(folder) or ".", "unreadable", error.strerror or type(error).__name__))
            continue
        names = {entry.name for entry in entries}
        if "pyvenv.cfg" in names and folder:
            continue
        if use_ignore_files and ".gitignore" in names:
            own = _ignore_rules(root, f"{folder}/.gitignore" if folder else ".gitignore")
            if own is not None:
                rules = (*rules, (f"{folder}/" if folder else "", own))
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if _excluded(path, exclude) or entry.name in _NEVER:
                continue
            _visit(entry, path, rules, real_root, pending, found)
    found.sort(key=lambda item: item.path)
    yield from found


def shown(path: str) -> str:
    """A path as text: bytes that are not UTF-8 become ``\\xNN``."""
    if path.isascii():
        return path
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _visit(
    entry: "os.DirEntry[str]",
    path: str,
    rules: tuple[tuple[str, Ignored], ...],
    real_root: str,
    pending: list[tuple[str, tuple[tuple[str, Ignored], ...]]],
    found: list[Source | Skip],
) -> None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        found.append(Skip(shown(path), "unreadable", error.strerror or type(error).__name__))
        return
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        target = os.path.realpath(entry.path)
        if not (target == real_root or target.startswith(real_root + os.sep)):
            found.append(Skip(shown(path), "link-outside", "a link that leaves the tree is not followed"))
        # A link inside the tree leads to a file that is read under its own name.
        return
    folder = stat.S_ISDIR(mode)
    if any(ignored(path[len(base) :], folder) for base, ignored in rules):
        return
    if folder:
        if path.count("/") >= _DEPTH_LIMIT:
            found.append(Skip(shown(path), "too-deep", f"more than {_DEPTH_LIMIT} folders"))
        else:
            pending.append((path, rules))
    elif stat.S_ISREG(mode):
        name = shown(path)
        found.append(Source(name, _kind(entry.path, path), status.st_size, path if name != path else ""))
    else:
        found.append(Skip(shown(path), "special-file", "not a regular file"))


def _kind(full: str, path: str) -> Kind:
    if not needs_head(path):
        return classify(path)
    folder, name = os.path.split(full)
    return classify(path, opening.head(Path(folder), name))


def _excluded(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(path, p) or (p.endswith("/**") and fnmatchcase(path, p[:-3])) for p in patterns)


def _ignore_rules(root: Path, path: str) -> Ignored | None:
    data = opening.read(root, path, _IGNORE_FILE_LIMIT)
    if isinstance(data, Skip):
        return None
    import pathspec  # 32 ms, only where a tree has ignore files

    spec = pathspec.GitIgnoreSpec.from_lines(data.decode("utf-8", "replace").splitlines())

    def ignored(relative: str, folder: bool) -> bool:
        return bool(spec.match_file(relative + "/" if folder else relative))

    return ignored
