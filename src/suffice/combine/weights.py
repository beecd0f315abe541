"""Weights of blocks, fitted to held-out rows: naive, temperature, block weights, residual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from suffice.combine.combination import Combination
from suffice.logistic.binary import BinaryLogLikelihood, FeatureRows, SparseBinaryLogLikelihood
from suffice.logistic.likelihood import LogPosterior, NormalPrior, RowLogLikelihood
from suffice.logistic.multiclass import MulticlassFeatureLogLikelihood, MulticlassLogLikelihood
from suffice.logistic.newton import EXACT, TOL, Point, StoppingRule
from suffice.scoring.scorer import mix_with_uniform
from suffice.tally.tally import Floats

# Log-likelihoods and priors of rows by classes and blocks; of two classes, their differences.
HeldOutRows = BinaryLogLikelihood | MulticlassLogLikelihood

# Nats beyond which what all classes have in common is subtracted, and below which a class is as
# good as impossible.
LARGE, IMPOSSIBLE = 1e6, -1e9
# Features for each one that a row has, from which on sparse rows are quicker.
FEATURES_A_VALUE = 2
# Prior standard deviations of the temperature around 1 and of the offsets around 0: rows soon
# outweigh them, and few rows that are all right do not make probabilities certain.
TEMPERATURE_SCALE = 1.0
OFFSET_SCALE = 1.0
# The gain of a step, relative to the log-likelihood, that ends a fit of weights: hundreds of them
# are compared with each other, by sums over rows that have no more digits.
RELATIVE_TOL = 1e-12


# Held-out rows.


def remove_common(log_likelihoods: Floats) -> Floats:
    """Return log-likelihoods (n, C), less what all classes have in common where they are large.

    Beside a common part of 1e20 no difference of the classes is left, and infinite values carry no
    information. An impossible class gets a finite score that is low enough.

    Examples
    --------
    >>> scores = np.array([[-1e8, -1e8 - 2.0], [-np.inf, -np.inf], [0.0, -np.inf]])
    >>> remove_common(scores).tolist()
    [[0.0, -2.0], [0.0, 0.0], [0.0, -1000000000.0]]
    """
    if np.abs(log_likelihoods).max(initial=0.0) < LARGE:
        return log_likelihoods
    top = log_likelihoods.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        left = np.where(np.isfinite(top), log_likelihoods - top, 0.0)
    return np.asarray(np.maximum(left, IMPOSSIBLE))


def log_ratio(log_likelihoods: Floats) -> Floats:
    """Return log-likelihoods (n, C) without common parts; of two classes, their difference (n,).

    Examples
    --------
    >>> log_ratio(np.array([[-1.0, -3.0]])), log_ratio(np.array([[-1.0, -3.0, -2.0]]))
    (array([-2.]), array([[-1., -3., -2.]]))
    """
    found = remove_common(log_likelihoods)
    return found if found.shape[1] != 2 else np.asarray(found[:, 1] - found[:, 0])


def held_out_rows(
    log_prior: Floats,
    left_out_prior: Floats,
    log_ratios: Sequence[Floats],
    class_index: NDArray[np.int32],
    row_weights: Floats,
) -> HeldOutRows:
    """Return rows, given log priors (n, C) and the `log_ratio` of each of K blocks.

    See `MulticlassLogLikelihood`.
    """
    own = class_index, row_weights
    binary = log_prior.shape[1] == 2
    shape = (len(class_index),) if binary else log_prior.shape
    blocks = np.stack(log_ratios, axis=-1) if log_ratios else np.empty((*shape, 0))
    if not binary:
        return MulticlassLogLikelihood(log_prior, left_out_prior, blocks, *own)
    odds, left_out_odds = (prior[:, 1] - prior[:, 0] for prior in (log_prior, left_out_prior))
    return BinaryLogLikelihood(blocks, odds, left_out_odds, *own)


def add_features(rows: HeldOutRows, features: FeatureRows) -> tuple[RowLogLikelihood, int]:
    """Return the same rows with features beside the blocks, and how many residual coefficients.

    A coefficient is what one feature adds to one class; of two classes, to the second.
    """
    if isinstance(rows, BinaryLogLikelihood):
        if features.at.shape[1] * FEATURES_A_VALUE <= features.width:
            return SparseBinaryLogLikelihood.with_features(rows, features), features.width
        both = np.concatenate([rows.log_ratios, features.dense()], axis=1)
        return replace(rows, log_ratios=both), features.width
    own = rows.class_index, rows.row_weights
    constant = np.ones((len(rows.class_index), 1))
    dense = np.concatenate([constant, features.dense()], axis=1)
    every = MulticlassFeatureLogLikelihood(dense, rows.log_likelihoods, rows.log_prior, *own)
    return every, rows.size[0] * features.width


def own_log_proba(scores: Floats, class_index: NDArray[np.int32]) -> Floats:
    """Return the log softmax of scores (n, C) at one class of each row, (n,).

    Examples
    --------
    >>> np.exp(own_log_proba(np.log([[1.0, 3.0], [1.0, 1.0]]), np.array([1, 0])))
    array([0.75, 0.5 ])
    """
    if scores.shape[1] == 2:
        margins = scores[:, 1] - scores[:, 0]
        return -np.logaddexp(0.0, np.where(class_index == 1, -margins, margins))
    if not scores.size:
        return np.zeros(len(scores))
    own = scores[np.arange(len(scores)), class_index]
    # Class by class, because sums along a short axis are slow.
    columns = scores.T
    top = columns[0].copy()
    for column in columns[1:]:
        np.maximum(top, column, out=top)
    total = np.zeros(len(scores))
    for column in columns:
        total += np.exp(column - top)
    return np.asarray(own - top - np.log(total))


# Fits.


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


def _mean(rows: HeldOutRows, losses: Floats) -> float:
    """Return the mean of losses (n,) over rows by their weights."""
    return float(rows.row_weights @ losses / rows.row_weights.sum())


def evaluate(combination: Combination, rows: HeldOutRows, scores: Floats) -> WeightFit:
    """Return a combination with the left-out scores of each row (n, C), and their loss."""
    losses = row_losses(rows, scores, combination.noise_rate)
    return WeightFit(replace(combination, held_out_log_loss=_mean(rows, losses)), scores, losses)


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
    losses = row_losses(rows, scores, combination.noise_rate)
    fitted = combination.with_params(point.params, held_out_log_loss=_mean(rows, losses))
    return WeightFit(fitted, scores, losses, posterior, point, stop)


def fit_naive(rows: HeldOutRows) -> WeightFit:
    """Return naive Bayes: all blocks count as they are."""
    classes, blocks = rows.size
    naive = Combination.naive(blocks, classes)
    return evaluate(naive, rows, rows.scores_without_row(naive.params))


def fit_class_shares(rows: HeldOutRows) -> WeightFit:
    """Return the shares of the classes, without the blocks."""
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

    Weights are 0 or more. A block that predicts held-out rows worse than chance does so because the
    training rows lack just the rows of the fold: of a class's rows with some level, the more are in
    the fold, the fewer are left to count.
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
