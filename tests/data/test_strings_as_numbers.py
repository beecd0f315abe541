"""Numbers, dates and times that arrive as strings are learned as what they are."""

from __future__ import annotations

import datetime as dt
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import suffice
from suffice import GenerativeClassifier
from suffice.data.schema import Schema
from suffice.data.string_format import StringFormat
from suffice.data.table import Table
from suffice.errors import InputError, MergeError, SufficeWarning

N = 300
RNG = np.random.default_rng(0)
X = RNG.normal(size=N)
Y = np.where(X + RNG.normal(size=N) * 0.5 > 0, "up", "down")
ROUNDED = np.round(X, 3)
DAYS = np.datetime64("2020-01-01") + np.round(100 * X).astype("m8[D]")
DATES = [str(day) for day in DAYS]
WRITTEN = [f"{value:.3f}" for value in X]


def learned(cells: Any, **settings: Any) -> GenerativeClassifier:
    return GenerativeClassifier(**settings).fit(pd.DataFrame({"c": cells}), Y)


def warnings_of(act: Any) -> list[str]:
    """Return what is warned of while something is done, but for weights that are stale."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return [str(w.message) for w in caught if "weights" not in str(w.message)]


FORMS: dict[str, tuple[list[str], np.ndarray]] = {
    "decimals": (WRITTEN, ROUNDED),
    "thousands": ([f"{int(5000 + 1000 * v):,}" for v in X], (5000 + 1000 * X).astype(int)),
    "dollars": ([f"${1000 + 100 * v:.2f}" for v in X], np.round(1000 + 100 * X, 2)),
    "per cent": ([f"{v:.2f} %" for v in X], np.round(X, 2)),
    "decimal commas": ([f"{v:.2f}".replace(".", ",") for v in X], np.round(X, 2)),
    "exponents": ([f"{v:.3e}" for v in X], np.array([float(f"{v:.3e}") for v in X])),
    "dates": (DATES, DAYS),
    "days first": ([f"{d[8:]}.{d[5:7]}.{d[:4]}" for d in DATES], DAYS),
    "months first": ([f"{d[5:7]}/{d[8:]}/{d[:4]}" for d in DATES], DAYS),
}


@pytest.mark.parametrize("form", FORMS)
def test_strings_are_learned_as_the_numbers_and_dates_that_they_are(form: str) -> None:
    strings, values = FORMS[form]
    read, plain = learned(strings), learned(values)
    np.testing.assert_array_equal(
        read.predict_proba(pd.DataFrame({"c": strings})),
        plain.predict_proba(pd.DataFrame({"c": values})),
    )
    kind = "dates" if values is DAYS else "numbers"
    assert f"read as {kind}" in read.choices_["c"].why
    assert "read as" not in plain.choices_["c"].why


def sources(cells: list[Any]) -> dict[str, Any]:
    array = np.empty((len(cells), 1), dtype=object)
    array[:, 0] = cells
    strings = [None if cell is None else str(cell) for cell in cells]
    return {
        "pandas objects": pd.DataFrame({"x0": pd.Series(cells, dtype=object)}),
        "pandas strings": pd.DataFrame({"x0": pd.Series(strings, dtype="string")}),
        "pandas with Arrow": pd.DataFrame(
            {"x0": pd.Series(strings, dtype=pd.ArrowDtype(pa.string()))}
        ),
        "polars": pl.DataFrame({"x0": strings}),
        "Arrow": pa.table({"x0": pa.array(strings, pa.string())}),
        "large Arrow": pa.table({"x0": pa.array(strings, pa.large_string())}),
        "Arrow in chunks": pa.table({"x0": pa.chunked_array([strings[:7], strings[7:]])}),
        "Arrow dictionaries": pa.table({"x0": pa.array(strings).dictionary_encode()}),
        "views of Arrow": pa.table({"x0": pa.array(strings, pa.string_view())}),
        "mappings": [{"x0": cell} for cell in cells],
        "numpy objects": array,
        "a list of rows": [[cell] for cell in cells],
        "a mapping": {"x0": cells},
    }


@pytest.mark.parametrize("source", sources(["a"]))
def test_every_source_of_strings_is_read(source: str) -> None:
    cells: list[Any] = [*WRITTEN[:60], None, "?"]
    column = Table.of(sources(cells)[source])["x0"]
    assert column.kind == "number"
    np.testing.assert_array_equal(column.values, [*map(float, WRITTEN[:60]), np.nan, np.nan])
    assert column.unreadable == ((("?", 61),), 1)
    # Numbers beside a word are what their column mostly is.
    if source in ("mappings", "pandas objects", "numpy objects", "a mapping"):
        mixed = [*ROUNDED[:60].tolist(), None, "?"]
        column = Table.of(sources(mixed)[source])["x0"]
        np.testing.assert_array_equal(column.values, [*ROUNDED[:60], np.nan, np.nan])


def test_arrays_of_numpy_strings_are_read() -> None:
    array = np.column_stack([WRITTEN, np.where(X > 0, "red", "blue")])
    assert [column.kind for column in Table.of(array)] == ["number", "category"]


def test_categories_of_pandas_and_polars_stay_categories() -> None:
    frames = [
        pd.DataFrame({"c": pd.Categorical(WRITTEN)}),
        pl.DataFrame({"c": pl.Series(WRITTEN, dtype=pl.Categorical)}),
        pl.DataFrame({"c": pl.Series(WRITTEN, dtype=pl.Enum(sorted(set(WRITTEN))))}),
    ]
    for frame in frames:
        assert Table.of(frame)["c"].kind == "category"
    # Where numbers were learned from strings, categories are read like them.
    schema = Schema.of(Table.of(pd.DataFrame({"c": WRITTEN})))
    for frame in frames:
        np.testing.assert_array_equal(schema.take(frame)["c"].values, ROUNDED)


def test_levels_of_an_arrow_dictionary_that_no_cell_has_decide_nothing() -> None:
    words = pa.array([*WRITTEN[:30], *"abcdefghij"])
    cells = pa.DictionaryArray.from_arrays(pa.array([*range(30), None]), words)
    column = Table.of(pa.table({"c": cells}))["c"]
    np.testing.assert_array_equal(column.values, [*map(float, WRITTEN[:30]), np.nan])
    assert column.unreadable is None


def test_one_warning_names_column_value_and_row() -> None:
    frame = pd.DataFrame({"a": WRITTEN, "b": DATES, "c": WRITTEN})
    frame.loc[3, "a"], frame.loc[7, "b"] = "<0.01", "soon"
    frame.loc[[1, 2, 5], "a"] = "?"
    messages = warnings_of(lambda: GenerativeClassifier().fit(frame, Y))
    assert len(messages) == 1
    assert messages[0].startswith(
        "Read as missing values: column 'a' (read as numbers) holds '?' in row 1, '<0.01' in row 3 "
        "and 2 more such cells; column 'b' (read as dates) holds 'soon' in row 7. Correct them, or "
        "give the column the family 'categorical'"
    )
    with pytest.warns(SufficeWarning, match=r"'\?' in row 0"):
        model = learned(["?", *WRITTEN[1:]])
    missing = learned([None, *WRITTEN[1:]])
    rows = pd.DataFrame({"c": WRITTEN})
    np.testing.assert_array_equal(model.predict_proba(rows), missing.predict_proba(rows))


def test_many_cells_that_do_not_read_are_counted_and_few_are_named() -> None:
    cells = [*WRITTEN, *[f"word {at}" for at in range(10)]]
    messages = warnings_of(
        lambda: GenerativeClassifier().fit([{"c": cell} for cell in cells], [*Y, *Y[:10]])
    )
    assert len(messages) == 1
    assert "'word 0' in row 300, " in messages[0]
    assert "'word 4' in row 304 and 5 more such cells" in messages[0]


def test_a_family_of_levels_or_texts_keeps_the_strings() -> None:
    for name in ("categorical", {"family": "categorical"}):
        model = learned(WRITTEN, families={"c": name})
        assert model.schema_["c"].kind == "category"
        assert model.schema_["c"].levels == tuple(dict.fromkeys(WRITTEN))
    assert learned(DATES, families={"c": "text"}).schema_["c"].kind == "text"
    ages = [str(at % 7) for at in range(N)]
    assert learned(ages).schema_["c"].kind == "category"
    model = learned(ages, families={"c": "normal"})
    assert model.schema_["c"].kind == "integer"
    assert "read as numbers" in model.choices_["c"].why
    with pytest.raises(InputError, match=r"Column 'c' is a category, and 'normal' is a family of"):
        learned(np.where(X > 0, "red", "blue"), families={"c": "normal"})


def test_codes_and_dates_in_no_order_stay_levels_and_choices_say_so() -> None:
    codes = [f"{at % 40:03d}" for at in range(N)]
    open_ = [f"{at % 6 + 1}/{at % 5 + 1}/2020" for at in range(N)]
    frame = pd.DataFrame({"code": codes, "when": open_, "rate": [str(at % 5) for at in range(N)]})
    model = GenerativeClassifier().fit(frame, Y)
    assert {model.schema_[name].kind for name in frame} == {"category"}
    assert "leading zeros" in model.choices_["code"].why
    assert "order of day and month is open" in model.choices_["when"].why
    assert "read" not in model.choices_["rate"].why
    assert "order of day and month is open" in str(model.choices_)


def test_yes_and_no_are_two_levels() -> None:
    for words in (("yes", "no"), ("true", "false"), ("True", "False")):
        cells = np.where(X > 0.3, *words)
        model = learned(cells)
        assert set(model.schema_["c"].levels) == set(words)
        assert model.score(pd.DataFrame({"c": cells}), Y) > 0.7
    # Truth values are found among levels that are named so.
    found = model.predict_proba([{"c": True}, {"c": False}, {"c": None}])
    np.testing.assert_array_equal(found[:2], model.predict_proba([{"c": "True"}, {"c": "False"}]))


def test_later_rows_follow_and_are_warned_of_once_a_call() -> None:
    frame = pd.DataFrame({"c": WRITTEN})
    whole = GenerativeClassifier().fit(frame, Y)
    model = GenerativeClassifier(whole.families_)
    for start in range(0, N, 100):
        some = slice(start, start + 100)
        assert warnings_of(lambda: model.partial_fit(frame[some], Y[some])) == []  # noqa: B023
    assert model.tally_.allclose(whole.tally_)
    # One integer alone would be a level, and one word alone no number.
    later = [{"c": "2"}, {"c": 2}, {"c": "2.000"}, {"c": " 2 "}]
    answers = model.predict_proba(later)
    np.testing.assert_array_equal(answers, np.repeat(answers[:1], 4, axis=0))
    for act in (model.predict, model.predict_proba, model.score_samples, model.decide):
        messages = warnings_of(lambda: act([{"c": "1.5"}, {"c": "old"}, {"c": "old"}]))  # noqa: B023
        assert len(messages) == 1
        assert (
            "column 'c' (read as numbers) holds 'old' in row 1 and 1 more such cells" in messages[0]
        )
    assert len(warnings_of(lambda: model.partial_fit([{"c": "old"}], ["up"]))) == 1
    with pytest.warns(SufficeWarning, match="holds 'old' in row 0"):
        found = model.predict_proba([{"c": "old"}])
    np.testing.assert_array_equal(found, model.predict_proba([{"c": None}]))


def test_a_window_warns_once_of_what_it_learns() -> None:
    model = GenerativeClassifier().window(100)
    frame = pd.DataFrame({"c": ["?", *WRITTEN[1:]]})
    assert len(warnings_of(lambda: model.fit(frame[:80], Y[:80]))) == 1
    frame.loc[90, "c"] = "??"
    assert len(warnings_of(lambda: model.partial_fit(frame[80:160], Y[80:160]))) == 1


def test_a_category_stays_one_when_later_cells_are_numbers() -> None:
    words = np.where(X > 0, "high", "low")
    model = learned(words)
    model.predict(pd.DataFrame({"c": WRITTEN}))
    assert model.schema_["c"].kind == "category"
    numbers = learned(X)
    with pytest.raises(InputError, match=r"'c' was learned as 'number', and now holds '1\.5'"):
        numbers.predict([{"c": "1.5"}])


def test_a_loaded_model_reads_strings_as_the_saved_one_did(tmp_path: Any) -> None:
    path = tmp_path / "model.safetensors"
    frame = pd.DataFrame({"day": FORMS["days first"][0], "price": FORMS["decimal commas"][0]})
    frame["at"] = [f"{at % 24}:{at % 60:02d}" for at in range(N)]
    frame["eur"] = [f"{1000 + v:.2f} €".replace(".", ",") for v in X]
    model = GenerativeClassifier().fit(frame, Y)
    model.save(path)
    loaded = suffice.load(path)
    assert loaded.schema_ == model.schema_
    assert loaded.schema_["day"].strings == StringFormat("date", day_first=True)
    assert loaded.schema_["eur"].strings == StringFormat("number", ",", "€")
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    one = {"day": "1.2.2020", "price": "0,5", "at": "6:30", "eur": "1.000,25"}
    assert loaded.explain(one).to_dict() == model.explain(one).to_dict()
    assert {"day = 2020-02-01", "at = 06:30:00", "price = 0.5"} <= {*model.explain(one).values}


def test_models_that_read_strings_alike_merge_and_others_do_not(tmp_path: Any) -> None:
    frame = pd.DataFrame({"c": WRITTEN})
    whole = GenerativeClassifier(budget=0).fit(frame, Y)
    first = GenerativeClassifier(whole.families_).fit(frame[:150], Y[:150])
    second = GenerativeClassifier(whole.families_).fit(frame[150:], Y[150:])
    numbers = GenerativeClassifier(whole.families_).fit(pd.DataFrame({"c": ROUNDED})[150:], Y[150:])
    with pytest.warns(SufficeWarning, match="weights"):
        assert (first + second).tally_.allclose(whole.tally_)
    with pytest.warns(SufficeWarning, match="weights"):
        both = numbers + first
    assert both.schema_["c"].strings == StringFormat("number")
    # Truth values and numbers are of one kind of tally.
    truth = GenerativeClassifier({"c": "categorical"}).fit([{"c": v > 0} for v in X], Y)
    halves = GenerativeClassifier({"c": {"family": "categorical", "levels": (0.0, 1.0)}})
    halves.fit([{"c": f"{v > 0:.1f}"} for v in X], Y)
    with pytest.warns(SufficeWarning, match="weights"):
        mixed = truth + halves
    assert mixed.schema_["c"].strings == StringFormat("number")
    mixed.save(tmp_path / "mixed.safetensors")
    assert suffice.load(tmp_path / "mixed.safetensors").schema_ == mixed.schema_
    by_day, by_month = (
        GenerativeClassifier({"c": "normal", "c:weekday": "ignore", "c:month": "ignore"}).fit(
            pd.DataFrame({"c": FORMS[form][0]}), Y
        )
        for form in ("days first", "months first")
    )
    with pytest.raises(MergeError, match=r"the day before the month in one and .*the month before"):
        by_day.merge(by_month)


def test_numbers_of_few_values_are_merged_by_families_too() -> None:
    sizes = [f"{0.5 * (at % 4)}" for at in range(N)]
    frame = pd.DataFrame({"c": sizes})
    first = GenerativeClassifier().fit(frame[:150], Y[:150])
    assert first.choices_["c"].family == "categorical"
    assert first.schema_["c"].kind == "number"
    second = GenerativeClassifier(first.families_).fit(frame[150:], Y[150:])
    with pytest.warns(SufficeWarning, match="weights"):
        assert (first + second).tally_.weights.sum() == N


def test_strings_that_were_learned_are_forgotten() -> None:
    frame = pd.DataFrame({"c": WRITTEN})
    model = GenerativeClassifier({"c": "normal"}).fit(frame, Y)
    rest = GenerativeClassifier(model.families_).fit(frame[50:], Y[50:])
    with pytest.warns(SufficeWarning, match="weights"):
        model.forget(frame[:50], Y[:50])
    assert model.tally_.allclose(rest.tally_)


def test_missing_values_of_columns_read_from_strings_are_filled_with_numbers() -> None:
    frame = pd.DataFrame({"c": [None, *WRITTEN[1:]], "when": [*DATES[:-1], None]})
    model = GenerativeClassifier().fit(frame, Y)
    filled = model.impute(frame)
    np.testing.assert_array_equal(filled["c"][1:], ROUNDED[1:])
    assert np.isfinite(filled["c"][0])
    assert filled["when"][0] == pd.Timestamp(DATES[0])
    drawn, _ = model.sample(5, random_state=0)
    assert drawn["c"].dtype == np.float64


def test_dates_beside_hours_know_their_weekday() -> None:
    cells = [f"{day} 18:30" for day in DATES]
    table = Table.of(pd.DataFrame({"when": cells}))
    same = Table.of(pd.DataFrame({"when": DAYS + np.timedelta64(1110, "m")}))
    for name in ("when", "when:weekday", "when:month"):
        np.testing.assert_array_equal(table[name].values, same[name].values)
    when = dt.datetime(2020, 2, 1, 18, 30)
    assert Schema.of(table).take([{"when": when}])["when"].values[0] == 18293 + 18.5 / 24
