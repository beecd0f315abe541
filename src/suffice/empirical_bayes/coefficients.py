"""How far from their prior mean the coefficients are: the scale of most evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import solve_triangular

from suffice.empirical_bayes.search import maximize_sample_size
from suffice.prior.coefficients import SINGULAR, Products
from suffice.tally.tally import Floats

# Scales looked at first, a few to each power of ten.
GRID_SIZE = 121
# A prior this much stronger than the rows, in precision, leaves coefficients where it put them.
MAX_PRECISION_RATIO = 1e6
# A prior of this part of the rows' precision, for each coefficient, is lost in rounding.
MIN_PRECISION_RATIO = 10 * SINGULAR
# Rows that are fitted exactly ask for a prior without end; with one of this part of their precision
# coefficients that the rows leave open keep half of their digits.
INTERPOLATING = float(np.sqrt(np.finfo(np.float64).eps))


@dataclass(frozen=True)
class Spectrum:
    """Products in coordinates where prior precision 1/scale^2 and rows' precision are diagonal.

    Given the lower factor L of the prior's shape (the prior precision is L L^T / scale^2) and
    L^-1 X'X L^-T = U diag(eigenvalues) U^T, targets have `projections` U^T L^-1 X'y, and everything
    that evidence needs is a sum over coordinates: no scale costs more than O(d t).
    """

    eigenvalues: Floats
    """(d,)"""
    projections: Floats
    """(t, d)"""
    products: Products

    @classmethod
    def of(cls, products: Products, root: Floats) -> Self:
        """Return the spectrum for products about the prior mean, and the shape's lower factor."""
        half = solve_triangular(root, products.xx, lower=True)
        inside = solve_triangular(root, half.T, lower=True)
        sample_sizes, directions = np.linalg.eigh((inside + inside.T) / 2)
        pulls = solve_triangular(root, products.xy.T, lower=True).T @ directions
        return cls(np.maximum(sample_sizes, 0.0), pulls, products)

    def residual_squares(self, scale: float) -> Floats:
        """Return what is left of each target's sum of squares, (t,)."""
        explained = np.square(self.projections) / (self.eigenvalues + scale**-2)
        left = self.products.yy - explained.sum(axis=-1)
        return np.asarray(np.maximum(left, self.products.rounding))

    def log_shrinkage(self, scale: float) -> float:
        """Return half the log of the prior's share of the posterior precision."""
        return float(-np.log1p(scale**2 * self.eigenvalues).sum() / 2)

    def residual_squares_slope(self, scale: float) -> Floats:
        """Return the slope of `residual_squares` along the logarithm of the scale, (t,)."""
        weights = np.square(scale * (self.eigenvalues + scale**-2))
        return np.asarray(-2 * (np.square(self.projections) / weights).sum(axis=-1))

    def log_shrinkage_slope(self, scale: float) -> float:
        """Return the slope of `log_shrinkage` along the logarithm of the scale."""
        gain = scale**2 * self.eigenvalues
        return float(-(gain / (1 + gain)).sum())

    def best(
        self, log_evidence: Callable[[float], float], slope: Callable[[float], float]
    ) -> float:
        """Return the scale that maximises a log evidence, between the widest useful bounds."""
        largest = float(self.eigenvalues.max(initial=0.0))
        if largest == 0:
            return 1.0  # no column varies, so no scale is better than another
        least = 1 / (MAX_PRECISION_RATIO * largest)
        most = 1 / (MIN_PRECISION_RATIO * len(self.eigenvalues) * largest)
        grid = np.linspace(np.log(least) / 2, np.log(most) / 2, GRID_SIZE)
        found = maximize_sample_size(log_evidence, slope, grid)
        if found is None:
            return float(np.exp(grid[0]))  # a plateau: the strongest prior
        return found if found < np.exp(grid[-1]) else float((INTERPOLATING * largest) ** -0.5)


def scale_of_known_noise(products: Products, root: Floats, noise_variance: float) -> float:
    """Return the scale of most evidence for coefficients N(m, scale^2 (L L^T)^-1)."""
    spectrum = Spectrum.of(products.scale(1 / noise_variance), root)
    targets = len(products.yy)

    def log_evidence(scale: float) -> float:
        return (
            targets * spectrum.log_shrinkage(scale)
            - float(spectrum.residual_squares(scale).sum()) / 2
        )

    def slope(scale: float) -> float:
        lost = float(spectrum.residual_squares_slope(scale).sum())
        return targets * spectrum.log_shrinkage_slope(scale) - lost / 2

    return spectrum.best(log_evidence, slope)


def scale_of_unknown_noise(
    products: Products, root: Floats, noise_shape: float, noise_scale: Floats
) -> float:
    """Return the scale of most evidence for w | s2 ~ N(m, s2 scale^2 (L L^T)^-1)."""
    spectrum = Spectrum.of(products, root)
    shape = noise_shape + products.rows / 2
    targets = len(products.yy)

    def noise(scale: float) -> Floats:
        return np.asarray(noise_scale + spectrum.residual_squares(scale) / 2)

    def log_evidence(scale: float) -> float:
        gain = targets * spectrum.log_shrinkage(scale)
        return gain - shape * float(np.log(noise(scale)).sum())

    def slope(scale: float) -> float:
        gain = targets * spectrum.log_shrinkage_slope(scale)
        return gain - shape * float(
            (spectrum.residual_squares_slope(scale) / (2 * noise(scale))).sum()
        )

    return spectrum.best(log_evidence, slope)
