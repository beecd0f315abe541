"""One column of numbers of events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import gammaln, xlogy

from suffice.count import count_events
from suffice.data.columns import MISSING_CODE
from suffice.data.labels import Codes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.empirical_bayes.pseudocounts import CentredEvidence, best_pseudocount
from suffice.families.columns.family import Cells, Family, ParametricPosterior, split_by_fold
from suffice.families.columns.impute import impute_numbers
from suffice.families.columns.levels import fold_scores, subtract_or_zero
from suffice.kernels.count.levels import gather_left_out, gather_levels
from suffice.prior import Gamma
from suffice.prior.predictive import NegativeBinomial, draw_events
from suffice.tally import Events
from suffice.tally.tally import Floats
from suffice.validation.folds import Folds

# Numbers of events up to this have their scores in a table.
IN_A_TABLE = 1 << 14


@dataclass(frozen=True, eq=False)
class Poisson(Family[Events]):
    """Numbers of events with gamma priors centred on the rate of all classes together.

    Each class predicts a negative binomial. What is no number of events cannot be learned; scored,
    it says nothing of the class.

    Examples
    --------
    >>> table = Table.of([[0], [1], [7], [9]])
    >>> own, everyone = np.array([0, 0, 1, 1], np.int32), np.empty(0)
    >>> family = Poisson(("x0",))
    >>> family.posterior(family.count(table, own, 2, everyone)).scores(table).argmax(axis=1)
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

    def count(self, table: Table, codes: Codes, classes: int, weights: Floats) -> Events:
        """Return rows and events of each class, (C, 1)."""
        self.check(table)
        cells = table[self.column].values[:, None]
        return count_events(Rows(cells, codes, classes, weights, self.columns))[1]

    def posterior(self, tally: Events) -> PoissonPosterior:
        """Return the negative binomials, their prior sample size by evidence."""
        evidence = CentredEvidence.of(tally)
        rows = best_pseudocount(evidence.slope, evidence.log_evidence)
        prior = Gamma(shape=rows * evidence.centre, rate=rows)
        return PoissonPosterior(self, tally, prior)


@dataclass(frozen=True, eq=False)
class PoissonPosterior(ParametricPosterior[Events]):
    """Negative binomials of one column, or Poissons if the expected rates are plugged in."""

    family: Poisson
    tally: Events
    prior: Gamma

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

    @property
    def _posterior(self) -> tuple[Floats, Floats]:
        """Pseudo-events and pseudo-rows of each class, (C,)."""
        after = self.prior.posterior(self.tally)
        return after.shape[:, 0], after.rate[:, 0]

    def _log_density(self, x: Floats) -> Floats:
        """Return log p(x | class), (n, C)."""
        return self._predictive(x[:, None], *self._posterior)

    def _predictive(self, x: Floats, events: Floats, rows: Floats) -> Floats:
        """Return log p(x) given pseudo-events and pseudo-rows; all broadcast."""
        if not self.plug_in:
            return NegativeBinomial(events, rows).log_density(x)
        rate = events / rows
        return np.asarray(xlogy(x, rate) - rate - gammaln(x + 1))

    def _without(self, x: Floats, own: Any, w: Any) -> Floats:
        """Return log p(x | own class), without a row of x events and weight w; all broadcast."""
        events = subtract_or_zero(self.tally.sum_x[own, 0], w * x) + self.prior.shape[0]
        rows = subtract_or_zero(self.tally.weight[own, 0], w) + self.prior.rate[0]
        return self._predictive(x, events, rows)

    def _numbers(self, table: Table) -> tuple[Floats, Any]:
        """Return the cells that are numbers of events, and which they are, (n,)."""
        x = table[self.family.column].values
        valid = (x >= 0) & (x == np.floor(x))
        return np.where(valid, x, 0.0), valid

    def scores(self, table: Table) -> Floats:
        """Return log p(x | class), (n, C); 0 if missing."""
        x, valid = self._numbers(table)
        most = int(x.max(initial=0.0))
        if most > min(IN_A_TABLE, len(x)):
            return np.where(valid[:, None], self._log_density(x), 0.0)
        out = np.empty((len(x), len(self.tally.weight)))
        gather_levels(np.where(valid, x, MISSING_CODE).astype(np.int32), self._table(most), out)
        return out

    def leave_one_out(self, table: Table, codes: Codes, weights: Floats) -> Floats:
        """Return the scores, (n, C), without each row."""
        x, valid = self._numbers(table)
        most = int(x.max(initial=0.0))
        if weights.size or most > min(IN_A_TABLE, len(x)):
            out = self.scores(table)
            w = weights if weights.size else np.ones(len(x))
            rows = np.flatnonzero(valid)
            out[rows, codes[rows]] = self._without(x[rows], codes[rows], w[rows])
            return out
        table_of = self._table(most)
        without = table_of.copy()
        numbers = np.arange(most + 1.0)[:, None]
        without[:-2] = self._without(numbers, np.arange(len(self.tally.weight)), 1.0)
        out = np.empty((len(x), len(self.tally.weight)))
        levels = np.where(valid, x, MISSING_CODE).astype(np.int32)
        gather_left_out(levels, codes, table_of, without, out)
        return out

    def held_out_with(
        self, posterior_of: Callable[[Events], Self], table: Table, folds: Folds
    ) -> Floats:
        """Return the scores, (n, C), without each row's fold."""
        x, valid = self._numbers(table)
        training = self.training_tally(table, folds)
        # Under one prior the folds' classes are so many classes.
        one_prior = posterior_of == self.with_tally
        held = [
            posterior_of(part)
            for part in ([training] if one_prior else split_by_fold(training, folds))
        ]
        most = int(x.max(initial=0.0))
        if most <= min(IN_A_TABLE, len(x)):
            levels = np.where(valid, x, MISSING_CODE).astype(np.int32)
            return fold_scores(levels, folds, np.hstack([one._table(most) for one in held]))
        posterior = zip(*(one._posterior for one in held), strict=True)
        shape = folds.size, folds.rows.classes
        events, rows = (np.concatenate(p).reshape(shape)[folds.numbers] for p in posterior)
        return np.where(valid[:, None], self._predictive(x[:, None], events, rows), 0.0)

    def _table(self, most: int) -> Floats:
        """Return the scores of 0, 1, ..., most events, and two rows of zeros."""
        out = np.zeros((most + 3, len(self.tally.weight)))
        out[:-2] = self._log_density(np.arange(most + 1.0))
        return out

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """Draw numbers of events for rows of these classes."""
        events, rows = (part[codes] for part in self._posterior)
        if self.plug_in:
            return {self.family.column: draw_events(rng, events / rows).astype(np.float64)}
        return {self.family.column: NegativeBinomial(events, rows).sample(rng)}

    def impute(
        self, table: Table, log_proba: Floats, rng: np.random.Generator | None = None
    ) -> Cells:
        """Return the column with missing values imputed by the expected number, or by a draw."""
        column = table[self.family.column]
        events, rows = self._posterior
        expected = events / rows
        return impute_numbers(column, log_proba, expected, self.sample, rng)
