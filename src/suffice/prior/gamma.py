"""The prior of a Poisson rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, gammaln, xlogy

from suffice.display.distributions import (
    TAILS,
    check_single,
    densities,
    draw_densities,
    plot_points,
    summary_marks,
)
from suffice.prior.predictive import NegativeBinomial
from suffice.prior.prior import (
    Prior,
    Size,
    broadcast,
    check_generator,
    check_seen,
    positive,
    sample_shape,
    set_broadcast,
)
from suffice.prior.special import log_gamma_step
from suffice.prior.univariate import Univariate, split_tails
from suffice.tally.discrete import Events
from suffice.tally.tally import Floats

# How much of the distribution of a rate, which has no upper end, is drawn.
SHOWN_PROBABILITY = 0.998


@dataclass(frozen=True, eq=False)
class Gamma(Univariate, Prior):
    """p(λ) = b^a λ^(a-1) exp(-b λ) / G(a), on a Poisson rate λ (docs: mathematics, section 2).

    Parameters
    ----------
    shape : (...)
        Pseudo-events a.
    rate : (...)
        Pseudo-rows b: a rate, not a scale; the mean is a / b.

    Examples
    --------
    >>> posterior = Gamma(shape=1.0, rate=0.5).posterior(Events.of([3, 4]))
    >>> float(posterior.mean()), float(posterior.mode())
    (3.2, 2.8)
    """

    shape: Floats
    rate: Floats

    _learns_from: ClassVar[type[Events]] = Events

    def __init__(self, shape: ArrayLike, rate: ArrayLike) -> None:
        set_broadcast(
            self, shape=positive("Gamma", "shape", shape), rate=positive("Gamma", "rate", rate)
        )

    def _tally_of(self, data: ArrayLike) -> Events:
        return Events.of(data)

    def posterior(self, data: Events | ArrayLike) -> Self:
        """Return Gamma(a + events, b + rows) after a tally, or numbers of events (n,)."""
        tally = self.as_tally(data)
        broadcast("Gamma", self.shape.shape, tally.weight.shape)
        return type(self)(self.shape + tally.sum_x, self.rate + tally.weight)

    def mean(self) -> Floats:
        """Return a / b."""
        return np.asarray(self.shape / self.rate)

    def mode(self) -> Floats:
        """Return (a - 1) / b; 0 where a < 1, for the density then has its one peak there."""
        return np.asarray(np.maximum(self.shape - 1, 0.0) / self.rate)

    def mle(self, data: Events | ArrayLike) -> Floats:
        """Return events / rows."""
        tally = self.as_tally(data)
        check_seen(tally.weight)
        return np.asarray(tally.mean())

    @property
    def variance(self) -> Floats:
        """The variance a / b^2, (...)."""
        return np.asarray(self.shape / self.rate / self.rate)

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(λ <= x)."""
        return np.asarray(gammainc(self.shape, self.rate * np.maximum(x, 0.0)))

    def survival(self, x: ArrayLike) -> Floats:
        """Return P(λ > x)."""
        return np.asarray(gammaincc(self.shape, self.rate * np.maximum(x, 0.0)))

    def quantile(self, probability: ArrayLike) -> Floats:
        """Return x with P(λ <= x) = probability."""
        return np.asarray(gammaincinv(self.shape, probability) / self.rate)

    def upper_quantile(self, probability: ArrayLike) -> Floats:
        """Return x with P(λ > x) = probability."""
        return np.asarray(gammainccinv(self.shape, probability) / self.rate)

    def _split_tails(self, outside: float) -> tuple[Floats, Floats]:
        falling = self.shape <= 1
        return split_tails(self, outside, falling=falling, rising=np.zeros_like(falling))

    def predictive(self) -> NegativeBinomial:
        """Return the negative binomial of the events in one new row."""
        return NegativeBinomial(self.shape, self.rate)

    def log_evidence(self, data: Events | ArrayLike) -> Floats:
        """Return a ln b - ln G(a) + ln G(a') - a' ln b' - sum ln x!."""
        tally = self.as_tally(data)
        broadcast("Gamma", self.shape.shape, tally.weight.shape)
        gain = log_gamma_step(self.shape, tally.sum_x)
        # a ln b - a' ln b', with the part that cancels left out
        gain -= self.shape * np.log1p(tally.weight / self.rate)
        gain -= xlogy(tally.sum_x, self.rate + tally.weight)
        return np.asarray(gain - tally.sum_log_factorial)

    def log_density(self, parameter: ArrayLike) -> Floats:
        """Return the log density at a rate; -inf below 0."""
        rate = np.asarray(parameter, dtype=np.float64)
        inside = rate >= 0
        safe = np.where(inside, rate, 1.0)
        log_kernel = xlogy(self.shape - 1, safe) - self.rate * safe
        log_norm = self.shape * np.log(self.rate) - gammaln(self.shape)
        return np.asarray(np.where(inside, log_kernel + log_norm, -np.inf))

    def sample(self, rng: np.random.Generator, size: Size = None) -> Floats:
        """Draw rates, shape (*size, ...)."""
        check_generator(rng)
        shape = sample_shape(size, self.shape.shape)
        return np.asarray(rng.standard_gamma(self.shape, size=shape) / self.rate)

    def plot(self, data: Events | ArrayLike | None = None, ax: Any = None) -> Any:
        """Draw the density and, given data, the likelihood (unit area) and the posterior.

        MAP, mean and 95 % interval are those of the last one drawn; the axes are returned.
        """
        drawn = self._with_posterior(data, self._likelihood)
        *_, last = drawn.values()
        check_single("Gamma", last.shape.shape)
        at = self._rates(list(drawn.values()))
        return draw_densities(at, densities(drawn, at), summary_marks(last), "rate λ", ax)

    def _likelihood(self, tally: Events) -> Self | None:
        # The likelihood of no rows has no finite area.
        return type(self)(1.0 + tally.sum_x, tally.weight) if np.all(tally.weight > 0) else None

    def _rates(self, distributions: list[Self]) -> Floats:
        """Return the rates to draw at: what the data allow, and what the prior expects."""
        dense = [gammaincinv(one.shape, TAILS) / one.rate for one in distributions]
        ends = [one.interval(SHOWN_PROBABILITY) for one in distributions[1:] or distributions]
        start = min(float(self.mean()), *(float(end.lower) for end in ends))
        stop = max(float(self.mean()), *(float(end.upper) for end in ends))
        # Rates are read from 0, unless the lower half of the picture would be empty.
        return plot_points(0.0 if start < stop / 2 else start, stop, dense)
