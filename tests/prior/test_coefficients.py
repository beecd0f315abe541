"""Priors of regression coefficients: their laws, and their formulas against integrals and scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from scipy.special import logsumexp

from suffice.errors import PrecisionWarning, PriorError, ShapeError
from suffice.prior.coefficients import (
    Coefficients,
    CoefficientsKnownNoise,
    Products,
    precision_root,
)
from suffice.tally import Moments

KINDS = ["unknown noise", "known noise"]


def prior_of(kind, d, targets=1, seed=0):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(d, d + 2))
    location, precision = rng.normal(size=(targets, d)), half @ half.T / 3
    if kind == "known noise":
        return CoefficientsKnownNoise(location, precision, 0.7)
    return Coefficients(location, precision, 1.3, rng.uniform(0.5, 2.0, targets))


def products_of(X, Y):
    """Return the products of rows and targets about zero, written down."""
    return Products(float(len(X)), X.T @ X, Y.T @ X, np.square(Y).sum(axis=0))


def centred_products(X, Y):
    return Products.of(Moments.of(np.hstack([X, Y]), full=True), X.shape[1], intercept=True)


def data(n, d, targets=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=(d, targets)) + rng.normal(size=(n, targets))


def fields(prior):
    return {name: np.asarray(value) for name, value in vars(prior).items()}


def assert_same(a, b, **tolerance):
    for name, value in fields(a).items():
        np.testing.assert_allclose(value, fields(b)[name], err_msg=name, **tolerance)


sizes = {"d": st.integers(1, 4), "targets": st.integers(1, 3), "seed": st.integers(0, 10**6)}


# ---- the laws


@pytest.mark.parametrize("kind", KINDS)
@given(n=st.integers(2, 12), cut=st.integers(1, 11), **sizes)
def test_learning_in_two_parts_is_learning_at_once(kind, n, cut, d, targets, seed):
    X, Y = data(n, d, targets, seed)
    cut = min(cut, n - 1)
    prior = prior_of(kind, d, targets, seed)
    at_once = prior.posterior(products_of(X, Y))
    first, second = products_of(X[:cut], Y[:cut]), products_of(X[cut:], Y[cut:])
    assert_same(at_once, prior.posterior(first).posterior(second), rtol=1e-8, atol=1e-10)
    assert_same(at_once, prior.posterior(second).posterior(first), rtol=1e-8, atol=1e-10)
    in_parts = prior.log_evidence(first) + prior.posterior(first).log_evidence(second)
    np.testing.assert_allclose(prior.log_evidence(products_of(X, Y)), in_parts, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_learning_nothing_changes_nothing(kind):
    prior = prior_of(kind, 3, 2)
    nothing = products_of(np.empty((0, 3)), np.empty((0, 2)))
    assert_same(prior, prior.posterior(nothing), rtol=1e-14)
    np.testing.assert_allclose(prior.log_evidence(nothing), 0.0, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
@given(n=st.integers(1, 8), **sizes)
def test_evidence_is_the_product_of_one_step_predictives(kind, n, d, targets, seed):
    X, Y = data(n, d, targets, seed)
    prior = prior_of(kind, d, targets, seed)
    steps, posterior = np.zeros(targets), prior
    for row in range(n):
        steps += posterior.predictive(X[[row]]).log_density(Y[row])[0]
        posterior = posterior.posterior(products_of(X[[row]], Y[[row]]))
    np.testing.assert_allclose(prior.log_evidence(products_of(X, Y)), steps, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_of_three_is_three_rows(kind):
    X, Y = data(5, 2, 2)
    prior = prior_of(kind, 2, 2)
    thrice = products_of(np.repeat(X, 3, axis=0), np.repeat(Y, 3, axis=0))
    weighted = Moments.of(np.hstack([X, Y]), full=True).scale(3.0)
    assert_same(
        prior.posterior(thrice),
        prior.posterior(Products.of(weighted, 2, intercept=False)),
        rtol=1e-12,
    )


# ---- evidence against scipy's densities of all targets at once


@pytest.mark.parametrize("d", [1, 2, 3])
def test_evidence_of_unknown_noise_is_a_multivariate_t_of_the_targets(d):
    X, Y = data(6, d, seed=d)
    prior = prior_of("unknown noise", d, seed=d)
    a, b = float(prior.noise_shape), float(prior.noise_scale[0])
    shape = b / a * (np.eye(6) + X @ np.linalg.inv(prior.precision) @ X.T)
    whole = stats.multivariate_t(X @ prior.location[0], shape, df=2 * a)
    found = prior.log_evidence(products_of(X, Y))
    assert found == pytest.approx([whole.logpdf(Y[:, 0])], rel=1e-10)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_evidence_of_known_noise_is_a_multivariate_normal_of_the_targets(d):
    X, Y = data(6, d, seed=d)
    prior = prior_of("known noise", d, seed=d)
    covariance = 0.7 * np.eye(6) + X @ np.linalg.inv(prior.precision) @ X.T
    whole = stats.multivariate_normal(X @ prior.location[0], covariance)
    found = prior.log_evidence(products_of(X, Y))
    assert found == pytest.approx([whole.logpdf(Y[:, 0])], rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_targets_are_independent_given_their_own_priors(kind):
    X, Y = data(7, 2, 3)
    prior = prior_of(kind, 2, 3)
    together = prior.log_evidence(products_of(X, Y))
    for t in range(3):
        extra = [prior.noise_scale[[t]]] if kind == "unknown noise" else []
        middle = prior.noise_shape if kind == "unknown noise" else prior.noise_variance
        alone = type(prior)(prior.location[[t]], prior.precision, middle, *extra)
        np.testing.assert_allclose(alone.log_evidence(products_of(X, Y[:, [t]])), together[[t]])


# ---- evidence against integrals over the parameters


def likelihood(x, y, w, s2):
    return np.exp(stats.norm(np.multiply.outer(w, x), np.sqrt(s2)).logpdf(y).sum(axis=-1))


def integral_over_coefficient_and_noise(x, y, log_prior):
    """Return the log of the integral of likelihood and prior over w and s2, on a grid.

    The grid is even in log s2, and in w in units of the noise around the steepest w, so that the
    trapezoid rule of such smooth and vanishing functions has no error to speak of.
    """
    log_s2, u = np.linspace(-16, 24, 1201), np.linspace(-30, 30, 1201)
    sd = np.exp(log_s2 / 2)[:, None]
    w = x @ y / (x @ x) + sd * u
    log_likelihood = stats.norm(w[..., None] * x, sd[..., None]).logpdf(y).sum(axis=-1)
    step = np.log(log_s2[1] - log_s2[0]) + np.log(u[1] - u[0])
    # dw = sd du, ds2 = s2 dlog(s2)
    return logsumexp(log_likelihood + log_prior(w, sd**2) + 3 * np.log(sd)) + step


@pytest.mark.slow
def test_evidence_of_unknown_noise_is_the_integral_over_coefficient_and_noise():
    X, Y = data(4, 1)
    prior = Coefficients([[0.3]], [[2.0]], 2.5, [1.2])
    whole = integral_over_coefficient_and_noise(
        X[:, 0],
        Y[:, 0],
        lambda w, s2: (
            stats.invgamma(2.5, scale=1.2).logpdf(s2) + stats.norm(0.3, np.sqrt(s2 / 2.0)).logpdf(w)
        ),
    )
    assert prior.log_evidence(products_of(X, Y)) == pytest.approx([whole], rel=1e-9)


def test_evidence_of_known_noise_is_the_integral_over_the_coefficient():
    X, Y = data(4, 1)
    prior = CoefficientsKnownNoise([[0.3]], [[2.0]], 0.6)

    def integrand(w):
        return likelihood(X[:, 0], Y[:, 0], w, 0.6) * stats.norm(0.3, np.sqrt(1 / 2)).pdf(w)

    whole, _ = quad(integrand, -12, 12, epsabs=0, epsrel=1e-11, limit=200)
    assert prior.log_evidence(products_of(X, Y)) == pytest.approx([np.log(whole)], rel=1e-9)


def test_a_flat_coefficient_counts_as_a_density_of_one():
    X, Y = data(4, 1)
    flat = CoefficientsKnownNoise([[0.0]], [[0.0]], 0.6)
    whole, _ = quad(lambda w: likelihood(X[:, 0], Y[:, 0], w, 0.6), -12, 12, epsrel=1e-11)
    assert flat.log_evidence(products_of(X, Y)) == pytest.approx([np.log(whole)], rel=1e-9)


def test_flat_coefficient_and_flat_log_noise_count_as_densities_of_one_and_of_one_by_s2():
    X, Y = data(5, 1)
    flat = Coefficients([[0.0]], [[0.0]], 0.0, [0.0])
    whole = integral_over_coefficient_and_noise(X[:, 0], Y[:, 0], lambda w, s2: -np.log(s2))
    assert flat.log_evidence(products_of(X, Y)) == pytest.approx([whole], rel=1e-9)


def integral_over_shift(prior, X, y, direction, centre):
    """Return log of the integral over b of the evidence of y - b direction, by the trapezoid rule.

    All b are looked at together, as so many targets with the same prior.
    """
    grid = np.sinh(np.linspace(-12, 12, 6001))  # fine in the middle, far in the tails
    location = np.repeat(prior.location, len(grid), axis=0)
    if isinstance(prior, CoefficientsKnownNoise):
        alike = CoefficientsKnownNoise(location, prior.precision, prior.noise_variance)
    else:
        scales = np.repeat(prior.noise_scale, len(grid))
        alike = Coefficients(location, prior.precision, prior.noise_shape, scales)
    values = alike.log_evidence(products_of(X, y - direction * (centre + grid)))
    middle = logsumexp([values[1:], values[:-1]], axis=0) - np.log(2)
    return logsumexp(middle + np.log(np.diff(grid)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2])
def test_a_flat_intercept_is_integrated_out(kind, d):
    X, Y = data(6, d, seed=3)
    X, Y = X + 2.0, Y - 5.0
    prior = prior_of(kind, d, seed=3)
    found = prior.log_evidence(centred_products(X, Y))
    whole = integral_over_shift(prior, X, Y, np.ones((6, 1)), Y.mean())
    assert found == pytest.approx([whole], rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_one_flat_coefficient_beside_a_proper_one_is_integrated_out(kind):
    X, Y = data(6, 2, seed=4)
    one = prior_of(kind, 1)
    rest = (one.noise_shape, one.noise_scale) if kind == "unknown noise" else (one.noise_variance,)
    precision = np.zeros((2, 2))
    precision[1, 1] = one.precision[0, 0]
    both = type(one)(np.column_stack([[7.0], one.location]), precision, *rest)
    whole = integral_over_shift(one, X[:, 1:], Y, X[:, :1], 0.0)
    assert both.log_evidence(products_of(X, Y)) == pytest.approx([whole], rel=1e-5)


def test_a_prior_that_is_flat_in_one_coefficient_has_no_density_and_draws_nothing():
    zeros, half_flat = np.zeros((1, 2)), np.diag([2.0, 0.0])
    known = CoefficientsKnownNoise(zeros, half_flat, 0.7)
    with pytest.raises(PriorError, match="flat prior has no density"):
        known.log_density(zeros)
    unknown = Coefficients(zeros, half_flat, 1.3, [1.0])
    flat_noise = Coefficients(zeros, np.eye(2), 0.0, [0.0])
    for prior in (unknown, flat_noise):
        for ask in (
            lambda prior: prior.log_density((zeros, [1.0])),
            lambda prior: prior.predictive(zeros),
            lambda prior: prior.marginal(),
            lambda prior: prior.sample(np.random.default_rng(0)),
        ):
            with pytest.raises(PriorError, match="flat prior has no density, draws or predictive"):
                ask(prior)


@pytest.mark.parametrize("kind", KINDS)
def test_a_flat_intercept_is_a_flat_coefficient_of_ones(kind):
    X, Y = data(8, 2, 2, seed=5)
    prior = prior_of(kind, 2, 2)
    precision = np.zeros((3, 3))
    precision[1:, 1:] = prior.precision
    rest = (
        (prior.noise_shape, prior.noise_scale)
        if kind == "unknown noise"
        else (prior.noise_variance,)
    )
    ones = type(prior)(np.column_stack([np.zeros(2), prior.location]), precision, *rest)
    with_ones = products_of(np.column_stack([np.ones(8), X]), Y)
    np.testing.assert_allclose(
        ones.log_evidence(with_ones), prior.log_evidence(centred_products(X, Y)), rtol=1e-11
    )
    posterior = prior.posterior(centred_products(X, Y))
    np.testing.assert_allclose(ones.posterior(with_ones).location[:, 1:], posterior.location)


# ---- densities


def test_the_posterior_is_prior_times_likelihood_on_a_grid():
    X, Y = data(5, 2, seed=6)
    prior = prior_of("unknown noise", 2, seed=6)
    after = prior.posterior(products_of(X, Y))
    rng = np.random.default_rng(0)
    w, s2 = rng.normal(size=(200, 1, 2)), rng.uniform(0.1, 4, (200, 1))
    log_likelihood = stats.norm(w[:, 0] @ X.T, np.sqrt(s2)).logpdf(Y[:, 0]).sum(axis=1)
    constant = after.log_density((w, s2)) - prior.log_density((w, s2)) - log_likelihood[:, None]
    np.testing.assert_allclose(constant[:, 0], -prior.log_evidence(products_of(X, Y))[0], rtol=1e-9)


def test_the_posterior_of_known_noise_is_prior_times_likelihood_on_a_grid():
    X, Y = data(5, 2, seed=6)
    prior = prior_of("known noise", 2, seed=6)
    after = prior.posterior(products_of(X, Y))
    w = np.random.default_rng(0).normal(size=(200, 1, 2))
    log_likelihood = stats.norm(w[:, 0] @ X.T, np.sqrt(0.7)).logpdf(Y[:, 0]).sum(axis=1)
    constant = after.log_density(w) - prior.log_density(w) - log_likelihood[:, None]
    np.testing.assert_allclose(constant[:, 0], -prior.log_evidence(products_of(X, Y))[0], rtol=1e-9)


def test_densities_are_scipys_product_of_densities():
    prior = prior_of("unknown noise", 3, seed=7)
    rng = np.random.default_rng(1)
    for _ in range(20):
        w, s2 = rng.normal(size=3), rng.uniform(0.1, 3)
        normal = stats.multivariate_normal(prior.location[0], s2 * np.linalg.inv(prior.precision))
        gamma = stats.invgamma(1.3, scale=prior.noise_scale[0])
        expected = normal.logpdf(w) + gamma.logpdf(s2)
        assert prior.log_density((w[None], [s2])) == pytest.approx([expected], rel=1e-10)
    known = prior_of("known noise", 3, seed=7)
    normal = stats.multivariate_normal(known.location[0], np.linalg.inv(known.precision))
    w = rng.normal(size=(20, 3))
    np.testing.assert_allclose(known.log_density(w[:, None])[:, 0], normal.logpdf(w), rtol=1e-10)


def test_densities_integrate_to_one():
    prior = Coefficients([[0.3]], [[2.0]], 2.5, [1.2])

    log_s2, u = np.linspace(-12, 20, 801), np.linspace(-12, 12, 801)
    sd = np.exp(log_s2 / 2)[:, None]
    w = 0.3 + sd * u
    s2 = np.broadcast_to(sd**2, w.shape)
    log_density = prior.log_density((w[..., None, None], s2[..., None]))[..., 0]
    step = (log_s2[1] - log_s2[0]) * (u[1] - u[0])
    whole = np.exp(logsumexp(log_density + 3 * np.log(sd))) * step
    assert whole == pytest.approx(1.0, abs=1e-9)
    known = CoefficientsKnownNoise([[0.3]], [[2.0]], 1.0)
    whole, _ = quad(lambda w: float(np.exp(known.log_density([[w]])[0])), -10, 10)
    assert whole == pytest.approx(1.0, abs=1e-9)


def test_the_mode_is_where_the_density_is_largest():
    prior = prior_of("unknown noise", 2, 2, seed=8)
    w, s2 = prior.mode()
    step = 1e-5
    for direction in np.eye(2):
        away = step * direction
        up, down = (prior.log_density((w + sign * away, s2)) for sign in (1, -1))
        np.testing.assert_allclose((up - down) / (2 * step), 0.0, atol=1e-5)
        assert np.all(prior.log_density((w, s2)) > np.maximum(up, down))
    up, down = (prior.log_density((w, s2 + sign * step)) for sign in (1, -1))
    np.testing.assert_allclose((up - down) / (2 * step), 0.0, atol=1e-4)
    known = prior_of("known noise", 2, 2, seed=8)
    assert np.all(known.log_density(known.mode()) > known.log_density(known.mode() + 0.01))


# ---- draws and intervals


DRAWS = 40_000


def assert_mean(draws, expected):
    """Hold the mean of draws (n, ...) to five standard errors."""
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - expected) <= 5 * error)


def test_draws_have_the_mean_and_covariance_they_should():
    prior = Coefficients([[1.0, -2.0], [0.5, 3.0]], [[2.0, 0.6], [0.6, 1.0]], 6.0, [3.0, 10.0])
    w, s2 = prior.sample(np.random.default_rng(2), DRAWS)
    assert w.shape == (DRAWS, 2, 2)
    assert s2.shape == (DRAWS, 2)
    mean = prior.mean()
    assert_mean(w, mean.coefficients)
    assert_mean(s2, mean.noise_variance)
    np.testing.assert_allclose(mean.noise_variance, stats.invgamma(6.0, scale=[3.0, 10.0]).mean())
    away = w - mean.coefficients
    outer = away[..., :, None] * away[..., None, :]
    expected = mean.noise_variance[:, None, None] * np.linalg.inv(prior.precision)
    assert_mean(outer, expected)
    known = CoefficientsKnownNoise(prior.location, prior.precision, 1.0)
    draws = known.sample(np.random.default_rng(3), DRAWS)
    assert_mean(draws, known.mean())
    away = draws - known.mean()
    assert_mean(away[..., :, None] * away[..., None, :], np.linalg.inv(prior.precision))
    np.testing.assert_allclose(known.covariance(), np.linalg.inv(prior.precision))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_intervals_hold_their_share_of_the_draws(level):
    prior = prior_of("unknown noise", 2, 2, seed=9)
    w, s2 = prior.sample(np.random.default_rng(4), DRAWS)
    ends = prior.interval(level)
    for draws, (lower, upper) in ((w, ends.coefficients), (s2, ends.noise_variance)):
        tail = (1 - level) / 2
        error = np.sqrt(tail * (1 - tail) / DRAWS)
        assert np.all(np.abs((draws < lower).mean(axis=0) - tail) <= 5 * error)
        assert np.all(np.abs((draws > upper).mean(axis=0) - tail) <= 5 * error)
    known = prior_of("known noise", 2, 2, seed=9)
    deviation = np.sqrt(np.diagonal(np.linalg.inv(known.precision)))
    lower, upper = known.interval(level)
    expected = stats.norm(known.location, deviation).interval(level)
    np.testing.assert_allclose([lower, upper], expected)


def test_the_marginal_of_the_coefficients_is_the_noise_integrated_out():
    prior = Coefficients([[0.3]], [[2.0]], 2.5, [1.2])
    for w in (-1.0, 0.2, 3.0):
        whole, _ = quad(
            lambda s2, w=w: float(np.exp(prior.log_density(([[w]], [s2]))[0])),
            *(0, np.inf),
            epsabs=1e-13,
        )
        assert np.exp(prior.marginal().log_density([[w]])) == pytest.approx([whole], rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_of_draws_are_spread_like_the_predictive(kind):
    prior = prior_of(kind, 2, seed=10)
    rng = np.random.default_rng(5)
    drawn = prior.sample(rng, DRAWS)
    w, s2 = drawn if kind == "unknown noise" else (drawn, np.full((DRAWS, 1), 0.7))
    x = np.array([0.4, -1.5])
    y = (w @ x)[:, 0] + np.sqrt(s2[:, 0]) * rng.standard_normal(DRAWS)
    lower, upper = prior.predictive(x[None]).interval(0.8)
    error = np.sqrt(0.1 * 0.9 / DRAWS)
    assert abs((y < lower[0, 0]).mean() - 0.1) <= 5 * error
    assert abs((y > upper[0, 0]).mean() - 0.1) <= 5 * error


# ---- what is refused, and what is known of nothing


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Coefficients([[0.0]], [[1.0]], 0.0, [1.0]), PriorError, "or 0 for both"),
        (lambda: Coefficients([[0.0]], [[1.0]], [1.0], [1.0]), PriorError, "one shape for all"),
        (lambda: Coefficients([0.0], [[1.0]], 1.0, [1.0]), ShapeError, r"Give \(t, d\) and"),
        (lambda: CoefficientsKnownNoise([[0.0]], [[1.0]], [1.0]), ShapeError, "Give one number"),
        (
            lambda: CoefficientsKnownNoise([[0.0]], [[-1.0]], 1.0),
            PriorError,
            "CoefficientsKnownNoise has a precision with eigenvalue -1",
        ),
    ],
)
def test_settings_without_a_distribution_are_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_a_flat_prior_needs_more_rows_than_coefficients_to_know_the_noise():
    flat = Coefficients([[0.0]], np.zeros((1, 1)), 0.0, [0.0])
    X, Y = data(1, 1)
    with pytest.raises(PriorError, match="Rows worth 0 after what flat priors take"):
        flat.posterior(products_of(X, Y))


def test_a_noise_variance_of_a_small_shape_has_no_mean():
    prior = Coefficients([[0.0]], [[1.0]], 1.0, [1.0])
    with pytest.raises(PriorError, match="of shape 1 has no mean"):
        prior.mean()


def test_a_column_that_does_not_vary_has_no_coefficient_under_a_flat_prior():
    flat = CoefficientsKnownNoise([[0.0, 0.0]], np.zeros((2, 2)), 1.0)
    X = np.column_stack([np.arange(4.0), np.ones(4)])
    with pytest.raises(PriorError, match="Column 1 does not vary"):
        flat.posterior(centred_products(X, np.ones((4, 1))))


def test_moments_of_columns_alone_are_no_regression():
    diagonal = Moments.of(np.eye(2))
    with pytest.raises(ShapeError, match="are no regression on 1 features"):
        Products.of(diagonal, 1, intercept=True)


def test_an_intercept_alone_is_a_regression_without_coefficients():
    y = np.array([[1.0], [2.0], [6.0]])
    products = Products.of(Moments.of(y, full=True), 0, intercept=True)
    posterior = Coefficients(np.zeros((1, 0)), np.zeros((0, 0)), 0.0, [0.0]).posterior(products)
    assert posterior.location.shape == (1, 0)
    assert posterior.noise_scale == pytest.approx(np.square(y - 3).sum() / 2)
    predicted = posterior.predictive(np.empty((2, 0)))
    np.testing.assert_allclose(predicted.squared_scale[:, 0], 2 * [float(np.var(y, ddof=1))])


def test_products_in_other_units_of_noise_have_the_same_coefficients():
    X, Y = data(9, 2)
    products = products_of(X, Y)
    prior = CoefficientsKnownNoise(np.zeros((1, 2)), np.zeros((2, 2)), 1.0)
    plain, scaled = prior.posterior(products), prior.posterior(products.scale(4.0))
    np.testing.assert_allclose(scaled.location, plain.location)
    np.testing.assert_allclose(scaled.precision, 4 * plain.precision)
    assert products.scale(4.0).rows == 9


def test_a_target_that_the_columns_make_up_has_the_noise_of_rounding():
    X = np.arange(12.0).reshape(6, 2) ** 1.5
    with pytest.warns(PrecisionWarning, match="Target 0 is a linear function of the columns"):
        posterior = Coefficients(np.zeros((1, 2)), np.zeros((2, 2)), 0.0, [0.0]).posterior(
            centred_products(X, X @ [[2.0], [-1.0]])
        )
    np.testing.assert_allclose(posterior.location, [[2.0, -1.0]], rtol=1e-8)
    assert 0 < posterior.noise_scale < 1e-9


# ---- roots of precisions


def test_the_root_of_a_precision_multiplies_to_it():
    precision = np.array([[4.0, 2.0], [2.0, 5.0]])
    root = precision_root(precision)
    np.testing.assert_allclose(root @ root.T, precision)
    assert root[0, 1] == 0


def test_a_column_that_others_make_up_is_named():
    columns = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0]])
    with pytest.raises(PriorError, match="Column 2 is a combination of the columns before it"):
        precision_root(columns.T @ columns)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_a_precision_that_has_overflowed_has_no_root():
    with pytest.raises(PriorError, match="the prior is too weak to separate them"):
        precision_root(np.array([[1.0, 1.0], [1.0, np.inf]]))
