"""Fading: a document's words repeat each other, so that the hundredth says less than the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.base import BaseEstimator, TransformerMixin

from suffice.combine.calibration import fit_calibration
from suffice.combine.combination import Calibration
from suffice.scoring.scorer import log_softmax
from suffice.tally.tally import Floats

# Rates of fading that are tried, per word: beyond 1 / rate words a document says hardly more.
RATES = tuple(2.0**-power for power in range(11))
# What a rate is believed to be before any document, and its spread, both as logarithms: where few
# documents tell little, no extreme one is taken. Three sets of texts have 1/8 to 1/4.
COMMON_RATE, RATE_SPREAD = np.log(1 / 8), np.log(4.0)
# Words at which half of a class's offset is added. The offset of a class stands for what the length
# of its documents says, so that a short one must have little of it: on three sets of texts 16 and
# 32 foretold whole documents best, and with 8 documents cut to three words were told worse.
OFFSET_WORDS = 32.0
# Steps of Newton's method for one sharpness: the problem is concave, and a rough answer will do.
STEPS = 8
SHARPEST = 8.0


def fades(lengths: Floats, rate: float) -> Floats:
    """Return how much of what documents say is believed as it is, (n,), given their lengths.

    Nearly all of a few words, and of many as much as of 1 / rate of them: those that follow repeat
    what was said.

    >>> fades(np.array([0.0, 1.0, 10.0, 1000.0]), 0.1).round(2)
    array([1.  , 1.  , 0.71, 0.01])
    """
    return np.asarray(1.0 / np.hypot(1.0, rate * lengths))


def offset_shares(lengths: Floats) -> Floats:
    """Return how much of the classes' offsets is added to documents, (n,): none without words.

    >>> offset_shares(np.array([0.0, 32.0]))
    array([0. , 0.5])
    """
    return np.asarray(1.0 - 1.0 / (1.0 + np.square(lengths / OFFSET_WORDS)))


@dataclass(frozen=True)
class Fading:
    """log p(class) + f l + sharpness (1 - f) l + offset g of documents (docs: text, calibration).

    l is a document's log-likelihood; f = 1 / sqrt(1 + (rate L)^2) and g = L^2 / (L^2 + 32^2) depend
    on its number L of known words. A document of no words has the shares of the classes.

    Parameters
    ----------
    rate : float
        0 believes all documents as they are.
    sharpness : float
        How much of each further word is believed where words are many.
    log_loss : float
        Of held-out documents, at about the best sharpness.

    Examples
    --------
    >>> faded = Fading(0.1, 0.0)
    >>> calibration = Calibration(0.0, np.zeros(2))
    >>> said = np.array([[0.0, -4.0]])
    >>> prior = np.log([0.5, 0.5])
    >>> np.exp(faded.log_proba(said, prior, np.array([10.0]), calibration)).round(3)  # 0.71 of it
    array([[0.944, 0.056]])
    """

    rate: float
    sharpness: float = 1.0
    log_loss: float = np.nan

    @classmethod
    def of(
        cls,
        likelihoods: Floats,
        prior: Floats,
        codes: NDArray[Any],
        weights: Floats,
        lengths: Floats,
    ) -> Self:
        """Return the best rate, each with the sharpness that suits it.

        Parameters
        ----------
        likelihoods : (n, C)
            Log p(words | class) of documents that were held out, up to a term of each document.
        prior : (C,)
        codes, weights, lengths : (n,)
        """
        own = likelihoods[np.arange(len(codes)), codes]
        kept = np.isfinite(own) & (weights > 0)
        if not kept.any():
            return cls(0.0)
        said = likelihoods[kept], prior, lengths[kept]
        tried = [cls._sharpened(rate, *said, codes[kept], weights[kept]) for rate in RATES]
        total = float(weights[kept].sum())
        return min(tried, key=lambda one: total * one.log_loss + _doubt(one.rate))

    @classmethod
    def alone(
        cls,
        likelihoods: Floats,
        prior: Floats,
        codes: NDArray[Any],
        weights: Floats,
        lengths: Floats,
    ) -> Self:
        """Return the best rate of sharpness 0, that of no fading among them."""
        at, share = (np.arange(len(codes)), codes), weights / max(float(weights.sum()), 1e-300)
        tried = []
        for rate in (0.0, *RATES):
            _, base, _ = cls(rate).parts(likelihoods, prior, lengths)
            tried.append(cls(rate, 0.0, -float(share @ log_softmax(base)[at])))
        return min(tried, key=lambda one: one.log_loss)

    @classmethod
    def _sharpened(
        cls,
        rate: float,
        likelihoods: Floats,
        prior: Floats,
        lengths: Floats,
        codes: NDArray[Any],
        weights: Floats,
    ) -> Self:
        """Return a rate with about its best sharpness."""
        part, base, _ = cls(rate).parts(likelihoods, prior, lengths)
        at = np.arange(len(codes)), codes
        share = weights / weights.sum()
        known = np.where(np.isfinite(part), part, 0.0)
        sharpness, best = 1.0, cls(rate)
        for step in range(STEPS):
            log_proba = log_softmax(base + sharpness * part)
            loss = -float(share @ log_proba[at])
            if step == 0 or loss < best.log_loss:
                best = cls(rate, sharpness, loss)
            proba = np.exp(log_proba)
            expected = np.einsum("nc,nc->n", proba, known)
            slope = float(share @ (known[at] - expected))
            curve = float(share @ (np.einsum("nc,nc,nc->n", proba, known, known) - expected**2))
            if curve <= 0:
                break
            sharpness = min(max(sharpness + slope / curve, sharpness / 4), SHARPEST)
        return best

    def parts(
        self, likelihoods: Floats, prior: Floats, lengths: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return what the inverse temperature multiplies, and what is added as it is, (n, C) both.

        The third, (n,), is how much of the offsets is added.
        """
        full = fades(lengths, self.rate)[:, None]
        # Up to a term of each document; a class that nothing is known of stays impossible.
        possible = np.isfinite(likelihoods)
        said = likelihoods - likelihoods.max(axis=1, keepdims=True, initial=-np.inf)
        said[~possible] = 0.0
        part = np.where(possible, (1.0 - full) * said, -np.inf)
        return part, prior + full * said, offset_shares(lengths)

    def calibration(
        self,
        likelihoods: Floats,
        prior: Floats,
        codes: NDArray[Any],
        weights: Floats,
        lengths: Floats,
    ) -> Calibration:
        """Return the sharpness, offsets and noise rate that suit held-out documents."""
        part, base, share = self.parts(likelihoods, prior, lengths)
        return fit_calibration(
            part, codes, weights, log_prior=base, offset_share=share, start=self.sharpness
        )

    def log_proba(
        self, likelihoods: Floats, prior: Floats, lengths: Floats, calibration: Calibration
    ) -> Floats:
        """Return log p(class | document), (n, C)."""
        return calibration.apply(*self.parts(likelihoods, prior, lengths))


def _doubt(rate: float) -> float:
    """Return minus the log prior of a rate, up to a constant."""
    return float(((np.log(rate) - COMMON_RATE) / RATE_SPREAD) ** 2 / 2)


class FadedCounts(TransformerMixin, BaseEstimator):
    """Rows of counts, faded by their length, and how much of the offsets is added as a last column.

    Parameters
    ----------
    rate, sharpness : float
        See `Fading`.

    Examples
    --------
    >>> FadedCounts(0.25, 0.0).fit_transform(csr_array([[3, 1], [0, 0]])).toarray().round(3)
    array([[2.121, 0.707, 0.015],
           [0.   , 0.   , 0.   ]])
    """

    def __init__(self, rate: float = 0.1, sharpness: float = 0.0) -> None:
        self.rate = rate
        self.sharpness = sharpness

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn nothing: lengths are each row's own."""
        return self

    def transform(self, X: Any) -> Any:
        """Return the faded rows, CSR of one column more."""
        rows = csr_array(X, dtype=np.float64)
        lengths = np.asarray(rows.sum(axis=1)).ravel()
        full = fades(lengths, self.rate)
        believed = full + self.sharpness * (1.0 - full)
        cells = rows.data * np.repeat(believed, np.diff(rows.indptr))
        rows = csr_array((cells, rows.indices, rows.indptr), shape=rows.shape)
        return hstack([rows, csr_array(offset_shares(lengths)[:, None])], format="csr")

    def __sklearn_is_fitted__(self) -> bool:
        return True
