"""What a linear regression learns: the joint moments of columns and targets, and a solution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from suffice.count import count_pairs
from suffice.count.pairs import PairedRows
from suffice.count.ranges import refusal_of
from suffice.data.rows import Rows
from suffice.errors import (
    DebtError,
    InputError,
    MergeError,
    MissingRowsWarning,
    warn_caller,
)
from suffice.estimators.features import Columns, check_same_columns, read_features
from suffice.estimators.labels import TargetColumns, check_rows, read_targets, take_weights
from suffice.estimators.merging import (
    add_counts,
    merge_tallies,
    subtract_counts,
)
from suffice.prior.coefficients import CoefficientsKnownNoise, Products
from suffice.prior.predictive import Normal, StudentT
from suffice.scoring.regression import RegressionPosterior
from suffice.tally import Moments
from suffice.tally.debt import describe_shortfall, largest_shortfall
from suffice.tally.tally import Floats, Index


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
        moments, left_out = _count_complete_rows(rows)
        return cls(columns, targets, moments, left_out)

    def add(self, rows: PairedRows) -> Self:
        """Return the tally of further rows and all before."""
        return self.add_counted(*_count_complete_rows(rows))

    def subtract(self, rows: PairedRows) -> Self:
        """Return the tally without rows that were counted."""
        taken = count_pairs(rows)
        return self.subtract_counted(taken.tally, taken.n_skipped)

    def subtract_counted(self, taken: Moments, skipped: int) -> Self:
        """Return the tally without the moments of rows, of which so many were left out."""
        left_out = self.n_rows_left_out - skipped
        if left_out < 0:
            raise DebtError(
                "More rows with a missing value were to be forgotten than were left out. Forget "
                "only rows that were given before; nothing was changed."
            )
        moments, gross = subtract_counts(
            self.moments,
            self.gross,
            taken,
            lambda scale: self._describe_missing(taken, scale),
        )
        if moments.weight == 0:
            raise InputError(
                "Forgetting these rows would leave nothing learned. Make a new model instead; "
                "nothing was changed."
            )
        return replace(self, moments=moments, gross=gross, n_rows_left_out=left_out)

    def add_counted(self, moments: Moments, skipped: int) -> Self:
        """Return the tally with the moments of further rows, of which so many were left out."""
        total, gross = add_counts(self.moments, self.gross, moments)
        left_out = self.n_rows_left_out + skipped
        return replace(self, moments=total, gross=gross, n_rows_left_out=left_out)

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
    """Return rows with their targets, ready to count, and the names of both.

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


def _count_complete_rows(rows: PairedRows) -> tuple[Moments, int]:
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


@dataclass(frozen=True, eq=False)
class PairCounts:
    """The moments of rows that were counted by a plan.

    Parameters
    ----------
    columns, targets : of the rows
    moments : of columns and targets together; None of no rows
    skipped : how many rows have a missing value
    """

    columns: Columns
    targets: TargetColumns
    moments: Moments | None = None
    skipped: int = 0

    @property
    def kept_sample(self) -> None:
        """The rows that a model keeps: a regression keeps none."""
        return None

    def add(self, rows: PairedRows) -> Self:
        """Return the moments with those of further rows."""
        counted = count_pairs(rows)
        moments = counted.tally if self.moments is None else self.moments + counted.tally
        return replace(self, moments=moments, skipped=self.skipped + counted.n_skipped)

    def merge(self, other: Self) -> Self:
        """Return the moments of the rows of both."""
        if other.moments is None:
            return self
        moments = other.moments if self.moments is None else self.moments + other.moments
        return replace(self, moments=moments, skipped=self.skipped + other.skipped)

    def tally(self) -> PairTally:
        """Return what was counted, if anything was; warn of rows with missing values."""
        if self.moments is None or self.moments.weight == 0:
            raise InputError(
                f"All {self.skipped} rows have a missing value (NaN), or no weight. Fill missing "
                "values, or leave out the columns that have them."
            )
        if self.skipped:
            warn_caller(
                f"{self.skipped} rows have a missing value (NaN) and were left out. Fill missing "
                "values, or leave out columns, to learn from these rows.",
                MissingRowsWarning,
            )
        return PairTally(self.columns, self.targets, self.moments, self.skipped)


class RegressionSettings(Protocol):
    """The parameters of a regression that a tally is solved with."""

    def solve(self, moments: Moments, columns: Columns) -> Solution:
        """Return the regression of the targets, or say why the tally is not enough for one."""


@dataclass(frozen=True, eq=False)
class Solution(ABC):
    """Coefficients of d columns for t targets.

    Parameters
    ----------
    moments : joint moments of columns and targets, which it was solved from
    products : their sums of products, about the means if there is an intercept
    fit_intercept : whether there is one
    coefficients : (t, d)
    intercepts : (t,), or 0 if there are none
    """

    moments: Moments
    products: Products
    fit_intercept: bool
    coefficients: Floats
    intercepts: Floats | float

    @property
    @abstractmethod
    def posterior(self) -> RegressionPosterior:
        """The posterior of the coefficients, or an error if there is none."""

    @abstractmethod
    def restrict(self, columns: Index) -> Solution:
        """Return the regression on some columns only, from the same tally."""

    def restrict_moments(self, columns: Index) -> Moments:
        """Return the joint moments of some columns and all targets."""
        moments, d = self.moments, len(self.products.xx)
        kept = np.concatenate([columns, np.arange(d, moments.origin.size)])
        sum_xx = moments.sum_xx[np.ix_(kept, kept)]
        return Moments(moments.weight, moments.origin[kept], moments.sum_x[kept], sum_xx)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """The lines of a summary above its table: names and values."""
        posterior = self.posterior
        left = posterior.products.about(posterior.coefficients).yy
        with np.errstate(invalid="ignore", divide="ignore"):
            explained = 1 - left / posterior.products.yy
        shares = (f"{share:.4f}" if np.isfinite(share) else "-" for share in explained)
        fit = ("R^2", " ".join(shares))
        coefficients = posterior.posterior
        if isinstance(coefficients, CoefficientsKnownNoise):
            return fit, ("known noise sd", f"{float(np.sqrt(coefficients.noise_variance)):.4g}")
        noise = np.sqrt(coefficients.noise_scale / coefficients.noise_shape)
        return fit, ("noise sd", " ".join(f"{sd:.4g}" for sd in noise))


def predict_targets(solution: Solution, rows: Rows) -> Floats:
    """Return the expected targets (n, t) of rows.

    A row with missing values is predicted by the regression on the columns it has.
    """
    out = np.empty((rows.shape[0], len(solution.coefficients)))
    for part, some, at in _split_by_missing(solution, rows):
        out[at] = np.asarray(some.X @ part.coefficients.T) + part.intercepts
    return out


def predict_distribution(solution: Solution, rows: Rows) -> StudentT | Normal:
    """Return the distribution of new targets (n, t) at rows: Student's t, or normal."""
    parts = [
        (part.posterior.predictive(some), at)
        for part, some, at in _split_by_missing(solution, rows)
    ]
    first = parts[0][0]
    if len(parts) == 1:
        return first
    shape = (rows.shape[0], int(first.location.shape[1]))
    fields = {name: np.empty(shape) for name in vars(first)}
    for part, at in parts:
        for name, values in fields.items():
            values[at] = getattr(part, name)
    return type(first)(**fields)


def _split_by_missing(solution: Solution, rows: Rows) -> Iterator[tuple[Solution, Rows, Index]]:
    """Yield the regression on the columns that some rows have, those rows, and their numbers."""
    cells = rows.X.data if rows.sparse else rows.X
    all_rows = np.arange(rows.shape[0])
    if cells.dtype.kind != "f" or np.isfinite(cells.sum()):
        yield solution, rows, all_rows
        return
    dense = rows.sample(all_rows)
    infinite = np.isinf(dense).any(axis=1)
    if infinite.any():
        raise refusal_of(rows, int(np.argmax(infinite)))
    patterns, which = np.unique(np.isnan(dense), axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        at = np.flatnonzero(which == number)
        if not pattern.any():
            yield solution, rows.take(at), at
            continue
        columns = np.flatnonzero(~pattern)
        seen = replace(rows, X=dense[np.ix_(at, columns)], names=None)
        yield solution.restrict(columns), seen, at


@dataclass(frozen=True, eq=False)
class FittedRegression:
    """All that a regression has learned: a tally, and the regression solved from it.

    Parameters
    ----------
    learned : PairTally
    solution : Solution, or None if there are too few rows for one yet
    not_yet : why there is none, or None
    """

    learned: PairTally
    solution: Solution | None
    not_yet: str | None = None
