"""Documents from anywhere: columns of all kinds, missing values, generators read once."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice import TextClassifier
from suffice.errors import InputError, OneClassWarning, StaleCalibrationWarning
from textclassifier_cases import LABELS, MAILS, corpus, event_cases, tally_by_name

NEW = ["cheap lunch at noon", "quarterly pills", "never seen", ""]
COLUMNS = {
    "tuple": tuple,
    "numpy str": np.array,
    "numpy objects": lambda texts: np.array(texts, object),
    "pandas": pd.Series,
    "pandas Arrow": lambda texts: pd.Series(texts, dtype="string[pyarrow]"),
    "polars": pl.Series,
    "Arrow": pa.array,
    "Arrow chunks": lambda texts: pa.chunked_array([texts[:3], texts[3:]]),
    "Arrow large": lambda texts: pa.array(texts, pa.large_string()),
    "bytes": lambda texts: [text.encode() for text in texts],
}
LABEL_COLUMNS = {
    "numpy": np.array,
    "objects": lambda labels: np.array(labels, object),
    "pandas": pd.Series,
    "polars": pl.Series,
    "Arrow": pa.array,
}


def plain(**given):
    return TextClassifier(**{"calibrate": None} | given)


def batches(documents, labels, size):
    for start in range(0, len(documents), size):
        yield documents[start : start + size], labels[start : start + size]


@pytest.mark.slow
@pytest.mark.parametrize("kind", COLUMNS)
def test_documents_come_in_columns_of_any_kind(kind):
    column = COLUMNS[kind]
    expected = TextClassifier().fit(MAILS, LABELS)
    found = TextClassifier().fit(column(MAILS), LABELS)
    assert tally_by_name(found) == tally_by_name(expected)
    np.testing.assert_array_equal(found.predict_proba(column(NEW)), expected.predict_proba(NEW))


@pytest.mark.parametrize("kind", LABEL_COLUMNS)
def test_labels_come_in_columns_of_any_kind(kind):
    found = TextClassifier().fit(MAILS, LABEL_COLUMNS[kind](LABELS))
    expected = TextClassifier().fit(MAILS, LABELS)
    assert found.predict(MAILS).tolist() == expected.predict(MAILS).tolist()


@pytest.mark.parametrize("labels", [[0, 1] * 5, [True, False] * 5, np.arange(10) % 2 == 0])
def test_labels_may_be_numbers(labels):
    model = TextClassifier().fit(MAILS, labels)
    assert model.classes_.dtype == np.asarray(labels).dtype
    assert set(model.predict(NEW).tolist()) <= set(np.asarray(labels).tolist())


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize(("event", "unknown"), event_cases)
def test_a_missing_document_has_no_words(event, unknown, missing):
    with_missing = np.array([*MAILS[:3], "", *MAILS[3:]], object)
    full = plain(event=event, unknown=unknown).fit(with_missing, [*LABELS[:3], "ham", *LABELS[3:]])
    with_missing[3] = missing
    model = plain(event=event, unknown=unknown).fit(with_missing, [*LABELS[:3], "ham", *LABELS[3:]])
    assert tally_by_name(model) == tally_by_name(full)
    np.testing.assert_array_equal(model.predict_proba([missing]), full.predict_proba([""]))


def test_one_document_is_one_class():
    with pytest.warns(OneClassWarning, match="one class only, 'spam'"):
        model = TextClassifier().fit(["cheap pills"], ["spam"])
    assert model.predict(NEW).tolist() == ["spam"] * 4
    np.testing.assert_array_equal(model.predict_proba(NEW), np.ones((4, 1)))


def test_documents_without_any_word_are_refused():
    with pytest.raises(InputError, match="No document has a word: the vocabulary is empty"):
        TextClassifier().fit(["", "a ? !", None], ["ham", "spam", "ham"])


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("settings", [{}, {"weighting": "tfidf"}, {"unknown": "smooth"}], ids=str)
def test_batches_that_pass_by_are_learned_as_a_list_is(size, settings):
    documents, y = corpus(60)
    whole = plain(**settings).fit(documents, y)
    found = plain(**settings).fit(batches(documents, y, size))
    mine, theirs = tally_by_name(found), tally_by_name(whole)
    for label in theirs:
        assert mine[label][0] == theirs[label][0]
        for part, same in zip(mine[label][1], theirs[label][1], strict=True):
            assert part == pytest.approx(same)
    np.testing.assert_allclose(found.predict_proba(NEW), whole.predict_proba(NEW), rtol=1e-9)


def test_what_passed_by_is_not_calibrated_until_it_is_seen_again():
    documents, y = corpus(60)
    model, whole = TextClassifier(), TextClassifier().fit(documents, y)
    with pytest.warns(StaleCalibrationWarning, match="cannot be calibrated"):
        model.fit(batches(documents, y, 7))
    assert not hasattr(model, "calibration_")
    model.refresh_calibration(documents, y)
    assert model.alpha_ == pytest.approx(whole.alpha_)
    assert model.calibration_.inverse_temperature == pytest.approx(
        whole.calibration_.inverse_temperature
    )
    np.testing.assert_allclose(model.predict_proba(NEW), whole.predict_proba(NEW), rtol=1e-7)


def test_what_passed_by_is_not_refined_until_it_is_seen_again():
    documents, y = corpus(60)
    model = TextClassifier(refine="logistic", calibrate=None)
    with pytest.warns(StaleCalibrationWarning, match="cannot be refined"):
        model.fit(batches(documents, y, 7))
    model.refresh_calibration(documents, y)
    whole = TextClassifier(refine="logistic").fit(documents, y)
    np.testing.assert_allclose(model.predict_proba(NEW), whole.predict_proba(NEW), rtol=1e-3)


def test_a_batch_that_cannot_be_learned_leaves_the_model_as_it_was():
    model = plain().fit(MAILS, LABELS)
    before = dict(vars(model))
    for last, message in (
        ((["fine", 3], ["ham", "spam"]), "3"),
        ((["fine"], [None]), "None"),
        ((["fine"], [1]), "different types"),
        (["no labels"], "Give pairs"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(iter([(MAILS, LABELS), last]))
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[name] is thing for name, thing in before.items())
    with pytest.raises(InputError, match="The generator gave no documents"):
        model.fit(iter([]))
    with pytest.raises(InputError, match="Give pairs"):
        model.fit(iter(["cheap pills"]))


def test_a_generator_of_documents_goes_with_labels_in_a_list():
    model = plain().fit((text for text in MAILS), LABELS)
    assert tally_by_name(model) == tally_by_name(plain().fit(MAILS, LABELS))


STREAM = """
import resource
import numpy as np
from suffice import TextClassifier

rng = np.random.default_rng(0)
batch = [" ".join(f"w{n}" for n in rng.integers(0, 2000, 300)) for _ in range(400)]
labels = ["ham", "spam"] * 200

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

def batches():
    for at in range(100):
        if at == 20:
            print(most())
        yield batch, labels

TextClassifier(alpha=1.0, calibrate=None).fit(batches())
print(most())
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_batches():
    command = [sys.executable, "-c", STREAM]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    early, late = map(int, printed.split())
    # Rows that were kept would take 100 MB here.
    assert late < early + 20_000
