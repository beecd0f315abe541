"""The discriminative finish: a logistic regression on terms scaled by their log-count ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.tally.tally import Floats
from suffice.text.classify.document_model import TermScores
from suffice.text.term_rows import presences


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
        scores = np.asarray(presences(matrix) @ self.weights.T) + self.bias
        if scores.shape[1] == 2:
            yes = -np.logaddexp(0.0, -scores[:, 1])
            return np.stack([-np.logaddexp(0.0, scores[:, 1]), yes], axis=1)
        each = -np.logaddexp(0.0, -scores)
        top = each.max(axis=1, keepdims=True)
        return np.asarray(each - top - np.log(np.exp(each - top).sum(axis=1, keepdims=True)))

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
