"""Reasons: the terms of a document add up to what the model says of it."""

import numpy as np
import pytest
from scipy.special import logsumexp

from suffice import CountVectorizer, TextClassifier
from suffice.errors import InputError
from textclassifier_cases import EVENTS, LABELS, MAILS, corpus

ASKED = [
    "cheap pills for lunch at noon",
    "free free free money",
    "report",
    "never seen words",
    "",
]
SETTINGS = [
    *({"event": event} for event in EVENTS),
    *({"event": event, "calibrate": None} for event in EVENTS),
    *({"event": event, "unknown": "smooth", "calibrate": None} for event in EVENTS),
    {"weighting": "tfidf", "event": "complement"},
    {"weighting": "tfidf", "unknown": "smooth"},
    {"refine": "logistic"},
    {"refine": "logistic", "unknown": "smooth", "ngrams": 2},
    {"event": "polya", "unknown": "smooth", "ngrams": 2},
]


def log_odds(model, document, target, against):
    """Return the log-odds of a class by the model's own probabilities."""
    log_proba = dict(zip(model.classes_, model.predict_log_proba([document])[0], strict=True))
    others = [against] if against is not None else [c for c in model.classes_ if c != target]
    return log_proba[target] - logsumexp([log_proba[c] for c in others])


def assert_adds_up(model, document, target, against=None):
    reasons = model.explain(document, target, against)
    expected = log_odds(model, document, target, against)
    assert reasons.log_odds == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert reasons.base + reasons.contributions.sum() == pytest.approx(expected, rel=1e-9, abs=1e-9)
    return reasons


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_reasons_add_up_to_the_log_odds(settings, classes):
    documents, y = corpus(80, classes, seed=2)
    model = TextClassifier(**settings).fit(documents, y)
    for document in ASKED:
        for target in model.classes_:
            reasons = assert_adds_up(model, document, target)
            for against in model.classes_:
                if against != target:
                    assert_adds_up(model, document, target, against)
        cut = CountVectorizer(ngram_range=(1, settings.get("ngrams", 1))).build_analyzer()
        known = set(cut(document)) & set(model.terms_)
        assert set(reasons.names) - {"(unknown)"} == known


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_explanations_start_from_the_log_odds_of_an_empty_document(settings, classes):
    documents, y = corpus(80, classes, seed=2)
    model = TextClassifier(**settings | {"calibrate": None}).fit(documents, y)
    nothing = log_odds(model, "", "ham", None)
    assert model.explain("cheap pills", "ham").base == pytest.approx(nothing)


@pytest.mark.parametrize("classes", [2, 3])
def test_reasons_add_up_where_the_calibration_has_a_noise_rate(classes):
    rng = np.random.default_rng(0)
    documents, y = corpus(150, classes, seed=4)
    documents = [f"{text} {text} {text} {text}" for text in documents]
    wrong = rng.random(len(y)) < 0.1
    y = np.where(wrong, rng.permutation(y), y)
    model = TextClassifier(alpha=1.0).fit(documents, y)
    # A noise rate may be taken or not; that reasons add up must not hang on it.
    found = model.calibration_
    noisy = type(found)(found.inverse_temperature, found.offsets, 0.05)
    model._fitted = model._fitted.replace(calibration=noisy)
    for document in ASKED:
        for target in model.classes_:
            assert_adds_up(model, document, target)


def test_the_most_probable_class_is_explained_unless_another_is_named():
    model = TextClassifier().fit(MAILS, LABELS)
    for document in ASKED:
        reasons = model.explain(document)
        assert reasons.target == model.predict([document])[0]


def test_the_most_probable_refined_class_is_explained():
    documents, y = corpus(80, 2, seed=2)
    model = TextClassifier(refine="logistic").fit(documents, y)
    for document in [*documents, *ASKED]:
        assert model.explain(document).target == model.predict([document])[0]


def test_a_word_of_one_class_speaks_for_it():
    model = TextClassifier().fit(MAILS, LABELS)
    reasons = model.explain("cheap lunch pills", "spam")
    shares = dict(zip(reasons.names, reasons.contributions, strict=True))
    assert shares["cheap"] > 0 > shares["lunch"]


def test_values_say_how_often_a_term_occurs():
    model = TextClassifier(calibrate=None).fit(MAILS, LABELS)
    assert set(model.explain("cheap cheap lunch").values) == {"cheap x2", "lunch x1"}


def test_unknown_words_are_shown_as_such_where_they_count():
    model = TextClassifier(unknown="smooth", calibrate=None).fit(MAILS, LABELS)
    assert model.explain("zzz yyy cheap").values[-1] == "(unknown) x2"
    ignoring = TextClassifier(calibrate=None).fit(MAILS, LABELS)
    assert ignoring.explain("zzz yyy cheap").names == ("cheap",)


def test_a_class_that_there_is_not_cannot_be_explained():
    model = TextClassifier().fit(MAILS, LABELS)
    with pytest.raises(InputError, match=r"There is no class 'eggs'; the classes are \['ham'"):
        model.explain("cheap", "eggs")
    with pytest.raises(InputError, match="There is no class 'eggs'"):
        model.explain("cheap", "spam", "eggs")
    with pytest.raises(InputError, match="is compared with itself"):
        model.explain("cheap", "spam", "spam")


def test_with_one_class_there_is_nothing_to_explain():
    with pytest.warns(UserWarning, match="one class only"):
        model = TextClassifier(calibrate=None).fit(["cheap pills"], ["spam"])
    with pytest.raises(InputError, match="There is one class only, 'spam'"):
        model.explain("cheap")


def test_a_list_of_documents_is_not_one_document():
    model = TextClassifier().fit(MAILS, LABELS)
    with pytest.raises(ValueError, match="list"):
        model.explain(["cheap pills"])
