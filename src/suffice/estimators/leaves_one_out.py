"""Leaving each row out: in closed form where there is one, else by taking it off the tally."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from suffice.data.labels import translate_codes
from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.estimators.intake import with_groups
from suffice.estimators.learner import TallyLearner, check_alike, named_alike
from suffice.tally import Groups
from suffice.tally.tally import ROUNDING, Floats
from suffice.validation.leave_one_out import LeaveOneOutResult


class LeavesOneOut(TallyLearner):
    """A classifier that can say what it would have said of a row without having learned it.

    A subclass with a closed form gives log p(x, class) of each row without the row
    (`_left_out_joint`), or None where its settings have none (`_why_refit` then says why).
    """

    @abstractmethod
    def _class_prior_is_given(self) -> bool:
        """Say whether the class probabilities were given, not learned."""

    @abstractmethod
    def _log_prior(self) -> Floats:
        """Return the log prior of the classes, (C,)."""

    @abstractmethod
    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log p(x, class), (n_samples, n_classes)."""

    def leave_one_out(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> LeaveOneOutResult:
        """Return what the others say of each row that this model learned.

        Parameters
        ----------
        X, y, sample_weight : the rows that were learned, all of them
        groups : the groups that `fit` was given, if any
            Weights are fitted without the row as they were with it, groups kept together. The row
            alone is left out of what was counted, not its group.

        Temperature, offsets and noise rate of a calibrated model are held: those of all rows.
        """
        check_is_fitted(self, "tally_")
        return self._left_out(with_groups(self._learned_rows(X, y, sample_weight), groups))

    def _left_out(self, rows: Rows) -> LeaveOneOutResult:
        """Return what the others say of each learned row, coded by `classes_`."""
        joint = self._left_out_joint(rows)
        if joint is None:
            joint = self._refitted_joint(rows)
        found = LeaveOneOutResult.of(joint, rows.codes, rows.weights, self.classes_)
        return replace(found, log_proba=self._calibrated_without(found.log_proba, rows))

    def _calibrated_without(self, log_proba: Floats, rows: Rows) -> Floats:
        """Return log-probabilities (n, C) of rows that were left out, as they are to be believed.

        The calibration is that of all rows.
        """
        return log_proba

    def _left_out_joint(self, rows: Rows) -> Floats | None:
        """Return log p(x, class), (n, C), of each row without the row; None without closed form."""
        return None

    def _why_refit(self) -> str:
        """Return why there is no closed form."""
        return "no closed form"

    def _left_out_log_prior(self, rows: Rows) -> Floats:
        """Return the log prior of the classes (n, C), a row taken out of its own class.

        A class of which the row was the only one is no class any more.
        """
        given = self._class_prior_is_given()
        weights = rows.weights if rows.weights.size else np.ones(rows.shape[0])
        at = np.arange(rows.shape[0]), rows.codes
        counts = np.repeat(self.tally_.weights[None], rows.shape[0], axis=0)
        counts[at] -= weights
        # What is left of a class whose weight was the row's own is rounding.
        gone = counts <= ROUNDING * self.tally_.weights
        counts[gone] = 0.0
        if given and self.classes_closed_:
            gone[:] = False  # a class that was announced keeps the probability it was given
        with np.errstate(divide="ignore"):
            if not given:
                return np.asarray(np.log(counts / counts.sum(axis=1, keepdims=True)))
            prior = np.repeat(self._log_prior()[None], rows.shape[0], axis=0)
        prior[gone] = -np.inf
        return np.asarray(prior)

    def _learned_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Return the rows, coded by our classes, if they are those that were learned."""
        classes, rows = self._take_rows(X, y, sample_weight, reset=False)
        check_alike(classes, self.classes_)
        unknown = np.setdiff1d(classes, self.classes_)
        if not unknown.size:
            codes = translate_codes(classes, self.classes_, rows.codes)
            known = len(self.classes_)
            rows = Rows(rows.X, codes, known, rows.weights, rows.names, rows.estimator_name)
            counted = Groups(self.classes_, *self._count(rows))
            if counted.allclose(self.tally_):
                return rows
        raise InputError(
            f"These are not the rows that this {type(self).__name__} learned. Give all of them, "
            "with their weights, or fit a model to these."
        )

    def _refitted_joint(self, rows: Rows) -> Floats:
        """Return log p(x, class) by reading the tally anew without each row."""
        from rich.progress import track

        out = np.full((rows.shape[0], len(self.classes_)), -np.inf)
        told = f"{type(self).__name__} ({self._why_refit()}): reading anew without each row"
        for number in track(range(rows.shape[0]), told, transient=True):
            one = rows.take(np.array([number]))
            taken = Groups(self.classes_, *self._count(one))
            rest = self._without(named_alike(taken, self.classes_))
            without = clone(self)
            without.__dict__.update(self.__dict__)
            without._settle(rest if self.classes_closed_ else rest.drop_empty())
            known = np.searchsorted(self.classes_, without.classes_)
            out[number, known] = without.predict_joint_log_proba(one.X)[0]
        return out
