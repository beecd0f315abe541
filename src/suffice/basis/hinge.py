"""Hinges: continuous piecewise linear functions of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from suffice._sklearn import Interval
from suffice.basis.expansion import Expansion, check_ascending, observed_cells, quantiles
from suffice.basis.numerals import numerals
from suffice.basis.validation import ascending
from suffice.errors import InputError
from suffice.estimators.features import Columns
from suffice.persist.checks import refuse
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


class Hinge(Expansion):
    """x and max(0, x - k) of each column, for knots k (docs: mathematics, section 7).

    With the intercept, their weighted sums are all the continuous functions of the column that
    are linear between the knots. A weight says by how much the slope changes at its knot.

    Parameters
    ----------
    knots : int or array-like, default=5
        k stands for the quantiles 1/(k+1), ..., k/(k+1) of the column's training rows, each of
        them a value that was seen, repeated ones and the ends of the range left out. A list of
        numbers serves every column; a list of such lists has one a column.

    Attributes
    ----------
    knots_ : list of ndarray
        The knots of each column, ascending; a column that does not vary has none.
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
    """

    _saved = (*Expansion._saved, "knots_")
    _functions = Hinges
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "knots": [Interval(Integral, 1, None, closed="left"), "array-like"],
    }

    def __init__(self, knots: Any = 5) -> None:
        self.knots = knots

    def _learn(self, cells: Floats, columns: Columns) -> Hinges:
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

    @property
    def knots_(self) -> list[Floats]:
        """The knots of each column, ascending."""
        knots: list[Floats] = self._shown("knots_").functions.knots
        return knots


def _given_knots(knots: Any, columns: int) -> list[Floats]:
    """Return the knots of each column from a list for all, or a list of lists, one a column."""
    if all(np.ndim(knot) == 0 for knot in knots):
        return [ascending("knots", knots)] * columns
    if len(knots) != columns:
        raise InputError(
            f"knots holds {len(knots)} lists for {columns} columns. Give one a column, or a list "
            "of numbers for all of them."
        )
    return [ascending(f"knots[{at}]", some) for at, some in enumerate(knots)]


def _hinge_names(name: str, knots: Floats) -> list[str]:
    """Return max(0, name - knot) as people write it."""
    names = []
    for knot, text in zip(knots, numerals(knots), strict=True):
        shift = "" if knot == 0 else f" + {text[1:]}" if knot < 0 else f" - {text}"
        names.append(f"max(0, {name}{shift})")
    return names
