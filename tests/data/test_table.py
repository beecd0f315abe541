"""Tables of named, typed columns out of frames, arrays and lists, and their schemas."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.data.columns import Column
from suffice.data.schema import Schema
from suffice.data.table import Table
from suffice.errors import InputError, ShapeError

CELLS: dict[str, list[Any]] = {
    "age": [31, None, 47],
    "height": [1.8, 1.6, None],
    "member": [True, None, False],
    "city": ["Rome", "Oslo", None],
    "born": [dt.date(1990, 1, 31), None, dt.date(2024, 2, 29)],
}


def frames() -> dict[str, Any]:
    table = pa.table(CELLS)
    return {
        "pyarrow": table,
        "record batch": table.to_batches()[0],
        "pandas": pd.DataFrame(CELLS),
        "pandas with Arrow types": table.to_pandas(types_mapper=pd.ArrowDtype),
        "nullable pandas": pd.DataFrame(CELLS).convert_dtypes(),
        "polars": pl.DataFrame(CELLS),
        "mappings": [{name: column[at] for name, column in CELLS.items()} for at in range(3)],
    }


def cells(column: Column) -> list[Any]:
    """Return what a column holds, with None for missing values."""
    if column.kind == "category":
        return column.shown(column.values)
    values = column.values.tolist() if column.numeric else column.values.to_pylist()
    return [
        None if missing else value for value, missing in zip(values, column.missing, strict=True)
    ]


@pytest.mark.parametrize("source", frames())
def test_every_source_gives_the_same_cells(source: str) -> None:
    table = Table.of(frames()[source])
    assert table.names == (*CELLS, "born:weekday", "born:month")
    assert len(table) == 3
    assert cells(table["age"]) == [31.0, None, 47.0]
    assert cells(table["height"]) == [1.8, 1.6, None]
    assert cells(table["member"]) == [1.0, None, 0.0]
    assert cells(table["city"]) == ["Rome", "Oslo", None]
    assert cells(table["born"]) == [7335.0, None, 19782.0]
    assert cells(table["born:weekday"]) == ["Wednesday", None, "Thursday"]
    assert cells(table["born:month"]) == [1, None, 2]


@pytest.mark.parametrize("source", ["pyarrow", "polars", "mappings"])
def test_kinds_are_those_of_the_columns(source: str) -> None:
    kinds = {column.name: column.kind for column in Table.of(frames()[source])}
    assert kinds == {
        "age": "integer",
        "height": "number",
        "member": "boolean",
        "city": "category",
        "born": "date",
        "born:weekday": "category",
        "born:month": "category",
    }


def test_days_and_weekdays_are_those_of_the_calendar() -> None:
    days = pd.date_range("1895-12-30", "2101-01-03", freq="31D")
    table = Table.of(pd.DataFrame({"when": days}))
    assert cells(table["when:weekday"]) == days.day_name().tolist()
    assert cells(table["when:month"]) == days.month.tolist()
    assert table["when"].values.tolist() == [(day - pd.Timestamp(0)).days for day in days]


def test_hours_are_parts_of_days_on_the_clock_of_the_place() -> None:
    moments = pd.to_datetime(["2024-06-30 23:30", None]).tz_localize("Europe/Rome")
    table = Table.of(pd.DataFrame({"when": moments}))
    assert table["when"].values[0] % 1 == pytest.approx(23.5 / 24)
    assert cells(table["when:month"]) == [6, None]
    assert cells(table["when:weekday"]) == ["Sunday", None]


def test_categories_keep_their_levels_and_codes() -> None:
    sizes = pd.Categorical(["L", "S", None, "L"], categories=["S", "M", "L"])
    column = Table.of(pd.DataFrame({"size": sizes}))["size"]
    assert column.levels == ("S", "M", "L")
    assert column.values.tolist() == [2, 0, -1, 2]
    assert column.values.dtype == np.int32
    polars = Table.of(pl.DataFrame({"size": pl.Series(["a", None, "a"], dtype=pl.Categorical)}))
    assert cells(polars["size"]) == ["a", None, "a"]
    levels = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["x", None, "y"]))
    assert cells(Table.of(pa.table({"size": levels}))["size"]) == ["x", None, "y", "x"]
    years = pd.Categorical([2020, 2021, 2020])
    assert Table.of(pd.DataFrame({"year": years}))["year"].levels == (2020, 2021)


def test_columns_of_objects_are_taken_by_what_they_hold() -> None:
    frame = pd.DataFrame(
        {
            "mixed": pd.Series(["a", 1, 2.5, None], dtype=object),
            "numbers": pd.Series([1, 2.5, None, float("nan")], dtype=object),
            "money": pd.Series([Decimal("1.50"), None, Decimal("2"), None], dtype=object),
            "yes": pd.Series([True, None, False, True], dtype=object),
            "nothing": pd.Series([None] * 4, dtype=object),
            "span": pd.to_timedelta(["1D", None, "2D", "0D"]),
        }
    )
    table = Table.of(frame)
    assert cells(table["mixed"]) == ["a", "1", "2.5", None]
    assert cells(table["numbers"]) == [1.0, 2.5, None, None]
    assert cells(table["money"]) == [1.5, None, 2.0, None]
    assert (table["yes"].kind, cells(table["yes"])) == ("boolean", [1.0, None, 0.0, 1.0])
    assert (table["nothing"].kind, cells(table["nothing"])) == ("number", [None] * 4)
    span = cells(table["span"])
    assert span[1] is None
    assert span[2] == 2 * span[0]


def test_an_array_has_columns_by_place() -> None:
    table = Table.of(np.array([[1.0, np.nan], [3.0, 4.0]], np.float32))
    assert table.names == ("x0", "x1")
    assert table.by_place
    assert table["x1"].values.dtype == np.float64
    words = Table.of(np.array([["a", 1.5], ["b", 2]], dtype=object))
    assert [column.kind for column in words] == ["category", "number"]
    assert [column.kind for column in Table.of([["a", 1], ["b", 2]])] == ["category", "integer"]
    np.testing.assert_array_equal(table.numbers(("x1", "x0"))[1], [4.0, 3.0])


def test_long_strings_that_differ_are_texts() -> None:
    notes = [f"this is the note of customer number {at}" for at in range(20)]
    table = Table.of(pd.DataFrame({"note": notes, "name": [f"n{at}" for at in range(20)]}))
    assert table["note"].kind == "text"
    assert table["name"].kind == "category"
    assert cells(table["note"]) == notes
    assert Table.of(pd.DataFrame({"note": notes}), {"note": "category"})["note"].kind == "category"
    column = Table.of(pd.DataFrame({"name": ["a", None, "a"]}), {"name": "text"})["name"]
    assert (column.kind, cells(column)) == ("text", ["a", None, "a"])
    few = Table.of(pd.DataFrame({"name": pd.Categorical(["a", None, "b"])}), {"name": "text"})[
        "name"
    ]
    assert (few.kind, cells(few)) == ("text", ["a", None, "b"])


def test_rows_are_taken_by_number_and_by_mask() -> None:
    table = Table.of(pa.table(CELLS), {"city": "text"})
    for index in ([2, 0], np.array([True, False, True]), slice(0, None, 2)):
        some = table.take(index)
        order = np.arange(3)[index].tolist()
        assert len(some) == 2
        for name in table.names:
            assert cells(some[name]) == [cells(table[name])[at] for at in order]


def test_facts_of_a_column_leave_missing_values_aside() -> None:
    table = Table.of(pa.table(CELLS))
    assert table["age"].whole
    assert table["age"].ends == (31.0, 47.0)
    assert not table["height"].whole
    assert table["age"].any_missing
    assert table["city"].any_missing
    assert table["city"].seen.tolist() == [0, 1]
    nothing = Table.of(pa.table({"x": pa.nulls(2)}))["x"]
    assert nothing.ends == (np.inf, -np.inf)
    assert nothing.missing.all()


def test_a_table_is_its_own_table() -> None:
    table = Table.of(pa.table(CELLS))
    assert Table.of(table) is table


REFUSED = [
    ([1, 2, 3], ShapeError, r"Expected 2D array, got 1D array of shape \(3,\)"),
    ([[1, 2], [3]], ShapeError, "Rows that differ in length"),
    ([[1.0, np.inf]], InputError, r"Column 'x1' holds inf in row 0\. Replace it, or make it NaN"),
    (
        pa.table([[1], [2]], names=["a", "a"]),
        InputError,
        r"More than one column is named 'a'\. Rename",
    ),
    (pd.DataFrame({1: [1], "1": [2]}), InputError, "More than one column is named '1'"),
    (pa.table({"a": [[1, 2]]}), InputError, r"Column 'a' is of Arrow's type list<.*Make numbers"),
    (
        pa.table({"d": [dt.date(2020, 1, 1)], "d:month": [1]}),
        InputError,
        "More than one column is named 'd:month'",
    ),
    (
        pd.DataFrame({"a": pd.Series([{1, 2}, "b"], dtype=object)}),
        InputError,
        r"Column 'a' holds a set in row 0\. Give it a column for each of its entries",
    ),
]


@pytest.mark.parametrize(("source", "error", "message"), REFUSED)
def test_what_is_no_table_is_refused(source: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Table.of(source)


def test_a_sparse_matrix_is_refused() -> None:
    from scipy.sparse import csr_array

    with pytest.raises(InputError, match=r"A sparse matrix of shape \(1, 2\)"):
        Table.of(csr_array(np.ones((1, 2))))


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match=r"No column 'b'; the columns are 'a'"):
        Table.of(pa.table({"a": [1]}))["b"]


def test_a_schema_takes_columns_by_name_in_any_order() -> None:
    schema = Schema.of(Table.of(pa.table(CELLS)))
    assert schema.given == tuple(CELLS)
    later = pd.DataFrame({"extra": [1], "city": ["Oslo"], "age": [3], "height": [2]})
    later["born"], later["member"] = pd.to_datetime(["2024-02-29"]), True
    table = schema.take(later)
    assert table.names == schema.names
    assert table.extra == ("extra",)
    assert cells(table["city"]) == ["Oslo"]
    assert table["city"].values.tolist() == [1]
    assert table["height"].kind == "number"
    assert cells(table["born:weekday"]) == ["Thursday"]


def test_a_missing_column_is_named_with_the_cure() -> None:
    schema = Schema.of(Table.of(pa.table(CELLS)))
    with pytest.raises(InputError, match=r"Column 'age' is missing .*all its cells may be null"):
        schema.take(pd.DataFrame({"city": ["Rome"]}))
    nulls = pa.table({name: pa.nulls(2) for name in CELLS})
    table = schema.take(nulls)
    assert all(column.missing.all() for column in table)
    days = pa.table({name: [19782] if name == "born" else pa.nulls(1) for name in CELLS})
    assert cells(schema.take(days)["born:weekday"]) == ["Thursday"]


def test_arrays_are_taken_by_place() -> None:
    schema = Schema.of(Table.of(np.array([["a", 1.0], ["b", 2.0]], dtype=object)))
    table = schema.take(pd.DataFrame({"p": ["b", "c"], "q": [3, 4]}))
    assert table["x0"].values.tolist() == [1, 2]
    named = Schema.of(Table.of(pa.table({"p": [1.0], "q": [2.0]})))
    assert named.take(np.array([[5.0, 6.0]]))["q"].values.tolist() == [6.0]
    with pytest.raises(ShapeError, match="X has 3 columns, but 2 were learned from"):
        schema.take(np.ones((1, 3)))


def test_unseen_levels_are_other_and_missing_values_are_missing() -> None:
    schema = Schema.of(Table.of(pa.table({"c": ["a", "b"]})))
    table = schema.take(pa.table({"c": ["b", "zz", None, "a"]}))
    assert table["c"].values.tolist() == [1, 2, -1, 0]
    assert table["c"].levels == ("a", "b")
    assert schema.take(table)["c"].values.tolist() == [1, 2, -1, 0]


def test_a_row_of_many_words_is_still_a_level() -> None:
    schema = Schema.of(Table.of(pa.table({"c": ["one two three four"] * 3 + ["b"] * 3})))
    assert schema.take(pa.table({"c": ["one two three four"]}))["c"].values.tolist() == [0]
    notes = Table.of(pa.table({"c": ["one two three four"]}))
    assert notes["c"].kind == "text"
    assert schema.take(notes)["c"].values.tolist() == [0]
    texts = Schema.of(Table.of(pa.table({"c": ["a", "b"]}), {"c": "text"}))
    assert cells(texts.take(Table.of(pa.table({"c": ["b"]})))["c"]) == ["b"]
    assert texts.take(pa.table({"c": ["b", "b", "b"]}))["c"].kind == "text"
    silent = texts.take(pa.table({"c": pa.nulls(2)}))["c"]
    assert (silent.kind, cells(silent)) == ("text", [None, None])


def test_levels_of_numbers_are_found_by_value() -> None:
    schema = Schema.of(Table.of(pd.DataFrame({"year": pd.Categorical([2020, 2021])})))
    years = schema.take(pd.DataFrame({"year": [2021.0, 1999.0, np.nan]}))["year"]
    assert years.values.tolist() == [1, 2, -1]
    codes = Schema.of(Table.of(pa.table({"zip": ["10", "20"]})))
    assert codes.take(pa.table({"zip": [20, 30]}))["zip"].values.tolist() == [1, 2]


def test_words_where_numbers_were_learned_are_refused() -> None:
    schema = Schema.of(Table.of(pa.table({"age": [1, 2]})))
    with pytest.raises(InputError, match=r"'age' was learned as 'integer', and now holds 'old'"):
        schema.take(pa.table({"age": [None, "old"]}))
    empty = pa.table({"age": pa.array([None, None], pa.string())})
    assert cells(schema.take(empty)["age"]) == [None, None]
    with pytest.raises(
        InputError, match=r"'age' was learned as 'integer', and now holds 'a b c d'"
    ):
        schema.take(Table.of(pa.table({"age": ["a b c d"]}), {"age": "text"}))
    texts = Schema.of(Table.of(pa.table({"note": ["a"]}), {"note": "text"}))
    with pytest.raises(InputError, match=r"'note' was learned as 'text', and now holds 3"):
        texts.take(pa.table({"note": [3]}))


@given(st.lists(st.lists(st.sampled_from([*"abcdefg", None]), min_size=1, max_size=8), min_size=1))
def test_growing_adds_levels_last_and_keeps_codes(batches: list[list[str | None]]) -> None:
    schema = Schema.of(Table.of(pa.table({"c": pa.array(batches[0], pa.string())})))
    for batch in batches:
        before = schema["c"].levels
        source = pa.table({"c": pa.array(batch, pa.string())})
        schema, table = schema.with_levels_of(source)
        assert schema["c"].levels[: len(before)] == before
        assert cells(table["c"]) == batch
        assert table["c"].levels == schema["c"].levels
    every = dict.fromkeys(cell for batch in batches for cell in batch if cell is not None)
    assert schema["c"].levels == tuple(every)


def test_merged_schemas_translate_codes() -> None:
    a, b = (
        Schema.of(Table.of(pa.table({"c": levels, "x": [1.0, 2.0]})))
        for levels in (["p", "q"], ["r", "p"])
    )
    both = a.merge(b)
    assert both["c"].levels == ("p", "q", "r")
    assert b.translations(both)["c"].tolist() == [2, 0]
    assert a.translations(both)["c"].tolist() == [0, 1]
    with pytest.raises(ShapeError, match=r"Only one of the two has a column 'x'"):
        a.merge(Schema.of(Table.of(pa.table({"c": ["a"]}))))
    with pytest.raises(ShapeError, match=r"Column 'c' is 'category' in one and 'integer' in the"):
        a.merge(Schema.of(Table.of(pa.table({"c": [1], "x": [1.0]}))))
