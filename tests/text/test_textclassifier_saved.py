"""Text classifiers and vectorizers in files: the same to the last bit, and hostile ones refused."""

import copy
import pickle

import numpy as np
import pytest

import suffice
from saved_cases import put_together, save_and_load, taken_apart, tensor
from suffice import CountVectorizer, TextClassifier
from suffice.errors import ModelFileError, StaleCalibrationWarning
from suffice.text.vectorize.analyzer import LETTER_RUNS
from textclassifier_cases import EVENTS, LABELS, MAILS, corpus, tally_by_name

NEW = ["cheap lunch at noon", "quarterly pills", "never seen", ""]
SETTINGS = [
    *({"event": event} for event in EVENTS),
    {"unknown": "smooth", "ngrams": 2, "calibrate": None},
    {"ngrams": (2, 3)},
    {"weighting": "tfidf", "event": "complement"},
    {"refine": "logistic"},
    {"refine": "logistic", "unknown": "smooth"},
    {"words": CountVectorizer(lowercase=False, stop_words=["noon"], dtype=np.int32)},
    {"words": CountVectorizer(analyzer="char_wb", ngram_range=(2, 3), strip_accents="unicode")},
    {"words": CountVectorizer(vocabulary=["lunch", "cheap", "unicorn"])},
    {"words": CountVectorizer(vocabulary={"lunch": 0, "cheap": 1}), "unknown": "smooth"},
    {"class_prior": [0.2, 0.3, 0.5], "alpha": 0.5},
]


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_saved_classifier_answers_the_same_to_the_last_bit(settings, tmp_path):
    model = TextClassifier(**settings).fit(MAILS, LABELS)
    found = save_and_load(model, tmp_path)
    assert tally_by_name(found) == tally_by_name(model)
    assert found.terms_.tolist() == model.terms_.tolist()
    assert found.alpha_ == model.alpha_
    np.testing.assert_array_equal(found.predict_proba(NEW), model.predict_proba(NEW))
    mine, theirs = found.get_params(deep=False), model.get_params(deep=False)
    assert repr(mine) == repr(theirs)
    assert str(found.explain(NEW[0])) == str(model.explain(NEW[0]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::suffice.errors.StaleCalibrationWarning")
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_loaded_classifier_goes_on_learning_forgetting_and_merging(settings, tmp_path):
    model = TextClassifier(**settings).fit(MAILS, LABELS)
    found = save_and_load(model, tmp_path)
    for one in (model, found):
        one.partial_fit(["brand new unicorn lunch"], ["ham"])
        one.forget(MAILS[:1], LABELS[:1])
    both = found + model
    assert tally_by_name(found) == tally_by_name(model)
    np.testing.assert_array_equal(found.predict_proba(NEW), model.predict_proba(NEW))
    assert both.tally_.weights.sum() == 2 * model.tally_.weights.sum()


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_pickled_classifier_answers_the_same(settings):
    model = TextClassifier(**settings).fit(MAILS, LABELS)
    found = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(found.predict_proba(NEW), model.predict_proba(NEW))


def test_a_pruned_classifier_is_still_pruned_when_loaded(tmp_path):
    model = TextClassifier(calibrate=None).fit(MAILS, LABELS).prune(2)
    found = save_and_load(model, tmp_path)
    found.forget(MAILS[:1], LABELS[:1])
    assert found.tally_.weights.sum() == len(MAILS) - 1


def test_a_stale_calibration_is_still_stale_when_loaded(tmp_path):
    model = TextClassifier().fit(MAILS, LABELS)
    with pytest.warns(StaleCalibrationWarning):
        model.partial_fit(["lunch"], ["ham"])
    assert save_and_load(model, tmp_path).calibration_stale_


def test_what_no_file_can_hold_is_not_saved(tmp_path):
    words = CountVectorizer(tokenizer=str.split, token_pattern=None)
    model = TextClassifier(words=words, calibrate=None).fit(MAILS, LABELS)
    with pytest.raises(ModelFileError, match="the parameter 'tokenizer' holds what no file can"):
        model.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="it has learned nothing yet"):
        TextClassifier().save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("settings", [{}, {"vocabulary": ["noon"]}, {"min_df": 2}], ids=str)
def test_a_saved_vectorizer_counts_the_same_and_goes_on_learning(settings, tmp_path):
    counter = CountVectorizer(**settings).fit(MAILS)
    found = save_and_load(counter, tmp_path)
    for one in (counter, found):
        one.partial_fit(["unicorns for lunch"])
    names = counter.get_feature_names_out().tolist()
    assert found.get_feature_names_out().tolist() == names
    assert found.term_counts_.tolist() == counter.term_counts_.tolist()
    assert found.document_counts_.tolist() == counter.document_counts_.tolist()
    assert found.n_documents_ == counter.n_documents_
    expected = counter.transform(NEW)
    assert (found.transform(NEW) != expected).nnz == 0
    assert found.transform(NEW).dtype == expected.dtype


# A regular expression that a file brings: (a+)+ takes twice as long for every further a.

HANGS = r"(?:a+)+$"


@pytest.mark.parametrize("pattern", sorted(LETTER_RUNS))
def test_patterns_that_our_own_loops_follow_need_no_trust(pattern, tmp_path):
    words = CountVectorizer(token_pattern=pattern)
    model = TextClassifier(words=words, calibrate=None).fit(MAILS, LABELS)
    assert save_and_load(model, tmp_path).words.token_pattern == pattern
    assert save_and_load(words.fit(MAILS), tmp_path).transform(NEW).shape[0] == len(NEW)


@pytest.mark.parametrize("pattern", [HANGS, r"\S+", r"[", ""])
def test_any_other_pattern_is_refused_unless_it_is_trusted(pattern, tmp_path):
    path = tmp_path / "model"
    for model, setting in (
        (CountVectorizer().fit(MAILS), ["settings"]),
        (
            TextClassifier(words=CountVectorizer(), calibrate=None).fit(MAILS, LABELS),
            ["settings", "words", "holds", "settings"],
        ),
    ):
        model.save(path)
        document, tensors = taken_apart(path.read_bytes())
        within = document
        for name in setting:
            within = within[name]
        within["token_pattern"] = pattern
        path.write_bytes(put_together(document, tensors))
        with pytest.raises(
            ModelFileError,
            match=r"Cannot load '.*': Its CountVectorizer cuts documents with the regular expres"
            r"sion .* If you trust where the file comes from: load\(path, trust_patterns=True\)\.$",
        ):
            suffice.load(path)


def test_a_pattern_of_ones_own_is_saved_and_loaded_with_trust(tmp_path):
    words = CountVectorizer(token_pattern=r"[a-z]{4,}")
    model = TextClassifier(words=words, calibrate=None).fit(MAILS, LABELS)
    path = tmp_path / "model"
    model.save(path)
    found = suffice.load(path, trust_patterns=True)
    np.testing.assert_array_equal(found.predict_proba(NEW), model.predict_proba(NEW))
    words.fit(MAILS).save(path)
    found = suffice.load(path, trust_patterns=True)
    assert found.get_feature_names_out().tolist() == words.get_feature_names_out().tolist()


def test_a_trusted_pattern_that_is_none_is_still_refused(tmp_path):
    def change(document, tensors):
        document["settings"]["token_pattern"] = "["

    path = tmp_path / "model"
    with pytest.raises(ModelFileError, match="trust_patterns"):
        damaged(CountVectorizer().fit(MAILS), tmp_path, change)
    with pytest.raises(ModelFileError, match=r"token_pattern '\[' is no regular expression"):
        suffice.load(path, trust_patterns=True)


def damaged(model, folder, change):
    """Load the file of a model after changing its document and its tensors."""
    path = folder / "model"
    model.save(path)
    document, tensors = taken_apart(path.read_bytes())
    document, tensors = copy.deepcopy(document), dict(tensors)
    change(document, tensors)
    path.write_bytes(put_together(document, tensors))
    return suffice.load(path)


def set_tensor(name, values):
    def change(document, tensors):
        assert name in tensors, sorted(tensors)
        tensors[name] = tensor(values(tensors[name]) if callable(values) else values)

    return change


def set_state(name, value):
    def change(document, tensors):
        document["state"][name] = value

    return change


def set_setting(name, value):
    def change(document, tensors):
        document["settings"][name] = value

    return change


def drop(name):
    def change(document, tensors):
        document["state"].pop(name)
        for tensor_name in [one for one in tensors if one.split(".")[0] == name]:
            tensors.pop(tensor_name)

    return change


WIDTH = len(TextClassifier(calibrate=None).fit(MAILS, LABELS).terms_)
FULL = np.ones((3, WIDTH))
HOSTILE = {
    "counts of another width": set_tensor("tally_.parts.counts", FULL[:, 1:]),
    "counts of another class": set_tensor("tally_.parts.counts", FULL[1:]),
    "counts below zero": set_tensor("tally_.parts.counts", -FULL),
    "endless counts": set_tensor("tally_.parts.counts", FULL * np.inf),
    "terms of no document": set_tensor("tally_.parts.counts", FULL * 0),
    "no terms": drop("terms"),
    "no word on closed classes": drop("classes_closed_"),
    "terms that are numbers": set_state("terms", [1, 2]),
    "a length discount out of range": set_state("_fading", 2.0),
    "a length discount that is text": set_state("_fading", "a"),
    "a factor of zero": set_state("_alpha_factor", 0.0),
    "a pruning that is no yes or no": set_state("pruned_", 3),
    "offsets of other classes": set_tensor("calibration_.offsets", np.zeros(7)),
    "a refinement without a bias": set_state("refined_weights", [1.0]),
    "a state that there is not": set_state("_terms", "a"),
    "runs that there are none of": set_setting("ngrams", {"is": "tuple", "items": [3, 1]}),
    "runs of text": set_setting("ngrams", {"is": "tuple", "items": ["a", "b"]}),
    "another event": set_setting("event", "gaussian"),
    "another weighting": set_setting("weighting", "tfidf"),
    "words that are text": set_setting("words", "all"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_classifier_is_refused(name, tmp_path):
    model = TextClassifier().fit(MAILS, LABELS)
    with pytest.raises(ModelFileError, match="Cannot load"):
        damaged(model, tmp_path, HOSTILE[name])


def test_bernoulli_terms_in_more_documents_than_there_are_are_refused(tmp_path):
    model = TextClassifier(event="bernoulli").fit(MAILS, LABELS)
    with pytest.raises(ModelFileError, match="more documents than there are"):
        damaged(model, tmp_path, set_tensor("tally_.parts.counts", 9 * FULL))


def test_a_refinement_of_another_shape_is_refused(tmp_path):
    documents, y = corpus(40, 2)
    model = TextClassifier(refine="logistic").fit(documents, y)
    for name, values in (("refined_weights", np.ones((2, 3))), ("refined_bias", np.ones(5))):
        with pytest.raises(ModelFileError, match=name):
            damaged(model, tmp_path, set_tensor(name, values))


def test_terms_that_are_there_twice_are_refused(tmp_path):
    model = TextClassifier(calibrate=None).fit(["ab cd", "ab"], ["a", "b"])

    def twice(document, tensors):
        tensors["terms.letters"] = tensor(np.frombuffer(b"abab", np.uint8))

    with pytest.raises(ModelFileError, match="not all texts, each once"):
        damaged(model, tmp_path, twice)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_tensor("term_counts_", [1]), "is not 2 counts"),
        (set_tensor("term_counts_", [1.0, 2.0]), "no array of whole numbers"),
        (set_tensor("document_counts_", [-1, 1]), "is not 2 counts"),
        (set_state("n_documents_", -1), "It learned -1 documents"),
        (set_state("n_documents_", 1.5), "It learned 1.5 documents"),
        (drop("terms"), "Its terms are no texts"),
        (set_setting("ngram_range", {"is": "tuple", "items": [2, 1]}), "ngram_range"),
        (set_setting("dtype", {"is": "number type", "name": "object"}), "type of numbers"),
    ],
)
def test_a_hostile_vectorizer_is_refused(change, message, tmp_path):
    with pytest.raises(ModelFileError, match=message):
        damaged(CountVectorizer().fit(["ab cd", "ab"]), tmp_path, change)
