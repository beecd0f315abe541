"""Sections of the page, and what they are made of: tables that sort, notes, lists of facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from suffice.report.html import Html, element
from suffice.report.numbers import show_number


class Section(NamedTuple):
    """A part of the page with a title, and the name that links to it."""

    anchor: str
    title: str
    content: Html

    def html(self) -> Html:
        """Return the section."""
        heading = element("h2", self.title, id=f"{self.anchor}-title")
        return element(
            "section", heading, self.content, id=self.anchor, aria_labelledby=f"{self.anchor}-title"
        )


class Cell(NamedTuple):
    """A cell of a table: what is shown, and the number it is sorted by if it is one."""

    shown: Any
    number: float | None = None


def number_cell(value: float, shown: str | None = None) -> Cell:
    """Return a cell that is sorted as a number."""
    return Cell(show_number(value) if shown is None else shown, value)


def sortable_table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> Html:
    """Return a table whose columns sort by a click or by the keyboard; cells are `Cell` or text."""
    body = []
    for row in rows:
        cells = [one if isinstance(one, Cell) else Cell(one) for one in row]
        shown = [
            element(
                "th" if at == 0 else "td",
                one.shown,
                scope="row" if at == 0 else None,
                class_=None if one.number is None else "number",
                data_sort=None if one.number is None else repr(float(one.number)),
            )
            for at, one in enumerate(cells)
        ]
        body.append(element("tr", shown))
    first = [isinstance(one, Cell) and one.number is not None for one in rows[0]] if rows else []
    head = [
        element(
            "th",
            element("button", name, type="button"),
            scope="col",
            aria_sort="none",
            class_="number" if at < len(first) and first[at] else None,
        )
        for at, name in enumerate(heads)
    ]
    table = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", head)),
        element("tbody", body),
        class_="sortable",
    )
    return scrolled(table, caption)


def scrolled(table: Html, label: str) -> Html:
    """Return a table that scrolls by itself where it is too wide, by the keyboard too."""
    return element("div", table, class_="scroll", role="region", tabindex="0", aria_label=label)


def facts(pairs: Iterable[tuple[str, Any]]) -> Html:
    """Return names and values, one below the other."""
    return element(
        "dl",
        [element("div", element("dt", name), element("dd", value)) for name, value in pairs],
        class_="facts",
    )


def note(*content: Any) -> Html:
    """Return a paragraph in small print."""
    return element("p", *content, class_="note")
