"""Several labels a row, which one classifier does not learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.errors import InputError

# What a label of several parts may be held as in a list.
SEVERAL = (list, tuple, set, frozenset, np.ndarray)


def refuse_several_labels(y: Any) -> None:
    """Refuse labels (n, k) of k > 1 columns, and lists of labels, with the way to learn them."""
    if isinstance(y, list | tuple):
        _refuse_lists(y)
        return
    shape = getattr(y, "shape", ())
    if len(shape) < 2 or shape[1:] == (1,):
        return
    fact = f"y should be a 1d array, got an array of shape {tuple(shape)} instead."
    indicator = np.asarray(y)
    if indicator.ndim == 2 and indicator.dtype.kind in "biuf":
        one = (np.count_nonzero(indicator, axis=1) == 1).all() and np.isin(indicator, (0, 1)).all()
        if one and len(indicator):
            raise InputError(f"{fact} It is one-hot: give the class itself, y.argmax(axis=1).")
    raise InputError(
        f"{fact} A classifier here learns one label a row. Learn each column of y by a model of "
        "its own (scikit-learn's MultiOutputClassifier does)."
    )


def _refuse_lists(y: Any) -> None:
    row = next((row for row, label in enumerate(y) if isinstance(label, SEVERAL)), None)
    if row is None or all(isinstance(label, SEVERAL) and len(label) == 1 for label in y):
        return
    raise InputError(
        f"Row {row} of y has the labels {y[row]!r:.80}. A classifier here learns one label a row. "
        "Give one, or learn whether each label is there by a model of its own (scikit-learn's "
        "MultiLabelBinarizer and MultiOutputClassifier do)."
    )
