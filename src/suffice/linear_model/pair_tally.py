"""What a linear regression counts: the joint moments of columns and targets, and no row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from suffice.count import count_pairs
from suffice.count.pairs import PairedRows
from suffice.errors import DebtError, InputError, MergeError, MissingRowsWarning, warn_caller
from suffice.estimators.features import Columns, check_same_columns, read_features
from suffice.estimators.labels import TargetColumns, check_rows, read_targets, take_weights
from suffice.estimators.merging import (
    add_counts,
    merge_tallies,
    subtract_counts,
)
from suffice.tally import Moments
from suffice.tally.debt import describe_shortfall, largest_shortfall


@dataclass(frozen=True, eq=False)
class PairTally:
    """Joint moments of d columns and t targets, and what goes with them.

    Parameters
    ----------
    columns : the d columns
    targets : the t targets
    moments : of all d + t together
    n_rows_left_out : how many rows were not counted, since they have a missing value
    gross : how large the sums have been where the moments do not show it, or None

    Examples
    --------
    >>> X, y = np.array([[1.0], [2.0], [4.0]]), [3.0, 5.0, 9.0]
    >>> learned = PairTally.count(*read_pairs(X, y, None, None, "LinearRegression"))
    >>> learned.moments.mean().round(3)
    array([2.333, 5.667])
    >>> rows, _, _ = read_pairs(X[:1], y[:1], None, learned, "LinearRegression")
    >>> learned.subtract(rows).moments.mean()
    array([3., 7.])
    """

    columns: Columns
    targets: TargetColumns
    moments: Moments
    n_rows_left_out: int = 0
    gross: Moments | None = None

    @classmethod
    def count(cls, rows: PairedRows, columns: Columns, targets: TargetColumns) -> Self:
        """Return the tally of these rows and no others."""
        moments, left_out = _count_whole_rows(rows)
        return cls(columns, targets, moments, left_out)

    def add(self, rows: PairedRows) -> Self:
        """Return the tally of further rows and all before."""
        counted, left_out = _count_whole_rows(rows)
        moments, gross = add_counts(self.moments, self.gross, counted)
        left_out += self.n_rows_left_out
        return replace(self, moments=moments, gross=gross, n_rows_left_out=left_out)

    def subtract(self, rows: PairedRows) -> Self:
        """Return the tally without rows that were counted."""
        taken = count_pairs(rows)
        left_out = self.n_rows_left_out - taken.n_skipped
        if left_out < 0:
            raise DebtError(
                "More rows with a missing value were to be forgotten than were left out. Forget "
                "only rows that were given before; nothing was changed."
            )
        moments, gross = subtract_counts(
            self.moments,
            self.gross,
            taken.tally,
            lambda scale: self._describe_missing(taken.tally, scale),
        )
        if moments.weight == 0:
            raise InputError(
                "Forgetting these rows would leave nothing learned. Make a new model instead; "
                "nothing was changed."
            )
        return replace(self, moments=moments, gross=gross, n_rows_left_out=left_out)

    def merge(self, other: Self) -> Self:
        """Return the tally of the rows of both."""
        moments, gross = merge_tallies(self.moments, self.gross, other.moments, other.gross)
        left_out = self.n_rows_left_out + other.n_rows_left_out
        return replace(self, moments=moments, gross=gross, n_rows_left_out=left_out)

    def check_mergeable(self, other: Self) -> None:
        """Refuse a tally of other columns or targets."""
        check_same_columns(self.columns, other.columns)
        if other.targets.count != self.targets.count:
            raise MergeError(
                f"Cannot merge models of {self.targets.count} and {other.targets.count} targets. "
                "Learn the same targets in both."
            )

    def _describe_missing(self, taken: Moments, gross: Moments) -> str | None:
        found = largest_shortfall(self.moments, taken, gross)
        if found is None:
            return None
        if found.kind == "seen":  # all columns are seen in the same rows
            return describe_shortfall(found, "every column")
        target = found.at[0] - self.columns.count
        if target < 0:
            return describe_shortfall(found, self.columns.describe(found.at[0]))
        return describe_shortfall(found, self.targets.describe(target))


def read_pairs(
    X: Any, y: Any, sample_weight: Any, learned: PairTally | None, estimator_name: str
) -> tuple[PairedRows, Columns, TargetColumns]:
    """Return rows beside their targets, ready to count, and what both are called.

    Parameters
    ----------
    X, y, sample_weight : as users give them
    learned : PairTally whose columns and targets they have to have, or None if they are the first
    estimator_name : for errors
    """
    array, columns = read_features(X, None if learned is None else learned.columns, estimator_name)
    check_rows(array, y)
    values, targets = read_targets(y, array, estimator_name)
    if learned is not None and targets.count != learned.targets.count:
        raise InputError(
            f"y has {targets.count} targets, but {learned.targets.count} were learned before. Give "
            "the same ones."
        )
    weights = take_weights(sample_weight, array.shape[0])
    names = columns.names
    rows = PairedRows.of(array, values, weights=weights, names=names, estimator_name=estimator_name)
    return rows, columns, targets if learned is None else learned.targets


def _count_whole_rows(rows: PairedRows) -> tuple[Moments, int]:
    """Return the moments of rows without missing values, and how many others there are."""
    counted = count_pairs(rows)
    nothing = counted.tally.weight == 0
    if nothing and counted.n_skipped < rows.shape[0]:
        raise InputError("All complete rows have weight 0. Weigh one.")
    if nothing:
        raise InputError(
            f"All {counted.n_skipped} rows have a missing value (NaN). Fill missing values, or "
            "leave out the columns that have them."
        )
    if counted.n_skipped:
        at = int(np.argmax(np.isnan(rows.cells(counted.first_skipped))))
        warn_caller(
            f"{counted.n_skipped} of {rows.shape[0]} rows have a missing value (NaN) and were "
            f"left out, the first of them row {counted.first_skipped} ({rows.column(at)}). Fill "
            "missing values, or leave out columns, to learn from these rows.",
            MissingRowsWarning,
        )
    return counted.tally, counted.n_skipped
