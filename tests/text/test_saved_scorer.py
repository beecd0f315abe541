"""A saved TextClassifier scores a document without the estimator, and says the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saved_cases import put_together, taken_apart, tensor
from suffice import CountVectorizer, GaussianNB, TextClassifier, load
from suffice.data import Documents
from suffice.errors import ModelFileError
from suffice.text import load_scorer
from suffice.text.vectorize.lexicon import Lexicon, WordNgrams, letters_in
from textclassifier_cases import EVENTS, LABELS, MAILS, UNKNOWN, corpus

NEW = [
    "cheap lunch at noon",
    "Cheap CHEAP pills, free!",
    "never seen",
    "",
    "x",
    "Größe café ΟΔΌΣ İ",
]
PLAIN = [
    *({"event": event, "unknown": unknown} for event in EVENTS for unknown in UNKNOWN),
    *({"event": event, "calibrate": None, "alpha": 0.5} for event in EVENTS),
    {"weighting": "tfidf"},
    {"weighting": "tfidf", "event": "complement", "unknown": "smooth", "calibrate": None},
    {"refine": "logistic"},
    {"refine": "logistic", "unknown": "smooth"},
    {"ngrams": 2},
    {"ngrams": (2, 3), "calibrate": "loo"},
    {"ngrams": [1, 2], "fit_prior": False},
]
OTHERS = [
    {"words": CountVectorizer(lowercase=False)},
    {"class_prior": [0.2, 0.3, 0.5], "alpha": 0.5},
]


@pytest.mark.slow
@pytest.mark.parametrize("settings", PLAIN, ids=str)
def test_it_says_what_the_loaded_model_says(settings, tmp_path):
    documents, y = corpus()
    model = TextClassifier(**settings).fit([*documents, *MAILS], [*y, *y[: len(MAILS)]])
    model.save(tmp_path / "model")
    scorer = load_scorer(tmp_path / "model")
    assert scorer.classes.tolist() == model.classes_.tolist()
    expected = load(tmp_path / "model").predict_proba(NEW)
    np.testing.assert_allclose([scorer.proba(text) for text in NEW], expected, rtol=1e-12)


def test_two_classes_with_a_refinement_have_one_regression(tmp_path):
    y = ["spam" if label == "spam" else "ham" for label in LABELS]
    TextClassifier(refine="logistic").fit(MAILS, y).save(tmp_path / "model")
    expected = load(tmp_path / "model").predict_proba(NEW)
    scorer = load_scorer(tmp_path / "model")
    np.testing.assert_allclose([scorer.proba(text) for text in NEW], expected, rtol=1e-12)


def test_a_model_that_went_on_learning_is_scored_as_it_is_now(tmp_path):
    model = TextClassifier(calibrate=None).fit(MAILS, LABELS)
    model.partial_fit(["quarterly unicorn"], ["news"]).forget(MAILS[:1], LABELS[:1])
    model.save(tmp_path / "model")
    scorer = load_scorer(tmp_path / "model")
    np.testing.assert_allclose(
        [scorer.proba(text) for text in NEW], model.predict_proba(NEW), rtol=1e-12
    )


@pytest.mark.parametrize("settings", OTHERS, ids=str)
def test_what_only_the_estimator_can_score_is_left_to_it(settings, tmp_path):
    TextClassifier(calibrate=None, **settings).fit(MAILS, LABELS).save(tmp_path / "model")
    assert load_scorer(tmp_path / "model") is None


def test_other_models_are_left_to_their_own_classes(tmp_path):
    GaussianNB().fit([[1.0], [2.0]], ["a", "b"]).save(tmp_path / "model")
    assert load_scorer(tmp_path / "model") is None


def set_weights(document, tensors):
    tensors["tally_.weights"] = tensor(np.array([1.0, np.inf, 1.0]))


def set_counts(document, tensors):
    tensors["tally_.parts.counts"] = tensor(np.ones((3, 2)))


def set_field(document, tensors):
    document["state"]["unheard_of"] = 1


def drop_terms(document, tensors):
    del document["state"]["terms"]
    del tensors["terms.letters"], tensors["terms.ends"]


def drop_tally(document, tensors):
    del document["state"]["tally_"]


@pytest.mark.hostile
@pytest.mark.parametrize("change", [set_weights, set_counts, set_field, drop_terms, drop_tally])
def test_a_file_that_was_made_to_do_harm_is_refused(change, tmp_path):
    path = tmp_path / "model"
    TextClassifier(calibrate=None).fit(MAILS, LABELS).save(path)
    document, tensors = taken_apart(path.read_bytes())
    change(document, tensors)
    path.write_bytes(put_together(document, tensors))
    with pytest.raises(ModelFileError):
        load_scorer(path)


@pytest.mark.hostile
@pytest.mark.parametrize("settings", [{"event": "nonsense"}, {"ngrams": 0}, {"a": 1}])
def test_settings_that_are_unknown_are_left_to_the_estimator_which_refuses_them(settings, tmp_path):
    path = tmp_path / "model"
    TextClassifier(calibrate=None).fit(MAILS, LABELS).save(path)
    document, tensors = taken_apart(path.read_bytes())
    document["settings"] |= settings
    path.write_bytes(put_together(document, tensors))
    assert load_scorer(path) is None
    with pytest.raises(ModelFileError):
        load(path)


@pytest.mark.hostile
@pytest.mark.parametrize("cut", [True, False])
def test_a_file_that_is_cut_off_or_changed_is_refused(cut, tmp_path):
    path = tmp_path / "model"
    TextClassifier(calibrate=None).fit(MAILS, LABELS).save(path)
    raw = bytearray(path.read_bytes())
    if cut:
        raw = raw[: len(raw) // 2]
    else:
        raw[-1] ^= 1
    path.write_bytes(raw)
    with pytest.raises(ModelFileError):
        load_scorer(path)


@settings(max_examples=300, deadline=None)
@given(
    st.text(st.sampled_from("aAéÉΣσςİıIß_-'. ʼ\u0301字١Ⅷ\U0001f600"), max_size=12)
    | st.text(max_size=20),
    st.booleans(),
)
def test_the_letters_of_one_text_are_those_of_all_of_unicode(text, lowercase):
    ngrams = WordNgrams(lowercase=lowercase, word_letters=1)
    documents = Documents.of([text])
    of_all, of_one = Lexicon(ngrams), Lexicon(ngrams)
    of_all.learn(documents)
    of_one._table.learn(documents.text, documents.begins, letters_in(text, lowercase=lowercase))
    assert list(of_one.names) == list(of_all.names)
