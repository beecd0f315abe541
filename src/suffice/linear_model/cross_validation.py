"""Cross-validation of regressions: each fold is counted once, training sets are sums of folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from suffice.count.pairs import count_pairs_by_code
from suffice.data.pairs import PairedRows
from suffice.errors import InputError, PriorError
from suffice.figures.tables import PrintedTable, Section, Tabular
from suffice.skin.cross_validation import setting_name
from suffice.skin.folds import NEVER, Folds
from suffice.tally import Moments
from suffice.tally.tally import Floats


@dataclass(frozen=True)
class TargetsValidation(Tabular):
    """Scores of S settings on F folds; prints as a table, best setting first.

    Parameters
    ----------
    settings : S mappings from parameters to values
    squared_error : (S, F)
        Mean squared error of the predictions of a fold.
    log_density : (S, F)
        Mean log density of its targets; NaN where a setting has no predictive distribution.
    fold_weights : (F,)
    """

    settings: Sequence[Mapping[str, Any]]
    squared_error: Floats
    log_density: Floats
    fold_weights: Floats

    @property
    def mean_squared_error(self) -> Floats:
        """Of a row, (S,)."""
        return np.asarray(np.average(self.squared_error, axis=1, weights=self.fold_weights))

    @property
    def mean_log_density(self) -> Floats:
        """Of a row, (S,)."""
        return np.asarray(np.average(self.log_density, axis=1, weights=self.fold_weights))

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


def cross_validated(
    model: Any, rows: PairedRows, numbers: Folds, settings_to_try: Mapping[str, Any]
) -> TargetsValidation:
    """Score every combination of settings on every fold, from one counting pass."""
    from sklearn.model_selection import ParameterGrid

    settings = list(ParameterGrid({name: list(v) for name, v in settings_to_try.items()}))
    learned = training_moments(rows, numbers)
    parts = [np.flatnonzero(numbers == fold) for fold in range(len(learned))]
    weights = rows.weights if rows.weights.size else np.ones(rows.shape[0])
    whole = np.isfinite(rows.targets).all(axis=1)
    scores = np.empty((2, len(settings), len(learned)))
    for at, setting in enumerate(settings):
        for fold, tally in enumerate(learned):
            reader = clone(model).set_params(**setting)
            reader._validate_params()
            reader.__dict__.update(vars_of(model))
            reader._settle(tally)
            mine = parts[fold][np.asarray(whole)[parts[fold]]]
            scores[:, at, fold] = scored(reader, rows.X[mine], rows.targets[mine], weights[mine])
    fold_weights = np.array([weights[part].sum() for part in parts])
    return TargetsValidation(settings, scores[0], scores[1], fold_weights)


def training_moments(rows: PairedRows, numbers: Folds) -> list[Moments]:
    """Return the moments of all rows but those of each fold: sums, in which nothing is lost."""
    folds = int(numbers.max()) + 1
    never = int(np.any(numbers == NEVER))
    codes = np.where(numbers == NEVER, folds, numbers).astype(np.int32)
    by_fold = count_pairs_by_code(replace(rows, codes=codes, classes=folds + never)).tally
    every = np.arange(folds + never)
    return [by_fold.take(every[every != fold]).pooled() for fold in range(folds)]


def vars_of(model: Any) -> dict[str, Any]:
    """Return what a model knows of the columns and targets of its rows, names left out."""
    return {
        "n_features_in_": model.n_features_in_,
        "_single_target": model._single_target,
        "_target_names": model._target_names,
        "n_rows_left_out_": 0,
    }


def scored(model: Any, X: Any, targets: Floats, weights: Floats) -> tuple[float, float]:
    """Return the mean squared error, and the mean log density if there is a predictive."""
    predicted = np.asarray(model.predict(X)).reshape(targets.shape)
    error = np.square(targets - predicted).mean(axis=1)
    try:
        density = model.predictive(X).log_density(targets).sum(axis=1)
    except (InputError, PriorError):
        density = np.full(len(targets), np.nan)
    return (
        float(np.average(error, weights=weights)),
        float(np.average(density, weights=weights)),
    )
