"""Columns of numbers of events, independent given the class (docs: mathematics, 2 and 8)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.special import xlogy

from suffice.data.rows import Rows
from suffice.errors import PriorError
from suffice.families.class_conditional import (
    ClassConditional,
    ColumnScores,
    LearnedRows,
    LeftOut,
    LinearForm,
)
from suffice.families.leave_one_out.counts import leave_one_out_poisson, leave_out_of_own_class
from suffice.families.multinomial import no_linear_form
from suffice.families.smoothing import Smoothing
from suffice.prior import Gamma
from suffice.prior.predictive import draw_events
from suffice.prior.special import log_gamma_step
from suffice.scoring.discrete import IntegratedCountScorer, TableScorer
from suffice.scoring.scorer import Scorer
from suffice.tally import Events, Groups
from suffice.tally.tally import Floats, Index


@dataclass(frozen=True, eq=False)
class IndependentPoissons(ClassConditional):
    """Rates (C, d), plugged in or, of estimate "predictive", integrated out (negative binomial).

    Scores leave out log x!, which is the same in all classes.

    Parameters
    ----------
    groups : Groups of Events (C, d)
    smoothing : pseudo-events, a number, an array that broadcasts to (C, d), or a Gamma
    pseudo_rows : float
        Rows that had the pseudo-events, if they are not a Gamma.

    Examples
    --------
    >>> events = Events([[2.0], [2.0]], [[1.0], [5.0]], [[0.0], [0.0]])
    >>> groups = Groups(["a", "b"], [2.0, 2.0], events)
    >>> IndependentPoissons(groups, Smoothing(1.0, "mean"), 1.0).rate.ravel().round(3)
    array([0.667, 2.   ])
    """

    groups: Groups[Events]
    smoothing: Smoothing
    pseudo_rows: float = 1.0

    @property
    def _prior(self) -> tuple[Any, Any]:
        """Pseudo-events and pseudo-rows."""
        prior = self.smoothing.prior
        if isinstance(prior, Gamma):
            return prior.shape, prior.rate
        return prior, float(self.pseudo_rows)

    @property
    def prior_events(self) -> Any:
        """Pseudo-events, a number or an array that broadcasts to (C, d)."""
        return self._prior[0]

    @property
    def prior_rows(self) -> Any:
        """Rows that had the pseudo-events."""
        return self._prior[1]

    @property
    def _added(self) -> tuple[Any, Any]:
        """The events and rows that the estimate adds to those seen."""
        events, rows = self._prior
        if self.smoothing.estimate == "mle":
            return np.zeros_like(events), 0.0
        return (self.smoothing.added(events) if self.smoothing.estimate == "map" else events), rows

    @property
    def is_integrated(self) -> bool:
        """Whether the rates are integrated out."""
        return self.smoothing.estimate == "predictive"

    @cached_property
    def rate(self) -> Floats:
        """Expected events of a row, (C, d)."""
        tally = self.groups.parts
        added_events, added_rows = self._added
        events, rows = tally.sum_x + added_events, tally.weight + added_rows
        # A class that shows nothing of a column, with no prior to go by, is like the others.
        pooled = tally.pooled()
        fallback = pooled.sum_x / np.where(pooled.weight > 0, pooled.weight, 1.0)
        return np.where(rows > 0, events / np.where(rows > 0, rows, 1.0), fallback)

    @cached_property
    def _posterior(self) -> tuple[Floats, Floats]:
        """Shape and rate of the rates' posterior, (d, C)."""
        prior_events, prior_rows = self._prior
        events = np.ascontiguousarray((self.groups.parts.sum_x + prior_events).T)
        rows = np.ascontiguousarray((self.groups.parts.weight + prior_rows).T)
        if np.any(events <= 0) or np.any(rows <= 0):
            raise PriorError(
                "estimate='predictive' needs alpha > 0 and prior_rows > 0 where nothing was "
                "seen. Raise them, or use estimate='mean'."
            )
        return events, rows

    def scorer(self) -> Scorer:
        """Return what adds log p(x | class), without log x!."""
        if self.is_integrated:
            # Negative binomial: r = events, p = rows / (rows + 1), both posterior.
            events, rows = self._posterior
            silent = -events * np.log1p(1.0 / rows)
            slope = -np.log1p(rows)
            return IntegratedCountScorer(events, slope, np.empty(0), silent.sum(axis=0), silent)
        rate = np.ascontiguousarray(self.rate.T)
        with np.errstate(divide="ignore"):
            return TableScorer(np.log(rate), -rate.sum(axis=0), -rate, lowest=0.0)

    def split(self, cells: Floats) -> ColumnScores:
        """Return log p(x_j | class) of the columns of one row, without log x_j!."""
        missing = np.isnan(cells)[:, None]
        x = np.where(np.isnan(cells), 0.0, cells)[:, None]
        if self.is_integrated:
            events, rows = self._posterior
            parts = log_gamma_step(events, x) - events * np.log1p(1.0 / rows) - x * np.log1p(rows)
        else:
            rate = self.rate.T
            parts = xlogy(x, rate) - rate
        return ColumnScores(np.arange(len(cells)), np.where(missing, 0.0, parts))

    def linear_form(self) -> LinearForm:
        """Return weights of the numbers of events."""
        if self.is_integrated:
            raise no_linear_form("negative binomial")
        with np.errstate(divide="ignore"):
            weights = np.log(self.rate)
        return LinearForm(weights, -self.rate.sum(axis=1))

    def sample(self, codes: Index, rng: np.random.Generator) -> Any:
        """Draw a row of each of these classes."""
        if not self.is_integrated:
            return draw_events(rng, self.rate[codes])
        events, rows = self._posterior
        return draw_events(rng, rng.standard_gamma(events.T[codes]) / rows.T[codes])

    @cached_property
    def log_evidence(self) -> float:
        """Log marginal likelihood of the rows, given their classes."""
        events, rows = self._prior
        return float(np.sum(Gamma(shape=events, rate=rows).log_evidence(self.groups.parts)))

    @property
    def n_parameters(self) -> int:
        """A rate for each class and column."""
        return int(self.rate.size)

    def with_tally(self, groups: Groups[Events], kept: Index) -> Self:
        """Return the rates of another tally under the same prior."""
        smoothing = self.smoothing.of_classes(kept, len(self.groups.classes))
        return replace(self, groups=groups, smoothing=smoothing)

    def leave_one_out(self, learned: LearnedRows, log_prior: Floats) -> LeftOut:
        """Return log p(x | class) of each row without the row."""
        unseen = (self.groups.parts.weight + self._added[1] == 0).any(axis=1)
        if (log_prior[:, unseen] > -np.inf).any():
            # What a class shows nothing of is taken from the others, so from every row.
            own = np.full(learned.rows.shape[0], np.nan)
        else:
            own = self.own_leave_one_out(learned.rows)
        return leave_out_of_own_class(self, learned, own)

    def own_leave_one_out(self, rows: Rows) -> Floats:
        """Return log p(x | own class) of each row without the row, (n,); NaN if nothing is left."""
        tally = self.groups.parts
        terms = tally.weight, tally.sum_x, self._added
        return leave_one_out_poisson(rows, *terms, integrated=self.is_integrated)
