"""What is known of single priors and predictives: peers, integrals, enumerations, the notes."""

import numpy as np
import pytest
from scipy import stats

import reference
from prior_cases import DRAWS, STANDARD_ERRORS
from suffice.errors import PriorError
from suffice.prior import (
    Bernoulli,
    Beta,
    Dirichlet,
    Gamma,
    MultivariateStudentT,
    NegativeBinomial,
    NormalInverseGamma,
    PointMasses,
    Polya,
    StudentT,
)
from suffice.tally import Counts

# ---- predictives


def test_discrete_predictives_sum_to_one_and_are_drawn_as_often_as_they_say():
    rng = np.random.default_rng(2)
    rows = np.array([[i, j, 3 - i - j] for i in range(4) for j in range(4 - i)], float)
    polya = Polya([0.4, 2.0, 1.1])
    cases = [
        (Bernoulli(0.3), np.array([0.0, 1.0]), {}),
        (NegativeBinomial(0.8, 0.6), np.arange(200.0), {}),
        (polya, np.eye(3), {}),
        (polya, rows, {"events": 3}),
    ]
    for predictive, values, how in cases:
        chances = np.exp(predictive.log_density(values))
        assert chances.sum() == pytest.approx(1.0, abs=1e-9)
        drawn = predictive.sample(rng, DRAWS, **how)
        mean = (chances[:, None] * values.reshape(len(values), -1)).sum(axis=0)
        scale = how.get("events", 1)
        assert predictive.mean() * scale == pytest.approx(np.squeeze(mean), rel=1e-6)
        for value, chance in list(zip(values, chances, strict=True))[:12]:
            often = np.mean(np.all(np.reshape(drawn == value, (DRAWS, -1)), axis=1))
            noise = STANDARD_ERRORS * np.sqrt(chance * (1 - chance) / DRAWS)
            assert often == pytest.approx(chance, abs=noise)


def test_what_cannot_be_has_no_probability():
    assert Bernoulli(0.3).log_density([2.0, 0.5]).tolist() == [-np.inf, -np.inf]
    assert NegativeBinomial(1.0, 1.0).log_density([-1.0, 0.5, np.inf]).tolist() == [-np.inf] * 3
    assert Polya([1.0, 1.0]).log_density([-1.0, 2.0]) == -np.inf
    assert Beta(2, 2).log_density([-0.1, 1.1]).tolist() == [-np.inf, -np.inf]
    assert Gamma(2, 2).log_density(-0.1) == -np.inf
    assert Dirichlet([2.0, 2.0]).log_density([[0.5, 0.6], [-0.5, 1.5]]).tolist() == [-np.inf] * 2
    assert NormalInverseGamma(0, 1, 1, 1).log_density((0.0, -1.0)) == -np.inf
    # exp(-b/v) outruns every power of v: a variance of 0 has no density, and those near it hardly.
    near_zero = NormalInverseGamma(0, 1, 1, 1).log_density((0.0, [0.0, 1e-300, 1e-3]))
    assert near_zero[0] == -np.inf
    assert near_zero[1] < -1e299
    assert near_zero[2] < -900
    assert PointMasses([0.5], [1]).log_density(0.4) == -np.inf


def test_student_t_is_that_of_scipy():
    x = np.linspace(-30, 30, 41)
    mine = StudentT(degrees=2.5, location=1.0, squared_scale=4.0)
    theirs = stats.t(df=2.5, loc=1.0, scale=2.0)
    np.testing.assert_allclose(mine.log_density(x), theirs.logpdf(x), rtol=1e-12)
    drawn = mine.sample(np.random.default_rng(4), DRAWS)
    assert stats.kstest(drawn, theirs.cdf).pvalue > 1e-3


def test_student_t_of_a_hundred_million_degrees_is_normal():
    x = np.linspace(-3, 3, 7)
    log_density = StudentT(1e8, 0.0, 1.0).log_density(x)
    np.testing.assert_allclose(log_density, stats.norm.logpdf(x), rtol=0, atol=5e-7)


def test_multivariate_t_is_that_of_scipy():
    rng = np.random.default_rng(4)
    matrix = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, 0.3], [0.0, 0.3, 0.5]])
    mine = MultivariateStudentT(4.0, [1.0, 0.0, -1.0], matrix)
    theirs = stats.multivariate_t([1.0, 0.0, -1.0], matrix, df=4.0)
    x = rng.normal(0, 4, (5, 6, 3))
    np.testing.assert_allclose(mine.log_density(x), theirs.logpdf(x), rtol=1e-10)
    drawn = mine.sample(rng, DRAWS)
    white = np.linalg.solve(np.linalg.cholesky(matrix), (drawn - mine.location).T)
    assert stats.kstest((white**2).sum(axis=0) / 3, stats.f(3, 4.0).cdf).pvalue > 1e-3
    assert stats.kstest(drawn[:, 1], stats.t(4.0, 0.0, 1.0).cdf).pvalue > 1e-3


def test_multivariate_t_of_several_classes_scores_rows_against_each():
    rng = np.random.default_rng(6)
    roots = rng.normal(size=(3, 2, 2))
    matrices = roots @ np.swapaxes(roots, -1, -2) + np.eye(2)
    locations, degrees = rng.normal(size=(3, 2)), np.array([3.0, 5.0, 9.0])
    rows = rng.normal(size=(7, 2))
    together = MultivariateStudentT(degrees, locations, matrices).log_density(rows[:, None, :])
    assert together.shape == (7, 3)
    for c in range(3):
        alone = stats.multivariate_t(locations[c], matrices[c], df=degrees[c]).logpdf(rows)
        np.testing.assert_allclose(together[:, c], alone, rtol=1e-10)
    single = MultivariateStudentT(degrees[:1], locations[:1], matrices[:1])
    np.testing.assert_allclose(single.log_density(rows), together[:, 0], rtol=1e-12)


def test_two_priors_meet_one_tally():
    tally = Counts([3, 7])
    several = Beta([1.0, 2.0], [1.0, 5.0]).log_evidence(tally)
    alone = [Beta(1, 1).log_evidence(tally), Beta(2, 5).log_evidence(tally)]
    np.testing.assert_allclose(several, alone, rtol=1e-12)


# ---- facts of the notes, and the ends of the range


def test_the_coin_of_the_notes():
    coin = PointMasses([0.4, 0.5, 0.6], [0.1, 0.8, 0.1])
    heads = coin.posterior(Counts([0, 10]))
    joint = [0.1 * 0.4**10, 0.8 * 0.5**10, 0.1 * 0.6**10]
    np.testing.assert_allclose(heads.weights, np.array(joint) / sum(joint), rtol=1e-12)
    assert np.exp(coin.log_evidence(Counts([0, 10]))) == pytest.approx(sum(joint), rel=1e-12)
    assert coin.predictive().mean() == pytest.approx(0.5)
    assert coin.mode() == 0.5
    assert heads.interval(0.9).lower == 0.5
    assert heads.interval(0.9).upper == 0.6


def test_a_point_all_but_ruled_out_comes_back():
    coin = PointMasses([0.01, 0.99], [1, 1])
    posterior = coin.posterior(Counts([0, 9000])).posterior(Counts([9001, 0]))
    assert posterior.weights[0] == pytest.approx(0.99, rel=1e-9)


def test_points_are_sorted_with_their_weights():
    coin = PointMasses([0.9, 0.1], [3, 1])
    assert coin.points.tolist() == [0.1, 0.9]
    np.testing.assert_allclose(coin.weights, [0.25, 0.75])


def test_impossible_points_are_ruled_out_and_impossible_data_refused():
    certain = PointMasses([0.0, 1.0], [0.5, 0.5])
    assert certain.posterior(Counts([0, 3])).weights.tolist() == [0.0, 1.0]
    assert certain.log_evidence(Counts([1, 1])) == -np.inf
    with pytest.raises(PriorError, match="Add a point between 0 and 1"):
        certain.posterior(Counts([1, 1]))


def test_laplace_rule_is_the_mean_of_one_prior_and_the_mode_of_another():
    tally = Counts([0, 3, 1])
    rule = (tally.counts + 1) / (4 + 3)
    np.testing.assert_allclose(Dirichlet.symmetric(1.0, 3).posterior(tally).mean(), rule)
    np.testing.assert_allclose(Dirichlet.symmetric(2.0, 3).posterior(tally).mode(), rule)


def test_evidence_of_counts_sums_to_one_over_all_counts():
    """Enumerate every outcome of three rows of two events each, as multinomial rows."""
    prior = Dirichlet([0.5, 1.5])
    rows = [[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]]
    total = sum(
        np.exp(prior.log_evidence(reference.word_counts([a, b, c])))
        for a in rows
        for b in rows
        for c in rows
    )
    assert total == pytest.approx(1.0, rel=1e-12)


def test_small_concentrations_sample_the_corners():
    drawn = Dirichlet.symmetric(1e-3, 4).sample(np.random.default_rng(0), 500)
    assert np.isfinite(drawn).all()
    np.testing.assert_allclose(drawn.sum(axis=-1), 1.0)
    assert drawn.max(axis=-1).mean() > 0.98


def test_the_only_level_is_certain():
    assert Dirichlet([2.0]).interval() == (1.0, 1.0)


def test_a_gamma_of_shape_below_one_peaks_at_zero():
    prior = Gamma(0.5, 2.0)
    assert prior.mode() == 0.0
    densities = prior.log_density(np.array([1e-9, 1e-6, 1e-3, 1.0]))
    assert np.all(np.diff(densities) < 0)


def test_gaussians_far_from_zero_are_learned_as_near_it():
    rows = np.array([[0.0], [1.0], [3.0]])
    prior = NormalInverseGamma(0.0, 1.0, 2.0, 1.0)
    far = NormalInverseGamma(1e8, 1.0, 2.0, 1.0)
    near = prior.log_evidence(reference.moments(rows))
    assert far.log_evidence(reference.moments(rows + 1e8)) == pytest.approx(near, rel=1e-7)


def test_predictives_expect_the_location_where_they_expect_anything():
    assert StudentT(2.0, 3.0, 1.0).mean() == 3.0
    assert MultivariateStudentT(2.0, [3.0, 4.0], np.eye(2)).mean().tolist() == [3.0, 4.0]
