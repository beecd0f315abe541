"""Two classes: what blocks say of rows is one number each, the difference of the classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.logistic.binary import add_contrast, write_leverages
from suffice.kernels.logistic.binary_sparse import (
    add_sparse_contrast,
    write_sparse_leverages,
    write_sparse_margins,
)
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


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """W features of each of n rows, of m that there are; the others are 0.

    Parameters
    ----------
    at : (n, W)
        Their numbers, increasing along a row.
    values : (n, W)
        A value of 0 may stand at any number.
    width : int
        m.

    Examples
    --------
    >>> at = np.array([[0, 2], [1, 2]], np.uint32)
    >>> FeatureRows(at, np.array([[1.0, 5.0], [1.0, 0.0]]), 3).dense()
    array([[1., 0., 5.],
           [0., 1., 0.]])
    """

    at: NDArray[np.uint32]
    values: Floats
    width: int

    def __len__(self) -> int:
        return len(self.at)

    def some(self, numbers: NDArray[Any]) -> Self:
        """Return the rows of these numbers, or of this mask."""
        return type(self)(self.at[numbers], self.values[numbers], self.width)

    def dense(self) -> Floats:
        """Return all features, (n, m)."""
        out = np.zeros((len(self.at), self.width))
        rows = np.arange(len(self.at))[:, None]
        # Zeros may stand where another feature does.
        np.add.at(out, (rows, self.at), self.values)
        return out


OFFSETS = 2


@dataclass(frozen=True, eq=False)
class SparseContrast:
    """Rows of two classes whose margins are base + u_1 - u_0 + features w: sparse `Contrast`.

    Parameters
    ----------
    features : FeatureRows
        The first is 1 in every row: it carries the offsets.
    base : (n,)
    codes : (n,)
        The rows' own classes.
    mass : (n,)
        Weights of the rows.
    """

    features: FeatureRows
    base: Floats
    codes: NDArray[np.int32]
    mass: Floats

    @classmethod
    def of(cls, lines: Floats, features: FeatureRows, *rows: Any) -> Self:
        """Return rows of K blocks (n, K) and features; then base, codes and mass."""
        size, blocks = lines.shape
        at = np.arange(1 + blocks, dtype=np.uint32)
        every = np.concatenate(
            [np.broadcast_to(at, (size, 1 + blocks)), features.at + np.uint32(1 + blocks)], axis=1
        )
        values = np.concatenate([np.ones((size, 1)), lines, features.values], axis=1)
        width = 1 + blocks + features.width
        return cls(FeatureRows(np.ascontiguousarray(every), values, width), *rows)

    @property
    def size(self) -> tuple[int, int]:
        """Classes, and unknowns beside the offsets."""
        return OFFSETS, self.features.width - 1

    def margins(self, unknowns: Floats) -> Floats:
        """Return the margin of every row, (n,), under offsets and weights (2 + m,)."""
        out = np.empty(len(self.base))
        found = self.features
        write_sparse_margins(found.at, found.values, self.base, _joined(unknowns), out)
        return out

    def scores(self, unknowns: Floats) -> Floats:
        """Return the scores of all rows, (n, 2); those of the first class are 0."""
        return scores_of(self.margins(unknowns))

    def sums(self, unknowns: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient and minus its Hessian."""
        size = self.features.width
        second = self.codes.astype(np.float64)
        weights = _joined(unknowns)

        def work(start: int, stop: int) -> tuple[Floats, Floats, Floats]:
            here = slice(start, stop)
            found = np.zeros(1), np.zeros(size), np.zeros((size, size))
            at, values = self.features.at[here], self.features.values[here]
            rows = self.base[here], second[here], self.mass[here]
            add_sparse_contrast(at, values, *rows, weights, *found)
            return found

        value, slope, curvature = added_up(on_all_cores(work, self._ranges()))
        # What goes to one of the offsets comes from the other.
        slope = np.concatenate([-slope[:1], slope])
        curvature = np.concatenate([-curvature[:1], curvature])
        return value, slope, np.concatenate([-curvature[:, :1], curvature], axis=1)

    def left_out_scores(self, unknowns: Floats, lower: Floats) -> Floats:
        """Return the scores, (n, 2), under unknowns that were fitted without the row."""
        # Entries of the inverse: solving for the few features of each row would be a solve a row.
        root = np.linalg.inv(lower)
        root = np.concatenate([root[:, 1:2] - root[:, :1], root[:, OFFSETS:]], axis=1)
        far = np.empty(len(self.base))
        write_sparse_leverages(self.features.at, self.features.values, root.T @ root, far)
        return scores_of(left_out_margins(self.margins(unknowns), far, self.codes, self.mass))

    def _ranges(self) -> list[tuple[int, int]]:
        return row_ranges(*self.features.at.shape)

    @cached_property
    def lines(self) -> Floats:
        """All features but the first, (n, m)."""
        return self.features.dense()[:, 1:]


def _joined(unknowns: Floats) -> Floats:
    """Return the weights (1 + m,) of the features, given two offsets and m weights."""
    return np.concatenate([unknowns[1:2] - unknowns[:1], unknowns[OFFSETS:]])
