"""What rows say of softmax weights: loss, gradient and curvature, on all cores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from suffice.count.runs import pieces, ranges_with_sums
from suffice.data.rows import Rows
from suffice.kernels.logistic.softmax import add_dense_softmax, tiles_of
from suffice.kernels.logistic.softmax_sparse import add_chunked_softmax, add_sparse_softmax
from suffice.kernels.ranges import on_all_cores
from suffice.tally.tally import Floats

# Above this share of stored cells CSR rows are quicker made dense, a chunk at a time.
CROWDED = 0.25


class Sums(NamedTuple):
    """What the rows add up to at some weights."""

    loss: float
    """- sum_i w_i log p(y_i | x_i)."""
    worst: float
    """The greatest - log p(y_i | x_i) of a row that has weight."""
    gradient: Floats
    """(K, width)."""
    curvature: Floats | None
    """(K, width, K, width), or None if it was not asked for."""


@dataclass(frozen=True)
class SoftmaxRows:
    """Rows, measured from `centre` in units of 1 / `inverse`, and the classes they have.

    Weights V (K, width) are of the first K = C - 1 classes; the last class has weight 0. With an
    intercept width is d + 1, and its column is the last (docs: mathematics, section 5).

    Parameters
    ----------
    rows : Rows of C classes, without gaps
    centre, inverse : (d,)
        An inverse of 0 leaves a column out.
    intercept : bool
    """

    rows: Rows
    centre: Floats
    inverse: Floats
    intercept: bool

    @property
    def free(self) -> int:
        """How many weight vectors there are, K."""
        return self.rows.classes - 1

    @property
    def width(self) -> int:
        """Columns and the intercept."""
        return len(self.centre) + self.intercept

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.rows.weights.sum()) if self.rows.weights.size else float(len(self))

    def __len__(self) -> int:
        return self.rows.shape[0]

    def sums(self, V: Floats, thin: int = 0) -> Sums:
        """Add up the rows at V; the curvature only of every `thin`-th chunk of them, if any.

        What a part of the rows says of the curvature is scaled up to all of them.
        """
        if thin == 0 and self.rows.sparse and not self._crowded() and not self.centre.any():
            return self._by_stored_cells(V)
        return self._by_chunks(V, thin)

    def _crowded(self) -> bool:
        rows, columns = self.rows.shape
        return bool(self.rows.X.nnz > CROWDED * rows * columns)

    def _by_chunks(self, V: Floats, thin: int) -> Sums:
        tiles, tile = tiles_of(self.width)
        free, filled = self.free, tiles * tile
        padded = np.zeros((free, filled))
        padded[:, : self.width] = V
        tiled = np.ascontiguousarray(padded.reshape(free, tiles, tile).transpose(1, 0, 2))
        pairs = free * (free + 1) // 2 if thin else 0
        shape = pairs, tiles * (tiles + 1) // 2, tile, tile
        add = add_chunked_softmax if self.rows.sparse else add_dense_softmax

        def work(start: int, stop: int) -> tuple[Floats, Floats, Floats]:
            facts, gradient, blocks = np.zeros(3), np.zeros((tiles, free, tile)), np.zeros(shape)
            for first, last in pieces(start, stop, self.rows.shape[1]):
                terms = self.centre, self.inverse, tiled, self.intercept, max(thin, 1)
                add(*self._range(first, last), *terms, facts, gradient, blocks)
            return facts, gradient, blocks

        held = int(np.prod(shape)) + 2 * tiled.size
        facts, gradient, blocks = _added(work, ranges_with_sums(*self.rows.shape, held))
        whole = gradient.transpose(1, 0, 2).reshape(free, filled)[:, : self.width]
        curvature = None
        if thin:
            blocks *= self.total / facts[2]
            curvature = _assembled(blocks, free, tiles, tile)[:, : self.width, :, : self.width]
        return Sums(float(facts[0]), float(facts[1]), np.ascontiguousarray(whole), curvature)

    def _by_stored_cells(self, V: Floats) -> Sums:
        free, columns = self.free, len(self.centre)
        table = np.ascontiguousarray((V[:, :columns] * self.inverse).T)
        bias = V[:, columns].copy() if self.intercept else np.zeros(free)

        def work(start: int, stop: int) -> tuple[Floats, Floats, Floats]:
            facts, gradient, level = np.zeros(3), np.zeros((columns, free)), np.zeros(free)
            terms = table, bias, facts, gradient, level
            add_sparse_softmax(*self._range(start, stop), *terms)
            return facts, gradient, level

        # A range is as long as its stored cells, of which a row has few.
        stored = max(1, self.rows.X.nnz // max(1, len(self)))
        tasks = ranges_with_sums(len(self), stored + free, columns * free)
        facts, gradient, level = _added(work, tasks)
        whole = gradient.T * self.inverse
        if self.intercept:
            whole = np.column_stack([whole, level])
        return Sums(float(facts[0]), float(facts[1]), whole, None)

    def _range(self, start: int, stop: int) -> tuple[Any, ...]:
        """Return some rows, their classes and their weights, as the kernels take them."""
        rows = self.rows
        told = rows.codes[start:stop], rows.weights_of(start, stop)
        if not rows.sparse:
            return rows.dense(start, stop), *told
        ends = rows.X.indptr[start : stop + 1]
        stored = slice(ends[0], ends[-1])
        return rows.X.data[stored], rows.X.indices[stored], ends - ends[0], *told


def _added(work: Any, tasks: list[tuple[int, int]]) -> tuple[Floats, Floats, Floats]:
    """Add up what the ranges say; the greatest loss of a row is the greatest of theirs."""
    first, *others = on_all_cores(work, tasks)
    facts, gradient, rest = first
    for part in others:
        worst = max(facts[1], part[0][1])
        facts += part[0]
        facts[1] = worst
        gradient += part[1]
        rest += part[2]
    return facts, gradient, rest


def _assembled(blocks: Floats, free: int, tiles: int, tile: int) -> Floats:
    """Return the whole matrix, (K, filled, K, filled), of which the blocks are a part."""
    whole = np.zeros((free, tiles, tile, free, tiles, tile))
    block = 0
    for k in range(free):
        for other in range(k + 1):
            pair = 0
            for a in range(tiles):
                for b in range(a + 1):
                    part = blocks[block, pair]
                    # x x^T has its tile (b, a) from (a, b); so has the pair of classes.
                    whole[k, a, :, other, b, :] = whole[other, a, :, k, b, :] = part
                    whole[k, b, :, other, a, :] = whole[other, b, :, k, a, :] = part.T
                    pair += 1
            block += 1
    return whole.reshape(free, tiles * tile, free, tiles * tile)


LOG_2 = float(np.log(2.0))


class Point(NamedTuple):
    """The objective at some weights V."""

    V: Floats
    value: float
    worst: float
    gradient: Floats
    """(K, width)."""
    curvature: Floats | None
    """(K width, K width)."""


class Found(NamedTuple):
    """Where a solver ended."""

    point: Point
    curvature: Floats | None
    """(K width, K width) at the optimum, or as near to it as the last step was short."""
    losses: list[float]
    iterations: int
    converged: bool
    distance: float
    """How far the optimum was at the last look, in the terms of the solver's `tol`."""
    step: Floats
    """The last step, (K, width)."""


@dataclass(frozen=True)
class Objective:
    """F(V) = - sum_i w_i log p(y_i | x_i) + (penalty / 2) |W|^2 (docs: mathematics, section 5).

    V holds the C - 1 differences from the last class's weights. Over all C vectors that have these
    differences |W|^2 is least where they add up to 0, and is then the sum over k, l of
    (1{k=l} - 1/C) v_k . v_l: so the optimum of all C vectors is found in C - 1 of them.

    Parameters
    ----------
    rows : SoftmaxRows
    penalty : float
        1 / s^2 of the prior W ~ N(0, s^2 I) in the columns' own units; 0 is none.
    symmetric : bool
        Whether |W|^2 is of all C vectors, or of the C - 1 differences themselves.
    """

    rows: SoftmaxRows
    penalty: float
    symmetric: bool

    @property
    def between(self) -> Floats:
        """(K, K): how the penalty couples the vectors."""
        free = self.rows.free
        return np.eye(free) - (1.0 / (free + 1) if self.symmetric else 0.0)

    @property
    def along(self) -> Floats:
        """(width,): how much the penalty weighs each column, in the units of the rows."""
        squares = self.penalty * np.square(self.rows.inverse)
        return np.append(squares, 0.0) if self.rows.intercept else np.asarray(squares)

    def at(self, V: Floats, thin: int = 0) -> Point:
        """Return the objective at V, with its curvature if `thin` is not 0."""
        sums = self.rows.sums(V, thin)
        pull = self.between @ V * self.along
        value = sums.loss + 0.5 * float((pull * V).sum())
        curvature = None
        if sums.curvature is not None:
            at = np.arange(self.rows.width)
            # A column that is left out has no gradient; a curvature keeps the matrix regular.
            along = self.along
            along[: len(self.rows.inverse)][self.rows.inverse == 0] = 1.0
            sums.curvature[:, at, :, at] += along[:, None, None] * self.between
            curvature = sums.curvature.reshape(V.size, V.size)
        return Point(V, value, sums.worst, sums.gradient + pull, curvature)

    def at_infinity(self, point: Point, tol: float) -> bool:
        """Say whether larger weights are better without end, and hardly better any more.

        If every row's own class has more than half of its probability, the classes are separated,
        and any multiple of the weights fits better still.
        """
        flat = np.abs(point.gradient).max(initial=0.0) <= tol * self.rows.total
        return bool(self.penalty == 0 and point.worst < LOG_2 and flat)

    def isometry(self) -> Floats:
        """Return M (K, K): in theta with V = M theta the penalty is |theta|^2.

        Descent along the gradient in theta is descent in all C vectors, which keeps their sum.
        """
        root = np.linalg.cholesky(self.between)
        identity = np.eye(len(root))
        return np.asarray(solve_triangular(root, identity, lower=True, trans="T"))

    def class_shares_only(self, weights: Floats) -> tuple[Floats, float]:
        """Return the V that tells the classes' shares of `weights` (C,) alone, and its value.

        Without an intercept V is 0.
        """
        V = np.zeros((self.rows.free, self.rows.width))
        logs = np.full(len(weights), -np.log(len(weights)))
        if self.rows.intercept:
            logs = np.log(class_shares(weights, len(self.rows)))
            V[:, -1] = logs[:-1] - logs[-1]
        return V, float(-(weights * logs).sum())


def class_shares(weights: Floats, rows: int) -> Floats:
    """Return the classes' shares of the weight of all rows, (C,).

    A class whose rows have no weight gets that of one row, so that it has a share to start from.
    """
    filled = np.where(weights > 0, weights, weights.sum() / rows)
    return np.asarray(filled / filled.sum())
