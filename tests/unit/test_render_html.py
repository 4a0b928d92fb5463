import base64
import gzip
import json
import re
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from portaudit.errors import UsageError
from portaudit.render import island as islands
from portaudit.render.registry import RenderContext, formats, render
from tests.unit import report_factory as factory

CONTEXT = RenderContext(generated_at="2026-12-01T10:00:00Z")


class Page(HTMLParser):
    """Elements, their attributes, and the text of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.raw, self.text, self._open = [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._open = (tag, dict(attrs))
            self.raw.append([self._open, ""])

    def handle_endtag(self, tag):
        if self._open and tag == self._open[0]:
            self._open = None

    def handle_data(self, data):
        if self._open:
            self.raw[-1][1] += data
        else:
            self.text.append(data)


def page(report):
    return "".join(render("html", report, CONTEXT))


def raw(parsed, tag, kind=None):
    return [text for (name, attrs), text in parsed.raw if name == tag and attrs.get("type") == kind]


def data(parsed):
    packed = raw(parsed, "script", "application/gzip")
    if packed:
        return json.loads(gzip.decompress(base64.b64decode(packed[0])))
    return json.loads(raw(parsed, "script", "application/json")[0])


@pytest.mark.parametrize("make", [factory.small, factory.hostile, factory.empty])
def test_policy_allows_our_script_and_style_and_nothing_else(make):
    parsed = Page(page(make()))
    (policy,) = [
        a["content"]
        for t, a in parsed.elements
        if t == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'; ")
    for tag in ("script", "style"):
        (text,) = raw(parsed, tag)
        digest = base64.b64encode(sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy and "http" not in policy


@pytest.mark.parametrize("make", [factory.small, factory.hostile])
def test_markup_has_no_handlers_no_inline_styles_and_no_foreign_addresses(make):
    for tag, attributes in Page(page(make())).elements:
        assert tag not in ("img", "iframe", "object", "embed", "base", "form-action")
        for name, value in attributes.items():
            assert not name.startswith("on") and name != "style"
            if name in ("href", "src"):
                allowed = ("#", "data:,", "https://rocm.docs.amd.com/")
                assert value.startswith(allowed), value


def test_hostile_names_stay_text():
    text = page(factory.hostile())
    assert "<img src=x" not in text and "<script>alert" not in text
    assert len(re.findall("</script>", text)) == 2
    for character in "\x00\x1b\x07\u202e\u2066\u200b\ufeff\u2028\u2029\x85":
        assert character not in text
    assert data(Page(text))["tables"]["subject"][3] == "a\\u{202e}gnp.exe\\u{2066}b"


def test_without_script_all_that_decides_is_there():
    text = " ".join(Page(page(factory.small())).text)
    for part in (
        "demo has blockers for ROCm 7.2 on gfx942 (MI300X)",
        "optixTrace",
        "wgmma.mma_async",
        "src/core/file5.cu:15",
        "src/rt",
        "data/blob.cu",
        "too large",
        "cudaFrobnicate",
        "Ballot result kept in 32 bits",
        "2026-11-30",
        "Operating system",
        "The list of findings needs JavaScript",
    ):
        assert part in text


def test_island_holds_every_finding_once():
    report = factory.small()
    content = data(Page(page(report)))
    assert content["fingerprints"] == [f.fingerprint for f in report.findings]
    assert all(len(column) == len(report.findings) for column in content["columns"].values())
    row = 2
    code = content["tables"]["code"][content["columns"]["code"][row]]
    assert code[content["columns"]["mark"][row] : content["columns"]["mark_end"][row]] == "__ballot_sync"


def test_large_data_travels_compressed(monkeypatch):
    plain = data(Page(page(factory.small())))
    monkeypatch.setattr(islands, "PACKED_ABOVE", 100)
    first, second = page(factory.small()), page(factory.small())
    assert first == second
    assert data(Page(first)) == plain


def test_size_at_ten_thousand_findings():
    size = len(page(factory.large(10000)).encode())
    assert size < 3_000_000


def test_anchors_lead_somewhere():
    parsed = Page(page(factory.small()))
    ids = [a["id"] for _, a in parsed.elements if "id" in a]
    assert len(ids) == len(set(ids))
    targets = {
        a["href"][1:].partition("?")[0] for t, a in parsed.elements if t == "a" and a["href"].startswith("#")
    }
    assert {t for t in targets if not t.startswith("f-")} <= set(ids)
    prints = {f.fingerprint for f in factory.small().findings}
    assert {t[2:] for t in targets if t.startswith("f-")} <= prints


def test_formats_are_known_by_name():
    assert formats()[0] == "text"
    with pytest.raises(UsageError, match="known: text, html, json"):
        render("pdf", factory.small(), CONTEXT)
