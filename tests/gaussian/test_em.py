"""EM on the tally against EM on the rows, and against the observed likelihood itself."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

import reference
from suffice.gaussian.covariance import mle
from suffice.gaussian.maximum_likelihood import expected_moments, fit_em
from suffice.tally import Moments, Patterns


def incomplete_rows(seed=0, rows=60, features=3, missing=0.25):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(features, features))
    X = rng.normal(size=(rows, features)) @ mix + 3
    X[rng.random(X.shape) < missing] = np.nan
    return X[~np.isnan(X).all(axis=1)]


def tally_of(*classes):
    return reference.stacked([reference.patterns(X) for X in classes])


def alike(X):
    """Return rows with the same missing values, and their observed and missing columns."""
    patterns, of_row = np.unique(np.isnan(X), axis=0, return_inverse=True)
    rows = [np.flatnonzero(of_row.ravel() == at) for at in range(len(patterns))]
    return [
        (mine, np.flatnonzero(~missing), np.flatnonzero(missing))
        for mine, missing in zip(rows, patterns, strict=True)
    ]


def by_hand(X, mean, covariance):
    """One EM step: every row filled in, together with those that have the same missing values."""
    filled, left = X.copy(), np.zeros_like(covariance)
    for rows, o, m in alike(X):
        slope = covariance[np.ix_(m, o)] @ np.linalg.inv(covariance[np.ix_(o, o)])
        filled[np.ix_(rows, m)] = mean[m] + (X[np.ix_(rows, o)] - mean[o]) @ slope.T
        rest = covariance[np.ix_(m, m)] - slope @ covariance[np.ix_(o, m)]
        left[np.ix_(m, m)] += len(rows) * rest
    away = filled - filled.mean(axis=0)
    return filled.mean(axis=0), (away.T @ away + left) / len(X)


def observed_log_likelihood(X, mean, covariance):
    return sum(
        multivariate_normal(mean[o], covariance[np.ix_(o, o)]).logpdf(X[np.ix_(rows, o)]).sum()
        for rows, o, _ in alike(X)
    )


def test_a_step_on_the_tally_is_a_step_on_the_rows():
    X = incomplete_rows()
    mean, covariance = np.arange(3.0), np.eye(3) + 0.3
    moments = expected_moments(tally_of(X), mean[None], covariance[None])
    wanted = by_hand(X, mean, covariance)
    np.testing.assert_allclose(moments.mean()[0], wanted[0], rtol=1e-12)
    np.testing.assert_allclose(moments.variance()[0], wanted[1], rtol=1e-12)


@pytest.mark.slow
def test_em_ends_where_em_on_the_rows_ends():
    X = incomplete_rows(1)
    mean, covariance = np.zeros(3), np.eye(3)
    for _ in range(2000):
        mean, covariance = by_hand(X, mean, covariance)
    found = fit_em(tally_of(X), partial(mle, tied=False), 2000, 1e-12)
    assert found.converged
    ours = mle(found.moments, tied=False)
    np.testing.assert_allclose(ours.mean[0], mean, rtol=1e-9)
    np.testing.assert_allclose(ours.covariance[0], covariance, rtol=1e-9)


def test_em_ends_at_the_maximum_of_the_observed_likelihood():
    X = incomplete_rows(2, rows=40, features=2)
    found = fit_em(tally_of(X), partial(mle, tied=False), 2000, 1e-10)
    mean, covariance = mle(found.moments, tied=False)

    def loss(free):
        root = np.array([[np.exp(free[2]), 0.0], [free[3], np.exp(free[4])]])
        return -observed_log_likelihood(X, free[:2], root @ root.T)

    best = minimize(loss, [3.0, 3.0, 0.0, 0.0, 0.0], method="BFGS")
    assert observed_log_likelihood(X, mean[0], covariance[0]) >= -best.fun - 1e-6
    np.testing.assert_allclose(mean[0], best.x[:2], atol=1e-3)


def test_tied_em_ends_at_a_maximum_of_both_classes_together():
    one, two = incomplete_rows(3, features=2), incomplete_rows(4, rows=30, features=2) + 5
    found = fit_em(tally_of(one, two), partial(mle, tied=True), 2000, 1e-12)
    means, (covariance,) = mle(found.moments, tied=True)

    def total(means, covariance):
        pairs = zip((one, two), means, strict=True)
        return sum(observed_log_likelihood(X, mean, covariance) for X, mean in pairs)

    top = total(means, covariance)
    rng = np.random.default_rng(0)
    for _ in range(30):
        step = 1e-3 * rng.normal(size=(2, 2))
        assert total(means + 1e-3 * rng.normal(size=(2, 2)), covariance) < top
        assert total(means, covariance + step @ step.T + 1e-3 * step.T @ step) < top


def test_whole_rows_need_no_iteration():
    X = np.random.default_rng(0).normal(size=(10, 3))
    found = fit_em(tally_of(X), partial(mle, tied=False), 5, 1e-9)
    assert (found.iterations, found.converged) == (1, True)
    np.testing.assert_allclose(found.moments.mean()[0], X.mean(axis=0))


def test_running_out_of_iterations_is_reported():
    found = fit_em(tally_of(incomplete_rows(5, missing=0.5)), partial(mle, tied=False), 2, 1e-12)
    assert (found.iterations, found.converged) == (2, False)
    assert found.last_change > 1e-12


def test_a_feature_that_nobody_showed_stays_finite():
    X = incomplete_rows(6)
    X[:, 1] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    found = fit_em(tally_of(X), partial(mle, tied=False), 500, 1e-6)
    assert np.isfinite(mle(found.moments, tied=False).covariance).all()


@pytest.mark.slow
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_em_does_not_mind_where_the_data_lie(offset):
    X = np.round(incomplete_rows(7), 6)
    tally = tally_of(X + offset)
    assert isinstance(tally, Patterns)
    found = mle(fit_em(tally, partial(mle, tied=False), 500, 1e-10).moments, tied=False)
    plain = mle(fit_em(tally_of(X), partial(mle, tied=False), 500, 1e-10).moments, tied=False)
    np.testing.assert_allclose(found.mean - offset, plain.mean, atol=1e-6)
    np.testing.assert_allclose(found.covariance, plain.covariance, rtol=1e-5, atol=1e-7)


def test_mle_of_a_class_without_rows_is_the_pooled_one():
    moments = Moments([2.0, 0.0], np.zeros((2, 1)), [[2.0], [0.0]], [[[4.0]], [[0.0]]])
    mean, covariance = mle(moments, tied=False)
    np.testing.assert_allclose(mean[1], mean[0])
    np.testing.assert_allclose(covariance[1], covariance[0])
