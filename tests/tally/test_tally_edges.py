"""Tallies at their edges: weights below nothing, sizes that always show, sums with fewer axes."""

import numpy as np
import pytest

from suffice import Counts, Events, Groups, InputError
from suffice.tally.held_out import with_weight_of


@pytest.mark.parametrize("weight", [-1.0, -1e-300, np.nan])
def test_a_class_cannot_weigh_less_than_nothing(weight):
    with pytest.raises(InputError, match=r"of a class\. Weights are 0 or more"):
        Groups(["a", "b"], [1.0, weight], Counts([[1.0, 0.0], [0.0, 1.0]]))


def test_sums_that_only_grow_hide_nothing_of_their_size():
    """Hidden is what sums do not show of rows that cancelled; of events nothing cancels."""
    tally = Events(2.0, 5.0, 1.5)
    assert tally.magnitude(hidden=True) == tally.zero()
    assert tally.magnitude() == Events(4.0, 8.0, 2.0)


def test_orderings_of_a_class_stay_where_features_have_factors_of_their_own():
    part = Counts([[[1.0, 3.0], [2.0, 2.0]]], log_orderings=[0.7])
    whole = Counts([[[3.0, 5.0], [2.0, 6.0]]], log_orderings=[1.9])
    scaled = with_weight_of(part, whole)
    np.testing.assert_array_equal(scaled.counts, [[[2.0, 6.0], [4.0, 4.0]]])
    np.testing.assert_array_equal(scaled.log_orderings, [0.7])
