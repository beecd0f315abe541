"""Weights of blocks, and what they are worth on held-out rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from suffice.model.combination import Combination
from suffice.model.combination_fit import Fit, Point
from suffice.model.combination_rows import HeldOutRows
from suffice.tally.tally import Floats

# So credible a way needs no others beside it.
CERTAIN = 0.99
# How credible the ways are before the rows, all of one kind together: on tables of a few dozen rows
# chance looks like knowledge, and what has more unknowns finds more of it.
BEFORE = {
    "shares": 10.0,
    "naive": 1.0,
    "temperature": 1.0,
    "auto": 1.0,
    "blocks": 0.5,
    "corrected": 0.2,
}
TWO = 2


@dataclass(frozen=True, eq=False)
class Weighing:
    """Fitted weights, with the scores (n, C) and the loss (n,) of each row left out of the fit."""

    combination: Combination
    scores: Floats
    losses: Floats
    fit: Fit | None = None
    point: Point | None = None


def row_losses(rows: HeldOutRows, scores: Floats, lapse: float = 0.0) -> Floats:
    """Return -log p of the rows' own classes, (n,), under scores (n, C)."""
    own = log_shares(scores, rows.codes)
    if lapse > 0:
        own = np.logaddexp(own + np.log1p(-lapse), np.log(lapse / scores.shape[1]))
    return np.asarray(-own)


def weighing_of(
    found: Combination, rows: HeldOutRows, scores: Floats, lapse: float = 0.0
) -> Weighing:
    """Return a combination with the left-out scores of each row (n, C), and what they lose."""
    losses = row_losses(rows, scores, lapse)
    loss = float(rows.mass @ losses / rows.mass.sum())
    return Weighing(replace(found, held_out_log_loss=loss), scores, losses)


def averaged(rows: HeldOutRows, ways: list[Weighing]) -> Weighing:
    """Return the mean of several weighings, each as credible as it makes the held-out rows.

    Where few rows speak for one way against the others by a nat or two, the least loss is a matter
    of luck. A way that is certain is taken as it is.

    Examples
    --------
    >>> from suffice.model.combination_rows import HeldOutParts
    >>> prior = np.zeros((1, 2))
    >>> rows = HeldOutParts(prior, prior, np.zeros((1, 2, 1)), np.array([0]), np.ones(1))
    >>> ways = [Combination("blocks", [w], [0.0, 0.0]) for w in (1.0, 3.0)]
    >>> both = averaged(rows, [weighing_of(way, rows, np.zeros((1, 2))) for way in ways])
    >>> both.combination.weights
    array([2.])
    """
    kinds = Counter(way.combination.how for way in ways)
    before = [BEFORE[way.combination.how] / kinds[way.combination.how] for way in ways]
    losses = np.array([float(rows.mass @ way.losses) for way in ways]) - np.log(before)
    credible = np.exp(losses.min() - losses)
    credible /= credible.sum()
    if credible.max() > CERTAIN:
        return ways[int(np.argmax(credible))]
    pairs = list(zip(credible.tolist(), ways, strict=True))
    weights = sum(share * way.combination.weights for share, way in pairs)
    offsets = sum(share * way.combination.offsets for share, way in pairs)
    none = max((way.combination.corrections for way in ways), key=len) * 0.0
    changed = [(share, way.combination.corrections) for share, way in pairs]
    corrections = sum((share * found for share, found in changed if len(found)), start=none)
    found = {way.combination.how for share, way in pairs if share > 1 - CERTAIN}
    how = found.pop() if len(found) == 1 else "auto"
    mean = Combination(how, np.asarray(weights), np.asarray(offsets), corrections=corrections)
    return weighing_of(mean, rows, np.asarray(sum(share * way.scores for share, way in pairs)))


def log_shares(scores: Floats, codes: NDArray[np.int32]) -> Floats:
    """Return the log softmax of scores (n, C) at one class of each row, (n,).

    Examples
    --------
    >>> np.exp(log_shares(np.log([[1.0, 3.0], [1.0, 1.0]]), np.array([1, 0])))
    array([0.75, 0.5 ])
    """
    if scores.shape[1] == TWO:
        behind = scores[:, 1] - scores[:, 0]
        return -np.logaddexp(0.0, np.where(codes == 1, -behind, behind))
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
