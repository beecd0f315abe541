"""Probabilities of boxes: closed forms, products, and draws."""

import re

import numpy as np
import pytest
from scipy import stats

from gaussian_cases import STRUCTURES, normal_of
from suffice.errors import InputError, ShapeError
from suffice.gaussian import MultivariateNormal


def equicorrelated(d):
    """Return d features of correlation 1/2, all positive with probability 1 / (d + 1)."""
    return MultivariateNormal(np.zeros(d), 0.5 * np.eye(d) + 0.5)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_orthants_of_equal_correlations_are_known(d):
    value, error = equicorrelated(d).probability(lower=0.0, rng=np.random.default_rng(0))
    assert abs(value - 1 / (d + 1)) <= error + 1e-12
    assert error < 2e-5
    assert (error == 0) == (d <= 2)


def test_the_stated_error_holds():
    rng = np.random.default_rng(1)
    found = [equicorrelated(4).probability(lower=0.0, rng=rng) for _ in range(40)]
    off = [abs(value - 0.2) <= error for value, error in found]
    assert np.mean(off) >= 0.95


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_box_has_as_many_draws_as_it_says(structure):
    normal = normal_of(structure, 4)
    sd = np.sqrt(normal.variances)
    lower, upper = (
        normal.mean - [1.0, 0.3, np.inf, 2.0] * sd,
        normal.mean + [0.5, 2.0, 1.0, 2.0] * sd,
    )
    value, error = normal.probability(lower, upper, rng=np.random.default_rng(0))
    rows = normal.sample(np.random.default_rng(1), 100_000)
    share = np.mean(np.all((rows > lower) & (rows < upper), axis=1))
    assert abs(share - value) < 5 * np.sqrt(value * (1 - value) / 100_000) + error


def test_independent_features_multiply_without_random_numbers():
    normal = MultivariateNormal.from_diagonal([1.0, 2.0, 3.0], [1.0, 4.0, 9.0])
    value, error = normal.cdf([1.5, 1.0, 2.0])
    wanted = stats.norm.cdf([1.5, 1.0, 2.0], [1, 2, 3], [1, 2, 3]).prod()
    assert value == pytest.approx(wanted, rel=1e-12)
    assert error == 0


def test_a_side_without_ends_is_marginalised():
    normal = normal_of("full", 4)
    lower = np.full(4, -np.inf)
    lower[2] = normal.mean[2] + 1.0
    alone = stats.norm.sf(1.0 / np.sqrt(normal.variances[2]))
    assert normal.probability(lower).value == pytest.approx(alone, rel=1e-12)
    assert normal.probability().value == 1.0


def test_singular_covariances_have_boxes():
    line = MultivariateNormal([0.0, 0.0, 5.0], [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    within = stats.norm.cdf(1) - stats.norm.cdf(0)
    assert line.probability([0, 0, 4], [1, 2, 6]).value == pytest.approx(within, abs=1e-9)
    assert line.probability([0, 0, 6], [1, 2, 7]).value == 0.0


def test_means_and_boxes_broadcast():
    normal = normal_of("full", 2, lead=(3,))
    found = normal.probability(normal.mean - 1.0, normal.mean + 1.0)
    assert found.value.shape == found.error.shape == (3,)
    np.testing.assert_allclose(found.value, found.value[0], rtol=1e-9)


def test_the_same_seed_gives_the_same_value():
    first, second = (
        equicorrelated(5).probability(lower=0.0, rng=np.random.default_rng(3)) for _ in range(2)
    )
    assert first == second


def test_what_is_no_box_is_refused():
    normal = equicorrelated(3)
    with pytest.raises(InputError, match=r"rng=numpy.random.default_rng"):
        normal.probability(0.0, 1.0)
    with pytest.raises(InputError, match="random generator of numpy's"):
        normal.probability(0.0, 1.0, rng=3)
    with pytest.raises(InputError, match=re.escape("from 2 to 1 in feature 1")):
        normal.probability([0.0, 2.0, 0.0], 1.0)
    with pytest.raises(ShapeError, match=re.escape("(..., 3)")):
        normal.probability([0.0, 2.0], 1.0)
