"""Ways of weighing blocks: as they are, by one temperature, a weight each, or corrected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suffice.model.combination import Combination
from suffice.model.combination_fit import SETTLED, Fit
from suffice.model.combination_rows import HeldOutRows, with_features
from suffice.model.feature_rows import FeatureRows
from suffice.model.weighing import Weighing, weighing_of
from suffice.tally.tally import Floats

# The temperature is believed to be near 1 and the offsets near 0, each give or take 1: rows soon
# outweigh that, and few rows that are all right do not make it certain.
TEMPERATURE_SPREAD = 1.0
OFFSET_SPREAD = 1.0


def as_they_are(rows: HeldOutRows) -> Weighing:
    """Return naive Bayes."""
    return _unfitted(rows, Combination.naive(*rows.size[::-1]))


def shares_alone(rows: HeldOutRows) -> Weighing:
    """Return the shares of the classes, whatever the blocks say."""
    classes, blocks = rows.size
    return _unfitted(rows, Combination("shares", np.zeros(blocks), np.zeros(classes)))


def _unfitted(rows: HeldOutRows, found: Combination) -> Weighing:
    unknowns = np.concatenate([found.offsets, found.weights])
    return weighing_of(found, rows, rows.unfitted_scores(unknowns))


def tempered(rows: HeldOutRows, start: Floats | None = None, settled: float = SETTLED) -> Weighing:
    """Return the best temperature and offsets."""
    classes, blocks = rows.size
    fit = Fit(rows.as_one(), *prior_of(classes, 1, 0.0), settled, weights_of(classes, 1))
    point = fit.climbed(fit.centre if start is None else start)
    found = Combination(
        "temperature", np.full(blocks, point.unknowns[-1]), point.unknowns[:classes]
    )
    return replace(weighing_of(found, rows, fit.left_out_scores(point)), fit=fit, point=point)


def weighed(
    rows: HeldOutRows, spread: float, start: Floats | None = None, settled: float = SETTLED
) -> Weighing:
    """Return the best weight for each block and offsets, for a spread of the weights."""
    classes, blocks = rows.size
    prior = prior_of(classes, blocks, spread)
    fit = Fit(rows, *prior, settled, weights_of(classes, blocks))
    point = fit.climbed(fit.centre if start is None else start)
    weights = Combination(
        "blocks", point.unknowns[classes:], point.unknowns[:classes], spread=spread
    )
    return replace(weighing_of(weights, rows, fit.left_out_scores(point)), fit=fit, point=point)


def corrected(
    rows: HeldOutRows,
    features: FeatureRows,
    spread: float,
    correction_spread: float,
    start: Floats | None = None,
    settled: float = SETTLED,
) -> Weighing:
    """Return the best weights, offsets and corrections, (F, C), for spreads of both.

    With a spread of 0 all blocks have one weight.
    """
    classes, blocks = rows.size
    held = rows if spread > 0 else rows.as_one()
    found = with_features(held, features)
    weights = held.size[1]
    unknown = found.size[1] - weights
    centre, precision = prior_of(classes, weights, spread)
    wide = np.diag(np.full(classes + weights + unknown, correction_spread**-2.0))
    wide[: classes + weights, : classes + weights] = precision
    centre = np.concatenate([centre, np.zeros(unknown)])
    positive = np.concatenate([weights_of(classes, weights), np.zeros(unknown, np.bool_)])
    fit = Fit(found, centre, wide, settled, positive)
    point = fit.climbed(centre if start is None else start)
    plain = Combination(
        "corrected",
        np.ones(blocks),
        np.zeros(classes),
        spread=spread,
        corrections=np.zeros((features.width, classes)),
        correction_spread=correction_spread,
    )
    scores = fit.left_out_scores(point)
    weighing = weighing_of(plain.having(point.unknowns), rows, scores)
    return replace(weighing, fit=fit, point=point)


def weights_of(classes: int, blocks: int) -> NDArray[np.bool_]:
    """Say which unknowns are weights, (C + K,): they are 0 or more.

    A block that speaks against itself in held-out rows does so because a fold lacks just these
    rows: of a class's rows with some level, those of the fold are missing in what is said of them.
    """
    return np.arange(classes + blocks) >= classes


def prior_of(classes: int, blocks: int, spread: float) -> tuple[Floats, Floats]:
    """Return mean and precision of offsets and weights before the rows.

    Weights are normal around a temperature that is normal around 1; with the temperature
    integrated out their covariance is spread^2 I + TEMPERATURE_SPREAD^2 1 1^T. One weight is the
    temperature itself if its spread is 0.
    """
    centre = np.concatenate([np.zeros(classes), np.ones(blocks)])
    precision = np.diag(np.full(classes + blocks, OFFSET_SPREAD**-2.0))
    common = TEMPERATURE_SPREAD**2
    if spread == 0:
        precision[classes:, classes:] = np.eye(1) / common
        return centre, precision
    shared = common / (spread**2 + blocks * common)
    precision[classes:, classes:] = (np.eye(blocks) - shared) / spread**2
    return centre, precision
