"""Indicators of levels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from suffice.basis.expansion import Expansion, check_width
from suffice.errors import InputError
from suffice.persist.refusal import refuse
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
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
    _parameter_constraints: ClassVar[dict[str, Any]] = {"levels": [int, "array-like", None]}

    def __init__(self, levels: int | ArrayLike | None = None) -> None:
        self.levels = levels

    def _learn(self, cells: Floats) -> None:
        if self.levels is None:
            highest = [column.max() for column in self._observed(cells)]
            self.levels_ = np.maximum(np.floor(highest), 0.0).astype(np.int64) + 1
            return
        given = np.asarray(self.levels)
        if given.dtype.kind not in "iu" or given.shape not in ((), cells.shape[1:]):
            raise InputError(
                f"levels={self.levels!r} for {cells.shape[1]} columns. Give a whole number, or one "
                "a column."
            )
        if np.any(given < 1):
            raise InputError(f"A column of {given.min()} levels. Give 1 or more.")
        self.levels_ = np.broadcast_to(given, cells.shape[1:]).astype(np.int64)

    def _check_learned(self, state: dict[str, Any], columns: int) -> None:
        levels = state["levels_"]
        if not isinstance(levels, np.ndarray) or levels.dtype != np.int64:
            refuse("Its 'levels_' are no array of whole numbers.")
        if levels.shape != (columns,) or np.any(levels < 1):
            refuse(f"Its 'levels_' are not 1 or more for each of {columns} columns.")
        check_width(sum(levels.tolist()) + columns)

    def _expand(self, cells: Floats) -> Floats:
        parts = []
        for column, levels in zip(cells.T, self.levels_.tolist(), strict=True):
            # Fractions are cut off, as CategoricalNB cuts them.
            whole = np.floor(column)
            known = (whole >= 0) & (whole < levels)
            place = np.where(known, whole, levels)
            part = (place[:, None] == np.arange(levels + 1)).astype(np.float64)
            part[np.isnan(column)] = np.nan
            parts.append(part)
        return np.concatenate(parts, axis=1)

    def _names(self, columns: list[str]) -> list[str]:
        return [
            f"{name} = {level}" if level < levels else f"{name} otherwise"
            for name, levels in zip(columns, self.levels_.tolist(), strict=True)
            for level in range(levels + 1)
        ]
