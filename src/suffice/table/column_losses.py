"""How much the log-loss of rows increases when a column of a table is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.combine.combination import Combination
from suffice.combine.weights import HeldOutRows, WeightFit, remove_common
from suffice.data.table import Table
from suffice.families import Posterior
from suffice.table.held_out import HeldOut
from suffice.table.residual_features import ResidualFeatures
from suffice.table.structure.settings import DEFAULT_SEARCH, SearchSettings
from suffice.tally.tally import Floats, Index
from suffice.validation.importance import LossIncrease

# Log-likelihoods (rows by classes by columns of a block) that are held at once: 32 MB.
MAX_SCORES = 1 << 22


class BlockScores(Protocol):
    """Log-likelihoods of a block, of n rows."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the block's columns."""
        ...

    def all_columns(self) -> Floats:
        """Return the scores, (n, C)."""
        ...

    def without_each(self) -> Iterator[tuple[Index, Floats]]:
        """Yield numbers of rows, (m,), and their scores without each column, (m, C, d)."""
        ...


@dataclass(frozen=True, eq=False)
class HeldOutBlock:
    """Log-likelihoods of block number `at`, of some held-out rows by the rows of other folds.

    Parameters
    ----------
    posterior : of the block
    held_out : HeldOut
    numbers : (n,)
        Which of the rows of `held_out.table` they are.
    scores : HeldOutRows, the same rows
    at : int
    """

    posterior: Posterior[Any]
    held_out: HeldOut
    numbers: Index
    scores: HeldOutRows
    at: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the block's columns."""
        names: tuple[str, ...] = self.posterior.family.columns
        return names

    def all_columns(self) -> Floats:
        """Return the scores, (n, C), up to a number for each row."""
        return self.scores.block_scores(self.at)

    def without_each(self) -> Iterator[tuple[Index, Floats]]:
        """Yield numbers of rows, (m,), and their scores without each column, (m, C, d)."""
        table, folds = self.held_out.table, self.held_out.folds
        place = np.full(len(table), -1)
        place[self.numbers] = np.arange(len(self.numbers))
        needed = np.unique(folds.numbers[self.numbers]).astype(np.intp)
        for members, scores in self.posterior.held_out_without(table, folds, needed):
            mine = place[members] >= 0
            yield place[members[mine]], scores[mine][:, self.held_out.classes]


@dataclass(frozen=True, eq=False)
class NewBlock:
    """Log-likelihoods of a block, of the rows of a table."""

    posterior: Posterior[Any]
    table: Table

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the block's columns."""
        names: tuple[str, ...] = self.posterior.family.columns
        return names

    def all_columns(self) -> Floats:
        """Return the scores, (n, C), up to a number for each row."""
        return remove_common(self.posterior.relative_scores(self.table))

    def without_each(self) -> Iterator[tuple[Index, Floats]]:
        """Yield numbers of rows, (m,), and their scores without each column, (m, C, d)."""
        own = self.table.select(self.columns)
        classes = self.posterior.relative_scores(own.take(np.arange(1))).shape[1]
        step = max(1, MAX_SCORES // (classes * len(self.columns)))
        for start in range(0, len(own), step):
            some = np.arange(start, min(start + step, len(own)))
            yield some, self.posterior.without_columns(own.take(some))


def held_out_increase(
    held_out: HeldOut,
    rows: HeldOutRows,
    posteriors: Sequence[Posterior[Any]],
    features: ResidualFeatures,
    found: WeightFit,
    settings: SearchSettings = DEFAULT_SEARCH,
) -> LossIncrease | None:
    """Return how much the log-loss of held-out rows increases without each column.

    Columns are in the order of the blocks. With all of them a row has its score under weights,
    offsets and coefficients fitted to the others: fitted to the row too, they would make it look
    better than a new one. None if no two classes are held out.
    """
    if len(held_out.classes) < 2:
        return None
    folds = held_out.folds.numbers[held_out.kept]
    sizes = np.cumsum(np.bincount(folds, minlength=held_out.folds.size))
    # As many folds as hold enough rows.
    some = np.flatnonzero(folds <= np.searchsorted(sizes, settings.importance_rows))
    rows, numbers = rows.take(some), held_out.kept[some]
    added = features.split(held_out.table.take(numbers), found.combination.residual_coefficients)
    blocks = [HeldOutBlock(one, held_out, numbers, rows, at) for at, one in enumerate(posteriors)]
    weighted = _Weighted(blocks, added, rows.class_index, found.combination)
    return weighted.increase(found.scores[some], rows.row_weights)


def new_increase(
    table: Table,
    base: Floats,
    posteriors: Sequence[Posterior[Any]],
    features: ResidualFeatures,
    found: Combination,
    codes: NDArray[np.int32],
    weights: Floats,
) -> LossIncrease:
    """Return how much the log-loss of a table increases without each column.

    Parameters
    ----------
    table : n rows
    base : (C,)
        Log prior of the classes.
    posteriors, features, found : of the model
    codes, weights : (n,)
    """
    blocks = [NewBlock(posterior, table) for posterior in posteriors]
    scores = np.repeat((base + found.offsets)[None], len(table), axis=0)
    for weight, block in zip(found.weights.tolist(), blocks, strict=True):
        scores += weight * block.all_columns()
    added = features.split(table, found.residual_coefficients)
    everything = np.asarray(sum(added.values(), scores))
    return _Weighted(blocks, added, codes, found).increase(everything, weights)


@dataclass(frozen=True, eq=False)
class _Weighted:
    """Blocks of rows, and how they are combined.

    added : (n, C) by the name of a column
        What its residual coefficients add to the scores.
    codes : (n,)
    """

    blocks: Sequence[BlockScores]
    added: Mapping[str, Floats]
    codes: NDArray[np.int32]
    found: Combination

    def increase(self, scores: Floats, weights: Floats) -> LossIncrease:
        """Return the increases, given the scores of rows (n, C) by all columns."""
        return LossIncrease.of(self._losses(scores, self.codes), self._without(scores), weights)

    def _losses(self, scores: Floats, codes: NDArray[np.int32]) -> Floats:
        return np.asarray(-self.found.normalize(scores)[np.arange(len(codes)), codes])

    def _without(self, scores: Floats) -> Iterator[Floats]:
        """Yield the losses of rows, (n,), without each column."""
        for weight, block in zip(self.found.weights.tolist(), self.blocks, strict=True):
            others = scores - weight * block.all_columns()
            if len(block.columns) == 1:
                yield self._losses(others - self.added.get(block.columns[0], 0.0), self.codes)
                continue
            out = np.empty((len(block.columns), len(scores)))
            for rows, found in block.without_each():
                left = others[rows] + weight * _by_column(found)
                for at, name in enumerate(block.columns):
                    left[at] -= self.added[name][rows] if name in self.added else 0.0
                codes = np.tile(self.codes[rows], len(left))
                losses = self._losses(left.reshape(len(codes), -1), codes)
                out[:, rows] = losses.reshape(len(left), -1)
            yield from out


def _by_column(scores: Floats) -> Floats:
    """Return scores (m, C, d) column by column, (d, m, C), as `remove_common` leaves them."""
    turned = np.ascontiguousarray(np.moveaxis(scores, 2, 0))
    return remove_common(turned.reshape(-1, scores.shape[1])).reshape(turned.shape)
