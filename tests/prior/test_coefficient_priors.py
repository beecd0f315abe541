"""What priors of coefficients refuse, the products they learn from, and their predictives."""

import numpy as np
import pytest
from scipy import stats

from suffice.errors import PriorError, ShapeError
from suffice.prior.coefficients import (
    Coefficients,
    CoefficientsKnownNoise,
    Products,
    leverage,
    precision_root,
    solve_with_root,
)
from suffice.prior.predictive import Normal, StudentT
from suffice.tally import Moments

# ---- predictives, against scipy


@pytest.mark.parametrize("level", [0.01, 0.5, 0.95, 0.999])
def test_a_normal_is_scipys(level):
    location, variance = np.array([[0.0, -3.0], [1e6, 2.0]]), np.array([4.0, 1e-6])
    ours, theirs = Normal(location, variance), stats.norm(location, np.sqrt(variance))
    np.testing.assert_allclose(ours.interval(level), theirs.interval(level), rtol=1e-12)
    np.testing.assert_allclose(ours.sd, theirs.std())
    np.testing.assert_allclose(ours.mean(), theirs.mean())
    x = location + 1e-3
    np.testing.assert_allclose(ours.log_density(x), theirs.logpdf(x), rtol=1e-9)


@pytest.mark.parametrize("degrees", [0.5, 1.0, 2.5, 7.0, 1e6])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_a_students_t_is_scipys(degrees, level):
    location, squared = np.array([[0.0, -3.0]]), np.array([[4.0, 1e-6]])
    ours = StudentT(degrees, location, squared)
    theirs = stats.t(degrees, location, np.sqrt(squared))
    np.testing.assert_allclose(ours.interval(level), theirs.interval(level), rtol=1e-9)
    if degrees > 2:
        np.testing.assert_allclose(ours.sd, theirs.std(), rtol=1e-12)


@pytest.mark.parametrize("degrees", [0.5, 1.0, 2.0])
def test_a_students_t_of_two_degrees_or_fewer_has_no_finite_deviation(degrees):
    assert StudentT(degrees, 0.0, 1.0).sd == np.inf


def test_draws_of_a_normal_are_normal():
    draws = Normal([1.0, -2.0], [4.0, 0.25]).sample(np.random.default_rng(0), 20_000)
    assert draws.shape == (20_000, 2)
    for column, (mean, sd) in zip(draws.T, [(1.0, 2.0), (-2.0, 0.5)], strict=True):
        assert stats.kstest(column, stats.norm(mean, sd).cdf).pvalue > 1e-3


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 95.0, np.nan])
def test_a_level_is_a_probability(level):
    with pytest.raises(PriorError, match="Use a level between 0 and 1"):
        Normal(0.0, 1.0).interval(level)
    with pytest.raises(PriorError, match="Use a level between 0 and 1"):
        StudentT(3.0, 0.0, 1.0).interval(level)


def test_a_normal_without_a_variance_is_refused():
    with pytest.raises(PriorError, match="Normal has variance 0"):
        Normal(0.0, 0.0)
    with pytest.raises(PriorError, match="Normal has location nan"):
        Normal(np.nan, 1.0)


# ---- products


def test_products_are_numpys():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(20, 3)) + 5, rng.normal(size=(20, 2)) - 7
    tally = Moments.of(np.hstack([X, Y]), full=True)
    raw = Products.of(tally, 3, intercept=False)
    np.testing.assert_allclose(raw.xx, X.T @ X)
    np.testing.assert_allclose(raw.xy, Y.T @ X)
    np.testing.assert_allclose(raw.yy, np.square(Y).sum(axis=0))
    assert (raw.rows, raw.log_volume) == (20.0, 0.0)
    A, B = X - X.mean(axis=0), Y - Y.mean(axis=0)
    centred = Products.of(tally, 3, intercept=True)
    np.testing.assert_allclose(centred.xx, A.T @ A)
    np.testing.assert_allclose(centred.xy, B.T @ A)
    np.testing.assert_allclose(centred.yy, np.square(B).sum(axis=0))
    assert centred.rows == 19.0


def test_products_about_coefficients_are_those_of_the_residuals():
    rng = np.random.default_rng(2)
    X, Y, w = rng.normal(size=(20, 3)), rng.normal(size=(20, 2)), rng.normal(size=(2, 3))
    products = Products(20.0, X.T @ X, Y.T @ X, np.square(Y).sum(axis=0)).about(w)
    left = Y - X @ w.T
    np.testing.assert_allclose(products.xy, left.T @ X)
    np.testing.assert_allclose(products.yy, np.square(left).sum(axis=0))


@pytest.mark.parametrize("features", [-1, 3, 4])
def test_products_need_a_target_among_the_features(features):
    tally = Moments.of(np.random.default_rng(3).normal(size=(5, 3)), full=True)
    with pytest.raises(ShapeError, match=f"no regression on {features} features"):
        Products.of(tally, features, intercept=True)


def test_products_need_full_moments():
    tally = Moments.of(np.random.default_rng(3).normal(size=(5, 3)))
    with pytest.raises(ShapeError, match=r"full moments \(d \+ t, d \+ t\)"):
        Products.of(tally, 2, intercept=True)


# ---- precisions


def test_factors_solve_and_give_leverages():
    rng = np.random.default_rng(4)
    half, units = rng.normal(size=(3, 5)), np.array([1e-6, 1.0, 1e6])
    plain, rows = half @ half.T, rng.normal(size=(7, 3))
    root = precision_root(plain * np.outer(units, units))
    np.testing.assert_allclose(root @ root.T, plain * np.outer(units, units), rtol=1e-12)
    np.testing.assert_allclose(root, np.tril(root))
    np.testing.assert_allclose(solve_with_root(root, rows @ plain * units), rows / units, rtol=1e-9)
    expected = [row @ np.linalg.solve(plain, row) for row in rows]
    np.testing.assert_allclose(leverage(root, rows * units), expected, rtol=1e-9)


def test_a_row_with_a_missing_value_has_no_leverage():
    rows = np.array([[1.0, np.nan], [1.0, 2.0]])
    assert np.isnan(leverage(np.eye(2), rows)).tolist() == [True, False]


def test_a_posterior_without_precision_names_the_column():
    with pytest.raises(PriorError, match="Column 1 does not vary"):
        precision_root(np.diag([1.0, 0.0, 2.0]))
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20, 4))
    X[:, 2] = X[:, 0] - 3 * X[:, 1]
    with pytest.raises(PriorError, match="Column 2 is a combination of the columns before it"):
        precision_root(X.T @ X)


def test_columns_that_are_nearly_the_same_are_still_told_apart():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(50, 2))
    X[:, 1] = X[:, 0] + 1e-5 * X[:, 1]
    root = precision_root(X.T @ X)
    np.testing.assert_allclose(root @ root.T, X.T @ X, rtol=1e-12)


# ---- what is refused


@pytest.mark.parametrize(
    ("location", "precision"),
    [([0.0], np.eye(1)), ([[0.0, 0.0]], np.eye(3)), ([[0.0]], np.ones(1)), ([[[0.0]]], np.eye(1))],
)
@pytest.mark.parametrize("known", [True, False])
def test_locations_and_precisions_that_do_not_fit_are_refused(location, precision, known):
    make, rest = (CoefficientsKnownNoise, [1.0]) if known else (Coefficients, [1.0, [1.0]])
    with pytest.raises(ShapeError, match=r"Give .*d, d\)"):
        make(location, precision, *rest)


@pytest.mark.parametrize("make", [Coefficients, CoefficientsKnownNoise])
def test_a_precision_that_is_none_is_refused(make):
    rest = ([1.0],) if make is Coefficients else ()
    indefinite = [[1.0, 2.0], [2.0, 1.0]]
    with pytest.raises(PriorError, match=r"precision.*not positive definite"):
        make([[0.0, 0.0]], indefinite, 1.0, *rest)
    with pytest.raises(PriorError, match=r"precision.*symmetric"):
        make([[0.0, 0.0]], [[1.0, 0.5], [0.0, 1.0]], 1.0, *rest)
    with pytest.raises(PriorError, match="precision nan"):
        make([[0.0]], [[np.nan]], 1.0, *rest)


@pytest.mark.parametrize(("shape", "scale"), [(1.0, 0.0), (0.0, 1.0), (-1.0, 1.0), (1.0, -1.0)])
def test_a_noise_that_is_half_flat_is_refused(shape, scale):
    with pytest.raises(PriorError, match=r"Use values above 0 .*or 0 for both"):
        Coefficients([[0.0]], [[1.0]], shape, [scale])


@pytest.mark.parametrize("variance", [0.0, -1.0, np.nan, np.inf])
def test_a_known_noise_is_above_zero(variance):
    with pytest.raises(PriorError, match="Use finite values above 0"):
        CoefficientsKnownNoise([[0.0]], [[1.0]], variance)


def test_a_known_noise_is_one_number():
    with pytest.raises((PriorError, ShapeError), match="noise_variance"):
        CoefficientsKnownNoise([[0.0], [0.0]], [[1.0]], [1.0, 2.0])


def test_too_few_rows_for_flat_priors_are_refused():
    flat = Coefficients([[0.0, 0.0]], np.zeros((2, 2)), 0.0, [0.0])
    X, y = np.eye(2), np.array([[1.0], [2.0]])
    seen = Products(2.0, X.T @ X, y.T @ X, np.square(y).sum(axis=0))
    with pytest.raises(PriorError, match=r"Rows worth 0 .* leave the noise unknown"):
        flat.posterior(seen)
    with pytest.raises(PriorError, match=r"Rows worth 0 .* leave the noise unknown"):
        flat.log_evidence(seen)


def test_a_noise_variance_without_a_mean_says_so():
    with pytest.raises(PriorError, match="shape 1 has no mean"):
        Coefficients([[0.0]], [[1.0]], 1.0, [1.0]).mean()


def improper():
    return {
        "flat": Coefficients([[0.0]], [[0.0]], 0.0, [0.0]),
        "flat noise": Coefficients([[0.0]], [[1.0]], 0.0, [0.0]),
        "flat coefficient": Coefficients([[0.0]], [[0.0]], 1.0, [1.0]),
        "flat, known noise": CoefficientsKnownNoise([[0.0]], [[0.0]], 1.0),
    }


@pytest.mark.parametrize("name", improper())
@pytest.mark.parametrize("ask", ["log_density", "sample", "interval", "predictive"])
def test_an_improper_prior_says_that_it_has_no_density_draws_intervals_or_predictive(name, ask):
    prior = improper()[name]
    known = isinstance(prior, CoefficientsKnownNoise)
    argument = {
        "log_density": [[0.0]] if known else ([[0.0]], [1.0]),
        "sample": np.random.default_rng(0),
        "interval": 0.9,
        "predictive": [[1.0]],
    }[ask]
    with pytest.raises(PriorError, match=r"."):
        getattr(prior, ask)(argument)


@pytest.mark.parametrize("make", [Coefficients, CoefficientsKnownNoise])
def test_the_arrays_of_a_prior_and_of_its_posterior_are_read_only(make):
    prior = make([[0.0]], [[1.0]], 1.0, *([[1.0]] if make is Coefficients else []))
    after = prior.posterior(Products(1.0, np.eye(1), np.eye(1), np.ones(1)))
    for one in (prior, after):
        for value in vars(one).values():
            assert not value.flags.writeable


def test_flat_priors_give_least_squares():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    w, left, *_ = np.linalg.lstsq(X, y, rcond=None)
    seen = Products(30.0, X.T @ X, (y @ X)[None], np.array([y @ y]))
    after = Coefficients(np.zeros((1, 3)), np.zeros((3, 3)), 0.0, [0.0]).posterior(seen)
    np.testing.assert_allclose(after.location[0], w, rtol=1e-10)
    assert float(after.noise_shape) == (30 - 3) / 2
    np.testing.assert_allclose(after.noise_scale, left / 2, rtol=1e-10)
