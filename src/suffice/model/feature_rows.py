"""Features of rows: few of them other than 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """W features of each of n rows, of m that there are; the others are 0.

    Parameters
    ----------
    at : (n, W)
        Their numbers, increasing along a row.
    values : (n, W)
        A value of 0 may stand at any number.
    width : int
        m.

    Examples
    --------
    >>> at = np.array([[0, 2], [1, 2]], np.uint32)
    >>> FeatureRows(at, np.array([[1.0, 5.0], [1.0, 0.0]]), 3).dense()
    array([[1., 0., 5.],
           [0., 1., 0.]])
    """

    at: NDArray[np.uint32]
    values: Floats
    width: int

    def __len__(self) -> int:
        return len(self.at)

    def some(self, numbers: NDArray[Any]) -> Self:
        """Return the rows of these numbers, or of this mask."""
        return type(self)(self.at[numbers], self.values[numbers], self.width)

    def dense(self) -> Floats:
        """Return all features, (n, m)."""
        out = np.zeros((len(self.at), self.width))
        rows = np.arange(len(self.at))[:, None]
        # Zeros may stand where another feature does.
        np.add.at(out, (rows, self.at), self.values)
        return out
