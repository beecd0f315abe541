"""What a file holds of kept rows: held-out answers always, their cells only when asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.persist.checks import MAX_WEIGHT, check_sizes, refuse
from suffice.tally.tally import Floats, Index
from suffice.validation.row_sample import RowSample

# An odd number, so that no two labels give the same hash.
ODD = np.uint64(0x9E3779B97F4A7C15)
ROW_FIELDS = ("cells", "labels", "codes", "weights", "counts", "groups", "limit")


class HeldOutSample(NamedTuple):
    """What a model said of kept rows when they were held out: no cells, nothing of other rows."""

    classes: NDArray[Any]
    """(C,)"""
    log_proba: Floats
    """(n, C): log p(class | row), calibrated"""
    codes: Index
    """(n,): the class of each row"""
    weights: Floats
    """(n,)"""
    hashes: Hashes
    """(n,): of what each row holds; none after loading, since no file has them"""

    def of_kept(self, sample: RowSample) -> HeldOutSample:
        """Return the answers for rows that are still kept, their classes being those of before."""
        own = sample.with_codes_of(self.classes)
        kept = np.isin(_keys(self.hashes, self.codes), _keys(sample.hashes, own.codes))
        if kept.all():
            return self
        return self._replace(
            log_proba=self.log_proba[kept],
            codes=self.codes[kept],
            weights=self.weights[kept],
            hashes=self.hashes[kept],
        )


def _keys(hashes: Hashes, codes: Any) -> Hashes:
    """Return a hash of rows and their labels."""
    return np.asarray(hashes ^ (codes.astype(np.uint64) * ODD))


def saved_answers(held_out: HeldOutSample) -> tuple[Any, ...]:
    """Return held-out answers as they are saved."""
    return tuple(held_out[1:4])


def answers_of(saved: Any, classes: NDArray[Any]) -> HeldOutSample:
    """Return the held-out answers that were saved, if there can be such ones."""
    if type(saved) is not tuple or len(saved) != 3:
        refuse("Its held-out answers are no probabilities, labels and weights.")
    log_proba, codes, weights = saved
    _check_array("held-out probabilities", log_proba, "f", (None, len(classes)))
    size = len(log_proba)
    if np.isnan(log_proba).any() or np.any(log_proba > 1e-9):
        refuse("Its held-out probabilities are none.")
    _check_codes(codes, size, len(classes))
    _check_weights(weights, size)
    return HeldOutSample(classes, log_proba, codes.astype(np.intp), weights, np.empty(0, np.uint64))


def saved_rows(sample: RowSample, cells: Any) -> dict[str, Any]:
    """Return kept rows as they are saved, given their cells in plain arrays."""
    rows = sample.rows
    given = (cells, sample.labels, rows.codes, rows.weights, sample.counts, rows.groups)
    return dict(zip(ROW_FIELDS, (*given, int(sample.limit)), strict=True))


def check_saved_rows(saved: Any, classes: NDArray[Any]) -> int:
    """Return how many rows were saved, or refuse what goes with no cells."""
    if type(saved) is not dict or saved.keys() != set(ROW_FIELDS):
        refuse("Its kept rows are no rows.")
    codes, labels = saved["codes"], saved["labels"]
    if not isinstance(labels, np.ndarray) or labels.ndim != 1:
        refuse("The labels of its kept rows are no array.")
    if labels.dtype.kind != classes.dtype.kind or not np.isin(labels, classes).all():
        refuse("Its kept rows have labels that are no classes.")
    if len(np.unique(labels)) < len(labels) or np.any(labels != np.sort(labels)):
        refuse("The labels of its kept rows are there twice, or in no order.")
    size = len(codes) if isinstance(codes, np.ndarray) and codes.ndim == 1 else -1
    _check_codes(codes, size, len(labels))
    _check_weights(saved["weights"], size)
    counts, groups, limit = saved["counts"], saved["groups"], saved["limit"]
    _check_array("rows that are one", counts, "iu", (size,))
    if np.any(counts < 1) or counts.sum() > MAX_WEIGHT:
        refuse("Its kept rows are less than one each.")
    if not isinstance(groups, np.ndarray) or groups.dtype != np.uint64:
        refuse("The groups of its kept rows are no hashes.")
    if groups.shape not in ((0,), (size,)) or type(limit) is not int or not 0 <= limit < 2**64:
        refuse("Its kept rows have other groups, or no limit.")
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
    """Return the array, or CSR matrix, of so many rows and columns, or refuse it."""
    if type(saved) is not dict:
        refuse("The cells of its kept rows are no array.")
    if saved.keys() == {"dense"}:
        _check_array("cells of kept rows", saved["dense"], "iufb", (size, width))
        if saved["dense"].dtype.kind == "f" and np.isinf(saved["dense"]).any():
            refuse("The cells of its kept rows are not finite.")
        return saved["dense"]
    if saved.keys() != {"data", "indices", "indptr", "width"}:
        refuse("The cells of its kept rows are no array.")
    data, indices, ends = (saved[name] for name in ("data", "indices", "indptr"))
    _check_array("cells of kept rows", data, "iufb", (None,))
    _check_array("columns of kept rows", indices, "i", data.shape)
    _check_array("ends of kept rows", ends, "i", (size + 1,))
    if data.dtype.kind == "f" and np.isinf(data).any():
        refuse("The cells of its kept rows are not finite.")
    if ends[0] != 0 or ends[-1] != len(data) or np.any(np.diff(ends) < 0):
        refuse("Its kept rows do not end where their cells do.")
    own = saved["width"]
    if type(own) is not int or not 0 <= own <= width:
        refuse(f"Its kept rows have {own!r:.80} columns.")
    if np.any((indices < 0) | (indices >= own)):
        refuse("Its kept rows have cells in columns that there are none of.")
    return csr_array((data, indices, ends), shape=(size, width))


def _check_array(what: str, array: Any, kinds: str, shape: tuple[int | None, ...]) -> None:
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
        refuse(f"Its {what} are no array of numbers.")
    same = array.ndim == len(shape) and all(
        due is None or due == found for due, found in zip(shape, array.shape, strict=True)
    )
    if not same:
        refuse(f"Its {what} have the shape {array.shape}, where {shape} is due.")


def _check_codes(codes: Any, size: int, classes: int) -> None:
    _check_array("labels of kept rows", codes, "i", (size,))
    if np.any((codes < 0) | (codes >= classes)):
        refuse("Its kept rows have labels that there are none of.")


def _check_weights(weights: Any, size: int) -> None:
    _check_array("weights of kept rows", weights, "f", (size,))
    if not np.all(np.isfinite(weights)) or np.any(weights <= 0):
        refuse("Its kept rows have weights that are no numbers above 0.")
    check_sizes({"weights of kept rows": weights}, MAX_WEIGHT)
