"""Results of validation: leave-one-out answers, and the scores of cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.display.tables import PrintedTable, Section, Tabular
from suffice.tally.tally import Floats

if TYPE_CHECKING:
    from suffice.validation.evaluation import Evaluation

Setting = Mapping[str, Any]
# Bins of equal width that the probabilities of the chosen classes are compared in.
CALIBRATION_BINS = 10
# Classes that are printed, the heaviest.
MAX_CLASSES = 20


@dataclass(frozen=True)
class LeaveOneOutResult(Tabular):
    """Exact leave-one-out answers (docs: mathematics, section 3); prints as a table of the classes.

    The prior, where evidence chose it, and all settings are those that all rows gave; only the
    row itself, its part in the class prior included, is taken out.

    Parameters
    ----------
    log_proba : (n, C)
        Log probability of each class for each row, given all other rows. A class of which the row
        was the only one has -inf.
    codes : (n,)
        Each row's own class, by number.
    weights : (n,)
        Rows of weight 0 count nothing in the averages.
    classes : (C,)
    """

    log_proba: Floats
    codes: NDArray[Any]
    weights: Floats
    classes: NDArray[Any]

    @classmethod
    def of(cls, joint: Floats, codes: NDArray[Any], weights: Floats, classes: NDArray[Any]) -> Self:
        """Return the answers, given log p(x, class) of each row (n, C) without the row.

        Some class must be possible.
        """
        nowhere = np.full(joint.shape[1], np.nan)
        log_proba = _core.answer_scores(joint, nowhere, "log_proba")[2]
        rows = weights if weights.size else np.ones(len(codes))
        return cls(log_proba, codes, rows, classes)

    @property
    def log_loss(self) -> float:
        """Mean of -log p of a row's own class; inf if one was the only row of its class."""
        return float(np.average(self._losses, weights=self.weights))

    @property
    def predictions(self) -> NDArray[Any]:
        """The most probable class of each row, given the others, (n,)."""
        best: NDArray[Any] = self.classes[np.argmax(self.log_proba, axis=1)]
        return best

    @property
    def accuracy(self) -> float:
        """Share of the rows whose own class is the most probable one."""
        return float(np.average(self._right, weights=self.weights))

    @property
    def calibration_error(self) -> float:
        """Mean distance of the probability of the chosen class from how often it was right.

        Rows are put into ten bins of equal width by that probability.
        """
        best = np.argmax(self.log_proba, axis=1)
        sure = np.exp(self.log_proba[np.arange(len(best)), best])
        return binned_error(sure, best == self.codes, self.weights)

    @property
    def _losses(self) -> Floats:
        """-log p of each row's own class, (n,)."""
        return np.asarray(-self.log_proba[np.arange(len(self.codes)), self.codes])

    @property
    def _right(self) -> NDArray[np.bool_]:
        """Whether the own class of each row is the most probable one, (n,)."""
        return np.asarray(np.argmax(self.log_proba, axis=1) == self.codes)

    def _printed(self) -> PrintedTable:
        losses, right = self._losses, self._right
        weight = np.bincount(self.codes, self.weights, len(self.classes))
        heaviest = np.argsort(-weight, kind="stable")[:MAX_CLASSES]
        rows = []
        for c in np.sort(heaviest[weight[heaviest] > 0]).tolist():
            mine = self.codes == c
            rows.append(
                (
                    str(self.classes[c]),
                    f"{weight[c]:g}",
                    f"{np.average(losses[mine], weights=self.weights[mine]):.4f}",
                    f"{np.average(right[mine], weights=self.weights[mine]):.4f}",
                )
            )
        total = (
            f"Leave-one-out: {self.weights.sum():g} rows, log-loss {self.log_loss:.4f}, accuracy "
            f"{self.accuracy:.4f}, calibration error {self.calibration_error:.4f}"
        )
        more = int(np.count_nonzero(weight)) - len(rows)
        return PrintedTable(
            ("class", "rows", "log-loss", "accuracy"),
            [Section(rows)],
            above=(total,),
            below=(f"and {more} more",) if more else (),
        )

    def _columns(self) -> dict[str, Any]:
        return {
            "label": self.classes[self.codes],
            "prediction": self.predictions,
            "weight": self.weights,
            "log_loss": self._losses,
            **{
                f"p({label})": np.exp(self.log_proba[:, c])
                for c, label in enumerate(self.classes.tolist())
            },
        }


def binned_error(sure: Floats, right: NDArray[np.bool_], weights: Floats) -> float:
    """Return the expected calibration error of how sure answers were (n,), and if right (n,)."""
    bins = np.minimum((sure * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    hits = np.bincount(bins, weights * right, CALIBRATION_BINS)
    expected = np.bincount(bins, weights * sure, CALIBRATION_BINS)
    return float(np.abs(hits - expected).sum() / weights.sum())


@dataclass(frozen=True)
class CrossValidation(Tabular):
    """Scores of S settings on F folds; prints as a table, best setting first.

    Parameters
    ----------
    settings : S mappings from parameters to values
    log_loss, accuracy, calibration_error : (S, F)
    fold_weights : (F,)
        Weight of the rows of each fold, by which folds are averaged.
    held_out : Evaluation or None
        The answers for each row by a model of the other folds, where one setting was tried.
    """

    settings: Sequence[Setting]
    log_loss: Floats
    accuracy: Floats
    calibration_error: Floats
    fold_weights: Floats
    held_out: Evaluation | None = None

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
