"""Manifests and lock files: packages with versions, extras and groups, indexes, channels, build settings."""

import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from portaudit.analyze.base import Text
from portaudit.analyze.cmakeoptions import cache_options
from portaudit.analyze.condafile import conda_file
from portaudit.analyze.containers import image
from portaudit.analyze.indexes import channel, index, urls
from portaudit.analyze.installs import package, pip_words, requirement
from portaudit.analyze.jsonleaves import json_leaves
from portaudit.analyze.leaves import Leaf, Malformed, Path
from portaudit.analyze.requirement import Attrs, local_version, normal_name, parse_requirement_line
from portaudit.analyze.shell import script
from portaudit.analyze.tomlleaves import toml_leaves
from portaudit.analyze.variables import variable
from portaudit.analyze.words import Frame, Word, frame_of, place, split_at
from portaudit.model.evidence import Confidence, Evidence, Guard, Vocabulary
from portaudit.model.places import Skip

_LOGICAL = re.compile(r"(?:[^\r\n\\]|\\(?!\r?\n)|\\\r?\n)+")
_BEHIND = re.compile(r"(?<![ \t\\\r\n])[ \t\\\r\n]{1,400}(?:#|--?[a-z])")
_CUDA_EXTRA = re.compile(
    r"(?:^|[-_.])(?:cuda|cu)[-_]?\d*(?:[-_.]|$)|nvidia|tensorrt|(?:^|[-_])gpu", re.IGNORECASE
)
_ROCM_EXTRA = re.compile(r"rocm|(?:^|[-_])(?:amd|hip)(?:[-_\d]|$)", re.IGNORECASE)
_Reader = Callable[[str], Iterator[Leaf]]
_Handler = Callable[[list[Leaf], Frame], Iterator[Evidence]]
_COMMANDS = frozenset({"tasks", "scripts", "before-all", "before-build", "before-test", "test-command"})
_NAMED_TABLES = frozenset({"dependencies", "pypi-dependencies", "dev-dependencies", "build-dependencies"})


def analyze(text: Text, vocabulary: Vocabulary) -> Iterator[Evidence | Skip]:
    """Evidence of one manifest; its name says which form it has."""
    frame = frame_of(text, vocabulary)
    name = text.path.rsplit("/", 1)[-1].lower()
    found: Iterable[Evidence | Skip]
    if name.endswith((".yml", ".yaml")):
        found = conda_file(frame)
    elif name == "pyproject.toml" or name == "pixi.toml":
        found = _tolerant(frame, toml_leaves, _pyproject)
    elif name == "setup.cfg":
        found = _setup_cfg(frame)
    elif name in ("pipfile", "pipfile.lock", "uv.lock", "poetry.lock", "pdm.lock") or name.endswith(".toml"):
        found = _tolerant(frame, json_leaves if name == "pipfile.lock" else toml_leaves, _lock)
    else:
        found = _requirements(frame, "lock" if "lock" in name else "requirements")
    skips: list[Skip] = []
    evidence: list[Evidence] = []
    for item in found:
        if isinstance(item, Skip):
            skips.append(item)
        else:
            evidence.append(item)
    yield from sorted(evidence, key=place)
    yield from skips


def _requirements(frame: Frame, section: str) -> Iterator[Evidence]:
    """Lines as pip reads them: requirements, options, continuations."""
    for match in _LOGICAL.finditer(frame.text.text):
        line = match.group()
        start = match.start() + len(line) - len(line.lstrip())
        line = line.strip()
        if line.startswith("#"):
            continue
        if line.startswith("-") and not line.startswith(("-e ", "--editable")):
            words = split_at(line.partition(" #")[0], start)
            yield from pip_words(words, frame, section=section)
            continue
        behind = _BEHIND.search(line)
        text = line[: behind.start()] if behind else line
        yield from _requirement(text, start, start + len(text), frame, section=section)


def _requirement(
    text: str, start: int, end: int, frame: Frame, **attrs: str | int | bool | None
) -> Iterator[Evidence]:
    for evidence in requirement(text, start, end, frame, **attrs):
        marker = evidence.attr("marker")
        if evidence.guard is None and isinstance(marker, str) and _never_linux(marker):
            guard = Guard("unknown", marker, evidence.span.line)
            evidence = msgspec.structs.replace(evidence, guard=guard)
        yield evidence


def _never_linux(marker: str) -> bool:
    return bool(
        re.search(r"(?:sys_platform|platform_system)\s*==\s*[\"'](?:win32|darwin|Windows|Darwin)", marker)
    )


def _tolerant(
    frame: Frame,
    reader: _Reader,
    handler: _Handler,
) -> Iterator[Evidence | Skip]:
    """Leaves of a data file to its handler; a malformed file is read as far as it goes, then line by line."""
    leaves: list[Leaf] = []
    try:
        for leaf in reader(frame.text.text):
            leaves.append(leaf)
    except Malformed as error:
        line = frame.text.place(error.offset)[0]
        yield Skip(frame.text.path, "syntax", f"line {line}: {error}", whole=False)
        if not leaves:
            yield from _quoted_requirements(msgspec.structs.replace(frame, confidence=Confidence.LOW))
    yield from handler(leaves, frame)


def _quoted_requirements(frame: Frame) -> Iterator[Evidence]:
    """Second try on a file that could not be read: quoted texts with a version or a CUDA name."""
    for match in re.finditer(r"[\"']([A-Za-z][^\"'\r\n]{2,200})[\"']", frame.text.text):
        parsed = parse_requirement_line(match.group(1))
        if parsed and ("specifier" in parsed[1] or parsed[0] in frame.vocabulary.packages):
            yield package(*parsed, match.start(), match.end(), frame)


def _pyproject(leaves: list[Leaf], frame: Frame) -> Iterator[Evidence]:
    extras = {leaf.path[2] for leaf in leaves if leaf.path[:2] == ("project", "optional-dependencies")}
    extras |= {leaf.path[1] for leaf in leaves if leaf.path[:1] == ("dependency-groups",)}
    extras |= {leaf.path[3] for leaf in leaves if leaf.path[:3] == ("tool", "poetry", "group")}
    extras |= {leaf.path[3] for leaf in leaves if leaf.path[:3] == ("tool", "pixi", "feature")}
    both = any(isinstance(extra, str) and _ROCM_EXTRA.search(extra) for extra in extras)
    tables: dict[Path, list[Leaf]] = {}
    for leaf in leaves:
        at = _named_table(leaf.path)
        if at:
            tables.setdefault(leaf.path[: at + 1], []).append(leaf)
            continue
        group = _group_of(leaf.path)
        inner = _guarded(frame, group, both, leaf)
        yield from _pyproject_leaf(leaf, group, inner)
    for path, members in tables.items():
        group = _group_of(path)
        yield from _named(path, members, group, _guarded(frame, group, both, members[0]))


def _named_table(path: Path) -> int:
    """Index of the package name in tables that map names to versions, 0 where the path is no such table."""
    for at, part in enumerate(path[:-1]):
        if part in _NAMED_TABLES and path[0] == "tool" and isinstance(path[at + 1], str):
            return at + 1
    return 0


def _group_of(path: Path) -> str:
    """The extra or group that a dependency is listed under."""
    if path[:2] == ("project", "optional-dependencies") or path[:1] == ("dependency-groups",):
        return str(path[2] if path[0] == "project" else path[1])
    if path[:3] in (("tool", "poetry", "group"), ("tool", "pixi", "feature"), ("tool", "hatch", "envs")):
        return str(path[3])
    if path[:3] in (("tool", "pdm", "dev-dependencies"),):
        return str(path[3])
    return ""


def _guarded(frame: Frame, group: str, both: bool, leaf: Leaf) -> Frame:
    """Where a project offers an extra for each vendor, each is reached by its own users only."""
    side = "rocm" if group and _ROCM_EXTRA.search(group) else ""
    if not side and both and group and _CUDA_EXTRA.search(group):
        side = "cuda"
    if not side:
        return frame
    guard = Guard(side, f"extra {group}", frame.text.place(leaf.start)[0])
    return msgspec.structs.replace(frame, guard=guard)


def _pyproject_leaf(leaf: Leaf, group: str, frame: Frame) -> Iterator[Evidence]:
    path, key = leaf.path, leaf.key
    listed = bool(path) and isinstance(path[-1], int)
    section = "build-system" if path[:1] == ("build-system",) else "dependencies"
    if listed and (key.endswith("dependencies") or key == "requires" or group):
        yield from _requirement(
            leaf.text,
            leaf.start,
            leaf.end,
            frame,
            section=section,
            group=group or None,
            optional=True if group else None,
        )
    elif path[:1] != ("tool",):
        return
    elif "://" in leaf.text and key != "homepage":
        yield from urls(leaf.text, leaf.inner_start, frame, "manifest")
    elif key == "channels" and "pixi" in path:
        yield from channel(Word(leaf.text, leaf.start, leaf.end), frame)
    elif "define" in path and "scikit-build" in path:
        yield from cache_options([Word(f"-D{key}={leaf.text}", leaf.key_start, leaf.end)], frame)
    elif key in ("args", "cmake-args") or "config-settings" in path:
        yield from cache_options(split_at(leaf.text, leaf.inner_start, " ;\t\r\n"), frame)
    elif any(part in _COMMANDS for part in path):
        yield from script(frame.text.text[leaf.inner_start : leaf.end - 1], leaf.inner_start, frame)
    elif "environment" in path or "env" in path or "variables" in path:
        yield from variable(key, leaf.text, Word(leaf.text, leaf.key_start, leaf.end), frame)
    elif key.endswith("-image"):
        yield from image(leaf.text, leaf.start, leaf.end, frame)


def _named(path: Path, members: list[Leaf], group: str, frame: Frame) -> Iterator[Evidence]:
    """A package whose name is a key: ``torch = {version = "2.6.0+cu124", source = "pytorch"}``."""
    name = normal_name(str(path[-1]))
    if not name or name == "python":
        return
    version = next((m for m in members if m.path == path or m.path[-1] == "version"), None)
    extras = [m.text for m in members if "extras" in m.path]
    url = next((m.text for m in members if m.path[-1] in ("url", "git")), "")
    own: Attrs = {}
    if version is not None and version.text not in ("*", ""):
        own["specifier"] = version.text if version.text[0] in "=<>~^!" else f"=={version.text}"
        if local := local_version(str(own["specifier"])):
            own["local"] = local
    if extras:
        own["extras"] = ",".join(extras)
    if url:
        own["url"] = url
        own.update((parse_requirement_line(f"{name} @ {url}") or ("", {}))[1])
    first = members[0]
    last = version or first
    start, end = (first.key_start, last.end) if first.path == path else (members[0].key_start, last.end)
    manager = "conda" if "pixi" in path and path[-2] == "dependencies" else None
    optional = any(m.path[-1] == "optional" and m.text == "true" for m in members) or bool(group)
    yield package(
        name,
        own,
        start,
        max(end, start),
        frame,
        section="dependencies",
        group=group or None,
        manager=manager,
        optional=True if optional else None,
    )
    if url:
        yield from index(url, first.start, first.end, frame, "manifest")


def _lock(leaves: list[Leaf], frame: Frame) -> Iterator[Evidence]:
    """Packages of lock files and Pipfiles, and each index once."""
    seen: set[str] = set()
    entries: dict[Path, list[Leaf]] = {}
    for leaf in leaves:
        path = leaf.path
        if not path:
            continue
        listed = path[0] in ("package", "packages") and len(path) > 2 and isinstance(path[1], int)
        mapped = path[0] in ("default", "develop", "packages", "dev-packages") and len(path) > 1
        if listed or mapped:
            entries.setdefault(path[:2], []).append(leaf)
        if "://" in leaf.text and leaf.text not in seen and leaf.key in ("url", "registry", "index", "uri"):
            seen.add(leaf.text)
            if not leaf.text.endswith((".whl", ".tar.gz", ".zip", ".metadata")):
                yield from index(leaf.text, leaf.start, leaf.end, frame, "lock")
    for path, members in entries.items():
        if isinstance(path[1], str):
            yield from _named(path, members, "", frame)
        else:
            yield from _locked(path, members, frame)


def _locked(path: Path, members: list[Leaf], frame: Frame) -> Iterator[Evidence]:
    name = next((m for m in members if m.path == (*path, "name")), None)
    version = next((m for m in members if m.path == (*path, "version")), None)
    if name is None or not normal_name(name.text):
        return
    own: Attrs = {}
    if version is not None:
        own["specifier"] = f"=={version.text}"
        if local := local_version(f"=={version.text}"):
            own["local"] = local
    end = version.end if version is not None and "local" in own and version.start > name.start else name.end
    yield package(normal_name(name.text), own, name.key_start, end, frame, section="lock")


_HEADER = re.compile(r"^\[([^\]\r\n]{1,100})\]", re.MULTILINE)
_SETTING = re.compile(r"([A-Za-z0-9_.-]{1,60})[ \t]*[=:][ \t]*(.*)")
_LISTS = frozenset({"install_requires", "setup_requires", "tests_require", "requires", "dependency_links"})


def _setup_cfg(frame: Frame) -> Iterator[Evidence]:
    """``[options]`` and ``[options.extras_require]`` of setup.cfg."""
    text = frame.text.text
    section, setting = "", ""
    for number in range(1, frame.text.line_count + 1):
        start = frame.text.starts[number - 1]
        line = frame.text.line(number)
        if header := _HEADER.match(line):
            section, setting = header.group(1).strip(), ""
            continue
        if not line.strip() or line.lstrip().startswith(("#", ";")):
            continue
        if line[:1] not in " \t":
            match = _SETTING.match(line)
            setting = match.group(1) if match else ""
            start += match.start(2) if match else 0
            line = match.group(2) if match else ""
        group = setting if section == "options.extras_require" else ""
        if section.startswith("options") and (group or setting in _LISTS) and line.strip():
            begin = start + len(line) - len(line.lstrip())
            yield from _requirement(
                line.strip(), begin, begin + len(line.strip()), frame, section=setting, group=group or None
            )
            if "://" in text[begin : begin + 8]:
                yield from urls(line, start, frame, "manifest")
