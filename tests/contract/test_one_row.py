"""One row in all its forms, and tables that are not data frames."""

from __future__ import annotations

import datetime as dt
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    TextClassifier,
)
from suffice.errors import InputError, ShapeError, SufficeWarning

RNG = np.random.default_rng(0)
Y = np.tile([0, 1], 40)
COUNTS = RNG.poisson(2 + 3 * Y[:, None], (80, 3))
FRAME = pd.DataFrame(np.minimum(COUNTS, 9), columns=["a", "b", "c"])
CLASSIFIERS = [
    BernoulliNB(),
    CategoricalNB(min_categories=10),
    ComplementNB(),
    GaussianDiscriminant(),
    GaussianNB(),
    GaussianNB(calibrate="loo"),
    GenerativeClassifier(),
    LinearDiscriminantAnalysis(),
    LogisticRegression(),
    MultinomialNB(),
    PoissonNB(),
    QuadraticDiscriminantAnalysis(),
]
METHODS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "predict_joint_log_proba",
    "score_samples",
    "decide",
)


def rows_of(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the first row of a data frame in all its forms."""
    row = frame.iloc[0]
    plain = [cell.item() if isinstance(cell, np.generic) else cell for cell in row.tolist()]
    names = [str(name) for name in frame]
    return {
        "a mapping": dict(zip(names, plain, strict=True)),
        "a mapping in another order": dict(zip(names[::-1], plain[::-1], strict=True)),
        "a row of pandas": row,
        "a list": plain,
        "a tuple": tuple(plain),
        "a mapping of rows": [dict(zip(names, plain, strict=True))],
        "a mapping of columns": {name: [cell] for name, cell in zip(names, plain, strict=True)},
        "a row of a structured array": frame.to_records(index=False)[0],
    }


@pytest.fixture(autouse=True)
def quiet():
    """Ignore warnings about stale weights and about too few rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        yield


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=str)
def test_one_row_by_name_is_predicted_as_a_table_of_one_row(classifier: Any) -> None:
    model = classifier.fit(FRAME, Y)
    for name in (one for one in METHODS if hasattr(model, one)):
        expected = getattr(model, name)(FRAME[:1])
        assert len(expected) == 1
        for row in rows_of(FRAME).values():
            np.testing.assert_array_equal(getattr(model, name)(row), expected)


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=str)
def test_one_row_by_position_is_a_list_or_tuple_as_long_as_the_columns(classifier: Any) -> None:
    array = FRAME.to_numpy()
    model = classifier.fit(array, Y)
    for row in (array[0].tolist(), tuple(array[0].tolist()), list(array[0]), FRAME.iloc[0]):
        np.testing.assert_array_equal(model.predict_proba(row), model.predict_proba(array[:1]))
    for other in ([1, 2], [1, 2, 3, 4], (1,), 3):
        with pytest.raises(ValueError, match="Expected 2D array"):
            model.predict(other)
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.predict(array[0])
    with pytest.raises(ShapeError, match="A Series of 80 cells, indexed by '0', '1', '2', "):
        model.predict(FRAME["a"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "classifier", [one for one in CLASSIFIERS if hasattr(one, "partial_fit")], ids=str
)
def test_one_row_is_learned_and_forgotten_with_its_label(classifier: Any) -> None:
    whole = type(classifier)(**classifier.get_params()).fit(FRAME, Y)
    for row in rows_of(FRAME).values():
        for label in (Y[0], int(Y[0]), [Y[0]], np.array([Y[0]]), np.array(Y[0])):
            model = type(classifier)(**classifier.get_params()).fit(FRAME[1:], Y[1:])
            model.partial_fit(row, label)
            assert model.tally_.weights.tolist() == whole.tally_.weights.tolist()
            model.forget(row, label)
            assert model.tally_.weights.sum() == 79
    with pytest.raises(ValueError, match="should be a 1d array"):
        model.partial_fit(FRAME[:2], 1)


@pytest.mark.parametrize(
    "classifier", [GaussianNB(), GenerativeClassifier(), GaussianDiscriminant()], ids=str
)
def test_a_stream_may_begin_with_one_row_in_any_form(classifier: Any) -> None:
    for form, row in rows_of(FRAME).items():
        model = type(classifier)(**classifier.get_params())
        model.partial_fit(row, "x")
        assert model.n_features_in_ == 3, form
        model.partial_fit(row, ["y"])
        assert model.tally_.weights.tolist() == [1.0, 1.0]
    for fit in (GaussianNB().fit, GenerativeClassifier().fit, GenerativeClassifier().partial_fit):
        with pytest.raises(ValueError, match="Expected"):
            fit([1.0, 2.0, 3.0], [0, 1, 0])
        with pytest.raises(ValueError, match="Expected"):
            fit(FRAME["a"], Y)


def mixed() -> tuple[pd.DataFrame, list[str]]:
    frame = pd.DataFrame(
        {
            "weight": RNG.normal(size=80) + Y,
            "colour": np.where(RNG.random(80) < 0.3 + 0.4 * Y, "red", "blue"),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 300, 80), "D"),
        }
    )
    return frame, ["no", "yes"] * 40


def test_a_mixed_row_is_predicted_explained_and_learned_in_any_form() -> None:
    frame, labels = mixed()
    model = GenerativeClassifier().fit(frame, labels)
    expected = model.predict_proba(frame[:1])
    forms = rows_of(frame)
    forms["a row of polars"] = pl.from_pandas(frame).row(0)
    forms["with a column more"] = frame.assign(more="x").iloc[0]
    del forms["a row of a structured array"]  # numpy's times are nanoseconds there
    for form, row in forms.items():
        np.testing.assert_array_equal(model.predict_proba(row), expected, err_msg=form)
        assert model.explain(row).to_dict() == model.explain(frame[:1]).to_dict()
    two = GenerativeClassifier().fit(frame[["weight", "colour"]].to_numpy(), labels)
    assert two.predict_proba([1.0, "red"]).shape == (1, 2)
    assert two.predict_proba([[1.0, "red"], [2.0, "blue"]]).shape == (2, 2)
    assert two.predict_proba([{"x0": 1.0, "x1": "red"}, {"x0": 2.0, "x1": "blue"}]).shape == (2, 2)
    with pytest.raises(InputError, match="Column 'when' is missing"):
        model.predict({"weight": 1.0, "colour": "red"})
    with pytest.raises(InputError, match="80 rows to explain"):
        model.explain(frame)


def test_one_document_is_predicted_learned_and_forgotten() -> None:
    mails = ["cheap pills cheap", "lunch at noon", "cheap watches", "see you at lunch"] * 3
    labels = ["spam", "ham", "spam", "ham"] * 3
    model = TextClassifier().fit(mails, labels)
    for name in METHODS:
        answers = getattr(model, name)("cheap lunch")
        np.testing.assert_array_equal(answers, getattr(model, name)(["cheap lunch"]))
        assert len(answers) == 1
        assert len(getattr(model, name)(["cheap", "lunch"])) == 2
    assert model.predict(b"cheap pills").tolist() == ["spam"]
    model.partial_fit("quarterly report", "work")
    assert model.tally_.weights.tolist() == [6.0, 6.0, 1.0]
    model.forget("quarterly report", ["work"])
    assert model.classes_.tolist() == ["ham", "spam"]
    first = TextClassifier().partial_fit("quarterly report", "work").partial_fit("lunch", "ham")
    assert first.tally_.weights.tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="string object received"):
        TextClassifier().fit("quarterly report", ["work"])


def tables() -> dict[str, Any]:
    return {
        "lists": {name: FRAME[name].tolist() for name in FRAME},
        "tuples": {name: tuple(FRAME[name]) for name in FRAME},
        "arrays": {name: FRAME[name].to_numpy() for name in FRAME},
        "columns of pandas": {name: FRAME[name] for name in FRAME},
        "columns of polars": {name: pl.Series(FRAME[name]) for name in FRAME},
        "columns of Arrow": {name: pa.array(FRAME[name]) for name in FRAME},
        "a lazy frame": pl.from_pandas(FRAME).lazy(),
        "a structured array": FRAME.to_records(index=False).view(np.ndarray),
        "records": FRAME.to_records(index=False),
        "rows": FRAME.to_dict("records"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=str)
def test_tables_that_are_not_data_frames_are_learned_and_predicted(classifier: Any) -> None:
    expected = classifier.fit(FRAME, Y).predict_proba(FRAME)
    for form, table in tables().items():
        model = type(classifier)(**classifier.get_params()).fit(table, Y)
        assert model.feature_names_in_.tolist() == ["a", "b", "c"], form
        np.testing.assert_array_equal(model.predict_proba(table), expected, err_msg=form)
        np.testing.assert_array_equal(model.predict_proba(FRAME), expected, err_msg=form)
        assert model.predict(FRAME.iloc[0]).shape == (1,)


@pytest.mark.parametrize("fit", [GaussianNB().fit, GenerativeClassifier().fit])
def test_what_is_neither_a_row_nor_a_table_is_refused(fit: Any) -> None:
    with pytest.raises(
        ShapeError, match=r"Column 'a' holds 2 values and column 'b' 3 values\. Give one value for"
    ):
        fit({"a": [1, 2], "b": [1, 2, 3]}, [0, 1])
    with pytest.raises(ShapeError, match="Column 'a' holds one value and column 'b' 2 values"):
        fit({"a": 1, "b": [1, 2]}, [0, 1])
    with pytest.raises(ValueError, match=r"shape|a ndarray in row 0"):
        fit({"a": np.zeros((2, 2)), "b": [1, 2]}, [0, 1])
    for nothing in ({}, {"a": []}, [{}]):
        with pytest.raises(ValueError, match=r"0 (sample|feature)"):
            fit(nothing, [])


@pytest.mark.parametrize("classifier", [GaussianNB(), GenerativeClassifier()], ids=str)
def test_the_error_names_columns_with_the_same_name(classifier: Any) -> None:
    cells = [FRAME[name].tolist() for name in ("a", "a", "b", "b", "c")]
    names = ["a", "a", "b", "b", "c"]
    twice = pd.DataFrame(np.array(cells).T, columns=names)
    sources = [
        twice,
        pa.table(cells, names=names),
        pa.record_batch([pa.array(c) for c in cells], names=names),
        [{"a": 1, "b": 2, 1: 3, "1": 4}] * 80,
        {1: cells[0], "1": cells[1]},
        FRAME.rename(columns={"a": 1, "b": "1"}),
    ]
    for at, source in enumerate(sources):
        found = "'1'" if at > 2 else "'a', 'b'"
        with pytest.raises(InputError, match=rf"More than one column is named {found}\. Rename"):
            classifier.fit(source, Y)
    fitted = type(classifier)().fit(FRAME, Y)
    for rows in (twice, twice.iloc[0]):
        with pytest.raises(InputError, match="More than one column is named 'a', 'b'"):
            fitted.predict(rows)


def test_missing_values_are_imputed_in_tables_of_any_kind() -> None:
    whole, labels = mixed()
    frame = whole.copy()
    frame.loc[0, "weight"], frame.loc[1, "colour"], frame.loc[2, "when"] = np.nan, None, pd.NaT
    model = GenerativeClassifier().fit(frame, labels)
    filled = model.impute(frame)
    assert filled.notna().all().all()
    pd.testing.assert_frame_equal(filled[3:], whole[3:], check_dtype=False)
    numbered = frame.set_axis([0, 1, 2], axis=1)
    other = GenerativeClassifier().fit(numbered, labels).impute(numbered)
    assert other.columns.tolist() == [0, 1, 2]
    # Columns of other names are assigned to other folds.
    pd.testing.assert_frame_equal(other.set_axis(list(frame), axis=1), filled, rtol=0.01)
    columns = {name: frame[name].tolist() for name in frame}
    for form, table in {
        "a mapping": columns,
        "rows": [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ],
        "numbered rows": [dict(enumerate(row)) for row in zip(*columns.values(), strict=True)],
        "polars": pl.from_pandas(frame),
        "lazy": pl.from_pandas(frame).lazy(),
        "Arrow": pa.Table.from_pandas(frame),
    }.items():
        found = GenerativeClassifier().fit(table, labels).impute(table)
        again = found.to_pandas() if hasattr(found, "to_pandas") else pd.DataFrame(found)
        assert again.shape == frame.shape, form
        assert again.notna().all().all(), form
        assert again.iloc[0, 0] == pytest.approx(filled.iloc[0, 0], rel=0.01), form
    one = model.impute({"weight": None, "colour": "red", "when": dt.datetime(2024, 2, 1)})
    assert len(one) == 1
    assert np.isfinite(one[0]["weight"])
    array = np.array([*map(tuple, RNG.normal(size=(40, 2)))], [("a", float), ("b", float)])
    array["a"][3] = np.nan
    found = GenerativeClassifier().fit(array, np.tile([0, 1], 20)).impute(array)
    assert found.dtype.names == ("a", "b")
    assert np.isfinite(found["a"]).all()


def test_a_model_of_an_array_imputes_a_data_frame_by_position() -> None:
    array = RNG.normal(size=(40, 2))
    model = GenerativeClassifier().fit(array, np.tile([0, 1], 20))
    frame = pd.DataFrame(array, columns=["p", "q"])
    frame.loc[0, "p"] = np.nan
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X has feature names")
        filled = model.impute(frame)
    assert filled.columns.tolist() == ["p", "q"]
    assert filled.notna().all().all()


def test_intervals_times_and_time_spans_print_in_their_own_form() -> None:
    n = 60
    at = np.arange(n)
    frame = pd.DataFrame(
        {
            "bin": pd.cut(at % 9, [-1, 2, 5, 8]),
            "clock": [dt.time(int(k) % 24, 30) for k in at],
            "stay": pd.to_timedelta(36 + at % 7, "h"),
            "seen": pd.Timestamp("2024-01-01 18:00") + pd.to_timedelta(at, "D"),
            "day": (pd.Timestamp("2024-01-01") + pd.to_timedelta(at, "D")).date,
        }
    )
    model = GenerativeClassifier(budget=0).fit(frame, at % 2)
    shown = {*model.explain(frame.iloc[0]).values}
    assert {
        "bin = (-1, 2]",
        "clock = 00:30:00",
        "stay = 1 day, 12:00:00",
        "seen = 2024-01-01 18:00:00",
        "day = 2024-01-01",
    } <= shown
    drawn, _ = model.sample(4, random_state=0)
    assert all(isinstance(cell, dt.time) for cell in drawn["clock"])
    assert drawn["stay"].dtype.kind == "m"
