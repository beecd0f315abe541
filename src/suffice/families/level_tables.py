"""p(level | class) of one column: Dirichlet posteriors as tables to look levels up in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from suffice import _core
from suffice.data.labels import Codes
from suffice.empirical_bayes.centred import level_sample_size
from suffice.errors import PriorError
from suffice.prior.special import log_gamma_step
from suffice.tally.tally import ROUNDING, Floats, as_readonly


@dataclass(frozen=True, eq=False)
class LevelTables:
    """theta_c ~ Dir(pseudocounts), and what is left for any other level (docs: mathematics, 2).

    Parameters
    ----------
    counts : (C, K)
    pseudocounts : broadcasts to (C, K)
    other : broadcasts to (C,), or None
        Pseudocount of a level that is not among the K; None if there is nothing else.
    prior_sample_size : broadcasts to (C,)
        What the pseudocounts of all levels add up to.

    Examples
    --------
    >>> counts = np.array([[8.0, 1.0], [1.0, 9.0]])
    >>> tables = LevelTables.centred(counts, np.array([0.4, 0.5]), 0.1)
    >>> np.exp(tables.log_table[:3]).sum(axis=0).round(12)  # two levels, and "other"
    array([1., 1.])
    """

    counts: Floats
    pseudocounts: Floats
    other: Any
    prior_sample_size: Any

    @classmethod
    def centred(cls, counts: Floats, shares: Floats, other: float | None) -> Self:
        """Return the tables under prior shares (K,), worth as many rows as evidence says."""
        size = level_sample_size(counts, shares)
        return cls(counts, size * shares, None if other is None else size * other, size)

    @cached_property
    def log_evidence(self) -> float:
        """The log evidence of the counts, in the order in which their rows came."""
        wide = np.broadcast_to(self.pseudocounts, self.counts.shape)
        if np.any(wide <= 0):
            raise PriorError("Pseudocounts of 0 are no prior, and have no evidence. Use alpha > 0.")
        held = self.counts > 0
        levels = np.sum(log_gamma_step(wide[held], self.counts[held]))
        size = np.broadcast_to(self.prior_sample_size, self.totals.shape)
        some = self.totals > 0
        return float(levels - np.sum(log_gamma_step(size[some], self.totals[some])))

    @cached_property
    def totals(self) -> Floats:
        """Rows of each class, (C,)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def log_table(self) -> Floats:
        """Log predictive probabilities (K + 2, C): levels, other, and 0 if missing."""
        classes, levels = self.counts.shape
        table = np.zeros((levels + 2, classes))
        whole = self.totals + self.prior_sample_size
        table[:-2] = _log_ratio((self.counts + self.pseudocounts).T, whole)
        # Where there is nothing else, what comes all the same says nothing of the class.
        if self.other is not None:
            table[-2] = _log_ratio(self.other, whole)
        return as_readonly(table)

    @cached_property
    def _log_leave_one_out(self) -> Floats:
        """The same, of a class that has not learned one row of that level, (K + 2, C)."""
        out = self.log_table.copy()
        left = subtract_or_zero(self.counts, 1.0) + self.pseudocounts
        rest = subtract_or_zero(self.totals, 1.0) + self.prior_sample_size
        out[:-2] = np.where(self.counts.T > 0, _log_ratio(left.T, rest), out[:-2])
        return as_readonly(out)

    def scores(self, codes: Codes) -> Floats:
        """Return log p(level | class), (n, C); 0 if missing."""
        return _core.gather_levels(codes, self.log_table)

    def leave_one_out(self, codes: Codes, own: Codes, weights: Floats) -> Floats:
        """Return the scores (n, C) without each row, which weighs 1 if there are no weights."""
        if not weights.size:
            table, left_out = self.log_table, self._log_leave_one_out
            return _core.gather_left_out_levels(codes, own, table, left_out)
        out = self.scores(codes)
        rows = np.flatnonzero((codes >= 0) & (codes < self.counts.shape[1]))
        level, c, w = codes[rows], own[rows], weights[rows]
        pseudocounts = np.broadcast_to(self.pseudocounts, self.counts.shape)[c, level]
        left = subtract_or_zero(self.counts[c, level], w) + pseudocounts
        size = np.broadcast_to(self.prior_sample_size, self.totals.shape)[c]
        out[rows, c] = _log_ratio(left, subtract_or_zero(self.totals[c], w) + size)
        return out

    def shares(self) -> Floats:
        """Return the predictive probabilities of the K levels and other, (C, K + 1)."""
        return np.exp(self.log_table[:-1].T)


def subtract_or_zero(count: Floats, taken: Any) -> Floats:
    """Return count - taken, and 0 where that is rounding."""
    left = count - taken
    return np.where(left > ROUNDING * count, left, 0.0)


def _log_ratio(part: Any, whole: Floats) -> Floats:
    """Return log(part / whole); -inf of nothing, even if there is no whole."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(part / np.where(whole > 0, whole, 1.0)))
