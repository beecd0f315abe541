"""Bins as the leaves of a tree: every class halves its rows as all classes do, more or less."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.data.labels import Codes
from suffice.empirical_bayes.centred import MAX_PRIOR_SAMPLE_SIZE, MIN_PRIOR_SAMPLE_SIZE
from suffice.kernels.evidence.bin_tree import (
    add_halves,
    best_tree_strengths,
    tree_evidence,
    write_leaves,
    write_own_leaves,
)
from suffice.tally.tally import ROUNDING, Floats, as_readonly

Places = NDArray[np.intp]
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
        node, half = np.full(bins, -1, np.intp), np.zeros(bins, np.intp)
        for at, (low, middle, high) in enumerate(cut):
            node[low:high] = at
            half[middle:high] = 1
        nodes.append(node)
        halves.append(half)
        most = max(most, len(cut))
        ranges = [part for low, at, high in cut for part in ((low, at), (at, high))]
    shape = len(nodes), bins
    return Halves(np.reshape(nodes, shape), np.reshape(halves, shape), most)


class Sums(NamedTuple):
    """What lies in both halves of every range.

    classes : (depths, C, ranges, 2)
    base : (depths, ranges, 2)
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
        prior_sample_sizes = np.empty(len(tree._halves.node))
        best_tree_strengths(
            *tree._sums,
            np.log(MIN_PRIOR_SAMPLE_SIZE),
            np.log(MAX_PRIOR_SAMPLE_SIZE),
            prior_sample_sizes,
        )
        found = replace(tree, prior_sample_sizes=as_readonly(prior_sample_sizes))
        # The same rows: what was added up of them serves again.
        found.__dict__.update(_halves=tree._halves, _sums=tree._sums)
        return found

    @cached_property
    def _halves(self) -> Halves:
        return halve(self.counts.shape[1])

    @cached_property
    def _sums(self) -> Sums:
        node, half, ranges = self._halves
        found = Sums(
            np.zeros((len(node), len(self.counts), ranges, 2)), np.zeros((len(node), ranges, 2))
        )
        # A copy: arrays of one kind, so that one compiled kernel does for all.
        counts = np.array(self.counts, np.float64, order="C")
        add_halves(counts, self.pooled + PSEUDO_COUNT, node, half, *found)
        return found

    @property
    def _tree(self) -> tuple[Floats, Floats, Places, Places, Floats]:
        """What the kernels take."""
        return *self._sums, self._halves.node, self._halves.half, self.prior_sample_sizes.copy()

    @cached_property
    def log_evidence(self) -> float:
        """The log evidence of the counts, in the order in which their rows came."""
        return float(tree_evidence(*self._sums, self.prior_sample_sizes.copy()))

    @cached_property
    def log_table(self) -> Floats:
        """Log predictive probabilities (B + 2, C); the last two rows are 0 (missing)."""
        return self._table(0.0)

    @cached_property
    def log_leave_one_out(self) -> Floats:
        """The same, of a class that has not learned one row of that bin."""
        return self._table(1.0)

    def _table(self, taken: float) -> Floats:
        classes, bins = self.counts.shape
        table = np.zeros((bins + 2, classes))
        write_leaves(*self._tree, taken, ROUNDING, table)
        return as_readonly(table)

    def scores(self, codes: Codes) -> Floats:
        """Return log p(bin | class), (n, C); 0 if missing."""
        return _core.gather_levels(codes, self.log_table)

    def leave_one_out(self, codes: Codes, own: Codes, weights: Floats) -> Floats:
        """Return the scores (n, C) without each row, which weighs 1 if there are no weights."""
        if not weights.size:
            table, left_out = self.log_table, self.log_leave_one_out
            return _core.gather_left_out_levels(codes, own, table, left_out)
        out = self.scores(codes)
        write_own_leaves(*self._tree, codes, own, np.array(weights), ROUNDING, out)
        return out

    def shares(self) -> Floats:
        """Return the predictive probabilities of the bins, (C, B)."""
        return np.exp(self.log_table[:-2].T)
