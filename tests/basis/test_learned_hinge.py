"""Hinges of given directions, and hinges whose directions are learned."""

import re

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import suffice
from suffice import BayesianLinearRegression, Hinge, LearnedHinge, RandomHinge
from suffice.basis.hinge_fit import Evidence, Likelihood, standardize, value_and_gradient
from suffice.errors import InputError

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 3)) * [1.0, 5.0, 0.1] + [0.0, 40.0, -3.0]
NUMBERS = np.abs(ROWS[:, 0]) + 0.1 * RNG.normal(size=60)
LABELS = np.where(np.abs(ROWS[:, 0]) > 0.7, "far", "near")


def angle(one, other):
    """Return the angle between two directions, in degrees."""
    cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


# ---- given directions


def test_given_directions_are_hinges_of_whole_rows():
    weights = np.array([[1.0, -2.0, 0.5], [0.0, 0.1, 0.0]])
    found = Hinge(weights=weights).fit(ROWS).transform(ROWS)
    by_hand = [
        [max(0.0, sum(w * x for w, x in zip(d, row, strict=True))) for d in weights] for row in ROWS
    ]
    np.testing.assert_allclose(found, by_hand, rtol=1e-12)
    names = Hinge(weights=weights).fit(ROWS).get_feature_names_out().tolist()
    assert names == ["max(0, w0.x)", "max(0, w1.x)"]


def test_given_directions_keep_missing_values_and_come_back_from_a_file(tmp_path):
    model = Hinge(weights=[[1.0, -1.0]]).fit([[1.0, 2.0]])
    model.save(tmp_path / "hinge.safetensors")
    again = suffice.load(tmp_path / "hinge.safetensors")
    rows = [[3.0, 1.0], [1.0, np.nan]]
    np.testing.assert_array_equal(again.transform(rows), [[2.0], [np.nan]])
    np.testing.assert_array_equal(again.transform(rows), model.transform(rows))
    assert [knots.size for knots in again.knots_] == [0, 0]


@pytest.mark.parametrize("weights", [[1.0, 2.0], [[1.0, 2.0]], np.empty((0, 3))])
def test_directions_of_other_columns_are_refused(weights):
    with pytest.raises(InputError, match=re.escape("Give an array of shape (n_directions, 3)")):
        Hinge(weights=weights).fit(ROWS)


def test_directions_are_finite():
    with pytest.raises(InputError, match="weights holds nan"):
        Hinge(weights=[[1.0, np.nan, 0.0]]).fit(ROWS)


# ---- objectives


@pytest.mark.parametrize("objective", ["evidence", "likelihood"])
def test_gradients_are_those_of_finite_differences(objective):
    rows = (ROWS - ROWS.mean(axis=0)) / ROWS.std(axis=0)
    rng = np.random.default_rng(1)
    if objective == "evidence":
        value = Evidence(NUMBERS - NUMBERS.mean(), 2.0)
        params = np.array([0.4])
    else:
        value = Likelihood((rng.integers(3, size=60)[:, None] == np.arange(3)).astype(float), 0.7)
        params = rng.normal(size=3 * 5)
    point = np.concatenate([rng.normal(size=4 * 4), params])
    _, gradient = value_and_gradient(rows, point, 4, value)
    numeric = approx_fprime(point, lambda at: value_and_gradient(rows, at, 4, value)[0], 1e-7)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-4)


def test_a_hinge_that_no_row_opens_has_no_gradient():
    columns, pull_back = standardize(np.column_stack([np.zeros(5), np.arange(5.0)]))
    assert not columns[:, 0].any()
    assert not pull_back(np.ones((5, 2)) * np.arange(5.0)[:, None])[:, 0].any()


def test_the_objective_is_the_evidence_of_the_regression_on_the_hinges():
    model = LearnedHinge(2, restarts=3, random_state=0).fit(ROWS, NUMBERS)
    regression = BayesianLinearRegression().fit(model.transform(ROWS), NUMBERS)
    assert model.objective_ == pytest.approx(regression.log_evidence_, abs=1e-6)


def test_the_objective_is_the_likelihood_of_the_logistic_regression_on_the_hinges():
    model = LearnedHinge(
        2, objective="likelihood", C=3.0, restarts=3, max_iter=2000, random_state=0
    )
    columns = StandardScaler().fit_transform(model.fit(ROWS, LABELS).transform(ROWS))
    peer = Peer(C=3.0, tol=1e-10, max_iter=10_000).fit(columns, LABELS)
    # Two classes of softmax share what one vector of logistic regression has, at half the penalty.
    likelihood = peer.predict_log_proba(columns)[
        np.arange(60), (LABELS == "near").astype(int)
    ].sum()
    best = Peer(C=6.0, tol=1e-10, max_iter=10_000).fit(columns, LABELS)
    value = best.predict_log_proba(columns)[np.arange(60), (LABELS == "near").astype(int)].sum()
    value -= np.square(best.coef_).sum() / (2 * 6.0)
    assert model.objective_ == pytest.approx(value, abs=1e-3)
    assert likelihood < 0


def test_the_best_of_more_starts_is_no_worse():
    values = [
        LearnedHinge(3, restarts=count, random_state=4).fit(ROWS, NUMBERS).objective_
        for count in (1, 4, 12)
    ]
    assert values == sorted(values)
    random = RandomHinge(3, random_state=4).fit_transform(ROWS)
    assert values[0] > BayesianLinearRegression().fit(random, NUMBERS).log_evidence_


# ---- what is recovered and predicted


@pytest.mark.parametrize("seed", range(5))
def test_the_direction_of_one_hinge_is_recovered_within_five_degrees(seed):
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=5)
    X = rng.normal(size=(500, 5))
    y = np.maximum(0.0, X @ direction / np.linalg.norm(direction)) + 0.3 * rng.normal(size=500)
    # In units of its own each: directions are those of the columns as they are given.
    units = np.array([1.0, 100.0, 1e-3, 7.0, 1.0])
    model = LearnedHinge(1, restarts=4, random_state=seed).fit(X * units, y)
    assert angle(model.directions_[0] * units, direction) < 5


def held_out_gain(seed, rows=300, columns=5, hinges=5):
    """Return by how much learned hinges predict new rows better than as many random ones, nats."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows + 500, columns))
    y = np.maximum(0.0, X @ rng.normal(size=(columns, 3))) @ rng.normal(size=3)
    y = y / y.std() + 0.3 * rng.normal(size=len(y))
    found = []
    for basis in (
        LearnedHinge(hinges, restarts=3, random_state=seed),
        RandomHinge(hinges, random_state=seed),
    ):
        phi = basis.fit(X[:rows], y[:rows]).transform
        regression = BayesianLinearRegression().fit(phi(X[:rows]), y[:rows])
        new = regression.predictive(phi(X[rows:])).log_density(y[rows:, None])
        found.append(new.sum())
    return found[0] - found[1]


def test_learned_hinges_have_more_held_out_evidence_than_random_ones_for_nine_of_ten_seeds():
    assert sum(held_out_gain(seed) > 0 for seed in range(10)) >= 9


def test_learned_hinges_divide_classes_that_no_line_does():
    rng = np.random.default_rng(3)
    X, new = rng.normal(size=(2, 400, 2))

    def ring(rows):
        return np.where(np.abs(rows @ [0.8, 0.6]) < 0.7, "inside", "outside")

    def accuracy(basis):
        model = make_pipeline(basis, StandardScaler(), Peer())
        return model.fit(X, ring(X)).score(new, ring(new))

    learned = accuracy(LearnedHinge(3, objective="likelihood", C=100.0, restarts=4, random_state=0))
    assert learned > 0.93
    assert learned > accuracy(RandomHinge(3, random_state=0)) + 0.05


def test_several_classes_are_learned():
    X, y = load_iris(return_X_y=True)
    model = LearnedHinge(2, objective="likelihood", restarts=2, random_state=0).fit(X, y)
    assert Peer(max_iter=1000).fit(model.transform(X), y).score(model.transform(X), y) > 0.95


# ---- the estimator


def test_the_same_seed_gives_the_same_hinges_and_a_file_too(tmp_path):
    model = LearnedHinge(2, restarts=2, random_state=3).fit(ROWS, NUMBERS)
    again = clone(model).fit(ROWS, NUMBERS)
    np.testing.assert_array_equal(model.weights_, again.weights_)
    model.save(tmp_path / "learned.safetensors")
    loaded = suffice.load(tmp_path / "learned.safetensors")
    np.testing.assert_array_equal(loaded.transform(ROWS), model.transform(ROWS))
    assert loaded.objective_ == model.objective_


def test_units_do_not_matter():
    one = LearnedHinge(2, restarts=2, random_state=3).fit(ROWS, NUMBERS)
    other = LearnedHinge(2, restarts=2, random_state=3).fit(ROWS * 1e3 + 1e6, 1e4 * NUMBERS)
    np.testing.assert_allclose(one.weights_, other.weights_, atol=1e-3)


def test_rows_with_missing_values_are_left_out():
    X, y = ROWS.copy(), NUMBERS.copy()
    X[3, 1], y[5] = np.nan, np.nan
    found = LearnedHinge(1, restarts=2, random_state=0).fit(X, y)
    assert np.isnan(found.transform(X)[3]).all()
    assert np.isfinite(found.transform(X)[[0, 1, 2, 4, 5]]).all()


def test_targets_without_noise_and_repeated_hinges_are_learned():
    y = np.maximum(0.0, ROWS[:, 0])
    model = LearnedHinge(4, restarts=2, random_state=0).fit(ROWS[:, :1], y)
    regression = BayesianLinearRegression().fit(model.transform(ROWS[:, :1]), y)
    assert np.abs(regression.predict(model.transform(ROWS[:, :1])) - y).max() < 0.01


def test_what_cannot_be_learned_is_refused():
    words = "10 hinges of 3 columns have 40 weights and offsets for n_samples = 30 rows"
    with pytest.raises(InputError, match=words):
        LearnedHinge(10).fit(ROWS[:30], NUMBERS[:30])
    with pytest.raises(InputError, match="requires y to be passed"):
        LearnedHinge(1).fit(ROWS)
    with pytest.raises(InputError, match="y does not vary in the n_samples = 60 rows"):
        LearnedHinge(1).fit(ROWS, np.ones(60))
    with pytest.raises(InputError, match="y has 2 targets"):
        LearnedHinge(1).fit(ROWS, ROWS[:, :2])
    with pytest.raises(InputError, match=r"y has 1 class, \['far'\]"):
        LearnedHinge(1, objective="likelihood").fit(ROWS, ["far"] * 60)
