"""Weights of blocks, and what they are worth on rows left out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from suffice.model.combination import Combination
from suffice.model.combination_fit import Fit, LeftOutParts, Point
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class Weighing:
    """Fitted weights, and the loss of each row, (n,), had they been fitted without it."""

    combination: Combination
    losses: Floats
    fit: Fit | None = None
    point: Point | None = None


def row_losses(rows: LeftOutParts, scores: Floats, lapse: float = 0.0) -> Floats:
    """Return -log p of the rows' own classes, (n,), under scores (n, C)."""
    top = scores.max(axis=1, keepdims=True)
    total = top[:, 0] + np.log(np.exp(scores - top).sum(axis=1))
    own = scores[np.arange(len(scores)), rows.codes] - total
    if lapse > 0:
        own = np.logaddexp(own + np.log1p(-lapse), np.log(lapse / scores.shape[1]))
    return np.asarray(-own)


def weighing_of(found: Combination, rows: LeftOutParts, losses: Floats) -> Weighing:
    """Return a combination with the loss of each row (n,), had it been left out."""
    loss = float(rows.mass @ losses / rows.mass.sum())
    return Weighing(replace(found, left_out_log_loss=loss), losses)
