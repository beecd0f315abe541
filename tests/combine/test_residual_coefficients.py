"""Corrections to what blocks say: the best there are, honestly validated, and none where none."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.metrics import log_loss

from classifier_cases import misleading
from suffice.combine.select import RESIDUAL_SCALES, select_combination
from suffice.combine.weights import (
    add_features,
    fit_residual,
    held_out_rows,
    log_ratio,
    weights_prior,
)
from suffice.logistic import (
    BinaryLogLikelihood,
    FeatureRows,
    MulticlassLogLikelihood,
    SparseBinaryLogLikelihood,
)
from suffice.table import GenerativeClassifier


def all_of(features):
    """Return features (n, m), of which every row has all."""
    at = np.tile(np.arange(features.shape[1], dtype=np.uint32), (len(features), 1))
    return FeatureRows(at, np.ascontiguousarray(features), features.shape[1])


def drawn(n, classes, features=3, seed=0, blocks=2):
    """Return rows of normal columns, and features that decide beside them."""
    rng = np.random.default_rng(seed)
    f = rng.normal(size=(n, features))
    coefficients = rng.normal(size=(features, classes))
    y = np.array([rng.choice(classes, p=p) for p in np.exp(log_softmax(f @ coefficients, axis=1))])
    means = rng.normal(size=(classes, blocks))
    x = means[y] + rng.normal(size=(n, blocks))
    parts = -((x[:, None, :] - means) ** 2) / 2
    row_weights = rng.uniform(0.5, 2.0, n)
    base = np.full((n, classes), -np.log(classes))
    ratios = [log_ratio(np.ascontiguousarray(parts[:, :, at])) for at in range(blocks)]
    return held_out_rows(base, base, ratios, y.astype(np.int32), row_weights), all_of(f)


@pytest.mark.parametrize("classes", [2, 3])
def test_residual_coefficients_are_the_most_probable_ones(classes):
    rows, features = drawn(80, classes)
    found = fit_residual(rows, features, 0.5, 0.7).combination
    first, known = 1 if classes == 2 else 0, classes + 2
    prior = weights_prior(classes, 2, 0.5)
    centre, precision = prior.mean, prior.precision

    def loss(params):
        coefficients = np.zeros((3, classes))
        coefficients[:, first:] = params[known:].reshape(3, -1)
        scores = rows.scores(params[:known]) + features.dense() @ coefficients
        own = log_softmax(scores, axis=1)[np.arange(80), rows.class_index]
        away, rest = params[:known] - centre, params[known:]
        return -(rows.row_weights @ own) + (away @ precision @ away + rest @ rest / 0.7**2) / 2

    start = np.concatenate([centre, np.zeros(3 * (classes - first))])
    best = minimize(loss, start, tol=1e-12).x
    np.testing.assert_allclose(
        found.residual_coefficients[:, first:].ravel(), best[known:], atol=1e-4
    )
    assert not found.residual_coefficients[:, :first].any()
    np.testing.assert_allclose(found.weights, best[classes:known], atol=1e-4)
    np.testing.assert_allclose(found.offsets, best[:classes], atol=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_left_out_scores_are_those_of_residual_coefficients_without_the_row(classes):
    rows, features = drawn(120, classes, seed=1)
    rows = replace(rows, row_weights=np.ones(120))
    found = fit_residual(rows, features, 0.5, 0.5)
    shares = log_softmax(found.scores, axis=1)
    for i in range(0, 120, 10):
        others = np.delete(np.arange(120), i)
        real = fit_residual(rows.take(others), features.take(others), 0.5, 0.5).combination
        scores = rows.take([i]).scores(np.concatenate([real.offsets, real.weights]))[0]
        wanted = log_softmax(scores + features.dense()[i] @ real.residual_coefficients)
        np.testing.assert_allclose(shares[i], wanted, atol=5e-3)


def test_few_features_of_many_are_kept_sparse():
    rows, _ = drawn(40, 2)
    at = np.array([[0, 3]] * 40, np.uint32)
    levels = FeatureRows(at, np.ones((40, 2)), 6)
    assert isinstance(add_features(rows, levels)[0], SparseBinaryLogLikelihood)
    assert isinstance(add_features(rows, all_of(np.ones((40, 3))))[0], BinaryLogLikelihood)
    three, _ = drawn(40, 3)
    assert add_features(three, levels)[0].size == (3, 2 + 18)


def test_without_features_residual_is_weights():
    rows, features = drawn(100, 3)
    found = select_combination(rows, "residual").combination
    assert found.method == "blocks"
    assert found.residual_coefficients.shape == (0, 3)
    assert select_combination(rows, "blocks", features).combination.residual_coefficients.shape == (
        0,
        3,
    )


@pytest.mark.parametrize("classes", [2, 4])
def test_many_rows_are_chosen_from_few_and_fitted_to_all(classes):
    rows, features = drawn(4000, classes, seed=2)
    found = select_combination(rows, "residual", features)
    scale = found.combination.residual_scale
    assert scale in RESIDUAL_SCALES
    assert len(found.losses) == 4000
    refit = fit_residual(rows, features, found.combination.weight_scale, scale)
    np.testing.assert_allclose(
        found.combination.residual_coefficients, refit.combination.residual_coefficients, atol=1e-5
    )


def test_rows_without_weight_have_no_part():
    rows, features = drawn(90, 3, seed=3)
    assert isinstance(rows, MulticlassLogLikelihood)
    row_weights = rows.row_weights.copy()
    row_weights[::3] = 0.0
    kept = np.flatnonzero(row_weights)
    with_them = fit_residual(replace(rows, row_weights=row_weights), features, 0.5, 0.4)
    without = fit_residual(rows.take(kept), features.take(kept), 0.5, 0.4)
    np.testing.assert_allclose(
        with_them.combination.residual_coefficients,
        without.combination.residual_coefficients,
        atol=1e-8,
    )


def test_residual_coefficients_correct_likelihoods_of_levels():
    X, y = misleading(900)
    losses = {}
    for combine in ("blocks", "residual", "auto"):
        model = GenerativeClassifier(combine=combine, budget=0).fit(X[:600], y[:600])
        losses[combine] = -model.predict_log_proba(X[600:])[np.arange(300), y[600:]].mean()
    assert losses["residual"] < 0.8 * losses["blocks"]
    assert losses["auto"] < 0.8 * losses["blocks"]


@pytest.mark.parametrize("seed", range(3))
def test_where_blocks_say_all_there_is_residual_coefficients_change_little(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 1000)
    X = rng.normal(size=(1000, 5)) + y[:, None] * 0.5
    new, labels = X[500:], y[500:]
    losses = {}
    for combine in ("naive", "auto"):
        model = GenerativeClassifier(budget=0, combine=combine).fit(X[:500], y[:500])
        losses[combine] = log_loss(labels, model.predict_proba(new))
    assert losses["auto"] < losses["naive"] + 5 / 500  # half a nat for each of ten params


@pytest.mark.parametrize("seed", range(3))
def test_rare_levels_reveal_no_labels(seed):
    """Labels that depend on nothing are foretold no better than by chance, and it is known."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 30, (300, 6)).astype(str).astype(object), rng.integers(0, 2, 300)
    model = GenerativeClassifier(combine="residual", budget=0).fit(X, y)
    assert model.combination_.held_out_log_loss > np.log(2) - 0.01
    assert model.leave_one_out(X, y).log_loss > np.log(2) - 0.01
