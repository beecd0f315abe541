"""Two classes: what blocks say of rows is one number each, the difference of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from suffice.kernels.contrast import add_contrast, write_leverages
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class Contrast:
    """Rows of two classes, where only the margin score_1 - score_0 = base + lines u is known.

    The unknowns u are two offsets and K weights.

    Parameters
    ----------
    lines : (n, 2 + K)
        -1, 1, and what each block says for the second class against the first.
    base : (n,)
    second : (n,)
        1 for rows of the second class, 0 for others.
    mass : (n,)
        Weights of the rows.
    """

    lines: Floats
    base: Floats
    second: Floats
    mass: Floats

    @classmethod
    def of(cls, base: Floats, parts: Floats, codes: Any, mass: Floats) -> Self:
        """Return that of log priors (n, 2), log-likelihoods (n, 2, K), classes and weights (n,).

        Examples
        --------
        >>> Contrast.of(np.zeros((1, 2)), np.array([[[1.0, 5.0], [3.0, 4.0]]]), [1], [1.0]).lines
        array([[-1.,  1.,  2., -1.]])
        """
        lines = np.empty((len(parts), 2 + parts.shape[2]))
        lines[:, 0], lines[:, 1] = -1.0, 1.0
        np.subtract(parts[:, 1], parts[:, 0], out=lines[:, 2:])
        second = np.asarray(codes, np.float64)
        return cls(lines, base[:, 1] - base[:, 0], second, np.asarray(mass, np.float64))

    def _ranges(self) -> list[tuple[int, int]]:
        return row_ranges(*self.lines.shape)

    def margins(self, unknowns: Floats) -> Floats:
        """Return the margin of every row, (n,)."""
        return np.asarray(self.base + self.lines @ unknowns)

    def sums(self, unknowns: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient and minus its Hessian."""
        size = self.lines.shape[1]

        def work(start: int, stop: int) -> tuple[Floats, Floats, Floats]:
            here = slice(start, stop)
            found = np.zeros(1), np.zeros(size), np.zeros((size, size))
            rows = self.lines[here], self.base[here], self.second[here], self.mass[here]
            add_contrast(*rows, unknowns, *found)
            return found

        found = zip(*on_all_cores(work, self._ranges()), strict=True)
        loss, slope, curvature = (np.sum(part, axis=0) for part in found)
        return -float(loss[0]), slope, curvature

    def left_out(self, unknowns: Floats, lower: Floats) -> Floats:
        """Return the margins, (n,), under unknowns that were fitted without the row.

        One step of Newton's method (docs: mathematics, section 10); `lower` is the Cholesky factor
        of the curvature. A weight is so many repeats of a row, of which one is left out.
        """
        margins = self.margins(unknowns)
        far = np.empty(len(margins))
        on_all_cores(
            lambda start, stop: write_leverages(self.lines[start:stop], lower, far[start:stop]),
            self._ranges(),
        )
        small = np.exp(-np.abs(margins))
        share = np.where(margins >= 0, 1.0, small) / (1.0 + small)
        spread = small / np.square(1.0 + small)
        out = np.minimum(self.mass, 1.0)
        return np.asarray(margins - far * out * (self.second - share) / (1.0 - out * spread * far))
