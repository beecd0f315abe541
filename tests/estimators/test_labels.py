"""Groups of rows, as users name them."""

import numpy as np
import pytest

from suffice.data import Rows
from suffice.errors import InputError
from suffice.estimators.labels import with_groups

ROWS = Rows(np.zeros((200, 2)), np.zeros(200, np.int32), 1)
NUMBERS = np.random.default_rng(9).integers(0, 40, 200)


def test_rows_of_one_group_have_one_hash_whatever_the_type_of_its_name():
    hashes = with_groups(ROWS, NUMBERS).groups
    known, member = np.unique(NUMBERS, return_inverse=True)
    firsts = np.array([hashes[number == NUMBERS][0] for number in known])
    assert len(set(firsts.tolist())) == len(known)
    np.testing.assert_array_equal(hashes, firsts[member])
    np.testing.assert_array_equal(with_groups(ROWS, NUMBERS.astype(str)).groups, hashes)


def test_groups_of_another_number_of_rows_are_refused():
    with pytest.raises(InputError, match="There are 3 groups for 200 rows"):
        with_groups(ROWS, [1, 2, 3])
