"""Rows that are counted another way, or not at all: wide ones, many patterns, cells of no kind."""

import numpy as np
import pytest
from scipy import sparse

from counting_cases import counted
from suffice import InputError
from suffice.count import count_moments, moments
from suffice.count.counters import CountLevels, CountMoments, CountOnes
from suffice.data import Rows
from suffice.tally import Groups

# Of the core's products of rows: rows that are sorted by class together, and columns up to which
# threads share the rows.
BLOCK, NARROW = 1024, 128

WIDE = NARROW + 5


def moments_by_hand(X, w):
    return w.sum(), w @ X, (X * w[:, None]).T @ X


def wide_rows(missing):
    """Return more than one block of wide rows of three classes, with weights."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(BLOCK + 200, WIDE)) + rng.normal(size=WIDE)
    if missing:
        X[BLOCK + 3 :: 50, 4] = np.nan
    return X, rng.integers(0, 3, len(X)), rng.uniform(0.5, 2.0, len(X))


@pytest.mark.parametrize("missing", [False, True])
def test_wide_rows_are_counted_as_by_hand(missing):
    X, y, w = wide_rows(missing)
    weights, tally = counted("patterns", X, y, 3, w)
    np.testing.assert_allclose(weights, np.bincount(y, w), rtol=1e-12)
    whole = ~np.isnan(X).any(axis=1)
    everything = tuple(range(WIDE))
    seen = {everything: whole}
    if missing:
        seen[everything[:4] + everything[5:]] = ~whole
    assert set(tally.parts) == set(seen)
    for columns, rows in seen.items():
        part = tally.parts[columns].rebase(np.zeros((3, len(columns))))
        for c in range(3):
            mine = rows & (y == c)
            weight, sum_x, sum_xx = moments_by_hand(X[np.ix_(mine, columns)], w[mine])
            np.testing.assert_allclose(part.weight[c], weight, rtol=1e-12)
            np.testing.assert_allclose(part.sum_x[c], sum_x, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(part.sum_xx[c], sum_xx, rtol=1e-9, atol=1e-9)


def test_missing_value_patterns_that_would_fill_the_memory_are_refused(monkeypatch):
    X = np.arange(12.0).reshape(4, 3)
    X[[0, 1, 2], [0, 1, 2]] = np.nan
    one_class = 8 * (3**2 + 3 * 2**2)
    monkeypatch.setattr(moments, "MAX_PATTERN_BYTES", one_class)
    counted("patterns", X, [0] * 4, 1)
    monkeypatch.setattr(moments, "MAX_PATTERN_BYTES", one_class - 1)
    with pytest.raises(InputError, match="4 missing-value patterns would take 0 MB"):
        counted("patterns", X, [0] * 4, 1)


@pytest.mark.parametrize("cell", [3.0, -1.0, 7.0])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_cells_that_should_be_0_or_1_are_refused_if_they_are_not(cell, form):
    X = form(np.array([[1.0, 0.0], [0.0, cell]]))
    with pytest.raises(InputError, match=r"cells must be 0 or 1, and those of .*1.* are not"):
        counted("ones", X, [0, 0], 1, threshold=np.nan)


def test_levels_of_sparse_rows_are_refused():
    with pytest.raises(InputError, match=r"takes dense rows only\. Use X\.toarray\(\)"):
        counted("levels", sparse.csr_array(np.eye(2)), [0, 1], 2)


def test_an_infinite_cell_is_refused_before_fourth_moments_are_summed():
    X = np.ones((4, 2))
    X[2, 1] = -np.inf
    with pytest.raises(InputError, match="Input X contains infinity: -inf in row 2, column 1"):
        counted("quartics", X, [0] * 4, 1)


@pytest.mark.parametrize(
    ("counter", "path", "at", "text"),
    [
        (CountMoments(), (), (0, 3), "column 3"),
        (CountOnes(), (), (0, 3, 1), "column 3 present"),
        (CountOnes(), (), (0, 3, 0), "column 3 absent"),
        (CountLevels(), (3,), (0, 7), "level 7 of column 3"),
    ],
)
def test_a_sum_is_described_by_its_column_and_level(counter, path, at, text):
    assert counter.describe_sum(path, at, lambda column: f"column {column}") == text


def test_counters_without_levels_of_their_own_merge_as_they_are():
    _, tally = count_moments(Rows(np.ones((2, 1)), np.zeros(2, np.int32), 1))
    groups = Groups([0], [2.0], tally)
    assert CountMoments().merge(CountMoments(), groups) == (CountMoments(), groups)
