"""Predictions for the rows of a source, written beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from suffice.engines import from_source
from suffice.engines.progress import Progress, Shown
from suffice.engines.writing import open_writer
from suffice.errors import InputError, SourceError, SufficeError
from suffice.sources import Source, Unit
from suffice.sources.source import read_ahead


class Predictor(Protocol):
    """A fitted model that is asked about the rows of a source."""

    _takes_documents: ClassVar[bool]

    def _feature_columns(self, names: tuple[str, ...]) -> tuple[str, ...]: ...

    def _learned_columns(self) -> tuple[str, ...] | None: ...

    def _answer_names(self) -> tuple[str, ...]: ...

    def _unit_answers(self, X: Any) -> dict[str, Any]: ...


def predict_source(
    model: Predictor,
    source: Any,
    destination: Any,
    *,
    table: Any,
    query: str | None,
    into: str | None,
    features: Sequence[str] | str | None,
    columns: Sequence[str] | None,
    escape_formulas: bool,
    reasons: int,
    prefix: str,
    progress: Shown,
) -> int:
    """Open a source, and write predictions beside its rows (`LearnsFromSources.predict_to`)."""
    names = model._learned_columns()
    with (
        Progress(progress) as note,
        from_source.rows_of(source, table, query, again=False, progress=note) as rows,
    ):
        if names is None:
            names = from_source.choose_documents(model, rows, features)
        return _predict_rows(
            model,
            rows,
            destination,
            into=into,
            features=names,
            columns=columns,
            escape_formulas=escape_formulas,
            reasons=reasons,
            prefix=prefix,
            progress=note,
        )


def class_answer_names(classes: Any) -> tuple[str, ...]:
    """Return the names of the columns that predictions of a classifier have.

    >>> class_answer_names(np.array(["no", "yes"]))
    ('label', 'p_no', 'p_yes')
    """
    return ("label", *(f"p_{one}" for one in classes.tolist()))


def class_answers(classes: Any, proba: Any) -> dict[str, Any]:
    """Return the columns of a classifier's predictions, given p(class | x), (n, C), of rows."""
    import pyarrow as pa

    labels = pa.array(classes.tolist()).take(pa.array(proba.argmax(axis=1), pa.int32()))
    names, columns = class_answer_names(classes)[1:], np.asfortranarray(proba)
    return {"label": labels, **{name: columns[:, at] for at, name in enumerate(names)}}


def _predict_rows(
    learner: Predictor,
    source: Source,
    destination: Any,
    *,
    into: str | None,
    features: tuple[str, ...],
    columns: Sequence[str] | None,
    escape_formulas: bool,
    reasons: int,
    prefix: str,
    progress: Progress,
) -> int:
    """Write predictions beside columns of the source; return how many rows there are."""
    kept = source.column_names if columns is None else tuple(columns)
    source.check_columns(features, from_source.SAME_COLUMNS)
    source.check_columns(kept)
    answers = [f"{prefix}{one}" for one in (*learner._answer_names(), *_reason_names(reasons))]
    if reasons and not hasattr(learner, "explain"):
        raise InputError(f"A {type(learner).__name__} gives no reasons. Leave reasons out.")
    clash = [name for name in kept if name in answers]
    if clash:
        raise InputError(
            f"{source.name} has a column {clash[0]!r}, and so have the predictions. Give their "
            "names a prefix (prefix), or name the columns to write beside them (columns)."
        )
    wanted = tuple(dict.fromkeys((*kept, *features)))
    progress.begin(f"Predicting {source.name}", source.rows)
    rows = 0
    with open_writer(destination, into, escape_formulas=escape_formulas) as writer:
        for unit in read_ahead(source, source.units(wanted)):
            answered = _answered(learner, unit, features, reasons)
            beside = unit.table.select(list(kept))
            for name, cells in answered.items():
                beside = beside.append_column(f"{prefix}{name}", cells)
            writer.write(beside)
            rows += unit.table.num_rows
            progress.add(unit.table.num_rows)
        if not rows:
            raise SourceError(f"{source.name} has no rows, so there is nothing to predict.")
    return rows


def _answered(
    learner: Predictor, unit: Unit, features: tuple[str, ...], reasons: int
) -> dict[str, Any]:
    """Return the answers of a model for the rows of a unit, as columns of Arrow."""
    import pyarrow as pa

    try:
        given = unit.table.select(list(features))
        answers = learner._unit_answers(given)
        if reasons:
            answers |= _reasons(learner, given, reasons)
    except SufficeError as error:
        raise from_source.name_place(unit, error) from error
    return {
        name: cells if isinstance(cells, pa.Array) else pa.array(cells)
        for name, cells in answers.items()
    }


def _reason_names(reasons: int) -> list[str]:
    return [f"reason_{number}" for number in range(1, reasons + 1)]


def _reasons(learner: Any, X: Any, reasons: int) -> dict[str, Any]:
    """Return the strongest reasons for the label of each row, as columns of text."""
    import pyarrow as pa

    found: list[list[str | None]] = []
    for at in range(X.num_rows):
        row = X.column(0)[at].as_py() if learner._takes_documents else X.slice(at, 1)
        why = learner.explain("" if row is None else row)
        strongest = [f"{why.values[j]} ({why.contributions[j]:+.2f})" for j in why.order[:reasons]]
        found.append(strongest + [None] * (reasons - len(strongest)))
    columns = zip(*found, strict=True)
    names = _reason_names(reasons)
    return {name: pa.array(cells, pa.string()) for name, cells in zip(names, columns, strict=True)}
