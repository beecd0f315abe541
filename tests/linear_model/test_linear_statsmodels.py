"""Standard errors, intervals and influence of least squares, against statsmodels' OLS."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.datasets import load_diabetes

from suffice.errors import PriorError
from suffice.linear_model import BayesianLinearRegression, LinearRegression


def table(rows, columns, targets=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) @ rng.normal(size=(columns, columns)) + 3
    slopes = rng.normal(size=(columns,) if targets is None else (columns, targets))
    return X, X @ slopes + rng.normal(size=(rows, *slopes.shape[1:])) - 4


DATA = {
    "diabetes": load_diabetes(return_X_y=True),
    "diabetes in its units": load_diabetes(return_X_y=True, scaled=False),
    "random": table(40, 5),
    "one more row than needed": table(6, 4),
    "one column": table(10, 1),
}
FLAT = {
    "least squares": LinearRegression,
    "flat priors": lambda **options: BayesianLinearRegression(np.inf, **options),
}
LEVELS = [0.5, 0.9, 0.95, 0.999]


def design(X, intercept=True):
    return sm.add_constant(X, has_constant="add") if intercept else X


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("kind", FLAT)
def test_estimates_errors_and_intervals_are_those_of_ols(kind, name, intercept):
    X, y = DATA[name]
    ols = sm.OLS(y, design(X, intercept)).fit()
    model = FLAT[kind](fit_intercept=intercept).fit(X, y)
    summary = model.summary()
    np.testing.assert_allclose(summary.estimate[0], ols.params, rtol=1e-8)
    np.testing.assert_allclose(summary.sd[0], ols.bse, rtol=1e-8)
    for level in LEVELS:
        found = model.summary(level)
        ends = np.column_stack([found.lower[0], found.upper[0]])
        np.testing.assert_allclose(ends, ols.conf_int(alpha=1 - level), rtol=1e-7, atol=1e-9)
    facts = dict(summary.facts)
    assert facts["R^2"] == f"{ols.rsquared:.4f}"
    assert facts["noise sd"] == f"{np.sqrt(ols.mse_resid):.4g}"


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", ["diabetes", "random", "one column"])
@pytest.mark.parametrize("kind", FLAT)
def test_intervals_of_new_targets_are_those_of_ols(kind, name, intercept):
    X, y = DATA[name]
    ols = sm.OLS(y, design(X, intercept)).fit()
    model = FLAT[kind](fit_intercept=intercept).fit(X, y)
    new = X[:7] * 1.5 - 0.1
    found = ols.get_prediction(design(new, intercept))
    np.testing.assert_allclose(model.predict(new), found.predicted_mean, rtol=1e-8)
    for level in LEVELS:
        lower, upper = model.interval(new, level)
        expected = found.conf_int(obs=True, alpha=1 - level)
        np.testing.assert_allclose(np.column_stack([lower, upper]), expected, rtol=1e-8)
    # statsmodels' standard error of a new target is the scale of its Student t.
    np.testing.assert_allclose(
        np.sqrt(model.predictive(new).squared_scale[:, 0]), found.se_obs, rtol=1e-8
    )


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", FLAT)
def test_whole_weights_are_repeated_rows(kind, intercept):
    X, y = DATA["random"]
    times = np.random.default_rng(1).integers(0, 4, len(y))
    ols = sm.OLS(np.repeat(y, times), design(np.repeat(X, times, axis=0), intercept)).fit()
    summary = FLAT[kind](fit_intercept=intercept).fit(X, y, times).summary()
    np.testing.assert_allclose(summary.estimate[0], ols.params, rtol=1e-8)
    np.testing.assert_allclose(summary.sd[0], ols.bse, rtol=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", ["diabetes", "random", "one column"])
@pytest.mark.parametrize("kind", FLAT)
def test_leverages_and_left_out_residuals_are_those_of_ols(kind, name, intercept):
    X, y = DATA[name]
    influence = sm.OLS(y, design(X, intercept)).fit().get_influence()
    left_out = FLAT[kind](fit_intercept=intercept).fit(X, y).leave_one_out(X, y)
    np.testing.assert_allclose(left_out.leverage, influence.hat_matrix_diag, rtol=1e-8)
    np.testing.assert_allclose(left_out.residuals, influence.resid_press, rtol=1e-7)
    np.testing.assert_allclose(left_out.predictions, y - influence.resid_press, rtol=1e-7)
    root = np.sqrt(np.mean(np.square(influence.resid_press)))
    assert left_out.root_mean_square == pytest.approx(root, rel=1e-8)


def test_left_out_densities_are_those_of_externally_studentised_residuals():
    X, y = DATA["random"]
    influence = sm.OLS(y, design(X)).fit().get_influence()
    left_out = LinearRegression().fit(X, y).leave_one_out(X, y)
    model = LinearRegression()
    for row in (0, 11, 39):
        others = np.delete(np.arange(len(y)), row)
        lower, upper = model.fit(X[others], y[others]).interval(X[[row]], 0.95)
        away = (y[row] - (lower + upper) / 2) / model.predictive(X[[row]]).squared_scale[
            :, 0
        ] ** 0.5
        assert away[0] == pytest.approx(influence.resid_studentized_external[row], rel=1e-8)
        log_density = model.predictive(X[[row]]).log_density(y[row])
        assert left_out.log_density[row] == pytest.approx(float(log_density[0, 0]), rel=1e-9)


@pytest.mark.parametrize("kind", FLAT)
def test_several_targets_are_several_regressions(kind):
    X, Y = table(50, 4, 3)
    model = FLAT[kind]().fit(X, Y)
    summary = model.summary()
    lower, upper = model.interval(X[:5], 0.9)
    for t in range(3):
        ols = sm.OLS(Y[:, t], design(X)).fit()
        np.testing.assert_allclose(summary.estimate[t], ols.params, rtol=1e-8)
        np.testing.assert_allclose(summary.sd[t], ols.bse, rtol=1e-8)
        expected = ols.get_prediction(design(X[:5])).conf_int(obs=True, alpha=0.1)
        np.testing.assert_allclose(np.column_stack([lower, upper])[:, [t, t + 3]], expected)


def test_the_joint_posterior_has_the_covariance_of_ols():
    X, y = DATA["random"]
    ols = sm.OLS(y, design(X)).fit()
    posterior = LinearRegression().fit(X, y).posterior_
    np.testing.assert_allclose(posterior.location, ols.params, rtol=1e-8)
    np.testing.assert_allclose(posterior.scale_matrix, ols.cov_params(), rtol=1e-8)
    assert float(posterior.degrees) == ols.df_resid


def test_known_noise_and_flat_priors_are_normal_with_that_noise():
    X, y = DATA["random"]
    ols = sm.OLS(y, design(X)).fit()
    model = BayesianLinearRegression(np.inf, noise_variance=2.5).fit(X, y)
    np.testing.assert_allclose(model.summary().estimate[0], ols.params, rtol=1e-8)
    expected = np.sqrt(2.5 / ols.mse_resid) * ols.bse
    np.testing.assert_allclose(model.summary().sd[0], expected, rtol=1e-8)
    np.testing.assert_allclose(model.posterior_.covariance, 2.5 * ols.normalized_cov_params)


# ---- the table


def test_the_table_is_aligned_and_named():
    X, y = DATA["random"]
    frame = pd.DataFrame(X, columns=["a", "a rather long name of a column", "c", "d", "é"])
    text = str(LinearRegression().fit(frame, y).summary(0.9))
    title, facts, head, *lines = text.splitlines()
    assert title == "LinearRegression: 40 rows, 5 columns"
    assert facts.startswith("R^2 0.")
    assert len({len(line) for line in (head, *lines)}) == 1
    assert head.split() == ["estimate", "sd", "5", "%", "95", "%"]
    assert [line[:30].strip() for line in lines] == ["intercept", *frame.columns]


@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1.0, 1e6, 1e12, 1e100])
def test_columns_of_the_table_never_run_together(scale):
    X, y = DATA["random"]
    text = str(LinearRegression().fit(X / scale, -y * 1234567).summary())
    for line in text.splitlines()[3:]:
        assert len(line.split()) == 5


def test_the_table_of_several_targets_names_each():
    X, Y = table(50, 2, 2)
    lines = str(LinearRegression().fit(X, Y).summary()).splitlines()
    assert [line for line in lines if line.startswith("y: ")] == ["y: y0", "y: y1"]
    assert len(lines) == 2 + 2 * (2 + 3)
    frame = pd.DataFrame(Y, columns=["price", "rent"])
    lines = str(LinearRegression().fit(X, frame).summary()).splitlines()
    assert [line for line in lines if line.startswith("y: ")] == ["y: price", "y: rent"]


def test_a_single_target_with_a_name_is_named():
    X, y = DATA["one column"]
    model = LinearRegression().fit(X, pd.Series(y, name="price"))
    assert "y: price" in str(model.summary())
    assert list(model.summary().to_dict()) == ["price"]
    assert model.coef_.shape == (1,)
    unnamed = LinearRegression().fit(X, y)
    assert "y:" not in str(unnamed.summary())


def test_the_table_as_a_dict_holds_the_numbers():
    X, Y = table(50, 2, 2)
    summary = LinearRegression().fit(X, Y).summary(0.8)
    found = summary.to_dict()
    assert list(found) == ["y0", "y1"]
    assert list(found["y1"]) == ["intercept", "x0", "x1"]
    for t, target in enumerate(found):
        for k, term in enumerate(found[target]):
            for kind in ("estimate", "sd", "lower", "upper"):
                assert found[target][term][kind] == getattr(summary, kind)[t, k]
    alone = LinearRegression(fit_intercept=False).fit(X, Y[:, 0]).summary().to_dict()
    assert list(alone["y"]) == ["x0", "x1"]


@pytest.mark.parametrize(
    "model", [LinearRegression(), BayesianLinearRegression(noise_variance=1.0)]
)
def test_a_column_called_intercept_does_not_hide_the_intercept(model):
    X, Y = table(50, 2, 2)
    frame = pd.DataFrame(X, columns=["intercept", "slope"])
    summary = model.fit(frame, Y[:, 0]).summary()
    assert len(summary.to_dict()["y"]) == summary.estimate.shape[1] == 3
    twins = pd.DataFrame(Y, columns=["price", "price"])
    assert len(model.fit(X, twins).summary().to_dict()) == 2


def test_the_bayesian_table_tells_scale_and_evidence():
    X, y = DATA["random"]
    model = BayesianLinearRegression().fit(X, y)
    facts = dict(model.summary().facts)
    assert facts["prior scale"] == f"{model.prior_scale_:.4g}"
    assert facts["log evidence"] == f"{model.log_evidence_:.4f}"
    known = BayesianLinearRegression([1.0, 2, 3, 4, 5], noise_variance=4.0).fit(X, y)
    facts = dict(known.summary().facts)
    assert facts["known noise sd"] == "2"
    assert facts["prior scale"] == "1 to 5"


@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.5])
def test_a_level_that_is_no_probability_is_refused(level):
    X, y = DATA["random"]
    model = LinearRegression().fit(X, y)
    with pytest.raises(PriorError, match="Use a level between 0 and 1"):
        model.summary(level)
    with pytest.raises(PriorError, match="Use a level between 0 and 1"):
        model.interval(X, level)
