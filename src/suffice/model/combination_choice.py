"""Naive Bayes, one temperature or a weight for each block: what foretells left-out rows best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.model.combination import Combination, lapsed
from suffice.model.combination_fit import Fit, LeftOutParts, Point
from suffice.tally.tally import Floats

HOW = ("auto", "naive", "temperature", "blocks")
# Standard deviations of the weights around their common temperature that are tried.
SPREADS = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0)
# The temperature is believed to be near 1 and the offsets near 0, each give or take 1: rows soon
# outweigh that, and few rows that are all right do not make it certain.
TEMPERATURE_SPREAD = 1.0
OFFSET_SPREAD = 1.0
# Steps of EM for a lapse, and the gain, in nats for all rows, that ends them.
LAPSE_STEPS = 20
LAPSE_SETTLED = 1e-3
FIRST_LAPSE = 0.01


def combined(rows: LeftOutParts, how: str = "auto") -> Combination:
    """Return the combination that makes the rows' own classes most probable.

    "auto" takes the one of least log-loss on rows that neither blocks nor weights have learned:
    the blocks' log-likelihoods are exact, the weights' by one step of Newton's method. Among
    weights for blocks, that loss also chooses how far they may be apart. A lapse is believed in
    only if it makes the classes more probable by the price of a further unknown, half the
    logarithm of the rows' weight. Rows whose own class had no other row say nothing.

    Parameters
    ----------
    rows : LeftOutParts
    how : {"auto", "naive", "temperature", "blocks"}
    """
    classes, blocks = rows.size
    naive = Combination.naive(blocks, classes)
    own = rows.base[np.arange(len(rows.codes)), rows.codes]
    kept = np.isfinite(own) & (rows.mass > 0)
    if not kept.any() or blocks == 0:
        return naive
    if not kept.all():
        rows = LeftOutParts(rows.base[kept], rows.parts[kept], rows.codes[kept], rows.mass[kept])
    found = []
    if how in ("auto", "naive"):
        scores = rows.scores(np.concatenate([naive.offsets, naive.weights]))
        found.append(replace(naive, left_out_log_loss=log_loss(rows, scores)))
    if how in ("auto", "temperature") or blocks == 1:
        found.append(_tempered(rows))
    if how in ("auto", "blocks") and blocks > 1:
        found.extend(_weighed(rows))
    return min(found, key=lambda one: one.left_out_log_loss)


def log_loss(rows: LeftOutParts, scores: Floats, lapse: float = 0.0) -> float:
    """Return the mean of -log p of the rows' own classes under scores (n, C)."""
    top = scores.max(axis=1, keepdims=True)
    total = top[:, 0] + np.log(np.exp(scores - top).sum(axis=1))
    own = scores[np.arange(len(scores)), rows.codes] - total
    if lapse > 0:
        own = np.logaddexp(own + np.log1p(-lapse), np.log(lapse / scores.shape[1]))
    return float(-(rows.mass @ own) / rows.mass.sum())


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


def _tempered(rows: LeftOutParts) -> Combination:
    classes, blocks = rows.size
    one = rows.as_one()
    centre = np.concatenate([np.zeros(classes), [1.0]])
    scale = np.concatenate([np.full(classes, OFFSET_SPREAD), [TEMPERATURE_SPREAD]])
    fit = Fit(one, centre, np.diag(scale**-2.0))
    point = fit.climbed(centre)
    return Combination(
        "temperature",
        np.full(blocks, point.unknowns[-1]),
        point.unknowns[:classes],
        left_out_log_loss=log_loss(one, fit.left_out_scores(point)),
    )


def _weighed(rows: LeftOutParts) -> list[Combination]:
    classes, blocks = rows.size
    found = []
    start = prior_of(classes, blocks, 1.0)[0]
    for spread in SPREADS:
        fit = Fit(rows, *prior_of(classes, blocks, spread))
        point = fit.climbed(start)
        start = point.unknowns
        loss = log_loss(rows, fit.left_out_scores(point))
        found.append(
            Combination(
                "blocks",
                point.unknowns[classes:],
                point.unknowns[:classes],
                spread=spread,
                left_out_log_loss=loss,
            )
        )
    return found
