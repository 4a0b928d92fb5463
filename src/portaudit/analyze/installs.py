"""Install commands of pip, conda and system package managers -> packages, indexes, channels."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from portaudit.analyze.indexes import channel, index
from portaudit.analyze.requirement import Attrs, cuda_tag, normal_name, parse_requirement_line
from portaudit.analyze.words import Frame, Word, option, word_set
from portaudit.model.evidence import Evidence, EvidenceKind

_PIP = frozenset({"pip", "pip3", "pipx", "uv", "poetry", "pdm", "pipenv", "rye", "hatch", "easy_install"})
_CONDA = frozenset({"conda", "mamba", "micromamba", "pixi"})
_SYSTEM = frozenset(
    {
        "apt",
        "apt-get",
        "aptitude",
        "yum",
        "dnf",
        "microdnf",
        "tdnf",
        "zypper",
        "apk",
        "pacman",
        "brew",
        "choco",
        "winget",
    }
)
_ACTIONS = frozenset(
    {
        "install",
        "add",
        "create",
        "download",
        "wheel",
        "sync",
        "run",
        "compile",
        "-S",
        "-Sy",
        "-Syu",
        "reinstall",
        "upgrade",
    }
)
_INDEX_OPTIONS = (
    "--index-url",
    "-i",
    "--extra-index-url",
    "--find-links",
    "-f",
    "--index",
    "--default-index",
    "--source",
)
_VALUED = word_set(
    "-r --requirement -c --constraint -t --target --prefix -p --python --python-version --platform "
    "--abi --src --cache-dir --config-settings -C --global-option --build-option --no-binary "
    "--only-binary --trusted-host --timeout --retries -n --name -f --file --root --log "
    "--upgrade-strategy --progress-bar --group --extra --with -o --option --repo --enablerepo "
    "--disablerepo --installroot --setopt --releasever --override --index-strategy --torch-backend "
    "--no-build-isolation-package --exclude --directory --project --env-file -d --dest -w --wheel-dir "
    "-G --editable-mode"
)


def is_installer(name: str) -> bool:
    """Whether a command installs packages."""
    return name in _PIP or name in _CONDA or name in _SYSTEM


def installs(words: Sequence[Word], frame: Frame) -> Iterator[Evidence]:
    """Evidence of an install command; ``words[0]`` is the installer."""
    name = words[0].text.rsplit("/", 1)[-1]
    begin = next((i for i, w in enumerate(words[1:6], 1) if w.text in _ACTIONS), 0)
    if not begin:
        return
    if name in _CONDA:
        yield from _conda(words, begin + 1, frame)
    elif name in _SYSTEM:
        yield from _system(name, words[begin + 1 :], frame)
    else:
        if name == "uv" and words[begin].text == "run":
            return
        yield from pip_words(words[begin + 1 :], frame)


def pip_words(words: Sequence[Word], frame: Frame, **attrs: str | bool) -> Iterator[Evidence]:
    """Requirements and index options as pip takes them; also the lines of a requirements file."""
    at = 0
    while at < len(words):
        word, after = words[at], at + 1
        value, past = option(words, at, *_INDEX_OPTIONS)
        if past != at:
            after = past
            if value is not None:
                yield from _option_index(word, value, frame)
        elif word.text in ("-e", "--editable"):
            pass
        elif word.text in ("--extra", "--group", "-G") and at + 1 < len(words):
            after = at + 2
        elif word.text.partition("=")[0] == "--torch-backend":
            backend, after = option(words, at, "--torch-backend")
            if backend is not None and cuda_tag(backend.text):
                yield frame.evidence(
                    EvidenceKind.INDEX,
                    "cuda-wheel-index",
                    word.start,
                    backend.end,
                    url=backend.text,
                    tag=cuda_tag(backend.text),
                )
            after = max(after, at + 1)
        elif word.text.startswith("-"):
            after = at + 2 if word.text in _VALUED else at + 1
        else:
            yield from requirement(word.text, word.start, word.end, frame, manager="pip", **attrs)
        at = after


def _option_index(word: Word, value: Word, frame: Frame) -> Iterator[Evidence]:
    url = value.text
    start = min(word.start, value.start)
    if "://" in url:
        yield from index(url, start, value.end, frame, "pip")
    elif "=" in url and "://" in url.partition("=")[2]:
        yield from index(url.partition("=")[2], start, value.end, frame, "pip")
    elif tag := cuda_tag(url):
        yield frame.evidence(EvidenceKind.INDEX, "cuda-wheel-index", start, value.end, url=url, tag=tag)


def requirement(
    text: str, start: int, end: int, frame: Frame, **attrs: str | int | bool | None
) -> Iterator[Evidence]:
    """Evidence for one requirement text, nothing when it is none."""
    parsed = parse_requirement_line(text)
    if parsed is not None:
        name, own = parsed
        yield package(name, own, start, end, frame, **attrs)


def package(
    name: str, own: Attrs, start: int, end: int, frame: Frame, **attrs: str | int | bool | None
) -> Evidence:
    """Evidence for a package; the extra that tables know by its own name is part of the name."""
    extras = str(own.get("extras", "")).split(",")
    known = frame.vocabulary.packages
    name = next((f"{name}[{e}]" for e in extras if e and is_known(f"{name}[{e}]", known)), name)
    if not is_known(name, known) and "url" in own:
        name = _squashed(known).get(name.replace("-", ""), name)
    local = str(own.get("local", ""))
    tag = cuda_tag(local) if local else ""
    if "[" in name:
        attrs["base"] = name.partition("[")[0]
    attrs |= {"tag": tag or None, "known": True if is_known(name, known) else None}
    return frame.evidence(EvidenceKind.PACKAGE, name, start, end, **{**own, **attrs})


@lru_cache(maxsize=4096)
def is_known(name: str, names: frozenset[str]) -> bool:
    """Whether tables have a name, as it is or by a pattern."""
    if name in names:
        return True
    pattern = _patterns(names)
    return pattern is not None and pattern.match(name) is not None


@lru_cache(maxsize=4)
def _patterns(names: frozenset[str]) -> re.Pattern[str] | None:
    globs = sorted(n for n in names if "*" in n)
    return re.compile("|".join(re.escape(g).replace(r"\*", ".*") + "$" for g in globs)) if globs else None


@lru_cache(maxsize=4)
def _squashed(names: frozenset[str]) -> dict[str, str]:
    """Repository names often drop the hyphen of the distribution: TransformerEngine, transformer-engine."""
    return {name.replace("-", ""): name for name in sorted(names)}


def _conda(words: Sequence[Word], at: int, frame: Frame) -> Iterator[Evidence]:
    while at < len(words):
        word, after = words[at], at + 1
        value, past = option(words, at, "-c", "--channel")
        if past != at:
            after = past
            if value is not None:
                yield from channel(value, frame)
        elif word.text.startswith("-"):
            after = at + 2 if word.text in _VALUED else at + 1
        else:
            yield from conda_requirement(word, frame)
        at = after


def conda_requirement(word: Word, frame: Frame, **attrs: str | bool) -> Iterator[Evidence]:
    """A conda match specification: ``channel::name=version=build``."""
    text = word.text.strip().strip("\"'")
    if text.startswith(("/", "./", "http", "$")) or not text:
        return
    place, colons, rest = text.rpartition("::")
    head = rest.split("[", 1)[0]
    cut = next((i for i, c in enumerate(head) if c in "=<>!~ "), len(head))
    name = normal_name(head[:cut])
    if not name:
        return
    version, _, build = head[cut:].lstrip("=<>!~ ").partition("=")
    yield frame.evidence(
        EvidenceKind.PACKAGE,
        name,
        word.start,
        word.end,
        manager="conda",
        specifier=head[cut:].strip() or None,
        version=version or None,
        build=build or (rest[len(head) :] or None),
        channel=place.rsplit("/", 1)[-1] or None if colons else None,
        **attrs,
    )


def _system(manager: str, words: Sequence[Word], frame: Frame) -> Iterator[Evidence]:
    """System packages have names of their own; ``apt:`` before the name keeps them apart from Python's."""
    at = 0
    while at < len(words):
        word = words[at]
        at += 2 if word.text in _VALUED else 1
        if not word.text.startswith(("-", "$", "/", ".")) and "://" not in word.text:
            name = word.text.partition("=")[0].partition("/")[0].lower()
            yield frame.evidence(
                EvidenceKind.PACKAGE,
                f"system:{name}",
                word.start,
                word.end,
                manager=manager,
                specifier=word.text,
            )
