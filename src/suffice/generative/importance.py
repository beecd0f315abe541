"""Importance of columns and words: the rows it is measured on, its notes, and its saved form."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.estimators.labels import check_same_type
from suffice.generative.learning import recode_rows
from suffice.persist.checks import check_kinds, check_shapes, refuse
from suffice.validation.importance import LossIncrease


def check_labels_given(y: Any) -> None:
    """Refuse to measure without labels."""
    if y is None:
        raise InputError(
            "X without y: what is lost without a column or a word cannot be measured. Give the "
            "labels too, or neither for what was measured at fit."
        )


def code_rows_to_measure(classes: Any, rows: Rows, known: Any) -> Rows:
    """Return rows, coded by `classes`, that weigh more than 0, coded by the classes `known`."""
    check_same_type(classes, known)
    new = ~np.isin(classes, known)
    if new.any():
        row = int(np.argmax(new[rows.codes]))
        raise InputError(
            f"The label {classes.tolist()[rows.codes[row]]!r} in row {row} was never learned; the "
            f"classes are {known.tolist()!r:.200}. Leave its rows out, or learn some."
        )
    rows = recode_rows(rows, classes, known)
    return rows.take(np.flatnonzero(rows.weights > 0)) if rows.weights.size else rows


def note_at_fit(measured: LossIncrease | None, rows: str, cure: str, *, stale: bool) -> str:
    """Return the note on losses that were measured at fit, or were not.

    Parameters
    ----------
    measured : LossIncrease, if there is one
    rows : "rows" or "documents"
    cure : what to do where nothing was measured
    stale : whether the model has learned or forgotten rows since
    """
    if measured is None:
        return f"No {rows} were held out to measure the log-loss on: {cure}."
    since = f"; {rows} were learned or forgotten since" if stale else ""
    return f"{_measured(measured, 'at fit on', f'held-out {rows}')}{since}"


def note_on_rows(measured: LossIncrease | None, rows: str) -> str:
    """Return the note on losses that were measured on rows that were given."""
    if measured is None:
        return f"No {rows} have a log-loss that could be measured."
    return _measured(measured, "on", rows)


def _measured(measured: LossIncrease, where: str, rows: str) -> str:
    weight = measured.weight
    many = f"{weight:,.0f} {rows}" if weight == round(weight) else f"{rows} of weight {weight:g}"
    return f"Log-loss {measured.log_loss:.4f}, measured {where} {many}"


def increase_saved(found: LossIncrease) -> dict[str, Any]:
    """Return what is saved of losses that were measured at fit."""
    return dict(vars(found))


def increase_of(saved: Any, features: int) -> LossIncrease:
    """Return the losses that a file says were measured, of some of so many features."""
    if type(saved) is not dict or saved.keys() != LossIncrease.__dataclass_fields__.keys():
        refuse("Its increases of the log-loss have other parts than a model saves.")
    check_kinds(saved, features=np.ndarray, weight=float, log_loss=float)
    numbers = saved["features"]
    if numbers.dtype != np.int64 or numbers.ndim != 1:
        refuse("The features of its increases of the log-loss are no list of whole numbers.")
    ordered = np.all(np.diff(numbers) > 0)
    if not ordered or (numbers.size and not 0 <= numbers[0] <= numbers[-1] < features):
        refuse(f"It has an increase of the log-loss twice, or of none of its {features} features.")
    check_shapes(saved, mean=numbers.shape, error=numbers.shape)
    found = LossIncrease(**saved)
    if not (found.error >= 0).all():
        refuse("An increase of the log-loss has a standard error below 0.")
    if not 0 < found.weight < np.inf or not np.isfinite(found.log_loss):
        refuse(f"It has a log-loss of {found.log_loss} of rows that weigh {found.weight}.")
    return found
