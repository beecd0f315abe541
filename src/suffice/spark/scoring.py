"""Predictions of Spark data frames, classic or Connect: as SQL, or by Python's workers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from suffice.engines.spark import use_task
from suffice.errors import InputError
from suffice.persist import load
from suffice.sources.databases import quote_back
from suffice.sources.spark import SparkSource

# Names within a statement, which no result has.
ROWS, ROW = "suffice rows", "suffice row"
# Spark takes half a minute for each so many characters of a SELECT, before it reads a row.
MAX_STATEMENT = 250_000


def predict(
    model: Any,
    frame: Any,
    *,
    features: Sequence[str] | str | None = None,
    prediction: str = "prediction",
    probability: str | None = "probability",
    engine: str = "auto",
) -> Any:
    """Return a Spark data frame with the predictions of a model as further columns.

    Parameters
    ----------
    model : fitted estimator
        Its columns are found by their names.
    frame : pyspark.sql.DataFrame
    features : the column of documents, of a TextClassifier
    prediction : name of the column of the most probable class, or of a regression's prediction
    probability : name of a column of arrays, p(class | x) in the order of `classes_`; None for none
    engine : {"auto", "sql", "arrow"}
        Whether rows are scored by one SELECT (`GenerativeClassifier.to_sql`), in the JVM alone, or
        by the model in Python's workers; "auto" is the former where the model can be written so,
        in not more characters than Spark takes in soon.
    """
    source = SparkSource(frame)
    columns = _columns_of(model, features)
    source.check_columns(columns)
    if not hasattr(model, "predict_proba"):
        probability = None
    added = [prediction] if probability is None else [probability, prediction]
    for name in added:
        if name in source.column_names:
            raise InputError(
                f"The Spark data frame has a column {name!r} already. Give the predictions another "
                "name, or drop it."
            )
    if engine not in ("auto", "sql", "arrow"):
        raise InputError(f"The engine is {engine!r}. Use 'auto', 'sql' or 'arrow'.")
    statement = None if engine == "arrow" else _statement(model, columns, required=engine == "sql")
    if statement is not None:
        scored = _score_in_sql(model, source, columns, statement, probability is not None)
    else:
        scored = _score_in_python(model, source, columns, probability is not None)
    return scored.toDF(*source.column_names, *added)


def _columns_of(model: Any, features: Sequence[str] | str | None) -> tuple[str, ...]:
    """Return the columns that a model reads."""
    if features is not None:
        return (features,) if isinstance(features, str) else tuple(features)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise InputError(
            f"This {type(model).__name__} has no names of columns. Say which to read: features=."
        )
    return tuple(map(str, names))


def _statement(model: Any, columns: tuple[str, ...], *, required: bool) -> str | None:
    """Return the SELECT that scores the rows of a table called `ROWS`, or None if there is none."""
    try:
        if not hasattr(model, "to_sql"):
            raise InputError(f"A {type(model).__name__} cannot be written as SQL.")
        if len({name.casefold() for name in columns}) < len(columns):
            raise InputError("Names of columns differ in upper and lower case alone.")
        found = str(model.to_sql(ROWS, "spark"))
        return found if required or len(found) <= MAX_STATEMENT else None
    except InputError:
        if required:
            raise
        return None


def _score_in_sql(
    model: Any, source: SparkSource, columns: tuple[str, ...], statement: str, with_proba: bool
) -> Any:
    """Return the columns of a frame, probabilities and label, without names, by SQL."""
    # Rows travel as one struct, so that no column of theirs meets one of the statement's.
    places = range(len(source.column_names))
    numbered = source.frame.toDF(*(f"c{at}" for at in places))
    row = f"struct({', '.join(f'c{at}' for at in places)}) AS {quote_back(ROW)}"
    own = (f"c{source.column_names.index(name)} AS {quote_back(name)}" for name in columns)
    given = numbered.selectExpr(row, *own)
    # The frame is named in braces, so other braces are doubled.
    text = statement.replace("{", "{{").replace("}", "}}")
    text = text.replace(quote_back(ROWS), "{given}")
    scored = source.frame.sparkSession.sql(text, given=given)
    classes = range(len(model.classes_))
    ours = [f"f{at}" for at in range(len(columns))]
    scored = scored.toDF("row", *ours, *(f"p{at}" for at in classes), "label")
    proba = [f"array({', '.join(f'p{at}' for at in classes)})"] if with_proba else []
    label = f"CAST(label AS {_sql_type(model.classes_.dtype)})"
    return scored.selectExpr(*(f"row.c{at} AS c{at}" for at in places), *proba, label)


def _score_in_python(
    model: Any, source: SparkSource, columns: tuple[str, ...], with_proba: bool
) -> Any:
    """Return the columns of a frame, probabilities and label, without names, by its workers."""
    from pyspark.sql import types

    numbered = source.frame.toDF(*(f"c{at}" for at in range(len(source.column_names))))
    kind = model.classes_.dtype if hasattr(model, "predict_proba") else np.dtype(float)
    label = {
        "string": types.StringType(),
        "bigint": types.LongType(),
        "boolean": types.BooleanType(),
        "double": types.DoubleType(),
    }[_sql_type(kind)]
    added = [types.StructField("label", label)]
    if with_proba:
        proba = types.ArrayType(types.DoubleType(), containsNull=False)
        added.insert(0, types.StructField("proba", proba))
    schema = types.StructType([*numbered.schema.fields, *added])
    places = [source.column_names.index(name) for name in columns]
    by_name = getattr(model, "feature_names_in_", None) is not None
    scoring = _scoring(saved_bytes(model), places, list(columns) if by_name else None, with_proba)
    return numbered.mapInArrow(scoring, schema)


def _scoring(
    saved: bytes, places: list[int], names: list[str] | None, with_proba: bool
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that adds predictions to record batches.

    A frame's function that is large is broadcast by Spark, and so is the model in it.
    """

    def score(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        use_task()
        model = load_saved(saved)
        for batch in batches:
            if not batch.num_rows:
                continue
            table = pa.Table.from_batches([batch])
            X = table.column(places[0]) if names is None else table.select(places)
            X = X if names is None else X.rename_columns(names)
            arrays = list(batch.columns)
            if hasattr(model, "predict_proba"):
                proba = model.predict_proba(X)
                if with_proba:
                    ends = np.arange(len(proba) + 1, dtype=np.int32) * proba.shape[1]
                    arrays.append(pa.ListArray.from_arrays(ends, pa.array(proba.ravel())))
                labels = model.classes_[proba.argmax(axis=1)]
            else:
                labels = np.asarray(model.predict(X), float)
            arrays.append(pa.array(labels.tolist()))
            added = ["proba", "label"] if with_proba else ["label"]
            yield pa.RecordBatch.from_arrays(arrays, names=[*batch.schema.names, *added])

    return score


def saved_bytes(model: Any) -> bytes:
    """Return the bytes of the file of a model."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.safetensors")
        model.save(path)
        with open(path, "rb") as file:
            return file.read()


def load_saved(saved: bytes) -> Any:
    """Return the model of a file that this process, or the driver, has written."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.safetensors")
        with open(path, "wb") as file:
            file.write(saved)
        return load(path, trust_patterns=True)


def _sql_type(kind: np.dtype[Any]) -> str:
    """Return Spark's name of the type of labels."""
    return {"i": "bigint", "u": "bigint", "b": "boolean", "f": "double"}.get(kind.kind, "string")
