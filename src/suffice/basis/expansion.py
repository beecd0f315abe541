"""Expansions of rows: what all basis functions share as scikit-learn's transformers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from suffice.errors import InputError
from suffice.estimators.intake import names_of, take_features
from suffice.estimators.undo import all_or_nothing
from suffice.persist.agreement import check_columns
from suffice.persist.refusal import refuse
from suffice.persist.savable import Savable
from suffice.tally.tally import Floats

# Columns that an expansion from a file may make; a file may ask for any number in a few bytes.
MAX_COLUMNS = 1 << 22


class Expansion(TransformerMixin, BaseEstimator, Savable, ABC):
    """A map x -> φ(x) of rows to rows of more columns (docs: mathematics, section 7).

    A subclass learns what it needs of the training rows (`_learn`), computes its columns
    (`_expand`) and names them (`_names`), says of what it learned what is saved (`_saved`), and
    refuses what it cannot have learned (`_check_learned`).
    A missing value (NaN) stays NaN in every column it enters.
    """

    _saved: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_")

    @abstractmethod
    def _learn(self, cells: Floats) -> None:
        """Set the fitted attributes from training rows, (n, d), which may have missing values."""

    @abstractmethod
    def _expand(self, cells: Floats) -> Floats:
        """Return φ of rows, (n, d) to (n, n_features_out)."""

    @abstractmethod
    def _names(self, columns: list[str]) -> list[str]:
        """Return the names of the new columns, given those of the old."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn names and number of the columns, and from their cells what was not given.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Missing values (NaN, null) are left out.
        y : ignored
        """
        with all_or_nothing(self):
            self._validate_params()
            self._learn(self._taken(X, reset=True))
        return self

    def transform(self, X: Any) -> Floats:
        """Return φ of every row, (n_samples, n_features_out), in float64."""
        check_is_fitted(self, "n_features_in_")
        cells = self._taken(X, reset=False)
        # What overflows is refused below, by name.
        with np.errstate(over="ignore", invalid="ignore"):
            expanded = self._expand(cells)
        # Infinities of both signs add up to NaN, which must not pass for a missing value.
        complete = ~np.isnan(cells).any(axis=1, keepdims=True)
        at = first_wrong(np.isinf(expanded) | (np.isnan(expanded) & complete))
        if at is not None:
            raise InputError(
                f"{self.get_feature_names_out()[at[1]]} is not finite in row {at[0]}: its numbers "
                f"are too large for {type(self).__name__}. Correct them, or centre and scale the "
                "columns first, with StandardScaler for example."
            )
        return expanded

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of X; those seen by `fit`, or x0, x1, ..., if not given.
        """
        check_is_fitted(self, "n_features_in_")
        columns = _check_feature_names_in(self, input_features)
        return np.asarray(self._names([str(name) for name in columns]), dtype=object)

    @abstractmethod
    def _check_learned(self, state: dict[str, Any], columns: int) -> None:
        """Refuse what was not learned from so many columns; `state` has all that is saved."""

    def _check_saved(self, state: dict[str, Any]) -> None:
        columns = check_columns(state)
        for name in set(self._saved) - set(Expansion._saved):
            numbers = state.get(name)
            for part in numbers if isinstance(numbers, list | tuple) else [numbers]:
                array = np.asarray(part)
                if array.dtype.kind not in "iuf" or np.any(np.isnan(array)):
                    refuse(f"Its {name!r} is missing, or holds what is no number.")
        self._check_learned(state, columns)

    def _taken(self, X: Any, *, reset: bool) -> Floats:
        cells = np.asarray(take_features(self, X, reset=reset, sparse=False), dtype=np.float64)
        at = first_wrong(np.isinf(cells))
        if at is not None:
            raise InputError(
                f"Input X contains infinity: {cells[at]:g} in row {at[0]}, "
                f"{self._column(at[1])}. Replace it, or make it NaN to mark it missing."
            )
        return cells

    def _column(self, at: int) -> str:
        """Return how to speak of a column of X in an error."""
        names = names_of(self)
        return f"column {at}" + ("" if names is None else f" ({names[at]!r})")

    def _observed(self, cells: Floats) -> list[Floats]:
        """Return the observed cells of each column; there must be some to learn from."""
        columns = [column[~np.isnan(column)] for column in cells.T]
        for at, column in enumerate(columns):
            if not column.size:
                raise InputError(
                    f"{type(self).__name__} has nothing to learn from: {self._column(at)} holds "
                    "missing values only. Leave the column out."
                )
            low, high = float(column.min()), float(column.max())
            if np.isinf(high - low):
                raise InputError(
                    f"The cells of {self._column(at)} reach from {low:g} to {high:g}, and their "
                    "difference overflows. Scale the column first."
                )
        return columns


def check_ascending(name: str, numbers: Any) -> None:
    """Refuse what is no list of finite numbers, each above the one before."""
    fine = isinstance(numbers, np.ndarray) and numbers.ndim == 1 and np.isfinite(numbers).all()
    if not fine or np.any(np.diff(numbers) <= 0):
        refuse(f"Its {name!r} has numbers that do not ascend, or are not finite.")


def check_positive(name: str, numbers: Any, columns: int) -> None:
    """Refuse what is not a number above 0, or infinity, for each column."""
    if not isinstance(numbers, np.ndarray) or numbers.shape != (columns,) or np.any(numbers <= 0):
        refuse(f"Its {name!r} is not a number above 0 for each of {columns} columns.")


def check_width(columns: int) -> None:
    """Refuse more columns than a row of any use has."""
    if columns > MAX_COLUMNS:
        refuse(f"It makes {columns} columns of a row, where {MAX_COLUMNS} are the most.")


def first_wrong(wrong: NDArray[np.bool_]) -> tuple[int, int] | None:
    """Return row and column of the first cell that is wrong, if one is."""
    if not wrong.any():
        return None
    row, column = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return int(row), int(column)


def quantiles(column: Floats, levels: Floats) -> Floats:
    """Return the different quantiles of cells, ascending.

    A quantile is a cell, never a point between two: there would be nothing to tell functions apart
    that bend or peak between the same two cells.

    Examples
    --------
    >>> quantiles(np.array([1.0, 1.0, 1.0, 4.0]), np.array([0.25, 0.5, 0.9]))
    array([1., 4.])
    """
    return np.unique(np.quantile(column, levels, method="inverted_cdf"))
