"""Rows small enough to integrate and enumerate over, and a prior for them."""

import itertools

import numpy as np

from suffice.prior import NormalInverseGamma

M, K, A, B = 0.4, 0.7, 2.5, 1.8  # a normal-inverse-gamma prior
NIG = NormalInverseGamma(location=M, pseudo_rows=K, shape=A, scale=B)
TIES = [None, "class", "feature", "both"]
ESTIMATES = ["mean", "mle", "map", "predictive"]
PRIOR = np.array([0.3, 0.7])


def shared_cells(tie, classes=2, features=2):
    """Return the sets of (class, feature) that share one variance."""
    cells = list(itertools.product(range(classes), range(features)))
    key = {
        None: lambda cell: cell,
        "class": lambda cell: cell[1],
        "feature": lambda cell: cell[0],
        "both": lambda cell: 0,
    }[tie]
    return [[cell for cell in cells if key(cell) == k] for k in sorted({key(c) for c in cells})]


def small_rows(seed=0, gaps=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 2)) * [1, 2] + 1
    if gaps:
        X[1, 0] = X[4, 1] = np.nan
    return X, np.array([0, 1, 1, 0, 1, 0, 1, 1, 0])


def values(X, y, cell):
    c, j = cell
    column = X[y == c, j]
    return column[~np.isnan(column)]


def counts_and_labels(seed=7, size=30):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (size, 3))
    return X, np.arange(size) % 2
