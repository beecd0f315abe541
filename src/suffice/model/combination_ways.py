"""Ways of weighing blocks: as they are, by one temperature, a weight each, or corrected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.model.combination import Combination
from suffice.model.combination_fit import SETTLED, Fit, Point
from suffice.model.combination_rows import LeftOutRows, featured_rows
from suffice.model.feature_rows import FeatureRows
from suffice.model.weighing import Weighing, weighing_of
from suffice.tally.tally import Floats

# The temperature is believed to be near 1 and the offsets near 0, each give or take 1: rows soon
# outweigh that, and few rows that are all right do not make it certain.
TEMPERATURE_SPREAD = 1.0
OFFSET_SPREAD = 1.0
# The precision of unknowns that stay as they are: beside it all others are nothing.
HELD = 1e200


def as_they_are(rows: LeftOutRows) -> Weighing:
    """Return naive Bayes."""
    classes, blocks = rows.size
    naive = Combination.naive(blocks, classes)
    scores = rows.scores(np.concatenate([naive.offsets, naive.weights]))
    return weighing_of(naive, rows, scores)


def tempered(rows: LeftOutRows, start: Floats | None = None, settled: float = SETTLED) -> Weighing:
    """Return the best temperature and offsets."""
    classes, blocks = rows.size
    rows = rows.under_all
    centre = np.concatenate([np.zeros(classes), [1.0]])
    scale = np.concatenate([np.full(classes, OFFSET_SPREAD), [TEMPERATURE_SPREAD]])
    fit = Fit(rows.as_one(), centre, np.diag(scale**-2.0), settled)
    point = fit.climbed(centre if start is None else start)
    found = Combination(
        "temperature", np.full(blocks, point.unknowns[-1]), point.unknowns[:classes]
    )
    return replace(weighing_of(found, rows, fit.left_out_scores(point)), fit=fit, point=point)


def weighed(
    rows: LeftOutRows, spread: float, start: Floats | None = None, settled: float = SETTLED
) -> Weighing:
    """Return the best weight for each block and offsets, for a spread of the weights."""
    classes, blocks = rows.size
    rows = rows.under_all
    fit = Fit(rows, *prior_of(classes, blocks, spread), settled)
    point = fit.climbed(fit.centre if start is None else start)
    weights = Combination(
        "blocks", point.unknowns[classes:], point.unknowns[:classes], spread=spread
    )
    return replace(weighing_of(weights, rows, fit.left_out_scores(point)), fit=fit, point=point)


def corrected(
    rows: LeftOutRows,
    features: FeatureRows,
    before: Weighing,
    spread: float,
    start: Point | None = None,
    settled: float = SETTLED,
) -> Weighing:
    """Return the best corrections of a spread, (F, C), to what is said of left-out rows.

    Weights and offsets stay. With weights free, features could tell a row's level, and what the
    level's left-out log-likelihood lacks would betray the row's own class; and left-out scores
    have paid for offsets already.
    """
    base = before.scores - before.combination.offsets
    found = featured_rows(rows, base, features)
    classes, unknown = found.size
    centre = np.concatenate([before.combination.offsets, np.zeros(unknown)])
    precision = np.concatenate([np.full(classes, HELD), np.full(unknown, spread**-2.0)])
    fit = Fit(found, centre, np.diag(precision), settled)
    first = np.zeros(unknown) if start is None else start.unknowns[classes:]
    point = fit.climbed(np.concatenate([before.combination.offsets, first]))
    none = np.zeros((features.width, classes))
    changed = replace(
        before.combination, how="corrected", corrections=none, correction_spread=spread
    )
    weighing = weighing_of(changed.having(point.unknowns), rows, fit.left_out_scores(point))
    return replace(weighing, fit=fit, point=point, before=before)


def prior_of(classes: int, blocks: int, spread: float) -> tuple[Floats, Floats]:
    """Return mean and precision of offsets and weights before the rows.

    Weights are normal around a temperature that is normal around 1; with the temperature
    integrated out their covariance is spread^2 I + TEMPERATURE_SPREAD^2 1 1^T.
    """
    centre = np.concatenate([np.zeros(classes), np.ones(blocks)])
    precision = np.diag(np.full(classes + blocks, OFFSET_SPREAD**-2.0))
    common = TEMPERATURE_SPREAD**2
    shared = common / (spread**2 + blocks * common)
    precision[classes:, classes:] = (np.eye(blocks) - shared) / spread**2
    return centre, precision
