"""Real rows in every condition, and models really fitted again without one of them."""

import warnings

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from suffice.errors import SufficeWarning

LOADED = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "cancer": load_breast_cancer(return_X_y=True),
    "digits": load_digits(return_X_y=True),
}
CONDITIONS = ["plain", "weighted", "gaps", "few", "sparse"]


def measured(name):
    """Return some rows of a bundled data set, spread over its classes."""
    X, y = LOADED[name]
    step = max(1, len(y) // 150)
    return X[::step].astype(float), y[::step] % 4


def in_condition(X, y, condition, seed=0):
    """Return the rows, labels and weights in one of the conditions."""
    rng = np.random.default_rng(seed)
    X, y, w = X.copy(), y.copy(), None
    if condition == "weighted":
        w = rng.choice([0.0, 0.5, 1.0, 2.25, 0.3], len(y))
    if condition == "gaps":
        X[rng.random(X.shape) < 0.1] = np.nan
    if condition == "few":  # a class of one row, one of two, a column that does not vary
        y[0], y[1:3] = 77, 78
        X[:, 1] = 1.0
        X[y == 0, 2] = 1.0
    return (csr_matrix(X) if condition == "sparse" else X), y, w


def some_rows(y, seed=0, size=8):
    """Return rows to leave out: the first ones, which may be alone, and others."""
    return np.unique(np.r_[:3, np.random.default_rng(seed).choice(len(y), size, replace=False)])


def refitted(make, X, y, w, numbers):
    """Return log_proba of each row of `numbers` under a model fitted to all others.

    `make` is given the labels that are left.
    """
    classes = np.unique(y)
    out = np.full((len(numbers), len(classes)), -np.inf)
    for at, number in enumerate(numbers):
        kept = np.arange(len(y)) != number
        weights = None if w is None else w[kept]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SufficeWarning)
            model = make(y[kept]).fit(X[kept], y[kept], weights)
            known = np.searchsorted(classes, model.classes_)
            out[at, known] = model.predict_log_proba(X[[number]])[0]
    return out


def left_out(model, X, y, w):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        return model.fit(X, y, w).leave_one_out(X, y, w).log_proba


def assert_same(found, expected):
    """Compare to 1e-9, relative where magnitudes are large."""
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
