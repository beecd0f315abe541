"""The result of cross-validation: how well each setting predicted each fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.display.tables import PrintedTable, Section, Tabular
from suffice.tally.tally import Floats

Setting = Mapping[str, Any]


@dataclass(frozen=True)
class CrossValidation(Tabular):
    """Scores of S settings on F folds; prints as a table, best setting first.

    Parameters
    ----------
    settings : S mappings from parameters to values
    log_loss, accuracy, calibration_error : (S, F)
    fold_weights : (F,)
        Weight of the rows of each fold, by which folds are averaged.
    """

    settings: Sequence[Setting]
    log_loss: Floats
    accuracy: Floats
    calibration_error: Floats
    fold_weights: Floats

    @property
    def best(self) -> Setting:
        """The setting of least mean log-loss."""
        return self.settings[int(np.argmin(self.mean_log_loss))]

    @property
    def mean_log_loss(self) -> Floats:
        """Log-loss of a row, (S,)."""
        return self._mean(self.log_loss)

    @property
    def mean_accuracy(self) -> Floats:
        """Share of rows answered right, (S,)."""
        return self._mean(self.accuracy)

    @property
    def mean_calibration_error(self) -> Floats:
        """Mean of the folds' calibration errors, (S,)."""
        return self._mean(self.calibration_error)

    def _mean(self, scores: Floats) -> Floats:
        return np.asarray(np.average(scores, axis=1, weights=self.fold_weights))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns: one a parameter, and the mean scores."""
        names = list(dict.fromkeys(name for setting in self.settings for name in setting))
        columns: dict[str, list[Any]] = {
            name: [setting.get(name) for setting in self.settings] for name in names
        }
        columns["log_loss"] = self.mean_log_loss.tolist()
        columns["accuracy"] = self.mean_accuracy.tolist()
        columns["calibration_error"] = self.mean_calibration_error.tolist()
        return columns

    def _printed(self) -> PrintedTable:
        folds = self.log_loss.shape[1]
        error = self.log_loss.std(axis=1) / np.sqrt(max(folds - 1, 1))
        rows = [
            (
                setting_name(self.settings[at]),
                f"{self.mean_log_loss[at]:.4f} +- {error[at]:.4f}",
                f"{self.mean_accuracy[at]:.4f}",
                f"{self.mean_calibration_error[at]:.4f}",
            )
            for at in np.argsort(self.mean_log_loss, kind="stable")
        ]
        headings = ("setting", "log-loss", "accuracy", "calibration error")
        return PrintedTable(headings, [Section(rows)])

    def _columns(self) -> dict[str, list[Any]]:
        return self.to_dict()


def setting_name(setting: Setting) -> str:
    """Return how a setting is printed.

    >>> setting_name({"alpha": 0.5, "estimate": "map"})
    "alpha=0.5, estimate='map'"
    """
    return ", ".join(f"{name}={value!r}" for name, value in setting.items()) or "as it is"
