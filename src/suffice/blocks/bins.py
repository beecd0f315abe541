"""Bins of the number line: inner ones of a constant density, outer ones with exponential tails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from suffice.data.labels import Codes
from suffice.kernels.level_tables import find_bins
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class Bins:
    """How a number has its bin, and its log density within it.

    The outer bins reach to infinity; a number in one of them is at an exponential distance from
    its edge. All classes share these shapes, so what tells classes apart is the bin alone.

    Parameters
    ----------
    edges : (B - 1,)
        Increasing; a number on an edge is in the upper bin.
    tails : (2,)
        Mean distance of the numbers in the lowest and the highest bin from its edge.

    Examples
    --------
    >>> bins = Bins(np.array([0.0, 2.0]), np.array([1.0, 3.0]))
    >>> bins.codes(np.array([-1.0, 0.0, 1.9, 5.0, np.nan]))
    array([ 0,  1,  1,  2, -1], dtype=int32)
    >>> bins.expected
    array([-1.,  1.,  5.])
    """

    edges: Floats
    tails: Floats

    @classmethod
    def of(cls, values: Floats, weights: Floats, edges: Floats) -> Self:
        """Return the bins of these edges, with tails as the sorted values, of weights, have them.

        No tail is shorter than the distance of neighbouring floats.
        """
        first, last = np.searchsorted(values, edges[[0, -1]])
        below, above = edges[0] - values[:first], values[last:] - edges[-1]
        light, heavy = weights[:first], weights[last:]
        mean = below @ light / light.sum(), above @ heavy / heavy.sum()
        return cls(edges, np.maximum(mean, np.spacing(np.abs(edges[[0, -1]]))))

    @property
    def size(self) -> int:
        """How many bins there are."""
        return len(self.edges) + 1

    @cached_property
    def log_widths(self) -> Floats:
        """The log of each bin's width, of its mean distance for the outer ones, (B,)."""
        widths = np.concatenate([self.tails[:1], np.diff(self.edges), self.tails[1:]])
        return np.asarray(np.log(widths))

    @property
    def expected(self) -> Floats:
        """The expectation of a number in each bin, (B,)."""
        middle = (self.edges[:-1] + self.edges[1:]) / 2
        ends = self.edges[0] - self.tails[0], self.edges[-1] + self.tails[1]
        return np.concatenate([ends[:1], middle, ends[1:]])

    def codes(self, x: Floats) -> Codes:
        """Return the bin of every number, -1 for gaps."""
        out = np.empty(len(x), np.int32)
        find_bins(np.ascontiguousarray(x), self.edges, out)
        return out

    def distances(self, x: Floats, codes: Codes) -> tuple[Any, Any, Floats, Floats]:
        """Return the rows in the outer bins, and how many mean distances they are out."""
        low, high = np.flatnonzero(codes == 0), np.flatnonzero(codes == self.size - 1)
        below = (self.edges[0] - x[low]) / self.tails[0]
        return low, high, below, (x[high] - self.edges[-1]) / self.tails[1]

    def log_shapes(self, x: Floats, codes: Codes) -> Floats:
        """Return the log density of each number within its bin, (n,); 0 for gaps."""
        out: Floats = np.append(-self.log_widths, 0.0)[codes]
        low, high, below, above = self.distances(x, codes)
        out[low] -= below
        out[high] -= above
        return out

    def sample(self, codes: Codes, rng: np.random.Generator) -> Floats:
        """Draw a number in each of these bins."""
        out = np.empty(len(codes))
        inner = (codes > 0) & (codes < self.size - 1)
        left = self.edges[codes[inner] - 1]
        out[inner] = left + rng.random(len(left)) * (self.edges[codes[inner]] - left)
        low, high = codes == 0, codes == self.size - 1
        out[low] = self.edges[0] - self.tails[0] * rng.standard_exponential(low.sum())
        out[high] = self.edges[-1] + self.tails[1] * rng.standard_exponential(high.sum())
        return out


def quantile_edges(values: Floats, weights: Floats, sizes: Sequence[int]) -> list[Floats]:
    """Return edges that cut sorted values into bins of about the same weight, so many of each size.

    Edges lie midway between neighbouring values, so ties stay together and there may be fewer.

    Examples
    --------
    >>> quantile_edges(np.array([1.0, 1.0, 1.0, 2.0, 4.0, 8.0]), np.ones(6), (2, 3))
    [array([1.5]), array([1.5, 3. ])]
    """
    ends = np.flatnonzero(values[1:] > values[:-1])  # the last place of each value but the highest
    below = np.cumsum(weights)
    left, right = values[ends], values[ends + 1]
    middle = left + (right - left) / 2
    # Between neighbouring floats there is nothing; the upper one then begins its bin.
    cuts, reached = np.where(middle > left, middle, right), below[ends]
    found = []
    for bins in sizes:
        wanted = below[-1] * np.arange(1, bins) / bins
        after = np.minimum(np.searchsorted(reached, wanted), len(ends) - 1)
        before = np.maximum(after - 1, 0)
        nearer = wanted - reached[before] < reached[after] - wanted
        found.append(cuts[np.unique(np.where(nearer, before, after))])
    return found
