"""Columns of text beside others: chosen, scored, explained, forgotten and saved."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from suffice import GenerativeClassifier, load
from suffice.errors import StaleCalibrationWarning

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
        np.exp(model._log_prior() + model.combination_.offsets)
        / np.exp(logsumexp(model._log_prior() + model.combination_.offsets)),
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
    (block,), (reading,) = model.blocks_, model.readings_
    table = model._take_features(FRAME, reset=False).table
    codes = np.searchsorted(model.classes_, LABELS).astype(np.int32)
    left_out = reading.left_out(table, codes, np.empty(0))
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
    again = load(tmp_path / "reviews")
    np.testing.assert_array_equal(again.predict_proba(LATER), model.predict_proba(LATER))


def test_short_strings_are_text_if_they_are_named_so():
    frame = pd.DataFrame({"word": ["kind", "rude", "kind", "rude"] * 10})
    model = GenerativeClassifier({"word": "text"}).fit(frame, [1, 0, 1, 0] * 10)
    assert model.predict(pd.DataFrame({"word": ["kind", "rude"]})).tolist() == [1, 0]


def test_drawn_rows_have_texts(model):
    rows, _ = model.sample(20, random_state=0)
    assert rows.shape == (20, 2)
    assert any(isinstance(note, str) and note for note in rows["note"])
