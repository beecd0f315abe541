"""The numbers of the folds that rows are in: those of scikit-learn, groups together."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from suffice.estimators.folds import fold_numbers


def numbered(splitter, y, groups=None):
    numbers = np.empty(len(y))
    for number, (_, test) in enumerate(splitter.split(y, y, groups)):
        numbers[test] = number
    return numbers


def test_whole_numbers_are_the_stratified_folds_that_scikit_learn_cuts():
    y = np.random.default_rng(0).integers(0, 3, 50)
    first = StratifiedKFold(4, shuffle=True, random_state=0)
    np.testing.assert_array_equal(fold_numbers(4, y), numbered(first, y))
    runs = fold_numbers(4, y, shuffle=False)
    np.testing.assert_array_equal(runs, numbered(StratifiedKFold(4), y))
    other = StratifiedKFold(4, shuffle=True, random_state=7)
    np.testing.assert_array_equal(fold_numbers(4, y, random_state=7), numbered(other, y))


def test_one_random_state_gives_one_split_and_may_be_a_generator():
    y = np.random.default_rng(0).integers(0, 3, 50)
    np.testing.assert_array_equal(fold_numbers(4, y), fold_numbers(4, y))
    assert (fold_numbers(4, y, random_state=1) != fold_numbers(4, y)).any()
    drawn = [fold_numbers(4, y, random_state=np.random.default_rng(3)) for _ in range(2)]
    np.testing.assert_array_equal(*drawn)
    assert set(fold_numbers(4, y, random_state=None)) == {0, 1, 2, 3}


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("labels", [2, 1], ids=["classes", "one class"])
def test_groups_stay_together(shuffle, labels):
    y = np.random.default_rng(0).integers(0, labels, 60)
    groups = np.repeat(np.arange(12), 5)
    folds = fold_numbers(4, y, groups, shuffle=shuffle)
    assert all(len(np.unique(folds[groups == group])) == 1 for group in range(12))
    assert set(folds) == {0, 1, 2, 3}
