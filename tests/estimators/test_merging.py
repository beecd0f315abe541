"""Settings of two models side by side: which are the same."""

import numpy as np
import pytest

from suffice import (
    Beta,
    CountVectorizer,
    Dirichlet,
    MultivariateNormal,
    NormalInverseGamma,
)
from suffice.estimators.merging import same

long = np.arange(2000.0)
SAME = [
    (1.0, 1.0),
    ([1.0, 2.0], np.array([1.0, 2.0])),
    (long, long.copy()),
    (None, None),
    (np.nan, np.nan),
    (Beta(1, 2), Beta(1, 2)),
    (Dirichlet([1.0, 2.0]), Dirichlet([1.0, 2.0])),
    (CountVectorizer(binary=True), CountVectorizer(binary=True)),
    ({"a": [1, 2]}, {"a": (1, 2)}),
]
NOT_SAME = [
    (1.0, 2.0),
    (True, 1),
    (None, 0),
    ("evidence", 1.0),
    ("auto", np.array([0.5, 0.5])),
    (long, np.where(long == 1000, -1, long)),  # printed alike
    ([1.0], [1.0, 2.0]),
    (Beta(1, 2), Beta(2, 1)),
    (Beta(1, 2), NormalInverseGamma(location=0, pseudo_rows=1, shape=2, scale=1)),
    (MultivariateNormal([0.0], [[1.0]]), MultivariateNormal([1.0], [[1.0]])),
    (CountVectorizer(binary=True), CountVectorizer()),
    (CountVectorizer(), None),
    ({"a": 1}, {"b": 1}),
]


@pytest.mark.parametrize(("one", "other"), SAME, ids=range(len(SAME)))
def test_equal_settings_of_different_types_are_equal(one, other):
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(("one", "other"), NOT_SAME, ids=range(len(NOT_SAME)))
def test_different_settings_are_different(one, other):
    assert not same(one, other)
    assert not same(other, one)
