"""Inputs on which other libraries were seen to fail; each test says whose failure it is."""

import numpy as np
import pytest
import sklearn.naive_bayes as sklearns
from sklearn.metrics import accuracy_score

from suffice.errors import DebtError, InputError
from suffice.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    PoissonNB,
)
from suffice.tally import Counts, Events, Groups, Moments


def moments(values):
    values = np.asarray(values, float)
    return Moments(
        [float(len(values))],
        [values[0]],
        [(values - values[0]).sum()],
        [((values - values[0]) ** 2).sum()],
    )


# ---- scikit-learn


@pytest.mark.parametrize("estimate", ["predictive", "map"])
def test_a_wide_noise_column_does_not_drown_a_narrow_signal(estimate):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 1000)
    signal = 1e-3 * (rng.normal(size=2000) + 4 * y)
    X = np.column_stack([signal, 1e3 * rng.normal(size=2000)])
    test, new = np.arange(2000) % 2 == 0, np.arange(2000) % 2 == 1
    theirs = sklearns.GaussianNB().fit(X[test], y[test])
    assert accuracy_score(y[new], theirs.predict(X[new])) < 0.75
    ours = GaussianNB(estimate=estimate).fit(X[test], y[test])
    assert accuracy_score(y[new], ours.predict(X[new])) > 0.95


def test_smoothing_is_that_of_all_rows_whatever_the_batches():
    rng = np.random.default_rng(1)
    X = np.concatenate([1e-2 * rng.normal(size=(20, 1)), 300 * rng.normal(size=(20, 1)) + 1000])
    y = np.tile([0, 1], 20)
    theirs = sklearns.GaussianNB(var_smoothing=0.1)
    ours = GaussianNB(var_smoothing=0.1)
    for batch in (slice(20), slice(20, 40)):
        theirs.partial_fit(X[batch], y[batch], classes=[0, 1])
        ours.partial_fit(X[batch], y[batch], classes=[0, 1])
    whole = sklearns.GaussianNB(var_smoothing=0.1).fit(X, y)
    assert np.abs(theirs.var_ / whole.var_ - 1).max() > 0.01
    np.testing.assert_allclose(ours.var_, whole.var_, rtol=1e-12)
    np.testing.assert_allclose(ours.epsilon_, whole.epsilon_, rtol=1e-12)
    ours = GaussianNB(var_smoothing=0.1).partial_fit(X[20:], y[20:]).partial_fit(X[:20], y[:20])
    np.testing.assert_allclose(ours.var_, whole.var_, rtol=1e-12)


def test_learning_row_by_row_equals_fit():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 2)) * [1, 100], np.arange(40) % 2
    theirs, ours = sklearns.GaussianNB(var_smoothing=0.1), GaussianNB(var_smoothing=0.1)
    ours.partial_fit(X[:2], y[:2])
    theirs.partial_fit(X[:2], y[:2], classes=[0, 1])
    for i in range(2, 40):
        theirs.partial_fit(X[[i]], y[[i]])
        ours.partial_fit(X[[i]], y[[i]])
    whole = sklearns.GaussianNB(var_smoothing=0.1).fit(X, y)
    assert np.abs(theirs.var_ / whole.var_ - 1).max() > 0.5
    np.testing.assert_allclose(ours.var_, whole.var_, rtol=1e-11)


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB"])
def test_a_mistyped_label_is_not_learned_as_another_class(name):
    X, y = np.array([[1, 0], [0, 1]]), ["ham", "spam"]
    theirs = getattr(sklearns, name)().partial_fit(X, y, classes=["ham", "spam"])
    theirs.partial_fit(X[1:], ["Spam"])
    assert theirs.class_count_.tolist() == [2.0, 1.0]  # learned as ham
    kind = {
        "BernoulliNB": BernoulliNB,
        "MultinomialNB": MultinomialNB,
        "ComplementNB": ComplementNB,
        "CategoricalNB": CategoricalNB,
    }[name]
    closed = kind().partial_fit(X, y, classes=["ham", "spam"])
    with pytest.raises(InputError, match=r"\['Spam'\] in y do not exist.*first in row 0"):
        closed.partial_fit(X[1:], ["Spam"])
    assert closed.class_count_.tolist() == [1.0, 1.0]
    opened = kind().partial_fit(X, y).partial_fit(X[1:], ["Spam"])
    assert opened.new_classes_.tolist() == ["Spam"]
    assert opened.class_count_.tolist() == [1.0, 1.0, 1.0]


def test_a_row_with_an_unknown_label_is_not_dropped_silently():
    X, y = np.eye(3), ["a", "b", "c"]
    theirs = sklearns.MultinomialNB().partial_fit(X, y, classes=y).partial_fit(X[:1], ["B"])
    assert theirs.class_count_.sum() == 3.0
    ours = MultinomialNB().partial_fit(X, y, classes=y)
    with pytest.raises(InputError, match="'B'"):
        ours.partial_fit(X[:1], ["B"])
    assert MultinomialNB().fit(X, y).partial_fit(X[:1], ["B"]).class_count_.sum() == 4.0


def test_an_unseen_category_is_predicted_without_an_error():
    # scikit-learn: IndexError; wnb: a row of NaN
    X, y = np.array([[0, 1], [1, 0], [1, 1]]), [0, 1, 1]
    with pytest.raises(IndexError):
        sklearns.CategoricalNB().fit(X, y).predict([[5, 1]])
    proba = CategoricalNB().fit(X, y).predict_proba([[5, 1], [5, 9]])
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_unlearning_is_a_method_and_not_a_negative_weight():
    X, y = np.array([[1, 0], [0, 1], [2, 2]]), [0, 1, 1]
    model = MultinomialNB().fit(X, y)
    with pytest.raises(InputError, match="Weight -1 in row 0"):
        model.partial_fit(X[2:], y[2:], sample_weight=[-1.0])
    model.forget(X[2:], y[2:])
    np.testing.assert_array_equal(
        model.feature_count_, MultinomialNB().fit(X[:2], y[:2]).feature_count_
    )


# ---- river


def test_far_points_are_classified_by_tails_not_by_a_variance_floor():
    # with 1e-9 added to each density, x = 10 is 0.496 to 0.504 and x = 20 is a tie
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(500, 1)), 3 + rng.normal(size=(500, 1))])
    y = np.repeat([0, 1], 500)
    model = GaussianNB(tie="class").fit(X, y)
    far = np.array([[10.0], [20.0], [1e3], [1e6], [-1e6]])
    assert model.predict(far).tolist() == [1, 1, 1, 1, 0]
    log_odds = np.diff(model.predict_joint_log_proba(far), axis=1)[:, 0]
    slope = (model.theta_[1] - model.theta_[0]) / model.var_[0]
    middle = model.theta_.mean()
    np.testing.assert_allclose(log_odds, slope * (far[:, 0] - middle), rtol=1e-6)
    assert (model.predict_proba(far)[:4, 1] > 1 - 1e-6).all()


def test_one_missing_value_does_not_spoil_a_feature():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(50, 2)) + 5, np.arange(50) % 2
    gappy = X.copy()
    gappy[7, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        sklearns.GaussianNB().fit(gappy, y)
    model = GaussianNB(var_smoothing=0.0).fit(gappy, y)
    kept = np.arange(50) != 7
    alone = GaussianNB(var_smoothing=0.0).fit(X[kept], y[kept])
    np.testing.assert_allclose(model.theta_[:, 0], alone.theta_[:, 0], rtol=1e-12)
    whole = GaussianNB(var_smoothing=0.0).fit(X, y)
    np.testing.assert_allclose(model.theta_[:, 1], whole.theta_[:, 1], rtol=1e-12)
    assert np.isfinite(model.predict_proba(gappy)).all()
    with_none = gappy.astype(object)
    with_none[7, 0] = None
    np.testing.assert_array_equal(
        GaussianNB().fit(with_none, y).theta_, GaussianNB().fit(gappy, y).theta_
    )


def test_zero_plus_zero_is_zero():
    tallies = [
        moments([1.0, 2.0]),
        Counts([1.0, 2.0]),
        Events(1.0, 2.0, 0.5),
        Groups(["a"], [2.0], Counts([[1.0, 1.0]])),
    ]
    for tally in tallies:
        zero = tally.zero()
        assert (zero + zero).allclose(zero)
        assert (zero + tally).allclose(tally)
        assert (zero - zero).allclose(zero)
        with pytest.raises(DebtError):
            zero - tally


# ---- fritzo/distributions, algebird


def test_a_value_learned_four_times_at_once_is_four_values():
    # {1, 3}, then 5 four times: the mean is 4 and the sum of squares 14
    model = GaussianNB(var_smoothing=0.0, priors=[0.5, 0.5])
    model.fit([[1.0], [3.0], [0.0], [1.0]], [0, 0, 1, 1])
    model.partial_fit([[5.0]], [0], sample_weight=[4.0])
    np.testing.assert_allclose(model.theta_[0], [4.0])
    np.testing.assert_allclose(model.var_[0], [14.0 / 6.0])
    total = moments([1.0, 3.0]) + moments([5.0]).scale(4)
    np.testing.assert_allclose(total.scatter(), [14.0])


def test_moments_are_a_group_wherever_no_debt_arises():
    # A holds B and C holds B too, so that each grouping only subtracts what is there
    rng = np.random.default_rng(5)
    b = 7 + rng.normal(size=6)
    a = np.concatenate([b, rng.normal(size=5)])
    c = np.concatenate([100 + rng.normal(size=4), b])
    left = (moments(a) - moments(b)) + moments(c)
    right = moments(a) + (moments(c) - moments(b))
    assert left.allclose(right, 1e-10)
    rows = np.concatenate([a[6:], c])
    np.testing.assert_allclose(left.mean(), [rows.mean()], rtol=1e-12)
    np.testing.assert_allclose(left.variance(), [rows.var()], rtol=1e-10)
    models = {
        name: GaussianNB(var_smoothing=0.1).fit(
            np.tile(values, 2)[:, None], np.repeat([0, 1], len(values))
        )
        for name, values in {"a": a, "c": c}.items()
    }
    forgotten, labels = np.tile(b, 2)[:, None], np.repeat([0, 1], 6)
    first = models["a"] + models["c"]
    one = models["a"].forget(forgotten, labels) + models["c"]
    two = first.forget(forgotten, labels)
    np.testing.assert_allclose(one.var_, two.var_, rtol=1e-10)


# ---- pomegranate, Spark


def test_single_precision_far_from_zero_has_its_variance():
    # raw moments in float32 gave the covariance [[0, -8], [-8, 16]]
    rng = np.random.default_rng(6)
    X = (1e4 + rng.normal(size=(2000, 2))).astype(np.float32)
    y = np.arange(2000) % 2
    model = GaussianNB(var_smoothing=0.0).fit(X, y)
    for c in range(2):
        wanted = X[y == c].astype(np.float64).var(axis=0)
        np.testing.assert_allclose(model.var_[c], wanted, rtol=1e-9)


def test_variances_are_not_mean_squares_minus_squared_means():
    rng = np.random.default_rng(7)
    X = 1e8 + rng.normal(size=(1000, 1))
    raw = (X**2).mean() - X.mean() ** 2
    assert abs(raw - 1) > 0.5  # what Spark computes
    with pytest.warns(UserWarning, match="one class only"):
        model = GaussianNB(var_smoothing=0.0).fit(X, np.zeros(1000))
    np.testing.assert_allclose(model.var_[0], np.var(X - 1e8, axis=0), rtol=1e-9)


def test_draws_have_the_standard_deviation_of_the_model():
    rng = np.random.default_rng(8)
    X, y = 2.0 * rng.normal(size=(4000, 1)), np.arange(4000) % 2
    drawn, _ = GaussianNB().fit(X, y).sample(20_000, random_state=0)
    np.testing.assert_allclose(drawn.std(), 2.0, rtol=0.05)


# ---- mixed-naive-bayes, cuML


def test_hundreds_of_features_do_not_underflow():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(60, 300)) * 1e3, np.arange(60) % 2
    X[y == 1] += 400
    with np.errstate(under="ignore", invalid="ignore"):
        assert np.exp(sklearns.GaussianNB().fit(X, y).predict_joint_log_proba(X)).max() == 0.0
    for model in (GaussianNB(), GaussianNB(estimate="predictive", tie="class")):
        proba = model.fit(X, y).predict_proba(X)
        assert np.isfinite(proba).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    counts = rng.poisson(5, (60, 300))
    for model in (MultinomialNB(), PoissonNB(), BernoulliNB(), CategoricalNB()):
        assert np.isfinite(model.fit(counts, y).predict_proba(counts)).all()


def test_a_batch_without_all_classes_updates_the_right_ones():
    rng = np.random.default_rng(10)
    X, y = rng.poisson(3, (30, 4)), np.repeat([0, 1, 2], 10)
    for kind in (BernoulliNB, MultinomialNB, ComplementNB, CategoricalNB, PoissonNB, GaussianNB):
        model = kind()
        for label in (2, 0, 1):
            model.partial_fit(X[y == label], y[y == label], classes=[0, 1, 2])
        whole = kind().fit(X, y)
        assert model.classes_.tolist() == [0, 1, 2]
        np.testing.assert_allclose(
            model.predict_joint_log_proba(X), whole.predict_joint_log_proba(X), rtol=1e-10
        )
