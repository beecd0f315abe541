"""Passes over a source: what is fitted to rows, and is no tally, reads them again and again."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from suffice.data.labels import Labels, translate_codes
from suffice.data.rows import Rows
from suffice.engines import from_source
from suffice.engines.numbers import numbers_of
from suffice.engines.plan import CountingPlan
from suffice.engines.progress import Progress, Shown
from suffice.errors import InputError, SourceError, SufficeError
from suffice.estimators.labels import check_same_type, read_labels, refuse_no_weight
from suffice.logistic.passes import RowPasses, class_moments, class_products
from suffice.sources import Reservoir, Source, Unit
from suffice.sources.source import read_ahead
from suffice.sources.spark import SparkSource
from suffice.sources.tables import SpooledSource
from suffice.tally import Groups, Moments

# Whether products of columns are needed, of so many classes and columns.
NeedsProducts = Callable[[int, int], bool]


class ReadRows(NamedTuple):
    """The rows of a source: in memory if they are few, else read again at each pass."""

    rows: Rows | RowPasses
    classes: Labels
    """(C,), sorted"""
    columns: tuple[str, ...]
    target: str
    left_out: int
    """how many rows had no target"""
    source: Source

    def warn_left_out(self) -> None:
        """Warn once of rows that have no target."""
        from_source.warn_left_out(self.target, self.rows.shape[0], self.left_out, self.source)


@contextmanager
def read_in_passes(
    learner: from_source.ChoosesColumns,
    given: Any,
    table: Any,
    query: str | None,
    target: str,
    features: Sequence[str] | str | None,
    ignore: Collection[str],
    weight: str | None,
    shown: Shown,
    check: Callable[[Rows], None],
    needs_products: NeedsProducts,
) -> Iterator[ReadRows]:
    """Read a source once, and give its rows to be read again.

    A source that is slow to read again is spooled meanwhile: its numbers, to a temporary file.

    Parameters
    ----------
    learner : estimator that the rows are for
    given, table, query, target, features, ignore, weight, shown : as in `fit_from`
    check : refuses rows that cannot be learned
    needs_products : from numbers of classes and columns, whether products of columns are counted
    """
    with (
        Progress(shown) as note,
        from_source.rows_of(given, table, query, again=False, progress=note) as source,
    ):
        name = type(learner).__name__
        if isinstance(source, SparkSource):
            raise InputError(
                f"A {name} passes over its rows several times, and those of a Spark data frame "
                "stay on its cluster. Write them to Parquet files and give their path, or learn a "
                "model of a tally there, such as LinearDiscriminantAnalysis."
            )
        names = from_source.choose_features(learner, source, target, weight, features, ignore)
        if not names:
            raise InputError(
                f"{source.name} has no column to learn from beside {target!r}. Name one or more."
            )
        reader = UnitReader(from_source.read_roles(learner, source, target, weight, names), name)
        first = FirstPass(reader, check, needs_products)
        with _counted(source, first, note) as again:
            from_source.refuse_no_rows(target, first.rows, first.left_out, source)
            classes, rows = first.read_again(again, note)
            yield ReadRows(rows, classes, names, target, first.left_out, source)


@contextmanager
def _counted(source: Source, first: FirstPass, note: Progress) -> Iterator[Source]:
    """Have the first pass count all units; give what is read in further passes."""
    total = source.rows  # asked before rows are: some connections do one thing at a time
    units = read_ahead(source, first.reader.units_of(source))
    begin = list(itertools.islice(units, 1))
    units = itertools.chain(begin, units)
    if source.quick and all(_holds_numbers(one.table, first.reader.plan) for one in begin):
        note.begin(f"Counting {source.name}", total)
        for unit in units:
            first.count(unit)
            note.add(unit.table.num_rows)
        yield source
        return
    note.begin(f"Counting {source.name}, and spooling its numbers to a temporary file", total)

    def numbers() -> Iterator[Unit]:
        for unit in units:
            found = first.count(unit)
            if found is not None:
                yield unit._replace(table=first.reader.as_numbers(*found))
            note.add(unit.table.num_rows)

    with SpooledSource(source.name, first.reader.plan.columns, numbers()) as spooled:
        yield spooled


def _holds_numbers(table: Any, plan: CountingPlan) -> bool:
    """Say whether features and weights are numbers as they are, and no text is to be parsed."""
    import pyarrow as pa

    plain = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean
    columns = (name for name in plan.columns if name != plan.target)
    return all(any(kind(table.schema.field(name).type) for kind in plain) for name in columns)


@dataclass(frozen=True)
class UnitReader:
    """Tables of Arrow to labelled rows of numbers, by a plan.

    Parameters
    ----------
    plan : CountingPlan
    name : of the estimator, for errors
    """

    plan: CountingPlan
    name: str

    def units_of(self, source: Source) -> Iterator[Unit]:
        """Read the columns of a source once."""
        return source.units(self.plan.columns, levels=self.plan.level_columns)

    def read(self, table: Any) -> tuple[Labels, Rows | None, int]:
        """Return the classes, the rows coded by them, if there are any, and how many are left out.

        Those are left out that have no target.
        """
        X, y, weights, left_out = self.plan.split(table)
        if not X.num_rows:
            return np.empty(0), None, left_out
        names = self.plan.features
        cells = numbers_of(X, names, every=True)
        classes, rows = read_labels(cells, y, None, names, self.name)
        # Those of a part may all be 0.
        return classes, rows if weights is None else replace(rows, weights=weights), left_out

    def as_numbers(self, classes: Labels, rows: Rows) -> Any:
        """Return rows as a table of numbers that `reading_numbers` reads again."""
        import pyarrow as pa

        plan = self.plan
        cells = dict(zip(plan.features, rows.X.T, strict=True))
        labels = classes[rows.codes]
        if classes.dtype.kind in "OU":
            labels = pa.DictionaryArray.from_arrays(rows.codes, pa.array(classes.tolist()))
        cells[plan.target] = labels
        if plan.weight is not None:
            cells[plan.weight] = rows.row_weights
        return pa.table(cells)

    def reading_numbers(self) -> UnitReader:
        """Return what reads the tables of `as_numbers`: their targets are no strings any more."""
        return replace(self, plan=replace(self.plan, target_format=None))


class FirstPass:
    """What one pass over a source tells of its rows; and the rows themselves while they are few.

    Parameters
    ----------
    reader : UnitReader
    check, needs_products : as for `read_in_passes`
    """

    def __init__(
        self, reader: UnitReader, check: Callable[[Rows], None], needs_products: NeedsProducts
    ) -> None:
        self.reader = reader
        self.rows = self.left_out = 0
        self.reservoir = Reservoir(from_source.SAMPLE_ROWS)
        self._check, self._needs_products = check, needs_products
        self._groups: Groups[Moments] | None = None

    @property
    def counted(self) -> Groups[Moments]:
        """The moments by class, where it is known that there are rows."""
        assert self._groups is not None
        return self._groups

    def count(self, unit: Unit) -> tuple[Labels, Rows] | None:
        """Count the rows of a unit; return them, if any has a target."""
        # As long as it keeps all rows: of more none is needed.
        if self.reservoir.rows <= self.reservoir.size:
            self.reservoir.add(unit.table)
        try:
            classes, rows, left_out = self.reader.read(unit.table)
            self.left_out += left_out
            if rows is None:
                return None
            self._check(rows)
            self._groups = self._add(classes, rows)
        except SourceError:
            raise
        except SufficeError as error:
            raise from_source.name_place(unit, error) from error
        self.rows += rows.shape[0]
        return classes, rows

    def _add(self, classes: Labels, rows: Rows) -> Groups[Moments]:
        """Return the moments with those of further rows, without products if none are needed."""
        known = self._groups
        if known is None:
            return Groups(classes, *self._count(rows, len(classes)))
        check_same_type(classes, known.classes)
        most = max(len(classes), len(known.classes))
        weights, moments = self._count(rows, most)
        if not moments.full:
            known = _replace_parts(known, known.parts.diagonal())
        elif not known.parts.full:
            moments = moments.diagonal()
        return known + Groups(classes, weights, moments)

    def _count(self, rows: Rows, classes: int) -> tuple[Any, Moments]:
        full = self._needs_products(classes, rows.shape[1])
        return class_products(rows) if full else class_moments(rows)

    def read_again(self, source: Source, note: Progress) -> tuple[Labels, Rows | RowPasses]:
        """Return the classes, and the rows: from a source at each pass, if they are many."""
        if not self.counted.weights.any():
            refuse_no_weight()
        few = self.reservoir.drawn()
        if not few.complete:
            return self.counted.classes, self._passes(source, note)
        classes, rows, _ = self.reader.read(few.table)
        assert rows is not None  # one has a target
        return classes, rows

    def _passes(self, source: Source, note: Progress) -> RowPasses:
        groups, shape = self.counted, (self.rows, len(self.reader.plan.features))
        total = self.rows if isinstance(source, SpooledSource) else self.rows + self.left_out
        reader = self.reader.reading_numbers() if isinstance(source, SpooledSource) else self.reader
        numbers = itertools.count(2)

        def read() -> Iterator[Rows]:
            note.begin(f"Pass {next(numbers)} over {source.name}", total)
            seen = 0
            for unit in read_ahead(source, reader.units_of(source)):
                classes, rows, _ = reader.read(unit.table)
                if rows is not None:
                    seen += rows.shape[0]
                    yield _coded(rows, classes, groups.classes, source)
                note.add(unit.table.num_rows)
            if seen != shape[0]:
                raise _changed(source, f"it had {shape[0]:,} rows with a target, and has {seen:,}")

        return RowPasses(read, shape, groups.weights, groups.parts)


def _replace_parts(groups: Groups[Moments], parts: Moments) -> Groups[Moments]:
    """Return groups with another tally of the same rows."""
    return Groups(groups.classes, groups.weights, parts)


def _coded(rows: Rows, classes: Labels, known: Labels, source: Source) -> Rows:
    """Return rows, coded by the classes of their own part, coded by all classes."""
    if not np.isin(classes, known).all():
        new = np.setdiff1d(classes, known).tolist()[0]
        raise _changed(source, f"class {new!r} was not there before")
    return replace(rows, codes=translate_codes(classes, known, rows.codes), classes=len(known))


def _changed(source: Source, fact: str) -> SourceError:
    """Return the error of a source whose rows are others in a further pass."""
    return SourceError(
        f"{source.name} has changed while it was learned: {fact}. Learn it again when nobody "
        "writes to it."
    )
