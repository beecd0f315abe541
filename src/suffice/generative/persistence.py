"""What a file holds of a generative classifier, and how a model is made of it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from suffice.combine.combination import Calibration
from suffice.count.counters import Counter
from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.estimators.features import Columns
from suffice.estimators.saved_rows import (
    answers_of,
    cells_of,
    check_saved_rows,
    sample_of,
    saved_answers,
    saved_cells,
    saved_rows,
)
from suffice.generative.fitted import Fitted
from suffice.persist.checks import (
    check_alike,
    check_calibration,
    check_columns,
    check_gross_scale,
    check_groups,
    check_kinds,
)
from suffice.validation.row_sample import RowSample

# The names that a file has for what was learned, the one that no fitted model lacks first.
FIELDS = (
    "tally_",
    "n_features_in_",
    "feature_names_in_",
    "_not_yet",
    "_gross",
    "classes_closed_",
    "new_classes_",
    "held_out",
    "rows",
    "calibration_",
    "calibration_stale_",
)


def state_of(fitted: Fitted) -> dict[str, Any]:
    """Return what is saved, by the names of `FIELDS`; the model is made of the tally again."""
    state: dict[str, Any] = {"tally_": fitted.tally, **fitted.columns.saved()}
    optional = {"_not_yet": fitted.not_yet, "_gross": fitted.gross}
    state |= {name: value for name, value in optional.items() if value is not None}
    state |= {"classes_closed_": fitted.closed, "new_classes_": fitted.new_classes}
    if fitted.held_out is not None:
        state["held_out"] = saved_answers(fitted.held_out)
    if fitted.calibration is not None:
        state["calibration_"] = fitted.calibration
        state["calibration_stale_"] = fitted.calibration_stale
    return state


def rows_to_save(fitted: Fitted, name: str) -> dict[str, Any]:
    """Return the kept rows as they are saved."""
    sample = check_sample(fitted, name)
    return saved_rows(sample, saved_cells(sample.rows.X))


def check_sample(fitted: Fitted, name: str) -> RowSample:
    """Return the kept rows, if there are any that could be saved."""
    if fitted.sample is None:
        raise InputError(
            f"This {name} keeps no rows that could be saved: it learned without "
            "anything to be fitted to them, or comes from a file without rows. Save it without "
            "rows=True."
        )
    return fitted.sample


def check_state(state: dict[str, Any], counter: Counter) -> None:
    """Refuse what does not go together, before it is used: a file may say anything."""
    columns = check_columns(state)
    check_kinds(state, _not_yet=str)
    if "_gross" in state:
        check_gross_scale(state["_gross"], state["tally_"])
    beside = {"classes_closed_": None, "new_classes_": None, **state}
    check_kinds(beside, classes_closed_=bool, new_classes_=np.ndarray)
    groups = state["tally_"]
    check_groups(groups, columns)
    # What is counted of one empty row says what the tally must look like.
    _, like = counter.count(Rows(np.zeros((1, columns)), np.zeros(1, np.int32), 1))
    check_alike(groups.parts, like, len(groups.classes))
    check_kinds(state, calibration_=Calibration, calibration_stale_=bool)
    if "calibration_" in state:
        check_calibration(state["calibration_"], len(groups.classes))


def fitted_of(state: dict[str, Any], counter: Counter) -> tuple[Fitted, Any]:
    """Return what was learned, without a model yet, and the saved rows if there are any."""
    tally = state["tally_"]
    held_out = state.get("held_out")
    fitted = Fitted(
        Columns.restore(state),
        counter,
        tally,
        closed=state["classes_closed_"],
        new_classes=state["new_classes_"],
        gross=state.get("_gross"),
        not_yet=state.get("_not_yet"),
        calibration=state.get("calibration_"),
        calibration_stale=state.get("calibration_stale_", False),
        held_out=None if held_out is None else answers_of(held_out, tally.classes),
    )
    return fitted, state.get("rows")


def sample_of_file(saved: Any, fitted: Fitted, hashes: Callable[[Rows], Hashes]) -> RowSample:
    """Return the kept rows of a file."""
    size = check_saved_rows(saved, fitted.classes)
    return sample_of(saved, cells_of(saved["cells"], size, fitted.columns.count), hashes)
