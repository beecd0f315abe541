"""One row as a mapping: the answers of the same row in a data frame, and its errors."""

import numpy as np
import pandas as pd
import pytest

from suffice import GenerativeClassifier, InputError


@pytest.fixture(scope="module")
def learned():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=300) + y,
            "wide": np.exp(rng.normal(size=300) * 3 + y),
            "events": rng.poisson(2 + 2 * y),
            "truth": rng.random(300) < 0.3 + 0.4 * y,
            "city": np.array(["Rome", "Oslo", "Lima"])[rng.integers(0, 3, 300)],
            "sex": np.array(["f", "m"])[(rng.random(300) < 0.3 + 0.3 * y).astype(int)],
        }
    )
    frame.loc[rng.random(300) < 0.1, "x"] = np.nan
    frame.loc[rng.random(300) < 0.1, "city"] = None
    return GenerativeClassifier().fit(frame, y), frame


def as_mapping(row):
    return {name: None if pd.isna(cell) else cell for name, cell in row.items()}


STRANGE = [
    {"city": "Quito"},
    {"city": None},
    {"city": ""},
    {"city": np.nan},
    {"x": 3},
    {"x": True},
    {"x": np.float32(0.5)},
    {"x": 1e300},
    {"x": 2**70},
    {"events": 2.5},
    {"events": -1},
    {"truth": None},
    {"truth": 1},
    dict.fromkeys(["x", "wide", "events", "truth", "city", "sex"]),
]


@pytest.mark.parametrize("change", STRANGE, ids=repr)
def test_a_mapping_is_answered_as_the_same_row_of_a_frame(learned, change):
    model, frame = learned
    row = {**as_mapping(frame.iloc[3]), **change}
    table = pd.DataFrame([row], dtype=object)
    expected = model.predict_log_proba(table)
    for given in (row, [row], dict(reversed(row.items()))):
        np.testing.assert_array_equal(model.predict_log_proba(given), expected)
        assert model.predict(given).tolist() == model.predict(table).tolist()


def test_rows_as_mappings_are_answered_as_a_frame(learned):
    model, frame = learned
    rows = [as_mapping(row) for _, row in frame.head(40).iterrows()]
    expected = model.predict_proba(frame.head(40))
    np.testing.assert_array_equal(model.predict_proba(rows), expected)
    one_by_one = np.concatenate([model.predict_proba(row) for row in rows])
    # One row is scored cell by cell, which adds up in another order.
    np.testing.assert_allclose(one_by_one, expected, rtol=1e-12)
    for row, proba in zip(rows, expected, strict=True):
        assert model.predict(row).tolist() == [model.classes_[proba.argmax()]]


def test_columns_that_were_not_learned_are_left_aside(learned):
    model, frame = learned
    row = as_mapping(frame.iloc[0])
    np.testing.assert_array_equal(model.predict_proba({**row, "more": 1}), model.predict_proba(row))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"city": ...}, "Column 'city' is missing"),
        ({"x": "tall"}, "Column 'x' was learned as 'number', and now holds 'tall'"),
        ({"x": np.inf}, "Column 'x' holds inf in row 0"),
        ({"x": 10**400}, "Column 'x' holds a number in row 0 that is beyond all floats"),
        ({"x": 1j}, "Column 'x' holds the complex number"),
        ({"city": {"name": "Rome"}}, "Column 'city' holds a dict in row 0"),
    ],
    ids=repr,
)
def test_errors_name_the_column(learned, change, message):
    model, frame = learned
    row = {**as_mapping(frame.iloc[0]), **change}
    row = {name: cell for name, cell in row.items() if cell is not ...}
    for given in (row, [row]):
        with pytest.raises(InputError, match=message):
            model.predict(given)
