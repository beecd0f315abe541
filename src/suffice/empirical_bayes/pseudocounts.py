"""One pseudocount for all terms of documents: the evidence of the tally, maximised.

The evidence needs the tally alone, so what is forgotten leaves no trace.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import digamma, gammaln

from suffice.empirical_bayes.search import maximize_sample_size
from suffice.tally.tally import Floats

# Fewer pseudocounts than the first are as good as none, more than the last as good as certainty.
MIN_PSEUDOCOUNT, MAX_PSEUDOCOUNT = 1e-6, 1e6
# Steps of the first look, in log pseudocounts: a factor of about 3 each.
GRID_SIZE = 25
# Pseudocounts that are taken where there is nothing to choose them by.
DEFAULT_PSEUDOCOUNT = 1.0
# From here on the digamma function is its asymptotic series to rounding.
MIN_ASYMPTOTIC = 20.0
# Bernoulli numbers over 2k, of the asymptotic series: 1/12 x^-2, -1/120 x^-4, ...
SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132)
# Whole numbers below this are counted in a table, others sorted.
MAX_COUNTED = 1 << 20


@dataclass(frozen=True)
class SymmetricEvidence:
    """The evidence of counts under symmetric Dirichlets of one pseudocount (docs: mathematics, 2).

    Parameters
    ----------
    counts, times : (k,)
        Counts above 0, each once, and how many levels of all groups have them.
    totals, levels, groups : (g,)
        What the levels of a group add up to, how many levels it has, and how many such groups
        there are.

    Examples
    --------
    >>> even = SymmetricEvidence.of(np.array([[50.0, 50.0], [49.0, 51.0]]))
    >>> skewed = SymmetricEvidence.of(np.array([[100.0, 0.0], [1.0, 99.0]]))
    >>> best_pseudocount(even.slope, even.log_evidence) > 100
    True
    >>> best_pseudocount(skewed.slope, skewed.log_evidence) < 1
    True
    """

    counts: Floats
    times: Floats
    totals: Floats
    levels: Floats
    groups: Floats

    @classmethod
    def of(cls, *tables: Floats) -> Self:
        """Return that of tables (..., levels): the levels of a group lie on the last axis."""
        counts, times = _distinct(np.concatenate([table.ravel() for table in tables]))
        groups = [_distinct(table.sum(axis=-1).ravel()) for table in tables]
        levels = [
            np.full(len(totals), float(table.shape[-1]))
            for table, (totals, _) in zip(tables, groups, strict=True)
        ]
        totals, repeats = (np.concatenate(parts) for parts in zip(*groups, strict=True))
        return cls(counts, times, totals, np.concatenate(levels), repeats)

    def log_evidence(self, pseudocount: float) -> float:
        """Return the log evidence, but for the orders that rows of counts stand for."""
        whole = pseudocount * self.levels
        gain = self.times @ (gammaln(pseudocount + self.counts) - gammaln(pseudocount))
        return float(gain - self.groups @ (gammaln(whole + self.totals) - gammaln(whole)))

    def slope(self, pseudocount: float) -> float:
        """Return the derivative of the log evidence by the pseudocount."""
        gain = self.times @ digamma_rise(np.full_like(self.counts, pseudocount), self.counts)
        loss = digamma_rise(pseudocount * self.levels, self.totals)
        return float(gain - (self.groups * self.levels) @ loss)


def best_pseudocount(
    slope: Callable[[float], float], log_evidence: Callable[[float], float]
) -> float:
    """Return the pseudocount between SMALLEST and LARGEST with most evidence."""
    grid = np.linspace(np.log(MIN_PSEUDOCOUNT), np.log(MAX_PSEUDOCOUNT), GRID_SIZE)
    found = maximize_sample_size(log_evidence, slope, grid)
    return DEFAULT_PSEUDOCOUNT if found is None else found


def _distinct(values: Floats) -> tuple[Floats, Floats]:
    """Return the values above 0, each once, and how often each is there."""
    values = values[values > 0]
    if values.size and values.max() < MAX_COUNTED and np.all(values == np.floor(values)):
        table = np.bincount(values.astype(np.intp))
        whole = np.flatnonzero(table)
        return whole.astype(np.float64), table[whole].astype(np.float64)
    found, times = np.unique(values, return_counts=True)
    return np.asarray(found), times.astype(np.float64)


def digamma_rise(start: Floats, rise: Floats) -> Floats:
    """Return digamma(start + rise) - digamma(start), to all digits where start is large.

    Examples
    --------
    >>> float(digamma_rise(np.array([1.0]), np.array([2.0]))[0])  # 1/1 + 1/2
    1.5
    """
    far = start >= MIN_ASYMPTOTIC
    out = np.empty(np.broadcast_shapes(np.shape(start), np.shape(rise)))
    near = ~far
    out[near] = digamma(start[near] + rise[near]) - digamma(start[near])
    low, high = 1.0 / start[far], 1.0 / (start[far] + rise[far])
    out[far] = np.log1p(rise[far] * low) + 0.5 * rise[far] * low * high
    for order, factor in enumerate(SERIES, start=1):
        out[far] += factor * (low ** (2 * order) - high ** (2 * order))
    return out


def pseudocount_by_evidence(*counts: Floats) -> float:
    """Return the pseudocount for all levels that makes counts (..., K) most probable."""
    evidence = SymmetricEvidence.of(*counts)
    return best_pseudocount(evidence.slope, evidence.log_evidence)
