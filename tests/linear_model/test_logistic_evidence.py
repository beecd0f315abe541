"""Priors of logistic weights, Laplace's evidence and covariance, and rows left out."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.integrate import dblquad, quad
from scipy.special import expit, log_softmax
from sklearn.datasets import load_breast_cancer, load_iris

from suffice import GaussianNB, LogisticRegression, load
from suffice.errors import InputError, SufficeError

IRIS = load_iris(return_X_y=True)


def drawn(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(3.0, 2.0, rows)
    return x[:, None], (rng.random(rows) < expit(x - 3.0)).astype(int)


def log_likelihood(x, y, w, b):
    return -np.logaddexp(0, -(2 * y - 1) * (x * w + b)).sum()


@pytest.mark.parametrize("C", [0.05, 2.0])
def test_evidence_is_the_integral_over_weight_and_intercept(C):
    X, y = drawn()
    x = X[:, 0]
    model = LogisticRegression(C=C).fit(X, y)
    (w,), b, top = model.coef_[0], model.intercept_[0], model.loss_curve_[-1]
    sd_w, sd_b = model.coef_sd_[0, 0], model.intercept_sd_[0]

    def density(b, w):
        prior = np.exp(-(w**2) / (2 * C)) / np.sqrt(2 * np.pi * C)
        return np.exp(log_likelihood(x, y, w, b) + top) * prior

    limits = w - 8 * sd_w, w + 8 * sd_w, b - 8 * sd_b, b + 8 * sd_b
    whole, _ = dblquad(density, *limits)
    assert model.log_evidence_ == pytest.approx(np.log(whole) - top, abs=0.01)


def test_evidence_without_an_intercept_and_with_a_given_prior_is_the_integral():
    X, y = drawn(300, 1)
    x = X[:, 0] - 3.0
    prior = {"prior_mean": [1.5], "prior_precision": [4.0]}
    model = LogisticRegression(C=0.5, fit_intercept=False, **prior).fit(x[:, None], y)
    top = -log_likelihood(x, y, model.coef_[0, 0], 0.0)

    def density(w):
        normal = np.exp(-(8.0 * (w - 1.5) ** 2) / 2) * np.sqrt(8.0 / (2 * np.pi))
        return np.exp(log_likelihood(x, y, w, 0.0) + top) * normal

    whole, _ = quad(density, 0.0, 3.0, points=[model.coef_[0, 0]])
    assert model.log_evidence_ == pytest.approx(np.log(whole) - top, abs=0.01)
    assert model.n_parameters_ == 1


@pytest.mark.parametrize("weights", ["all", "reference"])
def test_evidence_of_three_classes_is_that_of_samples_from_the_prior_of_all_vectors(weights):
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 8)
    x = rng.normal(codes, 1.0)
    C = 0.8
    model = LogisticRegression(C=C, weights=weights, fit_intercept=False).fit(x[:, None], codes)
    drawn = rng.normal(0, np.sqrt(C), (200_000, 3))
    if weights == "reference":
        drawn[:, 2] = 0.0
    logs = log_softmax(drawn[:, None, :] * x[:, None], axis=2)[:, np.arange(24), codes].sum(axis=1)
    estimate = np.log(np.mean(np.exp(logs - logs.max()))) + logs.max()
    assert model.log_evidence_ == pytest.approx(estimate, abs=0.05)


def test_evidence_does_not_depend_on_the_units_of_rows_and_prior_together():
    X, y = IRIS
    plain = LogisticRegression(C=1.0).fit(X, y).log_evidence_
    scaled = LogisticRegression(C=1e-4).fit(100 * X + 7.0, y).log_evidence_
    assert scaled == pytest.approx(plain, abs=1e-8)


def test_a_column_that_does_not_vary_changes_no_evidence():
    X, y = IRIS
    wide = np.column_stack([X, np.full(len(X), 3.0)])
    plain = LogisticRegression().fit(X, y)
    assert LogisticRegression().fit(wide, y).log_evidence_ == pytest.approx(plain.log_evidence_)
    shrunk = LogisticRegression(prior_mean=np.zeros((3, 5))).fit(wide, y)
    assert shrunk.log_evidence_ == pytest.approx(plain.log_evidence_)


@pytest.mark.parametrize("settings", [{"C": np.inf}, {"prior_mean": "naive_bayes"}])
def test_there_is_no_evidence_without_a_prior_or_with_one_that_saw_the_labels(settings):
    X, y = drawn()
    with pytest.raises(InputError, match="no evidence"):
        _ = LogisticRegression(**settings).fit(X, y).log_evidence_


def test_parameters_are_those_of_all_classes_but_one():
    X, y = IRIS
    assert LogisticRegression().fit(X, y).n_parameters_ == 2 * 5
    assert LogisticRegression(fit_intercept=False).fit(X, y).n_parameters_ == 2 * 4
    assert LogisticRegression().fit(X[y < 2], y[y < 2]).n_parameters_ == 4 + 1
    assert LogisticRegression(weights="reference").fit(X, y).n_parameters_ == 2 * 5


@pytest.mark.parametrize("weights", ["all", "reference"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_covariance_has_the_deviations_and_the_variance_of_any_score(weights, fit_intercept):
    X, y = IRIS
    model = LogisticRegression(weights=weights, fit_intercept=fit_intercept).fit(X, y)
    covariance = model.covariance_
    sd = np.sqrt(np.diagonal(covariance)).reshape(3, -1)
    assert sd[:, fit_intercept:] == pytest.approx(model.coef_sd_)
    if fit_intercept:
        assert sd[:, 0] == pytest.approx(model.intercept_sd_)
        # The intercept of rows measured from another point is a score there.
        point = np.array([5.0, 3.0, 4.0, 1.0])
        moved = LogisticRegression(weights=weights).fit(X - point, y)
        row = np.append(1.0, point)
        blocks = covariance.reshape(3, 5, 3, 5)
        variance = [row @ blocks[c, :, c] @ row for c in range(3)]
        assert np.sqrt(variance) == pytest.approx(moved.intercept_sd_, rel=1e-6)
    assert np.linalg.eigvalsh(covariance).min() > -1e-9


def test_the_covariance_without_a_penalty_is_that_of_the_information():
    X, y = drawn()
    model = LogisticRegression(C=np.inf).fit(X, y)
    p = model.predict_proba(X)[:, 1]
    design = np.column_stack([np.ones(len(X)), X])
    information = (design * (p * (1 - p))[:, None]).T @ design
    assert model.covariance_ == pytest.approx(np.linalg.inv(information), rel=1e-6)


def test_weights_that_rows_do_not_determine_have_no_covariance():
    X, y = drawn()
    with pytest.warns(UserWarning, match="combinations"):
        model = LogisticRegression(C=np.inf).fit(np.column_stack([X, X]), y)
    covariance = model.covariance_
    assert np.isinf(np.diagonal(covariance)[1:]).all()
    assert np.isfinite(covariance[0, 0])
    assert np.isnan(covariance[1, 2])


@pytest.mark.parametrize("weights", ["all", "reference"])
def test_a_row_left_out_is_predicted_nearly_as_by_a_fit_without_it(weights):
    X, y = IRIS
    found = LogisticRegression(weights=weights).fit(X, y).leave_one_out(X, y)
    refits = [
        LogisticRegression(weights=weights)
        .fit(np.delete(X, at, 0), np.delete(y, at))
        .predict_log_proba(X[[at]])[0]
        for at in range(len(X))
    ]
    assert found.log_proba == pytest.approx(np.array(refits), abs=0.01)


def test_weighted_rows_of_weighted_classes_are_left_out_whole():
    X, y = drawn(60)
    weight = np.random.default_rng(0).integers(1, 4, 60).astype(float)
    settings = {"class_weight": {0: 1.0, 1: 2.0}}
    found = LogisticRegression(**settings).fit(X, y, weight).leave_one_out(X, y, weight)
    for at in (0, 7, 30):
        rest = np.arange(60) != at
        refit = LogisticRegression(**settings).fit(X[rest], y[rest], weight[rest])
        assert found.log_proba[at] == pytest.approx(refit.predict_log_proba(X[[at]])[0], abs=0.01)


def test_rows_that_were_not_learned_are_not_left_out():
    X, y = drawn(60)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(InputError, match="not those that were learned"):
        model.leave_one_out(X[:-1], y[:-1])


@pytest.mark.parametrize("part", [slice(None), slice(0, 100)])
def test_c_by_evidence_has_more_evidence_than_any_other(part):
    X, y = (side[part] for side in load_breast_cancer(return_X_y=True))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    best = LogisticRegression(C="evidence").fit(X, y)
    others = [
        LogisticRegression(C=best.C_ * factor).fit(X, y).log_evidence_
        for factor in (0.01, 0.5, 0.9, 1.1, 2.0, 100.0)
    ]
    assert max(others) < best.log_evidence_
    same = LogisticRegression(C=best.C_).fit(X, y)
    assert same.coef_ == pytest.approx(best.coef_, rel=1e-6)
    assert f"C {best.C_:g}" in str(best.summary())


def test_c_by_evidence_shrinks_all_of_noise_and_follows_the_units_of_columns():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 5)), rng.integers(0, 2, 200)
    noise = LogisticRegression(C="evidence").fit(X, y)
    assert np.abs(noise.predict_proba(X)[:, 1] - y.mean()).max() < 0.1
    X, y = IRIS
    plain = LogisticRegression(C="evidence").fit(X, y)
    scaled = LogisticRegression(C="evidence").fit(1000 * X, y)
    ratio = scaled.C_ * 1e6 / plain.C_
    assert ratio == pytest.approx(1.0, rel=0.02)


def test_c_by_evidence_is_refused_where_there_is_none():
    X, y = IRIS
    with pytest.raises(InputError, match="No column varies"):
        LogisticRegression(C="evidence").fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    with pytest.raises(InputError, match="fitted to the labels"):
        LogisticRegression(C="evidence", prior_mean="naive_bayes").fit(X, y)
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="too many parameters"):
        LogisticRegression(C="evidence").fit(rng.normal(size=(20, 1100)), rng.integers(0, 2, 20))


def test_what_is_known_of_weights_is_saved(tmp_path):
    X, y = IRIS
    model = LogisticRegression(C="evidence").fit(X, y)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.covariance_, model.covariance_)
    assert (again.log_evidence_, again.C_) == (model.log_evidence_, model.C_)
    assert again.leave_one_out(X, y).log_loss == model.leave_one_out(X, y).log_loss


# Priors.


def by_hand(X, y, mean, precision, intercept=True):
    """Return weights and intercept of two classes by Newton's method, written out."""
    design = np.column_stack([X, np.ones(len(X))]) if intercept else X
    P = np.zeros((design.shape[1],) * 2)
    P[: X.shape[1], : X.shape[1]] = precision
    centre = np.zeros(design.shape[1])
    centre[: X.shape[1]] = mean
    w = np.zeros(design.shape[1])
    for _ in range(100):
        p = expit(design @ w)
        gradient = design.T @ (y - p) - P @ (w - centre)
        w = w + np.linalg.solve((design * (p * (1 - p))[:, None]).T @ design + P, gradient)
    return w


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_weights_are_the_mode_under_the_given_prior(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) * [1.0, 10.0, 0.1] + [0.0, 50.0, 3.0]
    y = (rng.random(80) < expit(X[:, 0] + (X[:, 1] - 50) / 10)).astype(int)
    root = rng.normal(size=(3, 3))
    precision, mean = root @ root.T + np.eye(3), np.array([0.5, -0.2, 1.0])
    settings = {"prior_mean": mean, "prior_precision": precision, "C": 0.5, "tol": 1e-9}
    model = LogisticRegression(solver=solver, max_iter=10_000, **settings).fit(X, y)
    wanted = by_hand(X, y, mean, precision / 0.5)
    assert np.append(model.coef_[0], model.intercept_) == pytest.approx(wanted, abs=1e-5)


def test_a_prior_of_many_sparse_columns_needs_no_matrix_of_them():
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 100_000), density=1e-4, rng=rng, format="csr")
    y = rng.integers(0, 2, 60)
    mean = np.full(100_000, 0.5)
    model = LogisticRegression(C=1e-9, prior_mean=mean, prior_precision=np.ones(100_000))
    assert model.fit(X, y).coef_ == pytest.approx(0.5, abs=1e-4)


def test_a_mean_of_zero_and_a_precision_of_one_are_the_default():
    X, y = IRIS
    plain = LogisticRegression(C=0.3).fit(X, y)
    given = LogisticRegression(C=0.3, prior_mean=np.zeros((3, 4)), prior_precision=np.ones(4))
    given = given.fit(X, y)
    assert given.coef_ == pytest.approx(plain.coef_, abs=1e-8)
    assert given.coef_sd_ == pytest.approx(plain.coef_sd_, rel=1e-6)
    assert given.log_evidence_ == pytest.approx(plain.log_evidence_)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_strong_prior_gives_the_weights_of_the_model_it_is_centred_on(classes):
    X, y = (part[IRIS[1] < classes] for part in IRIS)
    naive = GaussianNB(tie="class").fit(X, y)
    wanted = naive.to_logistic().coef_
    for mean in (naive, "naive_bayes", wanted):
        model = LogisticRegression(C=1e-10, prior_mean=mean).fit(X, y)
        found = model.coef_ if classes == 2 else model.coef_[:-1] - model.coef_[-1]
        assert found == pytest.approx(
            wanted[-1:] - wanted[:1] if classes == 2 else wanted[:-1] - wanted[-1], rel=1e-4
        )


def test_a_weak_prior_gives_maximum_likelihood():
    X, y = drawn()
    free = LogisticRegression(C=np.inf).fit(X, y)
    shrunk = LogisticRegression(C=1e9, prior_mean=[100.0]).fit(X, y)
    assert shrunk.coef_ == pytest.approx(free.coef_, rel=1e-5)


def test_shrinking_towards_naive_bayes_beats_both_ends_on_few_rows_of_its_own_classes():
    losses = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 2, 2030)
        X = rng.normal(codes[:, None] * 0.5, 1.0, (2030, 10))
        train, test = slice(0, 30), slice(30, None)
        if len(set(codes[train])) < 2:
            continue
        line = []
        for settings in ({"C": 1e6}, {"C": 0.1, "prior_mean": "naive_bayes"}):
            model = LogisticRegression(**settings).fit(X[train], codes[train])
            logs = model.predict_log_proba(X[test])
            line.append(-logs[np.arange(2000), codes[test]].mean())
        losses.append(line)
    free, shrunk = np.mean(losses, axis=0)
    assert shrunk < free / 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior_mean": [1.0, 2.0]}, "prior_mean of shape"),
        ({"prior_mean": np.full((3, 4), np.nan)}, "finite"),
        ({"prior_mean": GaussianNB()}, "not fitted"),
        ({"prior_mean": GaussianNB().fit(IRIS[0][:100], IRIS[1][:100])}, "classes"),
        ({"prior_precision": [1.0, 2.0]}, "prior_precision of shape"),
        ({"prior_precision": [1.0, 2.0, 0.0, 1.0]}, "positive definite"),
        ({"prior_precision": np.ones((4, 4))}, "positive definite"),
    ],
)
def test_priors_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(SufficeError, match=message):
        LogisticRegression(**settings).fit(*IRIS)


def test_a_frozen_model_stays_the_prior_in_cross_validation():
    frozen = pytest.importorskip("sklearn.frozen")
    from sklearn.model_selection import cross_val_score

    X, y = IRIS
    model = frozen.FrozenEstimator(GaussianNB(tie="class").fit(X, y))
    assert cross_val_score(LogisticRegression(prior_mean=model), X, y, cv=3).min() > 0.9
