"""Rows of a Spark data frame, classic or Connect: they stay on the cluster, but for a sample."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from suffice.data.frames import check_unique_names
from suffice.errors import InputError, SourceError, SufficeError, without_credentials
from suffice.sources.databases import from_text, quote_back, table_name
from suffice.sources.source import Drawn, Source, Unit

# How much of what Spark says of an error is repeated.
MAX_SAID = 300


def open_spark(source: Any, table: Any = None, query: str | None = None) -> SparkSource:
    """Return the rows of a data frame, or of a table or query of a session."""
    if type(source).__name__ != "SparkSession":
        if table is not None or query is not None:
            raise InputError(
                "A Spark data frame has no tables to choose from. Leave table= and query= out, or "
                "give a session."
            )
        return SparkSource(source)
    text = f"SELECT * FROM {from_text(table, query, quote_back)}"
    with spark_errors(table_name(table, query, "Spark")):
        return SparkSource(source.sql(text))


class SparkSource(Source):
    """A data frame of Spark, which is counted where its partitions are.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    """

    def __init__(self, frame: Any) -> None:
        super().__init__("The Spark data frame")
        if type(frame).__name__ != "DataFrame":
            raise InputError(
                f"A {type(frame).__name__} of pyspark has no rows. Give a pyspark.sql.DataFrame."
            )
        if frame.isStreaming:
            raise InputError(
                "The Spark data frame is a stream. Learn each of its batches: call "
                "partial_fit_from in a function that you give to writeStream.foreachBatch."
            )
        self.frame = frame
        self._columns = tuple(frame.columns)
        check_unique_names(self._columns)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._columns

    def select(self, columns: Sequence[str]) -> Any:
        """Return a frame of these columns, which are named by their place: c0, c1 and so on.

        Spark reads a name as an expression with dots, and upper case as lower case. Places are what
        they are.
        """
        numbered = self.frame.toDF(*(f"c{at}" for at in range(len(self._columns))))
        places = [self._columns.index(name) for name in columns]
        return numbered.select(*(f"c{at}" for at in places))

    def units(
        self, columns: Sequence[str], *, levels: Collection[str] = (), skip: int = 0
    ) -> Iterator[Unit]:
        """Refuse to bring all rows here."""
        raise InputError(
            "The rows of a Spark data frame stay on its cluster, and this needs them here. Use "
            "suffice.spark.predict to predict them; for anything else, write them to files first."
        )

    def sample(self, columns: Sequence[str], size: int) -> Drawn:
        """Return about `size` random rows, which are collected here; all if they are fewer."""
        some = self.select(columns)
        with spark_errors(self.name):
            rows = some.count()
            complete = rows <= size
            if not complete:
                some = some.sample(fraction=size / rows, seed=0)
            table = some.toArrow()
        if not table.num_rows:
            raise InputError("The source has no rows, so there is nothing to learn. Give some.")
        return Drawn(table.rename_columns(list(columns)), complete)


@contextmanager
def spark_errors(name: str) -> Iterator[None]:
    """Turn what Spark raises into a SourceError with one line of it."""
    try:
        yield
    except SufficeError:
        raise
    except Exception as error:
        raise SourceError(f"{name} cannot be read: {_said(error)}") from error


def _said(error: Exception) -> str:
    """Return what is said of an error: its first line, of one in Python's workers the last."""
    lines = [line.strip() for line in without_credentials(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    if "No module named 'suffice'" in lines[-1]:
        return "the Python of Spark's workers has no suffice. Install it there (docs: spark)."
    return f"{lines[-1] if lines[0].endswith(':') else lines[0]:.{MAX_SAID}}"
