"""Discrete naive Bayes without a row is what a fit without the row would be."""

import numpy as np
import pytest

from left_out_cases import (
    CONDITIONS,
    assert_same,
    in_condition,
    left_out,
    measured,
    refitted,
    some_rows,
)
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB, PoissonNB
from suffice.prior import Beta, Dirichlet, Gamma

MODELS = {
    "bernoulli": (BernoulliNB, {"binarize": 3.0}),
    "bernoulli as is": (BernoulliNB, {"binarize": None}),
    "multinomial": (MultinomialNB, {}),
    "categorical": (CategoricalNB, {}),
    "poisson": (PoissonNB, {}),
    "complement": (ComplementNB, {}),
    "complement norm": (ComplementNB, {"norm": True}),
}
READINGS = [
    ("mean", 1.0),
    ("mean", 0.2),
    ("mean", 0.0),
    ("mean", "evidence"),
    ("mle", 1.0),
    ("map", 2.0),
    ("predictive", 0.3),
]


def rows_for(name, condition):
    X, y = measured("digits")
    if name == "bernoulli as is":
        X = np.round(X / 4) / 4  # fractions too
    if name == "categorical":
        X = np.floor(X / 4)
    return in_condition(X, y, condition)


def check(model, X, y, w, numbers):
    found = left_out(model, X, y, w)

    def make(left):
        again = type(model)(**model.get_params())
        return again.set_params(
            alpha=model._fitted.model.features.smoothing.prior
        )  # what evidence chose stays

    assert_same(found[numbers], refitted(make, X, y, w, numbers))


@pytest.mark.slow
@pytest.mark.parametrize(("estimate", "alpha"), READINGS)
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("name", MODELS)
def test_a_row_left_out_is_a_row_not_learned(name, condition, estimate, alpha):
    cls, settings = MODELS[name]
    if cls is ComplementNB and estimate == "predictive":
        estimate = "mean"
    X, y, w = rows_for(name, condition)
    if cls is CategoricalNB and condition == "sparse":
        X = X.toarray()
    check(cls(alpha=alpha, estimate=estimate, **settings), X, y, w, some_rows(y))


@pytest.mark.parametrize(
    "model",
    [
        BernoulliNB(alpha=Beta(2.0, 0.5), binarize=3.0),
        MultinomialNB(alpha=Dirichlet(np.linspace(0.1, 2, 64))),
        ComplementNB(alpha=np.linspace(0.1, 2, 64)),
        PoissonNB(alpha=Gamma(1.5, 2.0), estimate="predictive"),
        PoissonNB(prior_rows=0.0),
        MultinomialNB(fit_prior=False),
        BernoulliNB(class_prior=[0.1, 0.2, 0.3, 0.4]),
    ],
)
def test_given_priors_stay(model):
    X, y, w = rows_for("multinomial", "weighted")
    check(model, X, y, w, some_rows(y))


@pytest.mark.parametrize("fewest", [None, 9])
def test_a_level_that_only_the_row_had_is_no_level_any_more(fewest):
    X, y, _ = rows_for("categorical", "plain")
    X[1, 10], X[2, 11] = 6.0, 8.0  # the highest levels of their columns, once each
    check(CategoricalNB(min_categories=fewest), X, y, None, some_rows(y))


def test_a_class_that_shows_nothing_of_a_column_follows_the_others():
    X, y, _ = rows_for("poisson", "gaps")
    X[y == 1, 20] = np.nan
    check(PoissonNB(estimate="mle"), X, y, None, some_rows(y))


@pytest.mark.parametrize("cls", [MultinomialNB, ComplementNB, BernoulliNB, PoissonNB])
@pytest.mark.parametrize("given", [False, True])
def test_closed_classes_stay_when_their_only_row_is_left_out(cls, given):
    X, y, _ = rows_for("multinomial", "plain")
    y[0] = 9
    classes = [0, 1, 2, 3, 9]
    settings = {"class_prior": [0.1, 0.2, 0.3, 0.1, 0.3]} if given else {}
    found = cls(**settings).partial_fit(X, y, classes=classes).leave_one_out(X, y).log_proba
    for number in (0, 5, 50):
        kept = np.arange(len(y)) != number
        again = cls(**settings).partial_fit(X[kept], y[kept], classes=classes)
        assert_same(found[number], again.predict_log_proba(X[[number]])[0])


def test_a_word_that_no_other_row_has_is_impossible_without_smoothing():
    X, y = np.array([[1, 0], [1, 0], [1, 1], [1, 0]]), np.array([0, 0, 1, 1])
    found = left_out(MultinomialNB(alpha=0.0), X, y, None)
    # No class can have had row 2, so its answer is the prior of the classes without it.
    assert_same(found[2], np.log([2 / 3, 1 / 3]))
    # Class 0 is sure of the word of row 0, class 1 has it in two of three places.
    joint = np.log([1 / 3, 2 / 3]) + np.log([1.0, 2 / 3])
    assert_same(found[0], joint - np.logaddexp(*joint))


def test_a_row_counts_in_the_complement_of_other_classes_only():
    """By hand: class 0 is judged by rows 1 and 2, row 0 itself never was among them."""
    X, y = np.array([[3, 1], [1, 2], [0, 4]]), np.array([0, 1, 1])
    found = left_out(ComplementNB(alpha=1.0), X, y, None)
    # Leaving row 1 out: the complement of class 0 is row 2, that of class 1 is row 0.
    scores = [
        -(np.log(1 / 6) + 2 * np.log(5 / 6)),
        -(np.log(4 / 6) + 2 * np.log(2 / 6)),
    ]
    assert_same(found[1], scores - np.logaddexp(*scores))
    assert found[0].tolist() == [-np.inf, 0.0]  # without row 0 there is no class 0
