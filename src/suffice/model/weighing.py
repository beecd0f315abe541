"""Weights of blocks, and what they are worth on rows left out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

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
    own = log_shares(scores, rows.codes)
    if lapse > 0:
        own = np.logaddexp(own + np.log1p(-lapse), np.log(lapse / scores.shape[1]))
    return np.asarray(-own)


def weighing_of(found: Combination, rows: LeftOutParts, losses: Floats) -> Weighing:
    """Return a combination with the loss of each row (n,), had it been left out."""
    loss = float(rows.mass @ losses / rows.mass.sum())
    return Weighing(replace(found, left_out_log_loss=loss), losses)


def log_shares(scores: Floats, codes: NDArray[np.int32]) -> Floats:
    """Return the log softmax of scores (n, C) at one class of each row, (n,).

    Examples
    --------
    >>> np.exp(log_shares(np.log([[1.0, 3.0], [1.0, 1.0]]), np.array([1, 0])))
    array([0.75, 0.5 ])
    """
    own = scores[np.arange(len(scores)), codes]
    # Class by class, because sums along a short axis are slow.
    columns = scores.T
    top = columns[0].copy()
    for column in columns[1:]:
        np.maximum(top, column, out=top)
    total = np.zeros(len(scores))
    for column in columns:
        total += np.exp(column - top)
    return np.asarray(own - top - np.log(total))
