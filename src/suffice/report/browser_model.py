"""A model as the browser takes it: its sums, priors and settings, from which the page computes.

Nothing in it is a logarithm or a probability: `model.js` makes the posterior and takes logarithms, so
that a changed count changes the answer as it does in Python under the same prior.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from suffice.data import parsing
from suffice.data.columns import NUMERIC
from suffice.data.schema import Field
from suffice.data.string_format import NOTHING, StringFormat
from suffice.data.table import CALENDAR, FIRST_WEEKDAY
from suffice.errors import InputError
from suffice.families.class_prior import ClassPrior
from suffice.report.browser_blocks import TypicalCells, browser_block, typical_cells
from suffice.report.browser_text import browser_letters, browser_terms
from suffice.report.json_numbers import compress, numbers
from suffice.table import GenerativeClassifier
from suffice.table.fitted import TableFitted
from suffice.table.rows import MISSING_SUFFIX, format_time
from suffice.table.to_sql import scored_model
from suffice.tally.tally import Floats
from suffice.text import TextClassifier
from suffice.text.classify.fitted import TextFitted

__all__ = ["browser_model", "compress"]

# Raised when the page's script could no longer read objects of before.
FORMAT = 1


def browser_model(model: Any) -> dict[str, Any]:
    """Return what a page needs to answer as a model does: plain values that JSON can hold.

    Parameters
    ----------
    model : GenerativeClassifier or TextClassifier, fitted

    Examples
    --------
    >>> rows = [{"colour": "red"}, {"colour": "red"}, {"colour": "blue"}, {"colour": "blue"}]
    >>> model = GenerativeClassifier().fit(rows, ["apple", "apple", "plum", "plum"])
    >>> found = browser_model(model)
    >>> found["classes"], found["class_prior"]["weights"]
    (['apple', 'plum'], [2, 2])
    >>> found["blocks"][0]["tally"]
    {'counts': [[2, 0], [0, 2]]}
    """
    if isinstance(model, GenerativeClassifier):
        found = _table(model._check_ready())
    elif isinstance(model, TextClassifier):
        found = _documents(model._check_ready())
    else:
        raise InputError(
            f"A page cannot compute a {type(model).__name__}. Give a GenerativeClassifier or a "
            "TextClassifier."
        )
    return {"format": FORMAT, "model": type(model).__name__, **found}


# Tables.


def _table(fitted: TableFitted) -> dict[str, Any]:
    model, combination = scored_model(fitted), fitted.combination
    blocks = [browser_block(one) for one in model.posteriors]
    residuals = [
        {
            "column": column,
            "levels": one.levels,
            "centre": one.centre,
            "scale": one.scale,
            "most": one.most,
            "logarithm": one.logarithm,
            "coefficients": numbers(one.coefficients),
        }
        for column, one in model.residuals.items()
    ]
    found: dict[str, Any] = {
        "kind": "table",
        "classes": plain_labels(fitted.classes),
        "class_prior": browser_prior(fitted.generative.prior),
        "columns": _columns(fitted),
        "blocks": blocks,
        "combination": {
            "method": combination.method,
            "weights": numbers(combination.weights),
            "offsets": numbers(combination.offsets),
            "noise_rate": combination.noise_rate,
            "residuals": residuals,
        },
    }
    if any("event" in block for block in blocks):
        found["letters"] = browser_letters()
    return found


def plain_labels(classes: Any) -> list[Any]:
    """Return labels as JSON has them; what it has no word for is written out."""
    return [
        label if isinstance(label, str | bool | int) or _is_plain(label) else str(label)
        for label in classes.tolist()
    ]


def _is_plain(label: Any) -> bool:
    return isinstance(label, float) and bool(np.isfinite(label))


def browser_prior(prior: ClassPrior) -> dict[str, Any]:
    """Return the weights of the classes and what is added to them, or what was given."""
    weights = numbers(prior.weights)
    if prior.added is None:
        return {"weights": weights, "added": None, "given": numbers(prior.prob)}
    return {"weights": weights, "added": numbers(prior.added), "given": None}


# Columns.


def _columns(fitted: TableFitted) -> list[dict[str, Any]]:
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
    for column in found:
        column["missing_column"] = (
            column["name"] + MISSING_SUFFIX if column["name"] in counter.missing_columns else None
        )
    return found


def _column(one: Field, typical: TypicalCells, *, used: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": one.name,
        "kind": one.kind,
        "used": used,
        # A cell of any column may be missing.
        "missing_allowed": True,
        "levels": None,
        "strings": None,
        "typical": typical.typical,
        "low": typical.low,
        "high": typical.high,
    }
    if one.kind == "category":
        found["levels"] = plain_labels(np.array([*one.levels, None], object)[:-1])
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


# Documents.


def _documents(fitted: TextFitted) -> dict[str, Any]:
    model, counter, calibration = fitted.documents, fitted.term_counter, fitted.calibration
    counts: Floats = model.all_counts
    names = np.array([str(term) for term in counter.vocabulary.terms], object)
    known = names if model.known is None else names[model.known]
    document_counts = None
    if counter.weighting is not None:
        from suffice.text.classify.term_counter import document_counts as documents_with
        from suffice.text.classify.term_counter import term_counts

        document_counts, counts = documents_with(fitted.tally), term_counts(fitted.tally)
        if model.known is not None:
            document_counts, counts = document_counts[model.known], counts[:, model.known]
    elif counter.with_unknown:
        counts = counts[:, :-1]
    refinement = fitted.refinement
    weights = None
    if refinement is not None:
        wide = np.zeros((len(fitted.classes), len(names)))
        wide[:, : refinement.weights.shape[1]] = refinement.weights
        weights = wide if model.known is None else wide[:, model.known]
    block = browser_terms(
        known.tolist(),
        counts,
        fitted.tally.weights,
        counter.event,
        model.alpha,
        counter.analyzer,
        length_discount=fitted.length_discount,
        with_unknown=counter.with_unknown,
        document_counts=document_counts,
        refinement=weights,
    )
    found: dict[str, Any] = {
        "kind": "documents",
        "classes": plain_labels(fitted.classes),
        "class_prior": browser_prior(fitted.ready_model.decision_prior),
        "columns": [{"name": "document", "kind": "text", "used": True, "missing_allowed": True}],
        "blocks": [block],
        "calibration": None,
        "refinement_bias": None if refinement is None else numbers(refinement.bias),
    }
    if calibration is not None:
        found["calibration"] = {
            "inverse_temperature": calibration.inverse_temperature,
            "offsets": numbers(calibration.offsets),
            "noise_rate": calibration.noise_rate,
        }
    if block["reason"] is None:
        found["letters"] = browser_letters()
    return found
