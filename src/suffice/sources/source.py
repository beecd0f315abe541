"""What every source can do: name its columns, give its rows in units, and give a sample of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from suffice.errors import InputError

# Rows of a unit, where the source has no units of its own: enough that the work on one outweighs
# what it costs to begin it, few enough that two of them are no matter of memory.
UNIT_ROWS = 1 << 17
# Of the generators that draw samples. Not 0: data that were simulated with the generator of seed 0
# would have the very numbers that rows are drawn by, and a sample might be of one class.
SEED = 0x5FF1CE


class Unit(NamedTuple):
    """Some consecutive rows of a source: what is counted at a time, and checked off when it is."""

    table: Any
    """a pyarrow.Table"""
    where: str
    """what to call its rows in an error"""
    first_row: int
    """the number of its first row in what `where` names"""


class SqlTable(NamedTuple):
    """How a database is asked for sums over rows."""

    dialect: str
    """the name of its SQL"""
    table: str
    """what stands after FROM"""
    run: Callable[[str], Sequence[Sequence[Any]]]
    """runs a query and returns its rows"""
    local: bool
    """whether its rows are here anyway, so that reading them costs little"""


class Drawn(NamedTuple):
    """Rows that stand for all rows of a source."""

    table: Any
    """a pyarrow.Table"""
    complete: bool
    """whether these are all rows"""


class Source(ABC):
    """Rows with named columns, read in units, as often as asked, in the same order.

    Parameters
    ----------
    name : what to call it in errors and progress; without credentials
    strings : whether all cells are strings, whatever they hold, as in CSV
    declared : columns that are categories whatever their strings look like (pandas, polars)
    """

    # Whether its rows can be read once only.
    one_shot: ClassVar[bool] = False
    # Whether its rows are read again about as quickly as numbers from a temporary file: those of
    # Parquet, Arrow and memory are; text is parsed, and a query run, each time.
    quick: ClassVar[bool] = False
    # Whether another thread may read its rows: connections of some databases are of one thread.
    any_thread: ClassVar[bool] = True

    def __init__(self, name: str, *, strings: bool = False, declared: Collection[str] = ()) -> None:
        self.name = name
        self.strings = strings
        self.declared = frozenset(declared)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:  # noqa: B027  # most sources have opened nothing
        """Give back what was opened: files, connections."""

    @property
    @abstractmethod
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def rows(self) -> int | None:
        """How many rows there are, where that is known without reading them."""
        return None

    @abstractmethod
    def units(
        self, columns: Sequence[str], *, levels: Collection[str] = (), skip: int = 0
    ) -> Iterator[Unit]:
        """Yield the rows with these columns, without the first `skip` units.

        Columns of `levels` have few different strings: they may come as dictionaries.
        """

    def first_rows(self, columns: Sequence[str]) -> Any:
        """Return the first rows, a pyarrow.Table, or None if there are none."""
        unit = next(self.units(columns), None)
        return None if unit is None else unit.table

    def sample(self, columns: Sequence[str], size: int) -> Drawn:
        """Return about `size` rows that stand for all; all if they are fewer.

        Every row is as likely to be drawn as any other, by a generator with a fixed seed.
        """
        return sample_units(self.units(columns), size)

    def sql_table(self) -> SqlTable | None:
        """Return how sums over the rows are asked for in SQL, if they can be."""
        return None

    def fingerprint(self) -> list[list[Any]] | None:
        """Return what tells whether the rows are the same at another time, or None if nothing."""
        return None

    def check_columns(self, wanted: Collection[str], cure: str = "Name one of them.") -> None:
        """Refuse columns that there are not."""
        known = self.column_names
        for name in wanted:
            if name not in known:
                raise InputError(
                    f"{self.name} has no column {name!r} (columns: "
                    f"{', '.join(map(repr, known[:20]))}{', ...' if len(known) > 20 else ''}). "
                    f"{cure}"
                )


def sample_units(units: Iterator[Unit], size: int) -> Drawn:
    """Return `size` rows of all units, every row as likely as any other."""
    reservoir = Reservoir(size)
    for unit in units:
        reservoir.add(unit.table)
    return reservoir.drawn()


class Reservoir:
    """A random sample of rows that pass by: every row is as likely as any other.

    Each row draws a number, and those of the lowest numbers are kept, in their order.

    Parameters
    ----------
    size : how many rows are kept at most
    """

    def __init__(self, size: int) -> None:
        self.size, self.rows = size, 0
        self._rng = np.random.default_rng(SEED)
        self._kept: list[Any] = []
        self._keys = np.empty(0)

    def add(self, table: Any) -> None:
        """Let the rows of a pyarrow.Table pass by."""
        import pyarrow as pa

        own = self._rng.random(len(table))
        self.rows += len(own)
        known = np.concatenate([self._keys, own])
        # Rows that are not among the lowest so far never will be: they are not copied.
        limit = np.partition(known, self.size)[self.size] if len(known) > self.size else np.inf
        some = np.flatnonzero(own < limit)
        if some.size:
            self._kept.append(table.take(pa.array(some)))
            self._keys = np.concatenate([self._keys, own[some]])
        if len(self._keys) >= 2 * self.size:
            self._reduce()

    def drawn(self) -> Drawn:
        """Return the sample."""
        if not self.rows:
            raise InputError("The source has no rows, so there is nothing to learn. Give some.")
        self._reduce()
        return Drawn(self._kept[0], self.rows <= self.size)

    def _reduce(self) -> None:
        """Keep the rows of the lowest numbers, as one table."""
        whole = concat_tables(self._kept)
        if len(self._keys) > self.size:
            at = np.sort(np.argpartition(self._keys, self.size)[: self.size])
            whole, self._keys = whole.take(at), self._keys[at]
        self._kept = [whole]


def concat_tables(tables: Sequence[Any]) -> Any:
    """Return the rows of several tables, whose types may differ in what null columns are."""
    import pyarrow as pa

    if len(tables) == 1:
        return tables[0]
    return pa.concat_tables(
        [_without_dictionaries(table) for table in tables], promote_options="permissive"
    )


def _without_dictionaries(table: Any) -> Any:
    """Return a table whose columns of strings are plain: dictionaries of parts may differ."""
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = table.column(at).cast(field.type.value_type)
            table = table.set_column(at, field.name, plain)
    return table


def read_ahead(source: Source, units: Iterator[Unit]) -> Iterator[Unit]:
    """Yield units of a source, while the next one is already read by another thread if it may."""
    if not source.any_thread:
        yield from units
        return
    with ThreadPoolExecutor(1, thread_name_prefix="suffice-read") as pool:
        coming = pool.submit(next, units, None)
        while (unit := coming.result()) is not None:
            coming = pool.submit(next, units, None)
            yield unit


def in_units(batches: Iterator[Any], schema: Any, where: str, skip: int = 0) -> Iterator[Unit]:
    """Yield record batches as units of exactly `UNIT_ROWS` rows, but for the last.

    So units are the same whatever sizes batches come in. The first `skip` units are left out.
    """
    import pyarrow as pa

    held: list[Any] = []
    rows = first = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        while rows >= UNIT_ROWS:
            table = pa.Table.from_batches(held, schema)
            if first >= skip * UNIT_ROWS:
                yield Unit(table.slice(0, UNIT_ROWS), where, first)
            first += UNIT_ROWS
            rows -= UNIT_ROWS
            held = table.slice(UNIT_ROWS).to_batches()
    if rows and first >= skip * UNIT_ROWS:
        yield Unit(pa.Table.from_batches(held, schema), where, first)


def open_duckdb(place: str = ":memory:", **options: Any) -> Any:
    """Return a connection to DuckDB that writes no progress bar to stdout.

    DuckDB does by itself where it takes a program for a person's session, `python -c` among them.
    """
    import duckdb

    connection = duckdb.connect(place, **options)
    connection.execute("SET enable_progress_bar = false")
    return connection
