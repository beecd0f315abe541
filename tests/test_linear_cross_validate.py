"""Cross-validation of regressions: what refits on every training set say, from one pass."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

from suffice import BayesianLinearRegression, LinearRegression
from suffice.errors import InputError

X, Y = load_diabetes(return_X_y=True)
TWO = np.column_stack([Y, X[:, 0] + 0.1 * Y])


def shuffled(folds):
    return KFold(folds, shuffle=True, random_state=0)


def brute_force(model, X, y, splits, weights=None):
    weights = np.ones(len(y)) if weights is None else weights
    errors, densities = [], []
    for train, test in splits:
        model.fit(X[train], y[train], weights[train])
        targets = y[test].reshape(len(test), -1)
        away = targets - model.predict(X[test]).reshape(targets.shape)
        errors.append(np.average((away**2).mean(axis=1), weights=weights[test]))
        density = model.predictive(X[test]).log_density(targets).sum(axis=1)
        densities.append(np.average(density, weights=weights[test]))
    return np.array(errors), np.array(densities)


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        LinearRegression(fit_intercept=False),
        BayesianLinearRegression(),
        BayesianLinearRegression(0.5, noise_variance=3000.0),
        BayesianLinearRegression(np.inf),
    ],
    ids=str,
)
@pytest.mark.parametrize("y", [Y, TWO], ids=["one target", "two targets"])
def test_scores_are_those_of_refits(model, y):
    found = model.cross_validate(X, y, 4)
    errors, densities = brute_force(model, X, y, list(shuffled(4).split(X)))
    np.testing.assert_allclose(found.squared_error[0], errors, rtol=1e-8)
    np.testing.assert_allclose(found.log_density[0], densities, rtol=1e-8)


def test_weights_groups_and_splitters_are_respected():
    weights = np.random.default_rng(0).integers(1, 4, len(Y)) / 2
    groups = np.arange(len(Y)) % 7
    model = BayesianLinearRegression()
    found = model.cross_validate(X, Y, 3, groups=groups, sample_weight=weights)
    splits = list(GroupKFold(3, shuffle=True, random_state=0).split(X, Y, groups))
    errors, densities = brute_force(model, X, Y, splits, weights)
    np.testing.assert_allclose(found.squared_error[0], errors, rtol=1e-8)
    np.testing.assert_allclose(found.log_density[0], densities, rtol=1e-8)
    once = ShuffleSplit(1, test_size=0.3, random_state=0)
    np.testing.assert_allclose(
        model.cross_validate(X, Y, once).squared_error[0],
        brute_force(model, X, Y, list(once.split(X)))[0],
        rtol=1e-8,
    )


@pytest.mark.parametrize("model", [LinearRegression(), BayesianLinearRegression()], ids=str)
def test_rows_that_stand_in_an_order_make_folds_as_good_as_any(model):
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 3, 200))
    y = np.exp(x) + rng.normal(scale=0.1, size=200)  # no line: it fails where it was not fitted
    rows, mixed = x[:, None], rng.permutation(200)
    in_order, at_random = (
        model.cross_validate(rows[some], y[some]).mean_squared_error[0]
        for some in (np.arange(200), mixed)
    )
    runs = model.cross_validate(rows, y, shuffle=False).mean_squared_error[0]
    assert in_order == pytest.approx(at_random, rel=0.1)
    assert runs > 2 * in_order
    expected = brute_force(model, rows, y, list(KFold(5).split(rows)))[0].mean()
    assert runs == pytest.approx(expected, rel=1e-8)
    others = model.cross_validate(rows, y, random_state=4).mean_squared_error[0]
    assert others != in_order


def test_many_settings_cost_one_counting_pass(monkeypatch):
    from suffice.linear_model import cross_validation

    calls = []
    count = cross_validation.count_pairs_by_code

    def counting(rows):
        calls.append(rows.shape[0])
        return count(rows)

    monkeypatch.setattr(cross_validation, "count_pairs_by_code", counting)
    found = BayesianLinearRegression().cross_validate(
        X, Y, 5, prior_scale=[0.01, 0.3, "evidence"], standardize=[True, False]
    )
    assert calls == [442]
    assert len(found.settings) == 6
    assert found.best == found.settings[int(np.argmax(found.mean_log_density))]


def test_rows_with_gaps_are_predicted_but_not_learned():
    gappy = X.copy()
    gappy[::9, 2] = np.nan
    found = LinearRegression().cross_validate(gappy, Y, 3)
    assert np.isfinite(found.squared_error).all()
    train, test = next(shuffled(3).split(X))
    whole = train[~np.isnan(gappy[train]).any(axis=1)]
    model = LinearRegression().fit(gappy[whole], Y[whole])
    expected = np.square(model.predict(gappy[test]) - Y[test]).mean()
    assert found.squared_error[0, 0] == pytest.approx(expected, rel=1e-9)


def test_settings_without_a_density_are_compared_by_their_error():
    found = LinearRegression().cross_validate(X, Y, 4, positive=[True, False])
    assert np.isnan(found.mean_log_density).tolist() == [True, False]
    assert found.best == {"positive": False}
    assert "positive=False" in str(found).splitlines()[1]


def test_the_model_stays_as_it_was():
    model = LinearRegression().fit(X, Y)
    before = dict(vars(model))
    model.cross_validate(X[:100], Y[:100], 3)
    assert vars(model) == before


def test_too_many_folds_are_refused():
    with pytest.raises(InputError, match="900 folds of 442 rows"):
        LinearRegression().cross_validate(X, Y, 900)
