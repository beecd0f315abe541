"""One door: whatever holds rows, as a source."""

from __future__ import annotations

import os
from typing import Any

from suffice.data.frames import is_frame, library_of
from suffice.errors import InputError
from suffice.sources.addresses import is_address, open_address
from suffice.sources.databases import ConnectionSource, DuckSource
from suffice.sources.files import ParquetSource, open_files
from suffice.sources.source import Source
from suffice.sources.spark import open_spark
from suffice.sources.tables import DatasetSource, LazyFrameSource, StreamSource, TableSource


def open_source(source: Any, table: Any = None, query: str | None = None) -> Source:
    """Return the rows of `source`.

    Parameters
    ----------
    source : path, pattern or folder; address of a table (`sqlite:shop.db?table=orders`); data
        frame; pyarrow table, reader or dataset; anything with `__arrow_c_stream__`; DuckDB
        relation; connection of DuckDB, DB-API or SQLAlchemy; Spark data frame or session
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
        return DuckSource(source, table, query)
    if library == "pyspark":
        # Before others: a frame of Spark Connect has every attribute that it is asked for.
        return open_spark(source, table, query)
    if library == "sqlalchemy" or (hasattr(source, "cursor") and hasattr(source, "commit")):
        return ConnectionSource(source, table, query)
    if table is not None or query is not None:
        raise InputError(
            f"A {kind} has no tables to choose from. Leave table= and query= out, or give a "
            "connection."
        )
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


def _of_arrow(source: Any, kind: str) -> Source:
    """Return the source of a reader or a dataset of pyarrow."""
    if kind == "RecordBatchReader":
        return StreamSource("The reader", source)
    if kind == "FileSystemDataset" and source.format.default_extname == "parquet":
        return ParquetSource.of_dataset(source)
    if hasattr(source, "scanner"):
        return DatasetSource(source)
    raise InputError(f"A {kind} of pyarrow has no rows. Give a table, a reader or a dataset.")
