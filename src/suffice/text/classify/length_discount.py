"""Length discount: a document's words repeat each other, the hundredth adds less than the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.combine.combination import Calibration
from suffice.scoring import scorer as scoring
from suffice.scoring.scorer import Scorer, log_softmax
from suffice.tally.tally import Floats

# Rates of the discount that are tried, per word: beyond 1 / rate words, more add hardly anything.
RATES = tuple(2.0**-power for power in range(11))
# Mean and standard deviation of the log rate a priori: where few documents say little, no extreme
# one is taken. Three sets of texts have 1/8 to 1/4.
LOG_RATE_MEAN, LOG_RATE_DEVIATION = np.log(1 / 8), np.log(4.0)
# Words at which half of a class's offset is added. The offset of a class stands for what the length
# of its documents says, so that a short one must have little of it: on three sets of texts 16 and
# 32 had the lowest log-loss on whole documents, and 8 a higher one on documents of three words.
OFFSET_WORDS = 32.0
# Steps of Newton's method for one inverse temperature: the problem is concave, and a rough answer
# will do.
MAX_STEPS = 8
MAX_INVERSE_TEMPERATURE = 8.0


def discounts(lengths: Floats, rate: float) -> Floats:
    """Return the share (n,) of log-likelihoods that counts in full, given documents' lengths.

    Nearly all of a few words, and of many as much as of 1 / rate of them: those that follow repeat
    the others.

    >>> discounts(np.array([0.0, 1.0, 10.0, 1000.0]), 0.1).round(2)
    array([1.  , 1.  , 0.71, 0.01])
    """
    return np.asarray(1.0 / np.hypot(1.0, rate * lengths))


def offset_shares(lengths: Floats) -> Floats:
    """Return how much of the classes' offsets is added to documents, (n,): none without words.

    >>> offset_shares(np.array([0.0, 32.0]))
    array([0. , 0.5])
    """
    return np.asarray(1.0 - 1.0 / (1.0 + np.square(lengths / OFFSET_WORDS)))


class DocumentScores(NamedTuple):
    """Scores of documents, before they are discounted by their lengths."""

    log_likelihood: Floats
    """(n, C): log p(words | class), up to a term of each document"""
    log_prior: Floats
    """(C,), or (n, C) of documents that are left out: what a class's score starts from"""
    lengths: Floats
    """(n,): how many words are known"""

    def take(self, at: Any) -> DocumentScores:
        """Return the scores of some of the documents."""
        return self._replace(log_likelihood=self.log_likelihood[at], lengths=self.lengths[at])


@dataclass(frozen=True)
class LengthDiscount:
    """log p(class) + f l + inverse_temperature (1 - f) l + offset g (docs: text, calibration).

    l is a document's log-likelihood; f = 1 / sqrt(1 + (rate L)^2) and g = L^2 / (L^2 + 32^2) depend
    on its number L of known words. A document of no words has the shares of the classes.

    Parameters
    ----------
    rate : float
        0 counts all documents in full.
    inverse_temperature : float
        How much each further word counts where words are many.
    log_loss : float
        Of held-out documents, at about the best inverse temperature.

    Examples
    --------
    >>> scores = DocumentScores(np.array([[0.0, -4.0]]), np.log([0.5, 0.5]), np.array([10.0]))
    >>> calibration = Calibration(0.0, np.zeros(2))
    >>> np.exp(LengthDiscount(0.1, 0.0).log_proba(scores, calibration)).round(3)  # 0.71 of them
    array([[0.944, 0.056]])
    """

    rate: float
    inverse_temperature: float = 1.0
    log_loss: float = np.nan

    @classmethod
    def of(cls, scores: DocumentScores, codes: NDArray[Any], weights: Floats) -> Self:
        """Return the best rate, each with the inverse temperature that suits it.

        Parameters
        ----------
        scores : of documents that were held out
        codes, weights : (n,)
        """
        own = scores.log_likelihood[np.arange(len(codes)), codes]
        kept = np.isfinite(own) & (weights > 0)
        if not kept.any():
            return cls(0.0)
        scores, codes, weights = scores.take(kept), codes[kept], weights[kept]
        candidates = [cls._at_rate(rate, scores, codes, weights) for rate in RATES]
        total = float(weights.sum())
        return min(candidates, key=lambda one: total * one.log_loss + _penalty(one.rate))

    @classmethod
    def without_temperature(
        cls, scores: DocumentScores, codes: NDArray[Any], weights: Floats
    ) -> Self:
        """Return the best rate of inverse temperature 0, that of no discount among them."""
        at, share = (np.arange(len(codes)), codes), weights / max(float(weights.sum()), 1e-300)
        candidates = []
        for rate in (0.0, *RATES):
            _, base, _ = cls(rate).parts(scores)
            candidates.append(cls(rate, 0.0, -float(share @ log_softmax(base)[at])))
        return min(candidates, key=lambda one: one.log_loss)

    @classmethod
    def _at_rate(
        cls, rate: float, scores: DocumentScores, codes: NDArray[Any], weights: Floats
    ) -> Self:
        """Return a rate with about its best inverse temperature, by Newton's method."""
        part, base, _ = cls(rate).parts(scores)
        possible = np.isfinite(part)
        scored = np.where(possible, part, 0.0), np.where(possible, base, -np.inf)
        own = codes.astype(np.int32), weights / weights.sum()
        inverse_temperature, best = 1.0, cls(rate)
        for step in range(MAX_STEPS):
            loss, gradient, curvature = _core.weight_derivatives(*scored, *own, inverse_temperature)
            if step == 0 or loss < best.log_loss:
                best = cls(rate, inverse_temperature, loss)
            if curvature <= 0:
                break
            inverse_temperature = min(
                max(inverse_temperature + gradient / curvature, inverse_temperature / 4),
                MAX_INVERSE_TEMPERATURE,
            )
        return best

    def parts(self, scores: DocumentScores) -> tuple[Floats, Floats, Floats]:
        """Return what the inverse temperature multiplies, and what is added as it is, (n, C) both.

        The third, (n,), is how much of the offsets is added.
        """
        likelihoods, prior, lengths = scores
        full = discounts(lengths, self.rate)[:, None]
        # Up to a term of each document; a class that nothing is known of stays impossible.
        possible = np.isfinite(likelihoods)
        relative = likelihoods - likelihoods.max(axis=1, keepdims=True, initial=-np.inf)
        if possible.all():
            return (1.0 - full) * relative, prior + full * relative, offset_shares(lengths)
        relative[~possible] = 0.0
        part = np.where(possible, (1.0 - full) * relative, -np.inf)
        return part, prior + full * relative, offset_shares(lengths)

    def log_proba(self, scores: DocumentScores, calibration: Calibration) -> Floats:
        """Return log p(class | document), (n, C)."""
        return calibration.apply(*self.parts(scores))


def _penalty(rate: float) -> float:
    """Return minus the log prior of a rate, up to a constant."""
    return float(((np.log(rate) - LOG_RATE_MEAN) / LOG_RATE_DEVIATION) ** 2 / 2)


def document_log_proba(
    scorer: Scorer,
    rows: Any,
    log_prior: Floats,
    lengths: Floats,
    calibration: Calibration | None,
    rate: float,
) -> Floats:
    """Return log p(class | document), (n, C): calibrated and discounted by length, or as it is.

    Parameters
    ----------
    scorer : what adds log p(document | class)
    rows : prepared rows
    log_prior : (C,)
    lengths : (n,)
    calibration : Calibration, optional
    rate : of the length discount
    """
    if calibration is None:
        return scoring.log_proba(scorer, rows, log_prior)
    likelihoods = scoring.joint_log_proba(scorer, rows, np.zeros_like(log_prior))
    scores = DocumentScores(likelihoods, log_prior, lengths)
    return LengthDiscount(rate).log_proba(scores, calibration)
