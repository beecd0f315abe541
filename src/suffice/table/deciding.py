"""Streams that start small: families are decided again, from kept rows, until there are enough."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.data.columns import Column, ReadAs, column_of
from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.data.schema import Schema
from suffice.data.table import CALENDAR, Table, with_calendar
from suffice.errors import InputError, SufficeWarning
from suffice.estimators.intake import labelled_rows
from suffice.estimators.learner import check_alike
from suffice.table.answers import TableAnswers
from suffice.table.families import string_readings
from suffice.table.held_out import cell_hashes
from suffice.table.sheet import GAP_OF, Sheet, checked
from suffice.table.structure.arranging import AS_GIVEN, IGNORE
from suffice.validation.row_sample import RowSample

# Rows after which the families of a stream are decided again; after the last they are held. From 50
# on each is about 1.2 times the one before: of a stream at any time no more than a sixth is newer
# than its families and weights, and all decisions together cost about six times the last one.
DECIDED_AT = (
    *(5, 10, 20, 35, 50, 60, 70, 85, 100, 120, 145, 170, 200, 240, 290, 350, 420, 500, 600, 720),
    *(850, 1_000, 1_200, 1_450, 1_700, 2_000),
)
# What the types of columns that are declared categories are called (pandas, polars).
DECLARED = ("categor", "enum")


@dataclass(frozen=True)
class Undecided:
    """How far a stream has come whose families are still to be decided.

    Parameters
    ----------
    seen : int
        Rows that were learned, those that are forgotten by now among them.
    decided : int
        How many they were when families were decided last.
    declared : columns that were given as categories, whatever their strings look like
    """

    seen: int
    decided: int
    declared: frozenset[str]

    def after(self, rows: int, declared: frozenset[str]) -> Undecided:
        """Return how far the stream is after so many rows more."""
        return replace(self, seen=self.seen + rows, declared=self.declared | declared)

    @property
    def due(self) -> bool:
        """Whether families are to be decided now.

        >>> Undecided(60, 50, frozenset()).due, Undecided(60, 60, frozenset()).due
        (True, False)
        """
        return any(self.decided < at <= self.seen for at in DECIDED_AT)

    @property
    def again_at(self) -> int:
        """After how many rows families will be decided again; 0 if never."""
        return next((at for at in DECIDED_AT if at > self.seen), 0)


class DecidesFamilies(TableAnswers):
    """A classifier that does not stay with what it chose from the first few rows of a stream.

    While `_undecided` is there, `_sample` has all rows that were learned and not forgotten, with
    all of their columns and with strings as they were given; afterwards the blocks' columns alone.
    """

    _undecided: Undecided

    def _learn_stream(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        """Learn rows of a stream, and decide families when it is time to."""
        if hasattr(self, "tally_") and not hasattr(self, "_undecided"):
            super().partial_fit(X, y, classes, sample_weight)
            return
        if not hasattr(self, "tally_"):
            X = self._first_row(X, y)
            super().partial_fit(X, y, classes, sample_weight)
            if self.choices_.rows < DECIDED_AT[-1] and not self._all_given():
                batch, declared = self._batch_as_given(X, y, sample_weight)
                now = Undecided(0, 0, frozenset()).after(self.choices_.rows, declared)
                self._note_decision(batch, now)
            return
        self._known_classes(classes, first=False)
        batch, declared = self._batch_as_given(X, y, sample_weight)
        sample = self._sample.merge(batch)
        now = self._undecided.after(int(batch.counts.sum()), declared)
        if not now.due:
            try:
                super().partial_fit(X, y, classes, sample_weight)
                self._sample, self._undecided = sample, now
                return
            except InputError:
                # Cells that a family or a type, chosen by fewer rows, does not take: if they are no
                # cells at all, deciding by all rows raises an error as well.
                pass
        self._decide(sample, now)

    def _all_given(self) -> bool:
        """Say whether all families were given with their settings (`families_`)."""
        if isinstance(self.families, str):
            return False
        wanted = self.families.values()
        settled = all(isinstance(one, Mapping) or one == IGNORE for one in wanted)
        return settled and all(one.why.endswith(AS_GIVEN) for one in self.choices_.columns)

    def _decide(self, sample: RowSample, now: Undecided) -> None:
        """Choose families and count all rows anew, as a first fit of them would."""
        known, closed, kind = self.classes_, self.classes_closed_, self.frame_kind_
        rows = sample.expand()
        readings = string_readings(self.families)
        table = read_again(rows.X.table, readings, now.declared)
        for name in ("tally_", "_gross", "_undecided"):
            self.__dict__.pop(name, None)
        given = None if np.all(rows.weights == 1.0) else rows.weights
        with _silence() if now.again_at else nullcontext():
            labels = sample.labels[rows.codes]
            super().partial_fit(table, labels, known if closed else None, given)
        self.frame_kind_ = kind
        self.new_classes_ = np.setdiff1d(self.classes_, known)
        self._note_decision(sample, now)

    def _note_decision(self, sample: RowSample, now: Undecided) -> None:
        """Keep all rows if families will be decided again, and say when in `choices_`."""
        if now.again_at:
            self.choices_ = replace(self.choices_, again_at=now.again_at)
            self._undecided = replace(now, decided=now.seen)
            self._sample = sample

    def _hold_choices(self) -> None:
        """Decide nothing any more: keep a sample of the blocks' columns alone."""
        rows = self._kept_rows(self._sample)
        self.choices_ = replace(self.choices_, again_at=0)
        self.__dict__.pop("_undecided")
        kept = self._rows_to_keep(rows)
        self._sample = RowSample.of(kept, self.classes_, self._row_hashes(rows))

    def _put_rows(self) -> None:
        if hasattr(self, "_undecided"):
            self._hold_choices()
        super()._put_rows()

    def _kept_rows(self, sample: RowSample) -> Rows:
        if not hasattr(self, "_undecided"):
            return super()._kept_rows(sample)
        return self._by_schema(sample.with_codes_of(self.classes_))

    def _sample_rows(self, classes: Any, rows: Rows, *, first: bool, forget: bool) -> None:
        if first or not hasattr(self, "_undecided"):
            super()._sample_rows(classes, rows, first=first, forget=forget)
        elif forget:
            self.__dict__.pop("_held_out_answers", None)  # of hashes of the blocks' columns

    def _merge_rows(self, other: Any) -> None:
        if not (hasattr(self, "_sample") and hasattr(other, "_sample")):
            self.choices_ = replace(self.choices_, again_at=0)
            self.__dict__.pop("_undecided", None)
        elif hasattr(self, "_undecided") and hasattr(other, "_undecided"):
            mine, theirs = self._undecided, other._undecided
            declared = mine.declared | theirs.declared
            decided = max(mine.decided, theirs.decided)
            self._undecided = Undecided(mine.seen + theirs.seen, decided, declared)
        elif hasattr(self, "_undecided"):
            self._hold_choices()
        elif hasattr(other, "_undecided"):
            other = copy(other)
            other._hold_choices()
        super()._merge_rows(other)

    def _batch_as_given(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[RowSample, frozenset[str]]:
        """Return all rows of a batch as an undecided stream keeps them, and declared categories."""
        labels, rows, declared = self._rows_as_given(X, y, sample_weight, decided=False)
        return RowSample.of(rows, labels, given_hashes(rows), None), declared

    def _rows_as_given(
        self, X: Any, y: Any, sample_weight: Any, *, decided: bool | None = None
    ) -> tuple[Any, Rows, frozenset[str]]:
        """Return classes, rows with their cells as they were given, and declared categories.

        Columns that nothing will be learned of have no cells.
        """
        decided = not hasattr(self, "_undecided") if decided is None else decided
        given = checked(self, X, self.schema_)
        table, declared = table_as_given(given, self.schema_, self._columns_left_out(decided))
        labels, rows = labelled_rows(self, Sheet(table), y, sample_weight)
        known = getattr(self, "classes_", labels)
        check_alike(labels, known)
        self._check_closed(labels, rows, known)
        if known.dtype.kind in "OU":
            labels = labels.astype(object if known.dtype.kind == "O" else str)
        return labels, rows, declared

    def _columns_left_out(self, decided: bool) -> set[str]:
        """Return the columns that nothing is learned of, or that may not be learned."""
        if not decided:
            choices = self.choices_.columns
            return {c.column for c in choices if c.family == IGNORE and c.why.endswith(AS_GIVEN)}
        used = {name.removesuffix(GAP_OF) for name in self._columns()}
        for name in tuple(used):
            used |= {name.removesuffix(f":{part}") for part in CALENDAR}
        return set(self.schema_.given) - used


def table_as_given(
    X: Any, schema: Schema, ignored: Collection[str] = ()
) -> tuple[Table, frozenset[str]]:
    """Return a table of the columns that are to be given, and those that are declared categories.

    Strings are levels, whatever they look like: `read_again` reads them. Columns that are `ignored`
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


def read_again(table: Table, readings: Mapping[str, ReadAs], declared: Collection[str]) -> Table:
    """Return a table as if all of its cells had been given at once.

    Parameters
    ----------
    table : Table with strings as levels (`table_as_given`)
    readings : how columns of strings are read, by name, where that is given
    declared : columns that are categories, whatever their strings look like

    Examples
    --------
    >>> size = Column("size", "category", np.array([0, 1, -1], np.int32), ("3.5", "$1,000.00"))
    >>> read_again(Table((size,), 3), {"size": "number"}, ())["size"].values
    array([   3.5, 1000. ,    nan])
    """
    columns: list[Column] = []
    for column in table:
        strings = column.kind == "category" and all(isinstance(x, str) for x in column.levels)
        if strings and column.name not in declared:
            column = column_of(column.name, column.as_text().values, readings.get(column.name))
        columns += with_calendar(column)
    return replace(table, columns=tuple(columns))


def given_hashes(rows: Rows) -> Hashes:
    """Return a hash of all cells of each row, (n,)."""
    return cell_hashes(rows.X.table, rows.X.table.names)


@contextmanager
def _silence() -> Iterator[None]:
    """Say nothing of a decision that will be made again: the last one says it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        yield
