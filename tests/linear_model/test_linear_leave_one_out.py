"""Leaving rows out is refitting without them; the scale of most evidence; missing values."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes

from suffice.errors import InputError, MissingRowsWarning, PriorError
from suffice.gaussian import MultivariateNormal
from suffice.linear_model import BayesianLinearRegression, LinearRegression

ROWS = 90
X_ALL, Y_ALL = load_diabetes(return_X_y=True, scaled=False)
X, Y = X_ALL[:ROWS], Y_ALL[:ROWS]
TWO = np.column_stack([Y, np.sin(Y) + X[:, 2]])

MODELS = {
    "least squares": LinearRegression(),
    "least squares, no intercept": LinearRegression(fit_intercept=False),
    "flat": BayesianLinearRegression(np.inf),
    "flat, known noise": BayesianLinearRegression(np.inf, noise_variance=2500.0),
    "fixed": BayesianLinearRegression(0.3),
    "fixed a column": BayesianLinearRegression(np.linspace(0.1, 1.0, 10)),
    "evidence": BayesianLinearRegression(),
    "evidence, no intercept": BayesianLinearRegression(fit_intercept=False),
    "evidence, known noise": BayesianLinearRegression(noise_variance=2500.0),
    "a prior of the noise": BayesianLinearRegression(noise_shape=3.0, noise_scale=5000.0),
    "in given units": BayesianLinearRegression(0.05, standardize=False),
    "a correlated prior": BayesianLinearRegression(
        prior=MultivariateNormal(np.arange(10.0), 0.1 * np.eye(10) + 0.05), noise_variance=2500.0
    ),
}


def with_prior_fixed(model, rows, weights):
    """Return an unfitted model whose prior is the one that a fitted model used."""
    if isinstance(model, LinearRegression) or model.prior is not None:
        return model
    scale = np.broadcast_to(model.prior_scale_, (rows.shape[1],))
    if np.isinf(scale).any():
        return model
    sd = np.ones(rows.shape[1])
    if model.standardize:
        centre = np.average(rows, axis=0, weights=weights) if model.fit_intercept else 0.0
        sd = np.sqrt(np.average(np.square(rows - centre), axis=0, weights=weights))
    options = model.get_params()
    options["prior_scale"] = None
    options["prior"] = MultivariateNormal(np.zeros(rows.shape[1]), np.diag(np.square(scale / sd)))
    return BayesianLinearRegression(**options)


def check(model, rows, target, weights=None):
    """Compare leave-one-out with a real refit without each row."""
    w = np.ones(len(rows)) if weights is None else weights
    fitted = model.fit(rows, target, weights)
    found = fitted.leave_one_out(rows, target, weights)
    fixed = with_prior_fixed(fitted, rows, w)
    expected, log_density = np.empty(target.shape), np.empty(target.shape)
    for row in range(len(rows)):
        others = np.delete(np.arange(len(rows)), row)
        refit = type(fixed)(**fixed.get_params())
        refit.fit(rows[others], target[others], w[others])
        expected[row] = refit.predict(rows[[row]])[0]
        density = refit.predictive(rows[[row]]).log_density(target[row])[0]
        log_density[row] = density[0] if target.ndim == 1 else density
    size = np.abs(target).max(axis=0)
    np.testing.assert_allclose(found.predictions / size, expected / size, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.residuals, target - found.predictions, rtol=1e-12)
    np.testing.assert_allclose(found.log_density, log_density, rtol=1e-8)
    assert found.mean_log_density == pytest.approx(log_density.mean(), rel=1e-8)
    root = np.sqrt(np.mean(np.square(target - expected)))
    assert found.root_mean_square == pytest.approx(root, rel=1e-8)
    assert np.all((found.leverage >= 0) & (found.leverage < 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_leaving_a_row_out_is_refitting_without_it(name):
    check(MODELS[name], X, Y)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_leaving_a_weighted_row_out_is_refitting_without_it(name):
    weights = np.random.default_rng(0).exponential(size=ROWS)
    weights[[3, 50]] = 0.0
    weights[[4, 51]] = 3.0
    check(MODELS[name], X, Y, weights)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["least squares", "evidence", "evidence, known noise"])
def test_leaving_a_row_of_several_targets_out_is_refitting_without_it(name):
    check(MODELS[name], X, TWO)
    check(MODELS[name], X, TWO, np.random.default_rng(1).uniform(0.1, 2, ROWS))


def test_leaving_sparse_rows_out_is_leaving_dense_ones_out():
    model = BayesianLinearRegression().fit(X, Y)
    dense, sparse = model.leave_one_out(X, Y), model.leave_one_out(sp.csr_array(X), Y)
    np.testing.assert_allclose(sparse.residuals, dense.residuals, rtol=1e-9)
    np.testing.assert_allclose(sparse.leverage, dense.leverage, rtol=1e-9)


@pytest.mark.parametrize("name", ["least squares", "evidence", "flat, known noise"])
def test_rows_with_missing_values_were_never_learned_and_have_no_left_out_answer(name):
    rows, target = X.copy(), Y.copy()
    rows[[5, 40], [2, 7]] = np.nan
    target[60] = np.nan
    incomplete = np.zeros(ROWS, bool)
    incomplete[[5, 40, 60]] = True
    with pytest.warns(MissingRowsWarning, match="3 of 90 rows"):
        model = MODELS[name].fit(rows, target)
    found = model.leave_one_out(rows, target)
    whole = MODELS[name].fit(rows[~incomplete], target[~incomplete])
    expected = whole.leave_one_out(rows[~incomplete], target[~incomplete])
    for field in ("predictions", "residuals", "log_density", "leverage"):
        np.testing.assert_array_equal(np.isnan(getattr(found, field)), incomplete)
        np.testing.assert_allclose(getattr(found, field)[~incomplete], getattr(expected, field))
    assert found.root_mean_square == pytest.approx(expected.root_mean_square)
    assert found.mean_log_density == pytest.approx(expected.mean_log_density)


def test_leverages_add_up_to_the_number_of_coefficients():
    model = LinearRegression().fit(X, Y)
    assert model.leave_one_out(X, Y).leverage.sum() == pytest.approx(11.0, rel=1e-9)


def test_rows_that_were_not_learned_are_refused():
    model = BayesianLinearRegression().fit(X, Y)
    shuffled = np.random.default_rng(2).permutation(Y)
    for rows, target, w in (
        (X[1:], Y[1:], None),
        (X, shuffled, None),
        (X[:, ::-1], Y, None),
        (X, Y + 1.0, None),
        (X, Y, np.full(ROWS, 2.0)),
        (X_ALL, Y_ALL, None),
    ):
        with pytest.raises(InputError, match="not the rows that this BayesianLinearRegression le"):
            model.leave_one_out(rows, target, w)
    order = np.random.default_rng(3).permutation(ROWS)
    permuted = model.leave_one_out(X[order], Y[order])
    np.testing.assert_allclose(permuted.residuals, model.leave_one_out(X, Y).residuals[order])


def test_a_row_that_alone_decides_a_coefficient_is_named():
    rows = np.zeros((8, 2))
    rows[:, 0], rows[5, 1] = np.arange(8.0), 1.0
    model = LinearRegression().fit(rows, np.sin(np.arange(8.0)))
    with pytest.raises(InputError, match=r"Row 5 alone decides a coefficient \(leverage 1\)"):
        model.leave_one_out(rows, np.sin(np.arange(8.0)))


def test_one_row_less_than_the_noise_needs_is_refused():
    rows, target = np.arange(3.0)[:, None], np.array([1.0, 5.0, 2.0])
    model = LinearRegression().fit(rows, target)
    with pytest.raises(InputError, match="One row less leaves the noise unknown"):
        model.leave_one_out(rows, target)


# ---- the scale of most evidence


SEARCHED = {
    "unknown noise": {},
    "no intercept": {"fit_intercept": False},
    "given units": {"standardize": False},
    "known noise": {"noise_variance": 2500.0},
    "a prior of the noise": {"noise_shape": 3.0, "noise_scale": 5000.0},
    "around a prior": {
        "prior_scale": "evidence",
        "prior": MultivariateNormal(np.ones(10), np.eye(10) + 0.5),
    },
}


@pytest.mark.parametrize("target", [Y, TWO], ids=["one target", "two targets"])
@pytest.mark.parametrize("name", SEARCHED)
def test_no_scale_has_more_evidence_than_the_chosen_one(name, target):
    options = dict(SEARCHED[name])
    chosen = BayesianLinearRegression(**options).fit(X, target)
    for factor in np.concatenate([np.geomspace(1e-3, 1e3, 61), [0.99, 1.01, 0.999, 1.001]]):
        options["prior_scale"] = chosen.prior_scale_ * factor
        other = BayesianLinearRegression(**options).fit(X, target)
        assert other.log_evidence_ <= chosen.log_evidence_ + 1e-9 * abs(chosen.log_evidence_)
    options["prior_scale"] = chosen.prior_scale_
    same = BayesianLinearRegression(**options).fit(X, target)
    assert same.log_evidence_ == pytest.approx(chosen.log_evidence_, rel=1e-13)
    np.testing.assert_allclose(same.coef_, chosen.coef_, rtol=1e-13)


@pytest.mark.parametrize("name", SEARCHED)
def test_forgetting_chooses_a_new_scale_without_a_row(name):
    model = BayesianLinearRegression(**SEARCHED[name]).fit(X_ALL[:200], Y_ALL[:200])
    model.forget(X_ALL[ROWS:200], Y_ALL[ROWS:200])
    fresh = BayesianLinearRegression(**SEARCHED[name]).fit(X, Y)
    # The scale is found from sums that were taken in another order.
    assert model.prior_scale_ == pytest.approx(fresh.prior_scale_, rel=1e-7)
    assert model.log_evidence_ == pytest.approx(fresh.log_evidence_, rel=1e-9)
    np.testing.assert_allclose(model.coef_, fresh.coef_, rtol=1e-6, atol=1e-9)


def test_the_scale_needs_no_rows_once_they_are_counted():
    rows, target = X.copy(), Y.copy()
    model = BayesianLinearRegression().fit(rows, target)
    expected = model.coef_.copy()
    rows[:], target[:] = np.nan, np.nan
    restored = BayesianLinearRegression()
    restored._restore(model._saved_state())
    np.testing.assert_array_equal(restored.coef_, expected)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_a_standardised_prior_does_not_depend_on_units(factor):
    units = np.geomspace(factor, 1.0, 10)
    plain = BayesianLinearRegression().fit(X, Y)
    scaled = BayesianLinearRegression().fit(X * units, Y)
    np.testing.assert_allclose(scaled.coef_ * units, plain.coef_, rtol=1e-7)
    assert scaled.prior_scale_ == pytest.approx(plain.prior_scale_, rel=1e-8)
    assert scaled.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-11)


# ---- rows with missing values, predicted


@pytest.mark.parametrize("name", ["least squares", "evidence", "evidence, known noise"])
def test_sparse_rows_have_the_deviations_and_intervals_of_dense_ones(name):
    model = MODELS[name].fit(X, TWO)
    new = sp.csr_array(X[:9])
    for found, expected in zip(model.predict(new, True), model.predict(X[:9], True), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(model.interval(new), model.interval(X[:9]), rtol=1e-12)


def on_seen_columns(model, columns):
    """Fit the columns alone, with the prior that the whole model used."""
    options = model.get_params()
    if isinstance(model, LinearRegression):
        return LinearRegression(**options).fit(X[:, columns], Y)
    scale = np.asarray(model.prior_scale_)
    options["prior_scale"] = scale if scale.ndim == 0 else scale[columns]
    if model.prior is not None:
        covariance = model.prior.covariance[np.ix_(columns, columns)]
        options["prior"] = MultivariateNormal(model.prior.mean[columns], covariance)
    return BayesianLinearRegression(**options).fit(X[:, columns], Y)


@pytest.mark.slow
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_a_row_with_missing_values_is_predicted_by_the_regression_on_what_it_has(name, sparse):
    model = MODELS[name].fit(X, Y)
    new = X_ALL[200:212].copy()
    new[[1, 5], 2] = np.nan
    new[3, [0, 9]] = np.nan
    new[7, 1:] = np.nan
    given = sp.csr_array(new) if sparse else new
    mean, sd = model.predict(given, return_std=True)
    lower, upper = model.interval(given, 0.8)
    np.testing.assert_allclose(model.predict(given), mean, rtol=1e-12)
    for row in range(12):
        columns = np.flatnonzero(~np.isnan(new[row]))
        alone = on_seen_columns(model, columns)
        expected = alone.predict(new[[row]][:, columns], return_std=True)
        np.testing.assert_allclose([mean[row], sd[row]], np.ravel(expected), rtol=1e-8)
        ends = np.ravel(alone.interval(new[[row]][:, columns], 0.8))
        np.testing.assert_allclose([lower[row], upper[row]], ends, rtol=1e-8)


@pytest.mark.parametrize("name", [name for name in MODELS if "no intercept" not in name])
def test_a_row_of_missing_values_only_gets_the_mean_target(name):
    model = MODELS[name].fit(X, Y)
    nothing = np.full((2, 10), np.nan)
    mean, sd = model.predict(nothing, return_std=True)
    np.testing.assert_allclose(mean, Y.mean(), rtol=1e-12)
    np.testing.assert_allclose(model.predict(nothing), Y.mean(), rtol=1e-12)
    assert np.all(np.isfinite(sd))
    if "known noise" in name:
        np.testing.assert_allclose(sd, np.sqrt(2500.0 * (1 + 1 / ROWS)))


def test_without_an_intercept_a_row_of_missing_values_only_gets_zero():
    model = LinearRegression(fit_intercept=False).fit(X, Y)
    np.testing.assert_array_equal(model.predict(np.full((1, 10), np.nan)), 0.0)
    assert np.isfinite(model.predict(np.full((1, 10), np.nan), return_std=True)[1]).all()


def test_rows_with_missing_values_do_not_change_the_model():
    model = BayesianLinearRegression().fit(X, TWO)
    before = model.predict(X)
    incomplete = X.copy()
    incomplete[:, 4] = np.nan
    assert model.predict(incomplete).shape == (ROWS, 2)
    assert model.predictive(incomplete).location.shape == (ROWS, 2)
    np.testing.assert_array_equal(model.predict(X), before)


def test_without_negative_coefficients_missing_values_are_predicted_too():
    model = LinearRegression(positive=True).fit(X, Y)
    new = X[:3].copy()
    new[1, 4] = np.nan
    columns = np.delete(np.arange(10), 4)
    alone = LinearRegression(positive=True).fit(X[:, columns], Y)
    assert model.predict(new)[1] == pytest.approx(alone.predict(new[[1]][:, columns])[0])
    assert model.predict(np.full((1, 10), np.nan))[0] == pytest.approx(Y.mean())


def test_an_infinite_cell_is_refused_when_predicting():
    model = BayesianLinearRegression().fit(X, Y)
    new = X[:4].copy()
    new[1, 0], new[2, 3] = np.nan, -np.inf
    for ask in (model.predict, model.predictive, model.interval):
        with pytest.raises(InputError, match="-inf in row 2, column 3"):
            ask(new)


def test_repeated_columns_under_a_flat_prior_name_the_column():
    rows = np.column_stack([X[:, :3], X[:, 0]])
    with pytest.raises(PriorError, match="Column 3 is a combination of the columns before it"):
        BayesianLinearRegression(np.inf).fit(rows, Y)
