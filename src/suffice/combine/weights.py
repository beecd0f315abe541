"""Ways of combining blocks, each fitted to held-out rows: naive, temperature, weights, residual."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from suffice.combine.combination import Combination
from suffice.combine.held_out import HeldOutRows, add_features, own_log_proba
from suffice.logistic.binary import FeatureRows
from suffice.logistic.likelihood import LogPosterior, NormalPrior
from suffice.logistic.newton import EXACT, TOL, Point, StoppingRule
from suffice.scoring.scorer import mix_with_uniform
from suffice.tally.tally import Floats

# Prior standard deviations of the temperature around 1 and of the offsets around 0: rows soon
# outweigh them, and few rows that are all right do not make probabilities certain.
TEMPERATURE_SCALE = 1.0
OFFSET_SCALE = 1.0
# The gain of a step, relative to the log-likelihood, that ends a fit of weights: hundreds of them
# are compared with each other, by sums over rows that have no more digits.
RELATIVE_TOL = 1e-12


@dataclass(frozen=True, eq=False)
class WeightFit:
    """A fitted combination, with the scores (n, C) and the loss (n,) of each row left out of it.

    Parameters
    ----------
    posterior, point, stop : the log posterior of its parameters, its maximum, and how exactly that
        was found; None if nothing is fitted
    """

    combination: Combination
    scores: Floats
    losses: Floats
    posterior: LogPosterior | None = None
    point: Point | None = None
    stop: StoppingRule = EXACT


def row_losses(rows: HeldOutRows, scores: Floats, noise_rate: float = 0.0) -> Floats:
    """Return -log p of the rows' own classes, (n,), under scores (n, C)."""
    own = own_log_proba(scores, rows.class_index)
    return np.asarray(-mix_with_uniform(own, noise_rate, scores.shape[1]))


def evaluate(combination: Combination, rows: HeldOutRows, scores: Floats) -> WeightFit:
    """Return a combination with the left-out scores of each row (n, C), and their loss."""
    losses = row_losses(rows, scores, combination.noise_rate)
    loss = float(rows.row_weights @ losses / rows.row_weights.sum())
    return WeightFit(replace(combination, held_out_log_loss=loss), scores, losses)


def fit_params(
    combination: Combination,
    rows: HeldOutRows,
    posterior: LogPosterior,
    start: Floats,
    stop: StoppingRule,
) -> WeightFit:
    """Return a combination with its most probable parameters, and the left-out scores of rows."""
    point = posterior.maximize(start, stop)
    scores = posterior.left_out_scores(point)
    fit = evaluate(combination.with_params(point.params), rows, scores)
    return replace(fit, posterior=posterior, point=point, stop=stop)


def fit_naive(rows: HeldOutRows) -> WeightFit:
    """Return naive Bayes: all blocks count as they are."""
    naive = Combination.naive(*rows.size[::-1])
    return evaluate(naive, rows, rows.scores_without_row(naive.params))


def fit_class_shares(rows: HeldOutRows) -> WeightFit:
    """Return the shares of the classes, whatever the blocks say."""
    classes, blocks = rows.size
    shares = Combination("shares", np.zeros(blocks), np.zeros(classes))
    return evaluate(shares, rows, rows.scores_without_row(shares.params))


def fit_temperature(rows: HeldOutRows, start: Floats | None = None, tol: float = TOL) -> WeightFit:
    """Return the best temperature, one for all blocks, and offsets."""
    classes, blocks = rows.size
    plain = Combination("temperature", np.ones(blocks), np.zeros(classes))
    posterior = LogPosterior(rows.sum_blocks(), weights_prior(classes, 1, 0.0))
    return _fit(plain, rows, posterior, start, tol)


def fit_block_weights(
    rows: HeldOutRows, weight_scale: float, start: Floats | None = None, tol: float = TOL
) -> WeightFit:
    """Return the best weight for each block and offsets, for a prior scale of the weights."""
    classes, blocks = rows.size
    plain = Combination("blocks", np.ones(blocks), np.zeros(classes), weight_scale=weight_scale)
    posterior = LogPosterior(rows, weights_prior(classes, blocks, weight_scale))
    return _fit(plain, rows, posterior, start, tol)


def fit_residual(
    rows: HeldOutRows,
    features: FeatureRows,
    weight_scale: float,
    residual_scale: float,
    start: Floats | None = None,
    tol: float = TOL,
) -> WeightFit:
    """Return the best weights, offsets and residual coefficients, for prior scales of both.

    With a weight scale of 0 all blocks have one weight.
    """
    classes, blocks = rows.size
    weighted = rows if weight_scale > 0 else rows.sum_blocks()
    likelihood, added = add_features(weighted, features)
    prior = weights_prior(classes, weighted.size[1], weight_scale)
    posterior = LogPosterior(likelihood, _add_coefficients(prior, added, residual_scale))
    plain = Combination(
        "residual",
        np.ones(blocks),
        np.zeros(classes),
        weight_scale=weight_scale,
        residual_coefficients=np.zeros((features.width, classes)),
        residual_scale=residual_scale,
    )
    return _fit(plain, rows, posterior, start, tol)


def _fit(
    plain: Combination,
    rows: HeldOutRows,
    posterior: LogPosterior,
    start: Floats | None,
    tol: float,
) -> WeightFit:
    start = posterior.prior.mean if start is None else start
    return fit_params(plain, rows, posterior, start, StoppingRule(tol, RELATIVE_TOL))


def weights_prior(classes: int, blocks: int, weight_scale: float) -> NormalPrior:
    """Return the prior of C offsets and K weights.

    Weights are normal around a temperature that is normal around 1; with the temperature
    integrated out their covariance is weight_scale^2 I + TEMPERATURE_SCALE^2 1 1^T. One weight is
    the temperature itself if its scale is 0.

    Weights are 0 or more. A block that speaks against itself in held-out rows does so because a
    fold lacks just these rows: of a class's rows with some level, those of the fold are missing in
    what is said of them.
    """
    mean = np.concatenate([np.zeros(classes), np.ones(blocks)])
    precision = np.diag(np.full(classes + blocks, OFFSET_SCALE**-2.0))
    common = TEMPERATURE_SCALE**2
    if weight_scale == 0:
        precision[classes:, classes:] = np.eye(1) / common
    else:
        shared = common / (weight_scale**2 + blocks * common)
        precision[classes:, classes:] = (np.eye(blocks) - shared) / weight_scale**2
    return NormalPrior(mean, precision, np.arange(classes + blocks) >= classes)


def _add_coefficients(prior: NormalPrior, coefficients: int, scale: float) -> NormalPrior:
    """Return a prior with further coefficients N(0, scale^2) of any sign."""
    assert prior.nonnegative is not None
    known = len(prior.mean)
    precision = np.diag(np.full(known + coefficients, scale**-2.0))
    precision[:known, :known] = prior.precision
    mean = np.concatenate([prior.mean, np.zeros(coefficients)])
    return NormalPrior(mean, precision, np.pad(prior.nonnegative, (0, coefficients)))
