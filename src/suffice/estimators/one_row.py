"""One row, and random numbers, as scikit-learn's users give them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from suffice.errors import InputError
from suffice.tally.tally import Floats


def one_row(array: Any) -> Floats:
    """Return the cells (d,) of the only row of an array or CSR matrix."""
    if array.shape[0] != 1:
        raise InputError(f"{array.shape[0]} rows to explain. Give one.")
    cells = array if isinstance(array, np.ndarray) else array.toarray()
    return np.asarray(cells[0], dtype=np.float64)


def show_cell(name: str, cell: float) -> str:
    """Return how a cell is shown in an explanation.

    >>> show_cell("age", 39.0), show_cell("age", float("nan"))
    ('age = 39', 'age missing')
    """
    return f"{name} missing" if np.isnan(cell) else f"{name} = {cell:g}"


def generator(random_state: Any) -> np.random.Generator:
    """Return a generator from what scikit-learn's users give as random_state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState) or random_state is None:
        return np.random.default_rng(check_random_state(random_state).randint(2**31))
    return np.random.default_rng(random_state)
