"""Columns of text beside others: chosen, scored, explained, forgotten and saved."""

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from suffice import GenerativeClassifier, load
from suffice.errors import MergeError, StaleCalibrationWarning

RNG = np.random.default_rng(5)
GOOD = ["kind", "quick", "warm", "clean", "friendly", "calm", "fresh", "bright"]
BAD = ["late", "rude", "cold", "dirty", "noisy", "broken", "stale", "dark"]
BOTH = ["the", "room", "and", "staff", "of", "this", "hotel", "were", "very", "much", "so", "again"]


def reviews(rows, rng):
    good = rng.random(rows) < 0.5
    notes = [
        " ".join(rng.permutation([*rng.choice(BOTH, 5), *rng.choice(GOOD if one else BAD, 2)]))
        for one in good
    ]
    frame = pd.DataFrame({"note": notes, "nights": rng.poisson(np.where(good, 4, 2)).astype(float)})
    frame.loc[::9, "note"] = None
    frame.loc[::7, "nights"] = np.nan
    return frame, np.where(good, "again", "never")


FRAME, LABELS = reviews(240, RNG)
LATER, LATER_LABELS = reviews(60, np.random.default_rng(6))


@pytest.fixture(scope="module")
def model():
    return GenerativeClassifier().fit(FRAME, LABELS)


def test_a_column_of_sentences_is_text_without_being_named(model):
    assert model.choices_["note"].family == "text"
    assert np.mean(model.predict(LATER) == LATER_LABELS) > 0.8


def test_a_missing_text_says_nothing(model):
    row = pd.DataFrame({"note": [None], "nights": [np.nan]})
    alone = model.predict_proba(row)
    assert np.allclose(
        alone,
        np.exp(model._fitted.log_prior + model.combination_.offsets)
        / np.exp(logsumexp(model._fitted.log_prior + model.combination_.offsets)),
        atol=1e-3,
    )


def test_words_are_reasons_and_add_up(model):
    row = FRAME.iloc[[1]]
    reasons = model.explain(row)
    assert set(FRAME.note[1].split()) & set(reasons.names)
    log_proba = model.predict_log_proba(row)[0]
    at = model.classes_.tolist().index(reasons.target)
    assert reasons.log_odds == pytest.approx(log_proba[at] - log_proba[1 - at], abs=1e-9)
    assert reasons.base + reasons.contributions.sum() == pytest.approx(reasons.log_odds, abs=1e-9)


@pytest.mark.parametrize("family", ["text", "text:bernoulli", "text:complement"])
def test_scores_left_out_are_those_of_the_tally_without_the_row(family):
    model = GenerativeClassifier({"note": family, "nights": "ignore"}, combine="naive")
    model.fit(FRAME, LABELS)
    (block,), (reading,) = model.blocks_, model.posteriors_
    table = model._read(model._fitted, FRAME).table
    codes = np.searchsorted(model.classes_, LABELS).astype(np.int32)
    left_out = reading.leave_one_out(table, codes, np.empty(0))
    for row in (0, 1, 2, 50, 239):
        one = table.take(np.array([row]))
        taken = block.count(one, codes[[row]], 2, np.empty(0))
        without = reading.with_tally(reading.tally - taken)
        np.testing.assert_allclose(left_out[row], without.scores(one)[0], atol=1e-9)


def test_new_words_are_learned_and_forgotten(model):
    other = GenerativeClassifier().fit(FRAME, LABELS)
    more = pd.DataFrame({"note": ["splendid chandelier everywhere indeed"], "nights": [3.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StaleCalibrationWarning)
        other.partial_fit(more, ["again"])
        assert "chandelier" in other.blocks_[0].terms.strings()
        other.forget(more, ["again"])
    ours = other.tally_.parts.parts[0].counts[:, : model.tally_.parts.parts[0].counts.shape[1]]
    np.testing.assert_array_equal(ours, model.tally_.parts.parts[0].counts)


def test_a_saved_model_answers_alike(model, tmp_path):
    model.save(tmp_path / "reviews")
    second = load(tmp_path / "reviews")
    np.testing.assert_array_equal(second.predict_proba(LATER), model.predict_proba(LATER))


def test_short_strings_are_text_if_they_are_named_so():
    frame = pd.DataFrame({"word": ["kind", "rude", "kind", "rude"] * 10})
    model = GenerativeClassifier({"word": "text"}).fit(frame, [1, 0, 1, 0] * 10)
    assert model.predict(pd.DataFrame({"word": ["kind", "rude"]})).tolist() == [1, 0]


def test_drawn_rows_have_texts(model):
    rows, _ = model.sample(20, random_state=0)
    assert rows.shape == (20, 2)
    assert any(isinstance(note, str) and note for note in rows["note"])


def learned_words(model, column="note"):
    """Return how often each class has each word, and how many documents, as plain numbers."""
    at = [block.columns for block in model.blocks_].index((column,))
    terms, counts = model.blocks_[at].terms.strings(), model.tally_.parts.parts[at].counts
    return {
        label: (row[0], {term: n for term, n in zip(terms, row[1:], strict=True) if n})
        for label, row in zip(model.classes_.tolist(), counts.tolist(), strict=True)
    }


def counted_words(frame, labels):
    """Return the same by splitting the documents at their spaces."""
    found = {}
    for label in np.unique(labels).tolist():
        notes = frame.note[labels == label].dropna()
        found[label] = (len(notes), Counter(" ".join(notes).split()))
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::suffice.errors.StaleCalibrationWarning")
@pytest.mark.parametrize("family", ["text", "text:complement"])
def test_merging_tables_with_texts_is_learning_the_documents_of_both(family):
    first, then = FRAME.iloc[:100], FRAME.iloc[100:].copy()
    then.loc[150, "note"] = "splendid chandelier splendid"  # words that only the second knows
    families = {"note": family, "nights": "poisson"}
    model = GenerativeClassifier(families, combine="naive").fit(first, LABELS[:100])
    other = GenerativeClassifier(model.families_, combine="naive").fit(then, LABELS[100:])
    before = learned_words(other)
    model.merge(other)
    whole = pd.concat([first, then])
    assert learned_words(model) == counted_words(whole, LABELS)
    assert learned_words(other) == before
    second = GenerativeClassifier(families, combine="naive").fit(first, LABELS[:100])
    second.partial_fit(then, LABELS[100:])
    np.testing.assert_allclose(model.predict_proba(LATER), second.predict_proba(LATER), rtol=1e-9)


def test_texts_of_other_event_models_do_not_merge():
    one, other = (
        GenerativeClassifier({"note": family, "nights": "ignore"}).fit(FRAME, LABELS)
        for family in ("text", "text:bernoulli")
    )
    with pytest.raises(MergeError, match="only one of the models has a block text of note"):
        one.merge(other)
    tally = other.tally_.parts.parts[0]
    with pytest.raises(MergeError, match="tallied as 'text' and as 'text:bernoulli'"):
        one.blocks_[0].merge(other.blocks_[0], tally, {})


@pytest.mark.parametrize(
    ("family", "of_a_class"),
    [("text", lambda words: words - 1), ("text:bernoulli", lambda words: words)],
)
def test_every_class_has_a_share_or_a_chance_of_every_word(family, of_a_class):
    model = GenerativeClassifier({"note": family, "nights": "ignore"}).fit(FRAME, LABELS)
    words = len(set(" ".join(FRAME.note.dropna()).split()))
    # Shares of the words of a class sum to one, chances that a document has a word do not.
    assert model.posteriors_[0].n_parameters == 2 * of_a_class(words)


def test_a_missing_text_stays_missing_unless_it_is_drawn(model):
    filled = model.impute(FRAME)
    assert filled.note.isna().equals(FRAME.note.isna())
    seen = FRAME.note.notna()
    assert filled.note[seen].equals(FRAME.note[seen])
    assert not filled.nights.isna().any()
    drawn = model.impute(FRAME, draw=True, random_state=0)
    assert drawn.note[seen].equals(FRAME.note[seen])
    assert not drawn.note.isna().any()
    known = set(" ".join(FRAME.note.dropna()).split())
    assert set(" ".join(drawn.note[~seen]).split()) <= known


def test_drawn_texts_have_the_words_of_the_class_that_the_rest_of_the_row_shows():
    rng = np.random.default_rng(8)
    good = np.arange(200) % 2 == 0
    notes = [" ".join(rng.choice(GOOD if one else BAD, 6)) for one in good]
    frame = pd.DataFrame({"note": notes, "nights": np.where(good, 100.0, 1.0)})
    families = {"note": "text", "nights": "poisson"}
    model = GenerativeClassifier(families).fit(frame, good)
    gone = frame.iloc[:60].assign(note=None)
    drawn = model.impute(gone, draw=True, random_state=1).note.str.split()
    # Words of the other class have a pseudocount only.
    assert np.mean([word in GOOD for words in drawn[::2] for word in words]) > 0.95
    assert np.mean([word in BAD for words in drawn[1::2] for word in words]) > 0.95
