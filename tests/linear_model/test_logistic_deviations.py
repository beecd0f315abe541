"""Standard deviations of logistic weights are those of the Hessian at the optimum itself."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from suffice import LogisticRegression

Long = np.longdouble


def solved(matrix, right):
    """Solve by Gauss and Jordan in extended precision, which numpy's routines do not have."""
    matrix, right = np.array(matrix, Long), np.array(right, Long)
    for at in range(len(matrix)):
        pivot = at + int(np.argmax(np.abs(matrix[at:, at])))
        for side in (matrix, right):
            side[[at, pivot]] = side[[pivot, at]]
        for row in range(len(matrix)):
            if row != at:
                factor = matrix[row, at] / matrix[at, at]
                matrix[row] -= factor * matrix[at]
                right[row] -= factor * right[at]
    return right / np.diagonal(matrix)[:, None]


def directions(classes, weights):
    """Return the weight vectors of all classes that free ones make: columns of (C, K)."""
    if classes == 2:
        return np.array([[0], [1]], Long)
    if weights == "reference":
        return np.eye(classes, classes - 1, dtype=Long)
    basis = np.zeros((classes, classes - 1), Long)
    for k in range(1, classes):
        basis[:k, k - 1], basis[k, k - 1] = 1, -k
        basis[:, k - 1] /= np.sqrt(Long(k * (k + 1)))
    return basis


def by_newton(X, y, C=1.0, weights="all", sample_weight=None, fit_intercept=True):
    """Return deviations and weights (intercept first) by Newton's method in extended precision."""
    X = np.asarray(X, Long)
    rows, codes = len(X), np.unique(y, return_inverse=True)[1]
    centre = X.mean(axis=0) * fit_intercept
    design = np.column_stack([np.ones(rows, Long), X - centre]) if fit_intercept else X
    w = np.ones(rows, Long) if sample_weight is None else np.asarray(sample_weight, Long)
    basis = directions(codes.max() + 1, weights)
    free, width = basis.shape[1], design.shape[1]
    penalty = np.full(width, 1 / Long(C))
    penalty[:fit_intercept] = 0
    metric = basis.T @ basis
    own = np.eye(len(basis), dtype=Long)[codes]
    theta = np.zeros((free, width), Long)
    for _ in range(50):
        scores = design @ (basis @ theta).T
        proba = np.exp(scores - scores.max(axis=1, keepdims=True))
        proba /= proba.sum(axis=1, keepdims=True)
        gradient = ((w[:, None] * (proba - own)) @ basis).T @ design + (metric @ theta) * penalty
        hessian = np.zeros((free, width, free, width), Long)
        mean = proba @ basis
        for a in range(free):
            for b in range(free):
                both = proba @ (basis[:, a] * basis[:, b]) - mean[:, a] * mean[:, b]
                hessian[a, :, b] = (design * (w * both)[:, None]).T @ design
                hessian[a, :, b] += np.diag(metric[a, b] * penalty)
        flat = hessian.reshape(free * width, -1)
        step = solved(flat, gradient.reshape(-1, 1)).reshape(free, width)
        theta = theta - step
        if np.abs(step).max() < 1e-16 * max(1, np.abs(theta).max()):
            break
    covariance = solved(flat, np.eye(len(flat), dtype=Long)).reshape(free, width, free, width)
    units = np.eye(width, dtype=Long)
    if fit_intercept:
        units[0, 1:] = -centre
    shown = np.ones((1, 1), Long) if len(basis) == 2 else basis
    variance = np.einsum("ck,mj,kjli,cl,mi->cm", shown, units, covariance, shown, units)
    return np.sqrt(variance), shown @ theta @ units.T


def drawn(rows, columns, classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    scores = X @ rng.normal(size=(columns, classes)) + rng.gumbel(size=(rows, classes))
    return X, np.argmax(scores, axis=1)


TWO, FOUR = drawn(60, 3, 2), drawn(300, 5, 4)
HEAVY = np.random.default_rng(1).standard_t(2, size=(300, 5)), FOUR[1]
UNITS = FOUR[0] * np.logspace(-4, 4, 5) + np.logspace(-3, 5, 5), FOUR[1]
WEIGHTS = np.random.default_rng(2).gamma(1.0, size=300)
CASES = {
    "two classes": (TWO, {}, None),
    "a strong penalty": (TWO, {"C": 0.1}, None),
    "four classes": (FOUR, {}, None),
    "a reference class": (FOUR, {"weights": "reference"}, None),
    "no intercept": (FOUR, {"fit_intercept": False}, None),
    "no penalty": (FOUR, {"C": np.inf}, None),
    "weights": (FOUR, {}, WEIGHTS),
    "far-off numbers": (HEAVY, {}, None),
    "columns of many sizes": (UNITS, {"C": 100.0}, None),
    "iris": (load_iris(return_X_y=True), {}, None),
    "wine": (load_wine(return_X_y=True), {}, None),
    "cancer": (load_breast_cancer(return_X_y=True), {}, None),
    "many rows": (drawn(20_000, 8, 2), {}, None),
    "L-BFGS": (FOUR, {"solver": "lbfgs"}, None),
}


@pytest.mark.parametrize("case", CASES)
def test_deviations_are_right_to_1e_8_at_the_default_tolerance(case):
    (X, y), settings, weights = CASES[case]
    model = LogisticRegression(**settings).fit(X, y, sample_weight=weights)
    params = {name: value for name, value in settings.items() if name != "solver"}
    expected, _ = by_newton(X, y, sample_weight=weights, **params)
    found = model.coef_sd_
    if model.fit_intercept:
        found = np.column_stack([model.intercept_sd_, found])
    np.testing.assert_allclose(found, expected.astype(float), rtol=1e-8)


def test_sparse_rows_have_the_deviations_of_dense_ones():
    X, y = FOUR
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    expected, _ = by_newton(X, y)
    sparse = LogisticRegression().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_sd_, expected[:, 1:].astype(float), rtol=1e-8)


def test_newtons_weights_are_those_of_the_optimum_too():
    for X, y in (TWO, FOUR, HEAVY):
        model = LogisticRegression().fit(X, y)
        deviations, expected = (part.astype(float) for part in by_newton(X, y))
        away = np.abs(np.column_stack([model.intercept_, model.coef_]) - expected) / deviations
        assert away.max() < 1e-10
