"""Rows in files: Parquet, Arrow, CSV and JSON Lines; several files are one table."""

from __future__ import annotations

import csv
import glob
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from suffice.data.frames import check_unique_names
from suffice.errors import InputError, SourceError
from suffice.sources.source import (
    SEED,
    UNIT_ROWS,
    Drawn,
    Source,
    SqlTable,
    Unit,
    concat_tables,
    in_units,
    open_duckdb,
    sample_units,
)

# The format of a file by how its name ends, compression aside.
FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
COMPRESSED = (".gz", ".zst")
DELIMITERS = (",", ";", "\t", "|")
# Bytes within which the first line of a CSV file has to end.
MAX_HEADER = 1 << 20


def open_files(path: str | os.PathLike[str]) -> Source:
    """Return the source of a file, a folder, or all files that a pattern matches."""
    named = os.fspath(path)
    files = find_files(named)
    formats = {format_of(one) for one in files}
    if len(formats) > 1:
        raise InputError(
            f"{named!r} has files of several formats: {', '.join(sorted(formats))}. Name files of "
            "one format, with a pattern such as '*.parquet'."
        )
    opener: dict[str, Callable[..., Source]] = {
        "parquet": ParquetSource,
        "arrow": ArrowFileSource,
        "csv": CsvSource,
        "json": JsonSource,
    }
    return opener[formats.pop()](named, files)


def find_files(named: str) -> list[str]:
    """Return the files of a path or pattern, sorted; those of a folder by their known endings."""
    if os.path.isdir(named):
        found = sorted(
            str(one)
            for one in Path(named).rglob("*")
            if one.is_file() and ending(str(one)) in FORMATS and not _is_hidden(one, named)
        )
        if not found:
            raise InputError(
                f"The folder {named!r} has no file that ends in {', '.join(FORMATS)}. Name another."
            )
        return found
    if os.path.exists(named):
        return [named]
    found = sorted(one for one in glob.glob(named, recursive=True) if os.path.isfile(one))
    if not found:
        raise InputError(f"There is no file {named!r}. Check the path.")
    return found


def _is_hidden(file: Path, folder: str) -> bool:
    """Say whether a file, or a folder it is in, is one that tools keep for themselves."""
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def ending(file: str) -> str:
    """Return how the name of a file ends, compression aside.

    >>> ending("rows.CSV.gz"), ending("rows.parquet")
    ('.csv', '.parquet')
    """
    stem, last = os.path.splitext(file.lower())
    return os.path.splitext(stem)[1] if last in COMPRESSED else last


def format_of(file: str) -> str:
    """Return the format of a file by its name."""
    found = FORMATS.get(ending(file))
    if found is None:
        raise InputError(
            f"{file!r} ends in {ending(file)!r}, which is no format that is read. Use "
            f"{', '.join(FORMATS)}, the last six also with .gz or .zst."
        )
    return found


class FileSource(Source):
    """Files that are one table."""

    def __init__(self, named: str, files: Sequence[str], *, strings: bool = False) -> None:
        super().__init__(repr(named), strings=strings)
        self.files = list(files)

    def fingerprint(self) -> list[list[Any]]:
        """Return name, size and time of change of every file."""
        stats = ((os.path.abspath(one), os.stat(one)) for one in self.files)
        return [[file, stat.st_size, stat.st_mtime_ns] for file, stat in stats]


class ParquetSource(FileSource):
    """Parquet files, hive partitions included; a unit is a row group."""

    quick = True

    def __init__(self, named: str, files: Sequence[str]) -> None:
        super().__init__(named, files)
        self._dataset = self._open(())
        self._check_types()

    @classmethod
    def of_dataset(cls, dataset: Any) -> ParquetSource:
        """Return the source of a pyarrow dataset of Parquet files, its partitions included."""
        source = cls.__new__(cls)
        FileSource.__init__(source, "the dataset", dataset.files)
        source._dataset = dataset
        source._open = lambda levels: dataset  # type: ignore[method-assign]
        return source

    def _open(self, levels: Collection[str]) -> Any:
        """Return the dataset of the files, some columns of strings as dictionaries."""
        import pyarrow as pa
        import pyarrow.dataset as ds

        options = ds.ParquetReadOptions(dictionary_columns=set(levels))
        try:
            return ds.dataset(
                [os.path.abspath(one) for one in self.files],
                format=ds.ParquetFileFormat(read_options=options),
                partitioning=ds.HivePartitioning.discover(infer_dictionary=False),
            )
        except (pa.ArrowInvalid, OSError) as error:
            raise SourceError(f"{self.name} cannot be read as Parquet: {error}") from error

    def _check_types(self) -> None:
        """Refuse files whose columns have other types than those of the first file."""
        first = self._dataset.schema
        for fragment in self._fragments(self._dataset):
            try:
                own = fragment.physical_schema
            except Exception as error:
                raise _damaged(fragment.path, error) from error
            for field in own:
                at = first.get_field_index(field.name)
                if at >= 0 and not _alike(first.field(at).type, field.type):
                    raise SourceError(
                        f"Column {field.name!r} of {fragment.path!r} is of type {field.type}, and "
                        f"of type {first.field(at).type} in the files before. Write the files with "
                        "one type a column."
                    )

    @staticmethod
    def _fragments(dataset: Any) -> list[Any]:
        return list(dataset.get_fragments())

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns, those of partitions among them."""
        return tuple(self._dataset.schema.names)

    @property
    def rows(self) -> int:
        """How many rows the files say they have."""
        return sum(fragment.metadata.num_rows for fragment in self._fragments(self._dataset))

    def units(
        self, columns: Sequence[str], *, levels: Collection[str] = (), skip: int = 0
    ) -> Iterator[Unit]:
        """Yield the row groups, file by file."""
        number = 0
        dataset = self._open(levels)
        for fragment in self._fragments(dataset):
            first = 0
            for at in range(fragment.num_row_groups):
                if number >= skip:
                    table = self._read(dataset, fragment, at, columns)
                    yield Unit(table, fragment.path, first)
                first += fragment.metadata.row_group(at).num_rows
                number += 1

    @staticmethod
    def _read(dataset: Any, fragment: Any, at: int, columns: Sequence[str]) -> Any:
        try:
            group = fragment.subset(row_group_ids=[at])
            return group.to_table(schema=dataset.schema, columns=list(columns))
        except Exception as error:
            raise _damaged(fragment.path, error, f", row group {at}") from error

    def sample(self, columns: Sequence[str], size: int) -> Drawn:
        """Return a random run of consecutive rows of each row group, as long as its share."""
        rows = self.rows
        if rows <= size:
            return sample_units(self.units(columns), size)
        rng = np.random.default_rng(SEED)
        parts = []
        for fragment in self._fragments(self._dataset):
            runs = _draw_runs(fragment, size / rows, rng)
            if runs:
                parts.append(self._read_runs(fragment, runs, columns))
        return Drawn(concat_tables(parts), False)

    def _read_runs(self, fragment: Any, runs: list[Run], columns: Sequence[str]) -> Any:
        """Return runs of rows of a file: by DuckDB, which passes over the pages between them."""
        import duckdb
        import pyarrow as pa

        schema = pa.schema([self._dataset.schema.field(name) for name in columns])
        try:
            return _runs_by_duckdb(fragment, runs, schema)
        except (duckdb.Error, pa.ArrowException):
            # Of a type, or in a place, that DuckDB does not know: whole row groups are read.
            tables = [
                self._read(self._dataset, fragment, run.group, columns).slice(run.first, run.rows)
                for run in runs
            ]
            return concat_tables(tables)

    def sql_table(self) -> SqlTable:
        """Return how DuckDB is asked for sums over the files."""
        files = ", ".join(map(literal, self.files))

        def run(query: str) -> list[Any]:
            with open_duckdb() as connection:
                return list(connection.sql(query).fetchall())

        table = f"read_parquet([{files}], hive_partitioning = true, union_by_name = true)"
        return SqlTable("duckdb", table, run, local=True)


class Run(NamedTuple):
    """Consecutive rows of a row group."""

    group: int
    first: int
    """the first of them, counted from the first of the group"""
    rows: int
    begin: int
    """the number of the group's first row in its file"""


def _draw_runs(fragment: Any, share: float, rng: np.random.Generator) -> list[Run]:
    """Return a run of each row group of a file, as long as this share of it."""
    found, begin = [], 0
    for group in range(fragment.num_row_groups):
        rows = fragment.metadata.row_group(group).num_rows
        # The fraction of a row that is left over is a row with that probability.
        length = int(rows * share + rng.random())
        first = int(rng.integers(0, rows - length + 1))
        if length:
            found.append(Run(group, first, length, begin))
        begin += rows
    return found


def _runs_by_duckdb(fragment: Any, runs: list[Run], schema: Any) -> Any:
    """Return runs of rows of a Parquet file, its partition's columns among them."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    own = [name for name in schema.names if name in fragment.physical_schema.names]
    names = ", ".join(map(quote, own)) or "NULL"
    begins = [(run.begin + run.first, run.rows) for run in runs]
    places = " OR ".join(
        f"file_row_number BETWEEN {begin} AND {begin + rows - 1}" for begin, rows in begins
    )
    file = f"read_parquet({literal(fragment.path)}, file_row_number = true)"
    with open_duckdb() as connection:
        found = connection.sql(f"SELECT {names} FROM {file} WHERE {places}").to_arrow_table()
    keys = ds.get_partition_keys(fragment.partition_expression)
    columns = [
        found.column(field.name)
        if field.name in own
        else pa.array([keys.get(field.name)] * len(found))
        for field in schema
    ]
    return pa.table(columns, names=schema.names).cast(schema)


def _alike(one: Any, other: Any) -> bool:
    """Say whether two types of columns are one: a dictionary of strings is a column of strings."""
    import pyarrow as pa

    plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in (one, other)]
    return bool(plain[0] == plain[1] or any(pa.types.is_null(kind) for kind in plain))


def _damaged(file: str, error: Exception, where: str = "") -> SourceError:
    """Return the error of a file that cannot be read to its end."""
    return SourceError(
        f"{file!r}{where} cannot be read ({str(error).splitlines()[0]}). The file is damaged or "
        "not whole; write it again."
    )


class ArrowFileSource(FileSource):
    """Arrow IPC files (Feather), read batch by batch."""

    quick = True

    def __init__(self, named: str, files: Sequence[str]) -> None:
        super().__init__(named, files)
        with self._reader(self.files[0]) as reader:
            self._schema = reader.schema

    @staticmethod
    def _reader(file: str) -> Any:
        import pyarrow as pa

        try:
            return pa.ipc.open_file(pa.memory_map(file))
        except pa.ArrowInvalid:
            try:
                return pa.ipc.open_stream(pa.memory_map(file))
            except (pa.ArrowInvalid, OSError) as error:
                raise _damaged(file, error) from error

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._schema.names)

    def units(
        self, columns: Sequence[str], *, levels: Collection[str] = (), skip: int = 0
    ) -> Iterator[Unit]:
        """Yield the rows of one file after the other, in units of equal size."""
        import pyarrow as pa

        names = list(columns)
        schema = pa.schema([self._schema.field(name) for name in names])
        return in_units(self._batches(names, schema), schema, self.name, skip)

    def _batches(self, names: list[str], schema: Any) -> Iterator[Any]:
        import pyarrow as pa

        for file in self.files:
            with self._reader(file) as reader:
                listed = getattr(reader, "num_record_batches", None)
                try:
                    for at in range(listed) if listed is not None else iter(reader):
                        batch = reader.get_batch(at) if listed is not None else at
                        table = pa.Table.from_batches([batch]).select(names)
                        yield from table.cast(schema).to_batches()
                except (pa.ArrowInvalid, OSError) as error:
                    raise _damaged(file, error) from error


class DuckFileSource(FileSource):
    """Files of text that DuckDB reads."""

    def __init__(self, named: str, files: Sequence[str], *, strings: bool = False) -> None:
        super().__init__(named, files, strings=strings)
        self._connection = open_duckdb(config={"preserve_insertion_order": True})
        self._relation = f"({self._query()})"
        self._columns = self._ask(f"DESCRIBE {self._query()}")

    def _query(self) -> str:
        """Return the query of all rows."""
        raise NotImplementedError

    def _ask(self, query: str) -> tuple[str, ...]:
        import duckdb

        try:
            return tuple(row[0] for row in self._connection.execute(query).fetchall())
        except duckdb.Error as error:
            raise unreadable(self.name, error) from error

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._columns

    def units(
        self, columns: Sequence[str], *, levels: Collection[str] = (), skip: int = 0
    ) -> Iterator[Unit]:
        """Yield the rows in the order of the files, in units of equal size."""
        import duckdb
        import pyarrow as pa

        names = ", ".join(quote(name) for name in columns)
        try:
            cursor = self._connection.cursor()
            reader = cursor.sql(f"SELECT {names} FROM {self._relation}").to_arrow_reader(UNIT_ROWS)
            yield from in_units(iter(reader), reader.schema, self.name, skip)
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            raise unreadable(self.name, error) from error


def quote(name: str) -> str:
    """Return the name of a column as DuckDB takes it.

    >>> quote('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL takes it."""
    return "'" + text.replace("'", "''") + "'"


def unreadable(name: str, error: object) -> SourceError:
    """Return the error of rows that DuckDB cannot read, with what it says of them."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = "; ".join(line.rstrip(".") for line in lines[:3])
    return SourceError(f"{name} cannot be read: {said:.500}. Correct the row, or leave it out.")


class CsvSource(DuckFileSource):
    """CSV files with a header, all cells read as strings: the library has a rule of its own.

    Quotes are double quotes; what separates columns is found in the first line.
    """

    def __init__(self, named: str, files: Sequence[str]) -> None:
        self.delimiter, self.header = read_header(files[0])
        for file in files[1:]:
            if read_header(file) != (self.delimiter, self.header):
                raise SourceError(
                    f"{file!r} has another header than {files[0]!r}. Give files with the same "
                    "columns in the same order."
                )
        check_unique_names(self.header)
        super().__init__(named, files, strings=True)

    def _query(self) -> str:
        return read_csv_query(self.files, self.header, self.delimiter)


def read_csv_query(
    files: Sequence[str], names: Sequence[str], delimiter: str, *, header: bool = True
) -> str:
    """Return the query of all rows of CSV files, their cells as strings."""
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    return (
        f"SELECT * FROM read_csv([{', '.join(map(literal, files))}], columns = {{{columns}}}, "
        f"auto_detect = false, header = {header}, delim = {literal(delimiter)}, quote = '\"', "
        "escape = '\"', strict_mode = true, null_padding = false, nullstr = '', "
        "hive_partitioning = false)"
    )


def read_header(file: str) -> tuple[str, list[str]]:
    """Return what separates the columns of a CSV file, and their names."""
    import pyarrow as pa

    kind = {".gz": "gzip", ".zst": "zstd"}.get(os.path.splitext(file.lower())[1])
    try:
        with pa.input_stream(file, compression=kind) as stream:
            text = stream.read(MAX_HEADER)
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(file, error) from error
    delimiters = ("\t",) if ending(file) in (".tsv", ".tab") else DELIMITERS
    return header_of(text, repr(file), delimiters)


def header_of(
    head: bytes, name: str, delimiters: Sequence[str] = DELIMITERS
) -> tuple[str, list[str]]:
    r"""Return what separates the columns of CSV, and their names.

    The separator is what the first line has most of, quoted parts aside.

    >>> header_of(b'size;"a, b"\n1;2', "rows")
    (';', ['size', 'a, b'])
    """
    text = head[:MAX_HEADER].decode("utf-8-sig", "replace").lstrip("\n")
    first = text.splitlines()[0] if text.strip() else ""
    outside = "".join(first.split('"')[::2])
    delimiter = max(delimiters, key=outside.count)
    names = next(csv.reader([first], delimiter=delimiter), [])
    if not names:
        raise SourceError(f"{name} is empty. Give rows after a first line that names the columns.")
    return delimiter, names


class JsonSource(DuckFileSource):
    """JSON Lines: an object a line, whose entries are columns."""

    def _query(self) -> str:
        files = ", ".join(map(literal, self.files))
        return (
            f"SELECT * FROM read_json([{files}], format = 'newline_delimited', "
            "union_by_name = true, hive_partitioning = false)"
        )
