"""Answers about one row, and draws: explanations, random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from suffice.errors import InputError
from suffice.generative.fitted import Fitted
from suffice.scoring.explanation import Explanation, RowScores, explain_scores
from suffice.tally.tally import Floats


def explain_row(fitted: Fitted, array: Any, target: Any, against: Any) -> Explanation:
    """Return what each column of the only row of `array` adds to the log-odds of a class."""
    assert fitted.model is not None
    cells = one_row(array)
    found = fitted.model.features.split(cells)
    parts, base, noise_rate = found.parts, fitted.model.log_prior + found.bias, 0.0
    calibration = fitted.calibration
    if calibration is not None:
        parts = calibration.inverse_temperature * parts
        base = calibration.inverse_temperature * base + calibration.offsets
        noise_rate = calibration.noise_rate
    terms, columns = fitted.columns.terms(), found.columns.tolist()
    names = [terms[at] for at in columns]
    values = [show_cell(name, cells[at]) for name, at in zip(names, columns, strict=True)]
    scores = RowScores(names, values, parts, base, noise_rate)
    return explain_scores(scores, fitted.classes, target, against)


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
