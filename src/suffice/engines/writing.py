"""Tables written to files and databases, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from suffice.data.frames import library_of
from suffice.errors import InputError, SaveError, without_credentials
from suffice.sources.files import ending, quote
from suffice.sources.source import open_duckdb

# What a spreadsheet runs as a formula begins with one of these.
FORMULA_STARTS = r"^[=+\-@\t\r]"
# Names of types in SQL, by the names that Arrow has for them.
SQL_TYPES = {
    "double": "DOUBLE PRECISION",
    "float": "DOUBLE PRECISION",
    "bool": "BOOLEAN",
    "date32[day]": "DATE",
}
# Rows that are handed to a database at a time.
INSERT_ROWS = 10_000


class TableWriter(ABC):
    """Takes tables of the same columns, one after the other."""

    @abstractmethod
    def write(self, table: Any) -> None:
        """Write the rows of a pyarrow.Table."""


@contextlib.contextmanager
def open_writer(
    destination: Any, into: str | None, *, escape_formulas: bool = False
) -> Iterator[TableWriter]:
    """Open a file by the ending of its name, a binary stream, or a new table of a connection.

    Nothing is there under the final name before all is written. Rows for a stream, "csv" or
    "jsonl" as `into` says, are written as they come.
    """
    if isinstance(destination, str | os.PathLike):
        if into is not None:
            raise InputError("into= names a table of a connection. Leave it out with a path.")
        with _file_writer(os.fspath(destination), escape_formulas=escape_formulas) as writer:
            yield writer
        return
    if hasattr(destination, "write") and hasattr(destination, "flush"):
        with _stream_writer(destination, into, escape_formulas=escape_formulas) as writer:
            yield writer
        return
    if into is None:
        raise InputError("A connection needs the name of the table to write. Give into=.")
    with _database_writer(destination, into) as writer:
        yield writer


# Files.


@contextlib.contextmanager
def _file_writer(path: str, *, escape_formulas: bool) -> Iterator[TableWriter]:
    kind = ending(path)
    writers: dict[str, Callable[[str], FileWriter]] = {
        ".parquet": ParquetWriter,
        ".pq": ParquetWriter,
        ".csv": lambda file: CsvWriter(file, escape_formulas=escape_formulas),
        ".jsonl": JsonWriter,
        ".ndjson": JsonWriter,
    }
    if kind not in writers or path.lower().endswith((".gz", ".zst")):
        raise InputError(
            f"{path!r} ends in nothing that is written. Use {', '.join(writers)}, or a connection."
        )
    with _replacing(path) as file:
        writer = writers[kind](file)
        try:
            yield writer
        finally:
            writer.close()


@contextlib.contextmanager
def _stream_writer(
    stream: Any, form: str | None, *, escape_formulas: bool
) -> Iterator[TableWriter]:
    if form not in ("csv", "jsonl"):
        raise InputError(f"into={form!r} is no format of a stream. Use 'csv' or 'jsonl'.")
    writer: FileWriter
    if form == "csv":
        writer = CsvWriter(stream, escape_formulas=escape_formulas)
    else:
        writer = JsonWriter(stream)
    try:
        yield writer
    finally:
        writer.close()
        stream.flush()


@contextlib.contextmanager
def _replacing(path: str) -> Iterator[str]:
    """Give the name of a temporary file beside `path`, which takes its place at the end."""
    folder, name = os.path.split(os.path.abspath(path))
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(6)}")
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, error.strerror, path) from None
    except OSError as error:
        text = f"Cannot write {path!r}: {error.strerror or error}. Nothing is there of it."
        raise SaveError(error.errno, text, path) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


class FileWriter(TableWriter):
    """A file that is closed at the end."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left, and close the file."""


class ParquetWriter(FileWriter):
    """A Parquet file, a row group for each table."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._writer: Any = None

    def write(self, table: Any) -> None:
        """Write a row group."""
        import pyarrow.parquet as pq

        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table.cast(self._writer.schema))

    def close(self) -> None:
        """Write the footer."""
        if self._writer is not None:
            self._writer.close()


class CsvWriter(FileWriter):
    """A CSV file or stream with a header."""

    def __init__(self, file: Any, *, escape_formulas: bool) -> None:
        self._file = file
        self._writer: Any = None
        self._escape = escape_formulas

    def write(self, table: Any) -> None:
        """Write rows, the header first."""
        import pyarrow.csv

        table = _escape_formulas(table) if self._escape else table
        if self._writer is None:
            self._writer = pyarrow.csv.CSVWriter(self._file, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()


def _escape_formulas(table: Any) -> Any:
    """Return a table with an apostrophe before strings that a spreadsheet would run."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for at, field in enumerate(table.schema):
        cells = table.column(at)
        if pa.types.is_dictionary(field.type):
            cells = cells.cast(field.type.value_type)
        if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
            odd = pc.match_substring_regex(cells, FORMULA_STARTS)
            escaped = pc.binary_join_element_wise("'", cells, "")
            table = table.set_column(at, field.name, pc.if_else(odd, escaped, cells))
    return table


class JsonWriter(FileWriter):
    """A file or stream of JSON Lines."""

    def __init__(self, file: Any) -> None:
        self._is_ours = isinstance(file, str)
        # Closed by close().
        self._stream = open(file, "wb") if self._is_ours else file  # noqa: SIM115
        self._folder = tempfile.TemporaryDirectory()
        self._part = os.path.join(self._folder.name, "part.jsonl")
        self._connection = open_duckdb()

    def write(self, table: Any) -> None:
        """Write an object a row."""
        self._connection.register("given", table)
        target = self._part.replace("'", "''")
        self._connection.execute(f"COPY (SELECT * FROM given) TO '{target}' (FORMAT json)")
        self._connection.unregister("given")
        self._stream.write(Path(self._part).read_bytes())

    def close(self) -> None:
        """Close the file; a stream stays open."""
        if self._is_ours:
            self._stream.close()
        self._connection.close()
        self._folder.cleanup()


# Databases.


@contextlib.contextmanager
def _database_writer(connection: Any, into: str) -> Iterator[TableWriter]:
    if library_of(connection) in ("duckdb", "_duckdb"):
        with _in_transaction(connection.cursor(), DuckWriter, into, begin="BEGIN") as writer:
            yield writer
    elif library_of(connection) == "sqlalchemy":
        engine = getattr(connection, "engine", connection)
        raw = engine.raw_connection()
        try:
            with _in_transaction(raw.driver_connection, CursorWriter, into) as writer:
                yield writer
        finally:
            raw.close()
    else:
        with _in_transaction(connection, CursorWriter, into) as writer:
            yield writer


@contextlib.contextmanager
def _in_transaction(
    connection: Any, kind: Callable[[Any, str], TableWriter], into: str, begin: str | None = None
) -> Iterator[TableWriter]:
    """Give a writer whose rows are there all at once, or not at all."""
    try:
        if library_of(connection) == "sqlite3" and not connection.in_transaction:
            begin = "BEGIN"  # Python's driver begins none before it creates a table
        if begin is not None:
            connection.execute(begin)
        yield kind(connection, into)
        connection.commit()
    except BaseException as error:
        with contextlib.suppress(Exception):
            connection.rollback()
        if library_of(error) not in ("builtins", "pyarrow", "suffice"):  # it is the driver's
            text = without_credentials(error).splitlines()[0]
            raise SaveError(None, f"Cannot write the table {into!r}: {text}", into) from error
        raise


class DuckWriter(TableWriter):
    """A new table of DuckDB."""

    def __init__(self, connection: Any, into: str) -> None:
        self._connection, self._into, self._begun = connection, into, False

    def write(self, table: Any) -> None:
        """Insert rows; the first make the table."""
        self._connection.register("suffice_rows", table)
        verb = "INSERT INTO {} " if self._begun else "CREATE TABLE {} AS "
        self._connection.execute(f"{verb.format(quote(self._into))}SELECT * FROM suffice_rows")
        self._connection.unregister("suffice_rows")
        self._begun = True


class CursorWriter(TableWriter):
    """A new table of a database, through a DB-API connection."""

    def __init__(self, connection: Any, into: str) -> None:
        self._cursor, self._into, self._begun = connection.cursor(), into, False
        self._mark = "?" if library_of(connection) == "sqlite3" else "%s"

    def write(self, table: Any) -> None:
        """Insert rows; the first make the table."""
        names = ", ".join(map(quote, table.column_names))
        if not self._begun:
            columns = ", ".join(f"{quote(one.name)} {_sql_type(one.type)}" for one in table.schema)
            self._cursor.execute(f"CREATE TABLE {quote(self._into)} ({columns})")
            self._begun = True
        marks = ", ".join([self._mark] * table.num_columns)
        insert = f"INSERT INTO {quote(self._into)} ({names}) VALUES ({marks})"
        for first in range(0, table.num_rows, INSERT_ROWS):
            some = table.slice(first, INSERT_ROWS)
            cells = [some.column(at).to_pylist() for at in range(some.num_columns)]
            self._cursor.executemany(insert, list(zip(*cells, strict=True)))


def _sql_type(kind: Any) -> str:
    """Return the name that standard SQL has for one of Arrow's types."""
    import pyarrow as pa

    if pa.types.is_integer(kind):
        return "BIGINT"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP"
    return SQL_TYPES.get(str(kind), "TEXT")
