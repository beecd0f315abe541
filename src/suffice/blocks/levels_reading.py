"""What counts of levels say: their shares in every class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.blocks.block import Cells, Reading, parts_of
from suffice.blocks.draws import drawn_levels, filled_levels
from suffice.blocks.level_codes import cells_of, level_codes, width_of
from suffice.blocks.level_tables import LevelTables, scores_of_folds
from suffice.data.labels import Codes
from suffice.data.table import Table
from suffice.model.folds import Folds
from suffice.tally import Counts
from suffice.tally.tally import Floats

if TYPE_CHECKING:
    from suffice.blocks.categorical import Categorical


@dataclass(frozen=True, eq=False)
class LevelsReading(Reading[Counts]):
    """The shares of the levels in every class."""

    family: Categorical
    tally: Counts
    tables: LevelTables

    @property
    def log_evidence(self) -> float:
        """The log density of the rows, each level as wide as the grid they lie on."""
        return self.tables.log_evidence - self.weight * self._log_width

    @property
    def n_parameters(self) -> int:
        """One share less than levels, for each class."""
        return len(self.tally.counts) * self.n_settings

    @property
    def n_settings(self) -> int:
        """The shares that the prior is centred on."""
        return max(int(self.tally.counts.shape[1]) - 1, 0)

    @property
    def weight(self) -> float:
        """The weight of the rows in the tally."""
        return float(self.tally.counts.sum())

    @cached_property
    def _log_width(self) -> float:
        return float(np.log(width_of(self.family.levels)))

    def with_tally(self, tally: Counts) -> Self:
        """Return another tally under the prior of this one."""
        counts = tally.with_levels(len(self.tables.base)).counts
        return replace(self, tally=tally, tables=replace(self.tables, counts=counts))

    def scores(self, table: Table) -> Floats:
        """Return log p(x | class), (n, C); 0 for gaps."""
        codes = level_codes(table[self.family.column], self.family.levels)
        return self._of_width(codes, self.tables.scores(codes))

    def left_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the scores, (n, C), without each row: a table of levels and classes."""
        found = level_codes(table[self.family.column], self.family.levels)
        return self._of_width(found, self.tables.left_out(found, codes, weights))

    def held_out_by(self, read: Callable[[Counts], Self], table: Table, folds: Folds) -> Floats:
        """Return the scores, (n, C), without each row's fold: a table of levels for each."""
        found = level_codes(table[self.family.column], self.family.levels)
        training = self.training(table, folds)
        # Under one prior the folds' classes are so many classes.
        held = read == self.with_tally
        several = [training] if held else parts_of(training, folds)
        tables = [read(part).tables.log_table for part in several]
        return self._of_width(found, scores_of_folds(found, folds, np.hstack(tables)))

    def _of_width(self, codes: Codes, scores: Floats) -> Floats:
        if self._log_width != 0.0:
            scores[codes >= 0] -= self._log_width
        return scores

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """Draw levels for rows of these classes; "other" is none of them."""
        drawn = drawn_levels(self.tables.shares()[:, :-1], codes, rng)
        return {self.family.column: cells_of(drawn, self.family.levels)}

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> Cells:
        """Return the column with its gaps filled by the most probable level, or by a draw."""
        column = table[self.family.column]
        values = column.values.copy()
        filled = filled_levels(self.tables.shares()[:, :-1], log_proba[column.gaps], rng)
        values[column.gaps] = cells_of(filled, self.family.levels)
        return {column.name: values}
