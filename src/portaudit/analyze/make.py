"""Makefiles: compilers, options, libraries, toolkit folders, recipes."""

import re
from collections.abc import Iterator

import msgspec

from portaudit.analyze import flags
from portaudit.analyze.base import Text
from portaudit.analyze.branches import Turn, regions
from portaudit.analyze.shell import script
from portaudit.analyze.variables import variable
from portaudit.analyze.words import Frame, Word, frame_of, place, split_at
from portaudit.model.evidence import Evidence, EvidenceKind, Vocabulary
from portaudit.model.places import Skip

_ASSIGNMENT = re.compile(
    r"[ \t]*(?:(?:export|override|private)[ \t]+)*([A-Za-z_][\w.-]{0,80})[ \t]*(?::{0,3}=|\?=|\+=|!=)[ \t]*"
)
_TARGET_ASSIGNMENT = re.compile(
    r"[^=:#\t][^=:#]{0,200}:[ \t]*(?=(?:export[ \t]+)?[A-Za-z_][\w.-]{0,80}[ \t]*[:?+]?=)"
)
_CONDITION = re.compile(r"[ \t]*(?:(else)[ \t]+)?(ifeq|ifneq|ifdef|ifndef)\b[ \t]*(.*)", re.DOTALL)
_CLOSING = re.compile(r"[ \t]*(else|endif)\b")
_EMPTY_SIDE = re.compile(r"\([ \t]*,|,[ \t]*\)[ \t]*$|\"\"|''")
_NVCC = re.compile(r"(?:^|[\s/\\\"'(])nvcc(?:\.exe)?(?=$|[\s\"')])")
_COMPILER_NAME = re.compile(
    r"(?:\w*_)?(?:NVCC|CC|CXX|CPP|LD|LINK|LINKER|COMPILER|GPUCC|CUCC|CUDACC|CUDAC|MPICC|MPICXX)\w*$"
)
_HOST_FLAGS = re.compile(r"(?:C|CXX|CPP|LD)?FLAGS|LIBS|LDLIBS|OPT\w*|CCFLAGS|OPTIONS|ARCH\w*", re.IGNORECASE)
# Makefiles use these names for their own ends, whatever tools read them from the environment.
_OWN_NAMES = re.compile(r"FLAGS|NVCC|ARGS|VERSION|JOBS|ARCH")
_SHELL = re.compile(r"\$[({]shell[ \t]+")
_READ = re.compile(r"\$[({]([A-Za-z_]\w{0,80})[)}]")


class _Line(msgspec.Struct, frozen=True, gc=False):
    """A logical line; its continuation marks are blanked, so offsets still hold."""

    text: str
    start: int


def analyze(text: Text, vocabulary: Vocabulary) -> Iterator[Evidence | Skip]:
    """Evidence of a Makefile, in order."""
    lines = list(_lines(text.text))
    frame = frame_of(text, vocabulary)
    assigned = {m.group(1) for line in lines if (m := _ASSIGNMENT.match(line.text))}
    frame = msgspec.structs.replace(frame, regions=regions(_turns(lines, text)), assigned=frozenset(assigned))
    nvcc_is_cc = any(
        m.group(1) in ("CC", "CXX", "CPP", "LD") and _NVCC.search(line.text[m.end() :])
        for line in lines
        if (m := _ASSIGNMENT.match(line.text))
    )
    found = [evidence for line in lines for evidence in _line(line, nvcc_is_cc, frame)]
    found.extend(_reads(frame))
    yield from sorted(found, key=place)


def _lines(source: str) -> Iterator[_Line]:
    at, size = 0, len(source)
    while at < size:
        start, parts = at, []
        while at < size:
            end = source.find("\n", at)
            end = size if end < 0 else end
            line = source[at:end]
            at = end + 1
            bare = line.rstrip()
            if not bare.endswith("\\"):
                parts.append(line)
                break
            parts.append(bare[:-1].ljust(len(line) + 1))
        yield _Line("".join(parts), start)


def _turns(lines: list[_Line], text: Text) -> Iterator[Turn]:
    for line in lines:
        number, end = text.place(line.start)[0], line.start + len(line.text)
        if match := _CONDITION.match(line.text):
            also, word, condition = match.groups()
            negative = word in ("ifneq", "ifndef")
            if word in ("ifeq", "ifneq") and _EMPTY_SIDE.search(condition.strip()):
                negative = not negative
            yield Turn(
                "elif" if also else "if",
                line.start,
                end,
                f"NOT {condition}" if negative else condition,
                number,
            )
        elif closing := _CLOSING.match(line.text):
            yield Turn("else" if closing.group(1) == "else" else "end", line.start, end, "", number)


def _line(line: _Line, nvcc_is_cc: bool, frame: Frame) -> Iterator[Evidence]:
    text, start = line.text, line.start
    if not text.strip() or text.lstrip().startswith("#"):
        return
    if text.startswith("\t"):
        yield from _recipe(text, start, frame)
        return
    if target := _TARGET_ASSIGNMENT.match(text):
        text, start = text[target.end() :], start + target.end()
    match = _ASSIGNMENT.match(text)
    if match:
        value = text[match.end() :].partition(" #")[0]
        yield from _assignment(match.group(1), value, start, start + match.end(), nvcc_is_cc, frame)
    elif ";" in text and ":" in text.partition(";")[0]:
        recipe = text.index(";") + 1
        yield from _recipe(text[recipe:], start + recipe, frame)
    elif text.lstrip().startswith("$("):
        yield from flags.nvcc_options(split_at(text, start, " \t,()"), frame)


def _assignment(
    name: str, value: str, start: int, value_start: int, nvcc_is_cc: bool, frame: Frame
) -> Iterator[Evidence]:
    words = split_at(value, value_start)
    end = words[-1].end if words else value_start
    compiler = bool(_NVCC.search(value)) and bool(_COMPILER_NAME.match(name.upper()))
    if compiler:
        program = next((w.text for w in words if _NVCC.search(w.text)), "")
        yield frame.evidence(
            EvidenceKind.TOOL,
            "nvcc",
            start,
            end,
            role="compiler",
            variable=name,
            path=True if "/" in program or "\\" in program else None,
            probe=True if _SHELL.search(value) else None,
        )
    elif name in frame.vocabulary.env and not _OWN_NAMES.search(name):
        yield from variable(name, value.strip(), Word(value, start, end), frame)
    else:
        yield from flags.toolkit_folder(words, frame)
    for shell in () if compiler else _SHELL.finditer(value):
        inner = value[shell.end() :]
        close = inner.rfind(")")
        yield from script(inner[: close if close >= 0 else len(inner)], value_start + shell.end(), frame)
    about_nvcc = "NVCC" in name.upper() or "CUDA" in name.upper() or "GENCODE" in name.upper()
    nvcc = about_nvcc or compiler or (nvcc_is_cc and bool(_HOST_FLAGS.search(name)))
    yield from flags.nvcc_options(words, frame, nvcc=nvcc)
    yield from flags.libraries((w for w in words if w.text.startswith("-l") or ".so" in w.text), frame)
    yield from flags.definitions(words, frame)


def _recipe(text: str, start: int, frame: Frame) -> Iterator[Evidence]:
    """A command of a rule; nvcc in it is told apart from nvcc in a script that people run."""
    body = text.lstrip(" \t@-+")
    for evidence in script(body, start + len(text) - len(body), frame):
        if evidence.kind is EvidenceKind.TOOL and evidence.name == "nvcc":
            attrs = tuple(sorted((*evidence.attrs, ("role", "recipe"))))
            evidence = msgspec.structs.replace(evidence, attrs=attrs)
        yield evidence


def _reads(frame: Frame) -> Iterator[Evidence]:
    """Variables of the environment that are used and not set here, once each."""
    seen: set[str] = set()
    for match in _READ.finditer(frame.text.text):
        name = match.group(1)
        known = name in frame.vocabulary.env and not _OWN_NAMES.search(name)
        if name in seen or name in frame.assigned or not known:
            continue
        seen.add(name)
        yield frame.evidence(EvidenceKind.ENV, name, match.start(), match.end(), write=False)
