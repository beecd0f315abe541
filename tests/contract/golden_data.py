"""Small seeded random tables: rows, labels, weights, groups, new rows with missing values.

Cells have few decimals, so that they are the same to the bit on every machine: folds go by hashes.
"""

from __future__ import annotations

import numpy as np

ROWS = 54
LABELS = np.array(["ant", "bee", "cow"])[np.r_[np.zeros(22, int), np.ones(18, int), np.full(14, 2)]]
_CODES = np.searchsorted(["ant", "bee", "cow"], LABELS)
_ORDER = np.random.default_rng(1).permutation(ROWS)
LABELS, _CODES = LABELS[_ORDER], _CODES[_ORDER]
TWO = np.where(_CODES == 0, 0, 1)
WEIGHTS = np.random.default_rng(2).choice([0.25, 0.5, 1.0, 2.0, 3.0], ROWS)
GROUPS = np.random.default_rng(3).integers(0, 20, ROWS)


def numbers(seed=4):
    """Return three correlated columns whose means and scales depend on the class."""
    rng = np.random.default_rng(seed)
    mixing = np.array([[1.0, 0.4, 0.0], [0.0, 1.0, -0.3], [0.2, 0.0, 0.8]])
    means = np.array([[0.0, 0.0, 0.0], [1.5, 0.5, -1.0], [0.5, 2.0, 1.0]])
    scales = np.array([1.0, 1.4, 0.7])
    rows = rng.normal(size=(ROWS, 3)) @ mixing * scales[_CODES, None] + means[_CODES]
    return np.round(rows * [1.0, 10.0, 0.1] + [5.0, 100.0, 0.0], 4)


def counts(seed=5):
    """Return five columns of small counts."""
    rates = np.array([[3, 1, 0.5, 2, 1], [1, 3, 0.5, 2, 0.3], [1, 1, 2.5, 0.7, 1]])
    return np.random.default_rng(seed).poisson(rates[_CODES]).astype(float)


def levels(seed=6):
    """Return three columns of levels 0 to 3."""
    rng = np.random.default_rng(seed)
    return (_CODES[:, None] + (rng.random((ROWS, 3)) < 0.45) * rng.integers(0, 4, (ROWS, 3))) % 4


def with_missing(rows, seed=7):
    """Return rows of which a cell in ten is missing."""
    rows = np.array(rows, dtype=float)
    return np.where(np.random.default_rng(seed).random(rows.shape) < 0.1, np.nan, rows)


NUMBERS, COUNTS, LEVELS = numbers(), counts(), levels().astype(float)
MISSING, MISSING_COUNTS, MISSING_LEVELS = (
    with_missing(NUMBERS),
    with_missing(COUNTS),
    with_missing(LEVELS),
)
NEW_WHOLE = np.array([[5.1, 103.0, 0.05], [6.9, 98.0, -0.2], [5.0, 121.0, 0.3], [9.0, 60.0, 0.0]])
NEW = np.vstack([NEW_WHOLE, [[np.nan, 115.0, 0.1], [np.nan] * 3]])
NEW_COUNTS_WHOLE = np.array([[3, 0, 1, 2, 1], [0, 5, 0, 1, 0], [1, 1, 4, 0, 2], [0.0] * 5])
NEW_COUNTS = np.vstack([NEW_COUNTS_WHOLE, [[np.nan, 2, 0, np.nan, 1], [np.nan] * 5]])
NEW_LEVELS_WHOLE = np.array([[0, 1, 0], [1, 1, 3], [2, 0, 2], [3, 3, 1]], dtype=float)
NEW_LEVELS = np.vstack([NEW_LEVELS_WHOLE, [[np.nan, 2, 0], [np.nan] * 3]])

# A longer table for regressions: the target is linear in four columns, beside noise.
_RNG = np.random.default_rng(8)
COLUMNS = np.round(_RNG.normal(size=(80, 4)) * [1.0, 3.0, 0.2, 1.0] + [0.0, 10.0, 1.0, -2.0], 4)
TARGET = np.round(COLUMNS @ [1.0, -0.5, 4.0, 0.0] + 2.0 + 0.7 * _RNG.normal(size=80), 4)
TARGETS = np.column_stack([TARGET, np.round(3 * COLUMNS[:, 3] + _RNG.normal(size=80), 4)])
REPEATS = _RNG.choice([0.5, 1.0, 2.0], 80)
NEW_COLUMNS = np.round(_RNG.normal(size=(5, 4)) * [1.0, 3.0, 0.2, 1.0] + [0.0, 10.0, 1.0, -2.0], 4)
NEW_COLUMNS_MISSING = np.where(np.eye(5, 4) > 0, np.nan, NEW_COLUMNS)
