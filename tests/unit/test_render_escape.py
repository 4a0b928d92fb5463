import sys
import unicodedata

import pytest

from portaudit.render.escape import encodable, marked, visible, visible_code


def test_every_control_format_and_separator_is_written_out():
    hidden = [
        c
        for c in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")
    ]
    assert [hex(ord(c)) for c in hidden if visible(c) == c] == []
    assert all(visible(c).isascii() for c in hidden)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain name.cu", "plain name.cu"),
        ("日本語 ñ 𝒳", "日本語 ñ 𝒳"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\u202eb", "a\\u{202e}b"),
        ("bad\udcff", "bad\\xff"),
        ("half\ud800", "half\\u{d800}"),
        ("two\nlines\r\n", "two\\x0alines\\x0d\\x0a"),
        ("\u3164", "\\u{3164}"),
    ],
)
def test_visible(text, shown):
    assert visible(text) == shown


def test_code_keeps_its_tabs_and_nothing_else():
    assert visible_code("\tx\x0b\u200b") == "\tx\\x0b\\u{200b}"


def test_marks_move_with_what_was_written_out():
    line = "a\u202eb call() \x1b end"
    start = line.index("call")
    shown, first, last = marked(line, start, start + 4)
    assert shown[first:last] == "call"
    assert marked("short", 3, 99) == ("short", 3, 5)
    assert marked("short", 50, 60) == ("short", 5, 5)


def test_json_loses_only_what_it_can_not_hold():
    assert encodable("a\u202e\x1b\udc80") == "a\u202e\x1b\\x80"
