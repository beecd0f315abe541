"""The sample of rows that a model keeps: chosen by content, following what is learned."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from classifier_cases import mixed
from suffice import (
    BernoulliNB,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    MultinomialNB,
    TextClassifier,
)
from suffice.data import Rows, array_hashes
from suffice.errors import InputError, StaleCalibrationWarning
from suffice.validation.row_sample import RowSample

# A row is a whole number, which its hash depends on, with a label and a weight.
ROW = st.tuples(st.integers(0, 30), st.sampled_from("abc"), st.sampled_from([0.25, 1.0, 3.0]))
HISTORY = st.lists(st.lists(ROW, min_size=1, max_size=8), min_size=1, max_size=6)


def sampled(batch, most=8):
    numbers, labels, weights = (np.array(part) for part in zip(*batch, strict=True))
    classes, codes = np.unique(labels, return_inverse=True)
    X = numbers[:, None].astype(float)
    rows = Rows(X, codes.astype(np.int32), len(classes), weights.astype(float))
    return RowSample.of(rows, classes, array_hashes(X), most)


def contents(sample):
    """Return the weight of each number and label in a sample."""
    labels = sample.labels[sample.rows.codes].tolist()
    keys = zip(sample.rows.X[:, 0].astype(int).tolist(), labels, strict=True)
    found = dict(zip(keys, sample.rows.weights.tolist(), strict=True))
    assert len(found) == len(sample)
    return found


def brute_force(rows, most=8):
    """Return what a sample must hold: the weights of the numbers of the lowest hashes."""
    numbers = sorted({row[0] for row in rows})
    hashes = array_hashes(np.array(numbers, float).reshape(-1, 1)).tolist()
    kept = {number for _, number in sorted(zip(hashes, numbers, strict=True))[:most]}
    found = {}
    for number, label, weight in rows:
        if number in kept:
            found[number, label] = found.get((number, label), 0.0) + weight
    return found


@pytest.mark.slow
@given(HISTORY, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_neither_order_nor_batches_matter(batches, random):
    rows = [row for batch in batches for row in batch]
    whole = sampled(rows)
    assert contents(whole) == brute_force(rows)
    random.shuffle(rows)
    cut = random.randint(0, len(rows) - 1)
    grown = sampled(rows[: cut + 1])
    for row in rows[cut + 1 :]:
        grown = grown.merge(sampled([row]))
    assert contents(grown) == contents(whole)
    assert grown.limit == whole.limit
    assert len(set(grown.hashes.tolist())) <= 8


@given(HISTORY)
@settings(max_examples=100, deadline=None)
def test_learning_and_forgetting_is_nothing_while_all_rows_are_kept(batches):
    first, *later = (sampled(batch, most=100) for batch in batches)
    grown = first
    for batch in later:
        grown = grown.merge(batch)
    for batch in later:
        grown = grown.forget(batch)
    assert contents(grown) == contents(first)
    np.testing.assert_array_equal(grown.labels, first.labels)
    assert len(grown.forget(first)) == 0


@given(HISTORY)
@settings(max_examples=100, deadline=None)
def test_beyond_the_bound_what_is_left_are_rows_of_the_lowest_hashes(batches):
    grown = sampled(batches[0])
    for batch in batches[1:]:
        grown = grown.merge(sampled(batch))
    for batch in batches[1:]:
        grown = grown.forget(sampled(batch, most=None))
    expected = brute_force([row for batch in batches for row in batch])
    kept = {number for number, _ in expected}
    left = brute_force(batches[0], most=None)
    assert contents(grown) == {key: left[key] for key in left if key[0] in kept}


def test_weights_scale_and_rows_are_counted():
    sample = sampled([(1, "a", 1.0), (1, "a", 3.0), (2, "b", 1.0)])
    assert contents(sample.scale(0.5)) == {(1, "a"): 2.0, (2, "b"): 0.5}
    expanded = sample.expand()
    assert sorted(expanded.X[:, 0]) == [1.0, 1.0, 2.0]
    assert sorted(expanded.weights) == [1.0, 2.0, 2.0]


def test_rows_that_are_not_there_are_not_forgotten():
    sample = sampled([(1, "a", 1.0), (2, "b", 1.0)])
    assert contents(sample.forget(sampled([(1, "b", 1.0), (9, "a", 1.0)]))) == contents(sample)
    assert not sample.holds(sampled([(1, "b", 1.0)]))
    assert sample.holds(sampled([(1, "a", 1.0)]))


# ---- models that keep one


def quietly(act, *given, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return act(*given, **named)


RNG = np.random.default_rng(3)
COUNTS = RNG.poisson(np.where(np.arange(200)[:, None] % 2, 2.0, 1.0), (200, 5)).astype(float)
LABELS = np.where(np.arange(200) % 2, "spam", "ham")
MODELS = {
    "GaussianNB": lambda: GaussianNB(calibrate="folds"),
    "BernoulliNB": lambda: BernoulliNB(calibrate="folds"),
    "MultinomialNB": lambda: MultinomialNB(calibrate="folds"),
    "GaussianDiscriminant": lambda: GaussianDiscriminant(calibrate="folds"),
}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_calibration_is_refitted_to_kept_rows(name, sparse):
    X = csr_array(COUNTS) if sparse and name != "GaussianNB" else COUNTS
    model = MODELS[name]().fit(X[:60], LABELS[:60])
    quietly(model.partial_fit, X[60:150], LABELS[60:150])
    quietly(model.partial_fit, COUNTS[150:], LABELS[150:])  # whatever was sparse before
    quietly(model.forget, X[:30], LABELS[:30])
    other = MODELS[name]().fit(X[:30], LABELS[:30])
    quietly(model.merge, other)
    assert model.calibration_stale_
    model.refresh_calibration()
    assert not model.calibration_stale_
    whole = MODELS[name]().fit(COUNTS, LABELS)
    np.testing.assert_allclose(
        model.predict_proba(COUNTS), whole.predict_proba(COUNTS), rtol=1e-6, atol=1e-12
    )


DOCUMENTS = [
    " ".join(RNG.choice(["pills", "cheap", "now", "lunch", "noon", "report", f"word{at}"], 6))
    for at in range(200)
]
TEXTS = {
    "plain": {},
    "smooth": {"unknown": "smooth"},
    "bernoulli": {"event": "bernoulli"},
    "tfidf": {"weighting": "tfidf"},
}


@pytest.mark.slow
@pytest.mark.parametrize("case", TEXTS)
def test_text_is_recalibrated_on_kept_documents(case):
    def make():
        return TextClassifier(**TEXTS[case])

    model = make().fit(DOCUMENTS[:60], LABELS[:60])
    quietly(model.partial_fit, DOCUMENTS[60:], LABELS[60:])
    quietly(model.forget, DOCUMENTS[:30], LABELS[:30])
    quietly(model.merge, make().fit(DOCUMENTS[:30][::-1], LABELS[:30][::-1]))
    model.refresh_calibration()
    whole = make().fit(DOCUMENTS, LABELS)
    np.testing.assert_allclose(
        model.predict_proba(DOCUMENTS), whole.predict_proba(DOCUMENTS), rtol=1e-6, atol=1e-12
    )


def test_kept_documents_follow_pruned_terms():
    model = TextClassifier().fit(DOCUMENTS, LABELS)
    quietly(model.prune, 7)  # each word of one document is there 6 times at most
    copied = pickle.loads(pickle.dumps(model))
    model.refresh_calibration()
    common = [" ".join(t for t in text.split() if t[:4] != "word") for text in DOCUMENTS]
    whole = TextClassifier(calibrate=None).fit(common, LABELS).refresh_calibration(common, LABELS)
    np.testing.assert_allclose(
        model.predict_proba(common), whole.predict_proba(common), rtol=1e-6, atol=1e-12
    )
    quietly(copied.forget, DOCUMENTS[:50], LABELS[:50])
    assert copied._fitted.sample.rows.weights.sum() == 150


def test_a_generator_of_documents_can_be_calibrated_afterwards():
    batches = ((DOCUMENTS[at : at + 50], LABELS[at : at + 50]) for at in range(0, 200, 50))
    model = quietly(TextClassifier().fit, batches)
    whole = TextClassifier().fit(DOCUMENTS, LABELS)
    np.testing.assert_allclose(
        model.refresh_calibration().predict_proba(DOCUMENTS), whole.predict_proba(DOCUMENTS),
        rtol=1e-6, atol=1e-12,
    )  # fmt: skip


FRAME, FRUITS = mixed()


@pytest.mark.parametrize("call", ["refresh_weights", "refresh_calibration"])
def test_weights_of_a_table_are_refitted_to_kept_rows(call):
    model = GenerativeClassifier(budget=0).fit(FRAME, FRUITS)
    like = GenerativeClassifier(model.families_).fit(FRAME[:120], FRUITS[:120])
    quietly(like.partial_fit, FRAME[120:], FRUITS[120:])
    quietly(like.forget, FRAME[:50], FRUITS[:50])
    quietly(like.merge, GenerativeClassifier(model.families_).fit(FRAME[:50], FRUITS[:50]))
    assert like.weights_stale_
    getattr(like, call)()
    assert not like.weights_stale_
    np.testing.assert_allclose(like.predict_proba(FRAME), model.predict_proba(FRAME), rtol=1e-6)


def test_decay_scales_what_is_kept():
    model = quietly(GenerativeClassifier(budget=0).fit(FRAME, FRUITS).decay, 0.5)
    quietly(model.refresh_weights)
    same = GenerativeClassifier(model.families_).fit(FRAME, FRUITS, np.full(len(FRAME), 0.5))
    np.testing.assert_allclose(model.predict_proba(FRAME), same.predict_proba(FRAME), rtol=1e-6)


def test_a_window_keeps_its_own_rows_only():
    model = GenerativeClassifier(budget=0).window(40)
    for at in range(0, 120, 20):
        quietly(model.partial_fit, FRAME[at : at + 20], FRUITS[at : at + 20])
    assert model._fitted.sample.rows.weights.sum() == 40
    quietly(model.refresh_weights)
    last = GenerativeClassifier(model.families_).fit(FRAME[80:120], FRUITS[80:120])
    np.testing.assert_allclose(model.predict_proba(FRAME), last.predict_proba(FRAME), rtol=1e-6)


def test_a_sample_of_many_rows_calibrates_nearly_as_all_of_them_do():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 30_000)
    # Every column three times: naive Bayes is far too sure of itself.
    X = np.repeat(rng.normal(y[:, None], 2.0, (30_000, 4)), 3, axis=1)
    model = GaussianNB(calibrate="folds").fit(X, y)
    assert len(model._fitted.sample) == 5000
    assert not model._fitted.sample.complete
    all_rows = model.calibration_.inverse_temperature
    model.refresh_calibration()
    assert model.calibration_.inverse_temperature == pytest.approx(all_rows, rel=0.1)
    assert model.calibration_.inverse_temperature < 0.5


# ---- one warning, which names the cure


def test_one_warning_a_model_names_the_cure():
    model = GaussianNB(calibrate="folds").fit(COUNTS[:50], LABELS[:50])
    with pytest.warns(StaleCalibrationWarning, match=r"refresh_calibration\(\) fits it again"):
        model.partial_fit(COUNTS[50:60], LABELS[50:60])
    for at in range(60, 100, 10):  # warnings are errors here
        model.partial_fit(COUNTS[at : at + 10], LABELS[at : at + 10])
    model.refresh_calibration().forget(COUNTS[50:60], LABELS[50:60])
    assert model.calibration_stale_
    model.fit(COUNTS[:50], LABELS[:50])
    with pytest.warns(StaleCalibrationWarning):
        model.partial_fit(COUNTS[50:60], LABELS[50:60])


@pytest.mark.parametrize("make", [GenerativeClassifier, TextClassifier])
def test_one_warning_a_model_of_tables_and_texts(make):
    X = FRAME if make is GenerativeClassifier else DOCUMENTS
    y = FRUITS if make is GenerativeClassifier else LABELS
    model = make().fit(X[:100], y[:100])
    with pytest.warns(StaleCalibrationWarning, match=r"refresh_\w+\(\) fits it again"):
        model.partial_fit(X[100:110], y[100:110])
    model.forget(X[100:110], y[100:110])
    model.refresh_calibration()
    model.partial_fit(X[100:110], y[100:110])


# ---- who keeps none


def test_without_calibration_no_rows_are_kept():
    model = GaussianNB().fit(COUNTS, LABELS)
    assert model._fitted.sample is None
    with pytest.raises(InputError, match=r"keeps no rows.*Give all learned rows"):
        model.refresh_calibration()
    # Rows that are learned later are no sample of all rows.
    quietly(model.set_params(calibrate="folds").partial_fit, COUNTS[:5], LABELS[:5])
    assert model._fitted.sample is None


def test_a_model_that_merged_one_without_rows_keeps_none():
    model = GaussianNB(calibrate="folds").fit(COUNTS, LABELS)
    quietly(model.merge, GaussianNB().fit(COUNTS, LABELS))
    with pytest.raises(InputError, match="keeps no rows"):
        model.refresh_calibration()


def test_labels_without_rows_are_refused():
    model = GaussianNB(calibrate="folds").fit(COUNTS, LABELS)
    with pytest.raises(InputError, match="without X"):
        model.refresh_calibration(y=LABELS)


# ---- what is forgotten is gone


@pytest.mark.parametrize("calibrate", ["folds", None])
def test_forgotten_words_and_classes_are_in_no_byte(calibrate):
    model = TextClassifier(calibrate=calibrate).fit(DOCUMENTS, LABELS)
    new = ["alice_smith pills", "cheap alice_smith"], ["mallory", "ham"]
    quietly(model.partial_fit, *new)
    assert b"alice_smith" in pickle.dumps(model)
    quietly(model.forget, *new)
    assert b"alice_smith" not in pickle.dumps(model)
    assert b"mallory" not in pickle.dumps(model)


def test_forgotten_levels_and_texts_are_in_no_byte():
    frame = pd.DataFrame({"city": ["Rome", "Oslo"] * 40, "age": np.arange(80.0) % 7})
    frame["note"] = [f"a note about {word} and more" for word in ("cats", "dogs") * 40]
    model = GenerativeClassifier({"note": "text"}).fit(frame, [0, 1] * 40)
    new = pd.DataFrame({"city": ["alice"], "age": [3.0], "note": ["bobby was here with us"]})
    quietly(model.partial_fit, new, [1])
    assert b"alice" in pickle.dumps(model)
    quietly(model.forget, new, [1])
    assert b"alice" not in pickle.dumps(model)
    assert b"bobby" not in pickle.dumps(model)
