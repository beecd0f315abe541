"""Columns that say nothing of the label leave new rows at the shares of the training rows."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.noise import measure_excess

pytestmark = pytest.mark.slow

# As `python -m benchmarks.noise`, without the sizes that take longest.
SIZES = (30, 50, 100, 200, 500)
TABLES = 100


@pytest.fixture(scope="module")
def excess():
    found = list(measure_excess(TABLES, SIZES))
    return {rows: np.array([e for n, _, e, _ in found if n == rows]) for rows in SIZES}


@pytest.mark.parametrize("rows", SIZES)
def test_noise_costs_no_more_than_one_nat_in_all(excess, rows):
    assert excess[rows].mean() <= 1 / rows + 0.002


def test_no_table_of_200_rows_or_more_looks_informative(excess):
    assert max(excess[200].max(), excess[500].max()) <= 0.05


def test_of_tables_below_100_rows_one_in_twenty_may_look_informative(excess):
    small = np.concatenate([excess[30], excess[50]])
    assert np.mean(small > 0.1) <= 1 / 20
