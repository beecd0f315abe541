"""The form in which a row can be typed: its place on the page, and the model that answers there."""

from __future__ import annotations

from typing import Any

from suffice.errors import InputError
from suffice.report.browser_model import browser_model
from suffice.report.html import element, markup
from suffice.report.json_numbers import compress
from suffice.report.section import Section, note
from suffice.text import TextClassifier

# Letters of a model, compressed, that a page has room for.
MAX_MODEL_LETTERS = 720_000


def what_if(model: Any, targets: list[str] | None = None) -> tuple[Section, str | None]:
    """Return the section of the form, and the model for the page's script if it can answer.

    Parameters
    ----------
    model : fitted
    targets : names of the targets of a regression, optional
    """
    try:
        found = browser_model(model)
    except InputError as reason:
        return _without_form(str(reason)), None
    if targets is not None:
        found["targets"] = targets
    packed = compress(found)
    if len(packed) > MAX_MODEL_LETTERS:
        size = f"{len(packed) / 1e6:.1f} MB"
        return _without_form(f"The model takes {size}, which is too much for a page."), None
    return _form(documents=isinstance(model, TextClassifier)), packed


def _without_form(reason: str) -> Section:
    words = element("p", "There is no form to try this model in. ", reason)
    return Section("what-if", "Try it", words)


def _form(*, documents: bool) -> Section:
    words = (
        "Type a document."
        if documents
        else "Change a value and see what follows. An empty field is a missing value."
    )
    answer = element(
        "div",
        element("h3", "Answer", id="answer-title"),
        element("div", id="answer", aria_live="polite", aria_labelledby="answer-title"),
        element("h3", "Reasons"),
        element("div", id="reasons"),
        class_="answer",
    )
    content = [
        element("p", words),
        note("Computed here, in your browser, from the model itself. Nothing is sent anywhere."),
        element("p", id="what-if-note", class_="note"),
        element(
            "div", element("form", id="what-if-form", autocomplete="off"), answer, class_="what-if"
        ),
        element("noscript", element("p", "The form needs JavaScript.")),
    ]
    return Section("what-if", "Try it", markup(content))
