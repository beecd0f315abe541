"""Calibration: how sharply, and with what bias, log-probabilities should be believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.scoring.scorer import log_softmax
from suffice.tally.tally import Floats

# Steps of Newton's method: a few suffice, since the problem is concave in few unknowns.
MAX_STEPS = 100
# The gain of a step, in nats for all rows together, below which there is nothing left to gain.
SETTLED = 1e-10
SMALLEST_STEP = 2.0**-40
# Log-probability of the own class below which a row is first taken for one the model knows
# nothing of, and the gain of a step of EM, in nats for all rows, that ends it.
FAR_OFF = -20.0
LAPSE_SETTLED = 1e-6


class Terms(NamedTuple):
    """What rows have beside the log-probabilities that are calibrated.

    Parameters
    ----------
    base : (n, C)
        What is believed as it is.
    share : (n,)
        How much of the classes' offsets is added.
    """

    base: Floats
    share: Floats

    def some(self, at: Any) -> Terms:
        """Return the terms of some rows."""
        return Terms(self.base[at], self.share[at])


@dataclass(frozen=True)
class Calibration:
    """(1 - lapse) softmax(sharpness log p + offsets) + lapse / C (docs: mathematics, section 10).

    Parameters
    ----------
    sharpness : float
        1 leaves probabilities as they are; less than 1 makes them less extreme.
    offsets : (C,)
        What is added for each class.
    lapse : float
        The noise rate: share of rows of which the model knows nothing, however sure it is.

    Examples
    --------
    >>> halved = Calibration(0.5, np.zeros(2))
    >>> np.exp(halved.apply(np.log([[0.9, 0.1]]))).round(2)
    array([[0.75, 0.25]])
    """

    sharpness: float
    offsets: Floats
    lapse: float = 0.0

    @property
    def temperature(self) -> float:
        """What log-probabilities are divided by: 1 / sharpness."""
        return 1.0 / self.sharpness if self.sharpness > 0 else np.inf

    def apply(self, log_proba: Floats, terms: Terms | None = None) -> Floats:
        """Return calibrated log-probabilities (n, C), of rows with terms of their own perhaps."""
        offsets = self.offsets if terms is None else terms.share[:, None] * self.offsets
        if self.sharpness == 0:
            scores = np.where(np.isneginf(log_proba), -np.inf, offsets)
        else:
            scores = self.sharpness * log_proba + offsets
        found = log_softmax(scores if terms is None else scores + terms.base)
        if self.lapse > 0:
            anything = np.log(self.lapse / log_proba.shape[1])
            found = np.logaddexp(found + np.log1p(-self.lapse), anything)
        return np.asarray(found)


def calibrated(
    log_proba: Floats,
    codes: NDArray[np.intp],
    weights: Floats,
    terms: Terms | None = None,
    sharpness: float = 1.0,
) -> Calibration:
    """Return the calibration under which the rows' own classes are most probable.

    Sharpness is believed to be near 1 and offsets near 0, each with a standard deviation of 1:
    rows soon outweigh that, and few rows that are all right do not make it certain. A lapse is
    believed in only if it makes the classes more probable by the price of a further unknown,
    half the logarithm of the rows' weight: some rows far off must not blunt what is said of all
    others. Rows whose own class had no other row say nothing.

    Parameters
    ----------
    log_proba : (n, C)
        Of each row by a model that has not learned it.
    codes : (n,)
    weights : (n,)
    terms : Terms, optional
        What the rows have beside.
    sharpness : float
        Where the search begins, and at which a row may be far off.
    """
    own = log_proba[np.arange(len(codes)), codes]
    kept = np.isfinite(own) & (weights > 0)
    if terms is not None:
        terms = terms.some(kept)
    problem = _Problem(log_proba[kept], codes[kept], weights[kept], terms)
    start = Calibration(sharpness, np.zeros(log_proba.shape[1]))
    plain, plain_value = problem.calibrated(problem.weights, start)
    lapsing, lapsing_value = _with_lapse(problem, start)
    price = np.log(max(float(problem.weights.sum()), 1.0)) / 2
    return lapsing if lapsing_value > plain_value + price else plain


def _with_lapse(problem: _Problem, start: Calibration) -> tuple[Calibration, float]:
    """Return the best calibration with a lapse, by EM from the rows that are not far off."""
    weights, classes = problem.weights, problem.log_proba.shape[1]
    own = problem.log_proba_under(start)[problem.at]
    share = np.where(own > FAR_OFF, 1.0, 0.0)
    value, found = -np.inf, start
    for _ in range(MAX_STEPS):
        lapse = float(weights @ (1 - share)) / max(float(weights.sum()), 1e-300)
        if lapse <= 0:
            break
        plain, _ = problem.calibrated(weights * share, found)
        found = Calibration(plain.sharpness, plain.offsets, lapse)
        log_known = problem.log_proba_under(plain)[problem.at] + np.log1p(-lapse)
        log_mixed = np.logaddexp(log_known, np.log(lapse / classes))
        before, value = value, float(weights @ log_mixed) + problem.log_prior(plain)
        share = np.exp(log_known - log_mixed)
        if value - before <= LAPSE_SETTLED:
            break
    return found, value


class _Problem:
    """The log posterior of (sharpness, offsets), its slope and its curvature."""

    def __init__(
        self,
        log_proba: Floats,
        codes: NDArray[np.intp],
        weights: Floats,
        terms: Terms | None = None,
    ) -> None:
        self.possible = np.isfinite(log_proba)
        self.log_proba = np.where(self.possible, log_proba, 0.0)
        self.at = np.arange(len(codes)), codes
        self.weights = weights
        self.base: Floats = np.zeros((1, 1))
        self.share: Floats = np.ones(1)
        if terms is not None:
            self.base = np.where(self.possible, terms.base, 0.0)
            self.share = terms.share

    def log_proba_under(self, calibration: Calibration) -> Floats:
        """Return log-probabilities (n, C) under a calibration, its lapse aside."""
        unknowns = np.concatenate([[calibration.sharpness], calibration.offsets])
        return log_softmax(self.scores(unknowns))

    def scores(self, unknowns: Floats) -> Floats:
        """Return the scores (n, C), -inf for what is impossible."""
        found = self.base + unknowns[0] * self.log_proba + self.share[:, None] * unknowns[1:]
        return np.where(self.possible, found, -np.inf)

    def log_prior(self, calibration: Calibration) -> float:
        """Return the log prior of a calibration, up to a constant."""
        away = (calibration.sharpness - 1) ** 2 + float(np.square(calibration.offsets).sum())
        return -away / 2

    def calibrated(
        self, weights: Floats, near: Calibration | None = None
    ) -> tuple[Calibration, float]:
        """Return the best calibration without a lapse for weighted rows, and its log posterior.

        One that may be near is where the search begins.
        """
        self.weights, before = weights, self.weights
        unknowns = np.concatenate([[1.0], np.zeros(self.log_proba.shape[1])])
        if near is not None:
            unknowns = np.concatenate([[near.sharpness], near.offsets])
        unknowns = self.climbed(unknowns, np.arange(len(unknowns)))
        if unknowns[0] < 0:  # wrong more often than not: the log-probabilities say nothing
            unknowns[0] = 0.0
            unknowns = self.climbed(unknowns, np.arange(1, len(unknowns)))
        value = self.value(unknowns)[0]
        self.weights = before
        return Calibration(float(unknowns[0]), unknowns[1:]), value

    def value(self, unknowns: Floats) -> tuple[float, Floats]:
        """Return the log posterior, up to a constant, and the probabilities (n, C)."""
        log_proba = log_softmax(self.scores(unknowns))
        away = unknowns - np.eye(len(unknowns))[0]
        gain = float(self.weights @ log_proba[self.at]) if len(self.weights) else 0.0
        return gain - float(away @ away) / 2, np.asarray(np.exp(log_proba))

    def climbed(self, unknowns: Floats, free: NDArray[np.intp]) -> Floats:
        """Return the maximum over the free unknowns, by Newton's method with a line search."""
        now, proba = self.value(unknowns)
        for _ in range(MAX_STEPS):
            slope, curvature = self.slope_and_curvature(unknowns, proba)
            step = np.zeros(len(unknowns))
            step[free] = np.linalg.solve(curvature[np.ix_(free, free)], slope[free])
            if slope @ step <= SETTLED:
                break
            length = 1.0
            while length > SMALLEST_STEP:
                value, tried = self.value(unknowns + length * step)
                if value > now:
                    break
                length /= 2
            else:
                break
            unknowns, now, proba = unknowns + length * step, value, tried
        return unknowns

    def slope_and_curvature(self, unknowns: Floats, proba: Floats) -> tuple[Floats, Floats]:
        """Return the gradient (K,) and minus the Hessian (K, K) of the log posterior."""
        size = len(unknowns)
        weighed = self.weights[:, None] * proba
        expected = (proba * self.log_proba).sum(axis=1)
        away = self.log_proba - expected[:, None]
        slope = np.empty(size)
        slope[0] = self.weights @ (self.log_proba[self.at] - expected)
        share = np.broadcast_to(self.share, self.weights.shape)
        seen = np.bincount(self.at[1], share * self.weights, size - 1)
        added = share[:, None] * weighed
        slope[1:] = seen - added.sum(axis=0)
        curvature = np.empty((size, size))
        curvature[0, 0] = (weighed * away**2).sum()
        curvature[0, 1:] = curvature[1:, 0] = (added * away).sum(axis=0)
        twice = share[:, None] * added
        curvature[1:, 1:] = np.diag(twice.sum(axis=0)) - proba.T @ twice
        return slope - (unknowns - np.eye(size)[0]), curvature + np.eye(size)
