"""Columns of levels 0, 1, 2, ..., independent given the class (docs: mathematics, 2 and 8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.count.counters import highest_level
from suffice.families.class_conditional import (
    Basis,
    ClassConditional,
    ColumnScores,
    LearnedRows,
    LeftOut,
    LinearForm,
)
from suffice.families.leave_one_out.counts import leave_one_out_categorical, leave_out_of_own_class
from suffice.families.level_tables import LevelTables
from suffice.families.smoothing import Smoothing, widen
from suffice.scoring.discrete import LevelScorer
from suffice.scoring.scorer import Scorer
from suffice.tally import Blocks, Counts, Groups
from suffice.tally.tally import Floats, Index


@dataclass(frozen=True, eq=False)
class IndependentCategories(ClassConditional):
    """Probabilities of levels (C, levels), one array a column.

    Parameters
    ----------
    groups : Groups of Blocks of Counts (C, levels), one block a column
    smoothing : pseudocount of a level, a number or (C, d), or a tuple of those of each column
        An array (levels + 1,) for each column, the last for any other level.
    min_levels : (d,)
        How many levels each column has at least.

    Examples
    --------
    >>> groups = Groups(["a", "b"], [2.0, 2.0], Blocks((Counts([[2.0, 0.0], [1.0, 1.0]]),)))
    >>> features = IndependentCategories(groups, Smoothing(1.0, "mean"), np.array([2]))
    >>> np.exp(features.log_prob[0])
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """

    groups: Groups[Blocks[Counts]]
    smoothing: Smoothing
    min_levels: NDArray[np.int64]

    @cached_property
    def counts(self) -> list[Floats]:
        """The counts of each column, (C, levels)."""
        return counts_of_levels(self.groups.parts, self.min_levels)

    @property
    def n_levels(self) -> NDArray[np.int64]:
        """How many levels each column has, (d,)."""
        return np.array([count.shape[1] for count in self.counts])

    @cached_property
    def tables(self) -> list[LevelTables]:
        """P(level | class) of each column, as the estimate reads it off the posterior."""
        return self._tables(self.smoothing.added)

    def _tables(self, added: Callable[[Any], Any]) -> list[LevelTables]:
        """Return the tables of the columns, given what is added to counts for pseudocounts."""
        prior = self.smoothing.prior
        if isinstance(prior, tuple):
            return [
                LevelTables(count, extra[:-1], extra[-1], extra.sum())
                for count, extra in zip(self.counts, map(added, prior), strict=True)
            ]
        alpha = widen(added(prior), (len(self.groups.classes), len(self.counts)))
        return [
            LevelTables(count, extra[:, None], extra, extra * count.shape[1])
            for count, extra in zip(self.counts, alpha.T, strict=True)
        ]

    @cached_property
    def log_prob(self) -> list[Floats]:
        """Log p(level | class), (C, levels), of each column."""
        return [np.ascontiguousarray(table.log_table[:-2].T) for table in self.tables]

    @cached_property
    def log_unseen(self) -> Floats:
        """Log p(a level that was never seen | class), (C, d)."""
        return np.stack([table.log_table[-2] for table in self.tables], axis=1)

    def scorer(self) -> Scorer:
        """Return what adds log p(x | class)."""
        table = np.concatenate([log_prob.T for log_prob in self.log_prob])
        levels = self.n_levels
        unseen = np.ascontiguousarray(self.log_unseen.T)
        return LevelScorer(np.cumsum(levels) - levels, levels, table, unseen)

    def split(self, cells: Floats) -> ColumnScores:
        """Return log p(x_j | class) of the columns of one row."""
        parts = np.zeros((len(cells), len(self.groups.classes)))
        for j in np.flatnonzero(~np.isnan(cells)).tolist():
            level, known = int(cells[j]), self.log_prob[j]
            parts[j] = known[:, level] if level < known.shape[1] else self.log_unseen[:, j]
        return ColumnScores(np.arange(len(cells)), parts)

    def linear_form(self) -> LinearForm:
        """Return weights of the levels, and of any other level, of each column."""
        parts = [
            np.column_stack([log_prob, self.log_unseen[:, j]])
            for j, log_prob in enumerate(self.log_prob)
        ]
        basis = Basis("levels", {"levels": self.n_levels})
        return LinearForm(np.hstack(parts), np.zeros(len(self.groups.classes)), basis)

    def sample(self, codes: Index, rng: np.random.Generator) -> Any:
        """Draw a row of each of these classes."""
        out = np.empty((len(codes), len(self.log_prob)), np.int64)
        for j, log_prob in enumerate(self.log_prob):
            edges = np.cumsum(np.exp(log_prob), axis=1)[codes]
            draws = rng.random(len(codes))[:, None] * edges[:, -1:]
            out[:, j] = np.minimum((draws >= edges).sum(axis=1), log_prob.shape[1] - 1)
        return out

    @cached_property
    def log_evidence(self) -> float:
        """Log marginal likelihood of the rows, given their classes."""
        return sum(table.log_evidence for table in self._tables(lambda prior: prior))

    @property
    def n_parameters(self) -> int:
        """One probability less than levels, for each class and column."""
        return int(len(self.groups.classes) * np.sum(self.n_levels - 1))

    def with_tally(self, groups: Groups[Blocks[Counts]], kept: Index) -> Self:
        """Return the probabilities of another tally under the same prior."""
        smoothing = self.smoothing.of_classes(kept, len(self.groups.classes))
        return replace(self, groups=groups, smoothing=smoothing)

    def leave_one_out(self, learned: LearnedRows, log_prior: Floats) -> LeftOut:
        """Return log p(x | class) of each row without the row."""
        own = leave_one_out_categorical(learned.rows, self.tables, self.min_levels)
        return leave_out_of_own_class(self, learned, own)


def counts_of_levels(tally: Blocks[Counts], min_levels: NDArray[np.int64]) -> list[Floats]:
    """Return counts (C, levels) of each column, up to the highest level that any row has."""
    out = []
    for part, least in zip(tally.parts, min_levels, strict=True):
        levels = max(int(least), highest_level(part) + 1)
        out.append(np.ascontiguousarray(part.with_levels(levels).counts[:, :levels]))
    return out
