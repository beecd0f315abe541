"""Cross-validation and calibration: as if models had really been fitted to the folds."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from suffice import CountVectorizer, TextClassifier
from suffice.errors import InputError
from suffice.text.fading import EXPONENTS, Believed, fades
from textclassifier_cases import EVENTS, corpus

SETTINGS = [
    *({"event": event, "unknown": "smooth"} for event in EVENTS),
    *({"event": event, "calibrate": None} for event in EVENTS),
    {"weighting": "tfidf"},
    {"refine": "logistic"},
    {"ngrams": 2, "alpha": 0.5},
]


def really_fitted(model, documents, y, splits, weights=None):
    """Return log-loss and accuracy of models that were fitted to the training folds."""
    scores = []
    for train, test in splits:
        one = clone(model)
        given = None if weights is None else weights[train]
        one.fit([documents[at] for at in train], y[train], given)
        told = one.predict_log_proba([documents[at] for at in test])
        own = told[np.arange(len(test)), np.searchsorted(one.classes_, y[test])]
        right = one.classes_[told.argmax(axis=1)] == y[test]
        each = np.ones(len(test)) if weights is None else weights[test]
        scores.append((np.average(-own, weights=each), np.average(right, weights=each)))
    return np.array(scores).T


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_folds_are_foretold_as_by_models_fitted_to_the_others(settings):
    documents, y = corpus(90, 3, seed=7)
    model = TextClassifier(**settings)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    found = model.cross_validate(documents, y, folds)
    loss, accuracy = really_fitted(model, documents, y, folds.split(documents, y))
    refined = settings.get("refine") is not None
    np.testing.assert_allclose(found.log_loss[0], loss, rtol=1e-3 if refined else 1e-7)
    np.testing.assert_allclose(found.accuracy[0], accuracy, rtol=1e-12)


def test_weighted_documents_are_foretold_with_their_weights():
    documents, y = corpus(90, 2, seed=7)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 90)
    model, folds = TextClassifier(), KFold(3)
    found = model.cross_validate(documents, y, folds, sample_weight=weights)
    loss, _ = really_fitted(model, documents, y, folds.split(documents), weights)
    np.testing.assert_allclose(found.log_loss[0], loss, rtol=1e-7)


def test_settings_that_read_the_tally_are_tried_on_one_count():
    documents, y = corpus(90, 2, seed=8)
    model, folds = TextClassifier(calibrate=None), KFold(3)
    tried = {
        "alpha": [0.1, 1.0],
        "event": ["polya", "bernoulli"],
        "weighting": [None, "tfidf"],
    }
    found = model.cross_validate(documents, y, folds, **tried)
    for at, setting in enumerate(found.settings):
        one = clone(model).set_params(**setting)
        loss, _ = really_fitted(one, documents, y, folds.split(documents))
        np.testing.assert_allclose(found.log_loss[at], loss, rtol=1e-7)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("ngrams", [1, 2]),
        ("unknown", ["ignore", "smooth"]),
        ("words", [None, CountVectorizer(lowercase=False)]),
        ("words__lowercase", [True, False]),
    ],
)
def test_settings_that_change_what_is_counted_are_refused(name, values):
    documents, y = corpus(60, 2)
    model = TextClassifier(words=CountVectorizer())
    with pytest.raises(InputError, match=f"'{name}' says what is counted in documents"):
        model.cross_validate(documents, y, 3, **{name: values})


def test_calibration_is_that_of_documents_left_out():
    documents, y = corpus(90, 3, seed=9)
    model = TextClassifier(alpha=1.0).fit(documents, y)
    left_out = model.leave_one_out(documents, y)
    lengths = np.array([len(text.split()) for text in documents])
    faded = left_out.log_proba * np.maximum(lengths, 1)[:, None] ** -model._fading
    told = model.calibration_.apply(faded)
    own = told[np.arange(90), left_out.codes]
    assert -own.mean() < left_out.log_loss + 1e-9


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_fading_is_found_where_documents_were_made_with_it(exponent):
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 400, 4000).astype(float)
    scores = rng.normal(size=(4000, 2)) * lengths[:, None]
    believed = scores * fades(lengths, exponent)[:, None]
    believed *= 2.0 / np.abs(believed).mean()
    proba = np.exp(believed - logsumexp(believed, axis=1, keepdims=True))
    codes = (rng.random(4000) < proba[:, 1]).astype(int)
    log_proba = scores - logsumexp(scores, axis=1, keepdims=True)
    found = Believed.of(log_proba, codes, np.ones(4000), lengths)
    assert found.exponent == exponent
    # The entropy of what was drawn is the best that can be reached.
    entropy = -(proba * np.log(np.maximum(proba, 1e-300))).sum(axis=1).mean()
    assert found.log_loss == pytest.approx(entropy, abs=5 * 0.7 / np.sqrt(4000))


def test_calibration_makes_repeated_documents_no_surer():
    documents, y = corpus(200, 2, seed=3)
    longer = [" ".join([text] * 8) for text in documents]
    plain = TextClassifier(calibrate=None, alpha=1.0).fit(longer, y)
    model = TextClassifier(alpha=1.0).fit(longer, y)
    assert model.leave_one_out(longer, y).log_loss == pytest.approx(
        plain.leave_one_out(longer, y).log_loss
    )
    codes = np.searchsorted(model.classes_, y)

    def loss(one):
        return -one.predict_log_proba(longer)[np.arange(200), codes].mean()

    held_out = model.cross_validate(longer, y, 5).mean_log_loss[0]
    assert held_out < plain.cross_validate(longer, y, 5).mean_log_loss[0]
    assert loss(model) < 2 * held_out
