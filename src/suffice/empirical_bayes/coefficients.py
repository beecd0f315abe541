"""How far from their prior mean the coefficients are: the scale of most evidence."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Self

import numpy as np
from scipy.linalg import solve_triangular

from suffice import _core
from suffice.prior.coefficients import SINGULAR, Products
from suffice.tally.tally import Floats

# A prior this much stronger than the rows, in precision, leaves coefficients where it put them.
MAX_PRECISION_RATIO = 1e6
# A prior of this part of the rows' precision, for each coefficient, is lost in rounding.
MIN_PRECISION_RATIO = 10 * SINGULAR
# Rows that are fitted exactly ask for a prior without end; with one of this part of their precision
# coefficients that the rows leave open keep half of their digits.
INTERPOLATING = float(np.sqrt(np.finfo(np.float64).eps))
# A scale this near to the largest, relative to it, is the largest.
AT_BOUND = 1e-12


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

    def best_scale(self, noise_scale: Floats, shape: float) -> float:
        """Return the scale of most evidence, between the widest useful bounds.

        The noise is known and targets are in its units if there is no `noise_scale`; else its
        variance is InvGamma(shape, noise_scale), (t,), `shape` with all rows.
        """
        largest = float(self.eigenvalues.max(initial=0.0))
        if largest == 0:
            return 1.0  # no column varies, so no scale is better than another
        least = 1 / sqrt(MAX_PRECISION_RATIO * largest)
        most = 1 / sqrt(MIN_PRECISION_RATIO * len(self.eigenvalues) * largest)
        yy = self.products.yy
        found = _core.best_coefficient_scale(
            self.eigenvalues,
            np.square(self.projections),
            yy,
            np.array(np.broadcast_to(self.products.rounding, yy.shape), np.float64),
            noise_scale,
            shape,
            (least, most),
        )
        if np.isnan(found):
            return least  # a plateau: the strongest prior
        return found if found < most * (1 - AT_BOUND) else 1 / sqrt(INTERPOLATING * largest)


def scale_of_known_noise(products: Products, root: Floats, noise_variance: float) -> float:
    """Return the scale of most evidence for coefficients N(m, scale^2 (L L^T)^-1)."""
    spectrum = Spectrum.of(products.scale(1 / noise_variance), root)
    return spectrum.best_scale(np.empty(0), 0.0)


def scale_of_unknown_noise(
    products: Products, root: Floats, noise_shape: float, noise_scale: Floats
) -> float:
    """Return the scale of most evidence for w | s2 ~ N(m, s2 scale^2 (L L^T)^-1)."""
    spectrum = Spectrum.of(products, root)
    noise = np.array(np.broadcast_to(noise_scale, products.yy.shape), np.float64)
    return spectrum.best_scale(noise, noise_shape + products.rows / 2)
