"""Combining blocks: weights that depend on rows, and say so when the rows have changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from suffice.classifier.class_prior import class_log_prior, left_out_prior
from suffice.classifier.learner import TableLearner
from suffice.classifier.sheet import Sheet
from suffice.data.rows import Rows, evenly
from suffice.errors import StaleCalibrationWarning, warn_caller
from suffice.model.combination import Combination
from suffice.model.combination_choice import combined
from suffice.model.combination_rows import apart, left_out_rows, told_apart
from suffice.skin.left_out import ClassesLeftOut
from suffice.tally.tally import ROUNDING, Floats

# Rows that weights and offsets are fitted to: so many for each of them, and no fewer than these; of
# more, so many at equal distances are taken. A weight that is fitted to n rows costs 1 / (2 n) nats
# a row, so at most a thousandth of a nat is lost.
ROWS_A_WEIGHT = 500
FEWEST_ROWS = 5_000
# Log-likelihoods (rows by classes by blocks) that are held at once: 256 MB.
MOST_LIKELIHOODS = 1 << 25


class Combines(TableLearner):
    """A classifier whose blocks are weighted by what they say of rows they have not learned."""

    combine: str
    combination_: Combination
    weights_stale_: bool
    # The classes that the offsets are of.
    _combined: NDArray[Any]

    def _changed(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> None:
        super()._changed(X, y, sample_weight)
        rows = self.__dict__.pop("_at_hand", None)
        if X is not None and rows is not None:
            self._finish(rows)
            return
        self._keep_combination()
        if not self.weights_stale_:
            self.weights_stale_ = True
            warn_caller(
                "The weights of the blocks, and what was chosen for the columns, are those of the "
                "rows learned before. Give refresh_weights all learned rows, or fit again.",
                StaleCalibrationWarning,
            )

    def _keep_combination(self) -> None:
        """Fit the offsets to the classes that there are now: a new one has none."""
        old = dict(zip(self._combined.tolist(), self.combination_.offsets.tolist(), strict=True))
        offsets = [old.get(label, 0.0) for label in self.classes_.tolist()]
        self.combination_ = replace(self.combination_, offsets=np.array(offsets))
        self._combined = self.classes_

    def refresh_weights(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the weights of the blocks anew, given all the rows that were learned.

        What was chosen for the columns (`choices_`) stays.
        """
        check_is_fitted(self, "tally_")
        self._finish(self._learned_rows(X, y, sample_weight))
        return self

    def _finishes(self) -> bool:
        return True

    def _finish(self, rows: Rows, *, always: bool = False) -> None:
        self.__dict__.pop("_at_hand", None)
        classes, blocks = len(self.classes_), len(self.readings_)
        most = max(ROWS_A_WEIGHT * (classes + blocks), FEWEST_ROWS)
        most = max(1, min(most, MOST_LIKELIHOODS // (classes * max(1, blocks))))
        if rows.shape[0] > most:
            rows = rows.some(evenly(rows.shape[0], most))
        # A weight is so many repeats of a row, of which one is left out.
        out = np.minimum(rows.weights, 1.0)
        told = [told_apart(r.left_out(rows.X.table, rows.codes, out)) for r in self.readings_]
        whole = class_log_prior(self.tally_.weights)
        found = left_out_rows(
            self._left_out_base(rows, out), told, rows.codes, weights_of(rows), whole
        )
        self.combination_ = combined(found, self.combine)
        self._combined = self.classes_
        self.weights_stale_ = False

    def _left_out_base(self, rows: Rows, out: Floats) -> Floats:
        """Return the log prior (n, C) without so much (n,) of each row's weight; (0,): 1."""
        return left_out_prior(self.tally_.weights, rows.codes, out if out.size else 1.0)

    def _left_out(self, rows: Rows) -> ClassesLeftOut:
        scores = self._left_out_base(rows, rows.weights) + self.combination_.offsets
        for weight, reading in zip(self.combination_.weights.tolist(), self.readings_, strict=True):
            scores += weight * apart(reading.left_out(rows.X.table, rows.codes, rows.weights))
        if not self.classes_closed_:
            # A class of which the row was the only one is no class any more.
            scores[self._only_one(rows)] = -np.inf
        return ClassesLeftOut(
            self.combination_.finished(scores), rows.codes, weights_of(rows), self.classes_
        )

    def _only_one(self, rows: Rows) -> NDArray[np.bool_]:
        """Say of which class (n, C) nothing is left without a row."""
        left = np.repeat(self.tally_.weights[None], rows.shape[0], axis=0)
        left[np.arange(rows.shape[0]), rows.codes] -= weights_of(rows)
        return np.asarray(left <= ROUNDING * self.tally_.weights)

    @property
    def weights_(self) -> dict[Any, float]:
        """How much each block counts, by its column, or the tuple of its columns."""
        check_is_fitted(self, "tally_")
        names = (f.columns if len(f.columns) > 1 else f.column for f in self.blocks_)
        return dict(zip(names, self.combination_.weights.tolist(), strict=True))

    def _log_proba_of(self, X: Sheet) -> Floats:
        prior = self._log_prior() + self.combination_.offsets
        scores = np.repeat(prior[None], len(X), axis=0)
        for weight, reading in zip(self.combination_.weights.tolist(), self.readings_, strict=True):
            said = reading.odds(X.table)
            said *= weight
            scores += said
        return self.combination_.finished(scores)


def weights_of(rows: Rows) -> Floats:
    """Return the weight of each row, (n,)."""
    return rows.weights if rows.weights.size else np.ones(rows.shape[0])
