"""Combining blocks: weights that depend on rows, and say so when the rows have changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from suffice.combine.combination import Combination
from suffice.combine.held_out import HeldOutRows, remove_common
from suffice.combine.select import UNFITTED, select_combination
from suffice.combine.weights import WeightFit
from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.estimators.undo import all_or_nothing
from suffice.table.class_prior import left_out_prior
from suffice.table.column_losses import held_out_increase
from suffice.table.features import Features, features_to_correct
from suffice.table.held_out import HeldOut, cell_hashes, row_hashes, with_group_hashes
from suffice.table.learner import AtHand, TableLearner
from suffice.table.sheet import Sheet
from suffice.tally.tally import ROUNDING, Floats
from suffice.validation.folds import DistinctRows, assign_folds
from suffice.validation.importance import LossIncrease
from suffice.validation.leave_one_out import LeaveOneOutResult
from suffice.validation.row_sample import MAX_ROWS, RowSample

# Rows that weights and offsets are fitted to: so many for each of them, and no fewer than these; of
# more, those of the lowest content hashes are taken. A weight that is fitted to n rows costs
# 1 / (2 n) nats a row, so at most a thousandth of a nat is lost.
ROWS_A_WEIGHT = 500
FEWEST_ROWS = 5_000
# Log-likelihoods (rows by classes by blocks) that are held at once: 256 MB.
MOST_LIKELIHOODS = 1 << 25


class Combines(TableLearner):
    """A classifier whose blocks are weighted by what they say of rows they have not learned."""

    combine: str
    combination_: Combination
    features_: Features
    weights_stale_: bool
    # The classes that the offsets are of.
    _combined: NDArray[Any]
    # What held-out rows lost without each column of the blocks, when weights were fitted.
    _loss_increase: LossIncrease

    def _changed(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> None:
        super()._changed(X, y, sample_weight, groups)
        at_hand = self.__dict__.pop("_at_hand", None)
        if X is not None and at_hand is not None:
            self.__dict__.pop("_said_stale", None)
            self._start_sample(at_hand)
            return
        self._keep_combination()
        self.weights_stale_ = True
        if self.choices_.again_at:
            return  # a stream that has only begun: weights are fitted anew before long
        self._warn_stale(
            "The weights of the blocks, and what was chosen for the columns, are those of the "
            "rows learned before.",
            "refresh_weights",
        )

    def _start_sample(self, given: AtHand) -> None:
        """Fit the weights to the first rows, and keep a sample of them."""
        hashes = cell_hashes(given.rows.X.table, self._columns())
        self._sample = RowSample.of(self._rows_to_keep(given.rows), self.classes_, hashes)
        if given.held_out is None or len(given.held_out.table) > self._most_held_out():
            self._finish(given.rows, hashes=hashes)
        else:
            self._finish_on(given.held_out)

    def _keep_combination(self) -> None:
        """Fit the offsets to the classes that there are now: a new one has none."""
        if self._combined.tolist() != self.classes_.tolist():
            self.__dict__.pop("_loss_increase", None)
        old = dict(zip(self._combined.tolist(), self.combination_.offsets.tolist(), strict=True))
        offsets = [old.get(label, 0.0) for label in self.classes_.tolist()]
        places = {label: at for at, label in enumerate(self._combined.tolist())}
        columns = [places.get(label, len(places)) for label in self.classes_.tolist()]
        wide = np.pad(self.combination_.residual_coefficients, ((0, 0), (0, 1)))
        self.combination_ = replace(
            self.combination_, offsets=np.array(offsets), residual_coefficients=wide[:, columns]
        )
        self._combined = self.classes_

    def refresh_weights(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Fit the weights of the blocks anew, to all rows that were learned or to those kept.

        What was chosen for the columns (`choices_`) stays.

        Parameters
        ----------
        X, y, sample_weight, groups : as in `fit`, optional
            All the rows that were learned. Without them the model takes the rows that it keeps
            itself: up to 5,000 distinct ones, those not forgotten.
        """
        check_is_fitted(self, "tally_")
        with all_or_nothing(self):
            self._refresh(X, y, sample_weight, groups)
        return self

    def refresh_calibration(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Do what `refresh_weights` does, under the name that other classifiers have for it."""
        return self.refresh_weights(X, y, sample_weight, groups)

    def _finishes(self) -> bool:
        return True

    def _finish(
        self,
        rows: Rows,
        *,
        always: bool = False,
        complete: bool = True,
        hashes: Hashes | None = None,
    ) -> None:
        self.__dict__.pop("_at_hand", None)
        self._finish_on(self._held_out(rows, complete=complete, hashes=hashes))

    def _finish_on(self, held_out: HeldOut) -> None:
        """Fit features, weights and offsets to held-out rows."""
        self.features_ = self._features(held_out.folds.rows)
        scores = self._scores_of(held_out)
        found = select_combination(scores, self.combine, held_out.features(self.features_))
        self._measure(held_out, scores, found)
        self.combination_ = held_out.with_all_classes(found.combination)
        self._combined = self.classes_
        self.weights_stale_ = False
        self._keep_answers_of(held_out, found)

    def _keep_answers_of(self, held_out: HeldOut, found: WeightFit) -> None:
        """Keep what is said of held-out rows by weights that are fitted to the others."""
        kept = held_out.kept[:MAX_ROWS]
        answers = np.full((len(kept), len(self.classes_)), -np.inf)
        if found.scores.size:
            answers[:, held_out.classes] = found.combination.normalize(found.scores[:MAX_ROWS])
        codes, weights = held_out.folds.rows.codes[kept], held_out.weights[:MAX_ROWS]
        self._keep_answers(answers, codes, weights, held_out.folds, kept)

    def _held_out(
        self, rows: Rows, *, complete: bool = True, hashes: Hashes | None = None
    ) -> HeldOut:
        """Return the rows that weights are fitted to, in folds.

        `hashes`, of what the blocks' columns hold, may have been computed before.
        """
        if hashes is None:
            hashes = cell_hashes(rows.X.table, self._columns())
        hashes = with_group_hashes(hashes, rows)
        distinct = DistinctRows.of(rows, hashes, self._most_held_out(), complete=complete)
        return HeldOut(assign_folds(distinct), self.tally_.weights)

    def _most_held_out(self) -> int:
        """Return how many distinct rows weights are fitted to at most."""
        classes, blocks = len(self.classes_), len(self.readings_)
        most = max(ROWS_A_WEIGHT * (classes + blocks), FEWEST_ROWS)
        return max(1, min(most, MOST_LIKELIHOODS // (classes * max(1, blocks))))

    def _features(self, rows: Rows) -> Features:
        """Return what corrections are of: nothing if there are too many of them to be tried."""
        return features_to_correct(self.blocks_, rows, self.combine, self.tally_.weights)

    def _chosen(self, held_out: HeldOut) -> WeightFit:
        """Return the weights, offsets and corrections that make held-out rows most probable."""
        rows = self._scores_of(held_out)
        return select_combination(rows, self.combine, held_out.features(self.features_))

    def _scores_of(self, held_out: HeldOut) -> HeldOutRows:
        """Return what the blocks say of held-out rows."""
        return held_out.rows([held_out.scores(reading) for reading in self.readings_])

    def _measure(self, held_out: HeldOut, scores: HeldOutRows, found: WeightFit) -> None:
        """Keep what held-out rows lose without each column."""
        self.__dict__.pop("_loss_increase", None)
        given = held_out, scores, self.readings_, self.features_, found
        increase = held_out_increase(*given)
        if increase is not None:
            self._loss_increase = increase

    def _left_out_base(self, rows: Rows, out: Floats) -> Floats:
        """Return the log prior (n, C) without so much (n,) of each row's weight; (0,): 1."""
        return left_out_prior(self.tally_.weights, rows.codes, out if out.size else 1.0)

    def _left_out(self, rows: Rows) -> LeaveOneOutResult:
        prior = self._left_out_base(rows, rows.weights)
        scores = prior + self.combination_.offsets
        for weight, reading in zip(self.combination_.weights.tolist(), self.readings_, strict=True):
            scores += weight * remove_common(
                reading.leave_one_out(rows.X.table, rows.codes, rows.weights)
            )
        scores = self._corrected(scores, rows.X.table)
        if not self.weights_stale_:
            self._take_weights_out(rows, scores, prior)
        if not self.classes_closed_:
            # A class of which the row was the only one is no class any more.
            scores[self._only_one(rows)] = -np.inf
        return LeaveOneOutResult(
            self.combination_.normalize(scores), rows.codes, rows.row_weights, self.classes_
        )

    def _take_weights_out(self, rows: Rows, scores: Floats, prior: Floats) -> None:
        """Change the scores of rows that weights were fitted to by what each row did to them.

        `prior` (n, C) is the log prior without each row. Offsets that are fitted without the row
        make up for its part in the class prior, which is therefore put back: it would otherwise be
        taken out twice.
        """
        held_out = self._held_out(rows)
        found = self._chosen(held_out)
        if found.combination.method in UNFITTED:
            return
        change = np.zeros((len(held_out.folds.hashes), len(self.classes_)))
        fitted = held_out.combined(self.readings_, self.features_, found.combination)
        change[np.ix_(held_out.kept, held_out.classes)] = found.scores - fitted
        at = held_out.folds.find(row_hashes(rows, self._columns()), rows.codes)
        there = np.flatnonzero(at >= 0)
        scores[there] += change[at[there]] + self._log_prior() - prior[there]

    def _only_one(self, rows: Rows) -> NDArray[np.bool_]:
        """Say of which class (n, C) nothing is left without a row."""
        left = np.repeat(self.tally_.weights[None], rows.shape[0], axis=0)
        left[np.arange(rows.shape[0]), rows.codes] -= rows.row_weights
        return np.asarray(left <= ROUNDING * self.tally_.weights)

    @property
    def weights_(self) -> dict[Any, float]:
        """How much each block counts, by its column, or the tuple of its columns."""
        check_is_fitted(self, "tally_")
        names = (f.columns if len(f.columns) > 1 else f.column for f in self.blocks_)
        return dict(zip(names, self.combination_.weights.tolist(), strict=True))

    @property
    def corrections_(self) -> dict[str, Floats]:
        """What a level (one row each), or a standard deviation of a number, adds to the classes.

        Arrays of shape (levels or 1, n_classes), by column; beside what its block says. Columns
        without corrections are not there.
        """
        check_is_fitted(self, "tally_")
        return self.features_.by_column(self.combination_.residual_coefficients)

    def _log_proba_of(self, X: Sheet) -> Floats:
        prior = self._log_prior() + self.combination_.offsets
        scores = np.repeat(prior[None], len(X), axis=0)
        for weight, reading in zip(self.combination_.weights.tolist(), self.readings_, strict=True):
            said = reading.relative_scores(X.table)
            said *= weight
            scores += said
        return self.combination_.normalize(self._corrected(scores, X.table))

    def _corrections_of(self, table: Table) -> dict[str, Floats]:
        """Return what is added to the scores of rows, (n, C), by the name of the column."""
        return self.features_.split(table, self.combination_.residual_coefficients)

    def _corrected(self, scores: Floats, table: Table) -> Floats:
        for added in self._corrections_of(table).values():
            scores += added
        return scores
