"""A Chromium of the system, driven without network; the drivers' own browsers are not used."""

import os
import pathlib
import shutil

import pytest

from portaudit.render.registry import RenderContext, render

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests; each page gets a context of its own, which shares nothing."""
    named = os.environ.get("PORTAUDIT_CHROMIUM")
    binary = named or shutil.which("chromium") or shutil.which("chromium-browser")
    if not binary:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("Chromium is not installed")
    if os.environ.get("CI"):
        import playwright.sync_api as sync_api
    else:
        sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=binary, headless=True, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Writes the page of a report made by a function, once for all tests."""
    folder = tmp_path_factory.mktemp("reports")

    def write(make):
        path = folder / f"{make.__name__}.html"
        if not path.exists():
            chunks = render("html", make(), RenderContext(generated_at="2026-12-01T10:00:00Z"))
            path.write_text("".join(chunks), encoding="utf-8", newline="")
        return path

    return write


@pytest.fixture
def open_report(chromium, written):
    """Opens a report from disk, logs what the page does, and waits until it is ready."""
    contexts = []

    def open_page(make, anchor="", **options):
        context = chromium.new_context(
            **{"viewport": {"width": 1280, "height": 800}, "offline": True, **options}
        )
        contexts.append(context)
        page = context.new_page()
        page.log = {"requests": [], "console": [], "errors": [], "dialogs": []}
        page.on("request", lambda request: page.log["requests"].append(request.url))
        page.on("console", lambda message: page.log["console"].append(message.text))
        page.on("pageerror", lambda error: page.log["errors"].append(str(error)))
        page.on("dialog", lambda dialog: (page.log["dialogs"].append(dialog.message), dialog.dismiss()))
        page.goto(pathlib.Path(written(make)).as_uri() + anchor)
        if options.get("java_script_enabled", True):
            page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
