"""Templates in YAML (Helm, Jinja, CI expressions): blanked for the parser, their conditions kept."""

import re
from collections.abc import Iterator

from portaudit.analyze.base import Text
from portaudit.analyze.branches import Turn

_TAG_LIMIT = 4000
_WORDS = re.compile(
    r"\{[{%]-?[ \t]*(else[ \t]+if|elif|if|else|end\w*|range|with|define|block|for|macro)\b[ \t]*"
)
_STEPS = {"if": "if", "elif": "elif", "else if": "elif", "else": "else"}
_DEFAULT = re.compile(r"\$\{[A-Za-z_]\w{0,80}:?-([^${}]{1,300})\}")
_VARIABLE = re.compile(
    r"\$\{\{.{0,400}?\}\}|\{\{.{0,400}?\}\}|\$\{[^}]{0,200}\}|\$\([A-Za-z_]\w{0,80}\)|\$[A-Za-z_]\w{0,80}"
)


def has_templates(source: str) -> bool:
    """Whether a text has tags of a template language."""
    return "{{" in source or "{%" in source


def masked(source: str) -> str:
    """The same text, tags blanked: a line of tags only becomes empty, a tag inside a line becomes a word."""
    pieces: list[tuple[str, bool]] = []
    at = 0
    for start, end in tags(source):
        pieces.append((source[at:start], False))
        pieces.append((source[start:end], True))
        at = end
    pieces.append((source[at:], False))
    return "".join(_filled(pieces))


def _filled(pieces: list[tuple[str, bool]]) -> Iterator[str]:
    """Pieces with their tags filled; what fills them is known at the end of their line."""
    line: list[tuple[str, bool]] = []
    for text, is_tag in pieces:
        if is_tag:
            line.append((text, True))
            continue
        head, newline, rest = text.partition("\n")
        line.append((head + newline, False))
        if newline:
            yield from _line_filled(line)
            last = rest.rfind("\n") + 1
            yield rest[:last]
            line = [(rest[last:], False)]
    yield from _line_filled(line)


def _line_filled(line: list[tuple[str, bool]]) -> Iterator[str]:
    rest = "".join(text for text, is_tag in line if not is_tag).strip()
    alone = not rest or rest.startswith("#")
    for text, is_tag in line:
        yield re.sub(r"[^\n]", " " if alone else "X", text) if is_tag else text


def tags(source: str) -> Iterator[tuple[int, int]]:
    """Ranges of the template tags."""
    at = 0
    last = {"{{": source.rfind("}}"), "{%": source.rfind("%}")}
    for opening in re.finditer(r"\{[{%]", source):
        start, kind = opening.start(), opening.group()
        if start < at or last[kind] < start:
            continue
        end = source.find("}}" if kind == "{{" else "%}", start + 2, start + _TAG_LIMIT)
        if end >= 0:
            at = end + 2
            yield start, at


def template_turns(source: str, text: Text) -> Iterator[Turn]:
    """Conditions of the template; loops and blocks open and close as well."""
    for start, end in tags(source):
        tag = source[start:end]
        word = _WORDS.match(tag)
        if word is None:
            continue
        name = re.sub(r"\s+", " ", word.group(1))
        step = _STEPS.get(name) or ("end" if name.startswith("end") else "if")
        condition = tag[word.end() : -2] if step in ("if", "elif") and name != "range" else ""
        yield Turn(step, start, end, condition, text.place(start)[0])


def with_stars(text: str) -> str:
    """A value with its variables as stars, or as their default where they have one."""
    return _VARIABLE.sub("*", _DEFAULT.sub(r"\1", text))
