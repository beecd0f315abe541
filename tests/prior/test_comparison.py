"""P(A > B) of two posteriors: closed forms, enumeration, and draws."""

import re
from fractions import Fraction
from itertools import product
from math import factorial

import numpy as np
import pytest

from suffice.errors import InputError
from suffice.prior import Beta, Gamma, Normal, StudentT

DRAWS = 200_000
STANDARD_ERRORS = 5.0


def exact_betas(a, b, c, d):
    """Return P(A > B) for whole pseudocounts: as exact fractions, by the binomial of B's CDF.

    P(B < x) = sum_{j >= c} C(n, j) x^j (1 - x)^(n - j), with n = c + d - 1.
    """

    def beta(p, q):
        return Fraction(factorial(p - 1) * factorial(q - 1), factorial(p + q - 1))

    n = c + d - 1
    ways = (Fraction(factorial(n), factorial(j) * factorial(n - j)) for j in range(c, n + 1))
    return sum(w * beta(a + j, b + n - j) for j, w in enumerate(ways, start=c)) / beta(a, b)


@pytest.mark.parametrize("counts", [*[*product((1, 3, 8), repeat=4)][::5], (40, 160, 60, 150)])
def test_betas_of_whole_pseudocounts_are_those_of_fractions(counts):
    a, b, c, d = counts
    assert Beta(a, b).probability_greater(Beta(c, d)) == pytest.approx(
        float(exact_betas(*counts)), abs=1e-11
    )


@pytest.mark.parametrize("a", [1e-6, 1e-3, 0.3, 1.0, 7.5, 1e5])
@pytest.mark.parametrize("c", [1e-6, 0.02, 1.0, 3e4])
def test_betas_with_one_failure_are_powers(a, c):
    assert Beta(a, 1).probability_greater(Beta(c, 1)) == pytest.approx(a / (a + c), abs=1e-10)
    # Turned round: 1 - A ~ Beta(1, a).
    assert Beta(1, c).probability_greater(Beta(1, a)) == pytest.approx(a / (a + c), abs=1e-10)


@pytest.mark.parametrize(("a", "b"), [(1e-3, 1e-3), (0.5, 2.0), (30.0, 70.0), (3e9, 1e9)])
def test_a_beta_beats_a_uniform_number_as_often_as_its_mean_says(a, b):
    flat = Beta(1, 1)
    assert Beta(a, b).probability_greater(flat) == pytest.approx(a / (a + b), abs=1e-10)
    assert flat.probability_greater(Beta(a, b)) == pytest.approx(b / (a + b), abs=1e-10)


@pytest.mark.parametrize("size", [1e3, 1e6, 1e9])
def test_one_of_two_numbers_is_the_greater(size):
    one, other = Beta(0.3 * size, 0.7 * size), Beta(0.3 * size + size**0.5, 0.7 * size)
    both = one.probability_greater(other) + other.probability_greater(one)
    assert both == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize(("m", "s", "n", "r"), [(0, 1, 2, 3), (0, 1, 1e6, 1), (0, 1e-6, 0.1, 1)])
def test_cauchys_are_those_of_the_arc_tangent(m, s, n, r):
    one, other = StudentT(1, m, s**2), StudentT(1, n, r**2)
    wanted = 0.5 + np.arctan((m - n) / (s + r)) / np.pi
    assert one.probability_greater(other) == pytest.approx(wanted, abs=1e-10)


def test_two_equal_distributions_are_even():
    for one in (Beta(0.4, 3), Gamma(0.4, 3), StudentT(0.05, 1, 4), StudentT(3, 1, 4), Normal(2, 3)):
        assert one.probability_greater(one) == pytest.approx(0.5, abs=1e-11)


def test_a_narrow_number_is_beside_a_wide_one_like_a_constant():
    wide = StudentT(3.0, 0.0, 1.0)
    assert Normal(0.7, 1e-24).probability_greater(wide) == pytest.approx(wide.cdf(0.7), abs=1e-10)
    assert wide.probability_greater(Normal(0.7, 1e-24)) == pytest.approx(
        wide.survival(0.7), abs=1e-10
    )
    assert Normal(1e9, 1e-20).probability_greater(wide) == pytest.approx(1.0, abs=1e-10)


def test_many_degrees_of_freedom_are_a_normal():
    normal = Normal(0.4, 1.0).probability_greater(Normal(0.0, 2.0))
    student = StudentT(1e9, 0.4, 1.0).probability_greater(Normal(0.0, 2.0))
    assert student == pytest.approx(normal, abs=1e-9)


PAIRS = {
    "betas": (Beta(0.4, 2.0), Beta(1.3, 5.0)),
    "gammas": (Gamma(0.4, 2.0), Gamma(1.3, 5.0)),
    "normals": (Normal(1.0, 4.0), Normal(0.3, 2.0)),
    "students": (StudentT(2.5, 1.0, 4.0), StudentT(0.8, 0.3, 2.0)),
    "student and normal": (StudentT(2.5, 1.0, 4.0), Normal(0.3, 2.0)),
}


@pytest.mark.parametrize(("one", "other"), PAIRS.values(), ids=PAIRS)
def test_draws_are_greater_as_often(one, other):
    rng = np.random.default_rng(5)
    share = np.mean(one.sample(rng, DRAWS) > other.sample(rng, DRAWS))
    found = one.probability_greater(other)
    assert abs(share - found) < STANDARD_ERRORS * np.sqrt(found * (1 - found) / DRAWS)


def test_comparisons_broadcast():
    one, other = Beta([2.0, 3.0], 4.0), Beta([[1.0], [2.0], [5.0]], 3.0)
    found = one.probability_greater(other)
    assert found.shape == (3, 2)
    alone = Beta(3.0, 4.0).probability_greater(Beta(5.0, 3.0))
    assert found[2, 1] == pytest.approx(alone, abs=1e-13)


def test_different_families_are_not_compared():
    words = "P(A > B) of a Beta and a Gamma. Compare two Betas"
    with pytest.raises(InputError, match=re.escape(words)):
        Beta(1, 1).probability_greater(Gamma(1, 1))
