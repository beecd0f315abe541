"""Joint densities of rows and classes, each without the row."""

import numpy as np
from scipy import stats
from sklearn.datasets import load_iris

from suffice import GaussianDiscriminant
from suffice.generative.held_out import left_out_joint
from suffice.prior import NormalInverseWishart


def test_a_predictive_left_out_density_is_the_multivariate_t_of_scipy():
    X, y = load_iris(return_X_y=True)
    prior = NormalInverseWishart(np.zeros(4), 1.0, 6.0, np.eye(4))
    model = GaussianDiscriminant("full", prior=prior).fit(X, y)
    rows = model._learned_rows(model._fitted, X, y, None)
    row = 77
    others = X[(y == y[row]) & (np.arange(len(y)) != row)]
    n, mean = len(others), others.mean(axis=0)
    matrix = np.eye(4) + n * np.cov(others.T, bias=True) + n / (n + 1) * np.outer(mean, mean)
    degrees = 6.0 + n - 4 + 1
    t = stats.multivariate_t(n * mean / (n + 1), matrix * (n + 2) / ((n + 1) * degrees), df=degrees)
    prior_of_class = (n + 1) / (len(y) - 1 + 3)
    learned = model._fitted.learned(rows)
    found = left_out_joint(model._fitted, learned, "")[row, y[row]]
    np.testing.assert_allclose(found, t.logpdf(X[row]) + np.log(prior_of_class), rtol=1e-11)
