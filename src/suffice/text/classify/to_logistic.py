"""A text classifier as a vectorizer and a logistic regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, hstack
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from suffice.generative.log_odds import to_logistic
from suffice.linear_model import LogisticRegression
from suffice.text.classify.fitted import TextFitted
from suffice.text.classify.length_discount import discounts, offset_shares


def to_pipeline(fitted: TextFitted, words: Any, name: str) -> Pipeline:
    """Return a pipeline with the same class probabilities.

    Parameters
    ----------
    fitted : TextFitted, with a model of counts of known terms
    words : CountVectorizer with these terms
    name : of the estimator, for errors
    """
    plain = to_logistic(fitted, name)  # refuses what no logistic regression has
    found, classes = fitted.calibration, fitted.classes
    if found is None:
        return Pipeline([("words", words), ("logistic", plain)])
    form, prior = fitted.documents.linear_form(), fitted.log_prior
    if fitted.term_counter.event == "bernoulli":  # whatever the words, a document is a long one
        bias = prior + found.inverse_temperature * form.bias + found.offsets
        weights = found.inverse_temperature * form.weights
        logistic = LogisticRegression.from_weights(weights, bias, classes)
        return Pipeline([("words", words), ("logistic", logistic)])
    weights = np.column_stack([form.weights, found.offsets])
    logistic = LogisticRegression.from_weights(weights, form.bias + prior, classes)
    discount = DiscountedCounts(fitted.length_discount, found.inverse_temperature)
    return Pipeline([("words", words), ("length_discount", discount), ("logistic", logistic)])


class DiscountedCounts(TransformerMixin, BaseEstimator):
    """Rows of counts, discounted by their length, and the share of the offsets as a last column.

    Parameters
    ----------
    rate, inverse_temperature : float
        See `LengthDiscount`.

    Examples
    --------
    >>> DiscountedCounts(0.25, 0.0).fit_transform(csr_array([[3, 1], [0, 0]])).toarray().round(3)
    array([[2.121, 0.707, 0.015],
           [0.   , 0.   , 0.   ]])
    """

    def __init__(self, rate: float = 0.1, inverse_temperature: float = 0.0) -> None:
        self.rate = rate
        self.inverse_temperature = inverse_temperature

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn nothing: lengths are each row's own."""
        return self

    def transform(self, X: Any) -> Any:
        """Return the discounted rows, CSR of one column more."""
        rows = csr_array(X, dtype=np.float64)
        lengths = np.asarray(rows.sum(axis=1)).ravel()
        full = discounts(lengths, self.rate)
        weight = full + self.inverse_temperature * (1.0 - full)
        cells = rows.data * np.repeat(weight, np.diff(rows.indptr))
        rows = csr_array((cells, rows.indices, rows.indptr), shape=rows.shape)
        return hstack([rows, csr_array(offset_shares(lengths)[:, None])], format="csr")

    def __sklearn_is_fitted__(self) -> bool:
        return True
