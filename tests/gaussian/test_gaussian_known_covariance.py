"""The laws of a conjugate prior, for a mean whose rows have a known covariance."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import reference
from gaussian_cases import (
    STANDARD_ERRORS,
    STRUCTURES,
    assert_draws_of,
    assert_same_normal,
    normal_of,
)
from suffice.count import count_patterns
from suffice.data import Rows
from suffice.errors import CovarianceError, PriorError, ShapeError
from suffice.gaussian import KnownCovariance, MultivariateNormal
from suffice.prior import Prior
from suffice.tally import Moments


@st.composite
def priors_and_rows(draw, d=2):
    """Draw a prior, rows and weights."""
    seed = draw(st.integers(0, 2**31 - 1))
    rng = np.random.default_rng(seed)
    prior = normal_of(draw(st.sampled_from(STRUCTURES)), d, seed, rank=1)
    rows = normal_of(draw(st.sampled_from(STRUCTURES)), d, seed + 1, rank=1)
    X = 2 * rng.normal(size=(draw(st.integers(2, 6)), d))
    return KnownCovariance(prior, rows), X, rng.integers(1, 30, len(X)) / 7


def assert_same(one, two):
    assert_same_normal(one.prior, two.prior, rtol=1e-8)
    np.testing.assert_array_equal(one.covariance, two.covariance)


@given(priors_and_rows())
def test_learning_at_once_and_in_two_parts_gives_one_posterior(case):
    prior, X, weights = case
    a, b = (reference.full_moments(X[part], weights[part]) for part in (slice(1), slice(1, None)))
    assert_same(prior.posterior(a + b), prior.posterior(a).posterior(b))
    assert_same(prior.posterior(a + b), prior.posterior(b).posterior(a))


@given(priors_and_rows())
def test_learning_nothing_changes_nothing(case):
    prior, X, _ = case
    nothing = reference.full_moments(X).zero()
    assert prior.log_evidence(nothing) == 0
    assert prior.posterior(nothing) == prior


@given(priors_and_rows())
def test_evidence_is_the_product_of_one_step_predictives(case):
    prior, X, _ = case
    updated, total = prior, 0.0
    for x in X:
        total += updated.predictive().log_density(x)
        updated = updated.posterior(reference.full_moments(x[None]))
    assert total == pytest.approx(prior.log_evidence(reference.full_moments(X)), rel=1e-9)


@given(priors_and_rows())
def test_evidence_of_two_parts_multiplies_for_fractional_weights_too(case):
    prior, X, weights = case
    a, b = (reference.full_moments(X[part], weights[part]) for part in (slice(1), slice(1, None)))
    stepwise = prior.log_evidence(a) + prior.posterior(a).log_evidence(b)
    assert stepwise == pytest.approx(prior.log_evidence(a + b), rel=1e-9, abs=1e-9)


@given(priors_and_rows())
def test_evidence_is_the_density_of_all_rows_as_one(case):
    prior, X, _ = case
    n = len(X)
    covariance = np.kron(np.ones((n, n)), prior.prior.covariance)
    covariance += np.kron(np.eye(n), prior.covariance)
    wanted = stats.multivariate_normal(np.tile(prior.mean(), n), covariance).logpdf(X.ravel())
    assert prior.log_evidence(reference.full_moments(X)) == pytest.approx(wanted, rel=1e-9)


def test_posterior_is_prior_times_likelihood_on_a_grid():
    prior = KnownCovariance(normal_of("full", 2, 1), normal_of("full", 2, 2).covariance)
    X = np.random.default_rng(0).normal(size=(4, 2))
    tally = reference.full_moments(X)
    after = prior.posterior(tally)
    axis = np.linspace(-8, 8, 401)
    sd = np.sqrt(after.prior.variances)
    points = after.mean() + np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1) * sd
    log_joint = stats.multivariate_normal(prior.mean(), prior.prior.covariance).logpdf(points)
    for x in X:
        log_joint = log_joint + stats.multivariate_normal(x, prior.covariance).logpdf(points)
    cell = np.prod(sd) * (axis[1] - axis[0]) ** 2
    total = np.exp(log_joint).sum() * cell
    assert prior.log_evidence(tally) == pytest.approx(np.log(total), rel=1e-8)
    np.testing.assert_allclose(
        np.exp(after.log_density(points)), np.exp(log_joint) / total, atol=1e-9
    )
    density = np.exp(log_joint) / total * cell
    mean = (density[..., None] * points).sum(axis=(0, 1))
    np.testing.assert_allclose(after.mean(), mean, rtol=1e-8)


def test_the_mode_is_the_mean():
    prior = KnownCovariance(normal_of("full", 3), 1.0)
    np.testing.assert_array_equal(prior.mode(), prior.mean())


def test_the_sampler_fits_the_density():
    prior = KnownCovariance(normal_of("low_rank", 3), 1.0)
    draws = prior.sample(np.random.default_rng(1), 20_000)
    assert_draws_of(draws, prior.mean(), prior.prior.covariance)
    assert prior.sample(np.random.default_rng(1)).shape == (3,)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_an_interval_holds_its_share_of_draws(level):
    prior = KnownCovariance(normal_of("full", 2), 1.0)
    lower, upper = prior.interval(level)
    draws = prior.sample(np.random.default_rng(2), 20_000)
    for share, wanted in (
        ((draws < lower).mean(axis=0), (1 - level) / 2),
        ((draws > upper).mean(axis=0), (1 - level) / 2),
    ):
        error = np.sqrt(wanted * (1 - wanted) / 20_000)
        assert np.all(np.abs(share - wanted) <= STANDARD_ERRORS * error)
    with pytest.raises(PriorError, match="level 2"):
        prior.interval(2)


def test_the_predictive_is_that_of_drawn_means():
    prior = KnownCovariance(normal_of("low_rank", 2, rank=1), normal_of("full", 2, 3).covariance)
    rng = np.random.default_rng(3)
    rows = prior.sample(rng, 20_000) + rng.multivariate_normal(
        np.zeros(2), prior.covariance, 20_000
    )
    predictive = prior.predictive()
    assert_draws_of(rows, predictive.mean, predictive.covariance)


def test_several_priors_meet_one_tally():
    normal = normal_of("full", 2, lead=(3,))
    tally = reference.full_moments(np.random.default_rng(4).normal(size=(5, 2)))
    together = KnownCovariance(normal, np.eye(2))
    assert together.log_evidence(tally).shape == (3,)
    for i in range(3):
        alone = KnownCovariance(MultivariateNormal(normal.mean[i], normal.covariance), np.eye(2))
        after = alone.posterior(tally)
        np.testing.assert_allclose(together.posterior(tally).mean()[i], after.mean())
        assert together.log_evidence(tally)[i] == pytest.approx(alone.log_evidence(tally))


def test_counted_rows_of_one_class_are_learned_with_their_class_axis():
    X = np.random.default_rng(5).normal(size=(30, 2))
    counted = count_patterns(Rows(X, np.zeros(30, np.int32), 1))[1].whole()
    prior = KnownCovariance(normal_of("full", 2), np.eye(2))
    assert_same(prior.posterior(counted), prior.posterior(reference.full_moments(X)))
    evidence = prior.log_evidence(reference.full_moments(X))
    assert prior.log_evidence(counted) == pytest.approx(evidence)


def test_features_independent_before_are_so_after():
    prior = KnownCovariance(normal_of("diagonal", 3), [1.0, 2.0, 3.0])
    after = prior.posterior(reference.full_moments(np.ones((2, 3))))
    assert after.prior.structure == after.predictive().structure == "diagonal"


def test_what_is_known_for_sure_stays_known():
    fixed = MultivariateNormal([1.0, 2.0], np.diag([0.0, 1.0]), ["a", "b"])
    after = KnownCovariance(fixed, np.eye(2)).posterior(reference.full_moments(np.zeros((4, 2))))
    assert after.mean().tolist() == [1.0, pytest.approx(0.4)]
    assert after.prior.variances.tolist() == [0.0, pytest.approx(0.2)]
    assert after.prior.names == ("a", "b")


def test_rows_that_do_not_vary_have_no_evidence():
    prior = KnownCovariance(normal_of("full", 2), np.diag([1.0, 0.0]))
    tally = reference.full_moments(np.zeros((2, 2)))
    assert np.all(np.isfinite(prior.posterior(tally).mean()))
    with pytest.raises(CovarianceError, match="singular"):
        prior.log_evidence(tally)


def test_a_tally_that_does_not_fit_is_refused():
    prior = KnownCovariance(normal_of("full", 2), 1.0)
    assert isinstance(prior, Prior)
    with pytest.raises(ShapeError, match=r"Count full moments \(2, 2\) of one class"):
        prior.posterior(reference.moments(np.eye(2)))
    with pytest.raises(ShapeError, match="KnownCovariance of 2 features and moments"):
        prior.log_evidence(reference.full_moments(np.eye(3)))
    with pytest.raises(ShapeError, match=r"KnownCovariance has noise of shape \(3, 3\)"):
        KnownCovariance(normal_of("full", 2), np.eye(3))


def test_a_copy_is_equal():
    prior = KnownCovariance(normal_of("full", 2), np.eye(2))
    for twin in (pickle.loads(pickle.dumps(prior)), copy.copy(prior), copy.deepcopy(prior)):
        assert twin == prior
        assert not twin.mean().flags.writeable
    assert prior != KnownCovariance(normal_of("full", 2), 2 * np.eye(2))


def test_raw_rows_and_their_tally_say_the_same():
    rows = np.random.default_rng(3).normal([1.0, -2.0], 1.0, size=(9, 2))
    prior = KnownCovariance(MultivariateNormal.from_diagonal([0.0, 0.0], [2.0, 3.0]), np.eye(2))
    tally = Moments.of(rows, full=True)
    assert prior.posterior(rows).prior == prior.posterior(tally).prior
    np.testing.assert_array_equal(prior.log_evidence(rows), prior.log_evidence(tally))
    found = prior.estimates(rows)
    np.testing.assert_allclose(found.mle, rows.mean(axis=0))
    np.testing.assert_allclose(found.map, found.mean)


def test_nothing_seen_has_no_maximum_likelihood():
    prior = KnownCovariance(MultivariateNormal.from_diagonal([0.0], [1.0]), 1.0)
    assert prior.estimates(np.empty((0, 1))).mle is None
