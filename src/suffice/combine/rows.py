"""Rows of held-out folds, and what blocks that have not learned them say of their classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.logistic.combination import add_combination, write_left_out, write_scores
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.logistic.binary import Contrast, FeatureRows, SparseContrast
from suffice.logistic.multiclass import FeaturedClasses
from suffice.tally.tally import Floats

# Nats from which on what classes have in common is taken off, and from which on down a class is as
# good as impossible.
LARGE, IMPOSSIBLE = 1e6, -1e9
TWO = 2
# Features to each of those that a row has, from which on sparse rows are quicker.
FEW_OF_MANY = 2


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
class HeldOutParts:
    """What blocks say of rows by the rows of other folds.

    Parameters
    ----------
    base : (n, C)
        Log prior of the classes.
    without : (n, C)
        The same without the row: what a combination that fits no offsets starts from. One that
        fits them takes the row out of the offsets.
    parts : (n, C, K)
        Log-likelihoods by class and block.
    codes : (n,)
        The rows' own classes.
    mass : (n,)
        Weights of the rows.
    """

    base: Floats
    without: Floats
    parts: Floats
    codes: NDArray[np.int32]
    mass: Floats

    @property
    def size(self) -> tuple[int, int]:
        """Classes and blocks."""
        return int(self.parts.shape[1]), int(self.parts.shape[2])

    def some(self, at: NDArray[Any]) -> Self:
        """Return the rows at these numbers, or of this mask."""
        base, without = self.base[at], self.without[at]
        return type(self)(base, without, self.parts[at], self.codes[at], self.mass[at])

    def as_one(self) -> Self:
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

    def unfitted_scores(self, unknowns: Floats) -> Floats:
        """Return the scores of all rows, (n, C), under the prior without the row."""
        return self.scores(unknowns) + (self.without - self.base)

    def left_out_scores(self, unknowns: Floats, lower: Floats) -> Floats:
        """Return the scores (n, C) under offsets and weights that were fitted without the row.

        A number that all classes of a row have in common is left open.

        `lower` is the Cholesky factor of the curvature of the log posterior.
        """
        out = np.empty(self.base.shape)
        scores = self.scores(unknowns)
        root = np.linalg.inv(lower)
        inverse = np.ascontiguousarray(root.T @ root)

        def work(start: int, stop: int) -> None:
            here = slice(start, stop)
            rows = self.parts[here], inverse, self.codes[here], self.mass[here]
            write_left_out(*rows, scores[here], out[here])

        on_all_cores(work, self._ranges())
        return out

    def sums(self, unknowns: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient and minus its Hessian."""
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


HeldOutRows = HeldOutParts | Contrast
# What a fit needs of rows.
FittedRows = HeldOutRows | SparseContrast | FeaturedClasses


def told_apart(said: Floats) -> Floats:
    """Return what log-likelihoods (n, C) say of the classes: of two, their difference (n,).

    Examples
    --------
    >>> told_apart(np.array([[-1.0, -3.0]])), told_apart(np.array([[-1.0, -3.0, -2.0]]))
    (array([-2.]), array([[-1., -3., -2.]]))
    """
    said = apart(said)
    return said if said.shape[1] != TWO else np.asarray(said[:, 1] - said[:, 0])


def held_out_rows(
    base: Floats,
    without: Floats,
    told: Sequence[Floats],
    codes: NDArray[np.int32],
    mass: Floats,
) -> HeldOutRows:
    """Return rows, given log priors and what each of K blocks says of them (`told_apart`).

    See `HeldOutParts`.
    """
    if base.shape[1] != TWO:
        parts = np.stack(told, axis=2) if told else np.empty((*base.shape, 0))
        return HeldOutParts(base, without, parts, codes, mass)
    lines = np.stack(told, axis=1) if told else np.empty((len(codes), 0))
    margin, left = (np.asarray(prior[:, 1] - prior[:, 0]) for prior in (base, without))
    return Contrast(lines, margin, left, codes, mass)


def with_features(rows: HeldOutRows, features: FeatureRows) -> FittedRows:
    """Return the same rows with features beside what blocks say.

    A further unknown is what one feature adds to one class; of two classes, to the second.
    """
    if isinstance(rows, Contrast):
        if features.at.shape[1] * FEW_OF_MANY <= features.width:
            return SparseContrast.of(rows.lines, features, rows.base, rows.codes, rows.mass)
        lines = np.concatenate([rows.lines, features.dense()], axis=1)
        return replace(rows, lines=lines)
    constant = np.ones((len(rows.codes), 1))
    dense = np.concatenate([constant, features.dense()], axis=1)
    return FeaturedClasses(dense, rows.parts, rows.base, rows.codes, rows.mass)
