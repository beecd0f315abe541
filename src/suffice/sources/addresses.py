"""Rows named by an address: a table of a database, in one string."""

from __future__ import annotations

import os
import re
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from suffice.errors import InputError, MissingPackageError, SourceError, without_credentials
from suffice.sources.databases import ConnectionSource, DuckSource
from suffice.sources.source import Source, open_duckdb

# Databases in a file, and how those on a server begin. A letter and a colon is a drive of Windows.
IN_FILES = ("duckdb", "sqlite")
ADDRESS = re.compile(r"(duckdb|sqlite):|[a-z][a-z0-9+]+://", re.IGNORECASE)
FORM = "duckdb:FILE?table=NAME, sqlite:FILE?table=NAME or postgresql://HOST/DATABASE?table=NAME"


def is_address(text: str) -> bool:
    """Say whether a string is the address of rows in a database, and not a path.

    >>> is_address("duckdb:shop.db?table=orders"), is_address("orders.csv")
    (True, False)
    """
    return ADDRESS.match(text) is not None


def open_address(text: str) -> Source:
    """Return the rows that an address names; closing them closes the connection.

    Parameters
    ----------
    text : `duckdb:FILE?table=NAME`, `sqlite:FILE?table=NAME`, `postgresql://...?table=NAME`, or
        any other address that SQLAlchemy takes. In place of `table=` (and `schema=`) there may be
        `query=`, a SELECT.
    """
    place, _, asked = text.partition("?")
    options = dict(parse_qsl(asked, keep_blank_values=True))
    table, schema, query = (options.pop(name, None) for name in ("table", "schema", "query"))
    if (table is None) == (query is None):
        raise InputError(
            f"{without_credentials(place)!r} names no table. Write it as {FORM}; query=SELECT... "
            "stands for a table."
        )
    named = table if schema is None or table is None else (schema, table)
    scheme, _, rest = place.partition(":")
    connection = _connect(scheme.lower(), rest, options)
    kind = DuckSource if scheme.lower() == "duckdb" else ConnectionSource
    try:
        source: Source = kind(connection, named, query)
    except BaseException:
        _close(connection)
        raise
    return _owning(source, connection)


def _connect(scheme: str, rest: str, options: dict[str, str]) -> Any:
    """Return a connection that only reads."""
    if scheme in IN_FILES:
        file = _file_of(rest)
        if scheme == "sqlite":
            import sqlite3

            path = os.path.abspath(file).replace("%", "%25").replace("?", "%3f")
            return sqlite3.connect(f"file:{path.replace('#', '%23')}?mode=ro", uri=True)
        import duckdb

        try:
            return open_duckdb(file, read_only=True)
        except duckdb.Error as error:
            said = str(error).splitlines()[0]
            raise SourceError(
                f"{file!r} cannot be opened by DuckDB: {said.rstrip('.!')}. Give the file of a "
                "DuckDB database."
            ) from error
    _check_password(rest)
    address = f"{scheme}:{rest}" + (f"?{urlencode(options)}" if options else "")
    if scheme in ("postgresql", "postgres"):
        return _connect_postgresql(address)
    return _engine(address)


def _check_password(rest: str) -> None:
    """Refuse a password that drivers would take for a host, and show in their errors."""
    credentials = rest.removeprefix("//").rpartition("@")[0]
    if any(sign in credentials for sign in "@/#?"):
        raise InputError(
            "The user or password of the address has a sign that ends it. Write '@' as %40, '/' as "
            "%2F, '#' as %23 and '?' as %3F."
        )


def _file_of(rest: str) -> str:
    """Return the path in `sqlite:FILE`, `sqlite:///FILE` or `sqlite:////FILE`."""
    file = unquote(rest[3:] if rest.startswith("///") else rest)
    if not os.path.isfile(file):
        raise InputError(f"There is no database file {file!r}. Check the path.")
    return file


def _connect_postgresql(address: str) -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise MissingPackageError(
            "PostgreSQL is read by psycopg, which is not installed. Run: pip install "
            "'psycopg[binary]'"
        ) from error
    try:
        return psycopg.connect(address, connect_timeout=10)
    except psycopg.Error as error:
        said = without_credentials(error).splitlines()[0]
        raise SourceError(
            f"PostgreSQL cannot be reached: {said}. Check host, database, user and password."
        ) from None


def _engine(address: str) -> Any:
    shown = without_credentials(address)
    try:
        import sqlalchemy
    except ImportError as error:
        raise MissingPackageError(
            f"{shown!r} is an address for SQLAlchemy, which is not installed. Run: pip install "
            "sqlalchemy"
        ) from error
    try:
        return sqlalchemy.create_engine(address)
    except (sqlalchemy.exc.SQLAlchemyError, ImportError) as error:
        said = without_credentials(error).splitlines()[0]
        raise SourceError(
            f"{shown!r} cannot be opened: {said}. Write it as {FORM}, and install the driver."
        ) from None


def _close(connection: Any) -> None:
    close = getattr(connection, "dispose", None) or connection.close
    close()


def _owning(source: Source, connection: Any) -> Source:
    """Return a source that closes its connection, which nobody else has, when it is closed."""
    inner = source.close

    def close() -> None:
        inner()
        _close(connection)

    source.close = close  # type: ignore[method-assign]
    return source
