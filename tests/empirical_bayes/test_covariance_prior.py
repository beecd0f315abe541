"""The prior of covariances by evidence: quickly computed, and for each tally its own."""

import numpy as np
import pytest

from suffice.empirical_bayes.covariance import Profile, covariance_prior
from suffice.errors import CovarianceError
from suffice.prior import NormalInverseWishart
from suffice.tally import Moments


def rows(seed, n, features, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    mix = rng.normal(size=(features, features))
    return rng.normal(size=(n, features)) @ mix + rng.normal(size=(classes, features))[y], y


@pytest.mark.parametrize("tied", [False, True])
def test_no_other_prior_has_more_evidence(tied):
    X, y = rows(3, n=40, features=4)
    parts = [X[y == c] for c in range(3)]
    moments = Moments(
        [len(p) for p in parts],
        np.zeros((3, 4)),
        [p.sum(axis=0) for p in parts],
        [p.T @ p for p in parts],
    )
    variance = np.array([1.0, 2.0, 0.5, 3.0])
    best = covariance_prior(moments, tied=tied)
    for k, half in ((0.1, 0.5), (3.0, 20.0)):
        prior = NormalInverseWishart(
            np.tile(X.mean(axis=0), (3, 1)),
            np.full(3, k),
            2 * half + 3,
            2 * half * np.diag(variance),
            shared=(0,) if tied else (),
        )
        assert best.log_evidence(moments).sum() >= prior.log_evidence(moments).sum() - 1e-6
    assert_each_of_several_tallies_has_its_own_prior(moments, tied)


def assert_each_of_several_tallies_has_its_own_prior(moments, tied):
    tallies = [moments, moments.scale(0.3), moments.scale(7.0)]
    names = ("weight", "origin", "sum_x", "sum_xx")
    stacked = Moments(*(np.stack([getattr(t, name) for t in tallies], axis=1) for name in names))
    both = covariance_prior(stacked, tied=tied)
    for at, tally in enumerate(tallies):
        alone = covariance_prior(tally, tied=tied)
        for field in ("location", "pseudo_rows"):
            np.testing.assert_allclose(getattr(both, field)[:, at], getattr(alone, field))
        for field in ("degrees", "scale_matrix"):
            np.testing.assert_allclose(getattr(both, field)[at], getattr(alone, field))


def test_class_means_beyond_all_digits_have_no_evidence_and_the_error_says_so():
    means = np.random.default_rng(0).normal(size=(7, 2)) * 1e30
    moments = Moments(np.full(7, 20.0), np.zeros((7, 2)), means, np.stack([np.eye(2)] * 7))
    profile = Profile(moments.scatter(), moments.mean(), moments.weight, tied=True)
    with pytest.raises(CovarianceError, match=r"The class means lie up to 1e\+29 prior deviations"):
        profile.best_prior_sample_sizes()
