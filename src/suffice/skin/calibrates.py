"""Probabilities calibrated on what the model says of rows it has not learned."""

from __future__ import annotations

import warnings
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from suffice.data.rows import Rows
from suffice.errors import StaleCalibrationWarning
from suffice.model.calibration import Calibration, calibrated
from suffice.skin.cross_validates import CrossValidates
from suffice.skin.undo import all_or_nothing
from suffice.tally.tally import Floats


class Calibrates(CrossValidates):
    """A classifier with `calibrate="loo"`: its probabilities are calibrated on left-out ones.

    Calibration depends on the rows, not on the tally alone: it is made where all rows are at hand
    (`fit`, a first `partial_fit`, `refresh_calibration`), and stale after what changes the tally.
    """

    calibrate: str | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from these rows and nothing else.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Gaps (NaN, null) are left out.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        """
        with all_or_nothing(self):
            self._drop_calibration()
            super().fit(X, y, sample_weight)
            if self.calibrate is not None:
                self.refresh_calibration(X, y, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows: the same as `fit` on all rows so far, in any order.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array-like, optional
            At the first call: all the classes there will ever be; another label is then an
            error. Without it a new label becomes a new class (see `new_classes_`).
        """
        first = not hasattr(self, "tally_")
        with all_or_nothing(self):
            super().partial_fit(X, y, classes, sample_weight)
            if self.calibrate is not None and first and self._can_calibrate():
                self.refresh_calibration(X, y, sample_weight)
        if not first:
            self._grow_stale()
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows that were learned: the same as `fit` on the others.

        A class of which no row is left is no class any more, unless `classes` closed the set.
        """
        super().forget(X, y, sample_weight)
        self._grow_stale()
        return self

    def merge(self, other: Self) -> Self:
        """Learn all that another model of the same kind has learned.

        The other model may know other classes. It is left as it was.
        """
        super().merge(other)
        self._grow_stale()
        return self

    def refresh_calibration(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Calibrate anew, given all the rows that were learned.

        Sets `calibration_`, with a `temperature` and an offset for each class.
        """
        check_is_fitted(self, "tally_")
        self._finish(self._learned_rows(X, y, sample_weight), always=True)
        return self

    def _finishes(self) -> bool:
        return self.calibrate is not None

    def _finish(self, rows: Rows, *, always: bool = False) -> None:
        if self.calibrate is None and not always:
            return
        left_out = self._left_out(rows)
        found = calibrated(left_out.log_proba, left_out.codes, left_out.weights)
        self.calibration_: Calibration = found
        self.calibration_stale_ = False

    def _can_calibrate(self) -> bool:
        """Say whether what was learned suffices for answers."""
        return not hasattr(self, "_not_yet")

    def _drop_calibration(self) -> None:
        for name in ("calibration_", "calibration_stale_"):
            self.__dict__.pop(name, None)

    def _grow_stale(self) -> None:
        if not hasattr(self, "calibration_"):
            return
        if len(self.calibration_.offsets) != len(self.classes_):
            self._drop_calibration()
            told = "The classes have changed, so probabilities are not calibrated any more."
        else:
            self.calibration_stale_ = True
            told = "The calibration is that of the rows learned before."
        warnings.warn(
            f"{told} Give refresh_calibration all learned rows, or fit again.",
            StaleCalibrationWarning,
            stacklevel=3,
        )

    def _calibrated(self, log_proba: Floats) -> Floats:
        """Return log-probabilities as they are to be believed."""
        calibration = getattr(self, "calibration_", None)
        return log_proba if calibration is None else calibration.apply(log_proba)
