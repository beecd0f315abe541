"""The discriminative finish: a logistic regression on terms scaled by their log-count ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.data.rows import Rows
from suffice.scoring.scorer import one_against_all
from suffice.tally.tally import Floats
from suffice.text.classify.document_model import TermScores
from suffice.text.classify.term_rows import presences, with_cells


@dataclass(frozen=True)
class Refinement:
    """Weights of terms that are present, one vector a class (docs: text, refinement).

    Each class has a regression of its own against all others; the classes' odds are then made to
    add up to 1. With two classes there is one regression.

    Parameters
    ----------
    weights : (C, V)
    bias : (C,)

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> refined = Refinement(np.array([[0.0, 0.0], [2.0, -1.0]]), np.zeros(2))
    >>> np.exp(refined.log_proba(csr_array([[1, 0], [0, 3]]))).round(2)
    array([[0.12, 0.88],
           [0.73, 0.27]])
    """

    weights: Floats
    bias: Floats

    def log_proba(self, matrix: Any) -> Floats:
        """Return log p(class | row), (n, C), of rows of counts (CSR)."""
        return one_against_all(np.asarray(presences(matrix) @ self.weights.T) + self.bias)

    def keep(self, kept: NDArray[np.bool_]) -> Refinement:
        """Return the weights of the terms that are kept, (V,); terms that are new weigh 0."""
        wide = np.zeros((len(self.bias), len(kept)))
        wide[:, : self.weights.shape[1]] = self.weights
        return Refinement(wide[:, kept], self.bias)

    def scores(self, matrix: Any) -> TermScores:
        """Return the scores of the classes of one row: before any term, and of each term."""
        terms = matrix.indices[matrix.indices < self.weights.shape[1]]
        parts, base = self.weights[:, terms].T, self.bias
        return TermScores(terms, np.ones(len(terms)), parts, base, one_against_all=True)


# Pseudocount of the documents with a term, in the log-count ratios (Wang and Manning, 2012).
RATIO_ALPHA = 1.0
# Variance of the prior of the regression's weights, on terms that are scaled by their ratios.
C = 1.0
# Where the search for the weights may stop: answers change by less than they vary with the data.
TOLERANCE = 1e-3


def fit_refinement(rows: Rows) -> Refinement:
    """Return the refinement of rows of counts (CSR) and their classes."""
    present = presences(rows.X)
    with_term = _count_by_class(present, rows)
    classes = range(1, 2) if rows.classes == 2 else range(rows.classes)
    weights = np.zeros((rows.classes, present.shape[1]))
    bias = np.zeros(rows.classes)
    for c in classes:
        ratios = log_count_ratios(with_term[c], with_term.sum(axis=0) - with_term[c])
        weights[c], bias[c] = _fit_class(present, ratios, rows.codes == c, rows.weights)
    return Refinement(weights, bias)


def log_count_ratios(inside: Floats, outside: Floats) -> Floats:
    """Return ln of the share of each term in a class over its share in all others, (V,).

    >>> log_count_ratios(np.array([3.0, 0.0]), np.array([0.0, 3.0])).round(2)
    array([ 1.39, -1.39])
    """
    here, elsewhere = inside + RATIO_ALPHA, outside + RATIO_ALPHA
    return np.asarray(np.log(here / here.sum()) - np.log(elsewhere / elsewhere.sum()))


def _count_by_class(present: Any, rows: Rows) -> Floats:
    """Return how many rows of each class have each term, (C, V)."""
    member = csr_array(
        (rows.row_weights, (rows.codes, np.arange(rows.shape[0]))),
        shape=(rows.classes, rows.shape[0]),
    )
    return np.asarray((member @ present).toarray())


def _fit_class(
    present: Any, ratios: Floats, inside: NDArray[np.bool_], weights: Floats
) -> tuple[Floats, float]:
    """Return the weights (V,) and the bias of one class against all others."""
    from suffice.linear_model import LogisticRegression

    scaled = with_cells(present, ratios[present.indices])
    model = LogisticRegression(C=C, solver="lbfgs", max_iter=1000, tol=TOLERANCE)
    model.fit(scaled, inside, sample_weight=weights if weights.size else None)
    return np.asarray(model.coef_[0] * ratios), float(model.intercept_[0])
