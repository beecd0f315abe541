"""Probabilities calibrated on what the model says of rows in held-out folds."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

from sklearn.utils.validation import check_is_fitted

from suffice.combine.calibration import fit_calibration
from suffice.combine.combination import Calibration
from suffice.data.rows import Rows
from suffice.estimators.held_out import folds_of_rows, held_out
from suffice.estimators.keeps_rows import KeepsRows
from suffice.estimators.undo import all_or_nothing
from suffice.persist.agreement import check_calibration, check_kinds
from suffice.scoring.scorer import log_softmax
from suffice.tally.tally import Floats, Index
from suffice.validation.row_sample import MAX_ROWS


class Calibrates(KeepsRows):
    """A classifier with `calibrate="folds"`: its probabilities are calibrated on held-out ones.

    Calibration depends on the rows, not on the tally alone: it is made where all rows are at hand
    (`fit`, a first `partial_fit`, `refresh_calibration`), and stale after what changes the tally.
    A sample of the rows is kept to make it anew.
    """

    calibrate: str | None = None
    _saved: ClassVar[tuple[str, ...]] = (
        *KeepsRows._saved,
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
        self.__dict__.pop("_said_stale", None)
        if self._finishes() and self._can_calibrate():
            self.refresh_calibration(X, y, sample_weight, groups)

    def refresh_calibration(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Calibrate anew, on all the rows that were learned or on those that are kept.

        Sets `calibration_`, with a `temperature` and an offset for each class.

        Parameters
        ----------
        X, y, sample_weight, groups : as in `fit`, optional
            All the rows that were learned. Without them the model takes the rows that it keeps
            itself: up to 5,000 distinct ones, those not forgotten, if `calibrate` is not None.
        """
        check_is_fitted(self, "tally_")
        with all_or_nothing(self):
            self._refresh(X, y, sample_weight, groups)
        return self

    def _finishes(self) -> bool:
        return self.calibrate is not None

    def _finish(self, rows: Rows, *, always: bool = False, complete: bool = True) -> None:
        if self.calibrate is None and not always:
            return
        folds = folds_of_rows(self, rows, complete=complete)
        found = held_out(self, folds)
        log_proba = log_softmax(found.log_likelihood + self._decision_prior())
        self.calibration_: Calibration = fit_calibration(log_proba, found.codes, found.weights)
        self.calibration_stale_ = False
        some = slice(MAX_ROWS)
        answers = self.calibration_.apply(log_proba[some])
        self._keep_answers(answers, found.codes[some], found.weights[some], folds, found.rows[some])

    @abstractmethod
    def _decision_prior(self) -> Floats:
        """Return what a class's score starts from when rows are classified, (C,)."""

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
        self._warn_stale(told, "refresh_calibration")

    def _check_saved(self, state: dict[str, Any]) -> None:
        super()._check_saved(state)
        check_kinds(state, calibration_=Calibration, calibration_stale_=bool)
        if "calibration_" in state:
            check_calibration(state["calibration_"], len(state["tally_"].classes))

    def _calibrated(self, log_proba: Floats) -> Floats:
        """Return log-probabilities as they are to be believed."""
        calibration = getattr(self, "calibration_", None)
        return log_proba if calibration is None else calibration.apply(log_proba)

    def _calibrated_without(self, log_proba: Floats, rows: Rows) -> Floats:
        return self._calibrated(log_proba)
