"""The columns of a form: names, kinds, levels, typical values, and how typed strings are read."""

from __future__ import annotations

import re
from typing import Any

from suffice.data import parsing
from suffice.data.columns import NUMERIC
from suffice.data.schema import Field
from suffice.data.string_format import NOTHING, StringFormat
from suffice.data.table import CALENDAR, FIRST_WEEKDAY
from suffice.families.columns.categorical import CategoricalPosterior
from suffice.report.browser_blocks import TypicalCells, kept_levels, typical_cells
from suffice.report.json_numbers import plain_labels
from suffice.table.fitted import TableFitted
from suffice.table.rows import MISSING_SUFFIX, format_time
from suffice.tally.tally import Index


def browser_columns(fitted: TableFitted) -> list[dict[str, Any]]:
    """Return the columns that users give, and those that follow from them."""
    counter = fitted.counter
    schema, unused = counter.schema, counter.unused_given
    typical: dict[str, TypicalCells] = {}
    for posterior in fitted.posteriors:
        typical |= typical_cells(posterior)
    found = [
        _column(one, typical.get(one.name, TypicalCells()), used=one.name not in unused)
        for one in schema.fields
        if one.name in schema.given
    ]
    for posterior in fitted.posteriors:
        if isinstance(posterior, CategoricalPosterior):
            _drop_levels(found, posterior.family.column, kept_levels(posterior))
    for column in found:
        if column["name"] in counter.missing_columns:
            column["missing_column"] = column["name"] + MISSING_SUFFIX
    return found


def _drop_levels(columns: list[dict[str, Any]], name: str, kept: Index) -> None:
    """Take levels that a page has no room for out of a column, and say how many they are."""
    for column in columns:
        if column["name"] == name and column["levels"] is not None:
            column["left_out"] = len(column["levels"]) - len(kept)
            for key in ("levels", "shown_levels"):
                column[key] = [column[key][code] for code in kept.tolist()]


def _column(one: Field, typical: TypicalCells, *, used: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": one.name,
        "kind": one.kind,
        "used": used,
        # A cell of any column may be missing.
        "missing_allowed": True,
        "levels": None,
        "missing_column": None,
        "strings": None,
        "typical": typical.typical,
        "low": typical.low,
        "high": typical.high,
    }
    if one.kind == "category":
        found["levels"] = plain_labels(one.levels)
        found["left_out"] = 0
        found["shown_levels"] = [str(level) for level in one.levels]
        code = typical.typical
        found["typical"] = None if code is None else found["levels"][int(code)]
    elif one.kind in NUMERIC:
        found["strings"] = _strings(one)
    if one.kind in ("date", "time", "span"):
        for name in ("typical", "low", "high"):
            days = found[name]
            found[name] = None if days is None else format_time(float(days), one.kind)
    if one.kind == "date":
        found["calendar"] = {
            part: {"column": f"{one.name}:{part}", "levels": list(levels)}
            for part, levels in CALENDAR.items()
        }
        found["first_weekday"] = FIRST_WEEKDAY
    return found


def _strings(one: Field) -> dict[str, Any]:
    """Return how strings are read as numbers: by the column's own format, or by the plain one."""
    kinds = {"date": "date", "time": "time"}
    format = one.strings or StringFormat(kinds.get(one.kind, "number"))  # type: ignore[arg-type]
    found: dict[str, Any] = {"kind": format.kind, "nothing": javascript(NOTHING)}
    if format.kind == "number":
        form = parsing.NumberForm(format.decimal, format.unit)
        removed = f"{parsing.BLANK}|['{parsing.APOSTROPHE}+{',' if form.decimal == '.' else '.'}]"
        return found | {
            "pattern": javascript(parsing.number_pattern(form)),
            "removed": javascript(removed),
            "decimal": form.decimal,
            "unit": form.unit,
            "minus": parsing.MINUS,
        }
    if format.kind == "time":
        return found | {"patterns": [javascript(parsing.TIME_PARTS)]}
    patterns = (parsing.DATE_PARTS, *parsing.NAMED_PARTS)
    return found | {
        "patterns": [javascript(pattern) for pattern in patterns],
        "day_first": format.day_first,
        "pivot": parsing.PIVOT,
        "months": list(parsing.MONTH_NAMES),
    }


def javascript(pattern: str) -> str:
    r"""Return a regular expression as JavaScript writes it, with the same meaning.

    Groups are named in another way there, its blanks are all of Unicode's, and it has no part that
    ignores case: patterns of names are used as if all of them did.

    >>> javascript(r"(?P<day>\d)[\s]")
    '(?<day>\\d)[\\t-\\r ]'
    """
    named = pattern.replace("(?P<", "(?<").replace("(?i:", "(?:")
    return re.sub(r"\\s", lambda _: r"\t-\r ", named)


def number_column(
    name: str, typical: float | None = None, low: float | None = None, high: float | None = None
) -> dict[str, Any]:
    """Return a column of plain numbers."""
    return _column(Field(name, "number"), TypicalCells(typical, low, high), used=True)


def text_column(name: str) -> dict[str, Any]:
    """Return a column of documents."""
    return _column(Field(name, "text"), TypicalCells(), used=True)
