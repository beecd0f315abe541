"""The normal-inverse-gamma prior that one column's tally has most evidence for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.empirical_bayes.moments import floor_variance
from suffice.kernels.evidence.normal import best_normal_strengths, normal_evidence
from suffice.prior import NormalInverseGamma
from suffice.tally import Moments
from suffice.tally.tally import Floats

# Rows that the common mean may be worth: from hardly any to as good as certain.
MIN_MEAN_SAMPLE_SIZE, MAX_PRIOR_SAMPLE_SIZE = 1e-4, 1e9
# A variance known by less than one row's worth would have tails heavier than Cauchy's.
MIN_VARIANCE_SHAPE = 0.5


def normal_prior(moments: Moments, *, tied: bool) -> NormalInverseGamma:
    """Return the prior of a tally (C, 1), its two sample sizes chosen by the evidence.

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
    low = np.log([MIN_MEAN_SAMPLE_SIZE, MIN_VARIANCE_SHAPE])
    k, a = np.exp(best_normal_strengths(*evidence.facts, low, np.log([MAX_PRIOR_SAMPLE_SIZE] * 2)))
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
    """The evidence of one column's tally (docs: mathematics, section 2).

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
        variance = floor_variance(within, location)
        return cls.about(moments, float(location[0]), float(variance[0]), tied=tied)

    @classmethod
    def about(cls, moments: Moments, location: float, variance: float, *, tied: bool) -> Self:
        """Return that of a tally (C, 1), for a prior of this location and variance."""
        # Copies: arrays of one kind, so that one compiled kernel does for all.
        rows, squares = moments.weight[:, 0].copy(), moments.scatter()[:, 0].copy()
        away = np.where(rows > 0, np.square(moments.mean()[:, 0] - location), 0.0)
        return cls(location, variance, rows, squares, away, tied)

    @property
    def facts(self) -> tuple[Floats, Floats, Floats, float, bool]:
        """What the kernels of `normal_strength` take."""
        return self.rows, self.squares, self.away, self.variance, self.tied

    def log_evidence(self, pseudo_rows: float, shape: float) -> float:
        """Return the log evidence of a prior of this sample size."""
        return float(normal_evidence(*self.facts, np.log(pseudo_rows), np.log(shape))[0])
