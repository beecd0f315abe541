"""Powers of the columns."""

from __future__ import annotations

from math import prod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from suffice.basis.expansion import Expansion, check_width
from suffice.persist.refusal import refuse
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
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
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "degree": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, degree: int = 3) -> None:
        self.degree = degree

    def _learn(self, cells: Floats) -> None:
        self._highest = int(self.degree)

    def _check_learned(self, state: dict[str, Any], columns: int) -> None:
        highest = state["_highest"]
        if type(highest) is not int or highest < 1:
            refuse(f"Its highest power is {highest!r:.80}.")
        check_width(highest * columns)

    def _expand(self, cells: Floats) -> Floats:
        rows, columns = cells.shape
        powers = np.empty((rows, columns, self._highest))
        powers[:, :, 0] = cells
        for power in range(1, self._highest):
            np.multiply(powers[:, :, power - 1], cells, out=powers[:, :, power])
        return powers.reshape(rows, prod(powers.shape[1:]))

    def _names(self, columns: list[str]) -> list[str]:
        return [
            name if power == 1 else f"{name}^{power}"
            for name in columns
            for power in range(1, self._highest + 1)
        ]
