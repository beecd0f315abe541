"""The normal-inverse-gamma prior that one column's tally has most evidence for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.blocks.peak import highest
from suffice.model.pseudocounts import digamma_rise
from suffice.model.strength import spreads
from suffice.prior import NormalInverseGamma
from suffice.prior.gammas import log_gamma_step
from suffice.tally import Moments
from suffice.tally.tally import Floats

# Rows that the common mean may be worth: from hardly any to as good as certain.
WEAKEST_MEAN, STRONGEST = 1e-4, 1e9
# A variance known by less than one row's worth would have tails heavier than Cauchy's.
WEAKEST_VARIANCE = 0.5
LOG_TWO_PI = float(np.log(2 * np.pi))


def normal_prior(moments: Moments, *, tied: bool) -> NormalInverseGamma:
    """Return the prior of a tally (C, 1), its two strengths chosen by the evidence.

    It is centred on the pooled mean and the pooled variance within classes. Nothing but the tally
    is needed, so what is forgotten leaves no trace.

    Examples
    --------
    >>> alike = Moments([[9.0], [9.0]], [[0.0], [0.0]], [[0.0], [0.0]], [[9.0], [9.0]])
    >>> apart = Moments([[9.0], [9.0]], [[0.0], [9.0]], [[0.0], [0.0]], [[9.0], [9.0]])
    >>> bool(normal_prior(alike, tied=False).pseudo_rows[0, 0] > 1e6)
    True
    >>> bool(normal_prior(apart, tied=False).pseudo_rows[0, 0] < 1)
    True
    """
    evidence = NormalEvidence.of(moments, tied=tied)
    low = np.log([WEAKEST_MEAN, WEAKEST_VARIANCE])
    k, a = np.exp(highest(evidence.log_evidence, evidence.slope, low, np.log([STRONGEST] * 2)))
    classes = len(moments.weight)
    shape = (1 if tied else classes, 1)
    return NormalInverseGamma(
        location=np.full((classes, 1), evidence.location),
        pseudo_rows=np.full((classes, 1), k),
        shape=np.full(shape, a),
        scale=np.full(shape, a * evidence.variance),
        shared=(0,) if tied else (),
    )


@dataclass(frozen=True)
class NormalEvidence:
    """Log evidence and slope at many (log k, log a) at once (docs: mathematics, section 2).

    The prior is NIG(location, k, a, a * variance).

    Parameters
    ----------
    location, variance : float
    rows, squares, away : (C,)
        Rows of each class, their scatter, and the squared distance of their mean from `location`.
    tied : bool
        Whether one variance serves all classes.
    """

    location: float
    variance: float
    rows: Floats
    squares: Floats
    away: Floats
    tied: bool

    @classmethod
    def of(cls, moments: Moments, *, tied: bool) -> Self:
        """Return that of a tally (C, 1), centred on its pooled rows."""
        location = moments.pooled().mean()
        total = float(moments.weight.sum())
        within = moments.scatter().sum(axis=0) / (total if total > 0 else 1.0)
        variance = spreads(within, location)
        return cls.about(moments, float(location[0]), float(variance[0]), tied=tied)

    @classmethod
    def about(cls, moments: Moments, location: float, variance: float, *, tied: bool) -> Self:
        """Return that of a tally (C, 1), for a prior of this location and variance."""
        rows, squares = moments.weight[:, 0], moments.scatter()[:, 0]
        away = np.where(rows > 0, np.square(moments.mean()[:, 0] - location), 0.0)
        return cls(location, variance, rows, squares, away, tied)

    def _parts(self, logs: Floats) -> tuple[Floats, ...]:
        """Return k, a (P, 1), and for each variance its rows and what it grows by, (P, G)."""
        k, a = np.exp(logs[:, :1]), np.exp(logs[:, 1:])
        grown = (self.squares + k * self.rows / (k + self.rows) * self.away) / 2
        rows = np.broadcast_to(self.rows, grown.shape)
        if self.tied:
            grown, rows = (part.sum(axis=1, keepdims=True) for part in (grown, rows))
        return k, a, rows, grown

    def log_evidence(self, logs: Floats) -> Floats:
        """Return the log evidence at points (P, 2)."""
        k, a, rows, grown = self._parts(logs)
        before = a * self.variance
        gain = log_gamma_step(a, rows / 2) - a * np.log1p(grown / before)
        gain = gain - rows / 2 * (np.log(before + grown) + LOG_TWO_PI)
        return np.asarray(gain.sum(axis=1) - np.log1p(self.rows / k).sum(axis=1) / 2)

    def slope(self, logs: Floats) -> Floats:
        """Return the derivatives by log k and log a, (P, 2)."""
        k, a, rows, grown = self._parts(logs)
        before = a * self.variance
        after = before + grown
        pull = (a + rows / 2) / after
        part = self.rows / (k + self.rows)
        by_k = (part - pull * k * part**2 * self.away).sum(axis=1) / 2
        wide = np.broadcast_to(a, rows.shape)
        inner = digamma_rise(wide, rows / 2) - np.log1p(grown / before)
        by_a = a[:, 0] * (inner + (grown - rows * self.variance / 2) / after).sum(axis=1)
        return np.stack([by_k, by_a], axis=1)
