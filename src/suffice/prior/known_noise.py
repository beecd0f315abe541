"""The prior of regression coefficients when the variance of the noise is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from suffice.errors import PriorError, ShapeError
from suffice.prior.normal import LOG_TWO_PI, Normal
from suffice.prior.precision import (
    checked_precision,
    half_log_determinant_of_proper,
    leverage,
    precision_root,
    proper,
    solved_by,
)
from suffice.prior.prior import Interval, Size, check_generator, positive, sizes, tails
from suffice.prior.products import Products
from suffice.tally.tally import Floats, given


@dataclass(frozen=True, eq=False)
class CoefficientsKnownNoise:
    """w ~ N(m, P^-1), y = w.x + noise of known variance s2 (docs: mathematics, section 7).

    A coefficient whose row of the precision is zero has the flat prior p(w) = 1.

    Parameters
    ----------
    location : (t, d)
        Prior mean m of each target's coefficients.
    precision : (d, d)
        P, the inverse of the coefficients' covariance.
    noise_variance : ()

    Examples
    --------
    >>> seen = Products(rows=3.0, xx=np.eye(1) * 2, xy=np.array([[4.0]]), yy=np.array([9.0]))
    >>> believed = CoefficientsKnownNoise([[0.0]], np.eye(1), 1.0).posterior(seen)
    >>> believed.location.round(3), believed.precision  # 4 / 3, known as if from 3 rows
    (array([[1.333]]), array([[3.]]))
    """

    location: Floats
    precision: Floats
    noise_variance: Floats

    def __init__(
        self, location: ArrayLike, precision: ArrayLike, noise_variance: ArrayLike
    ) -> None:
        m, P = checked_precision("CoefficientsKnownNoise", location, precision)
        s2 = positive("CoefficientsKnownNoise", "noise_variance", noise_variance)
        if s2.ndim:
            raise ShapeError(
                f"CoefficientsKnownNoise have noise_variance {s2.shape}. Give one number."
            )
        object.__setattr__(self, "location", m)
        object.__setattr__(self, "precision", P)
        object.__setattr__(self, "noise_variance", s2)

    def posterior(self, products: Products) -> Self:
        """Return the coefficients believed in after the rows of `products`."""
        P = self.precision + products.xx / self.noise_variance
        rest = products.about(self.location)
        shift = solved_by(precision_root(P), rest.xy / self.noise_variance)
        believed = object.__new__(type(self))
        object.__setattr__(believed, "location", given(self.location + shift))
        object.__setattr__(believed, "precision", given(P))
        object.__setattr__(believed, "noise_variance", self.noise_variance)
        return believed

    def log_evidence(self, products: Products, believed: Self | None = None) -> Floats:
        """Return the log evidence of each target, (t,); flat priors count as densities of 1.

        `believed` is the posterior, if the caller has it.
        """
        after = self.posterior(products) if believed is None else believed
        rest = products.about(self.location)
        flat = int((~proper(self.precision)).sum())
        lost = rest.yy - (rest.xy * (after.location - self.location)).sum(axis=-1)
        gain = (flat * LOG_TWO_PI - products.rows * np.log(2 * np.pi * self.noise_variance)) / 2
        gain += half_log_determinant_of_proper(self.precision)
        gain -= half_log_determinant_of_proper(after.precision)
        return np.asarray(gain + products.log_volume - lost / (2 * self.noise_variance))

    def predictive(self, x: ArrayLike, spread: ArrayLike = 0.0) -> Normal:
        """Return the normal of new targets (n, t) at rows x (n, d).

        `spread` (n,) is further variance in units of the noise, an intercept's for example.
        """
        rows = np.asarray(x, dtype=np.float64)
        variance = self.noise_variance * (1 + np.asarray(spread))
        variance = variance + leverage(precision_root(self.precision), rows)
        return Normal(rows @ self.location.T, np.asarray(variance)[..., None])

    def mean(self) -> Floats:
        """Return m, (t, d)."""
        return self.location

    def mode(self) -> Floats:
        """Return m, (t, d)."""
        return self.location

    def covariance(self) -> Floats:
        """Return P^-1, (d, d)."""
        root = precision_root(self.precision)
        return solved_by(root, np.eye(len(root)))

    def interval(self, level: float = 0.95) -> Interval:
        """Return the equal-tailed interval of each coefficient."""
        spread = np.sqrt(np.diagonal(self.covariance()))
        lower, upper = (self.location + spread * ndtri(tail) for tail in tails(level))
        return Interval(lower, upper)

    def log_density(self, parameter: ArrayLike) -> Floats:
        """Return the log density (..., t) at coefficients (..., t, d)."""
        if not proper(self.precision).all():
            raise PriorError("A flat prior has no density. Learn rows first.")
        away = np.asarray(parameter, dtype=np.float64) - self.location
        square = np.einsum("...i,ij,...j->...", away, self.precision, away)
        log_norm = half_log_determinant_of_proper(self.precision)
        return np.asarray(log_norm - (away.shape[-1] * LOG_TWO_PI + square) / 2)

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw coefficients, (*size, t, d)."""
        check_generator(rng)
        root = precision_root(self.precision)
        noise = rng.standard_normal(sizes(size, self.location.shape))
        # With P = L L^T, L^-T z has covariance P^-1.
        return np.asarray(self.location + np.linalg.solve(root.T, noise[..., None])[..., 0])
