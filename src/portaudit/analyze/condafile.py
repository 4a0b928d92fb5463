"""Conda environments and conda lock files: packages, pip sections, channels, variables."""

import re
from collections.abc import Iterator

import msgspec

from portaudit.analyze.indexes import channel
from portaudit.analyze.installs import conda_requirement, pip_words, requirement
from portaudit.analyze.leaves import Leaf, Malformed
from portaudit.analyze.variables import variable
from portaudit.analyze.words import Frame, Word, split_at
from portaudit.analyze.yamlleaves import yaml_leaves
from portaudit.model.evidence import Confidence, Evidence
from portaudit.model.places import Skip

_ITEM = re.compile(r"^[ \t]*-[ \t]+([^\s#][^#\r\n]{0,200})", re.MULTILINE)


def conda_file(frame: Frame) -> Iterator[Evidence | Skip]:
    """Evidence of an environment file; one that is not YAML is read line by line."""
    leaves: list[Leaf] = []
    try:
        leaves.extend(leaf for _, leaf in yaml_leaves(frame.text.text))
    except Malformed as error:
        line = frame.text.place(error.offset)[0]
        yield Skip(frame.text.path, "syntax", f"line {line}: {error}", whole=False)
        yield from _lines(msgspec.structs.replace(frame, confidence=Confidence.LOW))
        return
    for leaf in leaves:
        yield from conda_leaf(leaf, frame)


def conda_leaf(leaf: Leaf, frame: Frame) -> Iterator[Evidence]:
    """Evidence of one scalar of an environment file."""
    path = leaf.path
    word = Word(leaf.text, leaf.start, leaf.end)
    if path[:1] == ("channels",):
        yield from channel(word, frame)
    elif path[:1] == ("dependencies",) and "pip" in path:
        yield from _pip(leaf, frame)
    elif path[:1] == ("dependencies",):
        yield from conda_requirement(word, frame, section="dependencies")
    elif path[:1] == ("variables",):
        yield from variable(leaf.key, leaf.text, Word(leaf.text, leaf.key_start, leaf.end), frame)
    elif "requirements" in path and isinstance(path[-1], int):
        yield from conda_requirement(word, frame, section="recipe")
    elif path[:1] == ("package",) and len(path) > 2 and path[-1] == "name":
        yield from conda_requirement(word, frame, section="lock")


def _pip(leaf: Leaf, frame: Frame) -> Iterator[Evidence]:
    if leaf.text.lstrip().startswith("-"):
        yield from pip_words(split_at(leaf.text, leaf.inner_start), frame, section="dependencies")
    else:
        yield from requirement(leaf.text, leaf.start, leaf.end, frame, section="dependencies", manager="pip")


def _lines(frame: Frame) -> Iterator[Evidence]:
    for match in _ITEM.finditer(frame.text.text):
        text = match.group(1).rstrip().strip("\"'")
        word = Word(text, match.start(1), match.start(1) + len(match.group(1).rstrip()))
        if "==" in text:
            yield from requirement(text, word.start, word.end, frame, manager="pip")
        else:
            yield from conda_requirement(word, frame)
