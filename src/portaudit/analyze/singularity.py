"""Apptainer and Singularity definitions: base image, build and run sections."""

import re
from collections.abc import Iterator

from portaudit.analyze import containers
from portaudit.analyze.shell import script
from portaudit.analyze.words import Frame
from portaudit.model.evidence import Evidence

_BOOTSTRAP = re.compile(r"\s{0,200}(?:#[^\n]{0,200}\n\s{0,80}){0,20}Bootstrap[ \t]*:", re.IGNORECASE)
_FROM = re.compile(r"^From[ \t]*:[ \t]*(\S{1,300})", re.IGNORECASE | re.MULTILINE)
_SECTION = re.compile(r"^%([a-z]{1,20})\b[^\n]*$", re.MULTILINE)
_SCRIPTS = frozenset({"post", "environment", "runscript", "startscript", "test", "setup", "pre"})


def is_definition(source: str) -> bool:
    """Whether a text is a definition file rather than a Dockerfile."""
    return _BOOTSTRAP.match(source) is not None


def definition(frame: Frame) -> Iterator[Evidence]:
    """Evidence of a definition file."""
    source = frame.text.text
    for match in _FROM.finditer(source):
        yield from containers.image(match.group(1), match.start(), match.end(), frame)
    sections = list(_SECTION.finditer(source))
    for index, section in enumerate(sections):
        end = sections[index + 1].start() if index + 1 < len(sections) else len(source)
        if section.group(1) in _SCRIPTS:
            yield from script(source[section.end() : end], section.end(), frame)
