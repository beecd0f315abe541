"""GenerativeClassifier as a tally: learning on, forgetting, merging, leaving out, drifting."""

import warnings
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from classifier_cases import mixed
from suffice.errors import DebtError, InputError, MergeError, StaleCalibrationWarning
from suffice.table import GenerativeClassifier
from suffice.tally import Groups

FRAME, LABELS = mixed()
MODEL = GenerativeClassifier(budget=3).fit(FRAME, LABELS)
HALF = 120


def like(model, **settings):
    """Return a model that counts what another one counts."""
    return GenerativeClassifier(model.families_, **settings)


def quietly(act, *given, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StaleCalibrationWarning)
        return act(*given, **named)


def same_densities(mine, other):
    """Compare what was tallied: levels have their codes in the order in which they came."""
    np.testing.assert_allclose(
        mine.predict_joint_log_proba(FRAME), other.predict_joint_log_proba(FRAME), rtol=1e-7
    )


def same_answers(mine, other, rtol=1e-8):
    np.testing.assert_allclose(mine.predict_proba(FRAME), other.predict_proba(FRAME), rtol=rtol)


def test_families_of_a_model_count_exactly_what_it_counts():
    second = like(MODEL).fit(FRAME, LABELS)
    assert second.tally_.allclose(MODEL.tally_)
    same_answers(second, MODEL)


def test_learning_in_parts_is_learning_at_once():
    model = like(MODEL).partial_fit(FRAME[:HALF], LABELS[:HALF])
    with pytest.warns(StaleCalibrationWarning, match="are those of the rows learned before"):
        model.partial_fit(FRAME[HALF:], LABELS[HALF:])
    assert model.weights_stale_
    assert model.tally_.allclose(MODEL.tally_)
    model.refresh_weights(FRAME, LABELS)
    assert not model.weights_stale_
    same_answers(model, MODEL)


def test_one_warning_says_that_weights_are_stale():
    model = like(MODEL).partial_fit(FRAME[:HALF], LABELS[:HALF])
    quietly(model.partial_fit, FRAME[HALF:180], LABELS[HALF:180])
    model.partial_fit(FRAME[180:], LABELS[180:])


def test_forgetting_rows_is_fitting_without_them():
    model = like(MODEL).fit(FRAME, LABELS)
    quietly(model.forget, FRAME[HALF:], LABELS[HALF:])
    rest = like(MODEL).fit(FRAME[:HALF], LABELS[:HALF])
    assert model.tally_.allclose(rest.tally_)
    model.refresh_weights(FRAME[:HALF], LABELS[:HALF])
    same_answers(model, rest, rtol=1e-6)


def test_forgetting_what_was_not_learned_changes_nothing():
    model = like(MODEL).fit(FRAME[:HALF], LABELS[:HALF])
    before = copy(model.__dict__)
    with pytest.raises(DebtError, match=r"Class .* has \d+ rows, and \d+ are to be forgotten"):
        model.forget(FRAME, LABELS)
    assert model.__dict__ == before
    with pytest.raises(DebtError, match="Cannot forget rows of class 'z'"):
        model.forget(FRAME[:1], ["z"])


def test_merging_is_learning_both():
    first = like(MODEL).fit(FRAME[:HALF], LABELS[:HALF])
    second = GenerativeClassifier(first.families_).fit(FRAME[HALF:], LABELS[HALF:])
    both = quietly(first.__add__, second)
    assert both.tally_.allclose(MODEL.tally_)
    both.refresh_weights(FRAME, LABELS)
    same_answers(both, MODEL)
    assert first.tally_.weights.sum() == HALF


def test_merging_aligns_levels_and_classes_by_name():
    one = pd.DataFrame({"city": ["Rome", "Oslo", "Rome", "Oslo"], "n": [1.0, 2.0, 4.0, 8.0]})
    two = pd.DataFrame({"city": ["Lima", "Rome", "Lima", "Lima"], "n": [3.0, 5.0, 2.0, 9.0]})
    families = {"city": "categorical", "n": "normal"}
    first = GenerativeClassifier(families).fit(one, ["x", "y", "x", "y"])
    second = GenerativeClassifier(families).fit(two, ["y", "z", "z", "y"])
    quietly(first.merge, second)
    all_rows = pd.concat([one, two], ignore_index=True), ["x", "y", "x", "y", "y", "z", "z", "y"]
    whole = GenerativeClassifier(families).fit(*all_rows)
    assert first.new_classes_.tolist() == ["z"]
    first.refresh_weights(*all_rows)
    np.testing.assert_allclose(
        first.predict_proba(all_rows[0]), whole.predict_proba(all_rows[0]), rtol=1e-8
    )


def test_models_of_other_blocks_do_not_merge():
    other = GenerativeClassifier({"weight": "binned"}, budget=0).fit(FRAME, LABELS)
    with pytest.raises(MergeError, match="only one of the models has a block"):
        MODEL.merge(other)
    narrow = GenerativeClassifier(budget=0).fit(FRAME[["weight", "noise"]], LABELS)
    with pytest.raises(MergeError, match="Cannot merge models of 7 and 2 features"):
        MODEL.merge(narrow)


def test_new_levels_and_new_classes_may_come_at_any_time():
    model = like(MODEL).fit(FRAME, LABELS)
    rows = FRAME[:6].assign(city="Cairo")
    quietly(model.partial_fit, rows, ["d"] * 6)
    assert model.new_classes_.tolist() == ["d"]
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    assert model.predict_proba(rows).shape == (6, 4)
    assert model.predict_proba(rows)[:, 3].mean() > 5 * 6 / 246
    assert model.combination_.offsets.shape == (4,)


def test_closed_classes_stay_closed():
    model = like(MODEL).partial_fit(FRAME, LABELS, classes=["a", "b", "c", "d"])
    assert model.predict_proba(FRAME).shape[1] == 4
    with pytest.raises(InputError, match="do not exist in the initial classes"):
        model.partial_fit(FRAME[:1], ["e"])


def without_rows(model, rows, labels):
    """Return what was fitted with rows taken off its tally; settings and priors are held."""
    fitted = model._fitted
    batch = model._batch(rows, labels, None, before=fitted)
    taken = Groups(batch.classes, *batch.counter.count(batch.rows)).align(model.classes_)
    tally = fitted.tally - taken
    before = fitted.generative
    blocks = before.features.with_tally(tally, np.arange(len(model.classes_)))
    prior = before.prior.of(tally.weights, None, "predictive")
    return fitted.replace(tally=tally, model=replace(before, prior=prior, features=blocks))


def test_leaving_a_row_out_is_learning_the_others():
    """Settings and priors held; the row leaves its tally and the class prior."""
    model = GenerativeClassifier(combine="naive").fit(FRAME, LABELS)
    left_out = model.leave_one_out(FRAME, LABELS)
    for number in (0, 17, 101, 239):
        row, label = FRAME.iloc[[number]], LABELS[[number]]
        without = copy(model)
        without._fitted = without_rows(model, row, label)
        np.testing.assert_allclose(
            left_out.log_proba[number], without.predict_log_proba(row)[0], rtol=1e-7, atol=1e-9
        )


def test_left_out_rows_are_predicted_as_well_as_new_ones():
    more, answers = mixed(2000, seed=9)
    own = -np.log(MODEL.predict_proba(more)[np.arange(2000), np.searchsorted(list("abc"), answers)])
    fresh = own.mean()
    error = 5 * own.std() * np.sqrt(1 / 2000 + 1 / len(LABELS))
    assert abs(MODEL.leave_one_out(FRAME, LABELS).log_loss - fresh) < error


def test_the_only_row_of_a_class_leaves_no_class_behind():
    labels = LABELS.copy()
    labels[0] = "z"
    model = GenerativeClassifier(budget=0).fit(FRAME, labels)
    assert np.isneginf(model.leave_one_out(FRAME, labels).log_proba[0, 3])


def test_rows_that_were_not_learned_cannot_be_left_out():
    with pytest.raises(InputError, match="These are not the rows that this GenerativeClassifier"):
        MODEL.leave_one_out(FRAME[:5], LABELS[:5])
    levels = MODEL.schema_
    with pytest.raises(InputError, match="These are not the rows"):
        MODEL.leave_one_out(FRAME.assign(city="Cairo"), LABELS)
    assert MODEL.schema_ is levels


def test_weights_are_repeats():
    weights = np.random.default_rng(77).integers(0, 3, len(LABELS))
    model = like(MODEL).fit(FRAME, LABELS, sample_weight=weights)
    copies = np.repeat(np.arange(len(LABELS)), weights)
    repeated = like(MODEL).fit(FRAME.iloc[copies], LABELS[copies])
    same_densities(model, repeated)
    same_answers(model, repeated, rtol=1e-5)


@pytest.mark.slow
def test_families_are_chosen_for_each_training_set():
    """What a fold holds of families, blocks and missing values must not help to predict it."""
    frame = FRAME.copy()
    frame.iloc[::5, 0] = None
    settings = {"missing": ["ignore", "informative"], "budget": [0, 10]}
    found = quietly(GenerativeClassifier().cross_validate, frame, LABELS, 3, **settings)
    assert found.log_loss.shape == (4, 3)
    from sklearn.model_selection import StratifiedKFold

    splits = StratifiedKFold(3, shuffle=True, random_state=0).split(frame, LABELS)
    for number, (train, test) in enumerate(splits):
        for at, setting in enumerate(found.settings):
            fitted = quietly(GenerativeClassifier(**setting).fit, frame.iloc[train], LABELS[train])
            proba = fitted.predict_proba(frame.iloc[test])
            own = proba[np.arange(len(test)), np.searchsorted(list("abc"), LABELS[test])]
            assert found.log_loss[at, number] == pytest.approx(-np.log(own).mean(), rel=1e-5)


def test_folds_are_validated_like_separate_fits():
    model = GenerativeClassifier(MODEL.families_, combine="naive")
    found = model.cross_validate(FRAME, LABELS, 4, combine=["naive", "blocks"])
    assert found.log_loss.shape == (2, 4)
    from sklearn.model_selection import StratifiedKFold

    splits = StratifiedKFold(4, shuffle=True, random_state=0).split(FRAME, LABELS)
    for number, (train, test) in enumerate(splits):
        for at, combine in enumerate(["naive", "blocks"]):
            fitted = like(MODEL, combine=combine).fit(FRAME.iloc[train], LABELS[train])
            proba = fitted.predict_proba(FRAME.iloc[test])
            own = proba[np.arange(len(test)), np.searchsorted(list("abc"), LABELS[test])]
            assert found.log_loss[at, number] == pytest.approx(-np.log(own).mean(), rel=1e-5)
    assert not hasattr(model, "tally_")


def test_decay_is_learning_with_smaller_weights():
    model = like(MODEL).fit(FRAME, LABELS)
    quietly(model.decay, 0.25)
    lighter = like(MODEL).fit(FRAME, LABELS, sample_weight=np.full(len(LABELS), 0.25))
    assert model.tally_.allclose(lighter.tally_)
    with pytest.raises(InputError, match=r"A factor of 1.5. Use one above 0 and at most 1"):
        model.decay(1.5)
    with pytest.raises(NotFittedError):
        GenerativeClassifier().decay(0.5)


def test_a_window_holds_the_last_rows_and_no_others():
    model = like(MODEL).window(100)
    for start in range(0, 240, 30):
        quietly(model.partial_fit, FRAME[start : start + 30], LABELS[start : start + 30])
    last = like(MODEL).fit(FRAME[140:], LABELS[140:])
    same_densities(model, last)
    model.refresh_weights(FRAME[140:], LABELS[140:])
    same_answers(model, last, rtol=1e-5)


def test_a_window_cuts_what_a_fit_learned_too():
    model = quietly(like(MODEL).window(50).fit, FRAME, LABELS)
    assert model.tally_.weights.sum() == 50
    same_densities(model, like(MODEL).fit(FRAME[190:], LABELS[190:]))


def test_windows_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="A window of 0 rows"):
        GenerativeClassifier().window(0)
    with pytest.raises(InputError, match="Rows were learned before, and not kept"):
        like(MODEL).fit(FRAME, LABELS).window(10)
    with pytest.raises(InputError, match="Use decay or window, not both"):
        quietly(like(MODEL).window(10).fit, FRAME, LABELS).decay(0.5)
    with pytest.raises(InputError, match="forgets what leaves it by itself"):
        quietly(like(MODEL).window(10).fit, FRAME, LABELS).forget(FRAME[-1:], LABELS[-1:])


def test_a_row_that_goes_wrong_changes_nothing():
    model = like(MODEL).fit(FRAME, LABELS)
    before = copy(model.__dict__)
    with pytest.raises(InputError, match="Column 'weight' holds inf"):
        model.partial_fit(FRAME[:2].assign(weight=np.inf, city="Cairo"), LABELS[:2])
    assert model.__dict__ == before
