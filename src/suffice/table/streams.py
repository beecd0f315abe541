"""Streams of rows: families decided again while there are few rows, decay, and windows.

While a stream is undecided (`TableFitted.stream`), the sample has all rows that were learned and
not forgotten, with all of their columns and with strings as they were given, so that a later
decision reads them as if all had been given at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from suffice.data.columns import Column, ReadAs, column_of
from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.data.schema import Schema
from suffice.data.table import Table, with_calendar
from suffice.errors import InputError, SufficeWarning
from suffice.estimators.labels import check_same_type, read_labels
from suffice.generative.fitted import Batch, Labels
from suffice.generative.learning import Kept, check_closed, rename_like, update_sample, with_tally
from suffice.table.choices import AS_GIVEN, Choices
from suffice.table.fitted import StreamState, TableFitted, Window
from suffice.table.held_out import cell_hashes
from suffice.table.rows import TableRows, check_table, select_columns
from suffice.table.structure.families import IGNORE
from suffice.table.structure.settings import SearchSettings
from suffice.tally import Groups
from suffice.validation.row_sample import RowSample, drop_unused_names

# What the types of columns that are declared categories are called (pandas, polars).
DECLARED = ("categor", "enum")


class GivenBatch(NamedTuple):
    """Labelled rows with their cells as they were given."""

    labels: Labels
    rows: Rows
    """coded by `labels`"""
    declared: frozenset[str]
    """columns that are declared categories"""

    def sample(self) -> RowSample:
        """Return all rows as an undecided stream keeps them."""
        return RowSample.of(self.rows, self.labels, hash_given(self.rows), None)


# When families are decided.


def is_due(stream: StreamState, search: SearchSettings) -> bool:
    """Say whether families are to be decided now.

    >>> search = SearchSettings(decide_at=(50, 60, 70))
    >>> [is_due(StreamState(60, decided, frozenset()), search) for decided in (50, 60)]
    [True, False]
    """
    return any(stream.decided < at <= stream.seen for at in search.decide_at)


def next_decision(stream: StreamState, search: SearchSettings) -> int:
    """Return after how many rows families will be decided again; 0 if never.

    >>> next_decision(StreamState(60, 60, frozenset()), SearchSettings(decide_at=(50, 60, 70)))
    70
    """
    return next((at for at in search.decide_at if at > stream.seen), 0)


def rows_before_decision(fitted: TableFitted) -> int:
    """Return how many rows of a stream can be learned before the one by which it is decided."""
    assert fitted.stream is not None
    return max(0, next_decision(fitted.stream, fitted.search) - fitted.stream.seen - 1)


def will_decide(families: Any, choices: Choices, search: SearchSettings) -> bool:
    """Say whether families that were chosen from the first rows of a stream are to be reviewed.

    Not if there were enough rows, or if all families were given with their settings
    (`families_` of another model).
    """
    if choices.rows >= search.decide_at[-1]:
        return False
    if isinstance(families, str):
        return True
    complete = all(isinstance(one, Mapping) or one == IGNORE for one in families.values())
    return not (complete and all(one.why.endswith(AS_GIVEN) for one in choices.columns))


def record_decision(fitted: TableFitted, sample: RowSample, stream: StreamState) -> TableFitted:
    """Return the fitted value, with all rows kept if families will be decided again.

    `choices` then say when.
    """
    again_at = next_decision(stream, fitted.search)
    if not again_at:
        return fitted
    return fitted.replace(
        choices=replace(fitted.choices, again_at=again_at),
        stream=stream._replace(decided=stream.seen),
        sample=sample,
    )


def add_rows(stream: StreamState, given: GivenBatch, rows: int) -> StreamState:
    """Return how far the stream is after so many rows more."""
    return stream._replace(seen=stream.seen + rows, declared=stream.declared | given.declared)


def hold_choices(fitted: TableFitted) -> TableFitted:
    """Return the fitted value of a stream that decides nothing any more.

    The sample keeps the blocks' columns alone.
    """
    choices = replace(fitted.choices, again_at=0)
    if fitted.sample is None:
        return fitted.replace(choices=choices, stream=None)
    rows, columns = kept_rows(fitted), fitted.counter.columns
    hashes = cell_hashes(rows.X.table, columns)
    sample = RowSample.of(select_columns(rows, columns), fitted.classes, hashes)
    return fitted.replace(choices=choices, stream=None, sample=sample)


def align_streams(mine: TableFitted, theirs: TableFitted) -> tuple[TableFitted, TableFitted]:
    """Return two fitted values whose samples can be merged: both of undecided streams, or neither.

    Without rows of both nothing can be decided again.
    """
    if mine.sample is None or theirs.sample is None:
        return mine.replace(choices=replace(mine.choices, again_at=0), stream=None), theirs
    first, second = mine.stream, theirs.stream
    if first is not None and second is not None:
        both = StreamState(
            first.seen + second.seen,
            max(first.decided, second.decided),
            first.declared | second.declared,
        )
        return mine.replace(stream=both), theirs
    if first is not None:
        return hold_choices(mine), theirs
    return mine, theirs if second is None else hold_choices(theirs)


# Rows that are kept.


def kept_rows(fitted: TableFitted) -> Rows:
    """Return the kept rows, coded by the classes and levels that there are now."""
    assert fitted.sample is not None
    rows = fitted.sample.with_codes_of(fitted.classes)
    if fitted.stream is not None:
        return fitted.counter.recode(rows)
    return replace(rows, X=TableRows(fitted.counter.schema.recode(rows.X.table)))


def update_kept(before: TableFitted, batch: Batch, *, forget: bool) -> Kept:
    """Return the kept rows with those of a batch, or without them.

    An undecided stream keeps rows as they were given, which `batch` is not: whoever learns them
    does it. Held-out answers are known by hashes of the blocks' columns, so none are left then.
    """
    if before.sample is None or before.stream is not None:
        return Kept(before.sample, None if forget else before.held_out)
    columns = before.counter.columns
    hashes = cell_hashes(batch.rows.X.table, columns)
    own = replace(batch, rows=select_columns(batch.rows, columns))
    return update_sample(before, own, hashes, forget=forget)


# Rows as they were given.


def read_given(
    fitted: TableFitted,
    X: Any,
    y: Any,
    sample_weight: Any,
    estimator_name: str,
    *,
    undecided: bool,
) -> GivenBatch:
    """Return labelled rows with their cells as they were given.

    Columns that nothing is learned of have no cells; if it is `undecided` of which something will
    be, those that a user has left out.
    """
    counter, known = fitted.counter, fitted.classes
    given, columns = check_table(X, fitted.columns, counter.schema, estimator_name)
    left_out = columns_ignored(fitted.choices) if undecided else counter.unused_given
    table, declared = table_as_given(given, counter.schema, left_out)
    labels, rows = read_labels(TableRows(table), y, sample_weight, columns.names, estimator_name)
    check_same_type(labels, known)
    if fitted.closed:
        check_closed(labels, rows, known)
    if known.dtype.kind in "OU":
        labels = labels.astype(object if known.dtype.kind == "O" else str)
    return GivenBatch(labels, rows, declared)


def columns_ignored(choices: Choices) -> set[str]:
    """Return the columns that a user has left out."""
    return {
        one.column for one in choices.columns if one.family == IGNORE and one.why.endswith(AS_GIVEN)
    }


def table_as_given(
    X: Any, schema: Schema, ignored: Collection[str] = ()
) -> tuple[Table, frozenset[str]]:
    """Return a table of the columns that users give, and those that are declared categories.

    Strings are levels, whatever they look like: `reread` reads them. Columns that are `ignored`
    have no cells.

    Examples
    --------
    >>> schema = Schema.of(Table.of([{"size": "3", "city": None}]))
    >>> table, _ = table_as_given([{"size": "3.5", "city": "Rome"}], schema)
    >>> [(column.name, column.kind, column.levels) for column in table]
    [('size', 'category', ('3.5',)), ('city', 'category', ('Rome',))]
    """
    named = schema.named(X)
    cells = dict(named.columns)
    columns, declared = [], set()
    for name in schema.given:
        if name in ignored:
            columns.append(Column(name, "number", np.full(named.rows, np.nan)))
            continue
        columns.append(column_of(name, cells[name], "category"))
        if str(getattr(cells[name], "dtype", "")).lower().startswith(DECLARED):
            declared.add(name)
    return Table(tuple(columns), named.rows, schema.by_place), frozenset(declared)


def reread(table: Table, formats: Mapping[str, ReadAs], declared: Collection[str]) -> Table:
    """Return a table as if all of its cells had been given at once.

    Parameters
    ----------
    table : Table with strings as levels (`table_as_given`)
    formats : how columns of strings are read, by name, where that is given
    declared : columns that are categories, whatever their strings look like

    Examples
    --------
    >>> size = Column("size", "category", np.array([0, 1, -1], np.int32), ("3.5", "$1,000.00"))
    >>> reread(Table((size,), 3), {"size": "number"}, ())["size"].values
    array([   3.5, 1000. ,    nan])
    """
    columns: list[Column] = []
    for column in table:
        strings = column.kind == "category" and all(isinstance(x, str) for x in column.levels)
        if strings and column.name not in declared:
            column = column_of(column.name, column.as_text().values, formats.get(column.name))
        columns += with_calendar(column)
    return replace(table, columns=tuple(columns))


def hash_given(rows: Rows) -> Hashes:
    """Return a hash of all cells of each row, (n,)."""
    return cell_hashes(rows.X.table, rows.X.table.names)


@contextmanager
def silence() -> Iterator[None]:
    """Give no warnings of a decision that will be made again: the last one gives them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        yield


# Old rows that count less, or leave a window.


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
    kept = (*fitted.window.rows, drop_unused_names(given.rows, given.labels))
    over = sum(rows.shape[0] for rows, _ in kept) - size
    now = fitted
    while over > 0:
        rows, classes = kept[0]
        leaving = min(over, rows.shape[0])
        gone = rows.take(np.arange(leaving))
        if gone.weights.size:  # rows of weight 0 were not learned
            gone = gone.take(np.flatnonzero(gone.weights > 0))
        if len(gone.codes):
            now = _subtract(now, classes, gone)
        rest = rows.take(np.arange(leaving, rows.shape[0]))
        kept = (drop_unused_names(rest, classes), *kept[1:]) if len(rest.codes) else kept[1:]
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
