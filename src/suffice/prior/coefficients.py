"""Priors of the coefficients of a linear regression, with known and with unknown noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from scipy.special import gammainccinv, gammaln, ndtri, stdtrit

from suffice.errors import PrecisionWarning, PriorError, ShapeError, warn_caller
from suffice.prior.predictive import MultivariateStudentT, Normal, StudentT
from suffice.prior.prior import (
    Interval,
    Size,
    broadcast_array,
    check_generator,
    equal_tailed,
    finite,
    positive,
    sample_shape,
)
from suffice.prior.special import LOG_TWO_PI, cholesky, half_log_determinant, symmetric
from suffice.tally.moments import Moments
from suffice.tally.tally import ROUNDING, Floats, as_readonly, unchecked

# The least eigenvalue of a precision, in units of its diagonal, that differs from 0, for
# each coefficient: what rounding leaves of none.
SINGULAR = 1e-13
# Numbers are known to about this part of their size: targets that differ by less do not vary.
RELATIVE_PRECISION = 1e-12


@dataclass(frozen=True, eq=False)
class Coefficients:
    """s2 ~ InvGamma(a, b), w | s2 ~ N(m, s2 P^-1), y = w.x + noise (docs: mathematics, section 7).

    A coefficient whose row of the precision is zero has the flat prior p(w) = 1, and
    `noise_shape` 0 with `noise_scale` 0 is p(s2) = 1 / s2: both improper, and allowed as priors.

    Parameters
    ----------
    location : (t, d)
        Prior mean m of each target's coefficients.
    precision : (d, d)
        P, in units of the noise: the coefficients' precision is P / s2.
    noise_shape : ()
        Shape a of the noise variance.
    noise_scale : (t,)
        Scale b of each target's noise variance, whose mean is b / (a - 1).

    Examples
    --------
    >>> seen = Products(rows=3.0, xx=np.eye(1) * 2, xy=np.array([[4.0]]), yy=np.array([9.0]))
    >>> posterior = Coefficients([[0.0]], np.zeros((1, 1)), 0.0, [0.0]).posterior(seen)
    >>> posterior.location, posterior.noise_shape, posterior.noise_scale  # least squares
    (array([[2.]]), array(1.), array([0.5]))
    """

    location: Floats
    precision: Floats
    noise_shape: Floats
    noise_scale: Floats

    def __init__(
        self,
        location: ArrayLike,
        precision: ArrayLike,
        noise_shape: ArrayLike,
        noise_scale: ArrayLike,
    ) -> None:
        m, P = check_precision("Coefficients", location, precision)
        a = finite("Coefficients", "noise_shape", noise_shape)
        b = finite("Coefficients", "noise_scale", noise_scale)
        if not (a.ndim == 0 and ((a > 0 and np.all(b > 0)) or (a == 0 and np.all(b == 0)))):
            raise PriorError(
                f"Coefficients have noise_shape {a} and noise_scale {b}. Use values above 0 (one "
                "shape for all targets), or 0 for both: the flat prior of the logarithm."
            )
        object.__setattr__(self, "location", m)
        object.__setattr__(self, "precision", P)
        object.__setattr__(self, "noise_shape", a)
        object.__setattr__(self, "noise_scale", broadcast_array(b, m.shape[:1]))

    def posterior(self, products: Products) -> Self:
        """Return the posterior of the coefficients given `products`."""
        free = products.rows - int((~is_proper(self.precision)).sum())
        shape = float(self.noise_shape) + free / 2
        if shape <= 0:
            raise PriorError(
                f"Rows worth {free:g} after what flat priors take leave the noise unknown. Learn "
                "more rows, or give a prior_scale, the noise_variance or its prior."
            )
        P = self.precision + products.xx
        root = precision_root(P)
        rest = products.about(self.location)
        shift = solve_with_root(root, rest.xy)
        lost = clip_to_rounding(rest.yy - (rest.xy * shift).sum(axis=-1), products)
        return unchecked(
            type(self),
            location=self.location + shift,
            precision=P,
            noise_shape=np.array(shape),
            noise_scale=self.noise_scale + lost / 2,
        )

    def log_evidence(self, products: Products, after: Self | None = None) -> Floats:
        """Return the log evidence of each target, (t,); flat priors count as densities of 1.

        `after` is the posterior, if the caller has it.
        """
        after = self.posterior(products) if after is None else after
        flat = int((~is_proper(self.precision)).sum())
        a, b = float(self.noise_shape), self.noise_scale
        gain = -(products.rows - flat) / 2 * LOG_TWO_PI + products.log_volume
        gain += half_log_determinant_of_proper(self.precision)
        gain -= half_log_determinant_of_proper(after.precision)
        gain += gammaln(after.noise_shape) - after.noise_shape * np.log(after.noise_scale)
        return np.asarray(gain if a == 0 else gain + a * np.log(b) - gammaln(a))

    def _refuse_flat(self) -> None:
        if self.noise_shape == 0 or not is_proper(self.precision).all():
            raise PriorError("A flat prior has no density, draws or predictive. Learn rows first.")

    def predictive(self, x: ArrayLike, extra_variance: ArrayLike = 0.0) -> StudentT:
        """Return the Student t of new targets (n, t) at rows x (n, d).

        `extra_variance` (n,) is added, in units of the noise, an intercept's for example.
        """
        self._refuse_flat()
        rows = np.asarray(x, dtype=np.float64)
        factor = 1.0 + leverage(precision_root(self.precision), rows)
        factor = factor + np.asarray(extra_variance)
        unit = self.noise_scale / self.noise_shape
        return StudentT(2 * self.noise_shape, rows @ self.location.T, factor[..., None] * unit)

    def marginal(self) -> MultivariateStudentT:
        """Return the multivariate t of each target's coefficients, the noise integrated out."""
        self._refuse_flat()
        root = precision_root(self.precision)
        covariance = solve_with_root(root, np.eye(len(root)))
        unit = self.noise_scale / self.noise_shape
        return MultivariateStudentT(
            2 * self.noise_shape, self.location, unit[:, None, None] * covariance
        )

    def mean(self) -> CoefficientsAndNoise:
        """Return m and b / (a - 1)."""
        if self.noise_shape <= 1:
            raise PriorError(
                f"A noise variance of shape {self.noise_shape:g} has no mean. Learn more rows, or "
                "use the mode."
            )
        return CoefficientsAndNoise(self.location, self.noise_scale / (self.noise_shape - 1))

    def mode(self) -> CoefficientsAndNoise:
        """Return m and b / (a + 1 + d/2), the joint MAP."""
        d = self.location.shape[-1]
        return CoefficientsAndNoise(
            self.location, self.noise_scale / (self.noise_shape + 1 + d / 2)
        )

    def interval(self, level: float = 0.95) -> CoefficientsAndNoiseInterval:
        """Return the equal-tailed intervals of each coefficient (t) and noise variance."""
        scale = np.sqrt(np.diagonal(self.marginal().scale_matrix, axis1=-2, axis2=-1))
        a = self.noise_shape
        return CoefficientsAndNoiseInterval(
            equal_tailed(level, lambda tail: self.location + scale * stdtrit(2 * a, tail)),
            equal_tailed(level, lambda tail: self.noise_scale / gammainccinv(a, tail)),
        )

    def log_density(self, parameter: tuple[ArrayLike, ArrayLike]) -> Floats:
        """Return the joint log density (..., t) at coefficients (..., t, d), variances (..., t)."""
        self._refuse_flat()
        w, s2 = (np.asarray(part, dtype=np.float64) for part in parameter)
        a, b, d = self.noise_shape, self.noise_scale, self.location.shape[-1]
        away = w - self.location
        square = np.einsum("...i,ij,...j->...", away, self.precision, away)
        log_normal = half_log_determinant_of_proper(self.precision)
        log_normal = log_normal - d / 2 * (LOG_TWO_PI + np.log(s2)) - square / (2 * s2)
        log_gamma = a * np.log(b) - gammaln(a) - (a + 1) * np.log(s2) - b / s2
        return np.asarray(log_normal + log_gamma)

    def sample(self, rng: np.random.Generator, size: Size = None) -> CoefficientsAndNoise:
        """Draw coefficients (*size, t, d) and noise variances (*size, t)."""
        check_generator(rng)
        self._refuse_flat()
        root = precision_root(self.precision)
        shape = sample_shape(size, self.location.shape)
        s2 = self.noise_scale / rng.standard_gamma(self.noise_shape, shape[:-1])
        noise = rng.standard_normal(shape) * np.sqrt(s2)[..., None]
        return CoefficientsAndNoise(self.location + _correlate(root, noise), s2)


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
    >>> posterior = CoefficientsKnownNoise([[0.0]], np.eye(1), 1.0).posterior(seen)
    >>> posterior.location.round(3), posterior.precision  # 4 / 3, known as if from 3 rows
    (array([[1.333]]), array([[3.]]))
    """

    location: Floats
    precision: Floats
    noise_variance: Floats

    def __init__(
        self, location: ArrayLike, precision: ArrayLike, noise_variance: ArrayLike
    ) -> None:
        m, P = check_precision("CoefficientsKnownNoise", location, precision)
        s2 = positive("CoefficientsKnownNoise", "noise_variance", noise_variance)
        if s2.ndim:
            raise ShapeError(
                f"CoefficientsKnownNoise have noise_variance {s2.shape}. Give one number."
            )
        object.__setattr__(self, "location", m)
        object.__setattr__(self, "precision", P)
        object.__setattr__(self, "noise_variance", s2)

    def posterior(self, products: Products) -> Self:
        """Return the posterior of the coefficients given `products`."""
        P = self.precision + products.xx / self.noise_variance
        rest = products.about(self.location)
        shift = solve_with_root(precision_root(P), rest.xy / self.noise_variance)
        return unchecked(
            type(self),
            location=self.location + shift,
            precision=P,
            noise_variance=self.noise_variance,
        )

    def log_evidence(self, products: Products, after: Self | None = None) -> Floats:
        """Return the log evidence of each target, (t,); flat priors count as densities of 1.

        `after` is the posterior, if the caller has it.
        """
        after = self.posterior(products) if after is None else after
        rest = products.about(self.location)
        flat = int((~is_proper(self.precision)).sum())
        lost = rest.yy - (rest.xy * (after.location - self.location)).sum(axis=-1)
        gain = (flat * LOG_TWO_PI - products.rows * np.log(2 * np.pi * self.noise_variance)) / 2
        gain += half_log_determinant_of_proper(self.precision)
        gain -= half_log_determinant_of_proper(after.precision)
        return np.asarray(gain + products.log_volume - lost / (2 * self.noise_variance))

    def predictive(self, x: ArrayLike, extra_variance: ArrayLike = 0.0) -> Normal:
        """Return the normal of new targets (n, t) at rows x (n, d).

        `extra_variance` (n,) is added, in units of the noise, an intercept's for example.
        """
        rows = np.asarray(x, dtype=np.float64)
        variance = self.noise_variance * (1 + np.asarray(extra_variance))
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
        return solve_with_root(root, np.eye(len(root)))

    def interval(self, level: float = 0.95) -> Interval:
        """Return the equal-tailed interval of each coefficient."""
        deviation = np.sqrt(np.diagonal(self.covariance()))
        return equal_tailed(level, lambda tail: self.location + deviation * ndtri(tail))

    def log_density(self, parameter: ArrayLike) -> Floats:
        """Return the log density (..., t) at coefficients (..., t, d)."""
        if not is_proper(self.precision).all():
            raise PriorError("A flat prior has no density. Learn rows first.")
        away = np.asarray(parameter, dtype=np.float64) - self.location
        square = np.einsum("...i,ij,...j->...", away, self.precision, away)
        log_norm = half_log_determinant_of_proper(self.precision)
        return np.asarray(log_norm - (away.shape[-1] * LOG_TWO_PI + square) / 2)

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw coefficients, (*size, t, d)."""
        check_generator(rng)
        root = precision_root(self.precision)
        noise = rng.standard_normal(sample_shape(size, self.location.shape))
        return np.asarray(self.location + _correlate(root, noise))


class CoefficientsAndNoise(NamedTuple):
    """The parameter of a linear regression."""

    coefficients: Floats
    noise_variance: Floats


class CoefficientsAndNoiseInterval(NamedTuple):
    """The intervals of each coefficient and of each noise variance."""

    coefficients: Interval
    noise_variance: Interval


class Products(NamedTuple):
    """Sums of products over rows, about zero or, with an intercept, about the means.

    An intercept of flat prior is integrated out: that takes the means away, one row's worth of
    freedom, and a factor n^-1/2 off each target's evidence (docs: mathematics, section 7).
    """

    rows: float
    xx: Floats
    """(d, d)"""
    xy: Floats
    """(t, d)"""
    yy: Floats
    """(t,)"""
    log_volume: float = 0.0
    rounding: Floats | float = 0.0
    """(t,): what of a target's sum of squares is rounding, and no noise."""

    @classmethod
    def of(cls, tally: Moments, features: int, *, intercept: bool) -> Self:
        """Return the products of the first `features` features with themselves and the rest.

        Examples
        --------
        >>> rows = Moments(2.0, [0.0, 0.0], [4.0, 2.0], [[10.0, 6.0], [6.0, 4.0]])  # 3, 2; 1, 0
        >>> Products.of(rows, 1, intercept=True).xy
        array([[2.]])
        """
        if not tally.full or tally.weight.ndim or not 0 <= features < tally.sum_x.size:
            raise ShapeError(
                f"Moments of shape {tally.sum_xx.shape} are no regression on {features} features. "
                "Count features and targets together, in full moments (d + t, d + t)."
            )
        weight = float(tally.weight)
        sums = tally.scatter() if intercept else tally.rebase(0.0).sum_xx
        yy = np.diagonal(sums)[features:].copy()
        deviation = np.sqrt(np.maximum(yy, 0.0) / max(weight, 1.0))
        level = np.hypot(tally.mean()[features:], deviation)
        size = np.where(level > 0, level, 1.0) * RELATIVE_PRECISION
        return cls(
            weight - 1.0 if intercept else weight,
            sums[:features, :features],
            sums[features:, :features],
            yy,
            -np.log(weight) / 2 if intercept and weight > 0 else 0.0,
            np.maximum(ROUNDING * yy, weight * size**2),
        )

    def about(self, location: Floats) -> Self:
        """Return the products of the columns with y - x.location, location (t, d)."""
        xy = self.xy - location @ self.xx
        yy = self.yy - ((self.xy + xy) * location).sum(axis=-1)
        return self._replace(xy=xy, yy=yy)

    def scale(self, factor: float) -> Self:
        """Return the products in other units of noise; rows keep their number."""
        names = ("xx", "xy", "yy", "rounding")
        return self._replace(**{name: getattr(self, name) * factor for name in names})


def check_precision(
    class_name: str, location: ArrayLike, precision: ArrayLike
) -> tuple[Floats, Floats]:
    """Return locations (t, d) and a precision (d, d) that fit together, read-only."""
    m = finite(class_name, "location", location)
    P = symmetric(class_name, "precision", finite(class_name, "precision", precision))
    if P.ndim != 2 or m.ndim != 2 or m.shape[1:] != P.shape[1:]:
        raise ShapeError(
            f"{class_name} have location {m.shape} and precision {P.shape}. Give (t, d) and (d, d)."
        )
    half_log_determinant_of_proper(P, class_name)  # which refuses what is not positive definite
    return m, as_readonly(P)


def is_proper(precision: Floats) -> NDArray[np.bool_]:
    """Say of which coefficients the prior is proper: those whose row is not all zeros."""
    return np.asarray(precision.any(axis=0))


def half_log_determinant_of_proper(precision: Floats, class_name: str = "Coefficients") -> float:
    """Return half the log determinant, flat coefficients left out."""
    proper = is_proper(precision)
    if not proper.any():
        return 0.0
    block = precision[np.ix_(proper, proper)]
    return float(half_log_determinant(cholesky(class_name, "precision", block)))


def precision_root(precision: Floats) -> Floats:
    """Return the lower factor of a posterior's precision, or name the coefficient without one."""
    size = np.sqrt(np.diagonal(precision))
    if size.size == 0:  # an intercept alone
        return np.zeros((0, 0))
    unseen = np.flatnonzero(~(size > 0))
    if unseen.size:
        raise PriorError(
            f"Column {unseen[0]} does not vary, and its coefficient has a flat prior. Leave the "
            "column out, or give a prior_scale."
        )
    scaled = precision / np.outer(size, size)
    try:
        root = np.asarray(np.linalg.cholesky(scaled), dtype=np.float64)
        # L_jj^2 is what is left of column j given those before it.
        left = np.diagonal(root) ** 2
    except np.linalg.LinAlgError:
        left = _elimination_pivots(scaled)
    least = int(np.argmin(left))
    if not left[least] > SINGULAR * len(size):
        raise PriorError(
            f"Column {least} is a combination of the columns before it (all but {left[least]:.0e} "
            "of it), and the prior is too weak to separate them. Leave the column out, or give a "
            "smaller prior_scale."
        )
    return np.asarray(size[:, None] * root)


def _elimination_pivots(matrix: Floats) -> Floats:
    """Return what each column has left after those before it, up to the first with nothing."""
    left = np.ones(len(matrix))
    rest = matrix.copy()
    for j in range(len(matrix)):
        left[j] = rest[j, j]
        if left[j] <= SINGULAR * len(matrix):
            break
        rest[j + 1 :, j + 1 :] -= np.outer(rest[j + 1 :, j], rest[j, j + 1 :]) / left[j]
    return left


def solve_with_root(root: Floats, right: Floats) -> Floats:
    """Return P^-1 right for right (t, d), a system a row, given the lower factor of P."""
    if right.size == 0:
        return np.zeros(right.shape)
    half = solve_triangular(root, right.T, lower=True)
    return np.asarray(solve_triangular(root, half, lower=True, trans="T").T)


def leverage(root: Floats, rows: Floats) -> Floats:
    """Return x P^-1 x of each row x (n, d), given the lower factor of P; NaN of incomplete rows."""
    if rows.shape[1] == 0:
        return np.zeros(len(rows))
    whitened = solve_triangular(root, rows.T, lower=True, check_finite=False)
    return np.asarray(np.square(whitened).sum(axis=0))


def _correlate(root: Floats, noise: Floats) -> Floats:
    """Return L^-T z, whose covariance is P^-1, for noise z (..., d) and P = L L^T."""
    return np.asarray(np.linalg.solve(root.T, noise[..., None])[..., 0])


def clip_to_rounding(lost: Floats, products: Products) -> Floats:
    """Return what the coefficients leave of each target, which is never known to be nothing."""
    least = np.broadcast_to(products.rounding, lost.shape)
    below = np.argwhere(lost < least)
    if below.size:
        at = tuple(int(i) for i in below[0])
        warn_caller(
            f"Target {at[-1]} is a linear function of the columns to within rounding, so all that "
            f"is known of its noise is a sum of squares below {least[at]:.1e}, which is taken "
            "for it. Look for a column that repeats the target, or give noise_variance.",
            PrecisionWarning,
        )
    return np.asarray(np.maximum(lost, least))
