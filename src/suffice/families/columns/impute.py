"""Levels and classes drawn, and missing values imputed, from tables of probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.columns import Column
from suffice.data.labels import Codes
from suffice.tally.tally import Floats


def sample_levels(shares: Floats, codes: Codes, rng: np.random.Generator) -> Codes:
    """Draw a level for each of these classes (n,), from shares (C, K).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sample_levels(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, 0, 1]), rng)
    array([1, 0, 1], dtype=int32)
    """
    edges = np.cumsum(shares, axis=1)
    draws = rng.random(len(codes)) * edges[codes, -1]
    out = np.empty(len(codes), np.int32)
    for c in np.unique(codes):
        mine = codes == c
        # Not even a draw of exactly 0 falls into a level of no width.
        out[mine] = np.searchsorted(edges[c], draws[mine], side="right")
    return np.asarray(np.minimum(out, shares.shape[1] - 1))


def sample_classes(log_proba: Floats, rng: np.random.Generator) -> Codes:
    """Draw a class for each row of log p(class | row), (n, C)."""
    edges = np.cumsum(np.exp(log_proba), axis=1)
    draws = rng.random(len(edges)) * edges[:, -1]
    return np.asarray((edges[:, :-1] <= draws[:, None]).sum(axis=1), np.int32)


def impute_levels(shares: Floats, log_proba: Floats, rng: np.random.Generator | None) -> Codes:
    """Return a level for each row of log p(class | row): the most probable one, or a draw."""
    if rng is not None:
        return sample_levels(shares, sample_classes(log_proba, rng), rng)
    return np.asarray(np.argmax(np.exp(log_proba) @ shares, axis=1), np.int32)


def impute_numbers(
    column: Column,
    log_proba: Floats,
    expected: Floats,
    sample: Callable[[Codes, np.random.Generator], Mapping[str, NDArray[Any]]],
    rng: np.random.Generator | None,
) -> dict[str, NDArray[Any]]:
    """Return a column, missing values imputed by expectations (C,) or by draws."""
    values, missing = column.values.copy(), column.missing
    if rng is None:
        values[missing] = np.exp(log_proba[missing]) @ expected
    else:
        values[missing] = sample(sample_classes(log_proba[missing], rng), rng)[column.name]
    return {column.name: values}
