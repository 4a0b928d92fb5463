"""Text from the scanned tree made fit to be shown: controls, bidi and invisible characters become visible,
halves of surrogate pairs (bytes of a name that are no UTF-8) become ``\\xNN``."""

import re
from functools import lru_cache

# C0, DEL, C1; soft hyphen and the other format characters (Cf), separators of lines and paragraphs,
# blank letters that look like nothing, halves of surrogate pairs, private tags.
_CONTROLS = "\x00-\x08\x0a-\x1f\x7f-\x9f"
_FORMATS = (
    "\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U000110bd\U000110cd\U00013430-\U00013455\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_HIDDEN = re.compile(f"[\t{_CONTROLS}{_FORMATS}]")
_HIDDEN_IN_CODE = re.compile(f"[{_CONTROLS}{_FORMATS}]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def visible(text: str) -> str:
    """The text on one line, with everything that can't be seen or that moves other text written out."""
    return text if text.isascii() and text.isprintable() else _HIDDEN.sub(_shown, text)


def visible_code(text: str) -> str:
    """Like ``visible``, but tabs stay: for lines of source, which are shown with their own width of tabs."""
    return text if text.isascii() and text.isprintable() else _HIDDEN_IN_CODE.sub(_shown, text)


def encodable(text: str) -> str:
    """The text without surrogate halves, everything else as it is: for writers of JSON."""
    return text if text.isascii() else _SURROGATE.sub(_shown, text)


def marked(line: str, start: int, end: int) -> tuple[str, int, int]:
    """A line of source made visible, with the offsets of a part of it moved accordingly."""
    start = max(0, min(start, len(line)))
    end = max(start, min(end, len(line)))
    shown = visible_code(line)
    if shown is line or len(shown) == len(line):
        return shown, start, end
    before, inside = visible_code(line[:start]), visible_code(line[start:end])
    return shown, len(before), len(before) + len(inside)


def _shown(match: "re.Match[str]") -> str:
    return _spelled(match.group())


@lru_cache(maxsize=4096)
def _spelled(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}"
