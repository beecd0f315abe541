"""Strings as codes of levels: what Arrow says, whatever bytes they are made of."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.data.columns import column_of
from suffice.data.labels import MAX_DISTINCT, encode_labels, encode_levels


def by_arrow(cells):
    found = cells.dictionary_encode()
    return found.indices.fill_null(-1).to_pylist(), tuple(found.dictionary.to_pylist())


def same(cells):
    found = encode_levels(cells)
    assert found is not None
    assert found.codes.dtype == np.int32
    codes, levels = by_arrow(cells)
    assert found.codes.tolist() == codes
    assert found.levels == levels


# Few letters and sizes about 8, 16 and 32, so that strings differ in one place of one block.
NAMES = st.text("ab\0é", max_size=40)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@given(data=st.data())
def test_codes_and_levels_are_arrows(kind, data):
    names = data.draw(st.lists(st.one_of(NAMES, st.none()), max_size=60))
    cells = pa.array(names, kind)
    begin = data.draw(st.integers(0, len(names)))
    same(cells)
    same(cells.slice(begin))
    same(cells.slice(0, begin))


@pytest.mark.parametrize("size", [*range(1, 50), 1000])
def test_strings_that_differ_in_one_byte_are_two_levels(size):
    names = ["a" * at + "b" + "a" * (size - at - 1) for at in range(size)]
    same(pa.array(names * 2))
    assert len(encode_levels(pa.array(names)).levels) == size


def test_a_string_is_none_that_it_begins():
    same(pa.array(["a" * size for size in range(70)] * 2))
    same(pa.array(["\0" * size for size in range(70)] * 2))


@pytest.mark.parametrize("levels", [MAX_DISTINCT - 1, MAX_DISTINCT, MAX_DISTINCT + 1, 5000])
def test_many_levels_are_left_to_arrow_and_numbered_in_the_same_order(levels):
    names = np.array([f"level {number}" for number in range(levels)], dtype=object)
    order = np.random.default_rng(0).permutation(3 * levels) % levels
    cells = pa.array(names[order])
    assert (encode_levels(cells) is None) == (levels > MAX_DISTINCT)
    column = column_of("name", cells, "category")
    assert (column.values.tolist(), column.levels) == by_arrow(cells)
    classes, codes = encode_labels(names[order])
    assert classes.tolist() == sorted(names)
    assert classes[codes].tolist() == names[order].tolist()


def test_nothing_and_nothing_but_missing_values_have_no_levels():
    same(pa.array([], pa.string()))
    same(pa.array([None, None], pa.string()))
    same(pa.array(["", ""], pa.large_string()))


def test_what_lies_under_a_missing_value_is_no_level():
    hidden = pa.Array.from_buffers(
        pa.string(),
        2,
        [
            pa.py_buffer(bytes([0b10])),
            pa.py_buffer(np.array([0, 3, 6], np.int32)),
            pa.py_buffer(b"oneTwo"),
        ],
    )
    assert encode_levels(hidden).levels == ("Two",)
    assert encode_levels(hidden).codes.tolist() == [-1, 0]
