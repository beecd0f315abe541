"""Rows in databases: DuckDB, and whatever has a DB-API connection or a SQLAlchemy engine."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from suffice.data.frames import library_of
from suffice.errors import InputError, SourceError
from suffice.sources.files import quote
from suffice.sources.source import UNIT_ROWS, Source, Unit, in_units, without_credentials


def select_text(table: Any, query: str | None, quoting: Any) -> str:
    """Return the SELECT of a table or query; exactly one of the two is given."""
    if (table is None) == (query is None):
        raise InputError("A connection needs a table or a query. Give table=, or query=, not both.")
    if query is not None:
        return query.strip().rstrip(";")
    parts = table if isinstance(table, tuple) else (table,)
    return f"SELECT * FROM {'.'.join(quoting(part) for part in parts)}"


def table_name(table: Any, query: str | None, library: str) -> str:
    """Return what to call the rows of a connection, without anything of the connection."""
    if query is not None:
        return f"The {library} query"
    return f"The {library} table {'.'.join(table) if isinstance(table, tuple) else table!r}"


class DuckSource(Source):
    """A DuckDB relation, or a table or query of a DuckDB connection."""

    def __init__(self, source: Any, table: Any, query: str | None) -> None:
        is_relation = not hasattr(source, "cursor")
        name = "The DuckDB relation" if is_relation else table_name(table, query, "DuckDB")
        super().__init__(name)
        if is_relation:
            self.relation = source
        else:
            self.relation = self._sql(source, select_text(table, query, quote))

    def _sql(self, connection: Any, query: str) -> Any:
        import duckdb

        try:
            # A cursor of its own: whatever the caller does beside it has its own results.
            return connection.cursor().sql(query)
        except duckdb.Error as error:
            raise SourceError(f"{self.name} cannot be read: {error}") from error

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.relation.columns)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.relation.aggregate("count(*)").fetchall()[0][0])

    def units(
        self, columns: Sequence[str], *, levels: Collection[str] = (), skip: int = 0
    ) -> Iterator[Unit]:
        """Yield the rows as DuckDB gives them."""
        import duckdb
        import pyarrow as pa

        try:
            some = self.relation.project(", ".join(quote(name) for name in columns))
            reader = some.to_arrow_reader(UNIT_ROWS)
            yield from in_units(iter(reader), reader.schema, self.name, skip)
        except (duckdb.Error, pa.ArrowException) as error:
            raise SourceError(f"{self.name} cannot be read: {error}") from error


class CursorSource(Source):
    """Rows that a database gives through a cursor, once: DB-API and SQLAlchemy."""

    one_shot = True

    def __init__(self, source: Any, table: Any, query: str | None) -> None:
        library = library_of(source)
        super().__init__(table_name(table, query, library))
        self._close: list[Any] = []
        try:
            if library == "sqlalchemy":
                self._cursor = self._of_sqlalchemy(source, table, query)
            else:
                self._cursor = self._of_connection(source, table, query)
            self._columns = self._names()
        except InputError:
            self.close()
            raise
        except Exception as error:
            self.close()
            raise self._lost(error) from error

    def _of_sqlalchemy(self, source: Any, table: Any, query: str | None) -> Any:
        import sqlalchemy

        connection = source
        if hasattr(source, "connect") and not hasattr(source, "execute"):
            connection = source.connect()
            self._close.append(connection)
        quoting = connection.dialect.identifier_preparer.quote_identifier
        text = sqlalchemy.text(select_text(table, query, quoting).replace(":", r"\:"))
        streaming = connection.execution_options(stream_results=True, max_row_buffer=UNIT_ROWS)
        result = streaming.execute(text)
        self._close.append(result)
        self._keys = tuple(result.keys())
        return result

    def _of_connection(self, source: Any, table: Any, query: str | None) -> Any:
        # PostgreSQL's drivers keep all rows in memory, unless the cursor has a name.
        named = library_of(source) in ("psycopg", "psycopg2")
        cursor = source.cursor("suffice") if named else source.cursor()
        self._close.append(cursor)
        mysql = library_of(source) in ("pymysql", "MySQLdb", "mysql")
        quoting = (lambda name: f"`{name.replace('`', '``')}`") if mysql else quote
        cursor.execute(select_text(table, query, quoting))
        self._keys = ()
        return cursor

    def _names(self) -> tuple[str, ...]:
        if self._keys:
            return self._keys
        if self._cursor.description is None:
            raise InputError(f"{self.name} gives no rows. Give a query that selects some.")
        return tuple(str(column[0]) for column in self._cursor.description)

    def _lost(self, error: Exception) -> SourceError:
        said = without_credentials(error).splitlines()[0] if str(error) else type(error).__name__
        return SourceError(f"{self.name} cannot be read: {said:.300}.")

    def close(self) -> None:
        """Close what was opened here; the caller's connection stays open."""
        for one in reversed(self._close):
            one.close()
        self._close = []

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._columns

    def units(
        self, columns: Sequence[str], *, levels: Collection[str] = (), skip: int = 0
    ) -> Iterator[Unit]:
        """Yield the rows, once."""
        import pyarrow as pa

        places = [self._columns.index(name) for name in columns]
        first = 0
        while True:
            try:
                rows = self._cursor.fetchmany(UNIT_ROWS)
            except Exception as error:
                raise self._lost(error) from error
            if not rows:
                return
            arrays = [
                self._array(name, [row[at] for row in rows], first)
                for name, at in zip(columns, places, strict=True)
            ]
            yield Unit(pa.table(arrays, names=list(columns)), self.name, first)
            first += len(rows)

    def _array(self, name: str, cells: list[Any], first: int) -> Any:
        import pyarrow as pa

        try:
            return pa.array(cells)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            # Integers beside floats, or beyond 64 bits: numbers all the same.
            if all(cell is None or isinstance(cell, int | float) for cell in cells):
                return pa.array([None if cell is None else float(cell) for cell in cells])
        kinds = sorted({type(cell).__name__ for cell in cells if cell is not None})
        at = next(row for row, cell in enumerate(cells) if type(cell).__name__ == kinds[-1])
        raise SourceError(
            f"Column {name!r} of {self.name} holds values of several types ({', '.join(kinds)}; "
            f"{cells[at]!r:.80} in row {first + at}). Cast it to one type in a query."
        )
