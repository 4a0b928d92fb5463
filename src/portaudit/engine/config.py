"""``[tool.portaudit]`` of pyproject.toml, or portaudit.toml -> Config. Default < file < flag."""

import difflib
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from portaudit.discover import opening
from portaudit.errors import UsageError
from portaudit.model.places import Skip

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FILE_LIMIT = 1 << 20
_VERDICTS = ("blocker", "adaptation", "direct")


class Config(msgspec.Struct, frozen=True, rename="kebab"):
    """The settings of a scan."""

    target: str = ""
    """ROCm release and architectures, ``rocm=7.2,gfx942``, or a product; empty: the newest release and
    gfx942."""
    exclude: tuple[str, ...] = ()
    """Globs on POSIX paths below the root that are not read; ``third_party/**`` takes a folder."""
    fail_on: str = ""
    """``blocker``, ``adaptation`` or ``direct``: exit code 1 when a finding of that verdict or worse is
    shown."""
    max_file_size: int = 32 << 20
    """Bytes; a larger file is listed as not read."""
    jobs: int = 0
    """Worker processes; 0: as many as pay."""
    use_ignore_files: bool = True
    """Whether .gitignore files keep files out."""


def load(root: Path, isolated: bool = False, overrides: Mapping[str, object] | None = None) -> Config:
    """The config for a scanned root: the nearest file upward, then the overrides that are not None.

    Raises ``UsageError`` for a file that does not parse, an unknown key or a value of the wrong type.
    """
    values: dict[str, object] = {}
    origin = "the command line"
    if not isolated:
        found = _nearest(root)
        if found is not None:
            origin, values = found
            _check_tree(origin, values)
    values.update({k: v for k, v in (overrides or {}).items() if v is not None})
    known = [field.encode_name for field in msgspec.structs.fields(Config)]
    for key in values:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
            raise UsageError(f"{origin}: unknown key {key!r}{hint}")
    try:
        config = msgspec.convert(values, Config)
    except msgspec.ValidationError as error:
        raise UsageError(f"{origin}: {error}") from error
    if config.fail_on and config.fail_on not in _VERDICTS:
        raise UsageError(f"{origin}: fail-on is {config.fail_on!r}; accepted: {', '.join(_VERDICTS)}")
    if config.max_file_size < 1 or config.jobs < 0:
        raise UsageError(f"{origin}: max-file-size and jobs take positive numbers")
    return config


def _check_tree(origin: str, values: dict[str, object]) -> None:
    """A scanned tree may narrow what is read of it, never raise a limit or take processes."""
    if "jobs" in values:
        raise UsageError(f"{origin}: jobs can be set on the command line only")
    limit = values.get("max-file-size")
    if isinstance(limit, int) and limit > Config().max_file_size:
        raise UsageError(
            f"{origin}: max-file-size can only be lowered here, to less than {Config().max_file_size}"
        )


def _nearest(root: Path) -> tuple[str, dict[str, object]] | None:
    for folder in (root, *root.parents):
        for name in ("portaudit.toml", "pyproject.toml"):
            if not (folder / name).is_file():
                continue
            data = opening.read(folder, name, _FILE_LIMIT)
            if isinstance(data, Skip):
                raise UsageError(f"{name}: {data.detail or data.reason}")
            try:
                document = tomllib.loads(data.decode("utf-8"))
            except (UnicodeDecodeError, ValueError, RecursionError) as error:
                if name == "pyproject.toml":
                    # A broken manifest of the tree is a finding of the scan, not a reason to refuse it.
                    continue
                raise UsageError(f"{name}: {error}") from error
            table = document if name == "portaudit.toml" else document.get("tool", {})
            if name == "pyproject.toml":
                table = table.get("portaudit") if isinstance(table, dict) else None
            if isinstance(table, dict):
                return name, dict(table)
    return None
