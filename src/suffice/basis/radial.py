"""Radial functions: bumps around centres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.spatial import KDTree

from suffice._sklearn import Interval
from suffice.basis.expansion import (
    Expansion,
    check_ascending,
    check_positive,
    format_numbers,
    observed_cells,
    quantiles,
    read_finite,
    read_positive,
)
from suffice.errors import InputError
from suffice.estimators.features import Columns
from suffice.persist.checks import check_shapes, refuse
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class Bumps:
    """exp(-|x - c|^2 / (2 width^2)).

    Parameters
    ----------
    centres : (n_centres, d) points among whole rows, or a list of the centres of each column
    width : (d,)
    """

    centres: Any
    width: Floats

    def expand(self, cells: Floats) -> Floats:
        """Return the bumps of rows, one a centre."""
        if isinstance(self.centres, list):
            triples = zip(cells.T, self.centres, self.width, strict=True)
            return np.hstack([_bumps((column[:, None] - c) / w) for column, c, w in triples])
        bumps = np.empty((len(cells), len(self.centres)))
        for at, centre in enumerate(self.centres):
            bumps[:, at] = _bumps(np.linalg.norm((cells - centre) / self.width, axis=1))
        return bumps

    def name_columns(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the bumps."""
        if isinstance(self.centres, list):
            pairs = zip(columns, self.centres, strict=True)
            return [f"radial({name}, {text})" for name, c in pairs for text in format_numbers(c)]
        points = zip(*(format_numbers(column) for column in self.centres.T), strict=True)
        return [f"radial({_tuple(columns)}, {_tuple(point)})" for point in points]


class Radial(Expansion):
    """exp(-|x - c|^2 / (2 width^2)) for centres c (docs: mathematics, section 7).

    Given centres are points among whole rows, with one function each. A number of centres stands
    for functions of each column by itself.

    Parameters
    ----------
    centres : int or array-like of shape (n_centres, n_features), default=10
        k stands for the quantiles 0, 1/(k-1), ..., 1 of each column's training rows, each of them
        a value that was seen, repeated ones left out. One centre is the median.
    width : float or array-like of shape (n_features,), optional
        None is the mean distance of a centre to its nearest other centre for given centres. For
        quantiles it is the mean distance between neighbours, so the column's range / (k-1), or the
        range if there is one centre only. It is infinite, and the function flat, for a column
        that does not vary. An outlier widens the range: give the width then.

    Attributes
    ----------
    centres_ : ndarray of shape (n_centres, n_features), or list of ndarray
        The centres given, or those of each column.
    width_ : ndarray of shape (n_features,)
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> bumps = Radial(centres=[[0.0], [3.0]], width=1).fit([[0.0]])
    >>> bumps.transform([[0.0], [3.0]]).round(3)
    array([[1.   , 0.011],
           [0.011, 1.   ]])
    >>> bumps.get_feature_names_out(["age"]).tolist()
    ['radial(age, 0)', 'radial(age, 3)']
    >>> Radial(centres=2).fit([[0.0], [1.0], [2.0]]).centres_
    [array([0., 2.])]
    """

    _saved = (*Expansion._saved, "centres_", "width_")
    _functions = Bumps
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "centres": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "width": [Interval(Real, 0, None, closed="neither"), "array-like", None],
    }

    def __init__(self, centres: Any = 10, width: Any = None) -> None:
        self.centres = centres
        self.width = width

    def _learn(self, cells: Floats, columns: Columns) -> Bumps:
        if not isinstance(self.centres, Integral):
            points = _given_centres(self.centres, columns.count)
            width = _spacing(points) if self.width is None else self.width
            return Bumps(points, read_positive("width", width, columns.count))
        count = int(self.centres)
        levels = np.linspace(0.0, 1.0, count) if count > 1 else np.array([0.5])
        observed = observed_cells(cells, columns, type(self).__name__)
        centres = [quantiles(column, levels) for column in observed]
        if self.width is not None:
            return Bumps(centres, read_positive("width", self.width, columns.count))
        intervals = np.array([max(len(some) - 1, 1) for some in centres])
        width = np.array([np.ptp(column) for column in observed]) / intervals
        return Bumps(centres, np.where(width > 0, width, np.inf))

    def _check_learned(self, state: dict[str, Any], columns: int) -> None:
        centres = state["centres_"]
        if isinstance(centres, list):
            if len(centres) != columns:
                refuse(f"Its 'centres_' are not {columns} lists.")
            for some in centres:
                check_ascending("centres_", some)
        else:
            check_shapes(state, centres_=(max(len(centres), 1), columns))
        check_positive("width_", state["width_"], columns)

    @property
    def centres_(self) -> Any:
        """The centres given, or those of each column."""
        return self._learned("centres_")

    @property
    def width_(self) -> Floats:
        """The width in each column, (n_features,)."""
        return np.asarray(self._learned("width_"))


def _bumps(distances: Floats) -> Floats:
    """Return exp(-distance^2 / 2); a square that overflows is a distance at which it is 0."""
    return np.exp(-0.5 * np.square(distances))


def _given_centres(centres: Any, columns: int) -> Floats:
    points = read_finite("centres", centres)
    if points.ndim != 2 or points.shape[1] != columns or not len(points):
        raise InputError(
            f"centres has shape {points.shape} for {columns} columns. Give an array of shape "
            f"(n_centres, {columns}), or the number of centres of each column."
        )
    kinds, counts = np.unique(points, axis=0, return_counts=True)
    if counts.max() > 1:
        raise InputError(
            f"centres holds {kinds[counts.argmax()].tolist()} {counts.max()} times. Give each "
            "centre once."
        )
    return points


def _spacing(centres: Floats) -> float:
    """Return the mean distance of a centre to its nearest other centre."""
    if len(centres) == 1:
        raise InputError("One centre has no spacing to take a width from. Give width.")
    nearest, _ = KDTree(centres).query(centres, k=2)
    return float(nearest[:, 1].mean())


def _tuple(parts: Any) -> str:
    """Return (a, b), or a if it is alone."""
    texts = list(parts)
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
