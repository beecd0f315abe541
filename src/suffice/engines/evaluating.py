"""A classifier's answers for the rows of a source beside their labels, and single rows of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.engines import from_source
from suffice.engines.progress import Progress, Shown
from suffice.errors import InputError, SufficeError, SufficeWarning, warn_caller
from suffice.sources import open_source
from suffice.sources.source import read_ahead
from suffice.validation.evaluation import Evaluation


def evaluate_from(
    model: Any,
    source: Any,
    target: str,
    *,
    features: Any = None,
    weight: str | None = None,
    progress: Shown = False,
) -> Evaluation:
    """Return how well a classifier answers for the rows of a source; the model stays as it is.

    Rows without a label are left out, with a warning.

    Parameters
    ----------
    model : classifier that was fitted
    source, target, features, weight, progress : as in `fit_from`

    Examples
    --------
    >>> import pyarrow as pa
    >>> from suffice import GenerativeClassifier
    >>> rows = pa.table({"size": [1.0, 1.1, 3.0, 3.2], "kind": ["a", "a", "b", "b"]})
    >>> model = GenerativeClassifier().fit_from(rows, target="kind")
    >>> evaluate_from(model, rows, "kind").accuracy
    1.0
    """
    if not hasattr(model, "predict_log_proba"):
        raise InputError(
            f"A {type(model).__name__} has no classes to be right or wrong about. Give a "
            "classifier."
        )
    answers, labels, weights, left_out = [], [], [], 0
    names = model._learned_columns()
    with Progress(progress) as note, open_source(source) as rows:
        if names is None:
            names = from_source.choose_features(model, rows, target, weight, features, ())
        rows.check_columns([target, *([] if weight is None else [weight])])
        rows.check_columns(names, from_source.SAME_COLUMNS)
        plan = from_source.read_roles(model, rows, target, weight, names)
        note.begin(f"Evaluating {rows.name}", rows.rows)
        for unit in read_ahead(rows, rows.units(plan.columns)):
            try:
                X, y, mass, missing = plan.split(unit.table)
                left_out += missing
                if not X.num_rows:
                    continue
                answers.append(model._unit_log_proba(X))
            except SufficeError as error:
                raise from_source.name_place(unit, error) from error
            labels.append(np.asarray(y))
            weights.append(np.ones(len(y)) if mass is None else np.asarray(mass, np.float64))
            note.add(unit.table.num_rows)
        name = rows.name
    if not answers:
        raise InputError(
            f"{name} has no row with a label in column {target!r}. Name the column of the labels."
        )
    if left_out:
        warn_caller(
            f"{left_out:,} rows of {name} have no label in column {target!r}, and were left out.",
            SufficeWarning,
        )
    return Evaluation.of(
        np.concatenate(answers), np.concatenate(labels), model.classes_, np.concatenate(weights)
    )


def sample_of(
    model: Any,
    source: Any,
    target: str,
    size: int,
    *,
    features: Any = None,
    ignore: Any = (),
    weight: str | None = None,
) -> tuple[Any, Any, Any]:
    """Return up to `size` rows of a source as `fit` takes them: features, labels and weights.

    Parameters
    ----------
    model : that is to learn them; documents for a TextClassifier
    source, target, features, ignore, weight : as in `fit_from`
    size : int
    """
    with open_source(source) as rows:
        names = from_source.choose_features(model, rows, target, weight, features, ignore)
        plan = from_source.read_roles(model, rows, target, weight, names)
        X, y, weights, _ = plan.split(rows.sample(plan.columns, size).table)
        if not X.num_rows:
            raise InputError(
                f"{rows.name} has no row with a label in column {target!r}. Name the column of the "
                "labels."
            )
    if model._takes_documents:
        X = [text or "" for text in X.column(0).to_pylist()]
    return X, np.asarray(y), weights


def row_of(model: Any, source: Any, number: int, *, features: Any = None) -> Any:
    """Return one row of a source, as `explain` takes it; the first has the number 1.

    Parameters
    ----------
    model : that is to explain it
    source : as in `fit_from`
    number : int
    features : which column has the documents of a TextClassifier
    """
    if number < 1:
        raise InputError(f"There is no row {number}. The first row has the number 1.")
    before, text = 0, None
    with open_source(source) as rows:
        if model._takes_documents:
            (text,) = names = from_source.choose_documents(model, rows, features)
        else:
            names = model._learned_columns()
        rows.check_columns(names, from_source.SAME_COLUMNS)
        for unit in rows.units(names):
            at = number - 1 - before
            if at < unit.table.num_rows:
                row = unit.table.slice(at, 1)
                return row if text is None else row.column(text)[0].as_py()
            before += unit.table.num_rows
        raise InputError(
            f"{rows.name} has {before:,} rows, so there is no row {number:,}. Rows are counted "
            "from 1."
        )
