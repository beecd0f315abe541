"""Cross-validation and calibration: as if models had really been fitted to the folds."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from suffice import CountVectorizer, TextClassifier
from suffice.combine import fit_calibration
from suffice.errors import InputError
from suffice.text.classify.length_discount import DocumentScores, LengthDiscount, discounts
from suffice.validation import DistinctRows, assign_folds
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
        log_proba = one.predict_log_proba([documents[at] for at in test])
        own = log_proba[np.arange(len(test)), np.searchsorted(one.classes_, y[test])]
        right = one.classes_[log_proba.argmax(axis=1)] == y[test]
        each = np.ones(len(test)) if weights is None else weights[test]
        scores.append((np.average(-own, weights=each), np.average(right, weights=each)))
    return np.array(scores).T


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_folds_are_predicted_as_by_models_fitted_to_the_others(settings):
    documents, y = corpus(90, 3, seed=7)
    model = TextClassifier(**settings)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    found = model.cross_validate(documents, y, folds)
    loss, accuracy = really_fitted(model, documents, y, folds.split(documents, y))
    refined = settings.get("refine") is not None
    np.testing.assert_allclose(found.log_loss[0], loss, rtol=1e-3 if refined else 1e-7)
    np.testing.assert_allclose(found.accuracy[0], accuracy, rtol=1e-12)


def test_weighted_documents_are_scored_with_their_weights():
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


def test_calibration_is_that_of_refits_to_folds():
    """Of folds as they were dealt, by models of all other documents, classes as heavy as before."""
    documents, y = corpus(90, 3, seed=9)
    model = TextClassifier(alpha=1.0).fit(documents, y)
    plain = TextClassifier(alpha=1.0, calibrate=None).fit(documents, y)
    rows = model._learned_rows(model._fitted, documents, y, None)
    hashes = model._fitted.term_counter.hashes(rows)
    folds, hashes = assign_folds(DistinctRows.of(rows, hashes)), hashes.tolist()
    text = [documents[hashes.index(one)] for one in folds.hashes.tolist()]
    words = plain.tally_.parts.counts.sum(axis=1)
    likelihoods, lengths = np.empty((len(text), 3)), np.empty(len(text))
    for fold in range(folds.size):
        train, test = (np.flatnonzero(same) for same in _both(folds.numbers == fold))
        own = folds.rows.codes[train]
        part = TextClassifier(alpha=1.0, calibrate=None)
        part.fit([text[at] for at in train], own, folds.rows.row_weights[train])
        factor = words / part.tally_.parts.counts.sum(axis=1)
        part.fit([text[at] for at in train], own, (folds.rows.row_weights[train]) * factor[own])
        held_out = [text[at] for at in test]
        likelihoods[test] = part.predict_joint_log_proba(held_out) - part.class_log_prior_
        lengths[test] = [sum(word in part.terms_ for word in one.split()) for one in held_out]
    scores = DocumentScores(likelihoods, plain.class_log_prior_, lengths)
    given = scores, folds.rows.codes, folds.rows.row_weights
    found = LengthDiscount.of(*given)
    assert model._fitted.length_discount == found.rate
    part, base, share = found.parts(scores)
    start = found.inverse_temperature
    expected = fit_calibration(part, *given[1:], log_prior=base, offset_share=share, start=start)
    assert model.calibration_.inverse_temperature == pytest.approx(
        expected.inverse_temperature, rel=1e-6
    )
    np.testing.assert_allclose(model.calibration_.offsets, expected.offsets, atol=1e-6)


def _both(held_out):
    return ~held_out, held_out


@pytest.mark.parametrize("rate", [1.0, 0.25, 1 / 16, 1 / 128])
def test_a_length_discount_is_found_where_documents_were_made_with_it(rate):
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 400, 4000).astype(float)
    scores = np.column_stack([rng.normal(size=4000) * lengths, np.zeros(4000)])
    scores *= 3.0 / np.abs(scores * discounts(lengths, rate)[:, None]).mean()
    prior = np.log([0.3, 0.7])
    joint = prior + scores * discounts(lengths, rate)[:, None]
    proba = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    codes = (rng.random(4000) < proba[:, 1]).astype(int)
    given = DocumentScores(scores, prior, lengths), codes, np.ones(4000)
    found = LengthDiscount.of(*given)
    assert found.rate / rate in (0.5, 1.0, 2.0)
    # The entropy of what was drawn is the best that can be reached.
    entropy = -(proba * np.log(np.maximum(proba, 1e-300))).sum(axis=1).mean()
    assert found.log_loss == pytest.approx(entropy, abs=5 * 0.7 / np.sqrt(4000))
    alone = LengthDiscount.without_temperature(*given)
    assert alone.rate / rate in (0.5, 1.0, 2.0)


@pytest.mark.parametrize("event", ["multinomial", "polya"])
@pytest.mark.parametrize("unknown", ["ignore", "smooth"])
def test_documents_without_a_known_word_have_the_shares_of_the_classes(event, unknown):
    documents, y = corpus(200, 2, seed=3)
    codes = np.unique(y, return_inverse=True)[1]
    keep = np.flatnonzero((codes == 0) | (np.arange(200) % 3 == 0))
    # Documents of the rarer class are the longer ones.
    documents = [" ".join([documents[at]] * (1 + 2 * codes[at])) for at in keep]
    y, codes = y[keep], codes[keep]
    model = TextClassifier(event=event, unknown=unknown).fit(documents, y)
    shares = np.bincount(codes) / len(codes)
    held_out = ["", "?!"] if unknown == "smooth" else ["", "?!", "neverseen", "never heard of this"]
    np.testing.assert_allclose(
        model.predict_proba(held_out), np.tile(shares, (len(held_out), 1)), atol=0.02
    )


def test_calibration_does_not_raise_the_log_loss_of_short_documents():
    """Words that come in bursts, so that probabilities of long documents are too extreme."""
    rng = np.random.default_rng(4)
    shares = rng.dirichlet(np.ones(300), 2)
    codes = (rng.random(1500) < 0.2).astype(int)
    names = np.array([f"word{at}" for at in range(300)])
    texts = [
        rng.choice(names, rng.integers(20, 60 + 60 * c), p=rng.dirichlet(30 * shares[c]))
        for c in codes
    ]
    losses = {}
    for calibrate in (None, "folds"):
        model = TextClassifier(calibrate=calibrate)
        model.fit([" ".join(text) for text in texts[:700]], codes[:700])
        for words in (1, 2, 3, 5, None):
            log_proba = model.predict_log_proba([" ".join(text[:words]) for text in texts[700:]])
            losses[calibrate, words] = -log_proba[np.arange(800), codes[700:]].mean()
    for words in (1, 2, 3, 5):
        assert losses["folds", words] <= losses[None, words] + 0.005
    assert losses["folds", None] < 0.8 * losses[None, None]


def test_a_message_in_a_foreign_language_stays_undecided():
    rng = np.random.default_rng(0)
    known = ["the of and to meet lunch home see", "win cash prize now the"]
    vocabulary = [words.split() for words in known]
    y = (rng.random(300) < 0.3).astype(int)
    documents = [" ".join(rng.choice(vocabulary[c], rng.integers(3, 30))) for c in y]
    model = TextClassifier().fit(documents, y)
    foreign = "bitte ruf mich heute abend noch einmal an"
    assert model.decide([foreign], reject=0.1)[0] is None
    assert model.decide(["win cash prize now win cash"], reject=0.1)[0] == 1


def test_calibration_makes_repeated_documents_no_surer():
    documents, y = corpus(200, 2, seed=3)
    longer = [" ".join([text] * 8) for text in documents]
    plain = TextClassifier(calibrate=None, alpha=1.0).fit(longer, y)
    model = TextClassifier(alpha=1.0).fit(longer, y)
    assert model.leave_one_out(longer, y).log_loss < 0.5 * plain.leave_one_out(longer, y).log_loss
    codes = np.searchsorted(model.classes_, y)

    def loss(one):
        return -one.predict_log_proba(longer)[np.arange(200), codes].mean()

    held_out = model.cross_validate(longer, y, 5).mean_log_loss[0]
    assert held_out < plain.cross_validate(longer, y, 5).mean_log_loss[0]
    assert loss(model) < 2 * held_out
