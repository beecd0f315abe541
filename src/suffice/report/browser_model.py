"""A model as the browser takes it: its sums, priors and settings, from which the page computes.

Nothing in it is a logarithm or a probability: `model.js` makes the posterior and takes logarithms.
So a changed count changes the answer as it does in Python under the same prior.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.errors import InputError
from suffice.estimators.fitted import check_fitted
from suffice.generative.classifier import TallyClassifier
from suffice.linear_model.logistic import LogisticRegression
from suffice.linear_model.regressor import TallyRegressor
from suffice.report.browser_arrays import browser_generative, browser_logistic
from suffice.report.browser_blocks import browser_block
from suffice.report.browser_columns import browser_columns, text_column
from suffice.report.browser_regression import browser_regression
from suffice.report.browser_text import browser_letters, browser_terms
from suffice.report.json_numbers import browser_prior, compress, numbers, plain_labels
from suffice.table import GenerativeClassifier
from suffice.table.fitted import TableFitted
from suffice.table.to_sql import scored_model
from suffice.tally.tally import Floats
from suffice.text import TextClassifier
from suffice.text.classify.fitted import TextFitted
from suffice.text.classify.term_tally import document_counts, term_counts
from suffice.text.family import TextPosterior

__all__ = ["browser_model", "compress"]

# Raised when the page's script could no longer read objects of before.
FORMAT = 1


def browser_model(model: Any) -> dict[str, Any]:
    """Return what a page needs to answer as a model does: plain values that JSON can hold.

    Parameters
    ----------
    model : classifier or linear regression, fitted

    Examples
    --------
    >>> rows = [{"colour": "red"}, {"colour": "red"}, {"colour": "blue"}, {"colour": "blue"}]
    >>> model = GenerativeClassifier().fit(rows, ["apple", "apple", "plum", "plum"])
    >>> found = browser_model(model)
    >>> found["classes"], found["class_prior"]["weights"]
    (['apple', 'plum'], [2, 2])
    >>> found["blocks"][0]["tally"]
    {'counts': [[2, 0], [0, 2]], 'left_out': [0, 0]}
    """
    if isinstance(model, GenerativeClassifier):
        found = _table(model._check_ready())
    elif isinstance(model, TextClassifier):
        found = _documents(model._check_ready())
    elif isinstance(model, TallyRegressor):
        found = browser_regression(check_fitted(model), model._check_solved()[1])
    elif isinstance(model, LogisticRegression):
        found = browser_logistic(model)
    elif isinstance(model, TallyClassifier):
        found = browser_generative(model._check_ready(), type(model).__name__)
    else:
        raise InputError(
            f"A page cannot compute a {type(model).__name__}. Give a GenerativeClassifier, a "
            "TextClassifier, naive Bayes, a discriminant, or a linear or logistic regression."
        )
    return {"format": FORMAT, "model": type(model).__name__, **found}


# Tables.


def _table(fitted: TableFitted) -> dict[str, Any]:
    model, combination = scored_model(fitted), fitted.combination
    texts = sum(isinstance(one, TextPosterior) for one in model.posteriors)
    blocks = [browser_block(one, texts) for one in model.posteriors]
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
        "columns": [text_column("document")],
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
