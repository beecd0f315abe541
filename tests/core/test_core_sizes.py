"""Arrays with more cells than 32 bits can count. Their pages are read, and hardly any written."""

import numpy as np
import pytest

from suffice import _core

ROWS, COLUMNS = 1_100_000, 2_000  # 2.2e9 cells
NONE = np.empty(0)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cells():
    """Return bytes that are all 0, but for the last."""
    X = np.zeros((ROWS, COLUMNS), np.uint8)
    X[-1, -1] = 7
    assert X.size > 2**31
    return X


def test_moments_of_more_cells_than_32_bits_can_count(cells):
    codes = np.zeros(ROWS, np.int32)
    refused, weight, seen, sum_x, sum_xx = _core.moments(cells, codes, NONE, np.zeros((1, COLUMNS)))
    assert refused == -1
    assert weight.tolist() == [ROWS]
    assert (seen == ROWS).all()
    assert (np.flatnonzero(sum_x).tolist(), sum_x[0, -1], sum_xx[0, -1]) == ([COLUMNS - 1], 7, 49)


def test_scores_of_more_cells_than_32_bits_can_count(cells):
    ones = np.ones((1, COLUMNS))
    refused, _, joint = _core.normal_scores(cells, 0 * ones, ones, 0 * ones, np.zeros(1), "joint")
    assert refused == -1
    assert np.flatnonzero(joint).tolist() == [ROWS - 1]
    assert joint[-1, 0] == -0.5 * 49


def test_hashes_of_more_cells_than_32_bits_can_count(cells):
    hashes = np.zeros(ROWS, np.uint64)
    _core.hash_rows(cells, np.arange(1, COLUMNS + 1, dtype=np.uint64), hashes)
    assert np.flatnonzero(hashes).tolist() == [ROWS - 1]
