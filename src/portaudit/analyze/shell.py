"""Shell scripts and command lines of other files: variables, installs, containers, tools, job requests."""

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from portaudit.analyze import clusters, containers, flags, installs
from portaudit.analyze.base import Text
from portaudit.analyze.branches import Turn, regions, side_of
from portaudit.analyze.cmakeoptions import cache_options
from portaudit.analyze.indexes import urls
from portaudit.analyze.shellwords import Command, commands
from portaudit.analyze.variables import variable
from portaudit.analyze.words import Frame, Word, frame_of, is_watched_env, joined, place, word_set
from portaudit.model.evidence import Evidence, EvidenceKind, Guard, Vocabulary
from portaudit.model.places import Skip

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w{0,80})\+?=(.*)", re.DOTALL)
_READ = re.compile(r"\$\{?([A-Za-z_]\w{0,80})")
_WRITTEN = re.compile(
    r"(?:export[ \t]+|setenv[ \t]+|ENV[ \t]+)?([A-Za-z_]\w{0,80})(?:=|[ \t]+(?=[/\d]))(.*)", re.DOTALL
)
_KEYWORDS = word_set("then do else if elif while until ! { } time coproc")
_WRAPPERS = word_set("sudo env exec nohup nice stdbuf command builtin time doas setsid ionice gosu tini")
_LAUNCHERS = word_set(
    "srun mpirun mpiexec mpiexec.hydra jsrun aprun timeout xargs watch ssh kubectl oc taskset numactl "
    "conda mamba micromamba poetry uv pdm pipenv hatch nsys ncu nvprof compute-sanitizer cuda-memcheck "
    "cuda-gdb parallel flock strace ccache sccache catchsegv torchrun accelerate subprocess find "
    "systemctl service pgrep pkill killall bash sh zsh"
)
_PASSES_VARIABLES = frozenset(
    {"mpirun", "mpiexec", "mpiexec.hydra", "prun", "srun", "sbatch", "jsrun", "flux"}
)
_PROBES = frozenset({"which", "type", "whereis", "hash", "whence", "where"})
_QUIET = frozenset({"echo", "printf", ":", "true", "false", "grep", "egrep", "fgrep", "git", "rg"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ssh", "sbatch", "eval", "su"})
_COMPILERS = re.compile(
    r"(?:^|/)(?:nvcc|g\+\+|gcc|clang\+\+|clang|c\+\+|cc|ld|mpicc|mpicxx|mpic\+\+|icpc|icpx|nvc\+\+)(?:-[\d.]+)?$"
)
_WITH_VENDOR = re.compile(r"--(?:with|enable)-(?:cuda|nvcc|nccl|cudnn|nvml|gdrcopy|nvtx)[a-z-]{0,20}")
_NVCC_VARIABLE = re.compile(r"\$[({]?\w*NVCC\w*[)}]?")
_NESTING = 4


def analyze(text: Text, vocabulary: Vocabulary) -> Iterator[Evidence | Skip]:
    """Evidence of a shell script."""
    frame = frame_of(text, vocabulary)
    found = [*script(text.text, 0, frame), *clusters.directives(text.text, 0, frame)]
    yield from sorted(found, key=place)


def script(source: str, offset: int, frame: Frame, depth: int = 0) -> Iterator[Evidence]:
    """Evidence of shell text that begins at ``offset``."""
    listed = list(commands(source, offset))
    patterns, turns = _turns(listed, source, offset, frame.text)
    assigned = frame.assigned | {name for c in listed for name, _, _ in _assignments(c.words)}
    frame = msgspec.structs.replace(
        frame, assigned=frozenset(assigned), guard=frame.guard_at(offset), regions=regions(turns)
    )
    read: set[str] = set()
    for index, command in enumerate(listed):
        if index in patterns:
            continue
        following = listed[index + 1] if index + 1 < len(listed) else None
        yield from _command(command, following, frame, depth)
        yield from _reads(command, source, offset, read, frame)


def _turns(listed: Sequence[Command], source: str, offset: int, text: Text) -> tuple[set[int], list[Turn]]:
    """Where conditions open and close, and which commands are patterns of ``case``.

    A branch begins at its own test: ``if command -v nvidia-smi`` belongs to the NVIDIA side.
    """
    turns: list[Turn] = []
    patterns: set[int] = set()
    open_at: tuple[str, int] | None = None
    cases, expects_pattern, pattern = 0, False, ""
    for index, command in enumerate(listed):
        first = command.words[0].text if command.words else ""
        line = text.place(command.start)[0]
        if expects_pattern and first != "esac":
            patterns.add(index)
            pattern += " ".join(w.text for w in command.words) + " "
            if command.ends_with == ")":
                step = "else" if pattern.strip() == "*" else "elif"
                turns.append(Turn(step, command.start, command.end, pattern.strip(), line))
                expects_pattern = False
            continue
        if first in ("if", "elif"):
            open_at = (first, command.start)
        elif first == "then" and open_at is not None:
            condition = source[open_at[1] - offset : command.start - offset]
            turns.append(Turn(open_at[0], open_at[1], open_at[1], condition, text.place(open_at[1])[0]))
            open_at = None
        elif first in ("else", "fi", "esac"):
            cases -= first == "esac"
            expects_pattern = False
            turns.append(Turn("else" if first == "else" else "end", command.start, command.end, "", line))
        elif first == "case":
            cases += 1
            expects_pattern, pattern = True, ""
            turns.append(Turn("if", command.start, command.end, "", line))
            inside = [w.text for w in command.words]
            if command.ends_with == ")" and "in" in inside:
                pattern = " ".join(inside[inside.index("in") + 1 :])
                turns.append(Turn("elif", command.end, command.end, pattern, line))
                expects_pattern = False
        if any(w.text in ("exit", "return") for w in command.words[:2]):
            turns.append(Turn("stop", command.start, command.end, "", line))
        if cases > 0 and command.ends_with in (";;", ";&", ";;&"):
            expects_pattern, pattern = True, ""
    return patterns, turns


def _assignments(words: Sequence[Word]) -> Iterator[tuple[str, str, Word]]:
    """Variables that a command sets, before it or through ``export``."""
    rest = list(words)
    while rest and rest[0].text in _KEYWORDS:
        rest.pop(0)
    exporting = bool(rest) and rest[0].text in (
        "export",
        "declare",
        "typeset",
        "readonly",
        "local",
        "env",
        "set",
    )
    if rest and rest[0].text == "setenv" and len(rest) > 2:
        yield rest[1].text, rest[2].text, rest[1]
        return
    for word in rest[1:] if exporting else rest:
        match = _ASSIGNMENT.fullmatch(word.text)
        if match:
            yield match.group(1), match.group(2), word
        elif not (exporting and (word.text.startswith("-") or word.text.isidentifier())):
            return


def _is_exported(words: Sequence[Word]) -> bool:
    """Whether assignments reach another program: by ``export``, or because a command follows."""
    rest = [word for word in words if word.text not in _KEYWORDS]
    return any(not _ASSIGNMENT.fullmatch(word.text) for word in rest)


def _command(command: Command, following: Command | None, frame: Frame, depth: int) -> Iterator[Evidence]:
    words: Sequence[Word] = command.words
    exported = _is_exported(words)
    for name, value, word in _assignments(words):
        # A variable of the script itself; only well-known names are still read by somebody else.
        if exported or name in frame.vocabulary.env or not is_watched_env(name, frame.vocabulary):
            yield from variable(name, value, word, frame)
    words = _stripped(words)
    if command.here is not None and (_is_shell_body(command, words)) and depth < _NESTING:
        start, end = command.here
        yield from script(frame.text.text[start:end], start, frame, depth + 1)
    if not words:
        return
    if command.ends_with == "||" and following is not None and not _gives_up(following):
        line = frame.text.place(command.start)[0]
        optional = Guard("optional", "a failure is caught by ||", line)
        if side_of(" ".join(w.text for w in following.words[:4])) == "rocm":
            optional = Guard("cuda", "the command behind || asks for ROCm", line)
        if frame.guard_at(command.start) is None:
            frame = msgspec.structs.replace(frame, guard=optional)
        yield from map(_caught, _run(words, command, frame, depth))
        return
    yield from _run(words, command, frame, depth)


def _caught(evidence: Evidence) -> Evidence:
    if evidence.kind is not EvidenceKind.TOOL:
        return evidence
    return msgspec.structs.replace(evidence, attrs=tuple(sorted((*evidence.attrs, ("caught", True)))))


def _gives_up(command: Command) -> bool:
    return any(word.text in ("exit", "return", "false") for word in command.words[:2])


def _stripped(words: Sequence[Word]) -> Sequence[Word]:
    """Words from the command name on: keywords, assignments and wrappers taken off."""
    at = 0
    while at < len(words):
        text = words[at].text
        name = text.rsplit("/", 1)[-1]
        if name in _WRAPPERS and at + 1 < len(words) and words[at + 1].text != "-v":
            at += 1
            while at < len(words) and words[at].text.startswith("-"):
                at += 1
        elif text in _KEYWORDS or _ASSIGNMENT.fullmatch(text):
            at += 1
        else:
            break
    return words[at:]


def _is_shell_body(command: Command, words: Sequence[Word]) -> bool:
    name = words[0].text.rsplit("/", 1)[-1] if words else ""
    return name in _SHELLS or command.writes.endswith((".sh", ".sbatch", ".slurm", ".bash", "rc", ".profile"))


def _run(words: Sequence[Word], command: Command, frame: Frame, depth: int) -> Iterator[Evidence]:
    """Evidence of a command with its arguments."""
    name = words[0].text.rsplit("/", 1)[-1]
    if name in ("echo", "printf"):
        if command.writes:
            yield from _written(words[1:], frame)
        return
    handler = _HANDLERS.get(name)
    if handler is not None:
        yield from handler(words, frame)
    elif installs.is_installer(name):
        yield from installs.installs(words, frame)
    elif name.startswith("python") and len(words) > 2 and [w.text for w in words[1:3]] == ["-m", "pip"]:
        yield from installs.installs(words[2:], frame)
    elif containers.is_container_tool(name):
        found, after = containers.container_command(words, frame)
        yield from found
        if after < len(words):
            yield from _run(words[after:], command, frame, depth)
    elif clusters.is_scheduler(name):
        yield from clusters.scheduler_options(words[1:], frame)
    if name in _PASSES_VARIABLES:
        yield from _passed(words[1:], frame)
    yield from _tools(words, name, frame)
    cloning = name == "git" and any(w.text in ("clone", "submodule") for w in words[1:4])
    if (name not in _QUIET or cloning) and not containers.is_container_tool(name):
        yield from _arguments(words, name, frame)
    if name in _SHELLS and depth < _NESTING:
        yield from _quoted_scripts(words, frame, depth)


def _passed(words: Sequence[Word], frame: Frame) -> Iterator[Evidence]:
    """Variables that a launcher hands to its processes: ``-x NCCL_ALGO=Ring``, ``--export=ALL,A=b``."""
    for word in words:
        for part in word.text.removeprefix("--export=").split(","):
            match = _ASSIGNMENT.fullmatch(part)
            if match and match.group(1).isupper():
                yield from variable(match.group(1), match.group(2), word, frame)


def _tools(words: Sequence[Word], name: str, frame: Frame) -> Iterator[Evidence]:
    known = frame.vocabulary.tools
    if name in known:
        yield frame.evidence(
            EvidenceKind.TOOL, name, words[0].start, words[0].end, args=joined(words[1:]) or None
        )
    probing = name in _PROBES or (name == "command" and any(w.text == "-v" for w in words[1:2]))
    inside = containers.is_container_tool(name) and any(w.text == "exec" for w in words[1:3])
    if not probing and not inside and name not in _LAUNCHERS:
        return
    for index, word in enumerate(words[1:], 1):
        inner = word.text.rsplit("/", 1)[-1]
        if inner in known and not word.text.startswith("-"):
            yield frame.evidence(
                EvidenceKind.TOOL,
                inner,
                word.start,
                word.end,
                args=joined(words[index + 1 :]) or None,
                probe=True if probing else None,
            )
            if not probing:
                return


def _arguments(words: Sequence[Word], name: str, frame: Frame) -> Iterator[Evidence]:
    """What any argument may say: cache variables, nvcc options, libraries, toolkit folders, URLs."""
    nvcc = name == "nvcc" or bool(_NVCC_VARIABLE.fullmatch(words[0].text))
    yield from cache_options(words[1:], frame)
    yield from flags.nvcc_options(words[1:], frame, nvcc=nvcc)
    if nvcc or _COMPILERS.search(name):
        yield from flags.libraries(words[1:], frame)
        yield from flags.definitions(words[1:], frame)
    if name not in ("export", "declare", "setenv"):
        yield from flags.toolkit_folder((w for w in words if not _ASSIGNMENT.fullmatch(w.text)), frame)
    if not installs.is_installer(name) and not name.startswith("python"):
        for word in words[1:]:
            if "://" in word.text:
                yield from urls(word.text, word.start, frame, "clone" if name == "git" else name)


def _written(words: Sequence[Word], frame: Frame) -> Iterator[Evidence]:
    """A variable that is written to a profile or an environment file."""
    for word in words:
        match = _WRITTEN.fullmatch(word.text.strip())
        if match:
            yield from variable(match.group(1), match.group(2), word, frame)


def _quoted_scripts(words: Sequence[Word], frame: Frame, depth: int) -> Iterator[Evidence]:
    """``bash -c "..."`` and the like: the quoted text is a script of its own."""
    for word in words[1:]:
        source = frame.text.text[word.start : word.end]
        if len(source) > 2 and source[0] in "\"'" and source[-1] == source[0] and " " in source:
            yield from script(source[1:-1], word.start + 1, frame, depth + 1)


def _reads(command: Command, source: str, offset: int, seen: set[str], frame: Frame) -> Iterator[Evidence]:
    """Variables that are read and not set in this file, once each."""
    if command.words and command.words[0].text in ("echo", "printf"):
        return
    begin = command.start - offset
    for match in _READ.finditer(source, begin, max(begin, command.end - offset)):
        name = match.group(1)
        if name in seen or name in frame.assigned or name not in frame.vocabulary.env:
            continue
        if name.endswith("VERSION"):
            continue
        seen.add(name)
        at = offset + match.start()
        yield frame.evidence(EvidenceKind.ENV, name, at, at + len(match.group()), write=False)


def _modules(words: Sequence[Word], frame: Frame) -> Iterator[Evidence]:
    yield from clusters.modules(words, frame)


def _unset(words: Sequence[Word], frame: Frame) -> Iterator[Evidence]:
    for word in words[1:]:
        if is_watched_env(word.text, frame.vocabulary):
            yield frame.evidence(EvidenceKind.ENV, word.text, word.start, word.end, write=False, unset=True)


def _configure(words: Sequence[Word], frame: Frame) -> Iterator[Evidence]:
    """Options of configure scripts: ``--with-cuda=/usr/local/cuda``, ``--enable-cuda``."""
    for word in words[1:]:
        head, _, value = word.text.partition("=")
        if _WITH_VENDOR.fullmatch(head) and value not in ("no", "off", "0"):
            yield frame.evidence(EvidenceKind.COMMAND, head, word.start, word.end, value=value or "yes")


def _helm(words: Sequence[Word], frame: Frame) -> Iterator[Evidence]:
    """Charts that are installed by name: ``nvidia/gpu-operator``."""
    for word in words[1:]:
        chart = word.text.rsplit("/", 1)[-1]
        if "/" in word.text and "://" not in word.text and chart in frame.vocabulary.keys:
            yield frame.evidence(EvidenceKind.KEY, chart, word.start, word.end, value=word.text, role="chart")


def _make(words: Sequence[Word], frame: Frame) -> Iterator[Evidence]:
    """``make NVCC=/usr/local/cuda/bin/nvcc CUDA=1``."""
    for word in words[1:]:
        match = _ASSIGNMENT.fullmatch(word.text)
        if match:
            yield from variable(match.group(1), match.group(2), word, frame)


_HANDLERS: dict[str, Callable[[Sequence[Word], Frame], Iterator[Evidence]]] = {
    "module": _modules,
    "ml": _modules,
    "spack": _modules,
    "unset": _unset,
    "configure": _configure,
    "make": _make,
    "helm": _helm,
    "gmake": _make,
}
