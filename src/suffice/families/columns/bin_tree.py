"""Bins as the leaves of a tree: every class halves its rows as all classes do, more or less."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.data.labels import Codes
from suffice.empirical_bayes.centred import level_sample_sizes
from suffice.tally.tally import ROUNDING, Floats, as_readonly

Places = NDArray[np.int64]
# Rows that are added to each bin of all classes together, so that no half has probability 0.
PSEUDO_COUNT = 1.0


class Halves(NamedTuple):
    """How bins are parted: ranges of each depth are cut in two until every range is one bin.

    node, half : (depths, bins)
        The range of a depth that each bin is in, -1 for a bin that was parted before, and its half.
    ranges : int
        How many a depth has at most.
    """

    node: Places
    half: Places
    ranges: int


@cache
def halve(bins: int) -> Halves:
    """Return the ranges of all depths, from all bins on.

    Examples
    --------
    >>> halve(3).node.tolist(), halve(3).half.tolist(), halve(3).ranges
    ([[0, 0, 0], [0, 0, -1]], [[0, 0, 1], [0, 1, 0]], 1)
    """
    nodes: list[Places] = []
    halves: list[Places] = []
    ranges, most = [(0, bins)], 0
    while cut := [(low, (low + high + 1) // 2, high) for low, high in ranges if high - low > 1]:
        node, half = np.full(bins, -1, np.int64), np.zeros(bins, np.int64)
        for at, (low, middle, high) in enumerate(cut):
            node[low:high] = at
            half[middle:high] = 1
        nodes.append(node)
        halves.append(half)
        most = max(most, len(cut))
        ranges = [part for low, at, high in cut for part in ((low, at), (at, high))]
    shape = len(nodes), bins
    return Halves(
        np.array(nodes, np.int64).reshape(shape), np.array(halves, np.int64).reshape(shape), most
    )


class Sums(NamedTuple):
    """What lies in both halves of every range.

    classes : (depths, C, 2 ranges)
    base : (depths, 2 ranges)
        The shares of all classes together.
    """

    classes: Floats
    base: Floats


@dataclass(frozen=True, eq=False)
class BinTree:
    """Shares of bins under a Polya tree: each half of a range ~ Beta(size * share of all).

    The prior sample size is one for each depth, by evidence (docs: mathematics, section 2): where
    classes differ in the large and not in the small, neighbouring bins are as they are in all
    classes.

    Parameters
    ----------
    counts : (C, B)
    pooled : (B,)
        Rows of all classes that the halves are centred on.
    prior_sample_sizes : (depths,)

    Examples
    --------
    >>> tree = BinTree.of(np.array([[8.0, 9.0, 1.0, 0.0], [1.0, 0.0, 9.0, 8.0]]))
    >>> tree.shares().sum(axis=1)
    array([1., 1.])
    >>> bool(tree.prior_sample_sizes[0] < 2 < 1e3 < tree.prior_sample_sizes[1])
    True
    """

    counts: Floats
    pooled: Floats
    prior_sample_sizes: Floats

    @classmethod
    def of(cls, counts: Floats) -> Self:
        """Return the tree of the prior sample sizes that the counts have most evidence for."""
        tree = cls(counts, as_readonly(counts.sum(axis=0)), np.empty(0))
        prior_sample_sizes = level_sample_sizes(*tree._sums, 2)
        found = replace(tree, prior_sample_sizes=as_readonly(prior_sample_sizes))
        # The same rows: what was added up of them serves again.
        found.__dict__.update(_halves=tree._halves, _sums=tree._sums)
        return found

    @cached_property
    def _halves(self) -> Halves:
        return halve(self.counts.shape[1])

    @cached_property
    def _sums(self) -> Sums:
        return Sums(*_core.bin_tree_sums(self.counts, self.pooled + PSEUDO_COUNT, *self._halves))

    @property
    def _tree(self) -> tuple[Floats, Floats, Places, Places, Floats, float]:
        """What the core takes."""
        node, half, _ = self._halves
        return *self._sums, node, half, self.prior_sample_sizes, ROUNDING

    @cached_property
    def log_evidence(self) -> float:
        """The log evidence of the counts, in the order in which their rows came."""
        return float(_core.level_evidence(*self._sums, 2, self.prior_sample_sizes).sum())

    @cached_property
    def log_table(self) -> Floats:
        """Log predictive probabilities (B + 2, C); the last two rows are 0 (missing)."""
        return as_readonly(_core.bin_tree_shares(*self._tree, 0.0))

    @cached_property
    def log_leave_one_out(self) -> Floats:
        """The same, of a class that has not learned one row of that bin."""
        return as_readonly(_core.bin_tree_shares(*self._tree, 1.0))

    def scores(self, codes: Codes) -> Floats:
        """Return log p(bin | class), (n, C); 0 if missing."""
        return _core.gather_levels(codes, self.log_table)

    def leave_one_out(self, codes: Codes, own: Codes, weights: Floats) -> Floats:
        """Return the scores (n, C) without each row, which weighs 1 if there are no weights."""
        if not weights.size:
            table, left_out = self.log_table, self.log_leave_one_out
            return _core.gather_left_out_levels(codes, own, table, left_out)
        out = self.scores(codes)
        out[np.arange(len(own)), own] = _core.bin_tree_left_out(*self._tree, codes, own, weights)
        return out

    def shares(self) -> Floats:
        """Return the predictive probabilities of the bins, (C, B)."""
        return np.exp(self.log_table[:-2].T)
