import json
import re
import string

from portaudit import resources
from portaudit.model.evidence import Confidence
from portaudit.model.facts import Element, Level, Verdict
from portaudit.model.findings import State
from portaudit.render.words import words

FOLDER = resources.templates()


def used_keys():
    """Keys that templates, scripts and renderers write out in full."""
    python = (resources.root() / "src/portaudit/render").glob("*.py")
    for path in [*FOLDER.glob("html/**/*.j2"), *python]:
        yield from re.findall(
            r"""\b(?:w|say)\(\s*["']([a-z][\w.-]*[\w])["']\s*[,)]""", path.read_text("utf-8")
        )
    for path in FOLDER.glob("html/script/*.js"):
        yield from re.findall(r"""\bsay\("([a-z][\w.-]*\w)"\s*[,)]""", path.read_text("utf-8"))


def test_no_text_is_missing():
    catalogue = words().catalogue
    assert [key for key in used_keys() if key not in catalogue] == []
    for prefix, values in (
        ("verdict", Verdict),
        ("level", Level),
        ("confidence", Confidence),
        ("element", Element),
        ("state", State),
    ):
        assert [v.value for v in values if f"{prefix}.{v.value}" not in catalogue] == []


def test_every_language_has_the_same_keys_and_placeholders():
    first = words().catalogue
    for path in (FOLDER / "words").glob("*.json"):
        other = json.loads(path.read_text("utf-8"))
        assert other.keys() == first.keys()
        for key, text in other.items():
            assert placeholders(text) == placeholders(first[key]), key


def placeholders(text):
    forms = text.values() if isinstance(text, dict) else [text]
    return {name for form in forms for _, name, _, _ in string.Formatter().parse(form) if name} - {"n"}


def test_counts_agree_in_number():
    say = words()
    assert say("count.files", n=1) == "1 file"
    assert say("count.files", n=0) == "0 files"
    assert say("count.files", n=12345) == "12,345 files"


def test_braces_of_a_tree_are_not_placeholders():
    assert "{n} {0.__class__}" in words()("text.unread", n=2, first="{n} {0.__class__}")
