"""Fading: a document's words repeat each other, so that the hundredth says less than the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.base import BaseEstimator, TransformerMixin

from suffice.tally.tally import Floats

# Exponents that are tried: 0 believes every word alike, 1 their average.
EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0)
# Steps of Newton's method for one sharpness: the problem is concave, and a rough answer will do.
STEPS = 8


def fades(lengths: Floats, exponent: float) -> Floats:
    """Return how much of a document's log-odds is believed, (n,), given its number of terms.

    >>> fades(np.array([0.0, 1.0, 100.0]), 0.5)
    array([1. , 1. , 0.1])
    """
    return np.asarray(np.maximum(lengths, 1.0) ** -exponent)


@dataclass(frozen=True)
class Believed:
    """Left-out answers, with how sharply and with what fading they are best believed.

    Parameters
    ----------
    exponent : float
        Of the fading.
    log_loss : float
        With it, and about the sharpness that suits it.
    sharpness : float
        What faded log-probabilities are then multiplied by.
    """

    exponent: float
    log_loss: float
    sharpness: float = 1.0

    @classmethod
    def of(cls, log_proba: Floats, codes: NDArray[Any], weights: Floats, lengths: Floats) -> Self:
        """Return the best exponent, each with the sharpness that suits it (docs: text).

        Parameters
        ----------
        log_proba : (n, C)
        codes, weights, lengths : (n,)
        """
        own = log_proba[np.arange(len(codes)), codes]
        kept = np.isfinite(own) & (weights > 0)
        if not kept.any():
            return cls(0.0, np.inf)
        given, at = log_proba[kept], (np.arange(int(kept.sum())), codes[kept])
        tried = [
            _sharpened(given * fades(lengths[kept], exponent)[:, None], at, weights[kept])
            for exponent in EXPONENTS
        ]
        losses = [loss for loss, _ in tried]
        best = int(np.argmin(losses))
        return cls(EXPONENTS[best], *tried[best])


def _sharpened(scores: Floats, at: Any, weights: Floats) -> tuple[float, float]:
    """Return the log-loss of softmax(sharpness scores) at about its best sharpness, and that."""
    possible = np.isfinite(scores)
    share = weights / weights.sum()
    # Start where the largest scores are of order one, and climb on the logarithm of sharpness.
    largest = float(np.quantile(np.abs(scores[possible]), 0.9))
    sharpness = 1.0 / largest if largest > 0 else 1.0
    known = np.where(possible, scores, 0.0)
    best = (np.inf, sharpness)
    for _ in range(STEPS):
        scaled = sharpness * known
        scaled[~possible] = -np.inf
        scaled -= scaled.max(axis=1, keepdims=True)
        proba = np.exp(scaled)
        total = proba.sum(axis=1, keepdims=True)
        best = min(best, (float(share @ (np.log(total[:, 0]) - scaled[at])), sharpness))
        proba /= total
        expected = np.einsum("nc,nc->n", proba, known)
        slope = float(share @ (known[at] - expected))
        curve = float(share @ (np.einsum("nc,nc,nc->n", proba, known, known) - expected**2))
        step = slope / curve if curve > 0 else 0.0
        # On the logarithm of sharpness no step changes it more than threefold.
        sharpness *= float(np.exp(np.clip(step / sharpness, -1.1, 1.1)))
    return best


class FadedCounts(TransformerMixin, BaseEstimator):
    """Rows of counts divided by a power of their length, and that power as a last column.

    Parameters
    ----------
    exponent : float, default=0.5

    Examples
    --------
    >>> FadedCounts(0.5).fit_transform(csr_array([[3, 1], [0, 0]])).toarray()
    array([[1.5, 0.5, 0.5],
           [0. , 0. , 1. ]])
    """

    def __init__(self, exponent: float = 0.5) -> None:
        self.exponent = exponent

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn nothing: lengths are each row's own."""
        return self

    def transform(self, X: Any) -> Any:
        """Return the faded rows, CSR of one column more."""
        rows = csr_array(X, dtype=np.float64)
        faded = fades(np.asarray(rows.sum(axis=1)).ravel(), self.exponent)
        cells = rows.data * np.repeat(faded, np.diff(rows.indptr))
        rows = csr_array((cells, rows.indices, rows.indptr), shape=rows.shape)
        return hstack([rows, csr_array(faded[:, None])], format="csr")

    def __sklearn_is_fitted__(self) -> bool:
        return True
