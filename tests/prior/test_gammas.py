"""Ratios of gamma functions keep their digits, in numpy and compiled."""

import numpy as np
import pytest
from scipy.special import gammaln

from suffice.kernels.leave_one_out.student import log_gamma_step as compiled
from suffice.prior.special import log_gamma_step

SIZES = [0.3, 1.0, 7.5, 19.999, 20.0, 21.3, 1e3, 5e5, 1e9]


@pytest.mark.parametrize("z", SIZES)
def test_whole_steps_are_products(z):
    for step in (0, 1, 2, 5, 30):
        product = np.log(z + np.arange(step)).sum()
        assert float(log_gamma_step(z, step)) == pytest.approx(product, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("z", SIZES)
def test_two_half_steps_are_a_whole_one(z):
    both = float(log_gamma_step(z, 0.5)) + float(log_gamma_step(z + 0.5, 0.5))
    assert both == pytest.approx(np.log(z), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("z", SIZES)
def test_the_compiled_version_says_the_same(z):
    for step in (0.5, 1.5, 32.0):
        expected = float(log_gamma_step(z, step))
        assert compiled(z, step) == pytest.approx(expected, rel=1e-14, abs=1e-14)


def test_small_numbers_agree_with_scipy_and_arrays_broadcast():
    z, step = np.array([[0.5], [3.0]]), np.array([0.5, 2.0])
    np.testing.assert_allclose(log_gamma_step(z, step), gammaln(z + step) - gammaln(z))


def test_the_difference_of_scipys_has_lost_digits_where_this_has_not():
    z = np.linspace(4e5, 6e5, 101)
    assert np.abs(gammaln(z + 1) - gammaln(z) - np.log(z)).max() > 1e-10
    assert np.abs(log_gamma_step(z, 1.0) - np.log(z)).max() < 1e-13
