"""Indicators of levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.basis.expansion import Expansion, check_width, observed_cells
from suffice.errors import InputError
from suffice.estimators.features import Columns
from suffice.persist.checks import refuse
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class Indicators:
    """1 where a column has a level, for the number of levels of each column (d,)."""

    levels: NDArray[np.int64]

    def expand(self, cells: Floats) -> Floats:
        """Return the indicators of rows, those of each column side by side."""
        parts = []
        for column, levels in zip(cells.T, self.levels.tolist(), strict=True):
            # Fractions are cut off, as CategoricalNB cuts them.
            whole = np.floor(column)
            known = (whole >= 0) & (whole < levels)
            place = np.where(known, whole, levels)
            part = (place[:, None] == np.arange(levels + 1)).astype(np.float64)
            part[np.isnan(column)] = np.nan
            parts.append(part)
        return np.concatenate(parts, axis=1)

    def name_columns(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the indicators."""
        return [
            f"{name} = {level}" if level < levels else f"{name} otherwise"
            for name, levels in zip(columns, self.levels.tolist(), strict=True)
            for level in range(levels + 1)
        ]


class Levels(Expansion):
    """1 where a column has a level 0, 1, 2, ... and 0 elsewhere; the last is for all others.

    A level beyond those known has an indicator of its own, so that it is not the same as none
    (docs: mathematics, section 4). A missing value is a missing value in all indicators of its
    column.

    Parameters
    ----------
    levels : int or array-like of shape (n_features,), optional
        How many levels a column has; one more than the highest of the training rows if not given.

    Attributes
    ----------
    levels_ : (n_features,)
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> Levels(levels=2).fit([[0], [1]]).transform([[1], [5]])
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """

    _saved = (*Expansion._saved, "levels_")
    _functions = Indicators
    _parameter_constraints: ClassVar[dict[str, Any]] = {"levels": [int, "array-like", None]}

    def __init__(self, levels: int | ArrayLike | None = None) -> None:
        self.levels = levels

    def _learn(self, cells: Floats, columns: Columns) -> Indicators:
        if self.levels is None:
            observed = observed_cells(cells, columns, type(self).__name__)
            highest = np.floor([column.max() for column in observed])
            return Indicators(np.maximum(highest, 0.0).astype(np.int64) + 1)
        given = np.asarray(self.levels)
        if given.dtype.kind not in "iu" or given.shape not in ((), (columns.count,)):
            raise InputError(
                f"levels={self.levels!r} for {columns.count} columns. Give a whole number, or one "
                "a column."
            )
        if np.any(given < 1):
            raise InputError(f"A column of {given.min()} levels. Give 1 or more.")
        return Indicators(np.broadcast_to(given, (columns.count,)).astype(np.int64))

    def _check_learned(self, state: dict[str, Any], columns: int) -> None:
        levels = state["levels_"]
        if not isinstance(levels, np.ndarray) or levels.dtype != np.int64:
            refuse("Its 'levels_' are no array of whole numbers.")
        if levels.shape != (columns,) or np.any(levels < 1):
            refuse(f"Its 'levels_' are not 1 or more for each of {columns} columns.")
        check_width(sum(levels.tolist()) + columns)

    @property
    def levels_(self) -> NDArray[np.int64]:
        """How many levels each column has, (n_features,)."""
        return np.asarray(self._learned("levels_"))
