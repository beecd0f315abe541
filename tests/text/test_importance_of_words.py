"""Which words matter: what documents lose without a word, and what it says alone."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score

import suffice
from saved_cases import put_together, taken_apart, tensor
from suffice import TextClassifier, rank_features
from suffice.errors import InputError, ModelFileError
from suffice.text.classify import importance

USEFUL, USELESS = ("cheap", "lunch"), ("you", "today")


def mails(n, seed, classes=2, rare=100):
    """Return documents of common words, words of their class, and a few rare ones."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    own = np.array(["lunch", "cheap", "report"])
    documents = []
    for label in y.tolist():
        words = list(rng.choice(["you", "today", "at", "the", "now"], rng.integers(1, 6)))
        words += [own[label]] * int(rng.random() < 0.5)
        words += [own[rng.integers(0, classes)]] * int(rng.random() < 0.2)
        words += [f"rare{rng.integers(0, rare)}"]
        documents.append(" ".join(rng.permutation(words)))
    return documents, np.array(["ham", "spam", "work"])[y]


def taken_out(documents, word):
    return [" ".join(w for w in text.split() if w != word) for text in documents]


def losses(model, documents, y):
    own = np.searchsorted(model.classes_, y)
    return -model.predict_log_proba(documents)[np.arange(len(y)), own]


SETTINGS = [
    {},
    {"event": "bernoulli"},
    {"event": "complement"},
    {"event": "polya"},
    {"weighting": "tfidf"},
    {"unknown": "smooth"},
    {"event": "bernoulli", "unknown": "smooth"},
    {"calibrate": None},
    {"refine": "logistic"},
]


# ---- measured on documents that are given


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_loss_on_given_documents_is_that_of_documents_without_the_word(settings, classes):
    model = TextClassifier(**settings).fit(*mails(300, 0, classes))
    documents, y = mails(100, 1, classes)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, 100)
    found = model.importance(documents, y, weight)
    before = losses(model, documents, y)
    for word in (*USEFUL, *USELESS, "now"):
        more = losses(model, taken_out(documents, word), y) - before
        mean = np.average(more, weights=weight)
        error = np.sqrt(np.average((more - mean) ** 2, weights=weight) / weight.sum())
        assert found[word]["log_loss_increase"] == pytest.approx(mean, rel=1e-6, abs=1e-9)
        assert found[word]["standard_error"] == pytest.approx(error, rel=1e-6, abs=1e-9)
    assert found.log_loss == pytest.approx(np.average(before, weights=weight))


def test_documents_are_scored_in_batches_as_they_are_at_once(monkeypatch):
    model = TextClassifier().fit(*mails(300, 0))
    whole = model.importance(*mails(100, 1))
    monkeypatch.setattr(importance, "MAX_CELLS", 7)
    batches = model.importance(*mails(100, 1))
    pd.testing.assert_frame_equal(batches.to_frame(), whole.to_frame())


def test_labels_that_are_missing_or_unknown_are_refused():
    model = TextClassifier().fit(*mails(100, 0))
    with pytest.raises(InputError, match=r"X without y: .* Give the labels too"):
        model.importance(["cheap lunch"])
    with pytest.raises(InputError, match="label 'eggs' in row 1 was never learned"):
        model.importance(["cheap", "lunch"], ["ham", "eggs"])
    with pytest.raises(ValueError, match="not fitted"):
        TextClassifier().importance()


# ---- measured at fit


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("event", ["multinomial", "bernoulli", "polya"])
def test_a_useless_word_is_not_missed_and_a_useful_one_is(event, seed):
    found = TextClassifier(event=event).fit(*mails(800, seed)).importance()
    for word in USELESS:
        assert abs(found[word]["log_loss_increase"]) <= 3 * found[word]["standard_error"] + 1e-3
    for word in USEFUL:
        assert found[word]["log_loss_increase"] > 5 * found[word]["standard_error"] > 0
    assert {found.names[at] for at in found.order[:2]} == set(USEFUL)


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS[:-2], ids=str)
@pytest.mark.parametrize("size", [600, 3500])
def test_what_was_measured_at_fit_is_what_new_documents_lose(settings, size):
    model = TextClassifier(**settings).fit(*mails(size, 0))
    fitted, fresh = model.importance(), model.importance(*mails(4000, 1))
    both = fitted.measured & fresh.measured
    apart = np.hypot(fitted.standard_error, fresh.standard_error)[both]
    more = (fitted.log_loss_increase - fresh.log_loss_increase)[both]
    assert both.sum() > 50
    assert np.all(np.abs(more) <= 4.5 * apart + 2e-3)
    assert fitted.log_loss == pytest.approx(fresh.log_loss, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("event", ["multinomial", "bernoulli", "complement", "polya"])
@pytest.mark.parametrize("size", [300, 3500])
def test_taking_a_word_off_a_score_is_scoring_the_document_without_it(event, size, monkeypatch):
    documents, y = mails(size, 5, classes=3)
    subtracted = TextClassifier(event=event).fit(documents, y).importance()
    monkeypatch.setattr("suffice.text.classify.held_out.must_rescore", lambda fitted: True)
    monkeypatch.setattr("suffice.text.classify.held_out.MAX_RESCORED", 1 << 30)
    rescored = TextClassifier(event=event).fit(documents, y).importance()
    assert rescored.measured.sum() > 50
    np.testing.assert_allclose(rescored.log_loss_increase, subtracted.log_loss_increase, atol=1e-10)
    np.testing.assert_allclose(rescored.standard_error, subtracted.standard_error, atol=1e-9)


def test_of_many_documents_the_first_are_measured(monkeypatch):
    documents, y = mails(500, 0)
    whole = TextClassifier().fit(documents, y).importance()
    monkeypatch.setattr("suffice.text.classify.held_out.MAX_SUBTRACTED", 600)
    some = TextClassifier().fit(documents, y).importance()
    assert whole.weight == 500
    assert 50 <= some.weight < 200
    assert some.standard_error[some.names.index("cheap")] > whole["cheap"]["standard_error"]


def test_the_200_words_of_most_mutual_information_are_measured():
    model = TextClassifier().fit(*mails(3000, 0, rare=500))
    found = model.importance()
    assert len(found.names) > 400
    assert found.measured.sum() == 200
    least = found.mutual_information[found.measured].min()
    assert least >= found.mutual_information[~found.measured].max()
    lines = str(found).splitlines()
    assert lines[0].endswith("measured at fit on 3,000 held-out documents")
    assert (
        lines[-1] == f"and {len(found.names) - 20} more; {len(found.names) - 200} were not measured"
    )
    assert np.isnan(found.to_frame().log_loss_increase[200:]).all()


def test_rare_words_that_say_more_than_frequent_ones_are_found():
    counts = np.random.default_rng(0).poisson(3.0, (2, 5000)).astype(float)
    counts[:, :4000] += 50  # frequent, and much the same in both classes
    counts[0, 4500:4520] = 40.0
    counts[1, 4500:4520] = 0.0
    totals = counts.sum(axis=1)
    found = importance.informative_words(counts, totals)
    information = importance._information(counts, totals)
    assert set(found) == set(np.argsort(-information, kind="stable")[:200])
    assert set(range(4500, 4520)) <= set(found)


def test_mutual_information_and_bayes_factors_are_those_of_the_tally():
    documents, y = mails(300, 0)
    model = TextClassifier(event="bernoulli").fit(documents, y)
    found, ranking = model.importance(), rank_features(model)
    for word in (*USEFUL, *USELESS):
        has = [word in text.split() for text in documents]
        assert found[word]["mutual_information"] == pytest.approx(mutual_info_score(has, y))
    np.testing.assert_array_equal(found.log_bayes_factor, ranking.log_bayes_factor)


@pytest.mark.parametrize("settings", [{"calibrate": None}, {"refine": "logistic"}], ids=str)
def test_without_calibration_nothing_is_held_out(settings):
    found = TextClassifier(**settings).fit(*mails(200, 0)).importance()
    assert not found.measured.any()
    assert "No documents were held out to measure the log-loss on: fit with calibrate='folds'" in (
        found.note
    )
    assert {found.names[at] for at in found.order[:2]} == set(USEFUL)  # by information
    assert len(found.plot(shown=5).patches) == 5


# ---- what is kept, and for how long


def by_word(found):
    return {found.names[at]: found.log_loss_increase[at] for at in np.flatnonzero(found.measured)}


@pytest.mark.filterwarnings("ignore::suffice.errors.StaleCalibrationWarning")
def test_what_was_measured_stays_with_its_word():
    documents, y = mails(600, 0, rare=500)
    model = TextClassifier().fit(documents[:300], y[:300])
    before = by_word(model.importance())
    model.merge(TextClassifier().fit(documents[300:], y[300:]))
    assert by_word(model.importance()) == before
    assert model.importance().note.endswith("; documents were learned or forgotten since")
    model.forget(documents[:100], y[:100])
    left = set(model.importance().names)
    assert not set(before) <= left
    assert by_word(model.importance()) == {word: before[word] for word in before if word in left}
    model.prune(20)
    assert set(by_word(model.importance())) == set(before) & set(model.importance().names)
    model.partial_fit(["report report"], ["work"])
    assert not model.importance().measured.any()


def test_a_copy_from_a_file_has_measured_the_same(tmp_path):
    model = TextClassifier().fit(*mails(300, 0))
    model.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model").importance()
    pd.testing.assert_frame_equal(loaded.to_frame(), model.importance().to_frame())
    assert loaded.note == model.importance().note


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("features", lambda array: array + 10_000),
        ("features", lambda array: array[::-1].copy()),
        ("mean", lambda array: array * np.inf),
        ("error", lambda array: -1.0 - array),
        ("error", lambda array: array[1:].copy()),
    ],
    ids=["no such word", "not in order", "endless", "below 0", "too few"],
)
def test_absurd_losses_in_a_file_are_refused(name, change, tmp_path):
    model = TextClassifier().fit(*mails(300, 0))
    model.save(tmp_path / "whole")
    document, tensors = taken_apart((tmp_path / "whole").read_bytes())
    document, tensors = copy.deepcopy(document), dict(tensors)
    saved = dict(document["state"]["loss_increase"]["items"])
    with np.errstate(invalid="ignore"):
        value = change(np.array(getattr(model._fitted.loss_increase, name)))
    tensors[saved[name]["tensor"]] = tensor(value)
    (tmp_path / "model").write_bytes(put_together(document, tensors))
    with pytest.raises(ModelFileError, match=r"of the log-loss|Its '(mean|error)'"):
        suffice.load(tmp_path / "model")
