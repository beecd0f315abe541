"""The discriminative finish: a logistic regression on terms scaled by their log-count ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.data.rows import Rows
from suffice.tally.tally import Floats
from suffice.text.classify.reasons import TermScores
from suffice.text.term_rows import presences, with_cells

# Pseudocount of the documents with a term, in the log-count ratios (Wang and Manning, 2012).
RATIO_ALPHA = 1.0
# Variance of the prior of the regression's weights, on terms that are scaled by their ratios.
C = 1.0
# Where the search for the weights may stop: answers change by less than they vary with the data.
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Refinement:
    """Weights of terms that are present, one vector a class (docs: text, refinement).

    A class is told from all others by its own regression; the classes' odds are then made to add
    up to 1. With two classes there is one regression.

    Parameters
    ----------
    weights : (C, V)
    bias : (C,)
    """

    weights: Floats
    bias: Floats

    @classmethod
    def of(cls, rows: Rows) -> Refinement:
        """Fit to rows of counts (CSR) and their classes."""
        present = presences(rows.X)
        with_term = _by_class(present, rows)
        classes = range(1, 2) if rows.classes == 2 else range(rows.classes)
        weights = np.zeros((rows.classes, present.shape[1]))
        bias = np.zeros(rows.classes)
        for c in classes:
            ratios = log_count_ratios(with_term[c], with_term.sum(axis=0) - with_term[c])
            weights[c], bias[c] = _fitted(present, ratios, rows.codes == c, rows.weights)
        return cls(weights, bias)

    def log_proba(self, matrix: Any) -> Floats:
        """Return log p(class | row), (n, C), of rows of counts (CSR)."""
        scores = np.asarray(presences(matrix) @ self.weights.T) + self.bias
        if scores.shape[1] == 2:
            yes = -np.logaddexp(0.0, -scores[:, 1])
            return np.stack([-np.logaddexp(0.0, scores[:, 1]), yes], axis=1)
        each = -np.logaddexp(0.0, -scores)
        top = each.max(axis=1, keepdims=True)
        return np.asarray(each - top - np.log(np.exp(each - top).sum(axis=1, keepdims=True)))

    def followed(self, kept: NDArray[np.bool_]) -> Refinement:
        """Return the weights after terms came (they weigh 0) and some were not kept."""
        wide = np.zeros((len(self.bias), len(kept)))
        wide[:, : self.weights.shape[1]] = self.weights
        return Refinement(wide[:, kept], self.bias)

    def scores(self, matrix: Any) -> TermScores:
        """Return the scores of the classes of one row: before any term, and of each term."""
        terms = matrix.indices[matrix.indices < self.weights.shape[1]]
        parts, base = self.weights[:, terms].T, self.bias
        return TermScores(terms, np.ones(len(terms)), parts, base, one_against_all=True)


def log_count_ratios(inside: Floats, outside: Floats) -> Floats:
    """Return ln of the share of each term in a class over its share in all others, (V,).

    >>> log_count_ratios(np.array([3.0, 0.0]), np.array([0.0, 3.0])).round(2)
    array([ 1.39, -1.39])
    """
    some, none = inside + RATIO_ALPHA, outside + RATIO_ALPHA
    return np.asarray(np.log(some / some.sum()) - np.log(none / none.sum()))


def _by_class(present: Any, rows: Rows) -> Floats:
    """Return how many rows of each class have each term, (C, V)."""
    weights = rows.weights if rows.weights.size else np.ones(rows.shape[0])
    member = csr_array(
        (weights, (rows.codes, np.arange(rows.shape[0]))), shape=(rows.classes, rows.shape[0])
    )
    return np.asarray((member @ present).toarray())


def _fitted(
    present: Any, ratios: Floats, inside: NDArray[np.bool_], weights: Floats
) -> tuple[Floats, float]:
    """Return the weights (V,) and the bias of one class against all others."""
    from suffice.linear_model import LogisticRegression

    scaled = with_cells(present, ratios[present.indices])
    model = LogisticRegression(C=C, solver="lbfgs", max_iter=1000, tol=TOLERANCE)
    model.fit(scaled, inside, sample_weight=weights if weights.size else None)
    return np.asarray(model.coef_[0] * ratios), float(model.intercept_[0])
