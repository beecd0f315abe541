"""Validation without refits: what a classifier says of each row when it has not learned it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.finish import finish_log_proba
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.tally.tally import Floats

# Bins of equal width that the probabilities of the chosen classes are compared in.
CALIBRATION_BINS = 10


@dataclass(frozen=True)
class ClassesLeftOut:
    """Exact leave-one-out answers (docs: mathematics, section 3).

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


def binned_error(sure: Floats, right: NDArray[np.bool_], weights: Floats) -> float:
    """Return the expected calibration error of how sure answers were (n,), and if right (n,)."""
    bins = np.minimum((sure * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    hits = np.bincount(bins, weights * right, CALIBRATION_BINS)
    expected = np.bincount(bins, weights * sure, CALIBRATION_BINS)
    return float(np.abs(hits - expected).sum() / weights.sum())
