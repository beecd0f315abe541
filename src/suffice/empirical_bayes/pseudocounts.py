"""One pseudocount for all terms of documents: the evidence of the tally, maximised.

The evidence needs the tally alone, so what is forgotten leaves no trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice import _core
from suffice.tally.tally import Floats

# Fewer pseudocounts than the first are as good as none, more than the last as good as certainty.
MIN_PSEUDOCOUNT, MAX_PSEUDOCOUNT = 1e-6, 1e6
# Pseudocounts that are taken where there is nothing to choose them by.
DEFAULT_PSEUDOCOUNT = 1.0
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
    >>> even.best_pseudocount() > 100
    True
    >>> skewed.best_pseudocount() < 1
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

    def best_pseudocount(self) -> float:
        """Return the pseudocount with most evidence, between the least and the most."""
        ends = MIN_PSEUDOCOUNT, MAX_PSEUDOCOUNT
        counts, groups = (self.counts, self.times), (self.totals, self.levels, self.groups)
        return _core.best_pseudocount(*counts, *groups, ends, DEFAULT_PSEUDOCOUNT)


def _distinct(values: Floats) -> tuple[Floats, Floats]:
    """Return the values above 0, each once, and how often each is there."""
    values = values[values > 0]
    if values.size and values.max() < MAX_COUNTED and np.all(values == np.floor(values)):
        table = np.bincount(values.astype(np.intp))
        whole = np.flatnonzero(table)
        return whole.astype(np.float64), table[whole].astype(np.float64)
    found, times = np.unique(values, return_counts=True)
    return np.asarray(found), times.astype(np.float64)


def pseudocount_by_evidence(*counts: Floats) -> float:
    """Return the pseudocount for all levels that makes counts (..., K) most probable."""
    return SymmetricEvidence.of(*counts).best_pseudocount()
