"""Streams that drift: old rows count less (decay), or are forgotten when they leave a window."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.data.rows import Rows
from suffice.data.schema import with_own_levels
from suffice.errors import InputError
from suffice.generative.fitted import Batch, Labels
from suffice.generative.learning import Kept, rename_like, with_tally
from suffice.table.fitted import TableFitted, Window
from suffice.table.streams.early import GivenBatch, hash_given, update_kept
from suffice.tally import Groups
from suffice.validation.row_sample import RowSample


def decay(fitted: TableFitted, factor: float) -> TableFitted:
    """Return the fitted value with everything learned so far `factor` times as heavy.

    Its model and combination are still those of before.
    """
    if not 0 < factor <= 1:
        raise InputError(f"A factor of {factor}. Use one above 0 and at most 1.")
    return fitted.replace(
        new_classes=fitted.classes[:0],
        tally=fitted.tally.scale(factor),
        gross=None if fitted.gross is None else fitted.gross.scale(factor),
        sample=None if fitted.sample is None else fitted.sample.scale(factor),
    )


def check_window_rows(window: Window | None) -> None:
    """Refuse to learn on if the rows of the window are not there to leave it."""
    if window is not None and window.rows is None:
        raise InputError(
            f"The model has a window of {window.size} rows, which are not in the file it was "
            "loaded from, so they could not leave it. Fit it to them again (fit), or go on "
            "without a window (window(None))."
        )


def slide(fitted: TableFitted, given: GivenBatch) -> TableFitted:
    """Return the fitted value with rows that it has learned in its window, and the oldest out.

    Rows are forgotten until the window holds no more than it may. If any were, the tally is
    another one: model and combination are still those of before.
    """
    assert fitted.window is not None
    assert fitted.window.rows is not None
    size = fitted.window.size
    kept = (*fitted.window.rows, _own_batch(given.labels, given.rows))
    over = sum(rows.shape[0] for _, rows in kept) - size
    now = fitted
    while over > 0:
        classes, rows = kept[0]
        leaving = min(over, rows.shape[0])
        gone = _weighted_rows(rows.take(np.arange(leaving)))
        if len(gone.codes):
            now = _subtract(now, classes, gone)
        rest = rows.take(np.arange(leaving, rows.shape[0]))
        kept = (_own_batch(classes, rest), *kept[1:]) if len(rest.codes) else kept[1:]
        over -= leaving
    now = now.replace(window=Window(size, kept))
    if now.tally is fitted.tally:
        return now
    tally = now.tally if now.closed else now.tally.drop_empty()
    now = with_tally(now, tally, now.gross, Kept(now.sample, now.held_out))
    new = fitted.new_classes
    return now.replace(new_classes=new[np.isin(new, now.classes)])


def _subtract(fitted: TableFitted, classes: Labels, gone: Rows) -> TableFitted:
    """Return the fitted value without rows (as they were given) in tally and sample."""
    rows = fitted.counter.recode(gone)
    batch = Batch(rows, classes, fitted.columns, fitted.counter)
    sample, held_out = update_kept(fitted, batch, forget=True)
    if fitted.stream is not None and sample is not None:
        sample = sample.forget(RowSample.of(gone, classes, hash_given(gone), None))
    taken = rename_like(Groups(classes, *fitted.counter.count(rows)), fitted.classes)
    gross = fitted.gross_with(taken)
    tally = fitted.tally.subtract(taken, gross)
    return fitted.replace(tally=tally, gross=gross, sample=sample, held_out=held_out)


def _weighted_rows(rows: Rows) -> Rows:
    """Return the rows that were learned: those of weight 0 were not."""
    return rows.take(np.flatnonzero(rows.weights > 0)) if rows.weights.size else rows


def _own_batch(classes: Labels, rows: Rows) -> tuple[Labels, Rows]:
    """Return rows coded by the classes and levels that they have: no other names are kept."""
    present, codes = np.unique(rows.codes, return_inverse=True)
    table = replace(rows.X, table=with_own_levels(rows.X.table))
    own = replace(rows, X=table, codes=codes.astype(np.int32), classes=len(present))
    return classes[present], own
