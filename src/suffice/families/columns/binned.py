"""Bins of the number line: inner ones of a constant density, outer ones with exponential tails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from suffice import _core
from suffice.data.labels import Codes
from suffice.data.table import Table
from suffice.errors import InputError
from suffice.families.columns.bin_tree import BinTree
from suffice.families.columns.family import (
    Cells,
    Family,
    Posterior,
    impute_numbers,
    sample_levels,
    split_by_fold,
)
from suffice.families.columns.levels import fold_scores, level_counts
from suffice.tally import Blocks, Counts
from suffice.tally.tally import Floats, as_readonly
from suffice.validation.folds import Folds


@dataclass(frozen=True, eq=False)
class Bins:
    """How a number has its bin, and its log density within it.

    The outer bins reach to infinity; a number in one of them is at an exponential distance from
    its edge. All classes share these shapes, so what separates classes is the bin alone.

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
        """Return the bin of every number, -1 if missing."""
        return _core.find_bins(x, self.edges)

    def distances(self, x: Floats, codes: Codes) -> tuple[Any, Any, Floats, Floats]:
        """Return the rows in the outer bins, and how many mean distances they are out."""
        low, high = np.flatnonzero(codes == 0), np.flatnonzero(codes == self.size - 1)
        below = (self.edges[0] - x[low]) / self.tails[0]
        return low, high, below, (x[high] - self.edges[-1]) / self.tails[1]

    def log_shapes(self, x: Floats, codes: Codes) -> Floats:
        """Return the log density of each number within its bin, (n,); 0 if missing."""
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


# How many bins the evidence chooses from; ties may leave fewer.
SIZES = (4, 8, 16, 32)

Tallied = Blocks[Counts]


@dataclass(frozen=True, eq=False)
class Binned(Family[Tallied]):
    """A piecewise-constant density with exponential tails, bins about the quantiles of all rows.

    The bins' shares in each class have Dirichlet priors centred on those of all classes together.
    Number and edges of the bins are settings.

    Parameters
    ----------
    columns : one name
    edges, tails : see `Bins`; empty before `fit_settings`

    Examples
    --------
    >>> table = Table.of([[float(x)] for x in range(8)])
    >>> codes, unweighted = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32), np.empty(0)
    >>> family = Binned(("x0",)).fit_settings(table, codes, 2, unweighted)
    >>> family.edges, family.tails
    (array([1.5, 3.5, 5.5]), array([1., 1.]))
    >>> family.count(table, codes, 2, unweighted).parts[0].counts
    array([[2., 2., 0., 0.],
           [0., 0., 2., 2.]])
    """

    edges: Floats = field(default_factory=lambda: np.empty(0))
    tails: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "binned"

    @cached_property
    def bins(self) -> Bins:
        """The bins themselves."""
        if not len(self.edges):
            raise InputError(
                f"The bins of column {self.column!r} have no edges yet. Take them from rows "
                "(fitted)."
            )
        return Bins(np.asarray(self.edges, np.float64), np.asarray(self.tails, np.float64))

    def objection(self, table: Table) -> str | None:
        """Say why the column cannot be cut into bins, or None."""
        column = table[self.column]
        if not column.numeric:
            return (
                f"Column {self.column!r} is a {column.kind}, and 'binned' is a family of numbers. "
                "Use 'categorical', or make numbers of it."
            )
        low, high = column.ends
        if len(self.edges) or low < high:
            return None
        held = f"no number but {low:g}" if low == high else "no number"
        return (
            f"Column {self.column!r} holds {held}, so there is nothing to cut into bins. Use "
            "'normal', or leave the column out."
        )

    def fit_settings(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Self:
        """Return the family with as many quantile bins as there is most net evidence for."""
        self.check(table)
        values, weigh = self._sorted(table, weights)
        cuts = quantile_edges(values, weigh, SIZES)
        finest = cuts[-1]
        found = Bins(finest, np.ones(2)).codes(table[self.column].values)
        counts, _ = level_counts(found, codes, classes, weights, len(finest) + 1)
        best, most = self, -np.inf
        for edges in cuts:
            if len(edges) == len(best.edges):
                continue  # ties: more bins than before are not to be had
            bins = Bins.of(values, weigh, edges)
            tried = replace(self, edges=as_readonly(bins.edges), tails=as_readonly(bins.tails))
            # Edges of fewer bins are among those of more.
            begins = np.append(0, np.searchsorted(finest, bins.edges) + 1)
            merged = np.add.reduceat(counts, begins, axis=1)
            # Numbers in a tail are one mean distance out, on average.
            tally = Blocks((Counts(merged), Counts(merged[:, [0, -1]])))
            evidence = tried.posterior(tally).net_log_evidence
            if evidence > most:
                best, most = tried, evidence
        return best

    def _sorted(self, table: Table, weights: Floats) -> tuple[Floats, Floats]:
        """Return the numbers in order and their weights, 1 each if fewer than two have one."""
        column = table[self.column]
        if not weights.size:
            return column.ordered, np.ones(len(column.ordered))
        order = np.argsort(column.values, kind="stable")[: len(column.seen)]
        values, weigh = column.values[order], weights[order]
        heavy = weigh > 0
        if heavy.any() and values[heavy][0] < values[heavy][-1]:
            return values[heavy], weigh[heavy]
        return values, np.ones(len(order))

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Tallied:
        """Return the weight of each bin by class, (C, B), and distances in the tails, (C, 2)."""
        self.check(table)
        x = table[self.column].values
        found = self.bins.codes(x)
        counts, _ = level_counts(found, codes, classes, weights, self.bins.size)
        low, high, below, above = self.bins.distances(x, found)
        distances = np.zeros((classes, 2))
        for at, (rows, far) in enumerate(((low, below), (high, above))):
            heavy = far * weights[rows] if weights.size else far
            distances[:, at] = np.bincount(codes[rows], heavy, classes)
        return Blocks((Counts(as_readonly(counts)), Counts(as_readonly(distances))))

    def add_row(self, tally: Tallied, table: Table, code: int) -> Tallied:
        """Return the tally with one row more."""
        classes = len(tally.parts[0].counts)
        return tally + self.count(table, np.array([code], np.int32), classes, np.empty(0))

    def posterior(self, tally: Tallied) -> BinnedPosterior:
        """Return the bins' shares in each class, their prior sample size by evidence."""
        return BinnedPosterior(self, tally, BinTree.of(tally.parts[0].counts))


@dataclass(frozen=True, eq=False)
class BinnedPosterior(Posterior[Tallied]):
    """Piecewise densities of one column."""

    family: Binned
    tally: Tallied
    tables: BinTree

    @property
    def log_evidence(self) -> float:
        """The log density of the rows: that of their bins, and within them."""
        counts, distances = (part.counts for part in self.tally.parts)
        within = counts.sum(axis=0) @ self.family.bins.log_widths + distances.sum()
        return self.tables.log_evidence - float(within)

    @property
    def n_parameters(self) -> int:
        """One share less than bins, for each class."""
        return len(self.tables.counts) * (self.family.bins.size - 1)

    @property
    def n_settings(self) -> int:
        """The edges, which are where the shares of all rows are alike, and two tails."""
        return self.family.bins.size + 1

    @property
    def weight(self) -> float:
        """The weight of the rows in the tally."""
        return float(self.tables.counts.sum())

    def with_tally(self, tally: Tallied) -> Self:
        """Return another tally under the prior of this one."""
        tables = replace(self.tables, counts=tally.parts[0].counts)
        return replace(self, tally=tally, tables=tables)

    def scores(self, table: Table) -> Floats:
        """Return log p(x | class), (n, C); 0 if missing."""
        x, bins = table[self.family.column].values, self.family.bins
        found = bins.codes(x)
        return self.tables.scores(found) + bins.log_shapes(x, found)[:, None]

    def relative_scores(self, table: Table) -> Floats:
        """Return the log shares of the bins, (n, C): within them all classes are alike."""
        return self.tables.scores(self.family.bins.codes(table[self.family.column].values))

    def leave_one_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the scores, (n, C), without each row: a table of bins and classes."""
        x, bins = table[self.family.column].values, self.family.bins
        found = bins.codes(x)
        scores = self.tables.leave_one_out(found, codes, weights)
        return scores + bins.log_shapes(x, found)[:, None]

    def held_out_with(
        self, posterior_of: Callable[[Tallied], Self], table: Table, folds: Folds
    ) -> Floats:
        """Return the log shares of the bins, (n, C), without each row's fold."""
        found = self.family.bins.codes(table[self.family.column].values)
        training = self.training_tally(table, folds)
        # Under one prior the folds' classes are so many classes.
        held = posterior_of == self.with_tally
        several = [training] if held else split_by_fold(training, folds)
        tables = [posterior_of(part).tables.log_table for part in several]
        return fold_scores(found, folds, np.hstack(tables))

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """Draw numbers for rows of these classes."""
        draws = sample_levels(self.tables.shares(), codes, rng)
        return {self.family.column: self.family.bins.sample(draws, rng)}

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> Cells:
        """Return the column with missing values imputed by the mean, or by a draw."""
        column = table[self.family.column]
        expected = self.tables.shares() @ self.family.bins.expected
        return impute_numbers(column, log_proba, expected, self.sample, rng)
