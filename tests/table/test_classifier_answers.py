"""Answers of GenerativeClassifier: explanations, samples, imputed cells, decisions."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from classifier_cases import mixed, since
from suffice.errors import InputError
from suffice.table import GenerativeClassifier

FRAME, LABELS = mixed()
TOLD = {("weight", "noise"): "mvn", ("city", "member"): "joint"}
MODEL = GenerativeClassifier(TOLD, budget=0).fit(FRAME, LABELS)
# Rows with and without missing values.
ROWS = [
    *np.flatnonzero(FRAME.isna().any(axis=1))[:3],
    *np.flatnonzero(FRAME.notna().all(axis=1))[:3],
]


@pytest.mark.slow
@pytest.mark.parametrize("number", ROWS)
@pytest.mark.parametrize("target", ["a", "b", None])
def test_reasons_add_up_to_the_log_odds_of_the_probabilities(number, target):
    row = FRAME.iloc[[number]]
    proba = MODEL.predict_proba(row)[0]
    at = np.argmax(proba) if target is None else list("abc").index(target)
    reasons = MODEL.explain(row, target)
    assert reasons.target == "abc"[at]
    assert reasons.log_odds == pytest.approx(np.log(proba[at] / (1 - proba[at])), abs=1e-7)
    assert reasons.base + reasons.contributions.sum() == pytest.approx(reasons.log_odds, abs=1e-9)
    assert reasons.probability == pytest.approx(proba[at], abs=1e-8)
    pair = MODEL.explain(row, "a", against="c")
    assert pair.log_odds == pytest.approx(np.log(proba[0] / proba[2]), abs=1e-7)
    assert pair.base + pair.contributions.sum() == pytest.approx(pair.log_odds, abs=1e-9)


def test_reasons_name_columns_with_their_values():
    row = {
        "weight": 10.5,
        "income": None,
        "children": 2,
        "city": "Cairo",
        "member": True,
        "since": since(),
        "noise": 0.1,
    }
    reasons = MODEL.explain(row)
    shown = dict(zip(reasons.names, reasons.values, strict=True))
    assert shown["weight"] == "weight = 10.5"
    assert shown["income"] == "income missing"
    assert shown["city"] == "city = (other)"
    assert shown["since"] == "since = 2024-03-01"
    assert shown["member"] == "member = True"
    assert shown["since:month"] == "since:month = 3"


def test_missing_values_and_ignored_columns_contribute_nothing():
    model = GenerativeClassifier({"noise": "ignore"}, budget=0).fit(FRAME, LABELS)
    row = FRAME.iloc[[5]].assign(income=np.nan)
    reasons = model.explain(row)
    shares = dict(zip(reasons.names, reasons.contributions, strict=True))
    assert shares["income"] == pytest.approx(0.0, abs=1e-12)
    assert "noise" not in shares


def test_what_cannot_be_explained_is_refused():
    with pytest.raises(InputError, match=r"2 rows to explain\. Give one"):
        MODEL.explain(FRAME[:2])
    with pytest.raises(InputError, match="There is no class 'z'; the classes are"):
        MODEL.explain(FRAME[:1], "z")
    with pytest.raises(InputError, match="Class 'a' is compared with itself"):
        MODEL.explain(FRAME[:1], "a", "a")


def test_draws_have_the_means_and_shares_of_what_was_learned():
    X, y = MODEL.sample(20_000, random_state=0)
    assert list(X.columns) == list(FRAME.columns)
    whole = FRAME.assign(y=LABELS)
    for label in "abc":
        mine, theirs = X[y == label], whole[whole.y == label]
        error = 5 * theirs.weight.std() * np.sqrt(1 / len(theirs) + 1 / len(mine)) + 0.1
        assert abs(mine.weight.mean() - theirs.weight.mean()) < error
        share = (theirs.city.dropna() == "Bonn").mean()
        assert abs((mine.city == "Bonn").mean() - share) < 0.15
    assert np.mean(y == "a") == pytest.approx(np.mean(LABELS == "a"), abs=0.03)
    second, labels = MODEL.sample(20_000, random_state=0)
    pd.testing.assert_frame_equal(X, second)
    assert (labels == y).all()


def test_a_model_learns_its_own_draws():
    X, y = MODEL.sample(3000, random_state=1)
    assert np.mean(MODEL.predict(X) == y) > 0.6
    GenerativeClassifier(MODEL.families_).fit(X, y)


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "numpy", "rows"])
def test_samples_and_imputed_rows_are_tables_of_the_kind_that_was_given(kind):
    numbers = FRAME[["weight", "income", "noise"]]
    given = {
        "polars": pl.from_pandas(FRAME),
        "pyarrow": pa.Table.from_pandas(FRAME),
        "numpy": numbers.to_numpy(),
        "rows": FRAME.astype(object).where(FRAME.notna(), None).to_dict("records"),
    }[kind]
    model = GenerativeClassifier(budget=0).fit(given, LABELS)
    drawn, _ = model.sample(5, random_state=0)
    filled = model.impute(given)
    assert type(drawn) is type(filled) is type(given)
    assert len(drawn) == 5
    known = GenerativeClassifier(budget=0).fit(numbers if kind == "numpy" else FRAME, LABELS)
    mine = (
        np.array([row["weight"] for row in filled])
        if kind == "rows"
        else np.asarray(filled[:, 0] if kind == "numpy" else filled["weight"], float)
    )
    expected = known.impute(numbers if kind == "numpy" else FRAME)["weight"]
    # Columns of other names are dealt to other folds.
    np.testing.assert_allclose(mine.astype(float), expected, rtol=1e-3)


def test_missing_values_are_imputed_given_the_rest_of_the_row():
    filled = MODEL.impute(FRAME)
    assert not filled.isna().any().any()
    seen = FRAME.notna()
    for name in FRAME.columns:
        pd.testing.assert_series_equal(
            filled[name][seen[name]], FRAME[name][seen[name]], check_dtype=False
        )
    holes = FRAME.weight.isna().to_numpy()
    guess = filled.weight[holes]
    means = np.array([FRAME.weight[label == LABELS].mean() for label in "abc"])
    own = means[np.searchsorted(list("abc"), LABELS[holes])]
    assert np.mean((guess - own) ** 2) < np.mean((FRAME.weight.mean() - own) ** 2)


def test_an_imputed_number_is_its_expectation_over_the_classes():
    model = GenerativeClassifier(
        {"weight": "normal", "noise": "ignore"}, combine="naive", budget=0
    ).fit(FRAME[["weight", "noise", "city"]], LABELS)
    row = pd.DataFrame({"weight": [np.nan], "noise": [0.0], "city": ["Rome"]})
    draws = pd.concat([model.impute(row, draw=True, random_state=s) for s in range(400)])
    expected = model.impute(row).weight[0]
    error = 5 * draws.weight.std() / np.sqrt(400)
    assert abs(draws.weight.mean() - expected) < error


def test_decisions_weigh_losses_and_may_reject():
    loss = {"act": {"a": 0, "b": 1, "c": 5}, "wait": {"a": 2, "b": 1, "c": 0}}
    actions = MODEL.decide(FRAME, loss)
    cost = MODEL.predict_proba(FRAME) @ np.array([[0, 1, 5], [2, 1, 0]]).T
    assert (actions == np.array(["act", "wait"])[cost.argmin(axis=1)]).all()
    rejected = MODEL.decide(FRAME, reject=0.2)
    sure = MODEL.predict_proba(FRAME).max(axis=1) > 0.8
    assert ((rejected != None) == sure).all()  # noqa: E711


def test_rows_unlike_any_learned_have_small_densities():
    odd = FRAME.assign(weight=500.0, city="Cairo")
    assert MODEL.score_samples(odd).max() < MODEL.score_samples(FRAME).min()


def test_no_rows_cannot_be_drawn():
    with pytest.raises(InputError, match="Cannot draw 0 rows"):
        MODEL.sample(0)


def test_a_column_that_held_nothing_may_hold_anything_later():
    """Nothing was learned of it, so that nothing that comes can be of the wrong type."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    rows = pd.DataFrame({"x": rng.normal(size=60) + y, "note": None, "same": 1.0})
    model = GenerativeClassifier(budget=0).fit(rows, y)
    for cells in (["late", "early"], [3.0, None], [True, False], pd.to_datetime(["2020", "2021"])):
        new = rows[:2].assign(note=cells)
        np.testing.assert_array_equal(model.predict_proba(new), model.predict_proba(rows[:2]))
        odd = rows[:2].assign(same=cells)
        np.testing.assert_array_equal(model.predict_proba(odd), model.predict_proba(rows[:2]))
    with pytest.raises(InputError, match="Column 'x' was learned as 'number'"):
        model.predict(rows[:2].assign(x=["a", "b"]))
