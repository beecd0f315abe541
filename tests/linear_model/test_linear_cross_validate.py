"""Cross-validation of regressions: what refits on every training set say, from one pass."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression as PeerRegression
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
    from suffice.linear_model import validation

    calls = []
    count = validation.count_pairs_by_code

    def counting(rows):
        calls.append(rows.shape[0])
        return count(rows)

    monkeypatch.setattr(validation, "count_pairs_by_code", counting)
    found = BayesianLinearRegression().cross_validate(
        X, Y, 5, prior_scale=[0.01, 0.3, "evidence"], standardize=[True, False]
    )
    assert calls == [442]
    assert len(found.settings) == 6


def test_rows_with_missing_values_are_predicted_but_not_learned():
    incomplete = X.copy()
    incomplete[::9, 2] = np.nan
    found = LinearRegression().cross_validate(incomplete, Y, 3)
    assert np.isfinite(found.squared_error).all()
    train, test = next(shuffled(3).split(X))
    whole = train[~np.isnan(incomplete[train]).any(axis=1)]
    model = LinearRegression().fit(incomplete[whole], Y[whole])
    expected = np.square(model.predict(incomplete[test]) - Y[test]).mean()
    assert found.squared_error[0, 0] == pytest.approx(expected, rel=1e-9)


def test_the_best_setting_has_the_highest_density_though_another_has_less_error():
    # A noise variance far too low shrinks less, which predicts better, and promises far too much.
    tried = [BayesianLinearRegression(0.3, noise_variance=variance) for variance in (300.0, 3000.0)]
    splits = list(KFold(5).split(X))
    refits = [brute_force(model, X, Y, splits) for model in tried]
    errors, densities = np.array([(e.mean(), d.mean()) for e, d in refits]).T
    assert errors[0] < errors[1]
    assert densities[0] < densities[1]
    found = tried[0].cross_validate(X, Y, KFold(5), noise_variance=[300.0, 3000.0])
    assert found.best == {"noise_variance": 3000.0}
    assert "3000.0" in str(found).splitlines()[1]


@pytest.mark.parametrize("slope", [0.2, -1.0], ids=["positive slopes", "negative slopes"])
def test_settings_without_a_density_are_compared_by_their_error(slope):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 12))
    targets = rows @ np.full(12, slope) + rng.normal(scale=2.0, size=40)
    splits = list(KFold(4).split(rows))

    def error(positive):
        model = PeerRegression(positive=positive)
        away = [
            model.fit(rows[train], targets[train]).predict(rows[test]) - targets[test]
            for train, test in splits
        ]
        return np.mean(np.square(away))

    better = bool(error(True) < error(False))
    assert better == (slope > 0)
    found = LinearRegression().cross_validate(rows, targets, KFold(4), positive=[False, True])
    assert np.isnan(found.mean_log_density).tolist() == [False, True]
    assert found.best == {"positive": better}
    assert f"positive={better}" in str(found).splitlines()[1]


# ---- missing targets

THREE_FOLDS = np.repeat([0, 1, 2], 30)


def missing_in_the_first_fold(how_many, weights=None):
    """Return 90 rows in three folds of 30, the first without so many targets, and their refits."""
    rng = np.random.default_rng(3)
    rows, noise = rng.normal(size=(90, 2)), rng.normal(size=90)
    targets = rows @ [1.0, 2.0] + noise
    targets[:2] += 4.0
    targets[30 - how_many : 30] = np.nan
    known = np.flatnonzero(~np.isnan(targets))
    splits = [
        (known[THREE_FOLDS[known] != fold], known[THREE_FOLDS[known] == fold]) for fold in range(3)
    ]
    splits = [(train, test) for train, test in splits if len(test)]
    model = BayesianLinearRegression()
    return rows, targets, splits, brute_force(model, rows, targets, splits, weights)


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_a_fold_weighs_as_much_as_its_rows_that_have_a_target(weighted):
    weights = np.random.default_rng(4).uniform(0.5, 2.0, 90) if weighted else None
    rows, targets, splits, (errors, densities) = missing_in_the_first_fold(28, weights)
    found = BayesianLinearRegression().cross_validate(
        rows, targets, THREE_FOLDS, sample_weight=weights
    )
    heavy = np.ones(90) if weights is None else weights
    sizes = [heavy[test].sum() for _, test in splits]
    np.testing.assert_allclose(found.fold_weights, sizes, rtol=1e-12)
    np.testing.assert_allclose(found.squared_error[0], errors, rtol=1e-9)
    # The mean over all rows that were predicted, whichever fold they are in.
    assert found.mean_squared_error[0] == pytest.approx(np.average(errors, weights=sizes))
    assert found.mean_log_density[0] == pytest.approx(np.average(densities, weights=sizes))


@pytest.mark.parametrize("model", [LinearRegression(), BayesianLinearRegression()], ids=str)
def test_a_fold_without_targets_has_weight_zero_and_no_scores(model):
    rows, targets, splits, _ = missing_in_the_first_fold(30)
    errors, densities = brute_force(model, rows, targets, splits)
    found = model.cross_validate(rows, targets, THREE_FOLDS, fit_intercept=[True, False])
    assert found.fold_weights.tolist() == [0.0, 30.0, 30.0]
    assert np.isnan(found.squared_error[:, 0]).all()
    assert np.isnan(found.log_density[:, 0]).all()
    np.testing.assert_allclose(found.squared_error[0, 1:], errors, rtol=1e-9)
    assert found.mean_squared_error[0] == pytest.approx(errors.mean())
    assert found.mean_log_density[0] == pytest.approx(densities.mean())
    assert found.best == found.settings[int(np.argmax(found.mean_log_density))]


def test_a_fold_whose_rows_weigh_nothing_is_one_without_targets():
    rows, targets, _, _ = missing_in_the_first_fold(0)
    weights = (THREE_FOLDS > 0).astype(float)
    light = LinearRegression().cross_validate(rows, targets, THREE_FOLDS, sample_weight=weights)
    rows, targets, _, _ = missing_in_the_first_fold(30)
    gone = LinearRegression().cross_validate(rows, targets, THREE_FOLDS)
    np.testing.assert_allclose(light.squared_error, gone.squared_error, rtol=1e-12)
    np.testing.assert_array_equal(light.fold_weights, gone.fold_weights)


@pytest.mark.parametrize("model", [LinearRegression(), BayesianLinearRegression()], ids=str)
def test_folds_that_leave_nothing_to_learn_or_to_score_are_refused_by_name(model):
    targets = np.where(THREE_FOLDS == 0, X[:90, 0], np.nan)
    with pytest.raises(InputError, match="No row outside fold 0 can be learned"):
        model.cross_validate(X[:90, :2], targets, THREE_FOLDS)
    with pytest.raises(InputError, match="No row of any fold has a target"):
        model.cross_validate(X[:90, :2], np.full(90, np.nan), THREE_FOLDS)


def test_the_model_stays_as_it_was():
    model = LinearRegression().fit(X, Y)
    before = dict(vars(model))
    model.cross_validate(X[:100], Y[:100], 3)
    assert vars(model) == before


def test_too_many_folds_are_refused():
    with pytest.raises(InputError, match="900 folds of 442 rows"):
        LinearRegression().cross_validate(X, Y, 900)
