"""Rows of counts, levels and events, scored by what the others of their class say of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.rows import Rows, kernel_ready, sparse_ready
from suffice.families.class_conditional import ClassConditional, LearnedRows, LeftOut
from suffice.families.level_tables import LevelTables
from suffice.kernels.leave_one_out.complement import left_out_complement
from suffice.kernels.leave_one_out.counts import left_out_levels, left_out_ones, left_out_words
from suffice.kernels.leave_one_out.events import left_out_events
from suffice.kernels.ranges import on_all_cores, row_ranges
from suffice.scoring.scorer import joint_log_proba
from suffice.tally.tally import Floats

# Ranges that sparse rows are cut into for the cores.
RANGES = 8


def leave_one_out_multinomial(rows: Rows, counts: Floats, pseudo: Any, *, polya: bool) -> Floats:
    """Return the multinomial (or Polya) score of each row under its own class, (n,).

    counts are (C, V), pseudo a number or what broadcasts to them.
    """
    wide = _wide(pseudo, counts)
    sums = counts, wide, counts.sum(axis=1), wide.sum(axis=1), polya

    def score(cells: Any, codes: Any, weights: Floats, out: Floats) -> None:
        left_out_words(*cells, codes, weights, *sums, out)

    return _in_ranges(rows, score)


def leave_one_out_complement(
    rows: Rows, counts: Floats, pseudo: Any, scores: Floats, *, norm: bool
) -> Floats:
    """Return the scores of the complement rule (n, C), given those of all rows, `scores`.

    The row is in the complement of every class but its own, so all but its own change.
    """
    others = np.ascontiguousarray(np.maximum(counts.sum(axis=0) - counts, 0.0).T)
    wide = _wide(pseudo, counts).T
    posterior_weight = others + wide
    held = posterior_weight > 0
    logged = np.log(np.where(held, posterior_weight, 1.0)).sum(axis=0)
    totals = counts.sum() - counts.sum(axis=1)
    sums = others, wide, totals, wide.sum(axis=0), logged, (~held).sum(axis=0), norm

    def score(cells: Any, codes: Any, weights: Floats, out: Floats) -> None:
        left_out_complement(*cells, codes, weights, *sums, out)

    return _in_ranges(rows, score, scores)


def leave_one_out_bernoulli(
    rows: Rows, counts: Floats, pseudo: tuple[Any, Any], threshold: float | None
) -> Floats:
    """Return the Bernoulli score of each row under its own class, (n,).

    counts are (C, V, 2), pseudo those of presence and of absence.
    """
    absent, present = (np.ascontiguousarray(counts[..., level]) for level in (0, 1))
    cut = np.nan if threshold is None else float(threshold)
    sums = cut, present, absent, _wide(pseudo[0], present), _wide(pseudo[1], absent)
    return _by_class_and_weight(rows, left_out_ones, sums)


def leave_one_out_poisson(
    rows: Rows, seen: Floats, events: Floats, pseudo: tuple[Any, Any], *, integrated: bool
) -> Floats:
    """Return the Poisson score, without log x!, of each row under its own class, (n,).

    seen and events are (C, V), pseudo the prior's events and rows. NaN where nothing is left.
    """
    sums = seen, events, _wide(pseudo[0], events), _wide(pseudo[1], events), integrated
    return _by_class_and_weight(rows, left_out_events, sums)


def leave_one_out_categorical(
    rows: Rows, tables: list[LevelTables], min_levels: NDArray[np.int64]
) -> Floats:
    """Return the categorical score of each row under its own class, (n,).

    NaN for a row without which a column has fewer levels; it has `min_levels` (d,) whatever is
    seen.
    """
    levels = np.array([table.counts.shape[1] for table in tables])
    tops = np.array([table.counts[:, -1].sum() for table in tables])
    counts = np.concatenate([table.counts for table in tables], axis=1)
    pseudo = [_wide(table.pseudocounts, table.counts) for table in tables]
    sums = (
        np.cumsum(levels) - levels,
        levels,
        np.where(levels > min_levels, tops, np.inf),
        counts,
        np.stack([table.totals for table in tables], axis=1),
        np.concatenate(pseudo, axis=1),
        np.stack([_wide(table.prior_sample_size, table.totals) for table in tables], axis=1),
        np.stack([_wide(table.other, table.totals) for table in tables], axis=1),
    )
    out = np.empty(rows.shape[0])

    def work(start: int, stop: int) -> None:
        block = kernel_ready(rows.X[start:stop]), rows.codes[start:stop]
        left_out_levels(*block, rows.weights_of(start, stop), *sums, out[start:stop])

    on_all_cores(work, row_ranges(*rows.shape))
    return out


def _wide(values: Any, like: Floats) -> Floats:
    return np.broadcast_to(np.asarray(values, dtype=np.float64), like.shape)


def _cells(X: Any, start: int, stop: int) -> tuple[Any, Any, Any]:
    """Return rows start..stop as the arrays of a CSR matrix; dense ones store every cell."""
    if isinstance(X, np.ndarray):
        block = kernel_ready(X[start:stop])
        rows, columns = block.shape
        indices = np.tile(np.arange(columns, dtype=np.int32), rows)
        return block.ravel(), indices, np.arange(rows + 1, dtype=np.int64) * columns
    ready = sparse_ready(X)
    return ready.data, ready.indices, ready.indptr[start : stop + 1].astype(np.int64)


def _ranges(rows: Rows) -> list[tuple[int, int]]:
    if not rows.sparse:
        return row_ranges(*rows.shape)
    step = -(-rows.shape[0] // RANGES)
    return [(start, min(start + step, rows.shape[0])) for start in range(0, rows.shape[0], step)]


def _in_ranges(rows: Rows, score: Callable[..., None], out: Floats | None = None) -> Floats:
    scores = np.empty(rows.shape[0]) if out is None else out

    def work(start: int, stop: int) -> None:
        some = rows.codes[start:stop], rows.weights_of(start, stop)
        score(_cells(rows.X, start, stop), *some, scores[start:stop])

    on_all_cores(work, _ranges(rows))
    return scores


def _by_class_and_weight(rows: Rows, kernel: Any, sums: tuple[Any, ...]) -> Floats:
    """Run a kernel over ranges of rows, each sorted by class and weight."""

    def score(cells: Any, codes: Any, weights: Floats, out: Floats) -> None:
        keys = (weights, codes) if weights.size else (codes,)
        kernel(*cells, np.lexsort(keys), codes, weights, *sums, out)

    return _in_ranges(rows, score)


def leave_out_of_own_class(
    features: ClassConditional, learned: LearnedRows, own: Floats
) -> LeftOut:
    """Return log p(x | class), (n, C), given that under the own class without the row, (n,).

    Other classes are what they were. Where `own` is NaN, others change too: these rows are scored
    by the tally without them.
    """
    rows, classes = learned.rows, len(learned.tally.classes)
    scores = joint_log_proba(features.scorer(), rows.X, np.zeros(classes))
    scores[np.arange(len(own)), rows.codes] = own
    # Every class stays, with no rows perhaps: the class prior says whether it is possible.
    staying = replace(learned, closed=True)
    for row in np.flatnonzero(np.isnan(own)).tolist():
        scores[row] = features.refit_scores(staying, row)
    return LeftOut(scores, np.zeros(len(scores), np.bool_))
