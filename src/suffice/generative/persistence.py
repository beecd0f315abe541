"""What a file holds of a generative classifier, its kept rows included, and how it is restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from suffice.combine.combination import Calibration
from suffice.count.counters import Counter
from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.estimators.features import Columns
from suffice.generative.fitted import Fitted, HeldOutSample
from suffice.persist.checks import (
    MAX_WEIGHT,
    check_alike,
    check_calibration,
    check_columns,
    check_gross_scale,
    check_groups,
    check_kinds,
    check_sizes,
    refuse,
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
# The names of what it has for each kept row.
ROW_FIELDS = ("cells", "labels", "codes", "weights", "counts", "groups", "limit")


def state_of(fitted: Fitted) -> dict[str, Any]:
    """Return what is saved, by the names of `FIELDS`; the model is made of the tally again."""
    state: dict[str, Any] = {"tally_": fitted.tally, **fitted.columns.saved()}
    optional = {"_not_yet": fitted.not_yet, "_gross": fitted.gross}
    state |= {name: value for name, value in optional.items() if value is not None}
    state |= {"classes_closed_": fitted.closed, "new_classes_": fitted.new_classes}
    if fitted.held_out is not None:
        answers = fitted.held_out
        state["held_out"] = tuple(answers[1:4])
        if answers.uncalibrated is not None:
            state["held_out"] += (answers.uncalibrated,)
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
            f"This {name} keeps no rows that could be saved: it learned without calibration, or "
            "comes from a file without rows. Save it without rows=True."
        )
    return fitted.sample


def check_state(state: dict[str, Any], counter: Counter) -> None:
    """Refuse what does not go together, before it is used: a file may say anything."""
    columns = check_columns(state)
    check_kinds(state, _not_yet=str)
    if "_gross" in state:
        check_gross_scale(state["_gross"], state["tally_"])
    required = {"classes_closed_": None, "new_classes_": None, **state}
    check_kinds(required, classes_closed_=bool, new_classes_=np.ndarray)
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


def answers_of(saved: Any, classes: NDArray[Any]) -> HeldOutSample:
    """Return the held-out predictions that were saved, if they are possible ones."""
    # Older files have none that are not calibrated.
    if type(saved) is not tuple or len(saved) not in (3, 4):
        refuse("Its held-out predictions are not probabilities, labels and weights.")
    log_proba, codes, weights = saved[:3]
    before = saved[3] if len(saved) == 4 else None
    _check_log_proba(log_proba, (None, len(classes)))
    size = len(log_proba)
    if before is not None:
        _check_log_proba(before, (size, len(classes)))
    _check_codes(codes, size, len(classes))
    _check_weights(weights, size)
    no_hashes = np.empty(0, np.uint64)
    return HeldOutSample(classes, log_proba, codes.astype(np.intp), weights, no_hashes, before)


def _check_log_proba(log_proba: Any, shape: tuple[int | None, ...]) -> None:
    _check_array("held-out probabilities", log_proba, "f", shape)
    if np.isnan(log_proba).any() or np.any(log_proba > 1e-9):
        refuse("Its held-out probabilities are NaN, or above 1.")


def saved_rows(sample: RowSample, cells: Any) -> dict[str, Any]:
    """Return kept rows as they are saved, given their cells in plain arrays."""
    rows = sample.rows
    given = (cells, sample.labels, rows.codes, rows.weights, sample.counts, rows.groups)
    return dict(zip(ROW_FIELDS, (*given, int(sample.limit)), strict=True))


def check_saved_rows(saved: Any, classes: NDArray[Any]) -> int:
    """Return how many rows were saved; refuse labels, weights or counts that are impossible."""
    if type(saved) is not dict or saved.keys() != set(ROW_FIELDS):
        refuse("Its kept rows have other fields than a model saves.")
    codes, labels = saved["codes"], saved["labels"]
    if not isinstance(labels, np.ndarray) or labels.ndim != 1:
        refuse("The labels of its kept rows are not an array.")
    if labels.dtype.kind != classes.dtype.kind or not np.isin(labels, classes).all():
        refuse("Its kept rows have labels that are not among its classes.")
    if len(np.unique(labels)) < len(labels) or np.any(labels != np.sort(labels)):
        refuse("The labels of its kept rows are repeated, or not sorted.")
    size = len(codes) if isinstance(codes, np.ndarray) and codes.ndim == 1 else -1
    _check_codes(codes, size, len(labels))
    _check_weights(saved["weights"], size)
    counts, groups, limit = saved["counts"], saved["groups"], saved["limit"]
    _check_array("counts of kept rows", counts, "iu", (size,))
    if np.any(counts < 1) or counts.sum() > MAX_WEIGHT:
        refuse("A kept row has a count below 1, or all counts together are too large.")
    if not isinstance(groups, np.ndarray) or groups.dtype != np.uint64:
        refuse("The groups of its kept rows are not hashes.")
    if groups.shape not in ((0,), (size,)) or type(limit) is not int or not 0 <= limit < 2**64:
        refuse("Its kept rows have a wrong number of groups, or no limit.")
    return size


def sample_of(saved: dict[str, Any], X: Any, hashes: Any) -> RowSample:
    """Return the sample of rows that were checked before, given what they hold.

    `hashes` returns a hash of each of them.
    """
    labels = saved["labels"]
    codes = saved["codes"].astype(np.int32)
    rows = Rows(X, codes, len(labels), saved["weights"], groups=saved["groups"])
    counts = saved["counts"].astype(np.intp)
    return RowSample(rows, labels, hashes(rows), counts, np.uint64(saved["limit"])).sort_rows()


def saved_cells(X: Any) -> dict[str, Any]:
    """Return an array or a CSR matrix as it is saved."""
    if not issparse(X):
        return {"dense": X}
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "width": int(X.shape[1])}


def cells_of(saved: Any, size: int, width: int) -> Any:
    """Return the saved array, or CSR matrix, if it has so many rows and columns."""
    if type(saved) is not dict:
        refuse("The cells of its kept rows are not an array.")
    if saved.keys() == {"dense"}:
        _check_cells(saved["dense"], (size, width))
        return saved["dense"]
    if saved.keys() != {"data", "indices", "indptr", "width"}:
        refuse("The cells of its kept rows are not an array.")
    data, indices, ends = (saved[name] for name in ("data", "indices", "indptr"))
    _check_cells(data, (None,))
    _check_array("columns of kept rows", indices, "i", data.shape)
    _check_array("ends of kept rows", ends, "i", (size + 1,))
    if ends[0] != 0 or ends[-1] != len(data) or np.any(np.diff(ends) < 0):
        refuse("The row ends of its kept rows do not match their cells.")
    own = saved["width"]
    if type(own) is not int or not 0 <= own <= width:
        refuse(f"Its kept rows have {own!r:.80} columns.")
    if np.any((indices < 0) | (indices >= own)):
        refuse("Its kept rows have cells in columns that do not exist.")
    return csr_array((data, indices, ends), shape=(size, width))


def _check_array(what: str, array: Any, kinds: str, shape: tuple[int | None, ...]) -> None:
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
        refuse(f"Its {what} are not an array of numbers.")
    same = array.ndim == len(shape) and all(
        due is None or due == found for due, found in zip(shape, array.shape, strict=True)
    )
    if not same:
        refuse(f"Its {what} have the shape {array.shape}, but should have {shape}.")


def _check_cells(cells: Any, shape: tuple[int | None, ...]) -> None:
    _check_array("cells of kept rows", cells, "iufb", shape)
    if cells.dtype.kind == "f" and np.isinf(cells).any():
        refuse("The cells of its kept rows are not finite.")


def _check_codes(codes: Any, size: int, classes: int) -> None:
    _check_array("labels of kept rows", codes, "i", (size,))
    if np.any((codes < 0) | (codes >= classes)):
        refuse("Its kept rows have codes of labels that do not exist.")


def _check_weights(weights: Any, size: int) -> None:
    _check_array("weights of kept rows", weights, "f", (size,))
    if not np.all(np.isfinite(weights)) or np.any(weights <= 0):
        refuse("Its kept rows have weights that are not finite numbers above 0.")
    check_sizes({"weights of kept rows": weights}, MAX_WEIGHT)
