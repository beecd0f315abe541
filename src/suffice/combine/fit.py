"""The weights of blocks under which held-out rows' own classes are most probable."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from suffice.combine.combination import Combination
from suffice.combine.rows import FittedRows, HeldOutRows
from suffice.tally.tally import Floats

# Steps of Newton's method: a few suffice, since the problem is concave in few unknowns.
MAX_STEPS = 50
# The gain of a step, in nats for all rows together and relative to the log-likelihood, below which
# there is nothing left to gain, or nothing but rounding; and one that will do for comparisons.
SETTLED, ROUNDING, NEARLY = 1e-10, 1e-12, 0.1
MOST_HALVINGS = 40
# The precision of unknowns that stay as they are: beside it all others are nothing.
HELD = 1e200
# Unknowns up to which their equations are solved on one thread.
SMALL = 64


class Point(NamedTuple):
    """Offsets and weights (C + K,), and the log posterior there with its derivatives."""

    unknowns: Floats
    value: float
    slope: Floats
    curvature: Floats

    def newton_step(self) -> Floats:
        """Return the step to the top of the parabola that touches the log posterior here."""
        if len(self.slope) > SMALL:
            # numpy's library, as all else with large matrices: threads of two would be in each
            # other's way.
            return np.asarray(np.linalg.solve(self.curvature, self.slope))
        # LAPACK itself: around systems as small as these, checks take longer than solving.
        _, step, failed = dposv(self.curvature, self.slope)
        if failed:
            raise np.linalg.LinAlgError("the curvature is not positive definite")
        return np.asarray(step)


@dataclass(frozen=True, eq=False)
class Fit:
    """The best offsets and weights under a normal prior, by Newton's method with a line search.

    Parameters
    ----------
    rows : FittedRows
    centre : (C + K,)
        Mean of the prior.
    precision : (C + K, C + K)
        Inverse covariance of the prior.
    settled : float
        The gain of a step, in nats for all rows, that ends the climb.
    positive : (C + K,), optional
        Which unknowns are 0 or more.
    """

    rows: FittedRows
    centre: Floats
    precision: Floats
    settled: float = SETTLED
    positive: NDArray[np.bool_] | None = None

    def log_prior(self, unknowns: Floats) -> float:
        """Return the log density of the prior, up to a constant."""
        away = unknowns - self.centre
        return -float(away @ self.precision @ away) / 2

    def at(self, unknowns: Floats) -> Point:
        """Return the log posterior, up to a constant, and its derivatives."""
        value, slope, curvature = self.rows.sums(unknowns)
        pull = self.precision @ (unknowns - self.centre)
        value += self.log_prior(unknowns)
        return Point(unknowns, value, slope - pull, curvature + self.precision)

    def climbed(self, start: Floats) -> Point:
        """Return the maximum, from `start` on."""
        now = self.held(self.at(self.inside(start)))
        for _ in range(MAX_STEPS):
            step = now.newton_step()
            if self.positive is not None:
                step[np.diagonal(now.curvature) >= HELD] = 0.0
            if float(step @ now.slope) <= max(self.settled, ROUNDING * abs(now.value)):
                break
            length = 1.0
            for _ in range(MOST_HALVINGS):
                tried = self.at(self.inside(now.unknowns + length * step))
                if tried.value > now.value:
                    break
                length /= 2
            else:
                break
            now = self.held(tried)
        return now

    def inside(self, unknowns: Floats) -> Floats:
        """Return the unknowns with 0 for those that may not be below it."""
        if self.positive is None:
            return unknowns
        return np.where(self.positive, np.maximum(unknowns, 0.0), unknowns)

    def held(self, point: Point) -> Point:
        """Return a point that stays at 0 in the unknowns that would go below it."""
        if self.positive is None:
            return point
        stuck = self.positive & (point.unknowns <= 0) & (point.slope <= 0)
        if not stuck.any():
            return point
        at = np.flatnonzero(stuck)
        curvature = point.curvature.copy()
        curvature[at, at] = HELD
        return point._replace(slope=np.where(stuck, 0.0, point.slope), curvature=curvature)

    def promised(self, start: Floats) -> float:
        """Return the log posterior that one step of Newton's method from `start` on promises."""
        now = self.at(start)
        return now.value + float(now.slope @ now.newton_step()) / 2

    def left_out_scores(self, point: Point) -> Floats:
        """Return the scores of each row, (n, C), under weights fitted without the row.

        One step of Newton's method from all rows to all but one, with the curvature of the others
        (docs: mathematics, section 10).
        """
        lower = np.linalg.cholesky(point.curvature)
        return self.rows.left_out_scores(point.unknowns, np.ascontiguousarray(lower, np.float64))


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
    >>> from suffice.combine.rows import HeldOutParts
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
