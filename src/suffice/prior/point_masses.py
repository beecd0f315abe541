"""A prior on a few probabilities of success only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp, xlog1py, xlogy

from suffice.display.distributions import check_single, draw_point_masses, summary_marks
from suffice.errors import PriorError, ShapeError
from suffice.prior.predictive import Bernoulli
from suffice.prior.prior import (
    Interval,
    Prior,
    Size,
    broadcast,
    check_generator,
    check_seen,
    sample_shape,
    tail_probabilities,
)
from suffice.tally.discrete import Counts
from suffice.tally.tally import Floats, as_readonly, readonly_copy


@dataclass(frozen=True, eq=False)
class PointMasses(Prior):
    """P(θ = points[s]) = weights[s], posterior w_s θ_s^n1 (1-θ_s)^n0 (docs: mathematics, 2).

    Weights are held as logarithms: a point that a long history has all but ruled out can come back.

    Parameters
    ----------
    points : (S,)
        The probabilities that have weight, each once; 0 and 1 are allowed.
    weights : (..., S)
        The prior weight of each; scaled to sum to 1.

    Examples
    --------
    >>> coin = PointMasses(points=[0.4, 0.5, 0.6], weights=[0.1, 0.8, 0.1])
    >>> coin.posterior(Counts([0, 10])).weights.round(3)  # ten heads in a row
    array([0.008, 0.559, 0.433])
    """

    points: Floats
    log_weights: Floats

    _learns_from: ClassVar[type[Counts]] = Counts

    def __init__(self, points: ArrayLike, weights: ArrayLike) -> None:
        theta, prior = np.array(points, float), np.array(weights, float)
        if theta.ndim != 1 or theta.size == 0 or prior.shape[-1:] != theta.shape:
            raise ShapeError(
                f"PointMasses of {theta.shape} points and {prior.shape} weights. Give points "
                "(S,) and weights (..., S)."
            )
        if not np.all((theta >= 0) & (theta <= 1)):
            wrong = theta[~((theta >= 0) & (theta <= 1))][0]
            raise PriorError(f"PointMasses at {wrong:g}. Use probabilities from 0 to 1.")
        if np.unique(theta).size < theta.size:
            raise PriorError(f"PointMasses at {theta.tolist()} repeat. Name each point once.")
        if not np.all(np.isfinite(prior) & (prior >= 0)):
            wrong = prior[~(np.isfinite(prior) & (prior >= 0))][0]
            raise PriorError(f"PointMasses have weight {wrong:g}. Use finite weights, 0 or more.")
        if not np.all(prior.sum(axis=-1) > 0):
            raise PriorError("PointMasses have weights 0 only. Give some point a weight above 0.")
        order = np.argsort(theta)
        self._hold(theta[order], xlogy(1.0, prior[..., order]))

    def _hold(self, points: Floats, log_weights: Floats) -> None:
        total = logsumexp(log_weights, axis=-1, keepdims=True)
        object.__setattr__(self, "points", readonly_copy(points))
        object.__setattr__(self, "log_weights", as_readonly(np.asarray(log_weights - total)))

    @property
    def weights(self) -> Floats:
        """The weight of each point, shape (..., S)."""
        return np.asarray(np.exp(self.log_weights))

    def _tally_of(self, data: ArrayLike) -> Counts:
        return Counts.of(data, levels=2)

    def _log_likelihood(self, tally: Counts) -> Floats:
        """Return n1 ln θ_s + n0 ln(1 - θ_s), shape (..., S)."""
        if tally.counts.shape[-1:] != (2,):
            raise ShapeError(
                f"PointMasses and counts of shape {tally.counts.shape}. Count two levels on the "
                "last axis, 0 and 1."
            )
        broadcast("PointMasses", self.log_weights.shape[:-1], tally.counts.shape[:-1])
        failures, successes = tally.counts[..., :1], tally.counts[..., 1:]
        return np.asarray(xlogy(successes, self.points) + xlog1py(failures, -self.points))

    def posterior(self, data: Counts | ArrayLike) -> Self:
        """Return the same points, weighted by the likelihood of the data."""
        joint = self.log_weights + self._log_likelihood(self.as_tally(data))
        if np.any(np.all(joint == -np.inf, axis=-1)):
            raise PriorError(
                f"No point of {self.points.tolist()} can have produced what was seen. Add a point "
                "between 0 and 1."
            )
        posterior = object.__new__(type(self))
        posterior._hold(self.points, joint)
        return posterior

    def mean(self) -> Floats:
        """Return sum_s w_s θ_s, which is the predictive probability too."""
        return np.asarray(self.weights @ self.points)

    def mode(self) -> Floats:
        """Return the point of highest weight (the lower of two alike)."""
        return np.asarray(self.points[np.argmax(self.log_weights, axis=-1)])

    def mle(self, data: Counts | ArrayLike) -> Floats:
        """Return the point of maximum likelihood (the lower of two alike)."""
        tally = self.as_tally(data)
        log_likelihood = self._log_likelihood(tally)
        check_seen(tally.total)
        return np.asarray(self.points[np.argmax(log_likelihood, axis=-1)])

    def interval(self, level: float = 0.95) -> Interval:
        """Return the points at the two tails; between them lies `level` or more."""
        below = np.cumsum(self.weights, axis=-1)
        lower, upper = tail_probabilities(level)
        last = self.points.size - 1
        first = np.minimum((below <= lower).sum(axis=-1), last)
        final = np.minimum((below < upper).sum(axis=-1), last)
        return Interval(np.asarray(self.points[first]), np.asarray(self.points[final]))

    def predictive(self) -> Bernoulli:
        """Return the Bernoulli of one new event."""
        # A mean of numbers in [0, 1], whose weights may sum to a rounding more than 1.
        return Bernoulli(np.minimum(self.mean(), 1.0))

    def log_evidence(self, data: Counts | ArrayLike) -> Floats:
        """Return ln sum_s w_s θ_s^n1 (1-θ_s)^n0, plus the orders rows of counts stand for."""
        tally = self.as_tally(data)
        joint = self.log_weights + self._log_likelihood(tally)
        # The weights sum to 1 but for rounding, which no rows at all must not be taxed with.
        gain = logsumexp(joint, axis=-1) - logsumexp(self.log_weights, axis=-1)
        return np.asarray(gain + tally.log_orderings)

    def log_density(self, parameter: ArrayLike) -> Floats:
        """Return the log weight at `parameter`; -inf where no point is."""
        here = np.asarray(parameter, dtype=np.float64)[..., None] == self.points
        return np.asarray(np.max(np.where(here, self.log_weights, -np.inf), axis=-1))

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw points, shape (*size, ...)."""
        check_generator(rng)
        shape = sample_shape(size, self.log_weights.shape[:-1])
        # The largest of ln w_s + Gumbel noise is s with probability w_s.
        noisy = self.log_weights + rng.gumbel(size=(*shape, self.points.size))
        return np.asarray(self.points[np.argmax(noisy, axis=-1)])

    def plot(self, data: Counts | ArrayLike | None = None, ax: Any = None) -> Any:
        """Draw the weights and, given data, the likelihood (sum 1) and the posterior weights.

        MAP, mean and 95 % interval are those of the last one drawn; the axes are returned.
        """
        flat = type(self)(self.points, np.ones(self.points.shape))
        drawn = self._with_posterior(data, flat.posterior)
        *_, last = drawn.values()
        check_single("PointMasses", last.log_weights.shape[:-1])
        weights = {name: one.weights for name, one in drawn.items()}
        label = "probability of success θ"
        return draw_point_masses(self.points, weights, summary_marks(last), label, ax)
