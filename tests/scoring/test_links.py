"""Sigmoid, softmax and log-odds against decimals of fifty digits."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from suffice import log_odds, sigmoid, softmax
from suffice.errors import InputError

SCORES = [
    -744.0,
    -700.0,
    -40.0,
    -1.5,
    -1e-9,
    -1e-300,
    0.0,
    1e-17,
    0.3,
    1.0,
    20.0,
    36.7,
    700.0,
    800.0,
]
# A float is exact but for four units of its last place; exp of a difference from the largest score
# has the rounding of that difference too.
ULPS = 4 * np.finfo(float).eps


def precisely(function, *values):
    """Return a function of decimals to fifty digits, as a float."""
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 50, -999999, 999999
        return float(function(*(Decimal(value) for value in values)))


def test_a_sigmoid_has_its_digits_in_both_tails():
    wanted = [precisely(lambda s: 1 / (1 + (-s).exp()), s) for s in SCORES]
    # The smallest floats hold few digits.
    np.testing.assert_allclose(sigmoid(SCORES), wanted, rtol=ULPS, atol=5e-324)
    rest = [precisely(lambda s: 1 / (1 + s.exp()), s) for s in SCORES]
    np.testing.assert_allclose(sigmoid(-np.array(SCORES)), rest, rtol=ULPS, atol=5e-324)


def test_a_sigmoid_has_its_limits_and_keeps_shapes():
    assert sigmoid([[-np.inf], [np.inf]]).tolist() == [[0.0], [1.0]]
    assert sigmoid(0).shape == ()
    assert np.isnan(sigmoid(np.nan))


@pytest.mark.parametrize(
    "probability",
    [5e-324, 1e-300, 1e-17, 0.1, 0.3, 0.49, 0.5 - 2**-53, 0.5, 0.5 + 2**-52, 0.7, 0.9],
)
def test_log_odds_have_their_digits(probability):
    # Fractions hold the float as it is, not as it is printed.
    odds = Fraction(probability) / (1 - Fraction(probability))
    wanted = precisely(lambda n, d: (n / d).ln(), odds.numerator, odds.denominator)
    assert log_odds(probability) == pytest.approx(wanted, rel=ULPS, abs=0)
    assert log_odds(1 - probability, probability) == pytest.approx(-wanted, rel=2e-14, abs=0)


@pytest.mark.parametrize("rest", [1e-300, 1e-30, 1e-17, 1e-9])
def test_a_complement_gives_the_upper_tail_its_digits(rest):
    wanted = precisely(lambda q: ((1 - q) / q).ln(), rest)
    assert log_odds(1 - rest, rest) == pytest.approx(wanted, rel=ULPS)
    assert log_odds(rest, 1 - rest) == pytest.approx(-wanted, rel=ULPS)


def test_log_odds_are_the_inverse_of_the_sigmoid():
    scores = np.linspace(-700, 700, 281)
    np.testing.assert_allclose(
        log_odds(sigmoid(scores), sigmoid(-scores)), scores, rtol=1e-14, atol=1e-15
    )
    assert log_odds([0.0, 1.0]).tolist() == [-np.inf, np.inf]


def test_what_is_no_probability_is_refused():
    with pytest.raises(InputError, match=r"Log-odds of a probability of 1.5"):
        log_odds([0.2, 1.5])
    with pytest.raises(InputError, match=r"Log-odds of a complement of -0.1"):
        log_odds(1.0, -0.1)
    with pytest.raises(InputError, match=r"sum to 1 but for 0.1"):
        log_odds(0.5, 0.4)


def test_a_softmax_has_its_digits_however_far_scores_are_apart():
    scores = [0.0, -3.0, -50.5, -700.0, 2.25, -744.0]
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 50, -999999, 999999
        powers = [Decimal(s).exp() for s in scores]
        wanted = [float(power / sum(powers)) for power in powers]
    found = softmax(scores)
    np.testing.assert_allclose(found, wanted, rtol=2 * ULPS, atol=5e-324)
    assert found.sum() == pytest.approx(1.0, abs=1e-15)
    # Whatever is added to all scores; of 1e5 they keep eleven digits.
    np.testing.assert_allclose(softmax(np.array(scores) + 1e5), wanted, rtol=1e-10, atol=5e-324)


def test_two_scores_are_a_sigmoid_of_their_difference():
    score = np.linspace(-600, 600, 49)
    pairs = np.stack([score, np.zeros_like(score)], axis=1)
    both = np.stack([sigmoid(score), sigmoid(-score)], axis=1)
    np.testing.assert_allclose(softmax(pairs), both, rtol=2 * ULPS)
    np.testing.assert_allclose(softmax(pairs.T, axis=0), both.T, rtol=2 * ULPS)


def test_infinite_scores_have_limits():
    assert softmax([np.inf, 3.0, np.inf]).tolist() == [0.5, 0.0, 0.5]
    assert softmax([-np.inf, 3.0]).tolist() == [0.0, 1.0]
    assert softmax([-np.inf, -np.inf]).tolist() == [0.5, 0.5]
    assert np.isnan(softmax([np.nan, 1.0])).all()


def test_no_scores_have_no_softmax():
    for scores in (3.0, [], np.ones((2, 0))):
        with pytest.raises(InputError, match="Give one or more scores"):
            softmax(scores)
