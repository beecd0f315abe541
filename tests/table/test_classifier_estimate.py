"""GenerativeClassifier by expected parameters, and with robust columns."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone

import suffice
from classifier_cases import mixed
from suffice import GenerativeClassifier
from suffice.errors import StaleCalibrationWarning
from suffice.table.fitted import IndependentBlocks

FEW = {"weight": "normal", "children": "poisson", "city": "categorical"}


def of_columns(n=40, seed=0):
    """Return the columns of `FEW`, and labels."""
    X, y = mixed(n, seed, missing=False)
    return X[list(FEW)], y


def test_parameters_are_integrated_out_by_default():
    X, y = of_columns()
    default, named = (
        GenerativeClassifier(**kind).fit(X, y) for kind in ({}, {"estimate": "predictive"})
    )
    np.testing.assert_array_equal(default.predict_proba(X), named.predict_proba(X))


def test_mean_scores_by_normals_and_poissons_of_expected_parameters():
    X, y = of_columns()
    families = {"weight": "normal", "children": "poisson", "city": "ignore"}
    model = GenerativeClassifier(families, combine="naive", estimate="mean").fit(X, y)
    found = model.predict_joint_log_proba(X)
    normal, events = (reading.prior.posterior(reading.tally) for reading in model.posteriors_)
    for c, label in enumerate(model.classes_):
        deviation = np.sqrt(normal.scale[c, 0] / normal.shape[c, 0])
        expected = np.log((np.sum(y == label) + 1) / (len(y) + 3))
        expected = expected + stats.norm.logpdf(X["weight"], normal.location[c, 0], deviation)
        rate = events.shape[c, 0] / events.rate[c, 0]
        expected = expected + stats.poisson.logpmf(X["children"], rate)
        np.testing.assert_allclose(found[:, c], expected, rtol=1e-9)


def test_families_and_blocks_are_chosen_alike():
    X, y = mixed(150)
    predictive, mean = (
        GenerativeClassifier(estimate=estimate).fit(X, y) for estimate in ("predictive", "mean")
    )
    assert str(predictive.choices_) == str(mean.choices_)
    assert list(predictive.weights_) == list(mean.weights_)


def test_mean_is_overconfident_where_rows_are_few_and_alike_where_they_are_many():
    def apart(n):
        X, y = of_columns(n)
        new, _ = of_columns(200, seed=1)
        both = [
            GenerativeClassifier(FEW, combine="naive", estimate=estimate)
            .fit(X, y)
            .predict_proba(new)
            for estimate in ("predictive", "mean")
        ]
        return both[0].max(axis=1).mean(), both[1].max(axis=1).mean()

    unsure, sure = apart(12)
    assert sure > unsure + 0.01
    assert apart(4000) == pytest.approx((apart(4000)[1],) * 2, abs=2e-3)


@pytest.mark.parametrize("families", [FEW, {"weight": "student", "city": "ignore"}])
@pytest.mark.parametrize("estimate", ["predictive", "mean"])
def test_left_out_rows_are_those_of_a_model_that_never_saw_them(families, estimate):
    X, y = of_columns(40)
    model = GenerativeClassifier(families, combine="naive", estimate=estimate).fit(X, y)
    found = model.leave_one_out(X, y)
    for row in (0, 7, 39):
        one = X.iloc[[row]], y[[row]]
        other = clone(model).set_params(families=model.families_).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StaleCalibrationWarning)
            other.forget(*one)
        held = [
            before.with_tally(part)
            for before, part in zip(model.posteriors_, other.tally_.parts.parts, strict=True)
        ]
        blocks = IndependentBlocks(tuple(held))
        of_others = replace(other._fitted.generative, features=blocks)
        other._fitted = other._fitted.replace(model=of_others)
        np.testing.assert_allclose(
            found.log_proba[row], other.predict_log_proba(one[0])[0], rtol=1e-9, atol=1e-9
        )


@pytest.mark.parametrize("estimate", ["predictive", "mean"])
def test_learning_forgetting_and_merging_give_what_fitting_gives(estimate):
    X, y = of_columns(90)
    families = {"weight": "student", "children": "poisson", "city": "categorical"}
    whole = GenerativeClassifier(families, combine="naive", estimate=estimate).fit(X, y)
    kind = {"combine": "naive", "estimate": estimate}
    first = GenerativeClassifier(whole.families_, **kind).fit(X[:50], y[:50])
    second = GenerativeClassifier(whole.families_, **kind).fit(X[50:], y[50:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StaleCalibrationWarning)
        grown = clone(first).fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
        merged = first + second
        shrunk = clone(whole).set_params(families=whole.families_).fit(X, y)
        shrunk.forget(X[50:], y[50:])
    for model in (grown, merged):
        np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(shrunk.predict_proba(X), first.predict_proba(X), rtol=1e-8)


@pytest.mark.parametrize("estimate", ["predictive", "mean"])
def test_a_saved_model_answers_as_before(tmp_path, estimate):
    X, y = of_columns(60)
    families = {"weight": "student", "children": "poisson"}
    model = GenerativeClassifier(families, estimate=estimate).fit(X, y)
    model.save(tmp_path / "model.suffice")
    loaded = suffice.load(tmp_path / "model.suffice")
    assert loaded.estimate == estimate
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_student_is_used_only_where_it_is_named():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = pd.DataFrame({"x": stats.t.rvs(2, size=300, random_state=rng) + 2 * y})
    chosen = GenerativeClassifier().fit(X, y).choices_["x"]
    assert "student" not in chosen.evidence
    assert chosen.family != "student"
    named = GenerativeClassifier({"x": "student"}).fit(X, y)
    assert named.choices_["x"].family == "student"


def test_rows_with_outliers_are_classified_by_a_student():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 400)
    x = rng.normal(3.0 * y)
    x[rng.random(400) < 0.02] = 1e6
    accuracy = {
        name: GenerativeClassifier({"x": name}).fit(pd.DataFrame({"x": x}), y)
        for name in ("normal", "student")
    }
    new = pd.DataFrame({"x": rng.normal(3.0 * np.repeat([0, 1], 500))})
    right = {
        name: np.mean(model.predict(new) == np.repeat([0, 1], 500))
        for name, model in accuracy.items()
    }
    assert right["student"] > 0.92
    assert right["normal"] < 0.7


def test_missing_values_of_a_student_are_imputed_and_sampled():
    X, y = mixed(120)
    model = GenerativeClassifier({"weight": "student"}).fit(X, y)
    assert not model.impute(X)["weight"].isna().any()
    assert not model.impute(X, draw=True, random_state=0)["weight"].isna().any()
    drawn, labels = model.sample(20, random_state=0)
    assert drawn["weight"].notna().all()
    assert set(labels) <= set(model.classes_)


def test_another_estimate_is_refused():
    X, y = of_columns()
    with pytest.raises(ValueError, match="'estimate' parameter of GenerativeClassifier must be"):
        GenerativeClassifier(estimate="map").fit(X, y)
