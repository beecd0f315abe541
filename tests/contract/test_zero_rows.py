"""Predictions of zero rows are empty, and learning zero rows changes nothing."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from suffice import (
    BayesianLinearRegression,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    Fourier,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    Hinge,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    MultinomialNB,
    PoissonNB,
    Polynomial,
    Quadratic,
    QuadraticDiscriminantAnalysis,
    Radial,
    RandomHinge,
    TextClassifier,
)
from suffice.errors import InputError

RNG = np.random.default_rng(0)
SIZE = 60
LABELS = np.array(["no", "yes"])[RNG.integers(0, 2, SIZE)]
NUMBERS = RNG.normal(size=(SIZE, 3)) + (LABELS == "yes")[:, None]
COUNTS = RNG.poisson(2.0, (SIZE, 3)).astype(float)
TEXTS = [" ".join(RNG.choice(["offer", "money", "lunch", "noon", "report"], 6)) for _ in LABELS]
MIXED = pd.DataFrame(
    {
        "size": NUMBERS[:, 0],
        "colour": np.where(COUNTS[:, 0] > 1, "red", "blue"),
        "events": COUNTS[:, 1].astype(int),
        "paid": COUNTS[:, 2] > 1,
        "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(SIZE) * 7, unit="D"),
        "note": TEXTS,
    }
)
FAMILIES = ("normal", "lognormal", "student", "binned", "poisson", "categorical", "bernoulli")
TABLES = {
    "GaussianNB": (GaussianNB(), NUMBERS),
    "GaussianNB, predictive": (GaussianNB(estimate="predictive"), NUMBERS),
    "GaussianNB, calibrated": (GaussianNB(calibrate="loo"), NUMBERS),
    "BernoulliNB": (BernoulliNB(), COUNTS),
    "MultinomialNB": (MultinomialNB(), COUNTS),
    "MultinomialNB, predictive": (MultinomialNB(estimate="predictive"), COUNTS),
    "ComplementNB": (ComplementNB(), COUNTS),
    "CategoricalNB": (CategoricalNB(), COUNTS),
    "PoissonNB": (PoissonNB(), COUNTS),
    "LinearDiscriminantAnalysis": (LinearDiscriminantAnalysis(), NUMBERS),
    "QuadraticDiscriminantAnalysis": (QuadraticDiscriminantAnalysis(), NUMBERS),
    "GaussianDiscriminant": (GaussianDiscriminant(), NUMBERS),
    "GaussianDiscriminant, low rank": (GaussianDiscriminant("low_rank", estimate="map"), NUMBERS),
    "LogisticRegression": (LogisticRegression(), NUMBERS),
    "GenerativeClassifier": (GenerativeClassifier(), NUMBERS),
    "LinearRegression": (LinearRegression(), NUMBERS),
    "BayesianLinearRegression": (BayesianLinearRegression(), NUMBERS),
}
OTHERS = {
    "mixed table": (GenerativeClassifier(), MIXED),
    "mixed table, naive": (GenerativeClassifier(combine="naive", missing="informative"), MIXED),
    "text": (TextClassifier(), TEXTS),
    "text, bernoulli": (TextClassifier(event="bernoulli"), TEXTS),
    "text, polya": (TextClassifier(event="polya"), TEXTS),
    "text, complement": (TextClassifier(event="complement", unknown="smooth"), TEXTS),
    "text, tfidf": (TextClassifier(weighting="tfidf", calibrate=None), TEXTS),
    "text, refined": (TextClassifier(refine="logistic"), TEXTS),
}
for family in FAMILIES:
    values = {"lognormal": np.exp(NUMBERS[:, 0]), "bernoulli": (COUNTS[:, 0] > 1).astype(float)}
    column = values.get(family, COUNTS[:, 0])
    cells = pd.DataFrame({"x": column})
    OTHERS[f"family {family}"] = (GenerativeClassifier({"x": family}), cells)
for family, block in (("mvn", ("size", "events")), ("joint", ("colour", "paid"))):
    OTHERS[f"family {family}"] = (GenerativeClassifier({block: family}), MIXED[list(block)])
EVERYTHING = TABLES | OTHERS

FORMS = {
    "array": lambda: np.empty((0, 3)),
    "whole numbers": lambda: np.empty((0, 3), np.int64),
    "list": list,
    "tuple": tuple,
    "pandas": lambda: pd.DataFrame(np.empty((0, 3))),
    "pandas without types": lambda: pd.DataFrame(columns=["0", "1", "2"]),
    "polars": lambda: pl.DataFrame(
        {name: [] for name in "012"}, schema=dict.fromkeys("012", float)
    ),
    "Arrow": lambda: pa.table({name: pa.array([], pa.float64()) for name in "012"}),
    "sparse": lambda: sp.csr_array((0, 3)),
}


def fitted(case):
    model, rows = EVERYTHING[case]
    target = NUMBERS[:, 0] if "Regression" in case and case != "LogisticRegression" else LABELS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return clone(model).fit(rows, target), rows[:0], target[:0]


def check_answers(model, nothing):
    """Every result has zero rows, and otherwise the usual shape and type."""
    for name in ("predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        if hasattr(model, name):
            answer = getattr(model, name)(nothing)
            assert answer.shape == (0, 2)
            assert answer.dtype == np.float64
    for name in ("score_samples", "decision_function"):
        if hasattr(model, name):
            answer = getattr(model, name)(nothing)
            assert answer.shape == (0,)
            assert answer.dtype == np.float64
    predicted = model.predict(nothing)
    assert predicted.shape == (0,)
    assert predicted.dtype == (model.classes_.dtype if hasattr(model, "classes_") else float)
    if hasattr(model, "decide"):
        assert model.decide(nothing).shape == (0,)
        assert model.decide(nothing, reject=0.1).dtype == object


@pytest.mark.slow
@pytest.mark.parametrize("case", EVERYTHING)
def test_predictions_of_zero_rows_have_the_right_shape_and_type(case):
    model, nothing, _ = fitted(case)
    check_answers(model, nothing)


DENSE_ONLY = ("CategoricalNB", "GenerativeClassifier")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize(
    ("case", "form"),
    [(c, f) for c in TABLES for f in FORMS if not (f == "sparse" and c in DENSE_ONLY)],
)
def test_zero_rows_may_come_in_any_form(case, form):
    model, _, _ = fitted(case)
    check_answers(model, FORMS[form]())


def test_other_results_of_zero_rows_have_zero_rows():
    line = LinearRegression().fit(NUMBERS, COUNTS[:, :2])
    assert line.predict(np.empty((0, 3))).shape == (0, 2)
    mean, deviation = line.predict(np.empty((0, 3)), return_std=True)
    assert mean.shape == deviation.shape == (0, 2)
    assert line.interval(np.empty((0, 3))).lower.shape == (0, 2)
    assert line.predictive(np.empty((0, 3))).location.shape == (0, 2)
    directions = LinearDiscriminantAnalysis().fit(NUMBERS, LABELS).transform(np.empty((0, 3)))
    assert directions.shape == (0, 1)
    table = GenerativeClassifier().fit(MIXED, LABELS)
    filled = table.impute(MIXED[:0])
    assert filled.columns.tolist() == MIXED.columns.tolist()
    assert len(filled) == 0


@pytest.mark.parametrize(
    "basis",
    [Polynomial(2), Fourier(2), Radial(3), Hinge(2), RandomHinge(4), Quadratic()],
    ids=lambda basis: type(basis).__name__,
)
def test_a_pipeline_with_a_basis_predicts_zero_rows(basis):
    line = make_pipeline(basis, LinearRegression()).fit(NUMBERS, NUMBERS[:, 0])
    assert line.predict(np.empty((0, 3))).shape == (0,)
    assert basis.transform(np.empty((0, 3))).shape[1] == basis.transform(NUMBERS).shape[1]


def test_screening_of_many_classes_accepts_zero_rows():
    labels = np.arange(600) % 200
    rows = np.random.default_rng(0).normal(size=(600, 4)) + labels[:, None]
    for model in (GaussianNB(), MultinomialNB(), GaussianDiscriminant()):
        model.fit(np.abs(rows), labels)
        assert model.predict(np.empty((0, 4))).shape == (0,)
        assert model.predict_proba(np.empty((0, 4))).shape == (0, 200)


@pytest.mark.parametrize("case", TABLES)
def test_zero_rows_of_other_columns_are_refused(case):
    model, _, _ = fitted(case)
    with pytest.raises(ValueError, match="2 features"):
        model.predict(np.empty((0, 2)))


def state_of(model):
    return {name: value for name, value in vars(model).items() if name != "words"}


LEARNERS = [case for case in EVERYTHING if case != "LogisticRegression"]


@pytest.mark.slow
@pytest.mark.parametrize("case", LEARNERS)
@pytest.mark.parametrize("act", ["partial_fit", "forget"])
def test_learning_and_forgetting_zero_rows_changes_nothing_and_does_not_warn(case, act):
    model, nothing, labels = fitted(case)
    before = state_of(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert getattr(model, act)(nothing, labels) is model
    after = state_of(model)
    assert before.keys() == after.keys()
    assert all(after[name] is before[name] for name in before)


@pytest.mark.parametrize("case", LEARNERS)
def test_an_unfitted_model_refuses_to_learn_zero_rows(case):
    model, nothing, labels = fitted(case)
    fresh = clone(model)
    for act in (fresh.fit, fresh.partial_fit):
        with pytest.raises(InputError, match=r"minimum of 1 is required.*Give"):
            act(nothing, labels)
    assert not hasattr(fresh, "tally_")


@pytest.mark.parametrize("case", ["GaussianNB", "mixed table", "text", "LinearRegression"])
def test_zero_rows_with_labels_are_refused(case):
    model, nothing, _ = fitted(case)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.partial_fit(nothing, [1.0, 2.0])


def test_calls_that_need_rows_say_that_there_are_none():
    model = GaussianNB(calibrate="loo").fit(NUMBERS, LABELS)
    for call in (model.leave_one_out, model.refresh_calibration):
        with pytest.raises(InputError, match="X has no rows"):
            call(NUMBERS[:0], LABELS[:0])


def test_zero_rows_leave_a_window_unchanged():
    frame = MIXED[["size", "colour"]]
    model = GenerativeClassifier().window(20).partial_fit(frame[:20], LABELS[:20])
    before = state_of(model)
    model.partial_fit(frame[:0], LABELS[:0])
    assert all(state_of(model)[name] is before[name] for name in before)


def test_a_stream_of_documents_may_have_empty_batches():
    batches = [(TEXTS[:30], LABELS[:30]), ([], []), (TEXTS[30:], LABELS[30:])]
    plain = TextClassifier(calibrate=None)
    model = clone(plain).fit(batch for batch in batches)
    whole = clone(plain).fit(TEXTS, LABELS)
    np.testing.assert_allclose(model.predict_proba(TEXTS), whole.predict_proba(TEXTS), rtol=1e-12)


def test_dates_without_rows_are_read_as_dates():
    days = [datetime.date(2020, 1, 1 + at % 28) for at in range(SIZE)]
    frame = pl.DataFrame({"day": days, "x": NUMBERS[:, 0]})
    model = GenerativeClassifier().fit(frame, LABELS)
    check_answers(model, frame[:0])
