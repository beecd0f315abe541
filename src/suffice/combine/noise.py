"""A noise rate beside fitted weights: the share of rows whose labels are anything, by EM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.combine.held_out import HeldOutRows, own_log_proba
from suffice.combine.weights import WeightFit, fit_params
from suffice.logistic.likelihood import LogPosterior
from suffice.logistic.newton import Point
from suffice.scoring.scorer import mix_with_uniform
from suffice.tally.tally import Floats

# Steps of EM for a noise rate beside weights of blocks, and the gain, in nats for all rows, that
# ends them; and the same for the fits of the weights in between.
MAX_EM_STEPS = 20
EM_TOL = 1e-2
WEIGHTS_TOL = 1e-3
# Nats, for all rows, that a noise rate must be worth before weights are fitted to it.
WORTH_FITTING = 1.0
# Where the search for the best noise rate begins, what is as good as none, and the relative change
# that ends the search.
FIRST_RATE, MIN_RATE, RATE_TOL = 0.02, 1e-9, 1e-6
MAX_RATE_STEPS = 20
# The log of the largest float, nearly.
LARGEST_LOG = 700.0


def parameter_price(total_weight: float) -> float:
    """Return what a further parameter must gain, in nats: half the log of the rows' weight (BIC).

    Examples
    --------
    >>> round(parameter_price(np.e**4), 6)
    2.0
    """
    return float(np.log(max(total_weight, 1.0)) / 2)


class NoisyFit(NamedTuple):
    """Parameters of a model that knows all but a share of the rows, and how probable they are."""

    posterior: LogPosterior
    """Of the parameters, each row weighted by the probability that it is known."""
    point: Point
    noise_rate: float
    value: float
    """The log posterior of the mixture, up to a constant."""


class NoisyRows(NamedTuple):
    """Rows of C classes: what a mixture of known and of noisy labels says of them."""

    class_index: NDArray[np.int32]
    row_weights: Floats
    classes: int

    def own(self, posterior: LogPosterior, point: Point) -> Floats:
        """Return log p of the own class of known rows, (n,)."""
        return own_log_proba(posterior.likelihood.scores(point.params), self.class_index)

    def log_likelihood(self, own: Floats, noise_rate: float) -> float:
        """Return that of the mixture."""
        return float(self.row_weights @ mix_with_uniform(own, noise_rate, self.classes))

    def known(self, own: Floats, noise_rate: float) -> Floats:
        """Return the probability, (n,), that each row's label is no noise."""
        mixed = mix_with_uniform(own, noise_rate, self.classes)
        return np.asarray(np.exp(own + np.log1p(-noise_rate) - mixed))

    def unknown_share(self, known: Floats) -> float:
        """Return the noise rate of rows that are known with probabilities (n,)."""
        total = max(float(self.row_weights.sum()), 1e-300)
        return float(self.row_weights @ (1 - known)) / total

    def best_rate(self, own: Floats) -> float:
        """Return the noise rate that suits log-probabilities (n,) best.

        The log-likelihood is concave in the rate; Newton's steps go at most half of the way to 1,
        and nine tenths of that to 0.
        """
        proba, uniform = np.exp(own), 1.0 / self.classes
        rate = FIRST_RATE
        for _ in range(MAX_RATE_STEPS):
            ratio = (uniform - proba) / (proba + rate * (uniform - proba))
            step = float(self.row_weights @ ratio) / float(self.row_weights @ np.square(ratio))
            last, rate = rate, min(max(rate + step, rate / 10), (1 + rate) / 2)
            if rate <= MIN_RATE or abs(rate - last) <= RATE_TOL * last:
                break
        return max(rate, MIN_RATE)


def maximize_by_em(
    rows: NoisyRows,
    posterior: LogPosterior,
    point: Point,
    noise_rate: float,
    next_rate: Callable[[Floats, Floats], float],
    *,
    maximize: Callable[[LogPosterior, Floats], Point],
    tol: float,
    max_steps: int,
) -> NoisyFit:
    """Return the best parameters of known rows beside a noise rate, from some on.

    Parameters
    ----------
    rows : NoisyRows
    posterior : LogPosterior of known rows
    point, noise_rate : where EM begins
    next_rate : the noise rate, given (n,) how probably rows were known and log p of their classes
    maximize : the maximum of a log posterior, from some parameters on
    tol : float
        Gain of a step, in nats for all rows, that ends EM.
    max_steps : int
    """
    own, value = rows.own(posterior, point), -np.inf
    for step in range(max_steps + 1):
        last = value
        value = rows.log_likelihood(own, noise_rate) + posterior.prior.log_density(point.params)
        if value - last <= tol or step == max_steps:
            break
        known = rows.known(own, noise_rate)
        posterior = posterior.reweighted(rows.row_weights * known)
        point = maximize(posterior, point.params)
        own = rows.own(posterior, point)
        noise_rate = next_rate(known, own)
    return NoisyFit(posterior, point, noise_rate, value)


def fit_noise_rate(rows: HeldOutRows, found: WeightFit) -> WeightFit:
    """Return the same fit with a noise rate if that is worth its price; weights are fitted anew."""
    if found.posterior is None or found.point is None:
        return found
    noisy = NoisyRows(rows.class_index, rows.row_weights, rows.size[0])
    weights, posterior = rows.row_weights, found.posterior
    own = noisy.own(posterior, found.point)
    # The slope of the log-likelihood where the rate is 0: below 0 there is no gain nearby.
    if float(weights @ (np.exp(np.minimum(-own, LARGEST_LOG)) / noisy.classes - 1)) <= 0:
        return found
    rate = noisy.best_rate(own)
    if noisy.log_likelihood(own, rate) - float(weights @ own) < WORTH_FITTING:
        return found
    # Near is good enough for the next step of EM; at the end weights are fitted as found's were.
    near = found.stop._replace(tol=max(found.stop.tol, WEIGHTS_TOL))
    best = maximize_by_em(
        noisy,
        posterior,
        found.point,
        rate,
        lambda known, own: noisy.best_rate(own),
        maximize=lambda posterior, start: posterior.maximize(start, near),
        tol=EM_TOL,
        max_steps=MAX_EM_STEPS,
    )
    if best.value <= found.point.value + parameter_price(float(weights.sum())):
        return found
    mixed = replace(found.combination, noise_rate=best.noise_rate)
    return fit_params(mixed, rows, best.posterior, best.point.params, found.stop)
