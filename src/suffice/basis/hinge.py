"""Hinges: piecewise linear functions, of each column at knots or of all at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from suffice._sklearn import Interval
from suffice.basis.expansion import (
    Expansion,
    FittedExpansion,
    check_ascending,
    check_positive,
    format_numbers,
    observed_cells,
    quantiles,
    read_ascending,
    read_finite,
)
from suffice.errors import InputError
from suffice.estimators.features import Columns, generator
from suffice.estimators.fitted import keep_fitted
from suffice.persist.checks import check_shapes, refuse
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class Hinges:
    """x and max(0, x - k) of each column, for the knots k of each."""

    knots: list[Floats]

    def expand(self, cells: Floats) -> Floats:
        """Return the hinges of rows, those of each column side by side."""
        blocks = []
        for column, knots in zip(cells.T, self.knots, strict=True):
            blocks += [column[:, None], np.maximum(column[:, None] - knots, 0.0)]
        return np.hstack(blocks)

    def name_columns(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the hinges."""
        return [
            text
            for name, knots in zip(columns, self.knots, strict=True)
            for text in (name, *_hinge_names(name, knots))
        ]


@dataclass(frozen=True, eq=False)
class DirectedHinges:
    """max(0, w.x) of rows, for given directions w, (k, d)."""

    weights: Floats

    @property
    def knots(self) -> list[Floats]:
        """No knots, for each column: what a file holds, beside the parameter `weights`."""
        return [np.empty(0)] * self.weights.shape[1]

    def expand(self, cells: Floats) -> Floats:
        """Return the functions of rows: (n, d) to (n, k)."""
        return np.maximum(cells @ self.weights.T, 0.0)

    def name_columns(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the functions, which do not depend on those of the columns."""
        return [f"max(0, w{at}.x)" for at in range(len(self.weights))]


class Hinge(Expansion):
    """x and max(0, x - k) of each column, for knots k (docs: mathematics, section 7).

    With the intercept, their weighted sums are all the continuous functions of the column that
    are linear between the knots. A weight says by how much the slope changes at its knot. With
    `weights` there are functions of whole rows instead, max(0, w.x) for each w.

    Parameters
    ----------
    knots : int or array-like, default=5
        k stands for the quantiles 1/(k+1), ..., k/(k+1) of the column's training rows, each of
        them a value that was seen, repeated ones and the ends of the range left out. A list of
        numbers serves every column; a list of such lists has one a column.
    weights : array-like of shape (n_directions, n_features), optional
        Given directions w, in place of knots. For max(0, w.x + b), add a column of ones to X.

    Attributes
    ----------
    knots_ : list of ndarray
        The knots of each column, ascending; a column that does not vary has none, and so has
        every column with `weights`.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> hinge = Hinge(knots=[0, 30]).fit([[1.0]])
    >>> hinge.transform([[-1.0], [20.0], [50.0]])
    array([[-1.,  0.,  0.],
           [20., 20.,  0.],
           [50., 50., 20.]])
    >>> hinge.get_feature_names_out(["age"]).tolist()
    ['age', 'max(0, age)', 'max(0, age - 30)']
    >>> Hinge(weights=[[1.0, -1.0]]).fit_transform([[3.0, 1.0], [1.0, 3.0]])
    array([[2.],
           [0.]])
    """

    _saved = (*Expansion._saved, "knots_")
    _functions = Hinges
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "knots": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "weights": ["array-like", None],
    }

    def __init__(self, knots: Any = 5, *, weights: Any = None) -> None:
        self.knots = knots
        self.weights = weights

    def _learn(self, cells: Floats, columns: Columns) -> Hinges | DirectedHinges:
        if self.weights is not None:
            return DirectedHinges(_given_directions(self.weights, columns.count))
        if not isinstance(self.knots, Integral):
            return Hinges(_given_knots(self.knots, columns.count))
        count = int(self.knots)
        levels = np.arange(1, count + 1) / (count + 1)
        learned = []
        for column in observed_cells(cells, columns, type(self).__name__):
            knots = quantiles(column, levels)
            learned.append(knots[(knots > column.min()) & (knots < column.max())])
        return Hinges(learned)

    def _check_learned(self, state: dict[str, Any], columns: int) -> None:
        knots = state["knots_"]
        if not isinstance(knots, list) or len(knots) != columns:
            refuse(f"Its 'knots_' are not {columns} lists.")
        for some in knots:
            check_ascending("knots_", some)
        if self.weights is not None:
            if any(some.size for some in knots):
                refuse("It has both 'weights' and knots.")
            try:
                _given_directions(self.weights, columns)
            except InputError as error:
                refuse(f"Its parameters are impossible: {error}")

    def _restore(self, state: dict[str, Any]) -> None:
        if self.weights is None:
            super()._restore(state)
            return
        columns = Columns.restore(state)
        directions = DirectedHinges(_given_directions(self.weights, columns.count))
        keep_fitted(self, FittedExpansion(columns, directions))

    @property
    def knots_(self) -> list[Floats]:
        """The knots of each column, ascending."""
        knots: list[Floats] = self._learned("knots_")
        return knots


def _given_knots(knots: Any, columns: int) -> list[Floats]:
    """Return the knots of each column from a list for all, or a list of lists, one a column."""
    if all(np.ndim(knot) == 0 for knot in knots):
        return [read_ascending("knots", knots)] * columns
    if len(knots) != columns:
        raise InputError(
            f"knots holds {len(knots)} lists for {columns} columns. Give one a column, or a list "
            "of numbers for all of them."
        )
    return [read_ascending(f"knots[{at}]", some) for at, some in enumerate(knots)]


def _given_directions(weights: Any, columns: int) -> Floats:
    """Return directions (k, d), all finite."""
    directions = read_finite("weights", weights)
    if directions.ndim != 2 or directions.shape[1] != columns or not len(directions):
        raise InputError(
            f"weights has shape {directions.shape} for {columns} columns. Give an array of shape "
            f"(n_directions, {columns})."
        )
    return directions


def _hinge_names(name: str, knots: Floats) -> list[str]:
    """Return max(0, name - knot) as people write it."""
    names = []
    for knot, text in zip(knots, format_numbers(knots), strict=True):
        shift = "" if knot == 0 else f" + {text[1:]}" if knot < 0 else f" - {text}"
        names.append(f"max(0, {name}{shift})")
    return names


@dataclass(frozen=True, eq=False)
class RandomHinges:
    """max(0, w.z + b) of rows z in units of `scale` (d,) about `mean` (d,).

    Parameters
    ----------
    mean, scale : (d,)
    weights : (k, d)
        w of each function.
    offsets : (k,)
        b of each function.
    """

    mean: Floats
    scale: Floats
    weights: Floats
    offsets: Floats

    def expand(self, cells: Floats) -> Floats:
        """Return the functions of rows: (n, d) to (n, k)."""
        hinges = np.asarray((cells - self.mean) / self.scale) @ self.weights.T
        hinges += self.offsets
        return np.maximum(hinges, 0.0, out=hinges)

    def name_columns(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the functions, which do not depend on those of the columns."""
        return [f"max(0, w{at}.z + b{at})" for at in range(len(self.weights))]


class RandomHinge(Expansion):
    """max(0, w.z + b) of standardised rows z, with w ~ N(0, 1) (docs: mathematics, section 7).

    b is drawn such that a function's kink lies at a quantile, uniform on (0, 1), of w.z over the
    complete training rows: kinks fall where the rows are.

    Parameters
    ----------
    n_features : int, default=100
        How many functions.
    random_state : int, numpy Generator or RandomState, optional
        Where randomness comes from; the same number gives the same functions of the same rows.

    Attributes
    ----------
    mean_, scale_ : ndarray of shape (n_features_in_,)
        Mean and standard deviation of each column's cells. A column that does not vary has an
        infinite scale, and so no part in the functions.
    weights_ : ndarray of shape (n_features, n_features_in_)
    offsets_ : ndarray of shape (n_features,)
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 5.0], [2.0, 3.0]]
    >>> hinges = RandomHinge(n_features=2, random_state=0).fit(X)
    >>> hinges.transform(X).shape
    (3, 2)
    >>> hinges.get_feature_names_out().tolist()
    ['max(0, w0.z + b0)', 'max(0, w1.z + b1)']
    """

    _saved = (*Expansion._saved, "mean_", "scale_", "weights_", "offsets_")
    _functions = RandomHinges
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_features": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(self, n_features: int = 100, *, random_state: Any = None) -> None:
        self.n_features = n_features
        self.random_state = random_state

    def _learn(self, cells: Floats, columns: Columns) -> RandomHinges:
        mean, scale = measure_columns(cells, columns, type(self).__name__)
        complete = cells[~np.isnan(cells).any(axis=1)]
        if not len(complete):
            raise InputError(
                f"All {len(cells)} rows of X have missing values, and kinks are placed by rows "
                "without. Give a complete row, or leave the columns with most of them out."
            )
        rows = np.asarray((complete - mean) / scale)
        hinges = draw_hinges(generator(self.random_state), rows, int(self.n_features))
        return RandomHinges(mean, scale, *hinges)

    def _check_learned(self, state: dict[str, Any], columns: int) -> None:
        check_hinges(state, columns)

    @property
    def mean_(self) -> Floats:
        """Mean of each column's cells, (n_features_in_,)."""
        return np.asarray(self._learned("mean_"))

    @property
    def scale_(self) -> Floats:
        """Standard deviation of each column's cells, (n_features_in_,)."""
        return np.asarray(self._learned("scale_"))

    @property
    def weights_(self) -> Floats:
        """(n_features, n_features_in_)."""
        return np.asarray(self._learned("weights_"))

    @property
    def offsets_(self) -> Floats:
        """(n_features,)."""
        return np.asarray(self._learned("offsets_"))


def draw_hinges(rng: np.random.Generator, rows: Floats, count: int) -> tuple[Floats, Floats]:
    """Return weights (count, d) of N(0, 1), and offsets with kinks at quantiles of rows (n, d)."""
    weights = rng.standard_normal((count, rows.shape[1]))
    levels = rng.uniform(size=count)
    # One function at a time: all of them at once would take the memory of their output.
    kinks = [np.quantile(rows @ w, level) for w, level in zip(weights, levels, strict=True)]
    return weights, -np.array(kinks)


def check_hinges(state: dict[str, Any], columns: int) -> None:
    """Refuse what are no hinges of standardised rows of so many columns."""
    functions = (max(len(state["weights_"]), 1),)
    check_shapes(state, weights_=(*functions, columns), offsets_=functions, mean_=(columns,))
    check_positive("scale_", state["scale_"], columns)


def measure_columns(cells: Floats, columns: Columns, estimator_name: str) -> tuple[Floats, Floats]:
    """Return the mean and standard deviation of each column's cells that are not missing."""
    observed = observed_cells(cells, columns, estimator_name)
    mean, scale = zip(*map(_mean_and_scale, observed), strict=True)
    return np.array(mean), np.array(scale)


def _mean_and_scale(column: Floats) -> tuple[float, float]:
    """Return the mean and standard deviation of cells, the latter infinite if it is 0."""
    low, width = float(column.min()), float(np.ptp(column))
    if width == 0:
        return low, np.inf
    # Sums about the lowest cell, in units of the range, keep their digits at 1e8 and at 1e200.
    shares = (column - low) / width
    scale = width * float(shares.std())
    # The standard deviation of subnormal numbers may round to 0.
    return low + width * float(shares.mean()), scale or np.inf
