"""The prior of the mean and the covariance of rows; no matrix is inverted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainccinv, multigammaln, stdtrit

from suffice.errors import InputError, PriorError, ShapeError
from suffice.prior.normal_inverse_gamma import (
    Axes,
    MeanVarianceInterval,
    n_sharing,
    sum_shared,
    tied_shapes,
)
from suffice.prior.predictive import MultivariateStudentT
from suffice.prior.prior import (
    Prior,
    Size,
    broadcast,
    check_generator,
    check_seen,
    equal_tailed,
    finite,
    positive,
    sample_shape,
)
from suffice.prior.special import (
    LOG_TWO_PI,
    cholesky,
    half_log_determinant,
    half_log_growth,
    log_gamma_step,
    symmetric,
)
from suffice.tally.moments import Moments
from suffice.tally.tally import ROUNDING, Floats
from suffice.threads import with_one_blas_thread


def log_inverse_wishart(root: Floats, scale_root: Floats, degrees: Floats) -> Floats:
    """Return the log density of IW(S, v) at Sigma, each given by its lower factor (..., d, d)."""
    d = root.shape[-1]
    log_norm = degrees * half_log_determinant(scale_root) - multigammaln(degrees / 2, d)
    log_norm = log_norm - degrees * d / 2 * np.log(2)
    # tr(S Sigma^-1) is the sum of squares of one factor solved by the other
    trace = np.square(np.linalg.solve(root, scale_root)).sum(axis=(-2, -1))
    return np.asarray(log_norm - (degrees + d + 1) * half_log_determinant(root) - trace / 2)


def sample_halves(
    rng: np.random.Generator, scale_root: Floats, degrees: Floats, shape: tuple[int, ...]
) -> Floats:
    """Draw H (*shape, d, d) with H^T H ~ IW(S, v), by Bartlett's decomposition.

    Sigma = L A^-T A^-1 L^T, with S = L L^T and A A^T ~ Wishart(v, identity).
    """
    factor = bartlett(rng, degrees, shape, scale_root.shape[-1])
    return np.asarray(np.linalg.solve(factor, np.swapaxes(scale_root, -1, -2)))


def bartlett(
    rng: np.random.Generator, degrees: Floats, shape: tuple[int, ...], features: int
) -> Floats:
    """Draw lower triangular A (*shape, d, d) with A A^T ~ Wishart(v, identity)."""
    at = np.arange(features)
    squares = rng.chisquare(degrees[..., None] - at, size=(*shape, features))
    factor = np.tril(rng.standard_normal((*shape, features, features)), -1)
    factor[..., at, at] = np.sqrt(squares)
    return factor


class MeanCovariance(NamedTuple):
    """The parameter of Gaussian rows."""

    mean: Floats
    covariance: Floats


@with_one_blas_thread
@dataclass(frozen=True, eq=False)
class NormalInverseWishart(Prior):
    """Sigma ~ IW(S, v), mu | Sigma ~ N(m, Sigma / k) (docs: mathematics, section 2).

    Parameters
    ----------
    location : (..., d)
        Prior mean m.
    pseudo_rows : (...)
        How many rows k the location is worth.
    degrees : (...)
        Degrees of freedom v, above d - 1.
    scale_matrix : (..., d, d)
        Scale S of the covariance, whose mean is S / (v - d - 1).
    shared : tuple of int
        Axes of the tally's weight (classes, not features) along which all entries have one
        covariance, each its own mean; `degrees` and `scale_matrix` have length 1 there. Count them
        from the end (-1) if the prior has fewer axes than the tally and is to be sampled.

    Examples
    --------
    >>> prior = NormalInverseWishart([0.0, 0.0], pseudo_rows=1, degrees=4, scale_matrix=np.eye(2))
    >>> prior.posterior([[0.0, 0.0], [2.0, 0.0]]).mean().covariance.round(3)
    array([[1.222, 0.   ],
           [0.   , 0.333]])
    """

    location: Floats
    pseudo_rows: Floats
    degrees: Floats
    scale_matrix: Floats
    shared: Axes

    _learns_from: ClassVar[type[Moments]] = Moments

    def __init__(
        self,
        location: ArrayLike,
        pseudo_rows: ArrayLike,
        degrees: ArrayLike,
        scale_matrix: ArrayLike,
        shared: Iterable[int] = (),
    ) -> None:
        class_name = type(self).__name__
        m = finite(class_name, "location", location)
        k = positive(class_name, "pseudo_rows", pseudo_rows)
        v = positive(class_name, "degrees", degrees)
        matrix = symmetric(
            class_name, "scale_matrix", finite(class_name, "scale_matrix", scale_matrix)
        )
        d = matrix.shape[-1]
        if m.shape[-1:] != (d,):
            raise ShapeError(
                f"{class_name} has location {m.shape} and scale_matrix {matrix.shape}. Give (..., "
                "d) and (..., d, d)."
            )
        if np.any(v <= d - 1):
            raise PriorError(
                f"{class_name} has degrees {v.min():g} for {d} features. Use degrees above {d - 1}."
            )
        cholesky(class_name, "scale_matrix", matrix)  # which refuses what is not positive definite
        broadcast(class_name, m.shape[:-1], k.shape, v.shape, matrix.shape[:-2])
        fields = (("location", m), ("pseudo_rows", k), ("degrees", v), ("scale_matrix", matrix))
        for name, array in fields:
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "shared", tuple(shared))

    @property
    def _features(self) -> int:
        return int(self.location.shape[-1])

    def _shapes(self, met: Axes = (), axes: int | None = None) -> tuple[Axes, Axes, Axes]:
        """Return the leading shapes of the means and covariances, and the shared axes."""
        class_name = type(self).__name__
        scales = broadcast(class_name, self.degrees.shape, self.scale_matrix.shape[:-2])
        means = broadcast(class_name, self.location.shape[:-1], self.pseudo_rows.shape)
        return tied_shapes(class_name, scales, means, met, self.shared, axes)

    def _root(self) -> Floats:
        return cholesky(type(self).__name__, "scale_matrix", self.scale_matrix)

    def _tally_of(self, data: ArrayLike) -> Moments:
        tally = Moments.of(data, full=True)
        # An empty list has no features of its own, so it has ours.
        return tally if np.size(data) else Moments.of(np.empty((0, self._features)), full=True)

    def _shapes_with(self, tally: Moments) -> tuple[Axes, Axes, Axes]:
        """Return the shapes of `_shapes` with those of a tally, which must be full."""
        d = self._features
        if not tally.full or tally.sum_x.shape[-1] != d:
            raise ShapeError(
                f"A NormalInverseWishart of {d} features and moments of shape "
                f"{tally.sum_xx.shape}. Count full moments (..., {d}, {d}), or use a "
                "NormalInverseGamma."
            )
        return self._shapes(tally.weight.shape, axes=tally.weight.ndim)

    def _shared_in(self, tally: Moments) -> Axes:
        return self._shapes_with(tally)[2]

    def _update(self, tally: Moments) -> tuple[Self, Floats, Floats, Axes]:
        """Return the posterior, the rows, what was added to the scale matrix, the shared axes."""
        full, kept, shared = self._shapes_with(tally)
        d = self._features
        rows = np.broadcast_to(tally.weight, full)
        pseudo_rows = self.pseudo_rows + rows
        away = np.broadcast_to(tally.mean() - self.location, (*full, d))
        shift = away * (rows / pseudo_rows)[..., None]
        pull = away * np.broadcast_to(self.pseudo_rows, full)[..., None]
        squares = tally.scatter() + pull[..., :, None] * shift[..., None, :]
        over_features = tuple(axis - 2 for axis in shared)
        added = sum_shared(squares, over_features)
        matrix = self.scale_matrix + added
        posterior = type(self)(
            np.broadcast_to(self.location + shift, (*full, d)),
            pseudo_rows,
            np.broadcast_to(self.degrees + sum_shared(rows, shared), kept),
            np.broadcast_to(matrix, (*kept, d, d)),
            shared,
        )
        return posterior, rows, added, shared

    def posterior(self, data: Moments | ArrayLike) -> Self:
        """Return NIW(m', k', v', S') after full moments, or rows (n, d).

        The `shared` axes of the posterior are counted from the end.
        """
        return self._update(self.as_tally(data))[0]

    def _parameter(self, divisor: Floats) -> MeanCovariance:
        full, kept, _ = self._shapes()
        d = self._features
        covariance = self.scale_matrix / np.asarray(divisor)[..., None, None]
        return MeanCovariance(
            np.broadcast_to(self.location, (*full, d)), np.broadcast_to(covariance, (*kept, d, d))
        )

    def mean(self) -> MeanCovariance:
        """Return m and S / (v - d - 1)."""
        divisor = self.degrees - self._features - 1
        if np.any(divisor <= 0):
            raise PriorError(
                f"A NormalInverseWishart of {self.degrees.min():g} degrees has no mean "
                f"covariance. Use degrees above {self._features + 1}, or the mode."
            )
        return self._parameter(divisor)

    def mode(self) -> MeanCovariance:
        """Return m and S / (v + d + 2), the joint MAP; S / (v + d + 1 + E) if E entries share."""
        full, _, shared = self._shapes()
        return self._parameter(self.degrees + self._features + 1 + n_sharing(full, shared))

    def mle(self, data: Moments | ArrayLike) -> MeanCovariance:
        """Return the mean and the covariance over n (of all entries that share it)."""
        tally = self.as_tally(data)
        full, _, shared = self._shapes_with(tally)
        d = self._features
        check_seen(tally.weight)
        over_features = tuple(axis - 2 for axis in shared)
        scatter = sum_shared(np.broadcast_to(tally.scatter(), (*full, d, d)), over_features)
        size = np.sqrt(np.diagonal(scatter, axis1=-2, axis2=-1))
        # Of features that do not vary the correlation is none, and so is the least eigenvalue.
        safe = np.where(size > 0, size, 1.0)
        correlation = scatter / (safe[..., :, None] * safe[..., None, :])
        if np.any(np.linalg.eigvalsh(correlation) <= ROUNDING):
            raise InputError(
                f"What was seen does not vary in all {d} directions, so it is the more likely the "
                "smaller the covariance, and none is most likely. Give more rows, leave out "
                "features that repeat others, or use the mode."
            )
        rows = sum_shared(np.broadcast_to(tally.weight, full), shared)
        covariance = scatter / rows[..., None, None]
        return MeanCovariance(np.broadcast_to(tally.mean(), (*full, d)), np.asarray(covariance))

    def interval(self, level: float = 0.95) -> MeanVarianceInterval:
        """Return the intervals of each mean (Student t) and of each variance (inverse gamma)."""
        full, kept, _ = self._shapes()
        d = self._features
        degrees = (self.degrees - d + 1)[..., None]
        squares = np.diagonal(self.scale_matrix, axis1=-2, axis2=-1)
        width = np.sqrt(squares / (self.pseudo_rows[..., None] * degrees))

        def mean(tail: float) -> Floats:
            return np.broadcast_to(self.location + width * stdtrit(degrees, tail), (*full, d))

        def variance(tail: float) -> Floats:
            return np.broadcast_to(squares / (2 * gammainccinv(degrees / 2, tail)), (*kept, d))

        with np.errstate(divide="ignore"):  # an upper end beyond all floats is inf
            return MeanVarianceInterval(equal_tailed(level, mean), equal_tailed(level, variance))

    def predictive(self) -> MultivariateStudentT:
        """Return the multivariate t of one new row of each entry."""
        degrees = self.degrees - self._features + 1
        factor = (1 + 1 / self.pseudo_rows) / degrees
        matrix = self.scale_matrix * np.asarray(factor)[..., None, None]
        return MultivariateStudentT(degrees, self.location, matrix)

    def log_evidence(self, data: Moments | ArrayLike) -> Floats:
        """Return the log evidence of each covariance, in its shape (length 1 if shared)."""
        after, rows, added, shared = self._update(self.as_tally(data))
        d = self._features
        means = d * (np.log1p(rows / self.pseudo_rows) + rows * np.log(np.pi)) / 2
        learned = sum_shared(rows, shared)
        halves = (self.degrees[..., None] - np.arange(d)) / 2
        gain = log_gamma_step(halves, learned[..., None] / 2).sum(axis=-1)
        now = half_log_determinant(after._root())
        # v/2 ln|S| - v'/2 ln|S'|, from half the log determinants
        gain = gain - self.degrees * half_log_growth(self._root(), added, now) - learned * now
        return np.asarray(gain - sum_shared(means, shared))

    def log_density(self, parameter: tuple[ArrayLike, ArrayLike]) -> Floats:
        """Return the joint log density at (mean, covariance)."""
        mean, covariance = (np.asarray(part, dtype=np.float64) for part in parameter)
        d = self._features
        _, _, shared = self._shapes(mean.shape[:-1])
        root = cholesky("The parameter", "covariance", covariance)
        away = np.linalg.solve(root, (mean - self.location)[..., None])[..., 0]
        normal = d * (np.log(self.pseudo_rows) - LOG_TWO_PI) / 2 - half_log_determinant(root)
        normal = np.asarray(normal - self.pseudo_rows * np.square(away).sum(axis=-1) / 2)
        log_wishart = log_inverse_wishart(root, self._root(), self.degrees)
        return np.asarray(log_wishart + sum_shared(normal, shared))

    def sample(self, rng: np.random.Generator, size: Size = None) -> MeanCovariance:
        """Draw means (*size, ..., d) and covariances (*size, ..., d, d; length 1 if shared)."""
        check_generator(rng)
        full, kept, _ = self._shapes()
        halves = sample_halves(rng, self._root(), self.degrees, sample_shape(size, kept))
        noise = rng.standard_normal((*sample_shape(size, full), self._features))
        noise /= np.sqrt(self.pseudo_rows)[..., None]
        mean = self.location + np.einsum("...kj,...k->...j", halves, noise)
        return MeanCovariance(mean, np.swapaxes(halves, -1, -2) @ halves)
