"""Templates in YAML (Helm, Jinja, CI expressions): blanked for the parser, their conditions kept."""

import re
from collections.abc import Iterator

from portaudit.analyze.base import Text
from portaudit.analyze.branches import Turn

_TAG = re.compile(r"\{\{.{0,4000}?\}\}|\{%.{0,4000}?%\}", re.DOTALL)
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
    parts: list[str] = []
    at = 0
    for match in _TAG.finditer(source):
        parts.append(source[at : match.start()])
        line_start = source.rfind("\n", 0, match.start()) + 1
        line_end = source.find("\n", match.end())
        around = (
            source[line_start : match.start()] + source[match.end() : line_end if line_end >= 0 else None]
        )
        alone = not _TAG.sub("", around).strip()
        parts.append(re.sub(r"[^\n]", " " if alone else "X", match.group()))
        at = match.end()
    parts.append(source[at:])
    return "".join(parts)


def template_turns(source: str, text: Text) -> Iterator[Turn]:
    """Conditions of the template; loops and blocks open and close as well."""
    for match in _TAG.finditer(source):
        word = _WORDS.match(match.group())
        if word is None:
            continue
        name = re.sub(r"\s+", " ", word.group(1))
        step = _STEPS.get(name) or ("end" if name.startswith("end") else "if")
        condition = match.group()[word.end() : -2] if step in ("if", "elif") and name != "range" else ""
        yield Turn(step, match.start(), match.end(), condition, text.place(match.start())[0])


def with_stars(text: str) -> str:
    """A value with its variables as stars, or as their default where they have one."""
    return _VARIABLE.sub("*", _DEFAULT.sub(r"\1", text))
