"""A tally with one row more is that of all rows, counted together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.count.counters import (
    CountEvents,
    CountLevels,
    CountMoments,
    CountOnes,
    CountRowMoments,
    CountWords,
)
from suffice.data import Rows
from suffice.tally import Moments

COLUMNS, CLASSES = 3, 2
# Of few columns there is a way of its own.
MANY = 40
LEVELS = st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan])
NUMBERS = st.one_of(LEVELS, st.floats(-1e3, 1e3))
WORDS = st.one_of(st.sampled_from([0.0, 1.0, 2.0, 7.0]), st.floats(0.0, 1e3))
CASES = [
    (CountMoments(), NUMBERS),
    (CountWords(), WORDS),
    (CountOnes(), NUMBERS),
    (CountOnes(1.5), NUMBERS),
    (CountEvents(), LEVELS),
    (CountLevels(), LEVELS),
]


def counted(counter, cells, codes):
    """Return the tally of rows."""
    X = np.array(cells, np.float64).reshape(-1, COLUMNS)
    return counter.count(Rows(X, np.array(codes, np.int32), CLASSES))[1]


@pytest.mark.parametrize(("counter", "cell"), CASES, ids=lambda one: repr(one)[:20])
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_rows_added_one_by_one_are_counted(counter, cell, data):
    rows = data.draw(st.lists(st.tuples(*(cell,) * COLUMNS), min_size=2, max_size=8))
    codes = data.draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows)))
    if isinstance(counter, CountLevels):  # all levels were learned before
        rows[0], codes[0] = (3.0,) * COLUMNS, 0
    found, expected = counted(counter, rows[:1], codes[:1]), counted(counter, rows, codes)
    for at in range(1, len(rows)):
        more = counter.add_row(found, rows[at], codes[at])
        # Moments whose origin is to be moved are counted together.
        found = counted(counter, rows[: at + 1], codes[: at + 1]) if more is None else more
    assert found.allclose(expected)


@pytest.mark.parametrize(("counter", "cell"), CASES, ids=lambda one: repr(one)[:20])
def test_none_is_a_missing_value(counter, cell):
    if isinstance(counter, CountWords):
        pytest.skip("a row of words has no missing values")
    rows = [(3.0, 1.0, 2.0), (1.0, np.nan, 2.0)]
    found = counter.add_row(counted(counter, rows[:1], [0]), (1.0, None, 2), 0)
    assert found.allclose(counted(counter, rows, [0, 0]))


def test_adding_a_row_leaves_the_tally_as_it_was_and_makes_no_array_writeable():
    for counter, _ in CASES:
        before = counted(counter, [(1.0, 2.0, 3.0), (3.0, 3.0, 3.0)], [0, 1])
        same = counted(counter, [(1.0, 2.0, 3.0), (3.0, 3.0, 3.0)], [0, 1])
        after = counter.add_row(before, (1.0, 1.0, 1.0), 1)
        assert before == same
        assert after != before
        for tally in getattr(after, "parts", (after,)):
            assert not any(array.flags.writeable for array in vars(tally).values())


def test_the_first_number_of_a_column_is_the_origin_of_its_class():
    for width in (1, MANY):
        nothing = Moments(*(np.zeros((2, width)),) * 4)
        row = np.full(width, 1e8)
        more = nothing.add_row(1, row).add_row(1, row + 1.0)
        assert more.origin[1].tolist() == [1e8] * width
        assert more.variance()[1].tolist() == [0.25] * width
        assert more.weight[0].tolist() == [0.0] * width


def test_few_numbers_and_many_are_added_alike():
    rng = np.random.default_rng(0)
    wide = MANY
    rows = np.where(rng.random((30, wide)) < 0.3, np.nan, rng.normal(3.0, 2.0, (30, wide)))
    many, few = Moments(*(np.zeros((2, wide)),) * 4), Moments(*(np.zeros((2, 4)),) * 4)
    for number, row in enumerate(rows):
        many, few = many.add_row(number % 2, row), few.add_row(number % 2, row[:4])
    assert Moments(*(part[:, :4] for part in vars(many).values())).allclose(few)
    codes = np.arange(30, dtype=np.int32) % 2
    assert many.allclose(CountMoments().count(Rows(rows, codes, 2))[1])


def test_sums_about_an_origin_far_away_are_left_to_be_moved():
    for width in (1, MANY):
        far = Moments(*(np.full((1, width), x) for x in (2.0, 0.0, 2.0, 2.0)))
        assert far.add_row(0, np.full(width, 1.0)) is None
        near = Moments(*(np.full((1, width), x) for x in (2.0, 0.0, 2.0, 2.1)))
        assert near.add_row(0, np.full(width, 1.0)) is not None


def test_a_row_with_products_of_columns_has_to_be_counted():
    counter = CountRowMoments()
    tally = counter.count(Rows(np.ones((1, 2)), np.zeros(1, np.int32), 1))[1]
    assert counter.add_row(tally, (1.0, 2.0), 0) is None
