"""Leaving a document out is the same as never having learned it, its own words included."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import CountVectorizer, TextClassifier
from suffice.errors import InputError
from textclassifier_cases import (
    LABELS,
    MAILS,
    WEIGHTS,
    corpus,
    event_cases,
    quietly,
    refitted,
    without,
)

words = st.sampled_from(["to", "be", "or", "not", "that", "is"])
texts = st.lists(words, max_size=5).map(" ".join)


def check_left_out(model, documents, labels, weights=None):
    quietly(lambda: model.fit(documents, labels, weights))
    found = model.leave_one_out(documents, labels, weights)
    every = np.ones(len(documents)) if weights is None else weights
    for at in range(len(documents)):
        expected = refitted(model, documents, labels, every, at)
        np.testing.assert_allclose(found.log_proba[at], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize(("event", "unknown"), event_cases)
@pytest.mark.parametrize("ngrams", [1, 2])
def test_a_document_left_out_is_one_never_learned(event, unknown, weights, ngrams):
    model = TextClassifier(event=event, unknown=unknown, calibrate=None, ngrams=ngrams)
    check_left_out(model, MAILS, LABELS, weights)


@pytest.mark.parametrize(("event", "unknown"), event_cases)
def test_the_only_document_of_a_class_leaves_no_class_behind(event, unknown):
    model = TextClassifier(event=event, unknown=unknown, calibrate=None)
    check_left_out(model, [*MAILS, "lunch bill"], [*LABELS, "accounts"])


@pytest.mark.slow
@pytest.mark.parametrize(("event", "unknown"), event_cases)
@pytest.mark.parametrize("prior", [{"fit_prior": False}, {"class_prior": [0.2, 0.3, 0.5]}])
def test_documents_are_left_out_under_a_given_class_prior(event, unknown, prior):
    model = TextClassifier(event=event, unknown=unknown, calibrate=None, **prior)
    check_left_out(model, MAILS, LABELS)


@pytest.mark.slow
@pytest.mark.parametrize(("event", "unknown"), event_cases)
@pytest.mark.parametrize("seed", [0, 1])
def test_documents_of_a_larger_corpus_are_left_out_exactly(event, unknown, seed):
    documents, y = corpus(50, 4, seed)
    check_left_out(TextClassifier(event=event, unknown=unknown, calibrate=None), documents, list(y))


@pytest.mark.parametrize(("event", "unknown"), event_cases)
def test_a_vocabulary_that_is_given_stays_when_a_document_is_left_out(event, unknown):
    words = CountVectorizer(vocabulary=["lunch", "cheap", "attached", "unicorn"])
    model = TextClassifier(event=event, unknown=unknown, words=words, calibrate=None)
    check_left_out(model, MAILS, LABELS)


@pytest.mark.parametrize(("event", "unknown"), event_cases)
def test_words_that_were_pruned_are_unknown_in_documents_that_are_left_out(event, unknown):
    model = TextClassifier(event=event, unknown=unknown, alpha=0.5, calibrate=None)
    found = model.fit(MAILS, LABELS).prune(2).leave_one_out(MAILS, LABELS).log_proba
    for at in range(len(MAILS)):
        words = CountVectorizer(vocabulary=[term for term in model.terms_ if has_term(term, at)])
        rest = TextClassifier(event=event, unknown=unknown, words=words, alpha=0.5, calibrate=None)
        rest.fit(without(MAILS, at), without(LABELS, at))
        expected = rest.predict_log_proba([MAILS[at]])[0]
        np.testing.assert_allclose(found[at], expected, rtol=1e-9, atol=1e-9)


def has_term(term, at):
    """Say whether a document other than this one has a term."""
    return any(term in text.replace(",", "").split() for text in without(MAILS, at))


@pytest.mark.slow
@given(
    st.lists(st.tuples(texts, st.sampled_from("ab")), min_size=3, max_size=8),
    st.sampled_from(event_cases),
    st.floats(0.01, 5.0),
)
def test_documents_of_any_words_are_left_out_exactly(pairs, case, alpha):
    documents, labels = [text for text, _ in pairs], [label for _, label in pairs]
    # Without the document there must be two classes and a word left to learn.
    documents += ["to be", "or not", "that is", "to be or not"]
    labels += ["a", "b", "a", "b"]
    event, unknown = case
    model = TextClassifier(event=event, unknown=unknown, alpha=alpha, calibrate=None)
    check_left_out(model, documents, labels)


@pytest.mark.parametrize("event", ["multinomial", "bernoulli", "polya"])
def test_a_class_that_was_announced_stays_when_its_only_document_is_left_out(event):
    model = TextClassifier(event=event, alpha=1.0, calibrate=None, fit_prior=False)
    classes = ["accounts", "ham", "spam", "work"]
    documents, labels = [*MAILS, "lunch bill"], [*LABELS, "accounts"]
    model.partial_fit(documents, labels, classes=classes)
    found = model.leave_one_out(documents, labels).log_proba[-1]
    rest = TextClassifier(event=event, alpha=1.0, calibrate=None, fit_prior=False)
    rest.partial_fit(MAILS, LABELS, classes=classes)
    np.testing.assert_allclose(found, rest.predict_log_proba(["lunch bill"])[0], rtol=1e-9)


def test_other_documents_than_those_learned_cannot_be_left_out():
    model = TextClassifier(calibrate=None).fit(MAILS, LABELS)
    for documents, labels in ((MAILS[1:], LABELS[1:]), (MAILS, LABELS[::-1])):
        with pytest.raises(InputError, match="not the rows that this TextClassifier learned"):
            model.leave_one_out(documents, labels)


def test_tfidf_holds_the_rarities_when_a_document_is_left_out():
    documents, y = corpus(60)
    model = TextClassifier(weighting="tfidf", alpha=1.0, calibrate=None).fit(documents, y)
    found = model.leave_one_out(documents, y).log_proba
    assert np.isfinite(found).all()
    refit = [refitted(model, documents, list(y), np.ones(60), at) for at in range(60)]
    # Rarities change by about one document in sixty.
    assert np.abs(np.exp(found) - np.exp(refit)).max() < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("weights", [None, "some"], ids=["unweighted", "weighted"])
@pytest.mark.parametrize(("event", "unknown"), event_cases)
def test_a_document_left_out_has_the_calibration_of_all_documents(event, unknown, weights):
    documents, y = corpus(60, 3, 7)
    weights = None if weights is None else np.random.default_rng(0).uniform(0.5, 3.0, 60)
    model = TextClassifier(event=event, unknown=unknown).fit(documents, y, weights)
    found = model.leave_one_out(documents, y, weights).log_proba
    for at in range(0, 60, 7):
        others = [number for number in range(60) if number != at]
        rest = TextClassifier(event=event, unknown=unknown, calibrate=None, alpha=model.alpha_)
        given = None if weights is None else weights[others]
        rest.fit([documents[number] for number in others], y[others], given)
        fitted = model._fitted
        rest._fitted = rest._fitted.replace(
            calibration=fitted.calibration, length_discount=fitted.length_discount
        )
        expected = rest.predict_log_proba([documents[at]])[0]
        np.testing.assert_allclose(found[at], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_words_that_say_nothing_are_left_out_with_the_log_loss_of_refits():
    """Without calibration the answers are far too sure: 1.1 nats a document, and .7 of refits."""
    rng = np.random.default_rng(60)
    y = rng.integers(0, 2, 60)
    documents = [
        " ".join(f"word{min(word, 999)}" for word in rng.zipf(1.3, size)).strip()
        for size in rng.integers(0, 30, 60)
    ]
    own = np.empty(60)
    for at in range(60):
        others = [number for number in range(60) if number != at]
        rest = TextClassifier().fit([documents[number] for number in others], y[others])
        own[at] = rest.predict_log_proba([documents[at]])[0, y[at]]
    found = TextClassifier().fit(documents, y).leave_one_out(documents, y)
    assert found.log_loss == pytest.approx(-own.mean(), abs=0.05)
