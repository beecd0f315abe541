"""The discriminative finish, beside scikit-learn's logistic regression on scaled presences."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import sklearn.linear_model
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold

from suffice import TextClassifier
from suffice.errors import StaleCalibrationWarning
from textclassifier_cases import corpus

SHARED = Path(__file__).parents[3] / "shared" / "data"
NEW = ["cheap lunch at noon", "quarterly pills", "never seen", ""]


def scaled_presences(documents, inside):
    """Return rows of presences times log-count ratios, counted by hand, and what counts."""
    counter = CountVectorizer(binary=True).fit(documents)
    present = counter.transform(documents).toarray().astype(float)
    some, none = present[inside].sum(axis=0) + 1, present[~inside].sum(axis=0) + 1
    return counter, np.log(some / some.sum()) - np.log(none / none.sum()), present


def test_two_classes_are_one_logistic_regression_on_scaled_presences():
    documents, y = corpus(150, 2, seed=1)
    model = TextClassifier(refine="logistic").fit(documents, y)
    counter, ratios, present = scaled_presences(documents, y == model.classes_[1])
    peer = sklearn.linear_model.LogisticRegression(C=1.0, tol=1e-8, max_iter=10_000)
    peer.fit(present * ratios, y)
    expected = peer.predict_proba(counter.transform(NEW).toarray() * ratios)
    np.testing.assert_allclose(model.predict_proba(NEW), expected, atol=2e-3)


def test_more_classes_are_each_fitted_against_all_others():
    documents, y = corpus(150, 3, seed=1)
    model = TextClassifier(refine="logistic").fit(documents, y)
    odds = []
    for label in model.classes_:
        counter, ratios, present = scaled_presences(documents, y == label)
        peer = sklearn.linear_model.LogisticRegression(C=1.0, tol=1e-8, max_iter=10_000)
        peer.fit(present * ratios, y == label)
        odds.append(peer.predict_proba(counter.transform(NEW).toarray() * ratios)[:, 1])
    expected = np.array(odds).T / np.sum(odds, axis=0)[:, None]
    np.testing.assert_allclose(model.predict_proba(NEW), expected, atol=2e-3)


def test_a_weight_is_so_many_repeats():
    documents, y = corpus(80, 2, seed=2)
    weights = np.random.default_rng(0).integers(1, 4, 80)
    model = TextClassifier(refine="logistic").fit(documents, y, weights)
    repeated = np.repeat(np.array(documents, object), weights).tolist()
    whole = TextClassifier(refine="logistic").fit(repeated, np.repeat(y, weights))
    np.testing.assert_allclose(model.predict_proba(NEW), whole.predict_proba(NEW), atol=2e-3)


@pytest.mark.parametrize("unknown", ["ignore", "smooth"])
def test_new_words_weigh_nothing_until_the_refinement_is_refreshed(unknown):
    documents, y = corpus(80, 2, seed=2)
    model = TextClassifier(refine="logistic", unknown=unknown).fit(documents, y)
    before = model.predict_proba([*documents, "zebra"])
    with pytest.warns(StaleCalibrationWarning, match="refinement is that of the documents learned"):
        model.partial_fit(["zebra zebra", "zebra crossing"], [y[0], y[0]])
    np.testing.assert_array_equal(model.predict_proba([*documents, "zebra"]), before)
    model.refresh_calibration([*documents, "zebra zebra", "zebra crossing"], [*y, y[0], y[0]])
    whole = TextClassifier(refine="logistic", unknown=unknown)
    whole.fit([*documents, "zebra zebra", "zebra crossing"], [*y, y[0], y[0]])
    new = [*NEW, "zebra"]
    np.testing.assert_allclose(model.predict_proba(new), whole.predict_proba(new), atol=2e-3)


@pytest.mark.parametrize("settings", [{}, {"refine": "logistic"}], ids=str)
def test_a_second_fit_knows_nothing_of_the_first(settings):
    documents, y = corpus(80, 2, seed=2)
    few = ["cheap lunch", "cheap pills", "free lunch", "free money"], ["a", "b", "a", "b"]
    model = TextClassifier(**settings).fit(documents, y).fit(*few)
    fresh = TextClassifier(**settings).fit(*few)
    np.testing.assert_array_equal(model.predict_proba(NEW), fresh.predict_proba(NEW))
    assert vars(model).keys() == vars(fresh).keys()


def test_forgotten_words_leave_the_refinement():
    documents, y = corpus(80, 2, seed=2)
    learned = ["zebra lunch", *documents]
    model = TextClassifier(refine="logistic").fit(learned, [y[0], *y])
    before = model.predict_proba(documents)
    with pytest.warns(StaleCalibrationWarning):
        model.forget(["zebra lunch"], [y[0]])
    np.testing.assert_allclose(model.predict_proba(documents), before, rtol=1e-12)
    empty = model.predict_proba([""])
    np.testing.assert_allclose(model.predict_proba(["zebra"]), empty, rtol=1e-12)


def test_a_merge_keeps_the_refinement_and_says_so():
    documents, y = corpus(80, 2, seed=2)
    model = TextClassifier(refine="logistic").fit(documents, y)
    other = TextClassifier(refine="logistic").fit(["zebra lunch", "cheap"], ["eggs", "ham"])
    before = model.predict_proba(documents)
    with pytest.warns(StaleCalibrationWarning, match="refinement is that of the documents"):
        model.merge(other)
    np.testing.assert_array_equal(model.predict_proba(documents), before)


def test_a_new_class_ends_the_refinement():
    documents, y = corpus(80, 2, seed=2)
    model = TextClassifier(refine="logistic").fit(documents, y)
    with pytest.warns(StaleCalibrationWarning, match="classes have changed"):
        model.partial_fit(["zebra crossing"], ["zoo"])
    plain = TextClassifier(calibrate=None).fit([*documents, "zebra crossing"], [*y, "zoo"])
    np.testing.assert_allclose(model.predict_proba(NEW), plain.predict_proba(NEW), rtol=1e-9)


def sms_spam():
    path = SHARED / "sms_spam" / "sms_spam.jsonl.gz"
    if not path.exists():
        pytest.skip("shared/data/sms_spam is not here")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["text"] for row in rows], np.array([row["label"] for row in rows])


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"refine": "logistic"}], ids=str)
def test_spam_is_distinguished_from_text_messages(settings):
    documents, y = sms_spam()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    found = TextClassifier(**settings).cross_validate(documents, y, folds)
    assert found.mean_accuracy[0] >= 0.98
    assert found.mean_log_loss[0] < 0.08
