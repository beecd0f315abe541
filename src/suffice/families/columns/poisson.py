"""One column of numbers of events, as a block of a table."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.special import gammaln

from suffice import _core
from suffice.count import count_events
from suffice.data.columns import MISSING_CODE
from suffice.data.labels import Codes
from suffice.data.plain_rows import PlainCells
from suffice.data.rows import ONE_CODE, Rows
from suffice.data.table import Table
from suffice.empirical_bayes.centred import gamma_prior
from suffice.families.class_conditional import LearnedRows
from suffice.families.columns.family import (
    AddScores,
    Cells,
    Family,
    ParametricPosterior,
    impute_numbers,
    split_by_fold,
)
from suffice.families.columns.levels import fold_scores
from suffice.families.poisson import IndependentPoissons
from suffice.families.smoothing import Smoothing
from suffice.prior import Gamma
from suffice.scoring.scorer import Scorer, joint_log_proba
from suffice.tally import Events, Groups
from suffice.tally.tally import Floats
from suffice.validation.folds import Folds

# Numbers of events up to this have their scores in a table.
IN_A_TABLE = 1 << 14
# Numbers of events below this have their scores in a table when rows are scored one at a time.
SMALL = 64
MAX_FLOAT = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Poisson(Family[Events]):
    """Numbers of events with gamma priors centred on the rate of all classes together.

    Each class predicts a negative binomial. What is no number of events cannot be learned; scored,
    it says nothing of the class.

    Examples
    --------
    >>> table = Table.of([[0], [1], [7], [9]])
    >>> codes, unweighted = np.array([0, 0, 1, 1], np.int32), np.empty(0)
    >>> family = Poisson(("x0",))
    >>> family.posterior(family.count(table, codes, 2, unweighted)).scores(table).argmax(axis=1)
    array([0, 0, 1, 1])
    """

    @property
    def name(self) -> str:
        """The name that a user gives."""
        return "poisson"

    def objection(self, table: Table) -> str | None:
        """Say why the column is not one of numbers of events, or None."""
        column = table[self.column]
        if not column.numeric:
            return (
                f"Column {self.column!r} is a {column.kind}, and 'poisson' is a family of numbers "
                "of events. Use 'categorical'."
            )
        if column.whole and column.ends[0] >= 0:
            return None
        wrong = next(x for x in column.seen.tolist() if x < 0 or x != np.floor(x))
        return (
            f"Column {self.column!r} holds {wrong:g}, which is no number of events. Use 'normal' "
            "or 'binned'."
        )

    def plain_cells(self, column: str) -> PlainCells:
        """Return the whole numbers from 0 on."""
        return PlainCells(low=0.0, whole=True)

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Events:
        """Return rows and events of each class, (C, 1)."""
        self.check(table)
        cells = table[self.column].values[:, None]
        return count_events(Rows(cells, codes, classes, weights, self.columns))[1]

    def add_row(self, tally: Events, table: Table, code: int) -> Events:
        """Return the events with those of one row more."""
        cells = table[self.column].values[:, None]
        found = vars(count_events(Rows(cells, ONE_CODE, 1))[1])
        return tally.add_at(code, **{name: sums[0] for name, sums in found.items()})

    def posterior(self, tally: Events) -> PoissonPosterior:
        """Return the negative binomials, their prior sample size by evidence."""
        return PoissonPosterior(self, tally, gamma_prior(tally))


@dataclass(frozen=True, eq=False)
class PoissonPosterior(ParametricPosterior[Events]):
    """Negative binomials of one column, or Poissons if the expected rates are plugged in."""

    family: Poisson
    tally: Events
    prior: Gamma

    @cached_property
    def features(self) -> IndependentPoissons:
        """The distribution of the column in every class."""
        classes = np.arange(len(self.tally.weight))
        groups = Groups(classes, self.tally.weight[:, 0], self.tally)
        estimate = "mean" if self.plug_in else "predictive"
        return IndependentPoissons(groups, Smoothing(self.prior, estimate))

    @cached_property
    def _scorer(self) -> Scorer:
        return self.features.scorer()

    @property
    def log_evidence(self) -> float:
        """The log probability of the rows."""
        return float(np.sum(self.prior.log_evidence(self.tally)))

    @property
    def n_parameters(self) -> int:
        """A rate for each class."""
        return len(self.tally.weight)

    @property
    def n_settings(self) -> int:
        """The rate that the prior is centred on."""
        return 1

    def scores(self, table: Table) -> Floats:
        """Return log p(x | class), (n, C); 0 if missing."""
        x, levels = self._numbers(table)
        if levels is None:
            return self._log_prob(x)
        return _core.gather_levels(levels, self._table(levels))

    def cell_scorer(
        self, weight: float, levels: Sequence[Any], default: Any = None
    ) -> AddScores | None:
        """Return what looks the scores of a small number of events up."""
        table = (weight * self._log_prob(np.arange(float(SMALL)))).tolist()

        def add(x: float, scores: Any) -> Sequence[float] | None:
            if not 0.0 <= x < SMALL or x % 1.0:
                return None
            return list(map(operator.add, scores, table[int(x)]))

        return add

    def leave_one_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the scores, (n, C), without each row."""
        x, levels = self._numbers(table)
        rows = Rows(x[:, None], codes, len(self.tally.weight), weights)
        own = self.features.own_leave_one_out(rows)
        if levels is not None and not np.isnan(own).any():
            # The other classes are what they were, and have their scores in a table.
            scores = self.scores(table)
            scores[np.arange(len(x)), codes] = own - _log_factorial(x)[:, 0]
            return scores
        # Every class stays a class: whether it is possible is said by the class prior.
        learned = LearnedRows(rows, self.features.groups, count_events, closed=True)
        found = self.features.leave_one_out(learned, np.zeros((len(codes), rows.classes)))
        return np.asarray(found.scores - _log_factorial(x))

    def held_out_with(
        self, posterior_of: Callable[[Events], Self], table: Table, folds: Folds
    ) -> Floats:
        """Return the scores, (n, C), without each row's fold: a table of numbers for each."""
        _, levels = self._numbers(table)
        if levels is None:
            return super().held_out_with(posterior_of, table, folds)
        training = self.training_tally(table, folds)
        # Under one prior the folds' classes are so many classes.
        one_prior = posterior_of == self.with_tally
        parts = [training] if one_prior else split_by_fold(training, folds)
        tables = [posterior_of(part)._table(levels) for part in parts]
        return fold_scores(levels, folds, np.hstack(tables))

    def _numbers(self, table: Table) -> tuple[Floats, Codes | None]:
        """Return the cells (n,), NaN if they are no numbers of events, and places in a table.

        There is no table if it would be larger than the column, or very large.
        """
        values = table[self.family.column].values
        valid = (values >= 0) & (values == np.floor(values))
        x = np.where(valid, values, np.nan)
        most = np.max(values, where=valid, initial=0.0)
        if most > min(IN_A_TABLE, len(x)):
            return x, None
        return x, np.where(valid, values, MISSING_CODE).astype(np.int32)

    def _table(self, levels: Codes) -> Floats:
        """Return the scores of 0, 1, ..., the largest number, and two rows of zeros."""
        numbers = np.append(np.arange(levels.max(initial=0) + 1.0), [np.nan, np.nan])
        return self._log_prob(numbers)

    def _log_prob(self, x: Floats) -> Floats:
        """Return log p(x | class), (n, C), of numbers of events; 0 for NaN."""
        no_prior = np.zeros(len(self.tally.weight))
        scores = joint_log_proba(self._scorer, x[:, None], no_prior)
        return np.asarray(scores - _log_factorial(x))

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """Draw numbers of events for rows of these classes."""
        draws = self.features.sample(codes.astype(np.intp), rng)[:, 0]
        return {self.family.column: draws.astype(np.float64)}

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> Cells:
        """Return the column with missing values imputed by the expected number, or by a draw."""
        column = table[self.family.column]
        return impute_numbers(column, log_proba, self.features.rate[:, 0], self.sample, rng)


def _log_factorial(x: Floats) -> Any:
    """Return log x!, (n, 1); 0 for NaN."""
    found = np.minimum(gammaln(x + 1.0), MAX_FLOAT)
    found[np.isnan(found)] = 0.0
    return found[:, None]
