"""Rows in databases: DuckDB, and whatever has a DB-API connection or a SQLAlchemy engine."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from suffice.data.frames import check_unique_names, library_of
from suffice.errors import InputError, SourceError, without_credentials
from suffice.sources.files import quote
from suffice.sources.source import (
    UNIT_ROWS,
    Drawn,
    Source,
    SqlTable,
    Unit,
    concat_tables,
    in_units,
)

# Drivers of PostgreSQL, and what SQL of databases is called by their drivers and by SQLAlchemy.
POSTGRESQL = ("psycopg", "psycopg2", "pg8000")
DIALECTS = {
    "sqlite3": "sqlite",
    **dict.fromkeys(POSTGRESQL, "postgresql"),
    **dict.fromkeys(("pymysql", "MySQLdb", "mysql"), "mysql"),
    "snowflake": "snowflake",
    "pyodbc": "sqlserver",
    "mssql": "sqlserver",
    "mariadb": "mysql",
}
# What a query is called where it stands for a table.
ALIAS = "suffice_rows"


def quote_back(name: str) -> str:
    """Return a name as MySQL and Spark take it.

    >>> quote_back("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def from_text(table: Any, query: str | None, quoting: Any) -> str:
    """Return what stands after FROM for a table or query; exactly one of the two is given."""
    if (table is None) == (query is None):
        raise InputError("A connection needs a table or a query. Give table=, or query=, not both.")
    if query is not None:
        return f"({query.strip().rstrip(';')}) AS {ALIAS}"
    parts = table if isinstance(table, tuple) else (table,)
    return ".".join(quoting(part) for part in parts)


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
            self.relation = self._sql(source, f"SELECT * FROM {from_text(table, query, quote)}")

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

    def sql_table(self) -> SqlTable:
        """Return how the rows are asked for sums."""

        def run(query: str) -> list[Any]:
            return list(self.relation.query(ALIAS, query).fetchall())

        return SqlTable("duckdb", ALIAS, run, local=True)


class ConnectionSource(Source):
    """A table or query of a database, through a DB-API connection or SQLAlchemy.

    Each pass asks the database again. Rows come through a cursor of the server's where drivers
    would otherwise hold all of them.
    """

    any_thread = False

    def __init__(self, source: Any, table: Any, query: str | None) -> None:
        library = library_of(source)
        super().__init__(table_name(table, query, library))
        self._opened = ExitStack()
        self._is_table = table is not None
        try:
            if library == "sqlalchemy":
                self._open_sqlalchemy(source)
            else:
                self._connection, self._library = source, driver_of(source)
                self.dialect = DIALECTS.get(self._library)
            self._quote = quote_back if self.dialect == "mysql" else quote
            self._from = from_text(table, query, self._quote)
            nothing = f"SELECT * FROM {self._from} WHERE 1 = 0"
            self._columns = self._names(nothing)
        except BaseException as error:
            self.close()
            if isinstance(error, InputError) or not isinstance(error, Exception):
                raise
            raise lost(self.name, error) from error

    def _open_sqlalchemy(self, source: Any) -> None:
        """Take the driver's own connection of an engine or connection of SQLAlchemy."""
        backend = source.dialect.name
        self.dialect = DIALECTS.get(backend, backend)
        if hasattr(source, "connect") and not hasattr(source, "execute"):
            source = self._opened.enter_context(source.connect())
        self._connection = source.connection.driver_connection
        self._library = driver_of(self._connection)

    def _names(self, query: str) -> tuple[str, ...]:
        cursor = self._connection.cursor()
        try:
            cursor.execute(query)
            return tuple(str(column[0]) for column in cursor.description)
        finally:
            cursor.close()

    def close(self) -> None:
        """Close what was opened here; the caller's connection stays open."""
        self._opened.close()

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._columns

    @property
    def rows(self) -> int:
        """How many rows there are."""
        (row,) = self._run(f"SELECT COUNT(*) FROM {self._from}")
        return int(next(iter(row.values() if isinstance(row, Mapping) else row)))

    def _run(self, query: str) -> list[Any]:
        """Return all rows of a query: sums, or a sample."""
        cursor = self._connection.cursor()
        try:
            cursor.execute(query)
            return list(cursor.fetchall())
        except Exception as error:
            raise lost(self.name, error) from error
        finally:
            cursor.close()

    def units(
        self, columns: Sequence[str], *, levels: Collection[str] = (), skip: int = 0
    ) -> Iterator[Unit]:
        """Yield the rows in the order in which the database gives them."""
        yield from list_units(self, columns, self._fetch(columns))

    def _fetch(self, columns: Sequence[str]) -> Iterator[list[Any]]:
        """Yield rows of cells, many at a time."""
        query = f"SELECT {', '.join(map(self._quote, columns))} FROM {self._from}"
        with ExitStack() as stack:
            try:
                if self._library == "psycopg":
                    # Its cursors hold all rows in memory, unless they have a name.
                    stack.enter_context(self._connection.transaction())
                    cursor = self._connection.cursor("suffice")
                else:
                    cursor = self._connection.cursor()
                stack.callback(cursor.close)
                cursor.execute(query)
                while rows := cursor.fetchmany(UNIT_ROWS):
                    yield list(rows)
            except SourceError:
                raise
            except Exception as error:
                raise lost(self.name, error) from error

    def sample(self, columns: Sequence[str], size: int) -> Drawn:
        """Return random rows, drawn by the database."""
        total = self.rows
        if total <= size:
            return super().sample(columns, size)
        names = ", ".join(map(self._quote, columns))
        if self.dialect == "postgresql" and self._is_table:
            share = 100.0 * size / total
            query = (
                f"SELECT {names} FROM {self._from} TABLESAMPLE BERNOULLI ({share}) REPEATABLE (0)"
            )
        elif self.dialect in ("sqlite", "postgresql"):
            query = f"SELECT {names} FROM {self._from} ORDER BY RANDOM() LIMIT {size}"
        elif self.dialect == "mysql":
            query = f"SELECT {names} FROM {self._from} ORDER BY RAND(0) LIMIT {size}"
        else:
            return super().sample(columns, size)
        units = list(list_units(self, columns, iter([self._run(query)])))
        return Drawn(concat_tables([unit.table for unit in units]), False)

    def sql_table(self) -> SqlTable | None:
        """Return how the rows are asked for sums; None if the database's SQL is not known."""
        if self.dialect is None:
            return None
        return SqlTable(self.dialect, self._from, self._run, local=False)


class CursorSource(Source):
    """What a DB-API cursor, or a result of SQLAlchemy, has still to give: it can be read once."""

    one_shot = True
    any_thread = False

    def __init__(self, cursor: Any) -> None:
        super().__init__(f"The {library_of(cursor).strip('_')} cursor")
        if hasattr(cursor, "keys"):  # of SQLAlchemy, which has names where DB-API has descriptions
            self._columns = tuple(map(str, cursor.keys()))
        elif cursor.description is None:
            raise InputError(f"{self.name} has no rows to give. Execute a SELECT first.")
        else:
            self._columns = tuple(str(column[0]) for column in cursor.description)
        check_unique_names(self._columns)
        self._cursor, self._read = cursor, False

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._columns

    def units(
        self, columns: Sequence[str], *, levels: Collection[str] = (), skip: int = 0
    ) -> Iterator[Unit]:
        """Yield the rows, once."""
        if self._read:
            raise InputError(f"{self.name} was read already, and can be read once only.")
        self._read = True
        return (
            unit._replace(table=unit.table.select(list(columns)))
            for unit in list_units(self, self._columns, self._fetch())
        )

    def _fetch(self) -> Iterator[list[Any]]:
        """Yield rows of cells, many at a time."""
        while True:
            try:
                rows = list(self._cursor.fetchmany(UNIT_ROWS))
            except Exception as error:
                raise lost(self.name, error) from error
            if not rows:
                return
            yield rows


def lost(name: str, error: Exception) -> SourceError:
    """Return the error of a database that stops to answer, without credentials."""
    said = without_credentials(error).splitlines()[0] if str(error) else type(error).__name__
    return SourceError(f"{name} cannot be read: {said:.300}.")


def driver_of(connection: Any) -> str:
    """Return the library of a connection, or of the class that its own is made from.

    >>> import sqlite3
    >>> class Own(sqlite3.Connection): ...
    >>> driver_of(Own(":memory:"))
    'sqlite3'
    """
    homes = (one.__module__.partition(".")[0] for one in type(connection).__mro__)
    return next((home for home in homes if home in DIALECTS), library_of(connection))


def list_units(
    source: Source, columns: Sequence[str], lists: Iterator[list[Any]]
) -> Iterator[Unit]:
    """Yield rows that a driver gives as tuples as Arrow tables."""
    import pyarrow as pa

    first = 0
    for rows in lists:
        if rows and isinstance(rows[0], Mapping):  # drivers may be told to give rows by name
            rows = [tuple(row[name] for name in columns) for row in rows]
        cells = zip(*rows, strict=True) if rows else [()] * len(columns)
        arrays = [
            _array(name, list(column), first, source.name)
            for name, column in zip(columns, cells, strict=True)
        ]
        yield Unit(pa.table(arrays, names=list(columns)), source.name, first)
        first += len(rows)


def _array(name: str, cells: list[Any], first: int, source: str) -> Any:
    """Return the cells of a column; integers beside floats are numbers, other mixtures an error."""
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
        f"Column {name!r} of {source} holds values of several types ({', '.join(kinds)}; "
        f"{cells[at]!r:.80} in row {first + at}). Cast it to one type in a query."
    )
