"""Rows in memory, Arrow streams that can be read once, and streams spooled to a file."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np

from suffice.data.frames import library_of
from suffice.errors import InputError, SourceError
from suffice.sources.source import SEED, UNIT_ROWS, Drawn, Source, Unit, in_units

# What the types of columns that are declared categories are called (pandas, polars).
DECLARED = ("categor", "enum")


class TableSource(Source):
    """A table in memory: pyarrow, or a data frame of pandas or polars."""

    quick = True

    def __init__(self, table: Any) -> None:
        super().__init__(f"The {library_of(table)} table", declared=_declared(table))
        self.table = _as_arrow(table)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.table.column_names)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.table.num_rows)

    def units(
        self, columns: Sequence[str], *, levels: Collection[str] = (), skip: int = 0
    ) -> Iterator[Unit]:
        """Yield the rows in slices, without a copy."""
        some = self.table.select(list(columns))
        for first in range(skip * UNIT_ROWS, self.rows, UNIT_ROWS):
            yield Unit(some.slice(first, UNIT_ROWS), self.name, first)

    def sample(self, columns: Sequence[str], size: int) -> Drawn:
        """Return random rows, in their order."""
        some = self.table.select(list(columns))
        if self.rows <= size:
            return Drawn(some, True)
        at = np.sort(np.random.default_rng(SEED).choice(self.rows, size, replace=False))
        return Drawn(some.take(at), False)


def _declared(table: Any) -> set[str]:
    """Return the columns that a data frame calls categories."""
    if library_of(table) not in ("pandas", "polars"):
        return set()
    kinds = zip(table.columns, table.dtypes, strict=True)
    return {str(name) for name, kind in kinds if str(kind).lower().startswith(DECLARED)}


def _as_arrow(table: Any) -> Any:
    import pyarrow as pa

    if library_of(table) == "pandas":
        return pa.Table.from_pandas(table, preserve_index=False)
    if library_of(table) == "polars":
        return table.to_arrow()
    return pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table


class StreamSource(Source):
    """Record batches that can be read once: what is to be read again is spooled first.

    Parameters
    ----------
    name : what to call it
    reader : pyarrow.RecordBatchReader
    """

    one_shot = True

    def __init__(self, name: str, reader: Any) -> None:
        super().__init__(name)
        self._reader = reader
        self._read = False

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._reader.schema.names)

    def units(
        self, columns: Sequence[str], *, levels: Collection[str] = (), skip: int = 0
    ) -> Iterator[Unit]:
        """Yield the rows, once."""
        if self._read:
            raise InputError(f"{self.name} was read already, and can be read once only.")
        self._read = True
        return self._units(list(columns), skip)

    def _units(self, names: list[str], skip: int) -> Iterator[Unit]:
        import pyarrow as pa

        schema = pa.schema([self._reader.schema.field(name) for name in names])
        try:
            batches = (batch.select(names) for batch in self._reader)
            yield from in_units(batches, schema, self.name, skip)
        except (pa.ArrowException, OSError) as error:
            raise SourceError(
                f"{self.name} cannot be read to its end: {str(error).splitlines()[0]:.300}"
            ) from error


class SpooledSource(Source):
    """Rows that passed by once, in a temporary Arrow file that is removed at the end.

    Every unit is a stream of its own, so that a column may be all null in one and not in the next.
    """

    def __init__(
        self,
        name: str,
        columns: Sequence[str],
        units: Iterator[Unit],
        *,
        strings: bool = False,
        note: Callable[[int], None] = lambda rows: None,
    ) -> None:
        super().__init__(name, strings=strings)
        import pyarrow as pa

        self._columns, self._rows = tuple(columns), 0
        handle, self._path = tempfile.mkstemp(prefix="suffice-", suffix=".arrow")
        os.close(handle)
        # However it comes to its end: an interruption may come before `close`.
        self._remove = weakref.finalize(self, _remove_file, self._path)
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        try:
            with pa.OSFile(self._path, "wb") as file:
                for unit in units:
                    with pa.ipc.new_stream(file, unit.table.schema, options=options) as writer:
                        writer.write_table(unit.table)
                    self._rows += unit.table.num_rows
                    note(self._rows)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove the file."""
        self._remove()

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._columns

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self._rows

    def units(
        self, columns: Sequence[str], *, levels: Collection[str] = (), skip: int = 0
    ) -> Iterator[Unit]:
        """Yield the units as they were written."""
        import pyarrow as pa

        first = 0
        with pa.memory_map(self._path) as file:
            for number in itertools.count():
                if file.tell() >= file.size():
                    return
                table = pa.ipc.open_stream(file).read_all()
                if number >= skip:
                    yield Unit(table.select(list(columns)), self.name, first)
                first += table.num_rows


def _remove_file(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


class DatasetSource(Source):
    """A pyarrow dataset, whatever it is made of; files of Parquet are `ParquetSource`s."""

    def __init__(self, dataset: Any) -> None:
        super().__init__("The dataset")
        self.dataset = dataset

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.dataset.schema.names)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.dataset.count_rows())

    def units(
        self, columns: Sequence[str], *, levels: Collection[str] = (), skip: int = 0
    ) -> Iterator[Unit]:
        """Yield the rows in the order of the dataset."""
        scanner = self.dataset.scanner(columns=list(columns), batch_size=UNIT_ROWS)
        return in_units(scanner.to_batches(), scanner.projected_schema, self.name, skip)


class LazyFrameSource(Source):
    """A lazy frame of polars, computed in batches each time it is read."""

    def __init__(self, frame: Any) -> None:
        kinds = frame.collect_schema()
        declared = [name for name in kinds if str(kinds[name]).lower().startswith(DECLARED)]
        super().__init__("The lazy frame", declared=declared)
        self._frame, self._columns = frame, tuple(kinds.names())

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._columns

    def units(
        self, columns: Sequence[str], *, levels: Collection[str] = (), skip: int = 0
    ) -> Iterator[Unit]:
        """Yield the rows as polars computes them."""
        some = self._frame.select(list(columns))
        if hasattr(some, "collect_batches"):
            frames = some.collect_batches(chunk_size=UNIT_ROWS, maintain_order=True)
        else:  # older than 1.33
            frames = some.collect().iter_slices(UNIT_ROWS)
        tables = (frame.to_arrow() for frame in frames)
        first = next(tables, None)
        if first is not None:
            later = (table.cast(first.schema) for table in tables)
            batches = (
                one for table in itertools.chain([first], later) for one in table.to_batches()
            )
            yield from in_units(batches, first.schema, self.name, skip)
