"""Held-out predictions of linear regressions: leave-one-out, and cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.count import count_pairs
from suffice.count.pairs import PairedRows, count_pairs_by_code
from suffice.data.rows import Rows
from suffice.display.tables import PrintedTable, Section, Tabular
from suffice.errors import InputError, PriorError
from suffice.estimators.features import Columns
from suffice.estimators.folds import NEVER, Folds
from suffice.linear_model.fitted import (
    PairTally,
    RegressionSettings,
    Solution,
    predict_distribution,
    predict_targets,
)
from suffice.scoring.regression import RegressionPosterior
from suffice.tally import Moments
from suffice.tally.tally import Floats
from suffice.validation.cross_validation import setting_name


@dataclass(frozen=True)
class TargetsLeftOut(Tabular):
    """Exact leave-one-out predictions, without a refit (docs: mathematics, section 7).

    Prints as a table of the targets.

    The prior is the one that all rows gave: its scale, where evidence chose it, is not chosen
    again for each row. Rows with missing values were never learned, and have NaN.

    Parameters
    ----------
    predictions : (n,) or (n, t)
        Predictions from the other rows.
    residuals : (n,) or (n, t)
        The target less that.
    log_density : (n,) or (n, t)
        Log predictive density of the target, given the other rows.
    leverage : (n,)
        How much each row contributes to its own prediction, from 0 to 1.
    """

    predictions: Floats
    residuals: Floats
    log_density: Floats
    leverage: Floats

    @property
    def root_mean_square(self) -> float:
        """Root of the mean squared residual."""
        return float(np.sqrt(np.nanmean(np.square(self.residuals))))

    @property
    def mean_log_density(self) -> float:
        """Mean log density of a target; higher is better."""
        return float(np.nanmean(self.log_density))

    def _printed(self) -> PrintedTable:
        residuals, density = self._by_target(self.residuals), self._by_target(self.log_density)
        names = ["y"] if len(residuals) == 1 else [f"y{at}" for at in range(len(residuals))]
        rows = [
            (name, f"{np.sqrt(np.nanmean(np.square(left))):.6g}", f"{np.nanmean(log_density):.5g}")
            for name, left, log_density in zip(names, residuals, density, strict=True)
        ]
        learned = np.isfinite(self.leverage)
        total = (
            f"Leave-one-out: {np.count_nonzero(learned)} rows, leverage at most "
            f"{self.leverage[learned].max():.4g}"
        )
        headings = ("target", "root mean square", "log density")
        return PrintedTable(headings, [Section(rows)], above=(total,))

    def _columns(self) -> dict[str, Any]:
        kinds = {
            "prediction": self.predictions,
            "residual": self.residuals,
            "log_density": self.log_density,
        }
        columns: dict[str, Any] = {}
        for name, values in kinds.items():
            if values.ndim == 1:
                columns[name] = values
            else:
                columns |= {f"{name}_{at}": values[:, at] for at in range(values.shape[1])}
        return {**columns, "leverage": self.leverage}

    @staticmethod
    def _by_target(values: Floats) -> Floats:
        return values[None] if values.ndim == 1 else values.T


def leave_targets_out(
    posterior: RegressionPosterior, learned: PairTally, rows: PairedRows
) -> TargetsLeftOut:
    """Return the leave-one-out predictions of the rows that were learned.

    Parameters
    ----------
    posterior : of all rows
    learned : the tally of all rows
    rows : all rows
    """
    if not count_pairs(rows).tally.allclose(learned.moments):
        raise InputError(
            f"These are not the rows that this {rows.estimator_name} learned. Give all of them, "
            "with their weights, or fit a model to these."
        )
    left_out, shape = posterior.leave_one_out(rows), learned.targets.shape
    return TargetsLeftOut(
        shape(left_out.predictions),
        shape(rows.targets - left_out.predictions),
        shape(left_out.log_density),
        left_out.leverage,
    )


@dataclass(frozen=True)
class TargetsValidation(Tabular):
    """Scores of S settings on F folds; prints as a table, best setting first.

    Parameters
    ----------
    settings : S mappings from parameters to values
    squared_error : (S, F)
        Mean squared error of the predictions of a fold; NaN for a fold of weight 0.
    log_density : (S, F)
        Mean log density of its targets; NaN for a fold of weight 0, and where a setting has no
        predictive distribution.
    fold_weights : (F,)
        Weight of the rows of each fold that have a target, which are the rows that are scored.
        Folds of weight 0 are no part of the means.
    """

    settings: Sequence[Mapping[str, Any]]
    squared_error: Floats
    log_density: Floats
    fold_weights: Floats

    @property
    def mean_squared_error(self) -> Floats:
        """Of a row that has a target, (S,)."""
        return self._mean(self.squared_error)

    @property
    def mean_log_density(self) -> Floats:
        """Of a row that has a target, (S,)."""
        return self._mean(self.log_density)

    def _mean(self, scores: Floats) -> Floats:
        scored = self.fold_weights > 0
        weights = self.fold_weights[scored]
        return np.asarray(np.average(scores[:, scored], axis=1, weights=weights))

    @property
    def best(self) -> Mapping[str, Any]:
        """The setting of highest mean log density; of least squared error if one has none."""
        return self.settings[int(self._order()[0])]

    def _order(self) -> Any:
        density = self.mean_log_density
        return np.argsort(self.mean_squared_error if np.isnan(density).any() else -density)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns: one a parameter, and the mean scores."""
        names = list(dict.fromkeys(name for setting in self.settings for name in setting))
        columns: dict[str, list[Any]] = {
            name: [setting.get(name) for setting in self.settings] for name in names
        }
        columns["squared_error"] = self.mean_squared_error.tolist()
        columns["log_density"] = self.mean_log_density.tolist()
        return columns

    def _printed(self) -> PrintedTable:
        rows = [
            (
                setting_name(self.settings[at]),
                f"{self.mean_squared_error[at]:.6g}",
                f"{self.mean_log_density[at]:.5g}",
            )
            for at in self._order()
        ]
        return PrintedTable(("setting", "squared error", "log density"), [Section(rows)])

    def _columns(self) -> dict[str, list[Any]]:
        return self.to_dict()


def cross_validate_targets(
    rows: PairedRows,
    numbers: Folds,
    params: Sequence[Mapping[str, Any]],
    settings: Sequence[RegressionSettings],
) -> TargetsValidation:
    """Score every setting on every fold, from one counting pass.

    A fold without a target has nothing to score: its weight is 0 and its scores are NaN.

    Parameters
    ----------
    rows : all rows
    numbers : (n,) the fold that leaves each row out
    params : what users call each setting
    settings : what a tally is solved with under it
    """
    learned = _training_moments(rows, numbers)
    weights = rows.row_weights
    has_target = np.isfinite(rows.targets).all(axis=1)
    parts = [np.flatnonzero((numbers == fold) & has_target) for fold in range(len(learned))]
    fold_weights = np.array([weights[part].sum() for part in parts])
    _check_folds(learned, fold_weights)
    columns = Columns(int(rows.X.shape[1]))
    scores = np.full((2, len(settings), len(learned)), np.nan)
    for at, setting in enumerate(settings):
        for fold in np.flatnonzero(fold_weights > 0):
            solution = setting.solve(learned[fold], columns)
            scores[:, at, fold] = _score_targets(solution, rows.take(parts[fold]))
    return TargetsValidation(params, scores[0], scores[1], fold_weights)


def _check_folds(learned: list[Moments], fold_weights: Floats) -> None:
    """Refuse folds of which none can be scored, or whose training set is empty."""
    if not fold_weights.any():
        raise InputError(
            "No row of any fold has a target and a weight above 0, so there is nothing to score. "
            "Give rows that have a target."
        )
    for fold, tally in enumerate(learned):
        if fold_weights[fold] > 0 and tally.weight == 0:
            raise InputError(
                f"No row outside fold {fold} can be learned: each has a missing value or weight 0. "
                "Cut the rows into other folds, or fill the missing values."
            )


def _training_moments(rows: PairedRows, numbers: Folds) -> list[Moments]:
    """Return the moments of all rows but those of each fold: sums, without cancellation."""
    folds = int(numbers.max()) + 1
    never = int(np.any(numbers == NEVER))
    codes = np.where(numbers == NEVER, folds, numbers).astype(np.int32)
    by_fold = count_pairs_by_code(replace(rows, codes=codes, classes=folds + never)).tally
    every = np.arange(folds + never)
    return [by_fold.take(every[every != fold]).pooled() for fold in range(folds)]


def _score_targets(solution: Solution, rows: PairedRows) -> tuple[float, float]:
    """Return the mean squared error, and the mean log density if there is a predictive."""
    weights = rows.row_weights
    cells = Rows(rows.X, rows.codes, 1, estimator_name=rows.estimator_name)
    error = np.square(rows.targets - predict_targets(solution, cells)).mean(axis=1)
    try:
        density = predict_distribution(solution, cells).log_density(rows.targets).sum(axis=1)
    except (InputError, PriorError):
        density = np.full(len(rows.targets), np.nan)
    return (
        float(np.average(error, weights=weights)),
        float(np.average(density, weights=weights)),
    )
