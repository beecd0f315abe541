"""A real Chromium, one for all tests of the report."""

import shutil
from pathlib import Path

import pytest

import suffice.report

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser():
    """Yield Debian's Chromium without a window, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("Chromium is not installed (make engines)")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield found
        found.close()


@pytest.fixture
def page(browser):
    """Yield an empty page of its own, without cookies or storage of others."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def script(browser):
    """Yield a page that has the script of a model, and nothing else."""
    text = (Path(suffice.report.__file__).parent / "model.js").read_text(encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.add_script_tag(content=text)
    yield page
    context.close()
