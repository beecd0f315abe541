"""The weights of blocks under which left-out rows' own classes are most probable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv

from suffice.model.combination_rows import FittedRows
from suffice.tally.tally import Floats

# Steps of Newton's method: a few suffice, since the problem is concave in few unknowns.
MAX_STEPS = 50
# The gain of a step, in nats for all rows together and relative to the log-likelihood, below which
# there is nothing left to gain, or nothing but rounding; and one that will do for comparisons.
SETTLED, ROUNDING, NEARLY = 1e-10, 1e-12, 0.1
MOST_HALVINGS = 40
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
    """

    rows: FittedRows
    centre: Floats
    precision: Floats
    settled: float = SETTLED

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
        now = self.at(start)
        for _ in range(MAX_STEPS):
            step = now.newton_step()
            if float(step @ now.slope) <= max(self.settled, ROUNDING * abs(now.value)):
                break
            length = 1.0
            for _ in range(MOST_HALVINGS):
                tried = self.at(now.unknowns + length * step)
                if tried.value > now.value:
                    break
                length /= 2
            else:
                break
            now = tried
        return now

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
