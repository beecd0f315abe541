"""Which method of combining blocks has the lowest leave-one-out log-loss."""

from __future__ import annotations

from collections import Counter

import numpy as np

from suffice.combine.calibration import fit_noise_rate
from suffice.combine.combination import Combination
from suffice.combine.weights import (
    HeldOutRows,
    WeightFit,
    evaluate,
    fit_block_weights,
    fit_class_shares,
    fit_naive,
    fit_residual,
    fit_temperature,
    row_losses,
)
from suffice.data.rows import subsample
from suffice.logistic.binary import FeatureRows
from suffice.logistic.newton import LOOSE_TOL, TOL
from suffice.tally.tally import Floats

# What a user may ask for, and combinations without anything that was fitted.
COMBINE_METHODS = ("auto", "naive", "temperature", "blocks", "residual")
UNFITTED = ("naive", "shares")
# Prior scales of the weights around their common temperature that are tried, and the first of them.
WEIGHT_SCALES = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
FIRST_WEIGHT_SCALE = 0.25
# Prior scales of residual coefficients that are tried, from small ones on, until the held-out rows
# lose so many nats, all together, against the best.
RESIDUAL_SCALES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
MAX_LOSS = 3.0
# Blocks beyond which "auto" does not try a weight for each: what they cost grows with the square.
MAX_WEIGHTS = 150
# Multiplications in one pass over the rows, beyond which fewer scales are tried.
MUCH_WORK = 1 << 28
# Rows that methods are compared on: of more, so many at equal distances are taken, and the best
# method is then fitted to all.
SELECTION_ROWS = 3000
# A method with this share of the leave-one-out likelihood is taken alone.
CERTAIN = 0.99
# Prior odds of the methods, all scales of one together: on tables of a few dozen rows chance looks
# like knowledge, and what has more parameters finds more of it.
PRIOR_ODDS = {
    "shares": 10.0,
    "naive": 1.0,
    "temperature": 1.0,
    "auto": 1.0,
    "blocks": 0.5,
    "residual": 0.2,
}


def select_combination(
    rows: HeldOutRows, method: str = "auto", features: FeatureRows | None = None
) -> WeightFit:
    """Return the fit that makes the rows' own classes most probable.

    "auto" takes the method with the lowest leave-one-out log-loss: the blocks' log-likelihoods are
    those of other folds, and a row leaves the weights by one step of Newton's method. Where few
    rows cannot decide, methods are averaged (`average_by_likelihood`). The same loss
    selects the prior scales of weights and of residual coefficients. A noise rate is taken only if
    it makes the classes more probable by the price of a further parameter: some mislabelled rows
    must not flatten the probabilities of all others.

    Parameters
    ----------
    rows : HeldOutRows
    method : {"auto", "naive", "temperature", "blocks", "residual"}
    features : FeatureRows, optional
        What residual coefficients are of; without them, "residual" is "blocks".
    """
    classes, blocks = rows.size
    features = features if method in ("auto", "residual") else None
    if blocks == 0 or not len(rows.class_index):
        naive = Combination.naive(blocks, classes)
        scores = rows.scores_without_row(naive.params)
        return WeightFit(naive, scores, row_losses(rows, scores))
    many = len(rows.class_index) > SELECTION_ROWS
    at = subsample(len(rows.class_index), SELECTION_ROWS)
    few = rows.take(at) if many else rows
    tol = LOOSE_TOL if many else TOL
    work = len(few.class_index) * classes * blocks**2
    scales = WEIGHT_SCALES if work < MUCH_WORK else WEIGHT_SCALES[:4:2]
    fits = fit_candidates(few, method, scales, tol=tol)
    if features is not None:
        scale = lowest_loss(fits).combination.weight_scale
        some = features.take(at) if many else features
        residual = search_residual_scales(few, some, scale, tol)
        fits = [*fits, *residual] if method == "auto" else residual
    if many:
        return fit_noise_rate(rows, refit_on_all(rows, lowest_loss(fits), features))
    found = fit_noise_rate(rows, lowest_loss(fits))
    if method != "auto" or found.combination.noise_rate > 0:
        return found
    return average_by_likelihood(rows, fits)


def lowest_loss(fits: list[WeightFit]) -> WeightFit:
    """Return the fit of lowest leave-one-out log-loss."""
    return min(fits, key=lambda fit: fit.combination.held_out_log_loss)


def fit_candidates(
    rows: HeldOutRows,
    method: str,
    weight_scales: tuple[float, ...],
    start: Floats | None = None,
    tol: float = LOOSE_TOL,
) -> list[WeightFit]:
    """Return the fits without residual coefficients that a method allows."""
    blocks = rows.size[1]
    wanted = method in ("blocks", "residual")
    each = blocks > 1 and (wanted or (method == "auto" and blocks <= MAX_WEIGHTS))
    fits = [fit_class_shares(rows)] if method == "auto" else []
    if method in ("auto", "naive"):
        fits.append(fit_naive(rows))
    if method in ("auto", "temperature") or (wanted and not each):
        fits.append(fit_temperature(rows, tol=tol))
    if not each:
        return fits
    if start is None:
        common = fits[-1] if method == "auto" else fit_temperature(rows, tol=tol)
        start = common.combination.params
    return fits + search_weight_scales(rows, weight_scales, start, tol)


def search_weight_scales(
    rows: HeldOutRows, weight_scales: tuple[float, ...], start: Floats, tol: float
) -> list[WeightFit]:
    """Return the block weights for several prior scales, that of lowest loss among them.

    From the first scale upwards, then downwards, as long as the loss falls.
    """
    middle = int(np.argmin(np.abs(np.log(np.array(weight_scales) / FIRST_WEIGHT_SCALE))))
    fits = [fit_block_weights(rows, weight_scales[middle], start, tol)]
    for scales in (weight_scales[middle + 1 :], weight_scales[:middle][::-1]):
        for scale in scales:
            before = lowest_loss(fits)
            assert before.point is not None
            fits.append(fit_block_weights(rows, scale, before.point.params, tol))
            if lowest_loss(fits) is before:
                break
    return fits


def search_residual_scales(
    rows: HeldOutRows, features: FeatureRows, weight_scale: float, tol: float
) -> list[WeightFit]:
    """Return residual coefficients for several prior scales, given that of the weights."""
    fits: list[WeightFit] = []
    work = len(rows.class_index) * (rows.size[0] * features.width) ** 2
    for scale in RESIDUAL_SCALES if work < MUCH_WORK else RESIDUAL_SCALES[1::2]:
        before = fits[-1].point if fits else None
        start = None if before is None else before.params
        fits.append(fit_residual(rows, features, weight_scale, scale, start, tol))
        losses = [fit.combination.held_out_log_loss for fit in (fits[-1], lowest_loss(fits))]
        if (losses[0] - losses[1]) * float(rows.row_weights.sum()) > MAX_LOSS:
            break
    return fits


def refit_on_all(
    rows: HeldOutRows, selected: WeightFit, features: FeatureRows | None = None
) -> WeightFit:
    """Return the method and scales that were selected on few rows, fitted to all exactly."""
    found = selected.combination
    if found.method in UNFITTED:
        return fit_naive(rows) if found.method == "naive" else fit_class_shares(rows)
    assert selected.point is not None
    start = selected.point.params
    if found.method == "temperature":
        return fit_temperature(rows, start)
    if found.method == "blocks":
        return fit_block_weights(rows, found.weight_scale, start)
    assert features is not None
    return fit_residual(rows, features, found.weight_scale, found.residual_scale, start)


def average_by_likelihood(rows: HeldOutRows, fits: list[WeightFit]) -> WeightFit:
    """Return an average of several fits, weighted by leave-one-out likelihood (pseudo-BMA).

    Where few rows favour one method by a nat or two, the lowest loss is a matter of luck. A method
    with nearly all of the weight is taken alone.

    Examples
    --------
    >>> from suffice.logistic.multiclass import MulticlassLogLikelihood
    >>> prior, own = np.zeros((1, 3)), np.array([0])
    >>> rows = MulticlassLogLikelihood(prior, prior, np.zeros((1, 3, 1)), own, np.ones(1))
    >>> each = [Combination("blocks", [w], np.zeros(3)) for w in (1.0, 3.0)]
    >>> both = average_by_likelihood(rows, [evaluate(one, rows, prior) for one in each])
    >>> both.combination.weights
    array([2.])
    """
    methods = Counter(fit.combination.method for fit in fits)
    odds = [PRIOR_ODDS[fit.combination.method] / methods[fit.combination.method] for fit in fits]
    losses = np.array([float(rows.row_weights @ fit.losses) for fit in fits]) - np.log(odds)
    proba = np.exp(losses.min() - losses)
    proba /= proba.sum()
    if proba.max() > CERTAIN:
        return fits[int(np.argmax(proba))]
    pairs = list(zip(proba.tolist(), (fit.combination for fit in fits), strict=True))
    weights = sum(share * one.weights for share, one in pairs)
    offsets = sum(share * one.offsets for share, one in pairs)
    none = max((one.residual_coefficients for _, one in pairs), key=len) * 0.0
    residual = [(share, one.residual_coefficients) for share, one in pairs]
    coefficients = sum((share * found for share, found in residual if len(found)), start=none)
    likely = {one.method for share, one in pairs if share > 1 - CERTAIN}
    mean = Combination(
        likely.pop() if len(likely) == 1 else "auto",
        np.asarray(weights),
        np.asarray(offsets),
        residual_coefficients=coefficients,
    )
    scores = sum(share * fit.scores for share, fit in zip(proba.tolist(), fits, strict=True))
    return evaluate(mean, rows, np.asarray(scores))
