"""Powers of the columns, and products of pairs of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice._sklearn import Interval
from suffice.basis.expansion import Expansion, check_width
from suffice.estimators.features import Columns
from suffice.persist.checks import refuse
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class Powers:
    """x, x^2, ... up to the highest power of each column."""

    highest: int

    def expand(self, cells: Floats) -> Floats:
        """Return the powers of rows: (n, d) to (n, d * highest)."""
        rows, columns = cells.shape
        powers = np.empty((rows, columns, self.highest))
        powers[:, :, 0] = cells
        for power in range(1, self.highest):
            np.multiply(powers[:, :, power - 1], cells, out=powers[:, :, power])
        return powers.reshape(rows, prod(powers.shape[1:]))

    def name_columns(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the powers."""
        return [
            name if power == 1 else f"{name}^{power}"
            for name in columns
            for power in range(1, self.highest + 1)
        ]


class Polynomial(Expansion):
    """x, x^2, ..., x^degree of each column (docs: mathematics, section 7).

    There is no constant, since a regression has its intercept, and there are no products of
    different columns: scikit-learn's PolynomialFeatures has both. Powers of numbers far from 0
    are nearly proportional to each other and overflow: centre the columns first.

    Parameters
    ----------
    degree : int, default=3
        The highest power.

    Attributes
    ----------
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> cubic = Polynomial(degree=3).fit([[2.0], [3.0]])
    >>> cubic.transform([[2.0], [float("nan")]])
    array([[ 2.,  4.,  8.],
           [nan, nan, nan]])
    >>> cubic.get_feature_names_out().tolist()
    ['x0', 'x0^2', 'x0^3']
    """

    _saved = (*Expansion._saved, "_highest")
    _functions = Powers
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "degree": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, degree: int = 3) -> None:
        self.degree = degree

    def _learn(self, cells: Floats, columns: Columns) -> Powers:
        return Powers(int(self.degree))

    def _check_learned(self, state: dict[str, Any], columns: int) -> None:
        highest = state["_highest"]
        if type(highest) is not int or highest < 1:
            refuse(f"Its highest power is {highest!r:.80}.")
        check_width(highest * columns)


def _pairs_of(columns: int, *, products: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and the second column of each pair."""
    if products:
        first, second = np.triu_indices(columns)
        return first, second
    return np.arange(columns), np.arange(columns)


@dataclass(frozen=True, eq=False)
class PairProducts:
    """Columns, then products of pairs of them: the first and the second column of each pair."""

    pairs: tuple[NDArray[np.intp], NDArray[np.intp]]

    def expand(self, cells: Floats) -> Floats:
        """Return rows with the products of their cells, (n, d) to (n, d + n_pairs)."""
        first, second = self.pairs
        return np.concatenate([cells, cells[:, first] * cells[:, second]], axis=1)

    def name_columns(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the columns and of the products."""
        pairs = zip(*(part.tolist() for part in self.pairs), strict=True)
        named = [f"{columns[j]}^2" if j == k else f"{columns[j]} {columns[k]}" for j, k in pairs]
        return [*columns, *named]


class Quadratic(Expansion):
    """x_j of each column, then x_j x_k of each pair j <= k (docs: mathematics, section 4).

    These are the statistics of a normal: a Gaussian classifier with a covariance a class is a
    logistic regression in them.

    Parameters
    ----------
    products : bool, default=True
        Whether products of different columns are there, or squares only.

    Attributes
    ----------
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> pairs = Quadratic().fit([[2.0, 3.0]])
    >>> pairs.transform([[2.0, 3.0]])
    array([[2., 3., 4., 6., 9.]])
    >>> pairs.get_feature_names_out().tolist()
    ['x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    """

    _saved = (*Expansion._saved, "_pairs")
    _functions = PairProducts
    _parameter_constraints: ClassVar[dict[str, Any]] = {"products": ["boolean"]}

    def __init__(self, products: bool = True) -> None:
        self.products = products

    def _learn(self, cells: Floats, columns: Columns) -> PairProducts:
        return PairProducts(_pairs_of(columns.count, products=self.products))

    def _check_learned(self, state: dict[str, Any], columns: int) -> None:
        pairs = state["_pairs"]
        whole = isinstance(pairs, tuple) and all(np.asarray(p).dtype.kind in "iu" for p in pairs)
        kept = len(pairs[0]) if whole and np.ndim(pairs[0]) == 1 else -1
        # Only as many as there are in the file are made, to be held against them.
        if kept not in (columns, columns * (columns + 1) // 2) or not np.array_equal(
            np.array(pairs), _pairs_of(columns, products=kept != columns)
        ):
            refuse(f"Its pairs of columns are not those of {columns} columns.")
