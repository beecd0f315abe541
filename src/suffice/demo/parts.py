"""What the parts of the demo share: data in two halves, and tables that look alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.table import Table
from sklearn import datasets
from sklearn.model_selection import train_test_split

Array = NDArray[Any]


class Halves(NamedTuple):
    """A data set, half to learn from and half to be tested on, its classes by name."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


def halves(name: str) -> Halves:
    """Load a data set of scikit-learn's and halve it, the same way every time."""
    bunch: Any = getattr(datasets, f"load_{name}")()
    labels = np.asarray(bunch.target_names).astype(str)[bunch.target]
    X, X_test, y, y_test = train_test_split(
        bunch.data, labels, test_size=0.5, random_state=0, stratify=labels
    )
    return Halves(X, y, X_test, y_test)


def a_table(title: str) -> Table:
    """Return an empty table that looks like the others and fits 80 columns."""
    return Table(title=title, box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
