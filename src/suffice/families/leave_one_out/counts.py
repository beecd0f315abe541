"""Rows of counts, levels and events, scored by what the others of their class say of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.data.rows import Rows, readable, sparse_ready
from suffice.families.class_conditional import ClassConditional, LearnedRows, LeftOut
from suffice.families.level_tables import LevelTables
from suffice.scoring.scorer import joint_log_proba
from suffice.tally.tally import Floats


def leave_one_out_multinomial(rows: Rows, counts: Floats, pseudo: Any, *, polya: bool) -> Floats:
    """Return the multinomial (or Polya) score of each row under its own class, (n,).

    counts are (C, V), pseudo a number or what broadcasts to them.
    """
    wide = _wide(pseudo, counts)
    sums = counts, wide, counts.sum(axis=1), wide.sum(axis=1), polya
    entry = _core.leave_one_out_words, _core.leave_one_out_sparse_words
    return _score(entry, rows, *sums)


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
    entry = _core.leave_one_out_complement, _core.leave_one_out_sparse_complement
    return _score(entry, rows, *sums, scores)


def leave_one_out_bernoulli(
    rows: Rows, counts: Floats, pseudo: tuple[Any, Any], threshold: float | None
) -> Floats:
    """Return the Bernoulli score of each row under its own class, (n,).

    counts are (C, V, 2), pseudo those of presence and of absence.
    """
    absent, present = (np.ascontiguousarray(counts[..., level]) for level in (0, 1))
    cut = np.nan if threshold is None else float(threshold)
    sums = cut, present, absent, _wide(pseudo[0], present), _wide(pseudo[1], absent)
    entry = _core.leave_one_out_ones, _core.leave_one_out_sparse_ones
    return _score(entry, rows, *sums)


def leave_one_out_poisson(
    rows: Rows, seen: Floats, events: Floats, pseudo: tuple[Any, Any], *, integrated: bool
) -> Floats:
    """Return the Poisson score, without log x!, of each row under its own class, (n,).

    seen and events are (C, V), pseudo the prior's events and rows. NaN where nothing is left.
    """
    sums = seen, events, _wide(pseudo[0], events), _wide(pseudo[1], events), integrated
    entry = _core.leave_one_out_events, _core.leave_one_out_sparse_events
    return _score(entry, rows, *sums)


def leave_one_out_categorical(
    rows: Rows, tables: list[LevelTables], min_levels: NDArray[np.int64]
) -> Floats:
    """Return the categorical score of each row under its own class, (n,).

    NaN for a row without which a column has fewer levels; it has `min_levels` (d,) whatever is
    seen.
    """
    levels = np.array([table.counts.shape[1] for table in tables])
    highest = np.array([table.counts[:, -1].sum() for table in tables])
    pseudo = [_wide(table.pseudocounts, table.counts) for table in tables]
    return _core.leave_one_out_levels(
        readable(rows.X),
        rows.codes,
        rows.weights,
        np.cumsum(levels) - levels,
        levels,
        np.where(levels > min_levels, highest, np.inf),
        np.concatenate([table.counts for table in tables], axis=1),
        np.stack([table.totals for table in tables], axis=1),
        np.concatenate(pseudo, axis=1),
        np.stack([_wide(table.prior_sample_size, table.totals) for table in tables], axis=1),
        np.stack([_wide(table.other, table.totals) for table in tables], axis=1),
    )


def _wide(values: Any, like: Floats) -> Floats:
    return np.broadcast_to(np.asarray(values, dtype=np.float64), like.shape)


def _score(entry: tuple[Any, Any], rows: Rows, *sums: Any) -> Floats:
    """Return what the core's entry point for dense rows says, or that for sparse ones."""
    labels = rows.codes, rows.weights
    if rows.sparse:
        X = sparse_ready(rows.X)
        return np.asarray(entry[1](X.data, X.indices, X.indptr, *labels, *sums))
    return np.asarray(entry[0](readable(rows.X), *labels, *sums))


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
