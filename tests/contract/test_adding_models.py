"""Models add up: sum() of many, and an error that names settings that differ."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from suffice import (
    BayesianLinearRegression,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    CountVectorizer,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    TextClassifier,
)
from suffice.errors import MergeError

RNG = np.random.default_rng(0)
SIZE = 90
LABELS = np.array(["a", "b", "c"])[RNG.integers(0, 3, SIZE)]
NUMBERS = RNG.normal(size=(SIZE, 3)) + (LABELS == "a")[:, None]
COUNTS = RNG.poisson(2.0, (SIZE, 3))
TEXTS = np.array(
    [" ".join(RNG.choice(["offer", "money", "lunch", "noon"], 6)) for _ in LABELS], object
)
FRAME = pd.DataFrame({"size": NUMBERS[:, 0], "events": COUNTS[:, 0], "colour": LABELS})
PLAIN = {"calibrate": None}
FAMILIES = {"size": "normal", "events": "poisson", "colour": "categorical"}
MODELS = {
    "GaussianNB": (GaussianNB(), NUMBERS),
    "BernoulliNB": (BernoulliNB(), COUNTS),
    "MultinomialNB": (MultinomialNB(), COUNTS),
    "ComplementNB": (ComplementNB(), COUNTS),
    "CategoricalNB": (CategoricalNB(), COUNTS),
    "PoissonNB": (PoissonNB(), COUNTS),
    "LinearDiscriminantAnalysis": (LinearDiscriminantAnalysis(), NUMBERS),
    "QuadraticDiscriminantAnalysis": (QuadraticDiscriminantAnalysis(), NUMBERS),
    "GaussianDiscriminant": (GaussianDiscriminant(), NUMBERS),
    "TextClassifier": (TextClassifier(**PLAIN), TEXTS),
    "GenerativeClassifier": (GenerativeClassifier(FAMILIES, combine="naive"), FRAME),
    "LinearRegression": (LinearRegression(), NUMBERS),
    "BayesianLinearRegression": (BayesianLinearRegression(), NUMBERS),
}


def target_of(case):
    return NUMBERS @ [1.0, 2.0, 3.0] + COUNTS[:, 0] if "Regression" in case else LABELS


def parts_of(case):
    model, rows = MODELS[case]
    target = target_of(case)
    return [clone(model).fit(rows[at::3], target[at::3]) for at in range(3)]


def answers(model, rows):
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)


@pytest.mark.filterwarnings("ignore::suffice.errors.StaleCalibrationWarning")
@pytest.mark.parametrize("case", MODELS)
def test_the_sum_of_models_is_the_model_of_all_rows(case):
    model, rows = MODELS[case]
    parts = parts_of(case)
    before = [answers(part, rows) for part in parts]
    whole = clone(model).fit(rows, target_of(case))
    total = sum(parts)
    np.testing.assert_allclose(answers(total, rows), answers(whole, rows), rtol=1e-8, atol=1e-12)
    for part, was in zip(parts, before, strict=True):
        np.testing.assert_array_equal(answers(part, rows), was)


@pytest.mark.filterwarnings("ignore::suffice.errors.StaleCalibrationWarning")
@pytest.mark.parametrize("case", MODELS)
def test_the_sum_of_one_model_is_a_copy(case):
    _, rows = MODELS[case]
    one, other, _ = parts_of(case)
    alone = sum([one])
    assert alone is not one
    np.testing.assert_array_equal(answers(alone, rows), answers(one, rows))
    was = answers(one, rows)
    alone.merge(other)
    np.testing.assert_array_equal(answers(one, rows), was)


def test_vectorizers_add_up_and_stay_unchanged():
    parts = [CountVectorizer().fit(TEXTS[at::3]) for at in range(3)]
    whole = CountVectorizer().fit(TEXTS)
    total = sum(parts)
    counts = dict(zip(total.get_feature_names_out(), total.term_counts_, strict=True))
    assert counts == dict(zip(whole.get_feature_names_out(), whole.term_counts_, strict=True))
    was = parts[0].term_counts_.copy()
    sum(parts[:1]).partial_fit(["lunch lunch"])
    np.testing.assert_array_equal(parts[0].term_counts_, was)


def test_only_zero_and_models_can_be_added_to_a_model():
    model = GaussianNB().fit(NUMBERS, LABELS)
    for other in (1, 0.5, "model", None):
        with pytest.raises(TypeError, match=r"unsupported operand|can only concatenate"):
            other + model


DIFFERENT = {
    "GaussianNB": ({"var_smoothing": 0.1}, "var_smoothing is 1e-09 here and 0.1 there"),
    "BernoulliNB": ({"binarize": 2.0}, "binarize is 0.0 here and 2.0 there"),
    "MultinomialNB": ({"alpha": 0.5}, "alpha is 1.0 here and 0.5 there"),
    "ComplementNB": ({"norm": True}, "norm is False here and True there"),
    "CategoricalNB": ({"fit_prior": False}, "fit_prior is True here and False there"),
    "PoissonNB": (
        {"prior_rows": 2.0, "estimate": "predictive"},
        "estimate is 'mean' here and 'predictive' there, prior_rows is 1.0 here and 2.0 there",
    ),
    "LinearDiscriminantAnalysis": ({"solver": "lsqr"}, "solver is 'svd' here and 'lsqr' there"),
    "QuadraticDiscriminantAnalysis": ({"reg_param": 0.1}, "reg_param is 0.0 here and 0.1 there"),
    "GaussianDiscriminant": (
        {"covariance": "diagonal"},
        "covariance is 'tied' here and 'diagonal' there",
    ),
    "TextClassifier": ({"ngrams": 2}, r"ngram_range is \(1, 1\) here and \(1, 2\) there"),
    "GenerativeClassifier": ({"estimate": "mean"}, "estimate is 'predictive' here and 'mean'"),
    "LinearRegression": ({"fit_intercept": False}, "fit_intercept is True here and False there"),
    "BayesianLinearRegression": ({"prior_scale": 2.0}, "prior_scale is None here and 2.0 there"),
}


@pytest.mark.parametrize("case", MODELS)
def test_models_with_different_settings_are_not_added_and_the_error_names_them(case):
    settings, message = DIFFERENT[case]
    model, rows = MODELS[case]
    one = clone(model).fit(rows, target_of(case))
    other = clone(model).set_params(**settings).fit(rows, target_of(case))
    before = vars(one).copy()
    with pytest.raises(MergeError, match=message):
        one + other
    with pytest.raises(MergeError, match=message):
        sum([one, other])
    assert all(vars(one)[name] is before[name] for name in before)


@pytest.mark.parametrize("case", ["MultinomialNB", "GaussianNB", "LinearRegression"])
def test_the_cures_that_the_error_names_work(case):
    settings, _ = DIFFERENT[case]
    model, rows = MODELS[case]
    one = clone(model).fit(rows[::2], target_of(case)[::2])
    other = clone(model).set_params(**settings).fit(rows[1::2], target_of(case)[1::2])
    whole = answers(clone(model).fit(rows, target_of(case)), rows)
    merged = clone(model).fit(rows[::2], target_of(case)[::2]).merge(other)
    np.testing.assert_allclose(answers(merged, rows), whole, rtol=1e-9)
    alike = other.set_params(**{name: getattr(one, name) for name in settings})
    np.testing.assert_allclose(answers(one + alike, rows), whole, rtol=1e-9)


def test_different_tallies_are_named_by_the_settings_that_differ():
    one = LinearDiscriminantAnalysis("lsqr").fit(NUMBERS, LABELS)
    other = LinearDiscriminantAnalysis("lsqr", shrinkage="auto").fit(NUMBERS, LABELS)
    with pytest.raises(MergeError, match="shrinkage is None here and 'auto' there"):
        one.merge(other)
    full = GaussianDiscriminant("full").fit(NUMBERS, LABELS)
    with pytest.raises(MergeError, match="covariance is 'full' here and 'diagonal' there"):
        full.merge(GaussianDiscriminant("diagonal").fit(NUMBERS, LABELS))


def test_settings_that_no_prediction_depends_on_may_differ():
    one = LinearRegression(copy_X=False).fit(NUMBERS, COUNTS[:, 0])
    assert one + LinearRegression(n_jobs=2).fit(NUMBERS, COUNTS[:, 0])
    linear = LinearDiscriminantAnalysis(store_covariance=True).fit(NUMBERS, LABELS)
    assert linear + LinearDiscriminantAnalysis().fit(NUMBERS, LABELS)
    table = GenerativeClassifier(combine="naive").fit(FRAME, LABELS)
    taken_over = GenerativeClassifier(table.families_, combine="naive", budget=5)
    with pytest.warns(UserWarning, match="refresh_weights"):
        assert table + taken_over.fit(FRAME, LABELS)
    words = TextClassifier(words=CountVectorizer(), ngrams=(1, 1), **PLAIN).fit(TEXTS, LABELS)
    assert words + TextClassifier(**PLAIN).fit(TEXTS, LABELS)


def test_vectorizers_with_different_settings_are_not_added():
    one = CountVectorizer().fit(TEXTS)
    with pytest.raises(MergeError, match="binary is False here and True there"):
        one + CountVectorizer(binary=True).fit(TEXTS)
    with pytest.raises(MergeError, match="lowercase is True here and False there"):
        one.merge(CountVectorizer(lowercase=False).fit(TEXTS))
