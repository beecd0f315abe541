"""Probabilities calibrated on what the model says of rows in held-out folds."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from suffice.data.content import Hashes, array_hashes
from suffice.data.rows import Rows
from suffice.errors import StaleCalibrationWarning, warn_caller
from suffice.model.calibration import Calibration, calibrated, log_softmax
from suffice.saved.agreement import MOST_WEIGHT, check_kinds, check_shapes, check_sizes
from suffice.saved.refusal import refuse
from suffice.skin.cross_validates import CrossValidates
from suffice.skin.held_out import folds_of_rows, held_out
from suffice.skin.intake import with_groups
from suffice.tally.tally import Floats, Index


class Calibrates(CrossValidates):
    """A classifier with `calibrate="folds"`: its probabilities are calibrated on held-out ones.

    Calibration depends on the rows, not on the tally alone: it is made where all rows are at hand
    (`fit`, a first `partial_fit`, `refresh_calibration`), and stale after what changes the tally.
    """

    calibrate: str | None = None
    _saved: ClassVar[tuple[str, ...]] = (
        *CrossValidates._saved,
        "calibration_",
        "calibration_stale_",
    )

    def _changed(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> None:
        super()._changed(X, y, sample_weight, groups)
        if X is None:
            self._grow_stale()
            return
        self._drop_calibration()
        if self._finishes() and self._can_calibrate():
            self.refresh_calibration(X, y, sample_weight, groups)

    def refresh_calibration(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Calibrate anew, given all the rows that were learned.

        Sets `calibration_`, with a `temperature` and an offset for each class. Rows of a group are
        held out together.
        """
        check_is_fitted(self, "tally_")
        rows = with_groups(self._learned_rows(X, y, sample_weight), groups)
        self._finish(rows, always=True)
        return self

    def _finishes(self) -> bool:
        return self.calibrate is not None

    def _finish(self, rows: Rows, *, always: bool = False) -> None:
        if self.calibrate is None and not always:
            return
        found = held_out(self, folds_of_rows(self, rows))
        log_proba = log_softmax(found.log_likelihood + self._decision_prior())
        self.calibration_: Calibration = calibrated(log_proba, found.codes, found.weights)
        self.calibration_stale_ = False

    @abstractmethod
    def _decision_prior(self) -> Floats:
        """Return what a class's score starts from when rows are classified, (C,)."""

    def _row_hashes(self, rows: Rows) -> Hashes:
        """Return a hash of what each row holds, (n,)."""
        return array_hashes(rows.X)

    @abstractmethod
    def _with_held_prior(self, kept: Index) -> Self:
        """Return a copy that reads tallies of some of our classes under the prior that we have."""

    def _scored_rows(self, X: Any) -> Any:
        """Return rows that were taken in before, as the scorer takes them."""
        return X

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
        warn_caller(
            f"{told} Give refresh_calibration all learned rows, or fit again.",
            StaleCalibrationWarning,
        )

    def _check_saved(self, state: dict[str, Any]) -> None:
        super()._check_saved(state)
        check_kinds(state, calibration_=Calibration, calibration_stale_=bool)
        if "calibration_" in state:
            found = state["calibration_"]
            check_shapes(vars(found), offsets=(len(state["tally_"].classes),))
            if not (0 <= found.sharpness < np.inf and 0 <= found.lapse < 1):
                refuse(f"Its calibration has sharpness {found.sharpness}, lapse {found.lapse}.")
            check_sizes({"offsets": found.offsets, "sharpness": found.sharpness}, MOST_WEIGHT)

    def _calibrated(self, log_proba: Floats) -> Floats:
        """Return log-probabilities as they are to be believed."""
        calibration = getattr(self, "calibration_", None)
        return log_proba if calibration is None else calibration.apply(log_proba)
