"""The page in a real Chromium: it works by mouse and keyboard, fits a phone, and can be read."""

import pandas as pd
import pytest

from report_models import (
    EVIL,
    churn,
    evil,
    later_churn,
    many_classes,
    messages,
    regression,
)
from suffice import write_report

PAGES = {
    "table": lambda path: write_report(churn(), path),
    "documents": lambda path: write_report(messages(), path),
    "many classes": lambda path: write_report(many_classes(), path),
    "regression": lambda path: write_report(regression(), path),
    "two models": lambda path: write_report(churn(), path, against=later_churn()),
    "names that are markup": lambda path: write_report(evil(), path),
}

# Elements that stick out to the right, those that scroll by themselves aside.
OVERFLOW = """() => document.documentElement.scrollWidth > innerWidth
  ? [...document.querySelectorAll('body *')]
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
      .filter((one) => !one.closest('.scroll'))
      .map((one) => one.outerHTML.slice(0, 120))
  : []"""

# Text whose contrast with what is behind it is below the ratio that WCAG's level AA asks for.
CONTRAST = """() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const luminance = ([r, g, b]) => {
    const curve = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const linear = [r, g, b].map((v) => curve(v / 255));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const behind = (node) => {
    for (let one = node; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [], skip = ['SCRIPT', 'STYLE', 'NOSCRIPT', 'title'];
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some((one) => one.nodeType === 3 && one.textContent.trim());
    const box = node.getBoundingClientRect();
    if (!own || !box.width || skip.includes(node.tagName)) continue;
    const style = getComputedStyle(node);
    const text = parse(node instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [luminance(text), luminance(behind(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const what = `${node.tagName}.${node.getAttribute('class')} ${node.textContent.slice(0, 40)}`;
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${what}`);
  }
  return poor;
}"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return {name: make(folder / f"{name.replace(' ', '_')}.html") for name, make in PAGES.items()}


@pytest.fixture
def opened(browser, files):
    """Return a function that opens a page; at the end nothing may have gone wrong in any."""
    contexts, wrong = [], []

    def open_page(name, width=1280, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda one: wrong.append(one.text))
        page.on("pageerror", lambda one: wrong.append(str(one)))
        page.on("dialog", lambda one: wrong.append(one.message))
        page.on("request", lambda one: one.url.startswith("file:") or wrong.append(one.url))
        page.goto(files[name].as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.mark.parametrize("name", PAGES)
def test_it_fits_a_phone_and_can_be_read_in_light_and_dark(opened, name):
    phone = opened(name, 360, "dark")
    assert phone.evaluate(OVERFLOW) == []
    assert phone.evaluate(CONTRAST) == []
    phone.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert phone.evaluate(OVERFLOW) == []
    phone.click("#theme")
    assert phone.evaluate(CONTRAST) == []


def test_the_slider_changes_headline_and_table(opened):
    page = opened("table")
    before = page.inner_text("#headline")
    counts = {}
    for threshold in (0, 30, 90):
        page.fill("#threshold", str(threshold))
        counts[threshold] = [
            page.inner_text(f"#cell-{one}") for one in ("found", "missed", "alarm")
        ]
    assert page.inner_text("#headline") != before
    assert counts[0][1] == "0"
    assert int(counts[30][0]) > int(counts[90][0])
    total = sum(int(one) for one in counts[90][:2])
    assert total == int(churn().tally_.weights[0])
    page.fill("#threshold", "100")
    page.select_option("#class-menu", label="stays")
    assert "stays" in page.inner_text("#headline")
    assert page.locator("figure.calibration:visible").count() == 1
    assert "stays" in page.inner_text("figure.calibration:visible h3")


def test_costs_set_the_cheapest_threshold(opened):
    page = opened("table")
    page.fill("#cost-miss", "9")
    page.click("#by-costs")
    assert page.input_value("#threshold") == "10"
    _, missed, alarm = (
        int(page.inner_text(f"#cell-{one}")) for one in ("found", "missed", "alarm")
    )
    cost = float(page.inner_text("#expected-cost").split(": ")[1].rstrip("."))
    rows = churn().tally_.weights.sum()
    assert cost == pytest.approx(100 * (9 * missed + alarm) / rows, rel=5e-3)


def test_a_cost_matrix_recomputes_the_confusion_table(opened):
    page = opened("many classes")
    before = page.inner_text("#all-classes")
    page.click("summary:has-text('Cost matrix')")
    page.fill("[data-cost='0,1']", "50")
    after = page.inner_text("#all-classes")
    assert after != before
    # A row of the first class is hardly named the second any more.
    assert page.inner_text("[data-cell='0,1']") == "0"
    page.fill("[data-cost='0,1']", "1")
    assert page.inner_text("#all-classes") == before


def test_tables_sort_by_number_and_by_name(opened):
    page = opened("table")
    table = page.locator("table.sortable", has_text="right if named").first
    button = table.locator("thead button", has_text="rows")
    button.click()
    numbers = [
        int(one.replace(",", ""))
        for one in table.locator("tbody td:nth-child(2)").all_inner_texts()
    ]
    assert numbers == sorted(numbers, reverse=True)
    button.click()
    numbers = [
        int(one.replace(",", ""))
        for one in table.locator("tbody td:nth-child(2)").all_inner_texts()
    ]
    assert numbers == sorted(numbers)
    assert table.locator("th[aria-sort='ascending']").inner_text().startswith("rows")


def shown_probability(page, label):
    rows = page.locator("#answer .amount")
    for number in range(rows.count()):
        if rows.nth(number).locator("span").first.inner_text() == label:
            return rows.nth(number).locator(".figure").inner_text()
    return None


def test_the_form_answers_as_the_model_does(opened):
    page = opened("table")
    row = {
        "contract": "monthly",
        "charges": 95.5,
        "calls": 4,
        "senior": True,
        "paid": None,
        "usage": None,
        "note": "cancel it please",
    }
    page.select_option("[data-column=contract]", label="monthly")
    page.select_option("[data-column=senior]", label="yes")
    for name in ("charges", "calls", "note"):
        page.fill(f"[data-column={name}]", str(row[name]))
    for name in ("paid", "usage"):
        page.fill(f"[data-column={name}]", "")
    proba = churn().predict_proba([row])[0]
    assert shown_probability(page, "leaves") == f"{100 * proba[0]:.1f}\u202f%"
    assert "contract = monthly" in page.inner_text("#reasons")
    page.select_option("[data-column=contract]", label="(another level)")
    other = churn().predict_proba([row | {"contract": "weekly"}])[0]
    assert shown_probability(page, "leaves") == f"{100 * other[0]:.1f}\u202f%"


def test_a_document_is_answered_as_the_model_does(opened):
    page = opened("documents")
    page.fill("[data-column=document]", "cheap pills for lunch")
    proba = messages().predict_proba(["cheap pills for lunch"])[0]
    assert shown_probability(page, "spam") == f"{100 * proba[1]:.1f}\u202f%"


def test_a_number_is_predicted_with_its_standard_deviation(opened):
    page = opened("regression")
    for name, value in (("age", 1.5), ("income", -0.5), ("noise", 0.0)):
        page.fill(f"[data-column={name}]", str(value))
    row = pd.DataFrame({"age": [1.5], "income": [-0.5], "noise": [0.0]})
    mean, sd = regression().predict(row, return_std=True)
    assert f"price: {mean[0]:.4g}" in page.inner_text("#answer")
    assert f"± {sd[0]:.4g}" in page.inner_text("#answer")


def test_the_keyboard_alone_suffices(opened):
    page = opened("table")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    seen = []
    for _ in range(80):
        page.keyboard.press("Tab")
        one = page.evaluate(
            "(() => { const one = document.activeElement, style = getComputedStyle(one);"
            " return [one.id || one.dataset.column || one.tagName, style.outlineStyle,"
            " parseFloat(style.outlineWidth)]; })()"
        )
        seen.append(one[0])
        assert one[1] != "none", one
        assert one[2] >= 2, one
        if one[0] == "threshold":
            page.keyboard.press("ArrowRight")
            assert page.inner_text("#threshold-shown") == "51\u202f%"
        if one[0] == "contract":
            page.keyboard.press("y")
            assert (
                page.evaluate("document.activeElement.selectedOptions[0].textContent") == "yearly"
            )
        if one[0] == "SUMMARY":
            break
    wanted = {"class-menu", "threshold", "cost-miss", "by-costs", "contract", "charges", "note"}
    assert wanted <= set(seen)


def test_names_that_are_markup_are_shown_as_text(opened):
    page = opened("names that are markup")
    assert EVIL in page.inner_text("#class-menu")
    assert EVIL in page.inner_text("#what-if-form")
    assert page.locator("img").count() == 0


def test_the_policy_stops_scripts_that_get_in(opened, browser, files):
    context = browser.new_context()
    page = context.new_page()
    page.goto(files["table"].as_uri())
    page.evaluate(
        "(() => { const one = document.createElement('script');"
        " one.textContent = 'window.hurt = 1'; document.body.append(one); })()"
    )
    assert page.evaluate("window.hurt") is None
    assert (
        page.evaluate("fetch('https://example.org').then(() => 'sent', () => 'refused')")
        == "refused"
    )
    context.close()


def test_it_prints_in_light_colours_with_all_that_is_folded(opened):
    page = opened("table", scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.is_visible("nav")
    assert len(page.pdf()) > 20_000
