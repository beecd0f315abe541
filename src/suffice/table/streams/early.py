"""Streams that start small: families are decided again, from kept rows, until there are enough.

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
from suffice.errors import SufficeWarning
from suffice.estimators.labels import check_same_type, read_labels
from suffice.generative.fitted import Batch, Labels
from suffice.generative.learning import Kept, check_closed, update_sample
from suffice.table.choices import AS_GIVEN, IGNORE, Choices
from suffice.table.fitted import StreamState, TableFitted
from suffice.table.held_out import cell_hashes
from suffice.table.rows import TableRows, check_table, select_columns
from suffice.table.structure.settings import DEFAULT_SEARCH, SearchSettings
from suffice.validation.row_sample import RowSample

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


def is_due(stream: StreamState, settings: SearchSettings = DEFAULT_SEARCH) -> bool:
    """Say whether families are to be decided now.

    >>> is_due(StreamState(60, 50, frozenset())), is_due(StreamState(60, 60, frozenset()))
    (True, False)
    """
    return any(stream.decided < at <= stream.seen for at in settings.decide_at)


def next_decision(stream: StreamState, settings: SearchSettings = DEFAULT_SEARCH) -> int:
    """Return after how many rows families will be decided again; 0 if never.

    >>> next_decision(StreamState(60, 60, frozenset()))
    70
    """
    return next((at for at in settings.decide_at if at > stream.seen), 0)


def will_decide(families: Any, choices: Choices, settings: SearchSettings = DEFAULT_SEARCH) -> bool:
    """Say whether families that were chosen from the first rows of a stream are to be reviewed.

    Not if there were enough rows, or if all families were given with their settings
    (`families_` of another model).
    """
    if choices.rows >= settings.decide_at[-1]:
        return False
    if isinstance(families, str):
        return True
    settled = all(isinstance(one, Mapping) or one == IGNORE for one in families.values())
    return not (settled and all(one.why.endswith(AS_GIVEN) for one in choices.columns))


def record_decision(fitted: TableFitted, sample: RowSample, stream: StreamState) -> TableFitted:
    """Return the fitted value, with all rows kept if families will be decided again.

    `choices` then say when.
    """
    again_at = next_decision(stream)
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
