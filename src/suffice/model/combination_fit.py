"""The weights of blocks under which left-out rows' own classes are most probable."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from suffice.data.rows import evenly
from suffice.kernels.combination import add_combination, write_left_out, write_scores
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.model.contrast import Contrast
from suffice.tally.tally import Floats

# Steps of Newton's method: a few suffice, since the problem is concave in few unknowns.
MAX_STEPS = 50
# The gain of a step, in nats for all rows together and relative to the log-likelihood, below which
# there is nothing left to gain, or nothing but rounding; and one that will do for comparisons.
SETTLED, ROUNDING, NEARLY = 1e-10, 1e-12, 0.1
MOST_HALVINGS = 40
# Nats from which on what classes have in common is taken off, and from which on down a class is as
# good as impossible.
LARGE, IMPOSSIBLE = 1e6, -1e9
TWO = 2


class Point(NamedTuple):
    """Offsets and weights (C + K,), and the log posterior there with its derivatives."""

    unknowns: Floats
    value: float
    slope: Floats
    curvature: Floats


def apart(said: Floats) -> Floats:
    """Return log-likelihoods (n, C), less what all classes have in common where they are large.

    Beside a common part of 1e20 nothing is left that tells classes apart, and what is infinite
    says nothing; a class that is impossible by then is as good as impossible.

    Examples
    --------
    >>> apart(np.array([[-1e8, -1e8 - 2.0], [-np.inf, -np.inf], [0.0, -np.inf]])).tolist()
    [[0.0, -2.0], [0.0, 0.0], [0.0, -1000000000.0]]
    """
    if np.abs(said).max(initial=0.0) < LARGE:
        return said
    top = said.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        left = np.where(np.isfinite(top), said - top, 0.0)
    return np.asarray(np.maximum(left, IMPOSSIBLE))


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
    whole : (C,), optional
        Log prior of the classes with all rows.
    """

    base: Floats
    parts: Floats
    codes: NDArray[np.int32]
    mass: Floats
    whole: Floats | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Classes and blocks."""
        return int(self.parts.shape[1]), int(self.parts.shape[2])

    @cached_property
    def _contrast(self) -> Contrast | None:
        """The same rows if there are two classes: their difference is all that is needed."""
        if self.parts.shape[1] != TWO:
            return None
        return Contrast.of(self.base, self.parts, self.codes, self.mass)

    def few(self, most: int) -> LeftOutParts:
        """Return at most so many rows, at equal distances."""
        if len(self.codes) <= most:
            return self
        return self.some(evenly(len(self.codes), most))

    def some(self, at: NDArray[Any]) -> LeftOutParts:
        """Return the rows at these numbers, or of this mask."""
        kept = self.base[at], self.parts[at], self.codes[at], self.mass[at]
        return LeftOutParts(*kept, self.whole)

    @cached_property
    def under_all(self) -> LeftOutParts:
        """Return the same under the prior of all rows, if it is known.

        A fit of offsets takes the row out of them: a prior without it would lose it twice.
        """
        if self.whole is None:
            return self
        base = np.repeat(self.whole[None], len(self.codes), axis=0)
        return replace(self, base=base, whole=None)

    def as_one(self) -> LeftOutParts:
        """Return the same with all blocks added up to one."""
        total = np.ascontiguousarray(self.parts.sum(axis=2)[:, :, None])
        return replace(self, parts=total)

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

    def left_out_scores(self, unknowns: Floats, lower: Floats) -> Floats:
        """Return the scores (n, C) under offsets and weights that were fitted without the row.

        A number that all classes of a row have in common is left open.

        `lower` is the Cholesky factor of the curvature of the log posterior.
        """
        out = np.zeros(self.base.shape)
        if self._contrast is not None:
            out[:, 1] = self._contrast.left_out(unknowns, lower)
            return out
        scores = self.scores(unknowns)

        def work(start: int, stop: int) -> None:
            here = slice(start, stop)
            rows = self.parts[here], lower, self.codes[here], self.mass[here]
            write_left_out(*rows, scores[here], out[here])

        on_all_cores(work, self._ranges())
        return out

    def sums(self, unknowns: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient and minus its Hessian."""
        if self._contrast is not None:
            return self._contrast.sums(unknowns)
        classes, blocks = self.size
        size = classes + blocks

        def work(start: int, stop: int) -> tuple[Floats, Floats, Floats]:
            here = slice(start, stop)
            found = np.zeros(1), np.zeros(size), np.zeros((size, size))
            rows = self.parts[here], self.base[here], self.codes[here], self.mass[here]
            add_combination(*rows, unknowns[:classes], unknowns[classes:], *found)
            return found

        found = zip(*on_all_cores(work, self._ranges()), strict=True)
        facts, slope, curvature = (np.sum(part, axis=0) for part in found)
        curvature[:classes, classes:] = curvature[classes:, :classes].T
        return -float(facts[0]), slope, curvature

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
    settled : float
        The gain of a step, in nats for all rows, that ends the climb.
    """

    rows: LeftOutParts
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
            step = cho_solve(cho_factor(now.curvature), now.slope)
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
        return now.value + float(now.slope @ cho_solve(cho_factor(now.curvature), now.slope)) / 2

    def left_out_scores(self, point: Point) -> Floats:
        """Return the scores of each row, (n, C), under weights fitted without the row.

        One step of Newton's method from all rows to all but one, with the curvature of the others
        (docs: mathematics, section 10).
        """
        lower = np.linalg.cholesky(point.curvature)
        return self.rows.left_out_scores(point.unknowns, np.ascontiguousarray(lower, np.float64))
