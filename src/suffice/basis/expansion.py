"""Expansions of rows: what all basis functions share as scikit-learn's transformers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice._sklearn import BaseEstimator, TransformerMixin
from suffice.errors import InputError
from suffice.estimators.features import Columns, read_feature_names, read_features
from suffice.estimators.fitted import check_fitted, fitted_for, keep_fitted
from suffice.persist.checks import check_columns, refuse
from suffice.persist.saving import Savable
from suffice.tally.tally import Floats
from suffice.threads import one_blas_thread

# What a file holds of the columns.
COLUMN_FIELDS = ("n_features_in_", "feature_names_in_")
# Columns that an expansion from a file may make; a file may ask for any number in a few bytes.
MAX_COLUMNS = 1 << 22


class BasisFunctions(Protocol):
    """Functions φ of a row, with all that they learned of the training rows."""

    def expand(self, cells: Floats) -> Floats:
        """Return φ of rows, (n, d) to (n, n_features_out)."""

    def name_columns(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the new columns, given those of the old."""


@dataclass(frozen=True, eq=False)
class FittedExpansion:
    """The columns that an expansion learned, and the functions of them."""

    columns: Columns
    functions: Any


class Expansion(TransformerMixin, BaseEstimator, Savable, ABC):
    """A map x -> φ(x) of rows to rows of more columns (docs: mathematics, section 7).

    A subclass learns functions of the training rows (`_learn`): a frozen value of the class
    `_functions`, of which `_saved` has the fields, in their order, as they are called in files. It
    refuses what it cannot have learned (`_check_learned`).
    A missing value (NaN) stays NaN in every column it enters.
    """

    _saved: ClassVar[tuple[str, ...]] = COLUMN_FIELDS
    _functions: ClassVar[Any]
    _fitted: FittedExpansion

    @abstractmethod
    def _learn(self, cells: Floats, columns: Columns) -> BasisFunctions:
        """Return functions of training rows, (n, d), which may have missing values."""

    @abstractmethod
    def _check_learned(self, state: dict[str, Any], columns: int) -> None:
        """Refuse what was not learned from so many columns; `state` has all that is saved."""

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
        with one_blas_thread:
            self._validate_params()
            cells, columns = read_cells(X, None, type(self).__name__)
            fitted = FittedExpansion(columns, self._learn(cells, columns))
        return keep_fitted(self, fitted)

    @one_blas_thread
    def transform(self, X: Any) -> Floats:
        """Return φ of every row, (n_samples, n_features_out), in float64."""
        fitted, name = check_fitted(self), type(self).__name__
        cells, _ = read_cells(X, fitted.columns, name)
        # What overflows is refused below, by name.
        with np.errstate(over="ignore", invalid="ignore"):
            expanded: Floats = fitted.functions.expand(cells)
        # Infinities of both signs add up to NaN, which must not pass for a missing value.
        complete = ~np.isnan(cells).any(axis=1, keepdims=True)
        at = first_true(np.isinf(expanded) | (np.isnan(expanded) & complete))
        if at is not None:
            column = fitted.functions.name_columns(fitted.columns.terms())[at[1]]
            raise InputError(
                f"{column} is not finite in row {at[0]}: its numbers are too large for {name}. "
                "Correct them, or centre and scale the columns first, with StandardScaler for "
                "example."
            )
        return expanded

    @one_blas_thread
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of X; those seen by `fit`, or x0, x1, ..., if not given.
        """
        fitted = check_fitted(self)
        columns = read_feature_names(input_features, fitted.columns)
        return np.asarray(fitted.functions.name_columns(columns), dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    def _learned(self, attribute: str) -> Any:
        """Return the field of the functions that an attribute shows: `knots` for `knots_`."""
        return getattr(fitted_for(self, attribute).functions, attribute.removesuffix("_"))

    @property
    def n_features_in_(self) -> int:
        """How many columns were learned."""
        return fitted_for(self, "n_features_in_").columns.count

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the columns, if they had any."""
        return fitted_for(self, "feature_names_in_").columns.feature_names_in()

    # Saving.

    def _saved_state(self) -> dict[str, Any]:
        if not self.__sklearn_is_fitted__():
            return {}
        fitted = self._fitted
        values = (getattr(fitted.functions, field.name) for field in fields(self._functions))
        return {**fitted.columns.saved(), **dict(zip(self._learned_names(), values, strict=True))}

    def _check_saved(self, state: dict[str, Any]) -> None:
        columns = check_columns(state)
        for name in self._learned_names():
            numbers = state.get(name)
            for part in numbers if isinstance(numbers, list | tuple) else [numbers]:
                array = np.asarray(part)
                if array.dtype.kind not in "iuf" or np.any(np.isnan(array)):
                    refuse(f"Its {name!r} is missing, or holds what is no number.")
        self._check_learned(state, columns)

    def _restore(self, state: dict[str, Any]) -> None:
        functions = self._functions(*(state[name] for name in self._learned_names()))
        keep_fitted(self, FittedExpansion(Columns.restore(state), functions))

    def _learned_names(self) -> tuple[str, ...]:
        """Return what the fields of the functions are called in files."""
        return self._saved[len(COLUMN_FIELDS) :]


def read_cells(X: Any, columns: Columns | None, estimator_name: str) -> tuple[Floats, Columns]:
    """Return the rows (n, d) in float64, without infinities, and their columns."""
    array, known = read_features(X, columns, estimator_name, sparse=False)
    cells = np.asarray(array, dtype=np.float64)
    at = first_true(np.isinf(cells))
    if at is not None:
        raise InputError(
            f"Input X contains infinity: {cells[at]:g} in row {at[0]}, {known.describe(at[1])}. "
            "Replace it, or make it NaN to mark it missing."
        )
    return cells, known


def observed_cells(cells: Floats, columns: Columns, estimator_name: str) -> list[Floats]:
    """Return each column's cells that are not missing; there must be some to learn from."""
    observed = [column[~np.isnan(column)] for column in cells.T]
    for at, column in enumerate(observed):
        if not column.size:
            raise InputError(
                f"{estimator_name} has nothing to learn from: {columns.describe(at)} holds "
                "missing values only. Leave the column out."
            )
        low, high = float(column.min()), float(column.max())
        if np.isinf(high - low):
            raise InputError(
                f"The cells of {columns.describe(at)} reach from {low:g} to {high:g}, and their "
                "difference overflows. Scale the column first."
            )
    return observed


# Numbers of a model file.


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


def first_true(marked: NDArray[np.bool_]) -> tuple[int, int] | None:
    """Return row and column of the first cell that is marked, if one is."""
    if not marked.any():
        return None
    row, column = np.unravel_index(int(np.argmax(marked)), marked.shape)
    return int(row), int(column)


def quantiles(column: Floats, levels: Floats) -> Floats:
    """Return the different quantiles of cells, ascending.

    A quantile is a cell, never a point between two: functions that bend or peak between the same
    two cells would have the same values in all rows.

    Examples
    --------
    >>> quantiles(np.array([1.0, 1.0, 1.0, 4.0]), np.array([0.25, 0.5, 0.9]))
    array([1., 4.])
    """
    return np.unique(np.quantile(column, levels, method="inverted_cdf"))


# Numbers that a user gives in place of learning them.


def read_ascending(name: str, values: Any) -> Floats:
    """Return a list of finite numbers in ascending order, each once.

    Examples
    --------
    >>> read_ascending("knots", [3, 1, 3])
    array([1., 3.])
    """
    numbers = read_finite(name, values)
    if numbers.ndim != 1:
        raise InputError(f"{name} has shape {numbers.shape}. Give a list of numbers.")
    return np.unique(numbers)


def read_positive(name: str, values: Any, columns: int) -> Floats:
    """Return a positive number for each column, from one for all or one a column.

    Examples
    --------
    >>> read_positive("period", 24, 2)
    array([24., 24.])
    """
    numbers = read_finite(name, values)
    if numbers.shape not in ((), (columns,)):
        raise InputError(
            f"{name} has shape {numbers.shape} for {columns} columns. Give one number, or one a "
            "column."
        )
    if np.any(numbers <= 0):
        raise InputError(f"{name} is {numbers.min():g}. Give a number above 0.")
    return np.broadcast_to(numbers, (columns,)).copy()


def read_finite(name: str, values: Any) -> Floats:
    """Return an array of finite numbers."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is {values!r}. Give numbers.") from error
    if not np.isfinite(numbers).all():
        odd = numbers[~np.isfinite(numbers)][0]
        raise InputError(f"{name} holds {odd:g}. Give finite numbers.")
    return numbers


# Numbers in the names of columns. Six digits are what people read ("g" prints as many); 17 make
# any two float64 differ.
MIN_DIGITS, MAX_DIGITS = 6, 17


def format_numbers(values: ArrayLike) -> list[str]:
    """Return numbers as text, with enough digits to make different ones differ.

    Examples
    --------
    >>> format_numbers([30.0, 0.25, 1 / 3])
    ['30', '0.25', '0.333333']
    >>> format_numbers([1e8, 1e8 + 1])
    ['100000000', '100000001']
    """
    numbers = np.asarray(values, np.float64).tolist()
    different = len(set(numbers))
    digits = MIN_DIGITS
    while digits < MAX_DIGITS and len({f"{number:.{digits}g}" for number in numbers}) < different:
        digits += 1
    return [f"{number:.{digits}g}" for number in numbers]
