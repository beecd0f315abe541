"""Linear measurements: against dense formulas, the joint normal, and a track solved at once."""

import copy
import pickle

import numpy as np
import pytest
from scipy import stats

from gaussian_cases import STRUCTURES, assert_same_normal, normal_of
from suffice.errors import CovarianceError, InputError, ShapeError
from suffice.gaussian import LinearGaussian, MultivariateNormal

each_prior = pytest.mark.parametrize("prior", STRUCTURES)
each_size = pytest.mark.parametrize("m", [1, 2, 3, 4, 9])


def measurement(m, d, noise, seed=0):
    rng = np.random.default_rng([seed, m])
    A, b = rng.normal(size=(m, d)), rng.normal(size=m)
    half = rng.normal(size=(m, m + 1))
    R = {
        "scalar": 0.3,
        "variances": np.exp(rng.normal(size=m)),
        "covariance": half @ half.T,
        "normal": normal_of("low_rank", m, 5, rank=1),
    }[noise]
    return LinearGaussian(A, b, noise=R)


def dense(linear):
    return linear.A, linear.b, linear.noise.covariance


def joint_of(linear, prior):
    """Return the mean and the covariance of (x, y), put together from blocks."""
    A, b, R = dense(linear)
    S = prior.covariance
    mean = np.concatenate([prior.mean, A @ prior.mean + b])
    return mean, np.block([[S, S @ A.T], [A @ S, A @ S @ A.T + R]])


@each_prior
@each_size
@pytest.mark.parametrize("noise", ["scalar", "variances", "covariance", "normal"])
def test_all_answers_are_those_of_the_joint_normal(prior, m, noise):
    state = normal_of(prior, 3, 1, names=["a", "b", "c"])
    linear = measurement(m, 3, noise)
    y = np.random.default_rng(2).normal(size=m)
    mean, covariance = joint_of(linear, state)
    predictive = linear.predictive(state)
    np.testing.assert_allclose(predictive.mean, mean[3:], rtol=1e-10)
    np.testing.assert_allclose(predictive.covariance, covariance[3:, 3:], rtol=1e-9)
    gain = covariance[:3, 3:] @ np.linalg.inv(covariance[3:, 3:])
    found = linear.posterior(state, y)
    np.testing.assert_allclose(found.mean, mean[:3] + gain @ (y - mean[3:]), rtol=1e-7, atol=1e-8)
    left = covariance[:3, :3] - gain @ covariance[3:, :3]
    np.testing.assert_allclose(found.covariance, left, rtol=1e-6, atol=1e-8)
    wanted = stats.multivariate_normal(mean[3:], covariance[3:, 3:]).logpdf(y)
    assert linear.log_evidence(state, y) == pytest.approx(wanted, rel=1e-9)
    assert found.names == ("a", "b", "c")


@each_size
def test_evidence_times_posterior_is_prior_times_likelihood(m):
    prior, linear = normal_of("full", 3), measurement(m, 3, "variances")
    rng = np.random.default_rng(3)
    y, x = rng.normal(size=m), rng.normal(size=(5, 3))
    A, b, R = dense(linear)
    likelihood = [stats.multivariate_normal(A @ one + b, R).logpdf(y) for one in x]
    bayes = prior.log_density(x) + likelihood - linear.log_evidence(prior, y)
    np.testing.assert_allclose(linear.posterior(prior, y).log_density(x), bayes, rtol=1e-8)


def test_more_measurements_than_unknowns_are_predicted_by_few_factors():
    prior = normal_of("full", 2)
    assert measurement(9, 2, "variances").predictive(prior).structure == "low_rank"
    assert measurement(9, 2, "normal").predictive(prior).structure == "low_rank"
    assert measurement(9, 2, "covariance").predictive(prior).structure == "full"
    assert measurement(2, 2, "variances").predictive(prior).structure == "full"


@each_size
def test_a_stack_of_measurements_is_as_each_alone(m):
    prior, linear = normal_of("full", 3, lead=(2, 1)), measurement(m, 3, "scalar")
    y = np.random.default_rng(4).normal(size=(5, m))
    found, evidence = linear.posterior(prior, y), linear.log_evidence(prior, y)
    assert found.mean.shape == (2, 5, 3)
    assert evidence.shape == (2, 5)
    alone = MultivariateNormal(prior.mean[1, 0], prior.covariance)
    one = linear.posterior(alone, y[3])
    np.testing.assert_allclose(found.mean[1, 3], one.mean, rtol=1e-9)
    np.testing.assert_allclose(found.covariance, one.covariance, rtol=1e-9)
    assert evidence[1, 3] == pytest.approx(linear.log_evidence(alone, y[3]))


@pytest.mark.parametrize("m", [2, 5])
def test_what_a_singular_prior_rules_out_stays_ruled_out(m):
    prior = MultivariateNormal([1.0, 1.0, 0.0], np.diag([2.0, 0.0, 1.0]))
    linear = measurement(m, 3, "scalar")
    y = np.random.default_rng(5).normal(size=m)
    found = linear.posterior(prior, y)
    assert found.variances[1] == 0
    assert found.mean[1] == 1.0
    free = LinearGaussian(linear.A[:, [0, 2]], linear.b + linear.A[:, 1], noise=0.3)
    assert_same_normal(found.marginal([0, 2]), free.posterior(prior.marginal([0, 2]), y))


@pytest.mark.parametrize("seed", range(20))
def test_a_measurement_without_noise_is_a_condition(seed):
    prior = normal_of("full", 3, seed)
    found = LinearGaussian(np.eye(3)[[0]], noise=0.0).posterior(prior, [1.5])
    assert found.mean[0] == pytest.approx(1.5, rel=1e-12)
    assert found.variances[0] == 0
    assert_same_normal(found.marginal([1, 2]), prior.condition(0, 1.5))


def test_many_measurements_of_which_one_has_no_noise():
    prior = normal_of("full", 3)
    A = np.random.default_rng(6).normal(size=(4, 3))
    noise = np.array([0.5, 0.1, 0.0, 0.2])
    y = np.array([1.0, 2.0, 3.0, 4.0])
    first = LinearGaussian(A[[2]], noise=0.0).posterior(prior, y[[2]])
    rest = [0, 1, 3]
    wanted = LinearGaussian(A[rest], noise=noise[rest]).posterior(first, y[rest])
    assert_same_normal(LinearGaussian(A, noise=noise).posterior(prior, y), wanted, rtol=1e-7)


def test_hundreds_of_precise_measurements_leave_a_covariance():
    prior = MultivariateNormal(np.zeros(2), 1e6 * np.eye(2))
    state = prior
    linear = LinearGaussian([[1.0, 1.0], [1.0, 1.0 + 1e-6]], noise=1e-8)
    for _ in range(200):
        state = linear.posterior(state, [1.0, 1.0])
    assert np.all(np.linalg.eigvalsh(state.covariance) > 0)
    precision = np.eye(2) / 1e6 + 200 * linear.A.T @ linear.A / 1e-8
    np.testing.assert_allclose(state.covariance, np.linalg.inv(precision), rtol=1e-2)


@pytest.mark.parametrize("m", [3, 8])
def test_a_missing_value_is_a_measurement_not_made(m):
    prior, linear = normal_of("full", 3), measurement(m, 3, "covariance")
    y = np.random.default_rng(7).normal(size=(4, m))
    y[:, 1] = np.nan
    seen = np.setdiff1d(np.arange(m), [1])
    R = linear.noise.covariance[np.ix_(seen, seen)]
    part = LinearGaussian(linear.A[seen], linear.b[seen], noise=R)
    assert_same_normal(linear.posterior(prior, y), part.posterior(prior, y[:, seen]))
    evidence = part.log_evidence(prior, y[:, seen])
    np.testing.assert_allclose(linear.log_evidence(prior, y), evidence, rtol=1e-9)
    nothing = linear.posterior(prior, np.full((4, m), np.nan))
    assert_same_normal(nothing.marginal([0]), prior.affine(1.0, np.zeros((4, 1))).marginal([0]))


def test_a_noise_with_a_mean_adds_it():
    prior = normal_of("full", 2)
    noise = MultivariateNormal.from_diagonal([10.0, 20.0], [1.0, 2.0])
    one = LinearGaussian(np.eye(2), [1.0, 2.0], noise=noise)
    two = LinearGaussian(np.eye(2), [11.0, 22.0], noise=[1.0, 2.0])
    assert_same_normal(one.posterior(prior, [0.0, 0.0]), two.posterior(prior, [0.0, 0.0]))
    assert_same_normal(one.predictive(prior), two.predictive(prior))


# ---- a Kalman filter is this, repeated


def test_filtering_a_track_step_by_step_is_solving_it_at_once():
    rng = np.random.default_rng(8)
    steps, dt = 30, 0.5
    move = np.eye(4) + dt * np.eye(4, k=2)  # position and velocity in the plane
    look = np.eye(2, 4)
    Q = 0.05 * np.kron(np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]]), np.eye(2))
    R = np.array([[0.3, 0.1], [0.1, 0.2]])
    start = MultivariateNormal([0.0, 0.0, 1.0, 0.5], np.diag([4.0, 4.0, 1.0, 1.0]))

    state = start.sample(rng)
    seen = []
    for _ in range(steps):
        state = rng.multivariate_normal(move @ state, Q)
        seen.append(rng.multivariate_normal(look @ state, R))
    seen = np.array(seen)

    moving, looking = LinearGaussian(move, noise=Q), LinearGaussian(look, noise=R)
    posterior, evidence, filtered = start, 0.0, []
    for y in seen:
        posterior = moving.predictive(posterior)
        evidence += looking.log_evidence(posterior, y)
        posterior = looking.posterior(posterior, y)
        filtered.append(posterior)

    # All states and all measurements as one normal: each is a sum of the start and the noises.
    sources = np.zeros((4 * steps, 4 * (steps + 1)))
    for t in range(steps):
        for s in range(t + 2):
            power = t + 1 if s == 0 else t + 1 - s
            block = np.linalg.matrix_power(move, power)
            sources[4 * t : 4 * t + 4, 4 * s : 4 * s + 4] = block
    noise = np.kron(np.eye(steps + 1), Q)
    noise[:4, :4] = start.covariance
    states = sources @ noise @ sources.T
    centre = sources[:, :4] @ start.mean
    looks = np.kron(np.eye(steps), look)
    ys = looks @ states @ looks.T + np.kron(np.eye(steps), R)
    across = states @ looks.T

    wanted = stats.multivariate_normal(looks @ centre, ys).logpdf(seen.ravel())
    assert evidence == pytest.approx(wanted, rel=1e-9)
    for t in range(steps):
        at, known = slice(4 * t, 4 * t + 4), slice(0, 2 * t + 2)
        gain = np.linalg.solve(ys[known, known], across[at, known].T).T
        mean = centre[at] + gain @ (seen.ravel()[known] - (looks @ centre)[known])
        left = states[at, at] - gain @ across[at, known].T
        np.testing.assert_allclose(filtered[t].mean, mean, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(filtered[t].covariance, left, rtol=1e-6, atol=1e-8)


# ---- refusals and copies


def test_a_copy_is_as_read_only():
    linear = measurement(2, 3, "covariance")
    for twin in (pickle.loads(pickle.dumps(linear)), copy.copy(linear), copy.deepcopy(linear)):
        assert not twin.A.flags.writeable
        assert not twin.b.flags.writeable
        assert twin.noise == linear.noise


@pytest.mark.parametrize(
    ("message", "kind", "arguments"),
    [
        (r"A of shape \(2,\)", ShapeError, {"A": [1.0, 2.0], "noise": 1.0}),
        ("A nan", InputError, {"A": [[np.nan]], "noise": 1.0}),
        ("b inf", InputError, {"A": [[1.0]], "b": np.inf, "noise": 1.0}),
        (r"b of shape \(2,\)", ShapeError, {"A": [[1.0]], "b": [1.0, 2.0], "noise": 1.0}),
        (r"noise of shape \(2,\)", ShapeError, {"A": [[1.0]], "noise": [1.0, 2.0]}),
        (r"variances\[0\] -1", CovarianceError, {"A": [[1.0]], "noise": -1.0}),
        ("noise of 3 features for 1", ShapeError, {"A": [[1.0]], "noise": normal_of("full", 3)}),
    ],
)
def test_measurements_that_make_no_sense_are_refused(message, kind, arguments):
    with pytest.raises(kind, match=message):
        LinearGaussian(**arguments)


def test_measurements_that_do_not_fit_are_refused():
    prior, linear = normal_of("full", 3), measurement(2, 3, "scalar")
    with pytest.raises(ShapeError, match="A prior of 2 features and A"):
        linear.posterior(normal_of("full", 2), [0.0, 0.0])
    with pytest.raises(ShapeError, match="A prior of 2 features and A"):
        linear.predictive(normal_of("full", 2))
    with pytest.raises(ShapeError, match=r"Rows of shape \(3,\) for 2 features"):
        linear.posterior(prior, [0.0, 0.0, 0.0])
    with pytest.raises(InputError, match="A measurement is infinite"):
        linear.posterior(prior, [0.0, np.inf])
    with pytest.raises(InputError, match="Measurement 1 is NaN in some rows only"):
        linear.posterior(prior, [[0.0, np.nan], [0.0, 1.0]])
    with pytest.raises(ShapeError, match="Leading axes of shapes"):
        linear.posterior(normal_of("full", 3, lead=(4,)), np.zeros((3, 2)))


def test_two_exact_measurements_of_one_thing_are_refused():
    twice = LinearGaussian([[1.0, 0.0], [1.0, 0.0]], noise=0.0)
    prior = MultivariateNormal(np.zeros(2), np.eye(2))
    with pytest.raises(CovarianceError, match="predictive covariance of y is singular"):
        twice.posterior(prior, [1.0, 1.0])
    with pytest.raises(CovarianceError, match="singular"):
        twice.log_evidence(prior, [1.0, 1.0])


def test_the_predictive_has_the_names_that_the_measurement_gives():
    prior = MultivariateNormal.from_diagonal([0.0, 0.0], [1.0, 1.0], names=["a", "b"])
    look = LinearGaussian([[1.0, 1.0]], noise=1.0, names=["sum"])
    assert look.predictive(prior).names == ("sum",)
    assert look.posterior(prior, [1.0]).names == ("a", "b")


def test_offset_and_noise_may_be_given_by_place_and_noise_is_never_guessed():
    by_place = LinearGaussian([[1.0, 2.0]], 0.5, 2.0)
    by_name = LinearGaussian([[1.0, 2.0]], b=0.5, noise=2.0)
    prior = MultivariateNormal.from_diagonal([0.0, 0.0], [1.0, 1.0])
    assert by_place.predictive(prior) == by_name.predictive(prior)
    with pytest.raises(InputError, match="has no noise"):
        LinearGaussian([[1.0, 2.0]], 0.5)
