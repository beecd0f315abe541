"""A model as the browser takes it: its sums, priors and settings, from which the page computes.

Nothing in it is a logarithm or a probability: `model.js` makes the posterior and takes logarithms.
So a changed count changes the answer as it does in Python under the same prior.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.errors import InputError
from suffice.estimators.fitted import check_fitted
from suffice.families.class_prior import ClassPrior
from suffice.linear_model.regressor import TallyRegressor
from suffice.report.browser_blocks import browser_block
from suffice.report.browser_columns import browser_columns
from suffice.report.browser_regression import browser_regression
from suffice.report.browser_text import browser_letters, browser_terms
from suffice.report.json_numbers import compress, numbers, plain_labels
from suffice.table import GenerativeClassifier
from suffice.table.fitted import TableFitted
from suffice.table.to_sql import scored_model
from suffice.tally.tally import Floats
from suffice.text import TextClassifier
from suffice.text.classify.fitted import TextFitted
from suffice.text.classify.term_counter import document_counts, term_counts

__all__ = ["browser_model", "compress"]

# Raised when the page's script could no longer read objects of before.
FORMAT = 1


def browser_model(model: Any) -> dict[str, Any]:
    """Return what a page needs to answer as a model does: plain values that JSON can hold.

    Parameters
    ----------
    model : GenerativeClassifier, TextClassifier or a linear regression, fitted

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
    elif isinstance(model, TallyRegressor):
        found = browser_regression(check_fitted(model), model._check_solved()[1])
    else:
        raise InputError(
            f"A page cannot compute a {type(model).__name__}. Give a GenerativeClassifier, a "
            "TextClassifier or a linear regression."
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
        "classes": plain_labels(fitted.classes.tolist()),
        "class_prior": browser_prior(fitted.generative.prior),
        "columns": browser_columns(fitted),
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


def browser_prior(prior: ClassPrior) -> dict[str, Any]:
    """Return the weights of the classes and what is added to them, or what was given."""
    weights = numbers(prior.weights)
    if prior.added is None:
        return {"weights": weights, "added": None, "given": numbers(prior.prob)}
    return {"weights": weights, "added": numbers(prior.added), "given": None}


# Documents.


def _documents(fitted: TextFitted) -> dict[str, Any]:
    model, counter, calibration = fitted.documents, fitted.term_counter, fitted.calibration
    counts: Floats = model.all_counts
    names = np.array([str(term) for term in counter.vocabulary.terms], object)
    known = names if model.known is None else names[model.known]
    with_term = None
    if counter.weighting is not None:
        with_term, counts = document_counts(fitted.tally), term_counts(fitted.tally)
        if model.known is not None:
            with_term, counts = with_term[model.known], counts[:, model.known]
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
        document_counts=with_term,
        refinement=weights,
    )
    found: dict[str, Any] = {
        "kind": "documents",
        "classes": plain_labels(fitted.classes.tolist()),
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
