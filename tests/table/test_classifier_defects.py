"""Inputs on which other libraries are known to go wrong: GenerativeClassifier is right."""

import warnings

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.errors import InputError, StaleCalibrationWarning
from suffice.table import GenerativeClassifier


def test_a_wide_noise_column_does_not_drown_a_narrow_signal():
    """scikit-learn's GaussianNB falls from 0.99 to 0.54: one variance floor for all columns."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    signal = 1e-3 * (rng.normal(size=1000) + 5.0 * y)
    X = np.column_stack([signal, 1e3 * rng.normal(size=1000)])
    model = GenerativeClassifier().fit(X[:500], y[:500])
    assert np.mean(model.predict(X[500:]) == y[500:]) > 0.98


def test_learning_row_by_row_is_learning_at_once():
    """scikit-learn's GaussianNB differs: 0.947 against 485.96."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 60)
    X = np.column_stack([rng.normal(size=60) + y, 1e3 * rng.normal(size=60)])
    once = GenerativeClassifier().fit(X, y)
    rows = GenerativeClassifier(once.families_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(60):
            rows.partial_fit(X[[number]], y[[number]])
    rows.refresh_weights(X, y)
    np.testing.assert_allclose(rows.predict_proba(X), once.predict_proba(X), rtol=1e-6)


def test_a_mistyped_label_is_a_new_class_and_is_shown():
    """scikit-learn learns "Spam" as ham, or drops the row."""
    frame = pd.DataFrame({"word": ["offer", "hello", "offer", "hello"], "n": [3.0, 1.0, 4.0, 0.5]})
    model = GenerativeClassifier({"word": "categorical", "n": "normal"})
    model.fit(frame, ["spam", "ham", "spam", "ham"])
    with pytest.warns(StaleCalibrationWarning):
        model.partial_fit(frame[:1], ["Spam"])
    assert model.new_classes_.tolist() == ["Spam"]
    assert model.classes_.tolist() == ["Spam", "ham", "spam"]
    np.testing.assert_array_equal(model.tally_.weights, [1, 2, 2])


def test_an_unseen_category_has_its_prior_probability():
    """scikit-learn's CategoricalNB raises IndexError, wnb answers NaN."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 200)
    frame = pd.DataFrame(
        {"colour": np.where(rng.random(200) < 0.8, np.array(["red", "blue"])[y], "green")}
    )
    model = GenerativeClassifier(combine="naive").fit(frame, y)
    proba = model.predict_proba(pd.DataFrame({"colour": ["violet", "red", None]}))
    assert np.isfinite(proba).all()
    assert proba[1, 0] > 0.9
    # The prior probability is the same in both classes up to their numbers of rows.
    assert abs(proba[0, 0] - proba[2, 0]) < 0.05
    seen = model.explain(pd.DataFrame({"colour": ["violet"]}))
    assert seen.values == ("colour = (other)",)


def test_far_points_belong_to_the_nearer_class():
    """river adds 1e-9 to each density: x = 10 gives 0.496 and x >= 20 gives 0.5."""
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(0, 1, 500), rng.normal(3, 1, 500)])[:, None]
    y = np.repeat([0, 1], 500)
    model = GenerativeClassifier({0: "normal:tied"}).fit(X, y)
    proba = model.predict_proba([[10.0], [20.0], [50.0]])[:, 1]
    assert (proba > 0.99).all()


def test_one_nan_is_left_out_and_poisons_nothing():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 2)) + y[:, None]
    clean = GenerativeClassifier({0: "normal", 1: "normal"}).fit(X, y)
    X[7, 0] = np.nan
    holed = GenerativeClassifier({0: "normal", 1: "normal"}).fit(X, y)
    np.testing.assert_allclose(holed.predict_proba(X[8:]), clean.predict_proba(X[8:]), atol=0.05)
    assert np.isfinite(holed.predict_proba(X)).all()


def test_a_mean_of_1e4_in_float32_keeps_its_variance():
    """pomegranate's float32 moments give a covariance of [[0, -8], [-8, 16]]."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 400)
    X = (1e4 + rng.normal(size=(400, 2)) + 2.0 * y[:, None]).astype(np.float32)
    model = GenerativeClassifier({(0, 1): "mvn"}).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.88
    drawn, labels = model.sample(20_000, random_state=0)
    np.testing.assert_allclose(drawn[labels == 0].std(axis=0), 1.0, atol=0.15)


def test_drawn_rows_have_the_standard_deviation_that_was_learned():
    """pomegranate's Normal draws with the variance in place of the standard deviation."""
    rng = np.random.default_rng(6)
    X = rng.normal(0.0, 2.0, (2000, 1))
    model = GenerativeClassifier({0: "normal"}).fit(X, np.arange(2000) % 2)
    drawn, _ = model.sample(20_000, random_state=0)
    assert drawn.std() == pytest.approx(X.std(), rel=0.05)


def test_numbers_and_categories_stand_in_one_table():
    """pomegranate's IndependentComponents raises IndexError on them."""
    frame = pd.DataFrame({"x": [0.1, 0.2, 5.1, 5.3] * 5, "c": ["u", "u", "v", "w"] * 5})
    model = GenerativeClassifier().fit(frame, [0, 0, 1, 1] * 5)
    assert model.predict(frame).tolist() == [0, 0, 1, 1] * 5


@pytest.mark.slow
def test_three_hundred_features_do_not_underflow():
    """mixed-naive-bayes multiplies densities: every probability is NaN."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 100)
    X = 1e3 * (rng.normal(size=(100, 300)) + 0.5 * y[:, None])
    families = dict.fromkeys(range(300), "normal")
    proba = GenerativeClassifier(families, combine="naive").fit(X, y).predict_proba(X)
    assert np.isfinite(proba).all()
    assert np.mean(proba.argmax(axis=1) == y) > 0.95


def test_weights_are_taken():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 100)
    X = rng.normal(size=(100, 2)) + y[:, None]
    half = (np.arange(100) < 50).astype(float)
    weighted = GenerativeClassifier({0: "normal", 1: "normal"}).fit(X, y, sample_weight=half)
    cut = GenerativeClassifier({0: "normal", 1: "normal"}).fit(X[:50], y[:50])
    np.testing.assert_allclose(weighted.predict_proba(X), cut.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("far", [1e8, 1e16, 1e20, 1e300])
@pytest.mark.parametrize("family", ["binned", "normal", "student"])
def test_a_cell_far_from_all_others_leaves_probabilities_what_they_are(family, far):
    """What all classes have in common is 1e20 there, and must not swallow what tells them apart."""
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 1.0])
    model = GenerativeClassifier({0: family, 1: "normal"}).fit(X, np.repeat([0, 1], 200))
    proba = model.predict_proba([[far, 0.0], [far, 9.0]])
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    if family == "binned":
        near = model.predict_proba([[10.0, 0.0], [10.0, 9.0]])
        np.testing.assert_allclose(proba, near, rtol=1e-12)


def test_families_of_a_model_with_a_short_text_can_be_given_to_another():
    rows = [{"note": f"good thing {i}"} for i in range(8)] + [{"note": "bad"}] * 8
    first = GenerativeClassifier({"note": "text"}).fit(rows, [1] * 8 + [0] * 8)
    second = GenerativeClassifier(first.families_).fit(rows, [1] * 8 + [0] * 8)
    np.testing.assert_allclose(second.predict_proba(rows), first.predict_proba(rows))


def test_numbers_whose_squares_are_beyond_all_floats_are_binned():
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1], 60)
    X = np.stack([(rng.normal(size=120) + y) * 1e200, rng.normal(size=120) + y], axis=1)
    model = GenerativeClassifier().fit(X, y)
    assert model.choices_["x0"].family == "binned"
    assert model.score(X, y) > 0.6
    few = np.round(X[:, :1] / 1e200) * 1e200
    assert np.isfinite(GenerativeClassifier().fit(few, y).predict_proba(few)).all()
    with pytest.raises(
        InputError, match=r"Column 'x0' holds .*e\+200, and squares of such numbers"
    ):
        GenerativeClassifier({0: "normal"}).fit(X, y)


def test_a_table_of_which_nothing_can_be_learned_answers_the_shares_and_is_saved(tmp_path):
    rows = [{"same": 1.0, "nothing": None}] * 8
    model = GenerativeClassifier().fit(rows, [0, 0, 0, 0, 0, 0, 1, 1])
    np.testing.assert_allclose(model.predict_proba(rows[:1]), [[0.7, 0.3]])
    model.save(tmp_path / "model")
    np.testing.assert_allclose(
        suffice.load(tmp_path / "model").predict_proba(rows[:1]), [[0.7, 0.3]]
    )
