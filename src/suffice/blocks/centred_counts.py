"""The evidence of counts by class under Dirichlets about common shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.model.pseudocounts import digamma_rise
from suffice.prior.gammas import log_gamma_step
from suffice.tally.tally import Floats


@dataclass(frozen=True)
class CentredCounts:
    """The evidence of counts as a function of the strength of their prior.

    Parameters
    ----------
    counts, base : (k,)
        Counts above 0 of all classes, and the prior share of the level of each.
    totals : (C,)
    """

    counts: Floats
    base: Floats
    totals: Floats

    @classmethod
    def of(cls, counts: Floats, base: Floats) -> Self:
        """Return that of counts (C, K) about a base (K,)."""
        own, level = np.nonzero(counts)
        totals = counts.sum(axis=1)
        return cls(counts[own, level], base[level], totals[totals > 0])

    def log_evidence(self, logs: Floats) -> Floats:
        """Return the log evidence at logs of strengths, (P, 1)."""
        strength = np.exp(logs)
        gain = log_gamma_step(strength * self.base, self.counts).sum(axis=1)
        return np.asarray(gain - log_gamma_step(strength, self.totals).sum(axis=1))

    def slope(self, logs: Floats) -> Floats:
        """Return its derivatives by the logs, (P, 1)."""
        strength = np.exp(logs)
        each = strength * self.base
        gain = digamma_rise(each, np.broadcast_to(self.counts, each.shape)) @ self.base
        wide = np.broadcast_to(strength, (len(logs), len(self.totals)))
        loss = digamma_rise(wide, np.broadcast_to(self.totals, wide.shape)).sum(axis=1)
        return np.asarray(strength * (gain - loss)[:, None])
