"""Softmax regression by its definition: derivatives, optimum, standard deviations, start."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import statsmodels.api as sm
from scipy.special import log_softmax

from suffice.data import Rows
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.linear_model import LogisticRegression
from suffice.logistic.passes import RowPasses, class_moments
from suffice.logistic.softmax import (
    SoftmaxLogLikelihood,
    SoftmaxPosterior,
    generative_start,
    is_crowded,
    standardize_columns,
)

NO_WEIGHTS = np.empty(0)


def drawn(seed=0, rows=300, features=4, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features)) @ rng.normal(size=(features, features))
    W = rng.normal(size=(classes, features)) / np.sqrt(features)
    return X, np.argmax(X @ W.T + rng.gumbel(size=(rows, classes)), axis=1)


def objective(X, y, *, weights=NO_WEIGHTS, penalty=0.7, symmetric=True, intercept=True, seed=1):
    """An objective whose columns are measured from somewhere, in some unit."""
    rng = np.random.default_rng(seed)
    d = X.shape[1]
    rows = Rows(X, y.astype(np.int32), int(y.max()) + 1, weights)
    centre = rng.normal(size=d)
    measured = SoftmaxLogLikelihood(rows, centre, rng.uniform(0.5, 2, size=d), intercept)
    return SoftmaxPosterior(measured, penalty, symmetric)


def plainly(objective, V):
    """The penalised loss, row by row, from all C weight vectors."""
    rows = objective.likelihood
    X, y = rows.rows.X, rows.rows.codes
    X = X.toarray() if sp.issparse(X) else X
    d = X.shape[1]
    w = rows.rows.weights if rows.rows.weights.size else np.ones(len(y))
    Z = (X - rows.centre) * rows.inverse
    W = np.vstack([V, np.zeros(V.shape[1])])
    scores = Z @ W[:, :d].T + (W[:, d] if rows.intercept else 0.0)
    loss = -(w * log_softmax(scores, axis=1)[np.arange(len(y)), y]).sum()
    own = W[:, :d] * rows.inverse
    if objective.symmetric:
        own = own - own.mean(axis=0)
    return loss + objective.penalty / 2 * np.square(own).sum()


def gradient_of(function, V, step=1e-5):
    """Central differences of a function of V, shape (V.size, *answer)."""
    out = []
    for at in range(V.size):
        move = np.zeros(V.size)
        move[at] = step
        ends = [np.asarray(function(V + s * move.reshape(V.shape))) for s in (1, -1)]
        out.append((ends[0] - ends[1]) / (2 * step))
    return np.array(out)


SHAPES = {
    "two classes": (1, 60, 3, 2),
    "four classes": (2, 150, 3, 4),
    "two tiles": (3, 100, 70, 2),
    "three tiles and classes": (4, 70, 130, 3),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", ["two classes", "four classes"])
def test_value_gradient_and_curvature_are_those_of_the_definition(
    name, sparse, intercept, symmetric, weighted
):
    X, y = drawn(*SHAPES[name])
    weights = np.random.default_rng(5).uniform(0, 2, len(y)) if weighted else NO_WEIGHTS
    X = sp.csr_matrix(np.where(np.abs(X) < 0.5, 0, X)) if sparse else X
    settings = {"weights": weights, "symmetric": symmetric, "intercept": intercept}
    target = objective(X, y, **settings)
    V = np.random.default_rng(6).normal(size=(target.likelihood.free, target.likelihood.width))
    point = target.at(V, 1)
    np.testing.assert_allclose(-point.value, plainly(target, V), rtol=1e-12)
    gradient = -gradient_of(lambda v: plainly(target, v), V)
    np.testing.assert_allclose(point.gradient.ravel(), gradient, rtol=1e-6, atol=1e-6)
    hessian = -gradient_of(lambda v: target.at(v).gradient.ravel(), V)
    np.testing.assert_allclose(point.hessian, hessian, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["two tiles", "three tiles and classes"])
def test_wide_rows_are_added_up_in_tiles(name):
    X, y = drawn(*SHAPES[name])
    target = objective(X, y)
    V = 0.1 * np.random.default_rng(6).normal(
        size=(target.likelihood.free, target.likelihood.width)
    )
    point = target.at(V, 1)
    np.testing.assert_allclose(-point.value, plainly(target, V), rtol=1e-12)
    some = np.random.default_rng(7).normal(size=(3, *V.shape))
    for way in some:
        ends = [target.at(V + s * 1e-5 * way) for s in (1, -1)]
        directional = (plainly(target, V + 1e-5 * way) - plainly(target, V - 1e-5 * way)) / 2e-5
        np.testing.assert_allclose(-(point.gradient * way).sum(), directional, rtol=1e-6)
        bend = (ends[1].gradient - ends[0].gradient).ravel() / 2e-5
        size = 1e-6 * np.abs(bend).max()
        np.testing.assert_allclose(point.hessian @ way.ravel(), bend, rtol=0, atol=size)


def test_stored_cells_alone_give_what_dense_rows_give():
    X, y = drawn(8, 200, 40, 3)
    X = np.where(np.abs(X) < 9, 0, X)
    target = objective(X, y)
    rows = target.likelihood
    from_zero = SoftmaxLogLikelihood(rows.rows, np.zeros(40), rows.inverse, True)
    sparse = Rows(sp.csr_matrix(X), rows.rows.codes, 3)
    by_cells = SoftmaxLogLikelihood(sparse, np.zeros(40), rows.inverse, True)
    assert not is_crowded(sparse)
    V = np.random.default_rng(9).normal(size=(2, 41))
    dense, stored = (rows.derivatives(V, sample=0) for rows in (from_zero, by_cells))
    np.testing.assert_allclose(stored.value, dense.value, rtol=1e-12)
    np.testing.assert_allclose(stored.worst, dense.worst, rtol=1e-12)
    np.testing.assert_allclose(stored.gradient, dense.gradient, rtol=1e-10, atol=1e-10)


def test_the_greatest_loss_of_a_row_is_reported():
    X, y = drawn(10, 500, 3, 3)
    target = objective(X, y, penalty=0.0)
    V = np.random.default_rng(11).normal(size=(2, 4))
    rows = target.likelihood
    Z = np.column_stack([(X - rows.centre) * rows.inverse, np.ones(500)])
    scores = Z @ np.vstack([V, np.zeros(4)]).T
    worst = -log_softmax(scores, axis=1)[np.arange(500), y].min()
    np.testing.assert_allclose(target.at(V).worst, worst, rtol=1e-12)


def test_a_part_of_the_rows_tells_about_the_curvature_of_all():
    X, y = drawn(12, 60_000, 3, 3)
    target = objective(X, y, penalty=0.0)
    V = 0.3 * np.random.default_rng(13).normal(size=(2, 4))
    whole, part = (target.at(V, thin).hessian for thin in (1, 7))
    np.testing.assert_allclose(part, whole, atol=0.1 * np.abs(whole).max())
    assert not np.array_equal(part, whole)


@pytest.mark.parametrize("weights", ["all", "reference"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("solver", ["newton", "lbfgs", "gradient"])
def test_no_small_change_of_the_weights_is_better(solver, classes, weights):
    X, y = drawn(14, 200, 3, classes)
    settings = {"step_size": 0.5, "tol": 1e-4 if solver == "newton" else 1e-8, "max_iter": 50_000}
    model = LogisticRegression(solver=solver, weights=weights, **settings).fit(X, y)
    assert model.converged_
    assert model.solver_ == solver

    def loss(shown):
        W, b = shown[:, :-1], shown[:, -1]
        scores = X @ W.T + b
        if classes == 2:
            scores = np.column_stack([np.zeros(len(y)), scores])
        fit = -log_softmax(scores, axis=1)[np.arange(len(y)), y].sum()
        return fit + np.square(W).sum() / 2

    shown = np.column_stack([model.coef_, model.intercept_])
    gradient = gradient_of(loss, shown).reshape(shown.shape)
    if weights == "reference" and classes > 2:
        assert not shown[-1].any()
        gradient = gradient[:-1]
    np.testing.assert_allclose(gradient, 0, atol=1e-4)
    np.testing.assert_allclose(model.loss_curve_[-1], loss(shown), rtol=1e-6)
    if solver != "gradient":
        assert np.all(np.diff(model.loss_curve_) <= 1e-9)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_all_three_solvers_agree(classes, C):
    X, y = drawn(15, 400, 3, classes)
    newton = LogisticRegression(C=C).fit(X, y)
    for solver in ("lbfgs", "gradient"):
        settings = {"step_size": 0.5, "tol": 1e-9, "max_iter": 100_000}
        other = LogisticRegression(C=C, solver=solver, **settings).fit(X, y)
        np.testing.assert_allclose(other.coef_, newton.coef_, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(other.intercept_, newton.intercept_, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(other.coef_sd_, newton.coef_sd_, rtol=1e-4)


def test_a_step_of_gradient_ascent_is_the_notes_rule():
    X, y = drawn(16, 50, 2, 3)
    with pytest.warns(UserWarning, match="failed to converge after 1 iteration"):
        model = LogisticRegression(solver="gradient", step_size=0.3, max_iter=1, C=np.inf).fit(X, y)
    right = np.eye(3)[y] - 1 / 3
    np.testing.assert_allclose(model.coef_, 0.3 * right.T @ X / 50, rtol=1e-12)
    np.testing.assert_allclose(model.intercept_, 0.3 * right.mean(axis=0), rtol=1e-12)
    assert len(model.loss_curve_) == 2


def test_all_weights_and_reference_weights_give_the_same_probabilities_without_a_penalty():
    X, y = drawn(17, 400, 3, 4)
    whole, part = (LogisticRegression(C=np.inf, weights=w).fit(X, y) for w in ("all", "reference"))
    np.testing.assert_allclose(whole.predict_proba(X), part.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(whole.coef_.sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(part.coef_, whole.coef_ - whole.coef_[-1], atol=1e-9)


def test_standard_deviations_of_two_classes_are_those_of_logit():
    X, y = drawn(18, 400, 3, 2)
    X = X + 3.0
    ours = LogisticRegression(C=np.inf, tol=1e-8).fit(X, y)
    peer = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-12)
    np.testing.assert_allclose([ours.intercept_[0], *ours.coef_[0]], peer.params, rtol=1e-6)
    np.testing.assert_allclose([ours.intercept_sd_[0], *ours.coef_sd_[0]], peer.bse, rtol=1e-6)
    lower, upper = ours.interval(0.9)
    np.testing.assert_allclose(
        np.column_stack([lower[0], upper[0]]), peer.conf_int(0.1)[1:], rtol=1e-6
    )
    table = ours.summary(0.9)
    np.testing.assert_allclose(table.sd[0], peer.bse, rtol=1e-6)
    np.testing.assert_allclose(table.upper[0], peer.conf_int(0.1)[:, 1], rtol=1e-6)


def test_standard_deviations_of_reference_weights_are_those_of_mnlogit():
    X, y = drawn(19, 600, 3, 4)
    ours = LogisticRegression(C=np.inf, tol=1e-8, weights="reference").fit(X, y)
    # MNLogit's reference is the first class, so classes are numbered backwards for it.
    peer = sm.MNLogit(3 - y, sm.add_constant(X)).fit(disp=0, tol=1e-12, maxiter=100)
    backwards = [2, 1, 0]
    np.testing.assert_allclose(ours.coef_[backwards].T, peer.params[1:], rtol=1e-6)
    np.testing.assert_allclose(ours.coef_sd_[backwards].T, peer.bse[1:], rtol=1e-6)
    np.testing.assert_allclose(ours.intercept_sd_[backwards], peer.bse[0], rtol=1e-6)
    assert not ours.coef_sd_[-1].any()


@pytest.mark.parametrize("classes", [2, 3])
def test_standard_deviations_with_a_penalty_are_those_of_the_curvature(classes):
    X, y = drawn(20, 200, 2, classes)
    model = LogisticRegression(C=0.5, tol=1e-8).fit(X, y)
    # All weights with sum 0 over classes, in an orthonormal basis of them.
    basis = np.linalg.svd(np.ones((1, classes)))[2][1:]
    W = np.column_stack([model.coef_, model.intercept_])
    if classes == 2:
        W, basis = np.vstack([0 * W, W]), np.array([[0.0, 1.0]])

    def loss(theta):
        W = basis.T @ theta
        fit = -log_softmax(X @ W[:, :2].T + W[:, 2], axis=1)[np.arange(len(y)), y].sum()
        return fit + np.square(W[:, :2]).sum()

    theta = basis @ W
    hessian = gradient_of(lambda t: gradient_of(loss, t, 1e-3), theta, 1e-3)
    covariance = np.linalg.inv(hessian).reshape(theta.shape * 2)
    variance = np.einsum("kc,kjlj,lc->cj", basis, covariance, basis)
    shown = np.column_stack([model.coef_sd_, model.intercept_sd_])
    np.testing.assert_allclose(np.sqrt(variance)[-len(shown) :], shown, rtol=1e-4)


def test_the_start_is_the_linear_discriminant():
    X, y = drawn(21, 300, 4, 3)
    rows = Rows(X, y.astype(np.int32), 3)
    ready = standardize_columns(rows, 0.0, intercept=True, full=True)
    V = generative_start(ready, 0.0)
    Z = np.column_stack([(X - ready.rows.centre) * ready.rows.inverse, np.ones(300)])
    scores = Z @ np.vstack([V, np.zeros(5)]).T
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(
        log_softmax(scores, axis=1), lda.predict_log_proba(X), rtol=1e-8, atol=1e-8
    )


def test_of_many_rows_the_start_takes_the_covariance_of_a_sample():
    X, y = drawn(24, 20_000, 4, 3)
    rows = Rows(X, y.astype(np.int32), 3, np.linspace(0.5, 1.5, 20_000))
    whole = standardize_columns(rows, 0.0, intercept=True, full=True)
    thinned = standardize_columns(rows, 0.0, intercept=True, full=True, every=5)
    for name in ("centre", "inverse"):
        found, wanted = getattr(thinned.rows, name), getattr(whole.rows, name)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(thinned.class_weights, whole.class_weights, rtol=1e-12)
    np.testing.assert_allclose(thinned.products.weight.sum(), rows.weights[::5].sum())
    Z = np.column_stack([(X - whole.rows.centre) * whole.rows.inverse, np.ones(20_000)])
    found, wanted = (Z @ generative_start(one, 0.0).T for one in (thinned, whole))
    assert 0 < np.abs(found - wanted).max() < 0.1 * np.abs(wanted).max()


def test_a_sample_without_some_class_leads_to_the_same_optimum(monkeypatch):
    rng = np.random.default_rng(25)
    y = np.arange(9_000) % 2  # every second row is of one class
    X = rng.normal(size=(9_000, 20)) + 0.3 * y[:, None]
    thinned = LogisticRegression().fit(X, y)
    monkeypatch.setattr("suffice.logistic.softmax_fit.ROWS_A_PARAMETER", 10**9)
    whole = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(thinned.coef_, whole.coef_, rtol=0, atol=1e-9)


def test_newton_needs_few_steps_from_there():
    rng = np.random.default_rng(22)
    y = rng.integers(0, 2, 20_000)
    X = rng.normal(size=(20_000, 10)) + 0.3 * y[:, None]
    model = LogisticRegression().fit(X, y)
    assert model.n_iter_[0] <= 3


@pytest.mark.parametrize("classes", [2, 6])
def test_many_rows_that_are_thinned_out_on_the_way_reach_the_same_optimum(classes, monkeypatch):
    X, y = drawn(23, 60_000, 12, classes)
    thinned = LogisticRegression().fit(X, y)
    monkeypatch.setattr("suffice.logistic.softmax_fit.ROWS_A_PARAMETER", 10**9)
    whole = LogisticRegression().fit(X, y)
    size = np.abs(whole.coef_).max()
    np.testing.assert_allclose(thinned.coef_, whole.coef_, rtol=0, atol=1e-8 * size)
    np.testing.assert_allclose(thinned.loss_curve_[-1], whole.loss_curve_[-1], rtol=1e-11)
    np.testing.assert_allclose(thinned.coef_sd_, whole.coef_sd_, rtol=1e-4)
    assert np.all(np.diff(thinned.loss_curve_) <= 1e-6)


@pytest.mark.parametrize("sample", [0, 1, 3])
def test_rows_read_in_parts_have_the_derivatives_of_all_rows(sample):
    whole = objective(*drawn(rows=1500)).likelihood
    V = np.random.default_rng(4).normal(size=(2, 5))
    rows = replace(whole.rows, weights=np.random.default_rng(5).uniform(0, 2, 1500))
    factors = np.array([1.0, 0.5, 3.0])
    parts = [rows.take(slice(0, 700)), rows.take(slice(700, 701)), rows.take(slice(701, None))]
    again = RowPasses(lambda: iter(parts), rows.shape, *class_moments(rows))
    expected = replace(whole, rows=rows.weigh_classes(factors).reverse_classes())
    found = replace(whole, rows=again.weigh_classes(factors).reverse_classes())
    assert found.total == pytest.approx(expected.total, rel=1e-12)
    one, other = found.derivatives(V, sample), expected.derivatives(V, min(sample, 1))
    assert one.value == pytest.approx(other.value, rel=1e-12)
    assert one.worst == other.worst
    np.testing.assert_allclose(one.gradient, other.gradient, rtol=1e-10, atol=1e-9)
    if sample:
        # Of a sample it is that of all rows but for chance.
        near = 1e-10 if sample == 1 else 0.3
        np.testing.assert_allclose(one.hessian, other.hessian, near, near * other.hessian.max())
    mine, direct = found.rows, expected.rows
    np.testing.assert_allclose(mine.class_weights, direct.class_weights, rtol=1e-12)
    moments = class_moments(direct)[1]
    np.testing.assert_allclose(mine.moments.mean(), moments.mean(), rtol=1e-10)
    np.testing.assert_allclose(mine.moments.variance(), moments.variance(), rtol=1e-10)
