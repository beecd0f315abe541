"""The prior of regression coefficients when the noise is not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainccinv, gammaln, stdtrit

from suffice.errors import PrecisionWarning, PriorError, warn_caller
from suffice.prior.normal import LOG_TWO_PI
from suffice.prior.precision import (
    checked_precision,
    half_log_determinant_of_proper,
    leverage,
    precision_root,
    proper,
    solved_by,
)
from suffice.prior.prior import Interval, Size, check_generator, finite, sizes, spread_to, tails
from suffice.prior.products import Products
from suffice.prior.student_t import MultivariateStudentT, StudentT
from suffice.tally.tally import Floats, given


class CoefficientsAndNoise(NamedTuple):
    """The parameter of a linear regression."""

    coefficients: Floats
    noise_variance: Floats


class CoefficientsAndNoiseInterval(NamedTuple):
    """The intervals of each coefficient and of each noise variance."""

    coefficients: Interval
    noise_variance: Interval


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
    >>> believed = Coefficients([[0.0]], np.zeros((1, 1)), 0.0, [0.0]).posterior(seen)
    >>> believed.location, believed.noise_shape, believed.noise_scale  # least squares
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
        m, P = checked_precision("Coefficients", location, precision)
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
        object.__setattr__(self, "noise_scale", spread_to(b, m.shape[:1]))

    def posterior(self, products: Products) -> Self:
        """Return the coefficients believed in after the rows of `products`."""
        free = products.rows - int((~proper(self.precision)).sum())
        shape = float(self.noise_shape) + free / 2
        if shape <= 0:
            raise PriorError(
                f"Rows worth {free:g} after what flat priors take leave the noise unknown. Learn "
                "more rows, or give a prior_scale, the noise_variance or its prior."
            )
        P = self.precision + products.xx
        root = precision_root(P)
        rest = products.about(self.location)
        shift = solved_by(root, rest.xy)
        lost = not_below_rounding(rest.yy - (rest.xy * shift).sum(axis=-1), products)
        believed = object.__new__(type(self))
        fields = {
            "location": self.location + shift,
            "precision": P,
            "noise_shape": np.array(shape),
            "noise_scale": self.noise_scale + lost / 2,
        }
        for name, value in fields.items():
            object.__setattr__(believed, name, given(value))
        return believed

    def log_evidence(self, products: Products, believed: Self | None = None) -> Floats:
        """Return the log evidence of each target, (t,); flat priors count as densities of 1.

        `believed` is the posterior, if the caller has it.
        """
        after = self.posterior(products) if believed is None else believed
        flat = int((~proper(self.precision)).sum())
        a, b = float(self.noise_shape), self.noise_scale
        gain = -(products.rows - flat) / 2 * LOG_TWO_PI + products.log_volume
        gain += half_log_determinant_of_proper(self.precision)
        gain -= half_log_determinant_of_proper(after.precision)
        gain += gammaln(after.noise_shape) - after.noise_shape * np.log(after.noise_scale)
        return np.asarray(gain if a == 0 else gain + a * np.log(b) - gammaln(a))

    def _refuse_flat(self) -> None:
        if self.noise_shape == 0 or not proper(self.precision).all():
            raise PriorError("A flat prior has no density, draws or predictive. Learn rows first.")

    def predictive(self, x: ArrayLike, spread: ArrayLike = 0.0) -> StudentT:
        """Return the Student t of new targets (n, t) at rows x (n, d).

        `spread` (n,) is further variance in units of the noise, an intercept's for example.
        """
        self._refuse_flat()
        rows = np.asarray(x, dtype=np.float64)
        factor = 1.0 + leverage(precision_root(self.precision), rows) + np.asarray(spread)
        unit = self.noise_scale / self.noise_shape
        return StudentT(2 * self.noise_shape, rows @ self.location.T, factor[..., None] * unit)

    def marginal(self) -> MultivariateStudentT:
        """Return the multivariate t of each target's coefficients, the noise integrated out."""
        self._refuse_flat()
        root = precision_root(self.precision)
        covariance = solved_by(root, np.eye(len(root)))
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
        marginal = self.marginal()
        spread = np.sqrt(np.diagonal(marginal.scale_matrix, axis1=-2, axis2=-1))
        coefficients, variances = [], []
        for tail in tails(level):
            coefficients.append(self.location + spread * stdtrit(2 * self.noise_shape, tail))
            variances.append(self.noise_scale / gammainccinv(self.noise_shape, tail))
        return CoefficientsAndNoiseInterval(Interval(*coefficients), Interval(*variances))

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
        shape = sizes(size, self.location.shape)
        s2 = self.noise_scale / rng.standard_gamma(self.noise_shape, shape[:-1])
        noise = rng.standard_normal(shape) * np.sqrt(s2)[..., None]
        # With P = L L^T, L^-T z has covariance P^-1.
        return CoefficientsAndNoise(
            self.location + np.linalg.solve(root.T, noise[..., None])[..., 0], s2
        )


def not_below_rounding(lost: Floats, products: Products) -> Floats:
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
