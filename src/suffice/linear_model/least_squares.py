"""Least squares from products: the least coefficients where columns repeat each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from suffice.gaussian.covariance import standardize
from suffice.prior.coefficients import SINGULAR, Products
from suffice.tally.tally import Floats


class LeastSquares(NamedTuple):
    """Coefficients (t, d), how many directions of the columns are known, and which are not."""

    coefficients: Floats
    rank: int
    unknown: Floats
    """(d, k): directions, in units of the columns, along which the columns do not vary."""


def least_squares(products: Products) -> LeastSquares:
    """Return the w of least |y - x.w|^2, and of least |w|^2 among those.

    Whether columns repeat each other is judged by their correlations, whatever their units
    (docs: mathematics, section 7).
    """
    spread, correlation = standardize(products.xx)
    d = len(spread)
    if d == 0:
        return LeastSquares(np.zeros(products.xy.shape), 0, np.zeros((0, 0)))
    pull = products.xy / spread
    try:
        root = np.linalg.cholesky(correlation)
        known = bool(np.diagonal(root).min() ** 2 > SINGULAR * d)
    except np.linalg.LinAlgError:
        known = False
    if known:
        half = solve_triangular(root, pull.T, lower=True)
        inside = solve_triangular(root, half, lower=True, trans="T").T
        return LeastSquares(inside / spread, d, np.empty((d, 0)))
    values, vectors = np.linalg.eigh(correlation)
    kept = values > SINGULAR * d
    inside = (pull @ vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    coefficients = inside / spread
    # Along the directions that do not vary any step is as good; the least w takes none.
    unknown = vectors[:, ~kept] / spread[:, None]
    unknown = np.linalg.qr(unknown / np.linalg.norm(unknown, axis=0))[0]
    coefficients = coefficients - (coefficients @ unknown) @ unknown.T
    return LeastSquares(coefficients, int(kept.sum()), unknown)


def non_negative_least_squares(products: Products) -> LeastSquares:
    """Return the w of least |y - x.w|^2 with no entry below 0."""
    spread, correlation = standardize(products.xx)
    values, vectors = np.linalg.eigh(correlation)
    kept = values > SINGULAR * len(spread)
    if not kept.any():  # nnls of no equations answers with whatever is in memory
        return LeastSquares(np.zeros(products.xy.shape), 0, np.empty((len(spread), 0)))
    roots = np.sqrt(values[kept])
    rows = roots[:, None] * vectors[:, kept].T
    right = (products.xy / spread) @ vectors[:, kept] / roots
    inside = np.array([nnls(rows, target)[0] for target in right])
    return LeastSquares(inside / spread, int(kept.sum()), np.empty((len(spread), 0)))
