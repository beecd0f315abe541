"""Calibration: the temperature, offsets and noise rate that suit held-out log-probabilities.

A noise rate, the share of rows whose labels are random, is fitted by EM: to one temperature
(`fit_calibration`) or beside weights of blocks (`fit_noise_rate`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.combine.combination import Calibration
from suffice.combine.weights import (
    HeldOutRows,
    WeightFit,
    fit_params,
    held_out_rows,
    own_log_proba,
    weights_prior,
)
from suffice.logistic.likelihood import LogPosterior, RowLogLikelihood
from suffice.logistic.multiclass import MulticlassFeatureLogLikelihood
from suffice.logistic.newton import Point
from suffice.scoring.scorer import mix_with_uniform
from suffice.tally.tally import Floats

# Log-probability of the own class below which a row is first taken for noise.
FAR_OFF = -20.0
# Steps of EM for a calibration, and the gain of one, in nats for all rows, that ends them.
CALIBRATION_STEPS, CALIBRATION_TOL = 99, 1e-6
# The same beside weights of blocks, of which many are compared, and the gain that ends the fits of
# the weights in between.
WEIGHTS_STEPS, WEIGHTS_TOL = 20, 1e-2
ROUGH_TOL = 1e-3
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
    """Parameters beside a noise rate, and how probable they are."""

    posterior: LogPosterior
    """Of the parameters, each row weighted by the probability that its label is clean."""
    point: Point
    noise_rate: float
    value: float
    """The log posterior of the mixture, up to a constant."""


class NoisyRows(NamedTuple):
    """Rows of C classes whose labels are clean, or random with the probability `noise_rate`."""

    class_index: NDArray[np.int32]
    row_weights: Floats
    classes: int

    def own(self, posterior: LogPosterior, point: Point) -> Floats:
        """Return log p of the own class of rows with clean labels, (n,)."""
        return own_log_proba(posterior.likelihood.scores(point.params), self.class_index)

    def log_likelihood(self, own: Floats, noise_rate: float) -> float:
        """Return the log-likelihood of the mixture of clean and random labels."""
        return float(self.row_weights @ mix_with_uniform(own, noise_rate, self.classes))

    def clean_proba(self, own: Floats, noise_rate: float) -> Floats:
        """Return the probability, (n,), that each row's label is clean."""
        mixed = mix_with_uniform(own, noise_rate, self.classes)
        return np.asarray(np.exp(own + np.log1p(-noise_rate) - mixed))

    def noise_share(self, clean: Floats) -> float:
        """Return the noise rate of rows whose labels are clean with probabilities (n,)."""
        total = max(float(self.row_weights.sum()), 1e-300)
        return float(self.row_weights @ (1 - clean)) / total

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
    """Return the best parameters of rows with clean labels, and the noise rate of the others.

    Parameters
    ----------
    rows : NoisyRows
    posterior : LogPosterior of rows with clean labels
    point, noise_rate : where EM begins
    next_rate : the noise rate, given p(clean) and log p of the own class of each row, (n,)
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
        clean = rows.clean_proba(own, noise_rate)
        posterior = posterior.reweighted(rows.row_weights * clean)
        point = maximize(posterior, point.params)
        own = rows.own(posterior, point)
        noise_rate = next_rate(clean, own)
    return NoisyFit(posterior, point, noise_rate, value)


def fit_calibration(
    log_proba: Floats,
    class_index: NDArray[Any],
    weights: Floats,
    *,
    log_prior: Floats | None = None,
    offset_share: Floats | None = None,
    start: float = 1.0,
) -> Calibration:
    """Return the calibration under which the rows' own classes are most probable.

    The inverse temperature is N(1, 1) and offsets are N(0, 1) a priori: rows soon outweigh that,
    and few rows that are all right do not make probabilities certain. A noise rate is taken only
    if it makes the classes more probable by the price of a further parameter: some rows far off
    must not flatten the probabilities of all others. Rows whose own class had no other row are
    left out.

    Parameters
    ----------
    log_proba : (n, C)
        Of each row by a model that has not learned it; -inf is impossible.
    class_index : (n,)
    weights : (n,)
    log_prior : (n, C), optional
        Added to the scores of rows without a weight.
    offset_share : (n,), optional
        How much of the offsets is added to the scores of each row.
    start : float
        Inverse temperature at which the search begins, and at which a row may be far off.

    Examples
    --------
    >>> sure = np.log([[0.99, 0.01], [0.01, 0.99], [0.99, 0.01], [0.01, 0.99]])
    >>> found = fit_calibration(sure, np.array([0, 1, 1, 1]), np.ones(4))
    >>> round(found.temperature, 1)
    3.0
    """
    classes = log_proba.shape[1]
    own = log_proba[np.arange(len(class_index)), class_index]
    kept = np.isfinite(own) & (weights > 0)
    if not kept.any():
        return Calibration(1.0, np.zeros(classes))
    rows = NoisyRows(class_index[kept].astype(np.int32), weights[kept], classes)
    beside = (None if part is None else part[kept] for part in (log_prior, offset_share))
    likelihood = _one_block(log_proba[kept], rows, *beside)
    posterior = LogPosterior(likelihood, weights_prior(classes, 1, 0.0))
    params = np.append(np.zeros(classes), start)
    best, noise_rate = _maximize(posterior, params), 0.0
    # The first rows that are noise are those far off at the start.
    far = own_log_proba(likelihood.scores(params), rows.class_index) <= FAR_OFF
    clean = np.where(far, 0.0, 1.0)
    rate = rows.noise_share(clean)
    if rate > 0:
        without = posterior.reweighted(rows.row_weights * clean)
        noisy = maximize_by_em(
            rows,
            without,
            _maximize(without, params),
            rate,
            lambda clean, own: rows.noise_share(clean),
            maximize=_maximize,
            tol=CALIBRATION_TOL,
            max_steps=CALIBRATION_STEPS,
        )
        if noisy.value > best.value + parameter_price(float(rows.row_weights.sum())):
            best, noise_rate = noisy.point, noisy.noise_rate
    return Calibration(float(best.params[-1]), best.params[:-1], noise_rate)


def _maximize(posterior: LogPosterior, start: Floats) -> Point:
    """Return the maximum; a weight that would be below 0 is 0.

    Such log-probabilities are wrong more often than not: they carry no information.
    """
    free = replace(posterior.prior, nonnegative=None)
    point = replace(posterior, prior=free).maximize(start)
    return point if point.params[-1] >= 0 else posterior.maximize(point.params)


def _one_block(
    log_proba: Floats, rows: NoisyRows, log_prior: Floats | None, offset_share: Floats | None
) -> RowLogLikelihood:
    """Return the likelihood of rows of one block."""
    possible = np.isfinite(log_proba)
    scores = np.where(possible, log_proba, 0.0)
    prior = np.where(possible, 0.0 if log_prior is None else log_prior, -np.inf)
    own = rows.class_index, rows.row_weights
    if offset_share is not None:
        share = offset_share[:, None]
        return MulticlassFeatureLogLikelihood(share, scores[:, :, None], prior, *own)
    ratio = scores[:, 1] - scores[:, 0] if rows.classes == 2 else scores
    return held_out_rows(prior, prior, [ratio], *own)


def fit_noise_rate(rows: HeldOutRows, found: WeightFit) -> WeightFit:
    """Return the fit with a noise rate, weights refitted beside it, if that is worth its price."""
    if found.posterior is None or found.point is None:
        return found
    noisy = NoisyRows(rows.class_index, rows.row_weights, rows.size[0])
    weights, posterior = rows.row_weights, found.posterior
    own = noisy.own(posterior, found.point)
    # The derivative of the log-likelihood at a rate of 0: below 0 there is no gain nearby.
    if float(weights @ (np.exp(np.minimum(-own, LARGEST_LOG)) / noisy.classes - 1)) <= 0:
        return found
    rate = noisy.best_rate(own)
    if noisy.log_likelihood(own, rate) - float(weights @ own) < WORTH_FITTING:
        return found
    # A rough fit is enough for the next step of EM; at the end weights are fitted as before.
    rough = found.stop._replace(tol=max(found.stop.tol, ROUGH_TOL))
    best = maximize_by_em(
        noisy,
        posterior,
        found.point,
        rate,
        lambda clean, own: noisy.best_rate(own),
        maximize=lambda posterior, start: posterior.maximize(start, rough),
        tol=WEIGHTS_TOL,
        max_steps=WEIGHTS_STEPS,
    )
    if best.value <= found.point.value + parameter_price(float(weights.sum())):
        return found
    mixed = replace(found.combination, noise_rate=best.noise_rate)
    return fit_params(mixed, rows, best.posterior, best.point.params, found.stop)
