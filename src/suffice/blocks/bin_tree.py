"""Bins as the leaves of a tree: every class halves its rows as all classes do, more or less."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from suffice.blocks.level_tables import STRONGEST, WEAKEST, left_of, told
from suffice.data.labels import Codes
from suffice.kernels.level_strength import best_level_strength, level_evidence
from suffice.kernels.level_tables import add_halves, gather_left_out, gather_levels
from suffice.tally.tally import Floats, given

Places = NDArray[np.intp]
# Rows that are added to each bin of all classes together, so that no half has probability 0.
SUPPOSED_ROWS = 1.0


class Halves(NamedTuple):
    """Ranges of bins of one depth of the tree, each cut in two: low .. middle .. high, all (m,).

    node, half : (B,)
        The range that each bin is in, -1 for a bin that was parted before, and its half.
    """

    low: Places
    middle: Places
    high: Places
    node: Places
    half: Places

    def sums(self, counts: Floats) -> Floats:
        """Return what lies in the lower and the upper half of each range, (C, m, 2)."""
        out = np.zeros((len(counts), len(self.low), 2))
        add_halves(np.array(counts, np.float64, order="C"), self.node, self.half, out)
        return out


@cache
def halved(bins: int) -> tuple[Halves, ...]:
    """Return the ranges of all depths, from all bins on, until every range is one bin.

    Examples
    --------
    >>> [list(zip(*(part.tolist() for part in depth[:3]))) for depth in halved(3)]
    [[(0, 2, 3)], [(0, 1, 2)]]
    >>> halved(3)[1].node, halved(3)[1].half
    (array([ 0,  0, -1]), array([0, 1, 0]))
    """
    found: list[Halves] = []
    ranges = [(0, bins)]
    while True:
        cut = [(low, (low + high + 1) // 2, high) for low, high in ranges if high - low > 1]
        if not cut:
            return tuple(found)
        node, half = np.full(bins, -1, np.intp), np.zeros(bins, np.intp)
        for at, (low, middle, high) in enumerate(cut):
            node[low:high] = at
            half[middle:high] = 1
        low_ends, middles, high_ends = np.array(cut, np.intp).T
        found.append(Halves(low_ends, middles, high_ends, node, half))
        ranges = [part for low, at, high in cut for part in ((low, at), (at, high))]


class Parted(NamedTuple):
    """One depth of a tree: its ranges, the classes' rows in their halves, and all classes' shares.

    sums : (C, m, 2)
    base : (m, 2)
    """

    ranges: Halves
    sums: Floats
    base: Floats

    def log_shares(self, strength: float, left: Floats, whole: Floats, at: Any) -> Floats:
        """Return the logs of the shares of halves that have so many rows left of the whole."""
        return np.asarray(np.log((left + strength * self.base[at]) / (whole + strength)))


@dataclass(frozen=True, eq=False)
class BinTree:
    """Shares of bins under a Polya tree: each half of a range ~ Beta(strength * share of all).

    The strength is one for each depth, by evidence (docs: mathematics, section 2): where classes
    differ in the large and not in the small, neighbouring bins are as they are in all classes.

    Parameters
    ----------
    counts : (C, B)
    pooled : (B,)
        Rows of all classes that the halves are centred on.
    strengths : (depths,)

    Examples
    --------
    >>> tree = BinTree.of(np.array([[8.0, 9.0, 1.0, 0.0], [1.0, 0.0, 9.0, 8.0]]))
    >>> tree.shares().sum(axis=1)
    array([1., 1.])
    >>> bool(tree.strengths[0] < 1 < 1e3 < tree.strengths[1])
    True
    """

    counts: Floats
    pooled: Floats
    strengths: Floats

    @classmethod
    def of(cls, counts: Floats) -> Self:
        """Return the tree of the strengths that the counts have most evidence for."""
        tree = cls(counts, given(counts.sum(axis=0)), np.empty(0))
        low, high = np.log(WEAKEST), np.log(STRONGEST)
        logs = [best_level_strength(*facts, low, high) for facts in tree._facts]
        found = replace(tree, strengths=given(np.exp(np.array(logs, np.float64))))
        # The same rows: what was added up of them serves again.
        found.__dict__.update(_depths=tree._depths, _facts=tree._facts)
        return found

    @cached_property
    def _depths(self) -> list[Parted]:
        found = []
        for ranges in halved(self.counts.shape[1]):
            rows = ranges.sums(self.pooled[None] + SUPPOSED_ROWS)[0]
            base = rows / rows.sum(axis=1, keepdims=True)
            found.append(Parted(ranges, ranges.sums(self.counts), base))
        return found

    @cached_property
    def _facts(self) -> list[tuple[Floats, Floats, Floats]]:
        """What the evidence of each depth is made of."""
        return [
            told(sums.reshape(-1, 2), np.broadcast_to(base, sums.shape).reshape(-1, 2))
            for _, sums, base in self._depths
        ]

    @cached_property
    def log_evidence(self) -> float:
        """The log evidence of the counts, in the order in which their rows came."""
        pairs = zip(self._facts, np.log(self.strengths).tolist(), strict=True)
        return float(sum(level_evidence(*facts, log) for facts, log in pairs))

    @cached_property
    def log_table(self) -> Floats:
        """Log predictive probabilities (B + 2, C); the last two rows are 0, as gaps are."""
        return self._table(0.0)

    @cached_property
    def log_without(self) -> Floats:
        """The same, of a class that has not learned one row of that bin."""
        return self._table(1.0)

    def _table(self, taken: float) -> Floats:
        classes, bins = self.counts.shape
        table = np.zeros((bins + 2, classes))
        for depth, strength in zip(self._depths, self.strengths.tolist(), strict=True):
            left, whole = left_of(depth.sums, taken), left_of(depth.sums.sum(axis=2), taken)
            logs = depth.log_shares(strength, left, whole[:, :, None], slice(None))
            inside = np.flatnonzero(depth.ranges.node >= 0)
            table[inside] += logs[:, depth.ranges.node[inside], depth.ranges.half[inside]].T
        return given(table)

    def scores(self, codes: Codes) -> Floats:
        """Return log p(bin | class), (n, C); 0 for gaps."""
        out = np.empty((len(codes), len(self.counts)))
        gather_levels(codes, self.log_table, out)
        return out

    def left_out(self, codes: Codes, own: Codes, weights: Floats) -> Floats:
        """Return the scores (n, C) without each row, which weighs 1 if there are no weights."""
        if not weights.size:
            out = np.empty((len(codes), len(self.counts)))
            gather_left_out(codes, own, self.log_table, self.log_without, out)
            return out
        out = self.scores(codes)
        rows = np.flatnonzero(codes >= 0)
        bins, classes, w = codes[rows], own[rows], weights[rows]
        total = np.zeros(len(rows))
        for depth, strength in zip(self._depths, self.strengths.tolist(), strict=True):
            inside = np.flatnonzero(depth.ranges.node[bins] >= 0)
            at = depth.ranges.node[bins[inside]], depth.ranges.half[bins[inside]]
            c, taken = classes[inside], w[inside]
            left = left_of(depth.sums[c, *at], taken)
            whole = left_of(depth.sums[c, at[0]].sum(axis=1), taken)
            total[inside] += depth.log_shares(strength, left, whole, at)
        out[rows, classes] = total
        return out

    def shares(self) -> Floats:
        """Return the predictive probabilities of the bins, (C, B)."""
        return np.exp(self.log_table[:-2].T)
