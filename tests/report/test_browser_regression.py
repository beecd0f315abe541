"""Regressions in the page: predictions and standard deviations, of rows with missing cells."""

import numpy as np
import pytest

from browser_answers import answers
from browser_cases import ROWS
from suffice import BayesianLinearRegression, LinearRegression, MultivariateNormal
from suffice.report.browser_model import browser_model


def regression_rows(seed, columns, size=ROWS):
    rng = np.random.default_rng(seed)
    cells = rng.normal(2.0, 3.0, (size, columns))
    cells[rng.random(cells.shape) < 0.2] = np.nan
    return cells


def compare_regression(script, model, cells):
    found = browser_model(model)
    names = [column["name"] for column in found["columns"]]
    rows = [
        {name: None if np.isnan(x) else x for name, x in zip(names, row, strict=True)}
        for row in cells.tolist()
    ]
    mine = answers(script, found, rows)
    mean, sd = model.predict(cells, return_std=True)
    mean, sd = mean.reshape(len(rows), -1), sd.reshape(len(rows), -1)
    for name, expected in (("prediction", mean), ("standard_deviation", sd)):
        got = [[target[name] for target in one["targets"]] for one in mine]
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
    for one in mine:
        parts = sum(reason["contribution"] for reason in one["reasons"])
        assert one["base"] + parts == pytest.approx(one["prediction"], rel=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        LinearRegression(fit_intercept=False),
        BayesianLinearRegression(),
        BayesianLinearRegression(fit_intercept=False, standardize=False),
        BayesianLinearRegression(noise_variance=0.5, prior_scale=2.0),
        BayesianLinearRegression(noise_shape=2.0, noise_scale=1.0, prior_scale=[1.0, 2.0, 3.0]),
        BayesianLinearRegression(
            prior=MultivariateNormal([0.5, 0.0, 1.0], [[2, 0.5, 0], [0.5, 1, 0.3], [0, 0.3, 3]])
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("targets", [1, 2])
def test_regressions_with_missing_cells(script, model, targets):
    rng = np.random.default_rng(0)
    X = rng.normal(2.0, 3.0, (60, 3))
    y = X @ rng.normal(size=(3, targets)) + 100.0 + rng.normal(size=(60, targets))
    compare_regression(script, model.fit(X, y[:, 0] if targets == 1 else y), regression_rows(1, 3))


def test_coefficients_without_a_posterior_predict_whole_rows(script):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    model = LinearRegression(positive=True).fit(X, X @ [1.0, -1.0] + 3.0)
    found = browser_model(model)
    assert "positive=True" in found["reason"]
    names = [column["name"] for column in found["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    mine = [one["prediction"] for one in answers(script, found, rows)]
    np.testing.assert_allclose(mine, model.predict(X), rtol=1e-9)
