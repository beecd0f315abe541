"""One column of numbers cut into bins: the notes' discretising, as a density."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from suffice.blocks.bin_tree import BinTree
from suffice.blocks.bins import Bins, quantile_edges
from suffice.blocks.block import Cells, Family, Reading, parts_of
from suffice.blocks.draws import drawn_levels, filled_numbers
from suffice.blocks.level_tables import level_counts, scores_of_folds
from suffice.data.labels import Codes
from suffice.data.table import Table
from suffice.errors import InputError
from suffice.model.folds import Folds
from suffice.tally import Blocks, Counts
from suffice.tally.tally import Floats, given

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
    edges, tails : see `Bins`; empty before `fitted`

    Examples
    --------
    >>> table = Table.of([[float(x)] for x in range(8)])
    >>> own, everyone = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32), np.empty(0)
    >>> family = Binned(("x0",)).fitted(table, own, 2, everyone)
    >>> family.edges, family.tails
    (array([1.5, 3.5, 5.5]), array([1., 1.]))
    >>> family.count(table, own, 2, everyone).parts[0].counts
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

    def fitted(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Self:
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
            tried = replace(self, edges=given(bins.edges), tails=given(bins.tails))
            # Edges of fewer bins are among those of more.
            begins = np.append(0, np.searchsorted(finest, bins.edges) + 1)
            merged = np.add.reduceat(counts, begins, axis=1)
            # Numbers in a tail are one mean distance out, on average.
            tally = Blocks((Counts(merged), Counts(merged[:, [0, -1]])))
            evidence = tried.read(tally).net_log_evidence
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
        return Blocks((Counts(given(counts)), Counts(given(distances))))

    def read(self, tally: Tallied) -> BinnedReading:
        """Return the bins' shares in each class, the strength of their prior by evidence."""
        return BinnedReading(self, tally, BinTree.of(tally.parts[0].counts))


@dataclass(frozen=True, eq=False)
class BinnedReading(Reading[Tallied]):
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
        """Return log p(x | class), (n, C); 0 for gaps."""
        x, bins = table[self.family.column].values, self.family.bins
        found = bins.codes(x)
        return self.tables.scores(found) + bins.log_shapes(x, found)[:, None]

    def odds(self, table: Table) -> Floats:
        """Return the log shares of the bins, (n, C): within them all classes are alike."""
        return self.tables.scores(self.family.bins.codes(table[self.family.column].values))

    def left_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the scores, (n, C), without each row: a table of bins and classes."""
        x, bins = table[self.family.column].values, self.family.bins
        found = bins.codes(x)
        scores = self.tables.left_out(found, codes, weights)
        return scores + bins.log_shapes(x, found)[:, None]

    def held_out_by(self, read: Callable[[Tallied], Self], table: Table, folds: Folds) -> Floats:
        """Return the log shares of the bins, (n, C), without each row's fold."""
        found = self.family.bins.codes(table[self.family.column].values)
        training = self.training(table, folds)
        # Under one prior the folds' classes are so many classes.
        held = read == self.with_tally
        several = [training] if held else parts_of(training, folds)
        tables = [read(part).tables.log_table for part in several]
        return scores_of_folds(found, folds, np.hstack(tables))

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """Draw numbers for rows of these classes."""
        drawn = drawn_levels(self.tables.shares(), codes, rng)
        return {self.family.column: self.family.bins.sample(drawn, rng)}

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> Cells:
        """Return the column with its gaps filled by the mean, or by a draw."""
        column = table[self.family.column]
        expected = self.tables.shares() @ self.family.bins.expected
        return filled_numbers(column, log_proba, expected, self.sample, rng)
