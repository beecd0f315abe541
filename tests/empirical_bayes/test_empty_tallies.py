"""Priors chosen by evidence of nothing: as good as any, and no reason to fail."""

import numpy as np
import pytest

from suffice.count import count_moments, count_patterns
from suffice.data import Rows
from suffice.empirical_bayes.covariance import covariance_prior
from suffice.empirical_bayes.normal import normal_prior

TIED = pytest.mark.parametrize("tied", [False, True])


def no_rows(classes, columns):
    return Rows(np.empty((0, columns)), np.empty(0, np.int32), classes)


def whole_rows(rows):
    """Return the moments of rows without a missing value."""
    return count_patterns(rows)[1].parts[tuple(range(rows.shape[1]))]


@TIED
@pytest.mark.parametrize(("classes", "columns"), [(1, 1), (3, 2), (2, 30)])
def test_the_prior_of_no_whole_rows_says_the_same_of_all_classes(classes, columns, tied):
    tally = whole_rows(no_rows(classes, columns))
    prior = covariance_prior(tally, tied=tied)
    assert prior.log_evidence(tally).sum() == 0
    posterior = prior.posterior(tally)
    np.testing.assert_array_equal(posterior.location, np.zeros((classes, columns)))
    scores = prior.predictive().log_density(np.ones((4, 1, columns)))
    assert np.isfinite(scores).all()
    assert np.ptp(scores, axis=1).max() == 0


@TIED
def test_the_prior_of_no_numbers_says_the_same_of_all_classes(tied):
    _, tally = count_moments(no_rows(3, 2))
    prior = normal_prior(tally, shared=(0,) if tied else ())
    assert prior.log_evidence(tally).sum() == 0
    scores = prior.predictive().log_density(np.ones((4, 3, 2)))
    assert np.isfinite(scores).all()
    assert np.ptp(scores, axis=1).max() == 0


@TIED
def test_the_prior_of_some_rows_is_what_it_was(tied):
    """A column that varies between classes, and not within them, has a part of what it varies."""
    X = np.array([[0.0, 1.0], [0.0, 2.0], [4.0, 1.0], [4.0, 3.0]])
    tally = whole_rows(Rows(X, np.array([0, 0, 1, 1], np.int32), 2))
    prior = covariance_prior(tally, tied=tied)
    sample_size = float(prior.degrees) - 1
    variances = np.diagonal(prior.scale_matrix) / sample_size
    np.testing.assert_allclose(variances, [1e-4 * np.var(X[:, 0]), 2.5 / 4], rtol=1e-12)
