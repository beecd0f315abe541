"""Two classes: what blocks say of rows is one number each, the difference of the classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.contrast import add_contrast, write_leverages
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class Contrast:
    """Rows of two classes, of which only the margin score_1 - score_0 is known.

    The margin is base + offset_1 - offset_0 + lines w, with a weight w for each block.

    Parameters
    ----------
    lines : (n, K)
        What each block says for the second class against the first.
    base : (n,)
        What the prior says for the second class against the first.
    without : (n,)
        The same without the row: what a combination that fits no offsets starts from.
    codes : (n,)
        The rows' own classes.
    mass : (n,)
        Weights of the rows.

    Examples
    --------
    >>> prior, own = np.zeros(1), np.array([1], np.int32)
    >>> rows = Contrast(np.array([[2.0, -1.0]]), prior, prior, own, np.ones(1))
    >>> rows.scores(np.array([0.0, 1.0, 3.0, 2.0]))
    array([[0., 5.]])
    """

    lines: Floats
    base: Floats
    without: Floats
    codes: NDArray[np.int32]
    mass: Floats

    @property
    def size(self) -> tuple[int, int]:
        """Classes and blocks."""
        return 2, int(self.lines.shape[1])

    def some(self, at: NDArray[Any]) -> Self:
        """Return the rows at these numbers, or of this mask."""
        base, without = self.base[at], self.without[at]
        return type(self)(self.lines[at], base, without, self.codes[at], self.mass[at])

    def as_one(self) -> Self:
        """Return the same with all blocks added up to one."""
        return replace(self, lines=self.lines.sum(axis=1, keepdims=True))

    def margins(self, unknowns: Floats) -> Floats:
        """Return the margin of every row, (n,), under offsets and weights (2 + K,)."""
        return np.asarray(self.base + (unknowns[1] - unknowns[0]) + self.lines @ unknowns[2:])

    def scores(self, unknowns: Floats) -> Floats:
        """Return the scores of all rows, (n, 2); those of the first class are 0."""
        return scores_of(self.margins(unknowns))

    def unfitted_scores(self, unknowns: Floats) -> Floats:
        """Return the scores of all rows, (n, 2), under the prior without the row."""
        return scores_of(self.margins(unknowns) + (self.without - self.base))

    def sums(self, unknowns: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient and minus its Hessian."""
        size = len(unknowns)
        second = self.codes.astype(np.float64)

        def work(start: int, stop: int) -> tuple[Floats, Floats, Floats]:
            here = slice(start, stop)
            found = np.zeros(1), np.zeros(size), np.zeros((size, size))
            rows = self.lines[here], self.base[here], second[here], self.mass[here]
            add_contrast(*rows, unknowns, *found)
            return found

        return added_up(on_all_cores(work, self._ranges()))

    def left_out_scores(self, unknowns: Floats, lower: Floats) -> Floats:
        """Return the scores, (n, 2), under unknowns that were fitted without the row.

        One step of Newton's method (docs: mathematics, section 10); `lower` is the Cholesky factor
        of the curvature.
        """
        margins = self.margins(unknowns)
        far = np.empty(len(margins))
        on_all_cores(
            lambda start, stop: write_leverages(self.lines[start:stop], lower, far[start:stop]),
            self._ranges(),
        )
        return scores_of(left_out_margins(margins, far, self.codes, self.mass))

    def _ranges(self) -> list[tuple[int, int]]:
        return row_ranges(len(self.codes), 1 + self.lines.shape[1])


def added_up(parts: list[tuple[Floats, Floats, Floats]]) -> tuple[float, Floats, Floats]:
    """Return the log-likelihood, slope and curvature of losses (1,), slopes and curvatures."""
    (loss, slope, curvature), *others = parts
    for more, steeper, sharper in others:
        loss += more
        slope += steeper
        curvature += sharper
    return -float(loss[0]), slope, curvature


def left_out_margins(margins: Floats, far: Floats, codes: Any, mass: Floats) -> Floats:
    """Return margins (n,) without the row, given its leverage x^T H^-1 x, `far` (n,)."""
    small = np.exp(-np.abs(margins))
    share = np.where(margins >= 0, 1.0, small) / (1.0 + small)
    spread = small / np.square(1.0 + small)
    return np.asarray(margins - far * mass * (codes - share) / (1.0 - mass * spread * far))


def scores_of(margins: Floats) -> Floats:
    """Return scores (n, 2) that differ by these margins (n,); those of the first class are 0."""
    out = np.zeros((len(margins), 2))
    out[:, 1] = margins
    return out
