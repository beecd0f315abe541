"""The weights of blocks under which held-out rows' own classes are most probable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from suffice.model.combination_rows import FittedRows
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
