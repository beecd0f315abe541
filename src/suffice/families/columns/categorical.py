"""What counts of levels say: their shares in every class."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from suffice.data.columns import MISSING_CODE
from suffice.data.labels import Codes
from suffice.data.plain_rows import PlainCells
from suffice.data.table import Table
from suffice.empirical_bayes.centred import pooled_shares
from suffice.errors import InputError
from suffice.families.columns.family import (
    AddScores,
    Cells,
    Family,
    Mask,
    Posterior,
    impute_levels,
    sample_levels,
    split_by_fold,
)
from suffice.families.columns.levels import (
    Levels,
    add_levels,
    fold_scores,
    keep_used_levels,
    level_codes,
    level_counts,
    level_width,
    values_of_codes,
)
from suffice.families.level_tables import LevelTables
from suffice.tally import Counts
from suffice.tally.tally import Floats, Index, as_readonly
from suffice.validation.folds import Folds


@dataclass(frozen=True, eq=False)
class CategoricalPosterior(Posterior[Counts]):
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
        return float(np.log(level_width(self.family.levels)))

    def with_tally(self, tally: Counts) -> Self:
        """Return another tally under the prior of this one."""
        counts = tally.with_levels(self.tables.counts.shape[1]).counts
        return replace(self, tally=tally, tables=replace(self.tables, counts=counts))

    def scores(self, table: Table) -> Floats:
        """Return log p(x | class), (n, C); 0 if missing."""
        codes = level_codes(table[self.family.column], self.family.levels)
        return self._of_width(codes, self.tables.scores(codes))

    def cell_scorer(
        self, weight: float, levels: Sequence[Any], default: Any = None
    ) -> AddScores | None:
        """Return what looks the scores of a level up."""
        known = levels if self.family.levels is None else self.family.levels
        rows = (weight * self.tables.log_table).tolist()
        table = dict(zip(known, rows[:-2], strict=False))
        other = table.get(default, rows[-2])

        def add(level: Any, scores: Any) -> Sequence[float]:
            return list(map(operator.add, scores, table.get(level, other)))

        return add

    def leave_one_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the scores, (n, C), without each row: a table of levels and classes."""
        found = level_codes(table[self.family.column], self.family.levels)
        return self._of_width(found, self.tables.leave_one_out(found, codes, weights))

    def held_out_with(
        self, posterior_of: Callable[[Counts], Self], table: Table, folds: Folds
    ) -> Floats:
        """Return the scores, (n, C), without each row's fold: a table of levels for each."""
        found = level_codes(table[self.family.column], self.family.levels)
        training = self.training_tally(table, folds)
        # Under one prior the folds' classes are so many classes.
        held = posterior_of == self.with_tally
        several = [training] if held else split_by_fold(training, folds)
        tables = [posterior_of(part).tables.log_table for part in several]
        return self._of_width(found, fold_scores(found, folds, np.hstack(tables)))

    def _of_width(self, codes: Codes, scores: Floats) -> Floats:
        if self._log_width != 0.0:
            scores[codes >= 0] -= self._log_width
        return scores

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """Draw levels for rows of these classes; "other" is none of them."""
        draws = sample_levels(self.tables.shares()[:, :-1], codes, rng)
        return {self.family.column: values_of_codes(draws, self.family.levels)}

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> Cells:
        """Return the column, missing values imputed by the most probable level or by a draw."""
        column = table[self.family.column]
        values = column.values.copy()
        imputed = impute_levels(self.tables.shares()[:, :-1], log_proba[column.missing], rng)
        values[column.missing] = values_of_codes(imputed, self.family.levels)
        return {column.name: values}


@dataclass(frozen=True, eq=False)
class Categorical(Family[Counts]):
    """Levels with Dirichlet priors centred on the shares of all classes together.

    A level that nobody has learned is "other": it has its prior share in every class, worth as
    much as a known level without rows.

    Parameters
    ----------
    columns : one name
    levels : the numbers that are levels; None for a category

    Examples
    --------
    >>> table = Table.of([{"city": name} for name in ("Rome", "Rome", "Oslo", None)])
    >>> codes, unweighted = np.array([0, 0, 1, 1], np.int32), np.empty(0)
    >>> family = Categorical(("city",)).fit_settings(table, codes, 2, unweighted)
    >>> tally = family.count(table, codes, 2, unweighted)
    >>> tally.counts
    array([[2., 0.],
           [0., 1.]])
    >>> family.posterior(tally).scores(table)[3]
    array([0., 0.])
    """

    levels: Levels = None

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "categorical"

    @property
    def closed(self) -> bool:
        """Whether there is nothing besides the known levels."""
        return False

    def objection(self, table: Table) -> str | None:
        """Say why the column has no levels, or None."""
        if table[self.column].kind != "text":
            return None
        return (
            f"Column {self.column!r} holds texts, which are no levels. Use the family 'text', or "
            "make the column a category."
        )

    def plain_cells(self, column: str) -> PlainCells:
        """Return the numbers that are levels; a category has any strings."""
        return PlainCells(levels=None if self.levels is None else frozenset(self.levels))

    def fit_settings(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Self:
        """Return the family with the levels of its numbers."""
        self.check(table)
        return replace(self, levels=add_levels(table[self.column]))

    def with_levels_of(self, table: Table) -> Self:
        """Return the family with the numbers that are new among its levels."""
        self.check(table)
        return replace(self, levels=add_levels(table[self.column], self.levels))

    def without_levels(self) -> Self:
        """Return the family of numbers, or of a category, without levels."""
        return replace(self, levels=None if self.levels is None else ())

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Counts:
        """Return the weight of each level by class, (C, K)."""
        column = table[self.column]
        known = len(column.levels) if self.levels is None else len(self.levels)
        found = level_codes(column, self.levels)
        counts, unknown = level_counts(found, codes, classes, weights, known)
        if unknown >= 0:
            raise InputError(
                f"Row {unknown} has a level of column {self.column!r} that is not known. Let the "
                "schema and the family grow before they count (grown)."
            )
        return Counts(as_readonly(counts))

    def add_row(self, tally: Counts, table: Table, code: int) -> Counts | None:
        """Return the counts with the level of one row more; None if it is new."""
        level = int(level_codes(table[self.column], self.levels)[0])
        if level == MISSING_CODE:
            return tally
        known = 0 <= level < tally.counts.shape[1]
        return tally.add_at((code, level), counts=1.0) if known else None

    def merge(
        self, other: Self, tally: Counts, translations: Mapping[str, Index]
    ) -> tuple[Self, Counts]:
        """Return the family that knows the levels of both, and the other's tally in its codes."""
        if other.name != self.name or (self.levels is None) != (other.levels is None):
            return super().merge(other, tally, translations)
        family = self
        if self.levels is None:
            places = translations[self.column]
        else:
            assert other.levels is not None
            joined = tuple(dict.fromkeys((*self.levels, *other.levels)))
            family = replace(self, levels=joined)
            places = np.array([joined.index(level) for level in other.levels], np.intp)
        counts = np.zeros((len(tally.counts), int(places.max(initial=-1)) + 1))
        counts[:, places] = tally.counts
        return family, Counts(as_readonly(counts))

    def levels_in_use(self, tally: Counts) -> dict[str, Mask]:
        """Say which levels have rows."""
        return {self.column: np.asarray(tally.counts.any(axis=0))}

    def keep_levels(self, tally: Counts, used: Mapping[str, Mask]) -> tuple[Self, Index | None]:
        """Return the family with the levels that are used, and their places in the tally."""
        mask = used[self.column]
        if mask.all():
            return self, None
        return replace(self, levels=keep_used_levels(self.levels, mask)), np.flatnonzero(mask)

    def posterior(self, tally: Counts) -> CategoricalPosterior:
        """Return the levels' shares in each class, their prior sample size by evidence."""
        counts = tally.counts
        shares = pooled_shares(counts.sum(axis=0), other=not self.closed)
        levels = counts.shape[1]
        tables = LevelTables.centred(counts, shares[:levels], None if self.closed else shares[-1])
        return CategoricalPosterior(self, tally, tables)


# A coin has so many sides.
TWO = 2


@dataclass(frozen=True, eq=False)
class Bernoulli(Categorical):
    """Two values with beta priors centred on their shares in all classes together.

    There is no "other": a third value says nothing of the class when it is scored, and is refused
    when it is to be learned.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table.of([{"paid": True}, {"paid": False}, {"paid": None}])
    >>> codes, unweighted = np.array([0, 1, 1], np.int32), np.empty(0)
    >>> family = Bernoulli(("paid",)).fit_settings(table, codes, 2, unweighted)
    >>> family.levels, family.count(table, codes, 2, unweighted).counts.tolist()
    ((0.0, 1.0), [[0.0, 1.0], [1.0, 0.0]])
    """

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "bernoulli"

    @property
    def closed(self) -> bool:
        """Whether there is nothing besides the known levels."""
        return True

    def objection(self, table: Table) -> str | None:
        """Say why the column has not two values, or None."""
        reason = super().objection(table)
        if reason is not None:
            return reason
        column = table[self.column]
        if column.kind == "category":
            values = list(column.levels)
        else:
            values = list(dict.fromkeys((*(self.levels or ()), *column.distinct.tolist())))
        if len(values) <= TWO:
            return None
        return (
            f"Column {self.column!r} has {len(values)} values ({', '.join(map(repr, values[:3]))}"
            f"{', ...' if len(values) > TWO + 1 else ''}), and a 'bernoulli' has two. Use "
            "'categorical'."
        )
