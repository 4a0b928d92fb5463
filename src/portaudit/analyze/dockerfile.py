"""Dockerfiles: stages and their base images, variables, commands, labels."""

import re
from collections.abc import Callable, Iterator

import msgspec

from portaudit.analyze import clusters, containers, flags
from portaudit.analyze.base import Text
from portaudit.analyze.branches import side_of
from portaudit.analyze.indexes import urls
from portaudit.analyze.jsonleaves import json_leaves
from portaudit.analyze.leaves import Malformed
from portaudit.analyze.shell import script
from portaudit.analyze.singularity import definition, is_definition
from portaudit.analyze.variables import variable
from portaudit.analyze.words import Frame, Word, frame_of, is_watched_env, place
from portaudit.model.evidence import Evidence, EvidenceKind, Guard, Vocabulary
from portaudit.model.places import Skip

_ESCAPE = re.compile(r"#[ \t]*escape[ \t]*=[ \t]*([`\\])[ \t]*\r?$", re.MULTILINE)
_KEYWORD = re.compile(
    r"[ \t]*(FROM|ARG|ENV|RUN|CMD|ENTRYPOINT|HEALTHCHECK|LABEL|COPY|ADD|SHELL|ONBUILD|USER|WORKDIR|EXPOSE"
    r"|VOLUME|STOPSIGNAL|MAINTAINER)[ \t]+",
    re.IGNORECASE,
)
_HEREDOC = re.compile(r"<<-?[ \t]*([\"']?)([A-Za-z_]\w{0,60})\1")
_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w{0,80})(?::?([-+])([^${}]{0,200}))?\}|\$([A-Za-z_]\w{0,80})")
_PAIR = re.compile(r"([A-Za-z_][\w.-]{0,120})=((?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.|[^\s\"'\\])*)", re.DOTALL)
_OPTION = re.compile(r"--([a-z-]{1,20})=?(\S*)[ \t]*")
_SUBSTITUTIONS = 20


class Instruction(msgspec.Struct, frozen=True):
    """One instruction; continuation marks and comment lines inside it are blanked, so offsets still hold."""

    keyword: str
    body: str
    start: int
    """Offset of the body."""
    heredocs: tuple[tuple[int, int], ...] = ()


def analyze(text: Text, vocabulary: Vocabulary) -> Iterator[Evidence | Skip]:
    """Evidence of a Dockerfile, in order."""
    frame = frame_of(text, vocabulary)
    found = definition(frame) if is_definition(text.text) else _Dockerfile(frame).run()
    yield from sorted(found, key=place)


def instructions(source: str) -> Iterator[Instruction]:
    """The instructions of a Dockerfile with their here-documents."""
    escape_mark = _ESCAPE.search(source[:400])
    escape = escape_mark.group(1) if escape_mark else "\\"
    at, size = 0, len(source)
    while at < size:
        end = _line_end(source, at)
        match = _KEYWORD.match(source, at, end)
        if match is None:
            at = end + 1
            continue
        body, after = _body(source, match.end(), escape)
        heredocs, after = _heredocs(source, body, after) if "<<" in body else ((), after)
        yield Instruction(match.group(1).upper(), body, match.end(), heredocs)
        at = after


def _body(source: str, start: int, escape: str) -> tuple[str, int]:
    """The logical line from ``start`` on and the offset behind it."""
    parts: list[str] = []
    at = start
    while True:
        end = _line_end(source, at)
        line = source[at:end]
        bare = line.rstrip()
        continues = bare.endswith(escape) and end < len(source)
        comment = bool(parts) and bare.lstrip().startswith("#")
        if comment:
            parts.append(" " * (len(line) + 1))
            continues = end < len(source)
        elif continues:
            parts.append(bare[:-1].ljust(len(line) + 1))
        elif parts and not bare and end < len(source):
            parts.append(" " * (len(line) + 1))
            continues = True
        else:
            parts.append(line)
        at = end + 1
        if not continues:
            return "".join(parts), at


def _heredocs(source: str, body: str, after: int) -> tuple[tuple[tuple[int, int], ...], int]:
    """Ranges of the here-documents that a logical line opens, and the offset behind the last."""
    ranges: list[tuple[int, int]] = []
    for match in _HEREDOC.finditer(body):
        begin = after
        while after < len(source):
            end = _line_end(source, after)
            line, stop, after = source[after:end].strip(), after, end + 1
            if line == match.group(2):
                ranges.append((begin, stop))
                break
    return tuple(ranges), after


def _line_end(source: str, start: int) -> int:
    end = source.find("\n", start)
    return len(source) if end < 0 else end


class _Dockerfile:
    """Stages and variables seen so far."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.file = frame
        self.globals: dict[str, str] = {}
        self.values: dict[str, str] = {}
        self.stages: dict[str, Frame] = {}
        self.sources: dict[str, Instruction] = {}

    def run(self) -> Iterator[Evidence]:
        for instruction in instructions(self.file.text.text):
            handler = _HANDLERS.get(instruction.keyword)
            if handler is not None:
                yield from handler(self, instruction)

    def from_(self, instruction: Instruction) -> Iterator[Evidence]:
        """``FROM [--platform=...] image [AS name]``."""
        words = _plain_words(instruction)
        words = [w for w in words if not w.text.startswith("--")]
        if not words:
            return
        name = words[2].text if len(words) > 2 and words[1].text.lower() == "as" else ""
        reference = self.expanded(words[0].text, self.globals)
        parent = self.stages.get(reference.lower())
        self.frame = self._stage_frame(name, reference, parent, words[0])
        self.values = {}
        if name:
            self.stages[name.lower()] = self.frame
        if parent is None and reference != "scratch" and "$" not in reference.partition(":")[0]:
            used = {m.group(1) or m.group(4) for m in _REFERENCE.finditer(words[0].text)}
            yield from containers.image(
                reference,
                words[0].start,
                words[0].end,
                self.frame,
                stage=name or None,
                argument=",".join(sorted(used)) or None,
            )

    def _stage_frame(self, name: str, reference: str, parent: Frame | None, word: Word) -> Frame:
        """A stage named after ROCm, or built on a ROCm image, is the ROCm side; stages built on it follow."""
        scope = f"stage:{name or reference}"
        if parent is not None and not side_of(name):
            return msgspec.structs.replace(parent, scope=scope)
        guard = self.file.guard
        if side_of(name) == "rocm" or reference.startswith("rocm/"):
            guard = Guard("rocm", f"stage {name or reference}", self.file.text.place(word.start)[0])
        return msgspec.structs.replace(self.file, scope=scope, guard=guard)

    def arg(self, instruction: Instruction) -> Iterator[Evidence]:
        for name, value, word in _pairs(instruction):
            if not self.stages and self.frame is self.file:
                self.globals[name] = self.expanded(value, self.globals)
            else:
                self.values[name] = self.expanded(value or self.globals.get(name, ""), self._known())
            if value and not _feeds_image(name, value) and is_watched_env(name, self.file.vocabulary):
                yield from self._variable(name, value, word, argument=True)
            elif "://" in value:
                yield from urls(value, max(word.start, word.end - len(value)), self.frame, "argument")

    def env(self, instruction: Instruction) -> Iterator[Evidence]:
        pairs = list(_pairs(instruction))
        if not pairs:
            words = _plain_words(instruction)
            if len(words) > 1:
                value = instruction.body[words[1].start - instruction.start :].strip()
                pairs = [(words[0].text, value, Word(value, words[0].start, words[-1].end))]
        for name, value, word in pairs:
            self.values[name] = self.expanded(value, self._known())
            yield from self._variable(name, value, word)

    def _variable(self, name: str, value: str, word: Word, **attrs: bool) -> Iterator[Evidence]:
        yield from variable(name, self.expanded(value, self._known()), word, self._assigned(), **attrs)

    def _assigned(self) -> Frame:
        names = frozenset(self.values) | frozenset(self.globals)
        return msgspec.structs.replace(self.frame, assigned=names)

    def run_(self, instruction: Instruction) -> Iterator[Evidence]:
        """A command in shell or list form, with its mount and device options."""
        frame = self._assigned()
        body, start = instruction.body, instruction.start
        while option := _OPTION.match(body):
            if option.group(1) == "device" and "nvidia" in option.group(2):
                yield frame.evidence(
                    EvidenceKind.FLAG, "--device=nvidia", start, start + option.end(), value=option.group(2)
                )
            body, start = body[option.end() :], start + option.end()
        body, start = body.lstrip(), start + len(body) - len(body.lstrip())
        if body.startswith("["):
            yield from self._list_form(body, start, frame)
            return
        if re.match(r"<<|(?:ba|z|k|da)?sh\b", body):
            for begin, end in instruction.heredocs:
                yield from script(self.file.text.text[begin:end], begin, frame)
        if not body.startswith("<<"):
            yield from script(body, start, frame)

    def _list_form(self, body: str, start: int, frame: Frame) -> Iterator[Evidence]:
        """``["nvidia-smi", "-L"]``: the words are there already; a shell's own argument is a script."""
        try:
            leaves = list(json_leaves(body.strip()))
        except Malformed:
            return
        words = [Word(leaf.text, start + leaf.start, start + leaf.end) for leaf in leaves]
        yield from argument_list(words, frame)

    def healthcheck(self, instruction: Instruction) -> Iterator[Evidence]:
        match = re.search(r"(?:^|\s)CMD\s+", instruction.body, re.IGNORECASE)
        if match:
            inner = Instruction(
                "RUN", instruction.body[match.end() :], instruction.start + match.end(), instruction.heredocs
            )
            yield from self.run_(inner)

    def label(self, instruction: Instruction) -> Iterator[Evidence]:
        for name, value, word in _pairs(instruction):
            if "nvidia" in name.lower():
                yield self.frame.evidence(
                    EvidenceKind.KEY, name, word.start, word.end, value=value, role="label"
                )

    def copy(self, instruction: Instruction) -> Iterator[Evidence]:
        """``COPY --from=image`` and ``ADD url``."""
        words = _plain_words(instruction)
        for word in words:
            source = word.text.removeprefix("--from=")
            if source != word.text:
                reference = self.expanded(source, self.globals)
                if reference.lower() not in self.stages and not reference.isdigit():
                    yield from containers.image(reference, word.start, word.end, self.frame, copied=True)
            elif "://" in word.text:
                yield from urls(word.text, word.start, self.frame, "ADD")
        yield from flags.toolkit_folder(words, self.frame)

    def onbuild(self, instruction: Instruction) -> Iterator[Evidence]:
        match = _KEYWORD.match(instruction.body)
        handler = _HANDLERS.get(match.group(1).upper()) if match else None
        if match and handler is not None and match.group(1).upper() not in ("FROM", "ONBUILD"):
            body = instruction.body[match.end() :]
            yield from handler(self, Instruction("", body, instruction.start + match.end()))

    def _known(self) -> dict[str, str]:
        return {**self.globals, **{k: v for k, v in self.values.items() if v}}

    def expanded(self, text: str, values: dict[str, str]) -> str:
        """A text with the values of build arguments put in, as far as they are known."""
        for _ in range(_SUBSTITUTIONS):
            match = next(
                (m for m in _REFERENCE.finditer(text[:2000]) if _value_of(m, values) is not None), None
            )
            if match is None:
                break
            text = text[: match.start()] + (_value_of(match, values) or "") + text[match.end() :]
        return text[:2000]


def argument_list(words: list[Word], frame: Frame) -> Iterator[Evidence]:
    """A command given as a list of arguments, as Dockerfiles, compose and Kubernetes do."""
    if not words:
        return
    first = words[0].text.rsplit("/", 1)[-1]
    if first in frame.vocabulary.tools:
        args = " ".join(w.text for w in words[1:])
        yield frame.evidence(EvidenceKind.TOOL, first, words[0].start, words[0].end, args=args or None)
    for word in words:
        if " " in word.text.strip() and not word.text.lstrip().startswith("-"):
            source = frame.text.text[word.start + 1 : max(word.start + 1, word.end - 1)]
            yield from script(source, word.start + 1, frame)
    if containers.is_container_tool(first):
        yield from containers.container_command(words, frame)[0]
    yield from clusters.scheduler_options(words[1:], frame) if clusters.is_scheduler(first) else ()


def _value_of(match: re.Match[str], values: dict[str, str]) -> str | None:
    name = match.group(1) or match.group(4)
    value = values.get(name) or None
    if match.group(2) == "+":
        return match.group(3) if value else ""
    if value is None and match.group(2) == "-":
        return match.group(3)
    return value if value is None or (f"${name}" not in value and f"${{{name}" not in value) else None


def _feeds_image(name: str, value: str) -> bool:
    """Versions and image names are told where they are used, in FROM."""
    return name.endswith(("VERSION", "IMAGE", "TAG", "_VER")) and "/" not in value.split(":")[0][:1]


def _plain_words(instruction: Instruction) -> list[Word]:
    found: list[Word] = []
    for match in re.finditer(r"\"([^\"]*)\"|'([^']*)'|\S+", instruction.body):
        text = match.group(1) or match.group(2) or match.group()
        start = instruction.start + match.start()
        found.append(Word(text, start, instruction.start + match.end()))
    return found


def _pairs(instruction: Instruction) -> Iterator[tuple[str, str, Word]]:
    """``NAME=value`` pairs, for ARG also a bare name."""
    found = False
    for match in _PAIR.finditer(instruction.body):
        before = instruction.body[: match.start()]
        if before and not before[-1].isspace():
            continue
        found = True
        value = match.group(2).strip()
        if value[:1] in "\"'" and value[-1:] == value[:1]:
            value = value[1:-1]
        start = instruction.start + match.start()
        yield match.group(1), value, Word(match.group(), start, instruction.start + match.end())
    if not found and instruction.keyword == "ARG":
        for word in _plain_words(instruction):
            yield word.text, "", word


_HANDLERS: dict[str, Callable[[_Dockerfile, Instruction], Iterator[Evidence]]] = {
    "FROM": _Dockerfile.from_,
    "ARG": _Dockerfile.arg,
    "ENV": _Dockerfile.env,
    "RUN": _Dockerfile.run_,
    "CMD": _Dockerfile.run_,
    "ENTRYPOINT": _Dockerfile.run_,
    "HEALTHCHECK": _Dockerfile.healthcheck,
    "LABEL": _Dockerfile.label,
    "COPY": _Dockerfile.copy,
    "ADD": _Dockerfile.copy,
    "ONBUILD": _Dockerfile.onbuild,
}
