"""Gaussian naive Bayes without a row is what a fit without the row would be."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import load_iris

from left_out_cases import (
    CONDITIONS,
    assert_same,
    in_condition,
    left_out,
    measured,
    refitted,
    some_rows,
)
from naive_bayes_cases import TIES
from suffice.naive_bayes import GaussianNB
from suffice.prior import NormalInverseGamma

ESTIMATES = ["mle", "map", "predictive"]


def of_classes(prior, classes, left):
    """Return the prior of the classes that are left, the first axis of its fields."""
    kept = np.isin(classes, left)

    def part(field):
        return field[kept] if field.ndim == 2 and len(field) > 1 else field

    fields = (prior.location, prior.pseudo_rows, prior.shape, prior.scale)
    return NormalInverseGamma(*map(part, fields), prior.shared)


def check(model, X, y, w, numbers):
    found = left_out(model, X, y, w)

    def make(left):
        again = GaussianNB(**model.get_params())
        if model.estimate != "mle":
            again.prior = of_classes(model.prior_, model.classes_, left)
        return again

    assert_same(found[numbers], refitted(make, X, y, w, numbers))


@pytest.mark.slow
@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("data", ["iris", "wine", "digits", "cancer"])
def test_a_row_left_out_is_a_row_not_learned(data, condition, estimate, tie):
    X, y, w = in_condition(*measured(data), condition)
    check(GaussianNB(estimate=estimate, tie=tie), X, y, w, some_rows(y))


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_every_row_of_iris_left_out_is_a_row_not_learned(estimate):
    X, y = load_iris(return_X_y=True)
    check(GaussianNB(estimate=estimate), X, y, None, np.arange(len(y)))


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("estimate", ESTIMATES)
def test_rows_far_from_zero_keep_their_digits(estimate, tie):
    X, y = measured("wine")
    check(GaussianNB(estimate=estimate, tie=tie), X + 1e8, y, None, some_rows(y))


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("smoothing", [0.0, 1e-9, 0.5])
def test_the_smoothing_is_that_of_the_other_rows(smoothing, tie):
    X, y, _ = in_condition(*measured("wine"), "few")
    X[5, 4] = 1e5  # a row that makes its column the widest of all
    check(GaussianNB(var_smoothing=smoothing, tie=tie), X, y, None, some_rows(y))


@pytest.mark.slow
@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("estimate", ESTIMATES)
def test_a_row_that_is_all_the_scatter_leaves_no_rounding_behind(estimate, tie):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[0, 0] = 1e4  # what is left of its class's scatter is a ten-millionth
    X[20:, 1], X[20, 1] = 0.1, 5.0  # without row 20 nothing varies
    y, w = np.repeat([0, 1], 20), np.ones(40)
    w[21] = 1e7
    for weights in (None, w):
        check(GaussianNB(estimate=estimate, tie=tie), X, y, weights, np.array([0, 1, 20, 21, 22]))


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("estimate", ESTIMATES)
def test_a_row_at_ten_million_is_left_out_to_the_rounding_of_its_scores(estimate, tie):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.repeat([0, 1], 20)
    X[0, 0] = 1e7
    model = GaussianNB(estimate=estimate, tie=tie)
    found = left_out(model, X, y, None)
    again = clone(model)
    if estimate != "mle":
        again.prior = model.prior_
    again.fit(X[1:], y[1:])
    # Scores of 1e8 and more are known to their last digit, and so is their difference.
    last_digit = np.spacing(np.abs(again.predict_joint_log_proba(X[:1])).max())
    wanted = again.predict_log_proba(X[:1])[0]
    np.testing.assert_allclose(found[0], wanted, rtol=1e-9, atol=1e-9 + 4 * last_digit)


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_a_column_that_a_class_shows_once_is_taken_from_the_others(estimate):
    X, y, _ = in_condition(*measured("iris"), "plain")
    X[np.flatnonzero(y == 1)[1:], 3] = np.nan
    X[y == 2, 2] = np.nan
    numbers = np.r_[np.flatnonzero(y == 1)[:2], some_rows(y)]
    check(GaussianNB(estimate=estimate), X, y, None, numbers)


def test_given_class_probabilities_stay():
    X, y = measured("wine")
    check(GaussianNB(priors=[0.7, 0.2, 0.1]), X, y, None, some_rows(y))


def test_single_precision_and_whole_numbers_are_read_as_they_are():
    X, y = measured("digits")
    check(GaussianNB(), X.astype(np.float32), y, None, some_rows(y))
    check(GaussianNB(), X.astype(np.int64), y, None, some_rows(y))


@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.1, 0.4]])
def test_closed_classes_stay_when_their_only_row_is_left_out(priors):
    X, y = measured("iris")
    y = y.copy()
    y[0] = 3
    model = GaussianNB(priors=priors).partial_fit(X, y, classes=[0, 1, 2, 3])
    found = model.leave_one_out(X, y).log_proba
    for number in (0, 1, 60):
        kept = np.arange(len(y)) != number
        again = GaussianNB(priors=priors).partial_fit(X[kept], y[kept], classes=[0, 1, 2, 3])
        with np.errstate(divide="ignore"):
            expected = again.predict_log_proba(X[[number]])[0]
        assert_same(found[number], expected)


def test_a_given_prior_may_differ_from_class_to_class():
    X, y, _ = in_condition(*measured("iris"), "few")
    prior = NormalInverseGamma(np.linspace(1, 5, 5)[:, None], 2.0, 1.5, np.ones((5, 4)))
    model = GaussianNB(estimate="predictive", prior=prior)
    check(model, X, y, None, some_rows(y))


def test_two_rows_of_two_classes_by_hand():
    """Without a row its class is one point, whose variance is the smoothing alone."""
    X, y = np.array([[0.0], [2.0], [10.0], [14.0]]), np.array([0, 0, 1, 1])
    found = GaussianNB(var_smoothing=0.01).fit(X, y).leave_one_out(X, y).log_proba
    floor = 0.01 * np.var([2.0, 10.0, 14.0])
    joint = [
        np.log(1 / 3) + norm.logpdf(0.0, 2.0, np.sqrt(floor)),
        np.log(2 / 3) + norm.logpdf(0.0, 12.0, np.sqrt(4.0 + floor)),
    ]
    assert_same(found[0], joint - np.logaddexp(*joint))


def test_a_row_of_weight_nothing_is_scored_by_the_model_itself():
    X, y = measured("iris")
    w = np.ones(len(y))
    w[[3, 70]] = 0.0
    model = GaussianNB().fit(X, y, w)
    found = model.leave_one_out(X, y, w).log_proba
    assert_same(found[[3, 70]], model.predict_log_proba(X[[3, 70]]))


def test_ranges_of_rows_do_not_change_the_answers(ranges):
    X, y = measured("digits")
    model = GaussianNB().fit(X, y)
    whole = model.leave_one_out(X, y).log_proba
    ranges(640)
    np.testing.assert_array_equal(model.leave_one_out(X, y).log_proba, whole)


def test_a_row_beyond_all_floats_left_out_is_judged_as_by_a_fit_without_it():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), np.repeat([0, 1], 15)
    prior = NormalInverseGamma(location=0.0, pseudo_rows=1.0, shape=2.0, scale=1.0)
    model = GaussianNB(estimate="predictive", prior=prior)
    X[0] = 1e150, -1e150
    found = left_out(model, X, y, None)
    wanted = clone(model).fit(X[1:], y[1:]).predict_log_proba(X[:1])
    np.testing.assert_allclose(found[:1], wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_accuracy_and_calibration_error_are_those_of_refits_without_each_row(weighted):
    X, y = measured("wine")
    labels = np.array(["red", "rosé", "white", "blush"])[y]
    w = np.random.default_rng(3).choice([0.25, 1.0, 3.0], len(y)) if weighted else None
    model = GaussianNB().fit(X, labels, w)
    found = model.leave_one_out(X, labels, w)
    proba = np.exp(refitted(lambda _: GaussianNB(), X, labels, w, np.arange(len(y))))
    best = model.classes_[proba.argmax(axis=1)]
    np.testing.assert_array_equal(found.predictions, best)
    heavy, right = np.ones(len(y)) if w is None else w, best == labels
    assert 0.5 < right.mean() < 1
    assert found.accuracy == pytest.approx(heavy[right].sum() / heavy.sum())
    # How far the mean probability of the answers is from their accuracy, in ten equal bins.
    sure, error = proba.max(axis=1), 0.0
    for low in range(10):
        mine = (sure >= low / 10) & ((sure < (low + 1) / 10) | (low == 9))
        if mine.any():
            gap = np.average(sure[mine] - right[mine], weights=heavy[mine])
            error += heavy[mine].sum() * abs(gap)
    assert found.calibration_error == pytest.approx(error / heavy.sum(), rel=1e-9)
