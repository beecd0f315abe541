"""One door: whatever holds rows, as a source."""

from __future__ import annotations

import os
from typing import Any

from suffice.data.frames import is_frame, library_of
from suffice.errors import InputError
from suffice.sources.addresses import is_address, open_address
from suffice.sources.byte_streams import STANDARD_INPUT, open_byte_stream, open_standard_input
from suffice.sources.databases import ConnectionSource, CursorSource, DuckSource
from suffice.sources.files import ParquetSource, open_files
from suffice.sources.source import Source
from suffice.sources.spark import open_spark
from suffice.sources.tables import DatasetSource, LazyFrameSource, StreamSource, TableSource


def open_source(source: Any, table: Any = None, query: str | None = None) -> Source:
    """Return the rows of `source`.

    Parameters
    ----------
    source : path, pattern or folder; "-" or a stream of bytes or text; address of a table
        (`sqlite:shop.db?table=orders`); data frame; pyarrow table, reader or dataset; anything
        with `__arrow_c_stream__`; DuckDB relation; connection of DuckDB, DB-API or SQLAlchemy;
        cursor that has executed; Spark data frame or session
    table : name of a table of a connection; a tuple of names is one with its schema
    query : a SELECT, in place of a table

    Examples
    --------
    >>> import pyarrow as pa
    >>> with open_source(pa.table({"age": [31, 47]})) as source:
    ...     source.column_names, source.rows
    (('age',), 2)
    """
    if isinstance(source, Source):
        return source
    library, kind = library_of(source), type(source).__name__
    if library in ("duckdb", "_duckdb"):
        return _of_duckdb(source, table, query)
    if library == "pyspark":
        # Before others: a frame of Spark Connect has every attribute that it is asked for.
        return open_spark(source, table, query)
    is_cursor = hasattr(source, "fetchmany") and not hasattr(source, "commit")
    if not is_cursor and (library == "sqlalchemy" or _is_connection(source)):
        return ConnectionSource(source, table, query)
    if table is not None or query is not None:
        raise InputError(
            f"A {kind} has no tables to choose from. Leave table= and query= out, or give a "
            "connection."
        )
    if is_cursor:
        return CursorSource(source)
    if isinstance(source, str) and source == STANDARD_INPUT:
        return open_standard_input()
    if isinstance(source, str) and is_address(source):
        return open_address(source)
    if isinstance(source, str | os.PathLike):
        return open_files(source)
    if library == "polars" and kind == "LazyFrame":
        return LazyFrameSource(source)
    if is_frame(source):
        return TableSource(source)
    if library == "pyarrow":
        return _of_arrow(source, kind)
    if hasattr(source, "__arrow_c_stream__"):
        import pyarrow as pa

        return StreamSource(f"The {kind}", pa.RecordBatchReader.from_stream(source))
    if hasattr(source, "read"):
        return open_byte_stream(source, f"The {kind}")
    raise InputError(
        f"A {kind} is no source of rows. Give a path, a data frame, an Arrow table or reader, or a "
        "connection with table= or query=."
    )


def first_rows(source: Any, size: int) -> tuple[Any, int | None]:
    """Return the first rows of a source as a pyarrow.Table, and how many it has, if it says so.

    >>> import pyarrow as pa
    >>> first_rows(pa.table({"age": [31, 47]}), 1)[0].to_pylist()
    [{'age': 31}]
    """
    with open_source(source) as rows:
        for unit in rows.units(rows.column_names):
            return unit.table.slice(0, size), rows.rows
        raise InputError(f"{rows.name} has no rows. Give some.")


def _is_connection(source: Any) -> bool:
    return hasattr(source, "cursor") and hasattr(source, "commit")


def _of_duckdb(source: Any, table: Any, query: str | None) -> Source:
    """Return the source of a relation or connection, or of what a connection has executed."""
    unnamed = table is None and query is None
    if unnamed and hasattr(source, "cursor") and source.description:
        return CursorSource(source)
    return DuckSource(source, table, query)


def _of_arrow(source: Any, kind: str) -> Source:
    """Return the source of a reader or a dataset of pyarrow."""
    if kind == "RecordBatchReader":
        return StreamSource("The reader", source)
    if kind == "FileSystemDataset" and source.format.default_extname == "parquet":
        return ParquetSource.of_dataset(source)
    if hasattr(source, "scanner"):
        return DatasetSource(source)
    if hasattr(source, "read") and hasattr(source, "readable"):
        return open_byte_stream(source, f"The {kind}")
    raise InputError(f"A {kind} of pyarrow has no rows. Give a table, a reader or a dataset.")
