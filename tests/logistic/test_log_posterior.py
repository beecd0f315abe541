"""The log posterior of weights of blocks: derivatives, its maximum, and rows left out of it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from block_likelihoods import drawn
from suffice.logistic.binary import BinaryLogLikelihood, FeatureRows, SparseBinaryLogLikelihood
from suffice.logistic.likelihood import LogPosterior, NormalPrior
from suffice.logistic.multiclass import MulticlassFeatureLogLikelihood, MulticlassLogLikelihood


def prior_of(classes, blocks, scale):
    """Return a prior of offsets around 0, and of weights around a temperature that is N(1, 1)."""
    mean = np.concatenate([np.zeros(classes), np.ones(blocks)])
    covariance = np.eye(classes + blocks)
    covariance[classes:, classes:] = scale**2 * np.eye(blocks) + 1.0
    return NormalPrior(mean, np.linalg.inv(covariance))


def objective(rows, centre, precision):
    classes = rows.size[0]

    def value(params):
        scores = rows.log_prior + params[:classes] + rows.log_likelihoods @ params[classes:]
        own = log_softmax(scores, axis=1)[np.arange(len(rows.class_index)), rows.class_index]
        away = params - centre
        return -(rows.row_weights @ own) + away @ precision @ away / 2

    return value


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_gradient_and_hessian_are_those_of_finite_differences(classes):
    rows = drawn(classes=classes, blocks=3)
    fit = LogPosterior(rows, prior_of(classes, 3, 0.5))
    at = np.random.default_rng(1).normal(size=classes + 3) / 3 + fit.prior.mean
    point, h = fit.at(at), 1e-5
    steps = h * np.eye(len(at))
    gradient = [(fit.at(at + e).value - fit.at(at - e).value) / (2 * h) for e in steps]
    np.testing.assert_allclose(point.gradient, gradient, rtol=1e-6, atol=1e-6)
    bend = [(fit.at(at - e).gradient - fit.at(at + e).gradient) / (2 * h) for e in steps]
    np.testing.assert_allclose(point.hessian, bend, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("scale", [0.125, 2.0])
def test_weights_are_those_that_a_general_optimiser_finds(classes, scale):
    rows = drawn(classes=classes, copies=2)
    fit = LogPosterior(rows, prior_of(classes, 8, scale))
    value = objective(rows, fit.prior.mean, fit.prior.precision)
    found = minimize(value, fit.prior.mean, method="BFGS", options={"gtol": 1e-7})
    point = fit.maximize(fit.prior.mean)
    assert -point.value == pytest.approx(found.fun, abs=1e-6)
    np.testing.assert_allclose(point.params, found.x, atol=1e-4)


def test_a_hessian_that_is_not_positive_definite_is_refused():
    # A precision below zero is that of no prior: the log posterior has no top to climb to.
    rows = drawn()
    prior = prior_of(3, 4, 0.5)
    centre, precision = prior.mean, prior.precision
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        LogPosterior(rows, NormalPrior(centre, -1e6 * precision)).maximize(centre)


def test_left_out_scores_are_nearly_those_of_real_refits():
    rows = drawn(n=150, copies=2)
    rows = replace(rows, row_weights=np.ones(150))
    fit = LogPosterior(rows, prior_of(3, 8, 0.5))
    point = fit.maximize(fit.prior.mean)
    near = fit.left_out_scores(point)
    moved = []
    for i in range(0, 150, 10):
        kept = np.arange(150) != i
        others = rows.take(kept)
        real = LogPosterior(others, fit.prior).maximize(point.params).params
        scores = rows.log_prior[i] + real[:3] + rows.log_likelihoods[i] @ real[3:]
        far = softmax(rows.scores(point.params)[i]) - softmax(scores)
        np.testing.assert_allclose(
            softmax(near[i]), softmax(scores), atol=0.1 * abs(far).max() + 1e-5
        )
        moved.append(abs(far).max())
    assert max(moved) > 1e-3


@pytest.mark.parametrize("classes", [2, 4])
def test_a_newton_step_predicts_the_maximum(classes):
    rows = drawn(n=400, classes=classes, copies=2, seed=4)
    fit = LogPosterior(rows, prior_of(classes, 8, 0.25))
    top = fit.maximize(fit.prior.mean)
    assert fit.predicted_maximum(top.params) == pytest.approx(top.value, abs=1e-9)
    near = top.params + np.random.default_rng(5).normal(scale=0.02, size=classes + 8)
    assert fit.at(near).value < top.value - 0.05
    assert fit.predicted_maximum(near) == pytest.approx(top.value, abs=0.02)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("columns", [1, 4, 9])
def test_sparse_rows_of_two_classes_are_as_dense_ones(columns, weighted):
    rng = np.random.default_rng(columns)
    n, levels = 333, 7
    at = rng.integers(0, levels, (n, columns)).astype(np.uint32)
    at += np.arange(columns, dtype=np.uint32) * levels
    values = np.where(rng.random((n, columns)) < 0.2, 0.0, rng.normal(size=(n, columns)))
    features = FeatureRows(at, values, columns * levels)
    row_weights = rng.uniform(0.2, 3.0, n) if weighted else np.ones(n)
    base, lines = rng.normal(size=n), rng.normal(size=(n, 3))
    given = rng.integers(0, 2, n).astype(np.int32), row_weights
    sparse = SparseBinaryLogLikelihood.with_features(
        BinaryLogLikelihood(lines, base, base, *given), features
    )
    dense = BinaryLogLikelihood(np.hstack([lines, features.dense()]), base, base, *given)
    params = rng.normal(size=5 + features.width)
    assert sparse.size == dense.size
    np.testing.assert_allclose(sparse.scores(params), dense.scores(params))
    for found, wanted in zip(sparse.derivatives(params), dense.derivatives(params), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    lower = np.linalg.cholesky(dense.derivatives(params).hessian + np.eye(len(params)))
    np.testing.assert_allclose(
        sparse.left_out_scores(params, lower), dense.left_out_scores(params, lower), atol=1e-9
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 6])
def test_features_of_classes_are_parts_of_left_out_rows(classes, weighted):
    """Against the general form: a part for each feature and class, 0 for all other classes."""
    rng = np.random.default_rng(classes)
    n, width = 150, 4
    features = rng.normal(size=(n, width))
    codes, base = rng.integers(0, classes, n).astype(np.int32), rng.normal(size=(n, classes))
    row_weights = rng.uniform(0.2, 3.0, n) if weighted else np.ones(n)
    blocks = rng.normal(size=(n, classes, 2))
    parts = np.zeros((n, classes, width, classes))
    for c in range(classes):
        parts[:, c, :, c] = features
    together = np.concatenate([blocks, parts.reshape(n, classes, -1)], axis=2)
    general = MulticlassLogLikelihood(base, base, together, codes, row_weights)
    quick = MulticlassFeatureLogLikelihood(
        np.hstack([np.ones((n, 1)), features]), blocks, base, codes, row_weights
    )
    assert quick.size == general.size
    params = rng.normal(size=classes + 2 + width * classes) / 2
    np.testing.assert_allclose(quick.scores(params), general.scores(params))
    for found, wanted in zip(quick.derivatives(params), general.derivatives(params), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    lower = np.linalg.cholesky(general.derivatives(params).hessian + np.eye(len(params)))
    np.testing.assert_allclose(
        quick.left_out_scores(params, lower), general.left_out_scores(params, lower), atol=1e-8
    )
