"""Columns that are present or absent, independent given the class (docs: mathematics, 2 and 8)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from suffice.families.class_conditional import (
    Basis,
    ClassConditional,
    ColumnScores,
    LearnedRows,
    LeftOut,
    LinearForm,
)
from suffice.families.leave_one_out.counts import leave_one_out_bernoulli, leave_out_of_own_class
from suffice.families.smoothing import Smoothing
from suffice.prior import Beta
from suffice.scoring.discrete import BinaryScorer, TableScorer, bernoulli_log_shares
from suffice.scoring.scorer import Scorer
from suffice.tally import Counts, Groups
from suffice.tally.tally import Floats, Index


@dataclass(frozen=True, eq=False)
class IndependentBernoullis(ClassConditional):
    """Probabilities of presence (C, d).

    Parameters
    ----------
    groups : Groups of Counts (C, d, 2), absence first
    smoothing : pseudocounts of presence and absence
    binarize : float or None
        Cells above it are present; None if cells are 0 and 1 already.

    Examples
    --------
    >>> groups = Groups(["ham", "spam"], [2.0, 2.0], Counts([[[0.0, 2.0]], [[1.0, 1.0]]]))
    >>> np.exp(IndependentBernoullis(groups, Smoothing(1.0, "mean"), 0.0).log_present).ravel()
    array([0.75, 0.5 ])
    """

    groups: Groups[Counts]
    smoothing: Smoothing
    binarize: float | None

    @cached_property
    def _log_shares(self) -> tuple[Floats, Floats]:
        counts = self.groups.parts.counts
        successes, failures = self.smoothing.successes_and_failures
        present = counts[..., 1] + self.smoothing.added(successes)
        absent = counts[..., 0] + self.smoothing.added(failures)
        return bernoulli_log_shares(present, absent)

    @property
    def log_present(self) -> Floats:
        """Log p(present | class), (C, d)."""
        return self._log_shares[0]

    @property
    def log_absent(self) -> Floats:
        """Log p(absent | class), (C, d)."""
        return self._log_shares[1]

    @property
    def _is_linear(self) -> bool:
        """Whether cells that were learned as they are, fractions too, are scored as they are."""
        finite = np.isfinite(self.log_present).all() and np.isfinite(self.log_absent).all()
        return self.binarize is None and bool(finite)

    def scorer(self) -> Scorer:
        """Return what adds log p(x | class)."""
        present, absent = (np.ascontiguousarray(table.T) for table in self._log_shares)
        if self._is_linear:
            return TableScorer(present - absent, absent.sum(axis=0), absent)
        return BinaryScorer(present, absent, self._threshold)

    @property
    def _threshold(self) -> float:
        return 0.5 if self.binarize is None else float(self.binarize)

    def split(self, cells: Floats) -> ColumnScores:
        """Return log p(x_j | class) of the columns of one row."""
        present, absent = self.log_present.T, self.log_absent.T
        if self._is_linear:
            parts = cells[:, None] * (present - absent) + absent
        else:
            parts = np.where((cells > self._threshold)[:, None], present, absent)
        return ColumnScores(np.arange(len(cells)), np.where(np.isnan(cells)[:, None], 0.0, parts))

    def scores_of_terms(self, columns: Index, counts: Floats) -> Floats:
        """Return what the scores of rows lose without one term, (J, C), which is absent then.

        Parameters
        ----------
        columns, counts : (J,)
            Which term it is, and whether (1) the row has it.
        """
        log_odds = self.log_present[:, columns] - self.log_absent[:, columns]
        return np.asarray(counts[:, None] * log_odds.T)

    def linear_form(self) -> LinearForm:
        """Return weights of presence."""
        with np.errstate(invalid="ignore"):
            weights = self.log_present - self.log_absent
        basis = None
        if self.binarize is not None:
            basis = Basis("binarize", {"threshold": self.binarize})
        return LinearForm(weights, self.log_absent.sum(axis=1), basis)

    def sample(self, codes: Index, rng: np.random.Generator) -> Any:
        """Draw a row of each of these classes."""
        chance = np.exp(self.log_present)[codes]
        return (rng.random(chance.shape) < chance).astype(np.int64)

    @cached_property
    def log_evidence(self) -> float:
        """Log marginal likelihood of the rows, given their classes."""
        successes, failures = self.smoothing.successes_and_failures
        beta = Beta(successes=successes, failures=failures)
        return float(np.sum(beta.log_evidence(self.groups.parts)))

    @property
    def n_parameters(self) -> int:
        """One probability for each class and column."""
        return int(self.log_present.size)

    def with_tally(self, groups: Groups[Counts], kept: Index) -> Self:
        """Return the probabilities of another tally under the same prior."""
        smoothing = self.smoothing.of_classes(kept, len(self.groups.classes))
        return type(self)(groups, smoothing, self.binarize)

    def leave_one_out(self, learned: LearnedRows, log_prior: Floats) -> LeftOut:
        """Return log p(x | class) of each row without the row."""
        rows = learned.rows
        added = tuple(self.smoothing.added(part) for part in self.smoothing.successes_and_failures)
        if self.binarize is None and min(np.min(part) for part in added) == 0:
            # How fractions are scored depends on whether all scores are finite without the row.
            own = np.full(rows.shape[0], np.nan)
        else:
            own = leave_one_out_bernoulli(rows, self.groups.parts.counts, added, self.binarize)
        return leave_out_of_own_class(self, learned, own)
