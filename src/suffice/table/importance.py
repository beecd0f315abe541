"""How much each column of a table matters: log-loss without it, dependence on the label."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.combine.combination import Combination
from suffice.combine.weights import HeldOutRows, WeightFit, remove_common
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.families import Posterior
from suffice.table.fitted import TableFitted
from suffice.table.held_out import HeldOut
from suffice.table.residual_features import ResidualFeatures
from suffice.tally.tally import Floats, Index
from suffice.validation.importance import LossIncrease
from suffice.validation.information import Dependence

# Log-likelihoods (rows by classes by columns of a block) that are held at once: 32 MB.
MAX_SCORES = 1 << 22


class BlockScores(NamedTuple):
    """Log-likelihoods of a block, of n rows, up to a number for each row."""

    columns: tuple[str, ...]
    scores: Callable[[], Floats]
    """(n, C)"""
    without_each: Callable[[], Iterator[tuple[Index, Floats]]]
    """numbers of rows, (m,), and their scores without each of d columns, (m, C, d)"""


def held_out_increase(
    held_out: HeldOut,
    rows: HeldOutRows,
    fitted: TableFitted,
    features: ResidualFeatures,
    found: WeightFit,
) -> LossIncrease | None:
    """Return how much the log-loss of held-out rows increases without each column.

    Columns are in the order of the blocks. With all of them a row has its score under weights,
    offsets and coefficients fitted to the others: fitted to the row too, they would make it look
    better than a new one. None if no two classes are held out.
    """
    if len(held_out.classes) < 2:
        return None
    numbers = held_out.folds.numbers[held_out.kept]
    sizes = np.cumsum(np.bincount(numbers, minlength=held_out.folds.size))
    # As many folds as hold enough rows.
    some = np.flatnonzero(numbers <= np.searchsorted(sizes, fitted.search.importance_rows))
    rows, kept = rows.take(some), held_out.kept[some]
    blocks = [
        _held_out_block(one, held_out, kept, rows, at) for at, one in enumerate(fitted.posteriors)
    ]
    combination = found.combination
    added = features.split(held_out.table.take(kept), combination.residual_coefficients)
    own = rows.class_index, rows.row_weights
    return _increase(blocks, added, combination, found.scores[some], *own)


def _held_out_block(
    posterior: Posterior[Any], held_out: HeldOut, kept: Index, rows: HeldOutRows, at: int
) -> BlockScores:
    """Return log-likelihoods of block number `at`, of rows `kept`, by the rows of other folds."""
    table, folds = held_out.table, held_out.folds

    def without_each() -> Iterator[tuple[Index, Floats]]:
        place = np.full(len(table), -1)
        place[kept] = np.arange(len(kept))
        needed = np.unique(folds.numbers[kept]).astype(np.intp)
        for members, scores in posterior.held_out_without(table, folds, needed):
            mine = place[members] >= 0
            yield place[members[mine]], scores[mine][:, held_out.classes]

    return BlockScores(posterior.family.columns, lambda: rows.block_scores(at), without_each)


def new_increase(fitted: TableFitted, rows: Rows) -> LossIncrease:
    """Return how much the log-loss of new rows of a table increases without each column."""
    table, found = rows.X.table, fitted.combination
    blocks = [_new_block(posterior, table) for posterior in fitted.posteriors]
    scores = np.repeat((fitted.log_prior + found.offsets)[None], len(table), axis=0)
    for weight, block in zip(found.weights.tolist(), blocks, strict=True):
        scores += weight * block.scores()
    added = fitted.features.split(table, found.residual_coefficients)
    everything = np.asarray(sum(added.values(), scores))
    return _increase(blocks, added, found, everything, rows.codes, rows.row_weights)


def _new_block(posterior: Posterior[Any], table: Table) -> BlockScores:
    """Return log-likelihoods of a block, of the rows of a table."""
    columns = posterior.family.columns

    def without_each() -> Iterator[tuple[Index, Floats]]:
        own = table.select(columns)
        classes = posterior.relative_scores(own.take(np.arange(1))).shape[1]
        step = max(1, MAX_SCORES // (classes * len(columns)))
        for start in range(0, len(own), step):
            some = np.arange(start, min(start + step, len(own)))
            yield some, posterior.without_columns(own.take(some))

    return BlockScores(
        columns, lambda: remove_common(posterior.relative_scores(table)), without_each
    )


def _increase(
    blocks: Sequence[BlockScores],
    added: Mapping[str, Floats],
    found: Combination,
    scores: Floats,
    codes: NDArray[np.int32],
    weights: Floats,
) -> LossIncrease:
    """Return the increases of the log-loss of n rows.

    Parameters
    ----------
    blocks : of the rows
    added : (n, C) by the name of a column
        What its residual coefficients add to the scores.
    found : how the blocks are combined
    scores : (n, C)
        By all columns.
    codes, weights : (n,)
    """
    without = _losses_without(blocks, added, found, scores, codes)
    return LossIncrease.of(_losses(found, scores, codes), without, weights)


def _losses(found: Combination, scores: Floats, codes: NDArray[np.int32]) -> Floats:
    """Return -log p of the rows' own classes, (n,)."""
    return np.asarray(-found.normalize(scores)[np.arange(len(codes)), codes])


def _losses_without(
    blocks: Sequence[BlockScores],
    added: Mapping[str, Floats],
    found: Combination,
    scores: Floats,
    codes: NDArray[np.int32],
) -> Iterator[Floats]:
    """Yield the losses of rows, (n,), without each column."""
    for weight, block in zip(found.weights.tolist(), blocks, strict=True):
        others = scores - weight * block.scores()
        if len(block.columns) == 1:
            yield _losses(found, others - added.get(block.columns[0], 0.0), codes)
            continue
        out = np.empty((len(block.columns), len(scores)))
        for rows, left in block.without_each():
            partial = others[rows] + weight * _by_column(left)
            for at, name in enumerate(block.columns):
                partial[at] -= added[name][rows] if name in added else 0.0
            own = np.tile(codes[rows], len(partial))
            losses = _losses(found, partial.reshape(len(own), -1), own)
            out[:, rows] = losses.reshape(len(partial), -1)
        yield from out


def _by_column(scores: Floats) -> Floats:
    """Return scores (m, C, d) column by column, (d, m, C), as `remove_common` leaves them."""
    turned = np.ascontiguousarray(np.moveaxis(scores, 2, 0))
    return remove_common(turned.reshape(-1, scores.shape[1])).reshape(turned.shape)


def dependence(fitted: TableFitted) -> Dependence:
    """Return how each column depends on the label, in the order of the blocks' columns."""
    # What a first fit does without is loaded when it is needed.
    from suffice.lab.dependence import column_dependences

    parts = fitted.tally.parts.parts
    blocks = zip(fitted.counter.blocks, parts, strict=True)
    found = [one for block, part in blocks for one in column_dependences(block, part)]
    information = np.array([one.mutual_information for one in found])
    return Dependence(information, np.array([one.log_bayes_factor for one in found]))
