"""A classifier of tables is saved with all that it learned, and believed only if it fits."""

import numpy as np
import pytest

import suffice
from classifier_cases import mixed
from suffice.classifier import GenerativeClassifier
from suffice.errors import ModelFileError, StaleCalibrationWarning

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
    ("spoil", "told"),
    [
        (lambda s: s.update(frame_kind_="excel"), "a kind of table, that there are none of"),
        (lambda s: s["blocks"].pop(), "Its tally is not one of"),
        (lambda s: s["blocks"].append(s["blocks"][0]), "a column in two blocks"),
        (lambda s: s["schema"][1].append(s["schema"][1][0]), "It has two columns named 'weight'"),
        (lambda s: s["schema"][1][0].__setitem__(1, "colour"), "of kind 'colour'"),
        (lambda s: s["combination"].update(lapse=2.0), "with a lapse of 2.0"),
        (lambda s: s["combination"].update(weights=np.ones(2)), "'weights' is no array of shape"),
        (
            lambda s: s.update(n_features_in_=3, feature_names_in_=None),
            "It has 7 columns, where 3 are due",
        ),
        (lambda s: s["schema"][1][3].__setitem__(2, ("Rome",)), "counts of shape"),
        (lambda s: s["schema"][1][3].__setitem__(2, ("Rome", "Rome")), "levels twice"),
    ],
)
def test_what_does_not_go_together_is_refused(spoil, told):
    model = GenerativeClassifier(budget=0).fit(FRAME, LABELS)
    state = model._saved_state()
    model._check_saved(state)
    spoil(state)
    with pytest.raises(ModelFileError, match=told):
        model._check_saved(state)


def test_a_window_is_not_saved(path):
    model = GenerativeClassifier(budget=0).window(100)
    with pytest.warns(StaleCalibrationWarning):
        model.fit(FRAME, LABELS)
    model.save(path)
    loaded = suffice.load(path)
    assert loaded.tally_.weights.sum() == 100
    with pytest.warns(StaleCalibrationWarning):
        loaded.refresh_weights(FRAME[140:], LABELS[140:]).partial_fit(FRAME, LABELS)
    assert loaded.tally_.weights.sum() == 340
