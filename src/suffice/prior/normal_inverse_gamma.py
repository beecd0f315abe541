"""The prior of the mean and the variance of a feature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainccinv, gammaln, stdtrit

from suffice.errors import InputError, PriorError, ShapeError
from suffice.prior.predictive import StudentT
from suffice.prior.prior import (
    Interval,
    Prior,
    Size,
    broadcast,
    check_generator,
    check_seen,
    equal_tailed,
    finite,
    positive,
    sample_shape,
    widen,
)
from suffice.prior.special import LOG_TWO_PI, log_gamma_step
from suffice.tally.moments import Moments
from suffice.tally.tally import Floats

Axes = tuple[int, ...]


class MeanVariance(NamedTuple):
    """The parameter of a Gaussian feature."""

    mean: Floats
    variance: Floats


class MeanVarianceInterval(NamedTuple):
    """The credible intervals of the two, each by itself."""

    mean: Interval
    variance: Interval


@dataclass(frozen=True, eq=False)
class NormalInverseGamma(Prior):
    """s2 ~ InvGamma(a, scale b), mu | s2 ~ N(m, s2 / k) (docs: mathematics, section 2).

    Parameters
    ----------
    location : (...)
        Prior mean m.
    pseudo_rows : (...)
        How many rows k the location is worth.
    shape : (...)
        Shape a of the variance: 2a rows' worth of knowing it.
    scale : (...)
        Scale b of the variance, whose mean is b / (a - 1).
    shared : tuple of int
        Axes of the tally along which all entries have one variance, each its own mean; `shape`
        and `scale` have length 1 there. Count them from the end (-2) if the prior has fewer axes
        than the tally and is to be sampled.

    Examples
    --------
    >>> prior = NormalInverseGamma(location=0.0, pseudo_rows=1.0, shape=2.0, scale=1.0)
    >>> posterior = prior.posterior([2.0, 4.0])
    >>> posterior.mean()
    MeanVariance(mean=array([2.]), variance=array([2.5]))
    """

    location: Floats
    pseudo_rows: Floats
    shape: Floats
    scale: Floats
    shared: Axes

    _learns_from: ClassVar[type[Moments]] = Moments

    def __init__(
        self,
        location: ArrayLike,
        pseudo_rows: ArrayLike,
        shape: ArrayLike,
        scale: ArrayLike,
        shared: Iterable[int] = (),
    ) -> None:
        class_name = type(self).__name__
        fields = {
            "location": finite(class_name, "location", location),
            "pseudo_rows": positive(class_name, "pseudo_rows", pseudo_rows),
            "shape": positive(class_name, "shape", shape),
            "scale": positive(class_name, "scale", scale),
        }
        broadcast(class_name, *(array.shape for array in fields.values()))
        for name, array in fields.items():
            object.__setattr__(self, name, array)
        object.__setattr__(self, "shared", tuple(shared))

    def _shapes(self, met: Axes = (), axes: int | None = None) -> tuple[Axes, Axes, Axes]:
        """Return the shapes of the means and of the variances, and the shared axes."""
        class_name = type(self).__name__
        scales = broadcast(class_name, self.shape.shape, self.scale.shape)
        means = broadcast(class_name, self.location.shape, self.pseudo_rows.shape)
        return tied_shapes(class_name, scales, means, met, self.shared, axes)

    def _tally_of(self, data: ArrayLike) -> Moments:
        return Moments.of(data)

    def _shapes_with(self, tally: Moments) -> tuple[Axes, Axes, Axes]:
        """Return the shapes of `_shapes` with those of a tally, which must be diagonal."""
        if tally.full:
            raise ShapeError(
                f"A NormalInverseGamma and full moments of shape {tally.sum_xx.shape}. Use "
                "tally.diagonal(), or a NormalInverseWishart."
            )
        return self._shapes(tally.weight.shape, axes=tally.weight.ndim)

    def _shared_in(self, tally: Moments) -> Axes:
        return self._shapes_with(tally)[2]

    def _update(self, tally: Moments) -> tuple[Self, Floats, Floats, Axes]:
        """Return the posterior, the rows, what was added to the scale, and the shared axes."""
        full, kept, shared = self._shapes_with(tally)
        rows, (mean, scatter) = widen(tally.weight, full), tally.mean_and_scatter()
        pseudo_rows, apart = self.pseudo_rows + rows, mean - self.location
        shift = apart * rows / pseudo_rows
        squares = widen(scatter + apart * self.pseudo_rows * shift, full)
        added = sum_shared(squares, shared) / 2
        posterior = type(self)(
            widen(self.location + shift, full),
            pseudo_rows,
            widen(self.shape + sum_shared(rows, shared) / 2, kept),
            widen(self.scale + added, kept),
            shared,
        )
        return posterior, rows, added, shared

    def posterior(self, data: Moments | ArrayLike) -> Self:
        """Return NIG(m', k', a', b'); its `shared` axes are counted from the end.

        Raw numbers (n,) are those of one feature, with an axis of its own: fields become (1,).
        """
        return self._update(self.as_tally(data))[0]

    def mean(self) -> MeanVariance:
        """Return m and b / (a - 1)."""
        if np.any(self.shape <= 1):
            raise PriorError(
                f"A NormalInverseGamma of shape {self.shape.min():g} has no mean variance. Use a "
                "shape above 1, or the mode."
            )
        full, kept, _ = self._shapes()
        variance = np.broadcast_to(self.scale / (self.shape - 1), kept)
        return MeanVariance(np.broadcast_to(self.location, full), variance)

    def mode(self) -> MeanVariance:
        """Return m and b / (a + 3/2), the joint MAP; b / (a + 1 + E/2) if E entries share it."""
        full, kept, shared = self._shapes()
        variance = self.scale / (self.shape + 1 + n_sharing(full, shared) / 2)
        return MeanVariance(np.broadcast_to(self.location, full), np.broadcast_to(variance, kept))

    def mle(self, data: Moments | ArrayLike) -> MeanVariance:
        """Return the mean and the variance over n (of all entries that share it)."""
        tally = self.as_tally(data)
        full, _, shared = self._shapes_with(tally)
        check_seen(tally.weight)
        scatter = sum_shared(np.broadcast_to(tally.scatter(), full), shared)
        if np.any(scatter == 0):
            raise InputError(
                "What was seen does not vary, so it is the more likely the smaller the variance, "
                "and none is most likely. Give more rows, or use the mode."
            )
        variance = scatter / sum_shared(np.broadcast_to(tally.weight, full), shared)
        return MeanVariance(np.broadcast_to(tally.mean(), full), np.asarray(variance))

    def interval(self, level: float = 0.95) -> MeanVarianceInterval:
        """Return the intervals of the mean (Student t) and of the variance (inverse gamma)."""
        full, kept, _ = self._shapes()
        width = np.sqrt(self.scale / (self.shape * self.pseudo_rows))

        def mean(tail: float) -> Floats:
            return np.broadcast_to(self.location + width * stdtrit(2 * self.shape, tail), full)

        def variance(tail: float) -> Floats:
            return np.broadcast_to(self.scale / gammainccinv(self.shape, tail), kept)

        with np.errstate(divide="ignore"):  # an upper end beyond all floats is inf
            return MeanVarianceInterval(equal_tailed(level, mean), equal_tailed(level, variance))

    def marginal_of_mean(self) -> StudentT:
        """Return the Student t of the mean, the variance integrated out.

        Two of them can be compared: `one.probability_greater(other)`.
        """
        return StudentT(2 * self.shape, self.location, self.scale / self.shape / self.pseudo_rows)

    def predictive(self) -> StudentT:
        """Return the Student t of one new entry (of each alone, where a variance is shared)."""
        squared_scale = self.scale / self.shape * (1 + 1 / self.pseudo_rows)
        return StudentT(2 * self.shape, self.location, squared_scale)

    def log_evidence(self, data: Moments | ArrayLike) -> Floats:
        """Return the log evidence of each variance, in its shape (length 1 if shared)."""
        after, rows, added, shared = self._update(self.as_tally(data))
        means = np.log1p(rows / self.pseudo_rows) + rows * LOG_TWO_PI
        # Differences with a prior of a billion rows are taken before its size is added to them:
        # ln G(a') - ln G(a), and a ln b - a' ln b' = -a ln(b'/b) - (a' - a) ln b'.
        half = sum_shared(rows, shared) / 2
        gain = log_gamma_step(self.shape, half) - self.shape * np.log1p(added / self.scale)
        return np.asarray(gain - half * np.log(after.scale) - sum_shared(means, shared) / 2)

    def log_density(self, parameter: tuple[ArrayLike, ArrayLike]) -> Floats:
        """Return the joint log density at (mean, variance); -inf where a variance is not > 0."""
        mean, variance = (np.asarray(part, dtype=np.float64) for part in parameter)
        _, _, shared = self._shapes(mean.shape)
        inside = variance > 0
        safe = np.where(inside, variance, 1.0)
        precision = self.pseudo_rows / safe
        normal = (np.log(precision) - LOG_TWO_PI - precision * (mean - self.location) ** 2) / 2
        log_density = self.shape * np.log(self.scale) - gammaln(self.shape)
        log_density = log_density - (self.shape + 1) * np.log(safe) - self.scale / safe
        return np.asarray(np.where(inside, log_density + sum_shared(normal, shared), -np.inf))

    def sample(self, rng: np.random.Generator, size: Size = None) -> MeanVariance:
        """Draw means (*size, ...) and variances (the same, length 1 along shared axes)."""
        check_generator(rng)
        full, kept, _ = self._shapes()
        variance = self.scale / rng.standard_gamma(self.shape, size=sample_shape(size, kept))
        noise = rng.standard_normal(sample_shape(size, full))
        mean = self.location + np.sqrt(variance / self.pseudo_rows) * noise
        return MeanVariance(np.asarray(mean), np.asarray(variance))


def tied_shapes(
    class_name: str, scales: Axes, means: Axes, met: Axes, shared: Iterable[int], axes: int | None
) -> tuple[Axes, Axes, Axes]:
    """Return the shapes of means and of (co)variances, and the shared axes from the end.

    `scales` and `means` are the prior's own shapes, `met` that of a tally or parameter; axes
    counted from the front are among the last `axes` ones (those of the prior if None).
    """
    fields = broadcast(class_name, scales, means)
    full = broadcast(class_name, fields, met)
    count = len(fields) if axes is None else axes
    found = set()
    for axis in shared:
        if not -len(full) <= axis < count:
            raise ShapeError(
                f"{class_name} shares a variance along axis {axis} of the shape {full}. Name axes "
                "of the tally, and give the location one entry for each that shares."
            )
        found.add(axis - count if axis >= 0 else axis)
    from_end = tuple(sorted(found))
    kept = list(full)
    for axis in from_end:
        if len(scales) >= -axis and scales[axis] != 1:
            raise PriorError(
                f"{class_name} has {scales[axis]} scales along axis {axis}, where one is shared. "
                "Give them length 1 there, or do not share along that axis."
            )
        kept[axis] = 1
    return full, tuple(kept), from_end


def sum_shared(values: Floats, shared: Axes) -> Floats:
    """Sum over the shared axes, which stay with length 1."""
    return np.asarray(values.sum(axis=shared, keepdims=True)) if shared else values


def n_sharing(shape: Axes, shared: Axes) -> int:
    """Return how many entries share one variance."""
    return int(np.prod([shape[axis] for axis in shared], dtype=int))
