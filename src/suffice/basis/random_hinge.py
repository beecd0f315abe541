"""Random hinges: one layer of a network whose inner weights are drawn, not learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from suffice._sklearn import Interval
from suffice.basis.expansion import Expansion, check_positive, observed_cells
from suffice.errors import InputError
from suffice.estimators.features import Columns
from suffice.estimators.one_row import generator
from suffice.persist.checks import check_shapes
from suffice.tally.tally import Floats


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
        observed = observed_cells(cells, columns, type(self).__name__)
        mean, scale = (
            np.array(values) for values in zip(*map(_mean_and_scale, observed), strict=True)
        )
        complete = cells[~np.isnan(cells).any(axis=1)]
        if not len(complete):
            raise InputError(
                f"All {len(cells)} rows of X have missing values, and kinks are placed by rows "
                "without. Give a complete row, or leave the columns with most of them out."
            )
        rng = generator(self.random_state)
        weights = rng.standard_normal((int(self.n_features), columns.count))
        levels = rng.uniform(size=len(weights))
        rows = np.asarray((complete - mean) / scale)
        # One function at a time: all of them at once would take the memory of their output.
        kinks = [np.quantile(rows @ w, level) for w, level in zip(weights, levels, strict=True)]
        return RandomHinges(mean, scale, weights, -np.array(kinks))

    def _check_learned(self, state: dict[str, Any], columns: int) -> None:
        functions = (max(len(state["weights_"]), 1),)
        check_shapes(state, weights_=(*functions, columns), offsets_=functions, mean_=(columns,))
        check_positive("scale_", state["scale_"], columns)

    @property
    def mean_(self) -> Floats:
        """Mean of each column's cells, (n_features_in_,)."""
        return np.asarray(self._shown("mean_").functions.mean)

    @property
    def scale_(self) -> Floats:
        """Standard deviation of each column's cells, (n_features_in_,)."""
        return np.asarray(self._shown("scale_").functions.scale)

    @property
    def weights_(self) -> Floats:
        """(n_features, n_features_in_)."""
        return np.asarray(self._shown("weights_").functions.weights)

    @property
    def offsets_(self) -> Floats:
        """(n_features,)."""
        return np.asarray(self._shown("offsets_").functions.offsets)


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
