"""What a prior refuses: the fact with the value, then the cure."""

import numpy as np
import pytest
from scipy import stats

from suffice.errors import InputError, PriorError, ShapeError
from suffice.prior import (
    Bernoulli,
    Beta,
    Dirichlet,
    Gamma,
    MultivariateStudentT,
    NegativeBinomial,
    Normal,
    NormalInverseGamma,
    NormalInverseWishart,
    PointMasses,
    StudentT,
)
from suffice.tally import Counts, Events, Moments


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Beta(0.0, 1.0), "successes 0. Use finite values above 0"),
        (lambda: Beta(1.0, -2.0), "failures -2"),
        (lambda: Dirichlet([1.0, np.nan]), "concentration nan"),
        (lambda: Gamma(1.0, np.inf), "rate inf"),
        (lambda: NormalInverseGamma(np.nan, 1, 1, 1), "location nan. Use finite values"),
        (lambda: NormalInverseGamma(0, 0, 1, 1), "pseudo_rows 0"),
        (lambda: NormalInverseWishart([0, 0], 1, 1, np.eye(2)), "Use degrees above 1"),
        (
            lambda: NormalInverseWishart([0, 0], 1, 3, [[1.0, 2.0], [2.0, 1.0]]),
            "eigenvalue -1, so it is not positive definite",
        ),
        (
            lambda: NormalInverseWishart([0, 0], 1, 3, [[1.0, 0.2], [0.0, 1.0]]),
            "differ by 0.2. Give a symmetric matrix",
        ),
        (lambda: PointMasses([1.5], [1]), "at 1.5. Use probabilities from 0 to 1"),
        (lambda: PointMasses([0.5, 0.5], [1, 1]), "Name each point once"),
        (lambda: PointMasses([0.5, 0.6], [1, -1]), "weight -1"),
        (lambda: PointMasses([0.5, 0.6], [0, 0]), "some point a weight above 0"),
        (lambda: Bernoulli(1.5), "probability 1.5"),
        (lambda: Beta(0.5, 2).mode(), "pseudocount 0.5 has no mode"),
        (lambda: Beta(1, 1).mode(), "flat"),
        (lambda: Beta([1, 2], [1, 3]).mode(), "flat"),
        (lambda: Dirichlet([0.5, 2]).mode(), "pseudocount 0.5 has no mode"),
        (lambda: Dirichlet([1.0, 1.0]).mode(), "flat"),
        (lambda: NormalInverseGamma(0, 1, 1, 1).mean(), "shape above 1, or the mode"),
        (lambda: NormalInverseWishart([0, 0], 1, 3, np.eye(2)).mean(), "degrees above 3"),
        (lambda: NormalInverseGamma(0, 1, 0.5, 1).predictive().mean(), "1 degrees .* no mean"),
        (
            lambda: NormalInverseWishart([0.0], 1, 0.5, [[1.0]]).predictive().mean(),
            "0.5 degrees .* no mean",
        ),
        (lambda: Beta(1, 1).interval(1.0), "level 1. Use a level between 0 and 1"),
        (
            lambda: NormalInverseWishart([0.0], 1, 2, [[1.0]]).log_density(([0.0], [[-1.0]])),
            "covariance with eigenvalue -1",
        ),
        (
            lambda: NormalInverseGamma(0, 1, 1, [1.0, 2.0], shared=(0,)).mode(),
            "has 2 scales along axis -1, where one is shared",
        ),
    ],
)
def test_a_prior_that_cannot_be_says_why(make, text):
    with pytest.raises(PriorError, match=text):
        make()


DIAGONAL = Moments([1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
FULL = Moments(1.0, [0.0, 0.0], [0.0, 0.0], np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Beta(1, 1).posterior(Counts([1, 2, 3])), "use a Dirichlet"),
        (lambda: Beta([1, 1, 1], 1).posterior(Counts([[1, 2], [1, 2]])), "do not fit together"),
        (lambda: Beta([1, 1, 1], [1, 1]), "do not fit together"),
        (lambda: Dirichlet(1.0), "Dirichlet.symmetric"),
        (lambda: Dirichlet([1.0, 1.0]).log_evidence(Counts([1, 2, 3])), "over 2 levels"),
        (lambda: Dirichlet(np.ones((3, 2))).posterior(Counts(np.ones((2, 2)))), "do not fit"),
        (lambda: Gamma([1, 1, 1], 1).posterior(Events([1, 1], [1, 1], [0, 0])), "do not fit"),
        (lambda: NormalInverseGamma([0, 0, 0], 1, 1, 1).posterior(DIAGONAL), "do not fit"),
        (lambda: NormalInverseGamma(0, 1, 1, 1).posterior(FULL), "tally.diagonal"),
        (lambda: NormalInverseGamma(0, 1, 1, 1, shared=(2,)).posterior(DIAGONAL), "axis 2"),
        (lambda: NormalInverseGamma(0, 1, 1, 1, shared=(0,)).mode(), "one entry for each"),
        (
            lambda: NormalInverseWishart([0, 0], 1, 3, np.eye(2)).posterior(DIAGONAL),
            "Count full moments",
        ),
        (
            lambda: NormalInverseWishart([0, 0, 0], 1, 3, np.eye(3)).posterior(FULL),
            "of 3 features",
        ),
        (lambda: NormalInverseWishart([0, 0, 0], 1, 3, np.eye(2)), r"Give \(..., d\)"),
        (lambda: NormalInverseWishart([0, 0], 1, 3, [1.0, 1.0]), r"Give \(..., d, d\)"),
        (lambda: PointMasses([0.5], [1, 2]), "Give points"),
        (lambda: PointMasses([0.5], [1]).posterior(Counts([1, 2, 3])), "two levels"),
        (
            lambda: PointMasses([0.4, 0.6], np.ones((3, 2))).posterior(Counts(np.ones((2, 2)))),
            r"shapes \(3,\), \(2,\) of a PointMasses and of what it meets do not fit",
        ),
        (lambda: MultivariateStudentT(3, [0.0], np.eye(2)), r"\(..., d, d\)"),
        (lambda: MultivariateStudentT(3, [0.0], [[1.0]]).log_density([0.0, 1.0]), "for 1 features"),
        (
            lambda: MultivariateStudentT([3, 4], [0.0], [[1.0]]).log_density(np.zeros((3, 1))),
            r"shapes \(3,\), \(2,\) of a MultivariateStudentT and of what it meets do not fit",
        ),
    ],
)
def test_shapes_that_do_not_fit_say_so(make, text):
    with pytest.raises(ShapeError, match=text):
        make()


@pytest.mark.parametrize("rng", [0, None, "a seed"])
def test_draws_need_a_generator(rng):
    with pytest.raises(InputError, match=r"random generator of numpy's, and .* is none"):
        Beta(1.0, 1.0).sample(rng)


@pytest.mark.parametrize("size", [-1, 1.5, (2, -3)])
def test_a_number_of_draws_is_whole_and_not_negative(size):
    with pytest.raises(InputError, match=r"A size of .* draws"):
        Beta(1.0, 1.0).sample(np.random.default_rng(0), size)


def test_rates_beyond_what_can_be_drawn_are_refused():
    with pytest.raises(InputError, match="beyond what can be drawn"):
        NegativeBinomial(1e20, 1.0).sample(np.random.default_rng(0))


@pytest.mark.parametrize(
    ("predictive", "theirs"),
    [
        (Normal([2.0, -1.0], [4.0, 0.25]), stats.norm([2.0, -1.0], [2.0, 0.5])),
        (StudentT(9.0, [2.0, -1.0], [4.0, 0.25]), stats.t(9.0, [2.0, -1.0], [2.0, 0.5])),
    ],
    ids=["Normal", "StudentT"],
)
def test_draws_of_a_new_value_are_distributed_as_those_of_scipy(predictive, theirs):
    drawn = predictive.sample(np.random.default_rng(5), 4000)
    assert drawn.shape == (4000, 2)
    np.testing.assert_allclose(predictive.mean(), theirs.mean())
    np.testing.assert_allclose(predictive.sd, theirs.std())
    ranks = theirs.cdf(drawn)
    for column in ranks.T:
        assert stats.kstest(column, "uniform").pvalue > 1e-4
