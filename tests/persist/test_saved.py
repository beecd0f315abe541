"""A saved model is the model: the same bits, the same answers, and it goes on learning."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.covariance import LedoitWolf

from saved_cases import (
    CLASSIFIERS,
    COUNTS,
    EXPANSIONS,
    LOGISTIC,
    NAMES,
    NUMBERS,
    REGRESSIONS,
    ROWS,
    SELECTIONS,
    TARGET,
    WITH_MISSING,
    assert_same,
    public_estimators,
    save_and_load,
)
from suffice import (
    BernoulliNB,
    GaussianDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
    load,
)

# What a regression works out at the first call, and keeps.
LATER = ("_posterior",)
# Kept rows, and what was said of them, are in no file: test_saved_rows has what is.
OF_ROWS = ("sample", "held_out", "stale_warned")


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def by_name(cases):
    return pytest.mark.parametrize("case", cases.values(), ids=cases.keys())


def test_every_estimator_of_the_library_is_among_the_cases():
    pairs = [*CLASSIFIERS.values(), *REGRESSIONS.values()]
    models = [model for model, _ in pairs]
    models += [*LOGISTIC.values(), *EXPANSIONS.values(), *SELECTIONS.values()]
    known = {type(model) for model in models}
    assert public_estimators() <= known | new_estimators()


def new_estimators():
    """Return the classes whose own tests save them."""
    rooms = ("suffice.text", "suffice.table")
    return {kind for kind in public_estimators() if kind.__module__.startswith(rooms)}


@by_name(CLASSIFIERS)
def test_a_loaded_classifier_is_the_one_that_was_saved(case, tmp_path):
    unfitted, rows = case
    model = clone(unfitted).fit(rows, NAMES)
    loaded = save_and_load(model, tmp_path)
    assert_same(model, loaded, leave_out=OF_ROWS)
    assert_same(model.predict_proba(rows), loaded.predict_proba(rows))
    assert_same(model.predict(rows), loaded.predict(rows))
    assert model.log_evidence_ == loaded.log_evidence_


@pytest.mark.slow
@by_name(CLASSIFIERS)
def test_a_loaded_classifier_goes_on_learning_forgetting_and_merging(case, tmp_path):
    unfitted, rows = case
    unfitted = clone(unfitted)
    if getattr(unfitted, "priors", None) is not None:
        unfitted.set_params(priors=None)
    model = unfitted.fit(rows[:40], NAMES[:40], sample_weight=1.0 + np.arange(40) % 2)
    other = clone(unfitted).fit(rows[10:], np.where(NAMES[10:] == "ham", "new", NAMES[10:]))
    for act in (
        lambda m: m.partial_fit(rows[40:], NAMES[40:]),
        lambda m: m.forget(rows[45:50], NAMES[45:50]),
        lambda m: m.merge(save_and_load(other, tmp_path)),
        lambda m: m + other,
    ):
        loaded = save_and_load(model, tmp_path)
        assert_same(act(model), act(loaded), leave_out=OF_ROWS)


@by_name(REGRESSIONS)
def test_a_loaded_regression_is_the_one_that_was_saved_and_goes_on(case, tmp_path):
    unfitted, target = case
    model = clone(unfitted).fit(WITH_MISSING, target)
    loaded = save_and_load(model, tmp_path)
    assert_same(model, loaded, leave_out=LATER)
    assert_same(model.predict(WITH_MISSING), loaded.predict(WITH_MISSING))
    for act in (
        lambda m: m.partial_fit(NUMBERS[:9], target[:9]),
        lambda m: m.forget(NUMBERS[3:5], target[3:5]),
        lambda m: m.merge(clone(unfitted).fit(NUMBERS, target)),
    ):
        loaded = save_and_load(model, tmp_path)
        assert_same(act(model), act(loaded), leave_out=LATER)


@by_name(LOGISTIC)
def test_a_loaded_logistic_regression_has_the_same_weights(case, tmp_path):
    rows = (NUMBERS - NUMBERS.mean(axis=0)) / NUMBERS.std(axis=0)
    for labels in (NAMES, np.where(NAMES == "späm", "ham", NAMES)):
        model = clone(case)
        if model.class_weight is not None and len(set(labels)) == 2:
            model.set_params(class_weight={"eggs": 1.0, "ham": 2})
        loaded = save_and_load(model.fit(rows, labels), tmp_path)
        assert_same(model, loaded)
        assert_same(model.predict_proba(rows), loaded.predict_proba(rows))
        assert str(model.summary()) == str(loaded.summary())


def test_sparse_weights_and_weights_that_were_given_come_back(tmp_path):
    model = LogisticRegression().fit(COUNTS, NAMES).sparsify()
    loaded = save_and_load(model, tmp_path)
    assert type(loaded.coef_) is type(model.coef_)
    assert_same(model.coef_.toarray(), loaded.coef_.toarray())
    given = LogisticRegression.from_weights([[1.0], [-0.0]], [0.0, 5e-324], ["a", "b"], ["x"])
    assert_same(given, save_and_load(given, tmp_path))


@by_name(EXPANSIONS)
def test_a_loaded_expansion_expands_alike(case, tmp_path):
    rows = np.abs(NUMBERS) / NUMBERS.std(axis=0)
    frame = pd.DataFrame(rows, columns=list("abcd"))
    model = clone(case).fit(frame, TARGET)
    loaded = save_and_load(model, tmp_path)
    assert_same(model, loaded)
    assert_same(model.transform(frame), loaded.transform(frame))
    assert model.get_feature_names_out().tolist() == loaded.get_feature_names_out().tolist()


@by_name(SELECTIONS)
def test_a_loaded_selection_keeps_the_same_features_and_goes_on(case, tmp_path):
    model = clone(case).fit(NUMBERS, NAMES)
    loaded = save_and_load(model, tmp_path)
    assert_same(model, loaded)
    assert_same(model.partial_fit(NUMBERS, NAMES), loaded.partial_fit(NUMBERS, NAMES))


@pytest.mark.parametrize(
    "labels",
    [
        NAMES,
        NAMES.astype(object),
        np.arange(ROWS) % 2 == 0,
        np.arange(ROWS, dtype=np.int8) % 3,
        np.arange(ROWS, dtype=np.uint64) % 2 + 2**63,
        2**53 + np.arange(ROWS) % 3,
        (np.arange(ROWS) % 3).astype(np.float32),
        np.array(["2020-01-01", "2021-05-05"], "datetime64[D]")[np.arange(ROWS) % 2],
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_classes_come_back_with_their_type(labels, tmp_path):
    model = GaussianNB().fit(NUMBERS, labels)
    assert_same(model, save_and_load(model, tmp_path))


def test_names_of_columns_and_targets_come_back(tmp_path):
    frame = pd.DataFrame(NUMBERS, columns=["größe", "b", "c\n", ""])
    model = GaussianNB().fit(frame, NAMES)
    loaded = save_and_load(model, tmp_path)
    assert_same(model, loaded)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"b": "a"}))
    named = LinearRegression().fit(frame, pd.Series(TARGET, name="height"))
    assert "height" in str(save_and_load(named, tmp_path).summary())


def test_announced_classes_stay_announced(tmp_path):
    model = MultinomialNB().partial_fit(COUNTS[:1], ["ham"], classes=["eggs", "ham"])
    loaded = save_and_load(model, tmp_path)
    assert_same(model, loaded)
    with pytest.raises(ValueError, match="do not exist in the initial classes"):
        loaded.partial_fit(COUNTS[:1], ["spam"])


def test_a_stale_calibration_stays_stale(tmp_path):
    model = BernoulliNB(calibrate="loo").fit(COUNTS, NAMES).partial_fit(COUNTS[:3], NAMES[:3])
    loaded = save_and_load(model, tmp_path)
    assert loaded.calibration_stale_ is True
    assert_same(model, loaded, leave_out=OF_ROWS)
    assert_same(model.predict_proba(COUNTS), loaded.predict_proba(COUNTS))


@pytest.mark.parametrize("kind", [QuadraticDiscriminantAnalysis, LinearDiscriminantAnalysis])
def test_a_model_that_cannot_answer_yet_waits_for_more_after_loading_too(kind, tmp_path):
    model = kind().partial_fit(NUMBERS[:2], NAMES[:2])
    loaded = save_and_load(model, tmp_path)
    assert_same(model, loaded)
    with pytest.raises(ValueError, match="cannot answer yet"):
        loaded.predict(NUMBERS)
    kept = NUMBERS / NUMBERS.std(axis=0)
    model, loaded = kind().partial_fit(kept[:2], NAMES[:2]), None
    loaded = save_and_load(model, tmp_path)
    assert_same(model.partial_fit(kept[2:], NAMES[2:]), loaded.partial_fit(kept[2:], NAMES[2:]))
    assert_same(model.predict_proba(kept), loaded.predict_proba(kept))


def test_covariances_that_an_estimator_found_come_back_once_the_estimator_is_left_out(tmp_path):
    model = LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=LedoitWolf())
    model.fit(NUMBERS, NAMES).set_params(covariance_estimator=None)
    loaded = save_and_load(model, tmp_path)
    assert_same(model, loaded)
    with pytest.raises(ValueError, match="needs all rows at once"):
        loaded.forget(NUMBERS[:1], NAMES[:1])


@pytest.mark.parametrize("order", ["C", "F"])
def test_how_rows_lay_in_memory_changes_no_bit(order, tmp_path):
    rows = np.array(WITH_MISSING, order=order)
    model = GaussianDiscriminant("full").fit(rows, NAMES).forget(rows[:7], NAMES[:7])
    assert_same(model, save_and_load(model, tmp_path))


@pytest.mark.slow
def test_many_missing_value_patterns_and_many_columns_of_levels_take_few_tensors(tmp_path):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(400, 9))
    rows[rng.random(rows.shape) < 0.3] = np.nan
    model = GaussianDiscriminant("tied", estimate="mle", max_iter=3).fit(rows, np.arange(400) % 2)
    assert len(model.tally_.parts.parts) > 100
    assert_same(model, save_and_load(model, tmp_path))
    assert (tmp_path / "again.safetensors").read_bytes()[8:].index(b"}}") < 8000


def test_a_loaded_model_can_be_saved_again_to_the_same_bytes(tmp_path):
    from datetime import UTC, datetime

    when = datetime(2020, 1, 1, tzinfo=UTC)
    model = GaussianNB(calibrate="loo").fit(NUMBERS, NAMES)
    paths = [tmp_path / name for name in ("a", "b", "c")]
    model.save(paths[0], source="here", when=when)
    model.save(paths[1], source="here", when=when)
    load(paths[0]).save(paths[2], source="here", when=when)
    assert len({path.read_bytes() for path in paths}) == 1


def test_loading_repeats_no_warning(tmp_path):
    model = GaussianNB(var_smoothing=0.0).fit([[1.0], [1.0]], ["a", "a"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(model, save_and_load(model, tmp_path))
