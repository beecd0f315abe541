"""By how much the log-loss grows without each of some features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.tally.tally import Floats, Index, frozen


@dataclass(frozen=True, eq=False)
class LossIncrease:
    """Mean increases of the log-loss of rows when a feature is missing, and their standard errors.

    Parameters
    ----------
    features : (k,)
        The numbers of the features that were measured.
    mean, error : (k,)
        In nats a row.
    weight : float
        Of the rows; a row of weight 2 is two rows.
    log_loss : float
        Mean log-loss of the rows with all features.

    Examples
    --------
    >>> before, without = np.array([0.1, 0.3]), np.array([0.2, 0.8])
    >>> found = LossIncrease.of(before, [without], np.ones(2))
    >>> found.mean.round(3), found.error.round(3), found.log_loss
    (array([0.3]), array([0.141]), 0.2)
    """

    features: Index
    mean: Floats
    error: Floats
    weight: float
    log_loss: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", np.asarray(self.features, np.int64))
        object.__setattr__(self, "mean", frozen(self.mean))
        object.__setattr__(self, "error", frozen(self.error))

    @classmethod
    def of(cls, before: Floats, without: Iterable[Floats], weights: Floats) -> Self:
        """Return the increases of all features, given losses of rows (n,), and without each."""
        sums = []
        for losses in without:
            more = losses - before
            sums.append((weights @ more, weights @ np.square(more)))
        total, squares = np.array(sums).reshape(-1, 2).T
        return cls._from_sums(np.arange(len(total)), total, squares, before, weights)

    @classmethod
    def of_some_rows(
        cls, before: Floats, weights: Floats, rows: Index, features: Index, without: Floats
    ) -> Self:
        """Return the increases of features that only some rows have.

        Parameters
        ----------
        before, weights : (n,)
        rows, features : (p,)
            Row `rows[i]` has the feature of number `features[i]`.
        without : (p,)
            The loss of that row without it.
        """
        more, heavy = without - before[rows], weights[rows]
        known, at = np.unique(features, return_inverse=True)
        total = np.bincount(at, heavy * more, len(known)).astype(np.float64)
        squares = np.bincount(at, heavy * np.square(more), len(known)).astype(np.float64)
        return cls._from_sums(known, total, squares, before, weights)

    @classmethod
    def _from_sums(
        cls, features: Index, total: Floats, squares: Floats, before: Floats, weights: Floats
    ) -> Self:
        weight = float(weights.sum())
        mean = total / weight
        # The mean of squares is no less than the squared mean; rounding may leave it so.
        variance = np.maximum(squares / weight - np.square(mean), 0.0)
        error = np.sqrt(variance) / np.sqrt(weight)
        return cls(features, mean, error, weight, float(weights @ before) / weight)

    def among(self, size: int) -> tuple[Floats, Floats]:
        """Return means and errors of all features, (size,), NaN for those not measured."""
        mean, error = np.full(size, np.nan), np.full(size, np.nan)
        mean[self.features], error[self.features] = self.mean, self.error
        return mean, error

    def keep(self, kept: NDArray[np.bool_]) -> Self:
        """Return the increases of the features that are kept, by the numbers they have then."""
        mine = kept[self.features]
        places = np.cumsum(kept) - 1
        some = places[self.features[mine]], self.mean[mine], self.error[mine]
        return type(self)(*some, self.weight, self.log_loss)
