"""Rows that are told to be in order: all cells at once, as cell by cell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.data.plain_rows import (
    STRINGS,
    TRUTH_VALUES,
    PlainCells,
    numbers_of_rows,
    read_numbers,
    row_reader,
)

KINDS = st.sampled_from(
    [
        PlainCells(),
        PlainCells(low=0.0),
        PlainCells(low=0.0, high=3, whole=True),
        PlainCells(levels=frozenset({0.0, 1.0})),
        PlainCells(STRINGS),
        PlainCells(STRINGS, levels=frozenset({"a", "é"})),
        PlainCells(TRUTH_VALUES),
    ]
)
CELLS = st.sampled_from(
    [0, 1, 2.5, -1.0, 4, 2**70, np.inf, np.nan, None, True, "a", "é", "\ud83d", b"a", np.float64(1)]
)


@given(st.lists(st.tuples(KINDS, CELLS), min_size=1, max_size=4), st.booleans())
def test_a_row_is_in_order_if_each_of_its_cells_is(columns, others):
    names = [f"column {k}" for k in range(len(columns))]
    read = row_reader(dict(zip(names, (kind for kind, _ in columns), strict=True)), others=others)
    cells = tuple(cell for _, cell in columns)
    row = dict(zip(names, cells, strict=True))
    expected = cells if all(kind.hold(cell) for kind, cell in columns) else None
    assert read(row) is expected or repr(read(row)) == repr(expected)
    assert read({**row, "more": 1}) is None or others
    assert read({name: row[name] for name in names[1:]}) is None
    assert read(list(cells)) is None


@pytest.mark.parametrize(
    "row", [{"a": 1.0}, {"a": 1.0, "c": 1.0}, {"a": 1.0, "b": "1"}, {"a": 10**400, "b": 1}, [1, 2]]
)
def test_what_is_no_plain_row_of_numbers_is_left_to_others(row):
    assert read_numbers(row, ("a", "b")) is None


def test_numbers_of_columns_without_names_are_left_to_others():
    assert read_numbers({"a": 1.0}, None) is None


@given(st.lists(st.tuples(*[st.sampled_from([1, 2.5, np.float64(3)])] * 3), min_size=1))
def test_numbers_of_rows_are_those_of_numpy(rows):
    np.testing.assert_array_equal(numbers_of_rows(rows), np.array(rows, float))
    rows = [*rows, (None, 1.0, np.nan)]
    np.testing.assert_array_equal(numbers_of_rows(rows), np.array(rows, float))
