"""A classifier of tables is saved with all that it learned, and believed only if it fits."""

import warnings
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

import suffice
from classifier_cases import mixed
from suffice.combine import Combination
from suffice.errors import InputError, ModelFileError, StaleCalibrationWarning, SufficeWarning
from suffice.table import GenerativeClassifier
from suffice.table.saving import schema_of

FRAME, LABELS = mixed()
SETTINGS = [
    {},
    {"missing": "informative"},
    {"families": {("weight", "noise"): "mvn:tied", ("city", "member"): "joint"}},
    {"combine": "naive", "budget": 0},
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS)
def test_a_loaded_model_answers_the_same_and_goes_on_learning(settings, path):
    model = GenerativeClassifier(**settings).fit(FRAME, LABELS)
    model.save(path)
    loaded = suffice.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(FRAME), model.predict_proba(FRAME))
    assert str(loaded.choices_) == str(model.choices_)
    assert loaded.weights_ == model.weights_
    assert loaded.get_params().keys() == model.get_params().keys()
    for one in (loaded, model):
        with pytest.warns(StaleCalibrationWarning):
            one.partial_fit(FRAME[:5].assign(city="Cairo"), ["d"] * 5)
    np.testing.assert_array_equal(loaded.predict_proba(FRAME), model.predict_proba(FRAME))
    assert loaded.explain(FRAME[:1]).to_dict() == model.explain(FRAME[:1]).to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS)
def test_a_model_with_the_families_of_another_is_saved_too(settings, path):
    first = GenerativeClassifier(**settings).fit(FRAME, LABELS)
    missing = settings.get("missing", "ignore")
    second = GenerativeClassifier(first.families_, missing=missing).fit(FRAME[60:], LABELS[60:])
    second.save(path)
    with pytest.warns(StaleCalibrationWarning):
        first.merge(suffice.load(path))
    assert first.tally_.weights.sum() == 420


def test_what_has_learned_nothing_is_not_saved(path):
    with pytest.raises(ModelFileError, match="it has learned nothing yet"):
        GenerativeClassifier().save(path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda s: s.update(frame_kind_="excel"), "a kind of table, that there are none of"),
        (lambda s: s["blocks"].pop(), "Its tally is not one of"),
        (lambda s: s["blocks"].append(s["blocks"][0]), "a column in two blocks"),
        (lambda s: s["schema"][1].append(s["schema"][1][0]), "It has two columns named 'weight'"),
        (lambda s: s["schema"][1][0].__setitem__(1, "colour"), "of kind 'colour'"),
        (lambda s: s["combination"].update(noise_rate=2.0), "with a noise rate of 2.0"),
        (lambda s: s["combination"].update(weights=np.ones(2)), "'weights' is no array of shape"),
        (
            lambda s: s.update(n_features_in_=3, feature_names_in_=None),
            "It has 7 columns, where 3 are due",
        ),
        (lambda s: s["schema"][1][3].__setitem__(2, ("Rome",)), "counts of shape"),
        (lambda s: s["schema"][1][3].__setitem__(2, ("Rome", "Rome")), "levels twice"),
    ],
)
def test_what_does_not_go_together_is_refused(spoil, message):
    model = GenerativeClassifier(budget=0).fit(FRAME, LABELS)
    state = model._saved_state()
    model._check_saved(state)
    spoil(state)
    with pytest.raises(ModelFileError, match=message):
        model._check_saved(state)


def windowed():
    model = GenerativeClassifier(budget=0).window(100)
    with pytest.warns(StaleCalibrationWarning):
        return model.fit(FRAME, LABELS)


def test_saving_says_that_the_rows_of_a_window_are_not_saved(path):
    model = windowed()
    with pytest.warns(SufficeWarning, match="rows in the window of 100 are not saved. Keep them"):
        model.save(path)
    model.window(None).partial_fit(FRAME[:7], LABELS[:7])
    assert model.tally_.weights.sum() == 107
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.save(path)


@pytest.fixture
def loaded(path):
    with pytest.warns(SufficeWarning, match="are not saved"):
        windowed().save(path)
    return suffice.load(path)


def test_a_loaded_model_with_a_window_learns_nothing_that_it_could_not_let_go(loaded):
    answers, tally = loaded.predict_proba(FRAME), loaded.tally_
    with pytest.raises(
        InputError, match=r"window of 100 rows, which are not in the file .*\(fit\)"
    ):
        loaded.partial_fit(FRAME[:5], LABELS[:5])
    with pytest.raises(InputError, match="forgets what leaves it by itself"):
        loaded.forget(FRAME[-5:], LABELS[-5:])
    with pytest.raises(InputError, match="which rows of another model could not leave"):
        loaded.merge(GenerativeClassifier(loaded.families_, budget=0).fit(FRAME, LABELS))
    assert loaded.tally_ is tally
    np.testing.assert_array_equal(loaded.predict_proba(FRAME), answers)


def test_a_loaded_model_goes_on_with_its_window_when_fitted_to_its_rows(loaded):
    loaded.fit(FRAME[140:], LABELS[140:])
    with pytest.warns(StaleCalibrationWarning):
        loaded.partial_fit(FRAME[:30], LABELS[:30])
    rows = pd.concat([FRAME[170:], FRAME[:30]])
    alone = GenerativeClassifier(loaded.families_, budget=0)
    alone.fit(rows, np.concatenate([LABELS[170:], LABELS[:30]]))
    assert loaded.tally_.weights.sum() == 100
    np.testing.assert_allclose(
        loaded.predict_joint_log_proba(FRAME), alone.predict_joint_log_proba(FRAME), rtol=1e-9
    )


def test_a_loaded_model_goes_on_without_its_window_after_window_none(loaded):
    with pytest.warns(StaleCalibrationWarning):
        loaded.window(None).refresh_weights(FRAME[140:], LABELS[140:]).partial_fit(FRAME, LABELS)
    assert loaded.tally_.weights.sum() == 340
    loaded.forget(FRAME[:40], LABELS[:40])
    assert loaded.tally_.weights.sum() == 300


@pytest.mark.parametrize("window", [0, -1, 2.5, True, "all", None])
def test_a_window_that_cannot_be_is_refused(window):
    model = GenerativeClassifier(budget=0).fit(FRAME, LABELS)
    with pytest.raises(ModelFileError, match="It has a window of"):
        model._check_saved(model._saved_state() | {"_window": window})


def test_files_of_columns_without_formats_are_read_and_absurd_ones_refused():
    assert schema_of([False, [["c", "number", ()]]])["c"].strings is None
    found = schema_of([False, [["c", "integer", (), ["number", ",", "$", None]]]])
    settings = {"kind": "number", "decimal": ",", "unit": "$", "day_first": None}
    assert asdict(found["c"].strings) == settings
    for kind, strings in [
        ("number", ["number", "x", "", None]),
        ("number", "number"),
        ("number", 3),
        ("text", ["date", ".", "", None]),
        ("category", ["number", ".", "", None]),
        ("date", ["date", ".", "", "dmy"]),
    ]:
        with pytest.raises(ModelFileError, match="Its column 'c' "):
            schema_of([False, [["c", kind, (), strings]]])


def test_a_model_that_ends_at_the_shares_of_the_classes_is_saved(path):
    rng = np.random.default_rng(16)
    X, y = rng.normal(size=(100, 3)), (rng.random(100) < 0.4).astype(int)
    model = GenerativeClassifier().fit(X, y)
    shares = Combination("shares", np.zeros(3), np.zeros(2))
    model._fitted = model._fitted.replace(combination=shares)
    model.save(path)
    loaded = suffice.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
