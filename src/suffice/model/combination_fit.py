"""The weights of blocks under which left-out rows' own classes are most probable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from suffice.kernels.combination import add_combination, write_scores
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.model.combination import lapsed
from suffice.tally.tally import Floats

# Steps of Newton's method: a few suffice, since the problem is concave in few unknowns.
MAX_STEPS = 50
# The gain of a step, in nats for all rows together, below which there is nothing left to gain.
SETTLED = 1e-8
MOST_HALVINGS = 40
# Rows whose leverages are computed together.
LEVERAGE_ROWS = 4096


class Point(NamedTuple):
    """Offsets and weights (C + K,), and the log posterior there with its derivatives."""

    unknowns: Floats
    value: float
    slope: Floats
    curvature: Floats


@dataclass(frozen=True, eq=False)
class LeftOutParts:
    """What blocks say of rows that they have not learned.

    Parameters
    ----------
    base : (n, C)
        Log prior of the classes without the row.
    parts : (n, C, K)
        Log-likelihoods by class and block.
    codes : (n,)
        The rows' own classes.
    mass : (n,)
        Weights of the rows.
    """

    base: Floats
    parts: Floats
    codes: NDArray[np.int32]
    mass: Floats

    @property
    def size(self) -> tuple[int, int]:
        """Classes and blocks."""
        return int(self.parts.shape[1]), int(self.parts.shape[2])

    def as_one(self) -> LeftOutParts:
        """Return the same with all blocks added up to one."""
        total = np.ascontiguousarray(self.parts.sum(axis=2)[:, :, None])
        return LeftOutParts(self.base, total, self.codes, self.mass)

    def scores(self, unknowns: Floats) -> Floats:
        """Return the scores of all rows under offsets and weights (C + K,), (n, C)."""
        classes, _ = self.size
        out = np.empty(self.base.shape)

        def work(start: int, stop: int) -> None:
            here = slice(start, stop)
            write_scores(
                self.parts[here], self.base[here], unknowns[:classes], unknowns[classes:], out[here]
            )

        on_all_cores(work, self._ranges())
        return out

    def sums(self, unknowns: Floats, *, curvature: bool = True) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient and minus its Hessian."""
        classes, blocks = self.size
        size = classes + blocks

        def work(start: int, stop: int) -> tuple[Floats, Floats, Floats]:
            here = slice(start, stop)
            found = np.zeros(1), np.zeros(size), np.zeros((size, size) if curvature else (0, 0))
            rows = self.parts[here], self.base[here], self.codes[here], self.mass[here]
            add_combination(*rows, unknowns[:classes], unknowns[classes:], *found)
            return found

        facts, slope, bent = (sum(part) for part in zip(*on_all_cores(work, self._ranges()), strict=True))
        if curvature:
            bent[:classes, classes:] = bent[classes:, :classes].T
        return -float(facts[0]), slope, bent

    def _ranges(self) -> list[tuple[int, int]]:
        return row_ranges(len(self.codes), self.parts.shape[1] * max(1, self.parts.shape[2]))


@dataclass(frozen=True, eq=False)
class Fit:
    """The best offsets and weights under a normal prior, by Newton's method with a line search.

    Parameters
    ----------
    rows : LeftOutParts
    centre : (C + K,)
        Mean of the prior.
    precision : (C + K, C + K)
        Inverse covariance of the prior.
    """

    rows: LeftOutParts
    centre: Floats
    precision: Floats

    def at(self, unknowns: Floats) -> Point:
        """Return the log posterior, up to a constant, and its derivatives."""
        value, slope, curvature = self.rows.sums(unknowns)
        away = unknowns - self.centre
        pull = self.precision @ away
        return Point(
            unknowns, value - float(away @ pull) / 2, slope - pull, curvature + self.precision
        )

    def climbed(self, start: Floats) -> Point:
        """Return the maximum, from `start` on."""
        now = self.at(start)
        for _ in range(MAX_STEPS):
            step = cho_solve(cho_factor(now.curvature), now.slope)
            if float(step @ now.slope) <= SETTLED:
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

    def left_out_scores(self, point: Point) -> Floats:
        """Return the scores of each row, (n, C), under weights fitted without the row.

        One step of Newton's method from all rows to all but one, with the curvature of the others
        (docs: mathematics, section 10).
        """
        scores = self.rows.scores(point.unknowns)
        # cholesky() gives U with curvature = U^T U
        upper = np.linalg.cholesky(point.curvature).T
        for low in range(0, len(scores), LEVERAGE_ROWS):
            here = slice(low, low + LEVERAGE_ROWS)
            scores[here] -= self._shift(scores[here], here, upper)
        return scores

    def _shift(self, scores: Floats, here: slice, upper: Floats) -> Floats:
        classes, _ = self.rows.size
        parts, codes, mass = self.rows.parts[here], self.rows.codes[here], self.rows.mass[here]
        n = len(codes)
        ones = np.broadcast_to(np.eye(classes), (n, classes, classes))
        lines = np.concatenate([ones, parts], axis=2).reshape(n * classes, -1)
        half = solve_triangular(upper, lines.T, trans="T", check_finite=False)
        half = half.T.reshape(n, classes, -1)
        leverage = half @ half.transpose(0, 2, 1)
        log_proba = lapsed(scores - _log_total(scores), 0.0)
        shares = np.exp(log_proba)
        bent = -shares[:, :, None] * shares[:, None, :]
        bent[:, np.arange(classes), np.arange(classes)] += shares
        bent *= mass[:, None, None]
        pull = -shares * mass[:, None]
        pull[np.arange(n), codes] += mass
        # A row of great leverage must not turn its own curvature into less than none.
        hold = np.eye(classes) - bent @ leverage
        return np.asarray((leverage @ np.linalg.solve(hold, pull[:, :, None]))[:, :, 0])


def _log_total(scores: Floats) -> Floats:
    top = scores.max(axis=1, keepdims=True)
    return np.asarray(top + np.log(np.exp(scores - top).sum(axis=1, keepdims=True)))
