"""Validation without refits: what a classifier says of each row when it has not learned it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.display.tables import PrintedTable, Section, Tabular
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.kernels.score.finish import finish_log_proba
from suffice.tally.tally import Floats

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

        Some class must be possible. The array is taken over.
        """
        nowhere = np.full(joint.shape[1], np.nan)
        on_all_cores(
            lambda start, stop: finish_log_proba(joint[start:stop], nowhere),
            row_ranges(*joint.shape),
        )
        rows = weights if weights.size else np.ones(len(codes))
        return cls(joint, codes, rows, classes)

    @property
    def log_loss(self) -> float:
        """Mean of -log p of a row's own class; inf if one was the only row of its class."""
        own = self.log_proba[np.arange(len(self.codes)), self.codes]
        return float(np.average(-own, weights=self.weights))

    @property
    def predictions(self) -> NDArray[Any]:
        """The most probable class of each row, given the others, (n,)."""
        best: NDArray[Any] = self.classes[np.argmax(self.log_proba, axis=1)]
        return best

    @property
    def accuracy(self) -> float:
        """Share of the rows whose own class is the most probable one."""
        right = np.argmax(self.log_proba, axis=1) == self.codes
        return float(np.average(right, weights=self.weights))

    @property
    def calibration_error(self) -> float:
        """Mean distance of the probability of the chosen class from how often it was right.

        Rows are put into ten bins of equal width by that probability.
        """
        best = np.argmax(self.log_proba, axis=1)
        sure = np.exp(self.log_proba[np.arange(len(best)), best])
        return binned_error(sure, best == self.codes, self.weights)

    def _printed(self) -> PrintedTable:
        own = self.log_proba[np.arange(len(self.codes)), self.codes]
        right = np.argmax(self.log_proba, axis=1) == self.codes
        weight = np.bincount(self.codes, self.weights, len(self.classes))
        heaviest = np.argsort(-weight, kind="stable")[:MAX_CLASSES]
        rows = []
        for c in np.sort(heaviest[weight[heaviest] > 0]).tolist():
            mine = self.codes == c
            rows.append(
                (
                    str(self.classes[c]),
                    f"{weight[c]:g}",
                    f"{np.average(-own[mine], weights=self.weights[mine]):.4f}",
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
        own = self.log_proba[np.arange(len(self.codes)), self.codes]
        return {
            "label": self.classes[self.codes],
            "prediction": self.predictions,
            "weight": self.weights,
            "log_loss": -own,
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
