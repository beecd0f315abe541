"""Cells of Python's, numpy's and pandas' own types are read, or refused by column and row."""

from __future__ import annotations

import datetime as dt
import pathlib
import uuid
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice import GaussianNB
from suffice.data.schema import Schema
from suffice.data.table import Table
from suffice.errors import InputError

ROME = ZoneInfo("Europe/Rome")
NAN, NAT = float("nan"), np.datetime64("NaT")


class Thing:
    """Something without a value: two of them are never equal, and print as addresses."""


@dataclass(frozen=True)
class Record:
    """Something that is equal to others, and prints as its own source."""

    number: int


class Size(Enum):
    SMALL = 1
    BIG = 2


def as_mappings(cells: list[Any]) -> Table:
    return Table.of([{"x0": cell} for cell in cells])


def as_array(cells: list[Any]) -> Table:
    array = np.empty((len(cells), 1), object)
    array[:, 0] = cells
    return Table.of(array)


def as_objects(cells: list[Any]) -> Table:
    return Table.of(pd.DataFrame({"x0": pd.Series(cells, dtype=object)}))


SOURCES = [as_mappings, as_array, as_objects]


@pytest.fixture(params=SOURCES, ids=lambda source: source.__name__)
def table_of(request: Any) -> Any:
    return request.param


def days(moment: str) -> float:
    """Return days since 1970 as pandas has them."""
    return float((pd.Timestamp(moment) - pd.Timestamp(0)) / pd.Timedelta(days=1))


NEW_YEAR, NOON = days("2024-01-01"), days("2024-01-02 12:00")
SUMMER = days("2024-07-01 00:30")

DATES: dict[str, tuple[list[Any], list[float]]] = {
    "days of numpy": ([np.datetime64("2024-01-01"), None], [NEW_YEAR, NAN]),
    "numpy's, of several units": (
        [np.datetime64("2024", "Y"), np.datetime64("2024-01-02T12"), np.datetime64(0, "ns")],
        [NEW_YEAR, NOON, 0.0],
    ),
    "missing values of numpy": ([NAT, np.datetime64("2024-01-01")], [NAN, NEW_YEAR]),
    "NaN and NA beside numpy's": ([NAN, np.datetime64("2024-01-01"), pd.NA], [NAN, NEW_YEAR, NAN]),
    "long before and after": (
        [np.datetime64("-5000-01-01"), np.datetime64("9999-12-31")],
        [float(np.datetime64("-5000-01-01").astype(int)), 2932896.0],
    ),
    "days, then a time": ([dt.date(2024, 1, 1), dt.datetime(2024, 1, 2, 12)], [NEW_YEAR, NOON]),
    "a time, then days": ([dt.datetime(2024, 1, 2, 12), dt.date(2024, 1, 1)], [NOON, NEW_YEAR]),
    "Python's and numpy's": ([dt.date(2024, 1, 1), np.datetime64("1970-01-02")], [NEW_YEAR, 1.0]),
    "pandas'": ([pd.Timestamp("2024-01-02 12:00"), pd.NaT], [NOON, NAN]),
    "pandas' with nanoseconds": ([pd.Timestamp(1), pd.NaT], [0.0, NAN]),
    "pandas' and numpy's": ([pd.NaT, pd.Timestamp(0), np.datetime64("1970-01-02")], [NAN, 0, 1]),
    "in a zone": ([dt.datetime(2024, 7, 1, 0, 30, tzinfo=ROME), None], [SUMMER, NAN]),
    "in several zones": (
        [
            pd.Timestamp("2024-07-01 00:30", tz="Asia/Tokyo"),
            dt.datetime(2024, 7, 1, 0, 30, tzinfo=ROME),
            dt.datetime(2024, 7, 1, 0, 30),
        ],
        [SUMMER] * 3,
    ),
}


@pytest.mark.parametrize(("cells", "expected"), DATES.values(), ids=DATES.keys())
def test_dates_are_days_on_the_clock_of_their_place(
    table_of: Any, cells: list[Any], expected: list[float]
) -> None:
    table = table_of(cells)
    assert table["x0"].kind == "date"
    np.testing.assert_allclose(table["x0"].values, expected, rtol=0, atol=1e-9)


NUMBERS: dict[str, tuple[list[Any], str, list[float]]] = {
    "spans of numpy": ([np.timedelta64(36, "h"), None, np.timedelta64(2, "D")], "span", [1.5, 2]),
    "spans of Python": ([dt.timedelta(hours=6), None], "span", [0.25]),
    "spans of pandas": ([pd.Timedelta("1D"), pd.NaT, np.timedelta64("NaT")], "span", [1.0]),
    "times of day": ([dt.time(12), dt.time(6, tzinfo=dt.UTC), None], "time", [0.5, 0.25]),
    "truth of numpy": ([np.bool_(True), None, False, NAN], "boolean", [1, 0]),
    "numpy's floats": ([np.float32(1.5), 2, np.float16(0.5), None], "number", [1.5, 2, 0.5]),
    "long floats": ([np.longdouble(1.5), np.longdouble("nan")], "number", [1.5]),
    "numpy's integers": ([np.int8(1), np.int64(2**62), pd.NA], "integer", [1, 2.0**62]),
    "long integers": ([2**70, 1, None], "number", [2.0**70, 1]),
    "decimals": (
        [Decimal("1.25"), Decimal("NaN"), Decimal("sNaN"), 2, 0.5],
        "number",
        [1.25, 2, 0.5],
    ),
    "decimals of all sizes": ([Decimal("1e50"), Decimal("1e-50")], "number", [1e50, 1e-50]),
    "fractions": ([Fraction(1, 4), 1.5, None], "number", [0.25, 1.5]),
    "nothing": ([pd.NaT, None, NAN, pd.NA, NAT], "number", []),
}


@pytest.mark.parametrize(("cells", "kind", "seen"), NUMBERS.values(), ids=NUMBERS.keys())
def test_spans_are_days_and_numbers_of_all_types_are_numbers(
    table_of: Any, cells: list[Any], kind: str, seen: list[float]
) -> None:
    column = table_of(cells)["x0"]
    assert column.kind == kind
    assert column.seen.tolist() == seen


def test_strings_of_numpy_are_strings_and_missing_values_beside_words_are_missing(
    table_of: Any,
) -> None:
    cells = [np.str_("a"), "b", None, NAN, pd.NA, pd.NaT, NAT]
    column = table_of(cells)["x0"]
    assert column.shown(column.values) == ["a", "b", *[None] * 5]
    mixed = table_of(["a", 1, Decimal("NaN"), True])["x0"]
    assert mixed.shown(mixed.values) == ["a", "1", None, "True"]


VALUES: dict[str, tuple[list[Any], list[str]]] = {
    "intervals": ([pd.Interval(0, 1), None, pd.Interval(1, 2)], ["(0, 1]", "(1, 2]"]),
    "members of a list": ([Size.BIG, Size.SMALL, None], ["Size.BIG", "Size.SMALL"]),
    "paths": ([pathlib.PurePosixPath("a/b"), None], ["a/b"]),
    "identifiers": ([uuid.UUID(int=7), None], ["00000000-0000-0000-0000-000000000007"]),
    "periods": ([pd.Period("2020-01"), None], ["2020-01"]),
    "long integers beside words": ([2**70, "a", None], [str(2**70), "a"]),
}


@pytest.mark.parametrize(("cells", "levels"), VALUES.values(), ids=VALUES.keys())
def test_values_of_other_types_are_levels_by_what_they_print_as(
    table_of: Any, cells: list[Any], levels: list[str]
) -> None:
    column = table_of(cells)["x0"]
    assert (column.kind, column.levels) == ("category", tuple(levels))
    assert column.missing.sum() == 1


def test_intervals_and_periods_of_pandas_are_levels_by_what_they_print_as() -> None:
    cut = pd.cut([0.5, 1.5, 2.5, np.nan], [0, 1, 2, 3])
    for frame in (pd.DataFrame({"c": cut}), {"c": cut}):
        column = Table.of(frame)["c"]
        assert column.levels == ("(0, 1]", "(1, 2]", "(2, 3]")
        assert column.values.tolist() == [0, 1, 2, -1]
    plain = pd.DataFrame({"c": pd.arrays.IntervalArray.from_breaks([0, 1, 2])})
    assert Table.of(plain)["c"].levels == ("(0, 1]", "(1, 2]")
    months = pd.DataFrame({"c": pd.period_range("2020-01", periods=2, freq="M")})
    assert Table.of(months)["c"].levels == ("2020-01", "2020-02")
    assert Table.of(months.astype("category"))["c"].levels == ("2020-01", "2020-02")


@pytest.mark.parametrize("size", [2**63, 2**64 - 1, 2**64, 2**70, -(2**63) - 1])
def test_integers_of_any_length_are_numbers(size: int) -> None:
    rows = [[size, 1], [2, 3], [5, 6], [7, 8]]
    cells = [row[0] for row in rows]
    sources: list[Any] = [
        rows,
        np.array(rows, dtype=object),
        pd.DataFrame(rows),
        pl.DataFrame({"a": cells, "b": [1, 3, 6, 8]}),
        [{"a": a, "b": b} for a, b in rows],
        {"a": cells, "b": [1, 3, 6, 8]},
    ]
    for source in sources:
        column = Table.of(source).columns[0]
        assert column.numeric
        assert column.values.tolist() == [float(size), 2.0, 5.0, 7.0]
        model = GaussianNB().fit(source, [0, 0, 1, 1])
        np.testing.assert_allclose(model.theta_[0, 0], (size + 2) / 2)
    with pytest.raises(InputError, match="Column 0 holds a number in row 1 that is beyond all"):
        GaussianNB().fit([[1, None], [10**400, 3]], [0, 1])


def test_objects_of_polars_are_refused_or_known_by_what_they_print_as() -> None:
    with pytest.raises(InputError, match="'c' holds an object of type Thing in row 0"):
        Table.of(pl.DataFrame({"c": pl.Series([Thing()], dtype=pl.Object)}))
    paths = [pathlib.PurePosixPath("a"), pathlib.PurePosixPath("b")]
    frame = pl.DataFrame({"c": pl.Series(paths, dtype=pl.Object)})
    assert Table.of(frame)["c"].levels == ("a", "b")


REFUSED: dict[str, tuple[list[Any], str]] = {
    "a word beside dates": (
        [np.datetime64("2024-01-01"), "soon"],
        r"'x0' holds 'soon' in row 1, and a date in row 0\. Give cells of one type, or None",
    ),
    "a number beside dates": ([None, 3.5, dt.date(2024, 1, 1)], "holds 3.5 in row 1, and a date"),
    "a number beside spans": ([dt.timedelta(1), 3], "holds 3 in row 1, and a span in row 0"),
    "a date beside times": (
        [dt.time(1), dt.date(2024, 1, 1)],
        r"holds datetime\.date\(2024, 1, 1\) in row 1, and a time of day in row 0",
    ),
    "months": ([None, np.timedelta64(3, "M")], r"timedelta64\(3,'M'\) in row 1, which is beyond"),
    "spans without a unit": ([np.timedelta64(3)], r"timedelta64\(3\) in row 0"),
    "attoseconds": ([np.timedelta64(3, "as")], "in row 0, .* of a length that is not known"),
    "far years": ([NAT, np.datetime64("300000-01-01")], "'x0' holds .*300000-01-01.* in row 1"),
    "endless decimals": ([Decimal(1), Decimal("Infinity")], "'x0' holds inf in row 1"),
    "endless integers": ([1, 10**400], "'x0' holds a number in row 1 that is beyond all floats"),
    "complex numbers": ([1.0, np.complex128(1j)], "'x0' holds the complex number 1j in row 1"),
    "bytes of no text": ([b"a", None, b"\xff"], r"'x0' holds b'\\xff' in row 2, which is no text"),
    "halves of letters": (["a", "\ud800"], r"'x0' holds '\\ud800' in row 1, which is no valid"),
    "lists": ([None, [1, 2]], "'x0' holds a list in row 1. Give it a column for each"),
    "mappings": ([{"a": 1}], "'x0' holds a dict in row 0"),
    "instances": (
        [None, Thing()],
        r"'x0' holds an object of type Thing in row 1, which is no value\. Give what describes it",
    ),
    "instances beside words": (["a", Thing()], "'x0' holds an object of type Thing in row 1"),
    "records": ([Record(1), Record(1)], "'x0' holds an object of type Record in row 0"),
    "functions": ([len, print], "'x0' holds an object of type builtin_function_or_method in row 0"),
    "classes": ([1, int], "'x0' holds an object of type type in row 1"),
    "columns": ([pd.Series([1]), None], "'x0' holds an object of type Series in row 0"),
    "structures": (list(np.zeros(1, [("a", int)])), "'x0' holds a void in row 0"),
}


@pytest.mark.parametrize(("cells", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_read_is_refused_by_column_and_row(
    table_of: Any, cells: list[Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        table_of(cells)


SPAN = pd.to_timedelta(["36h", None])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"stay": SPAN}),
        pd.DataFrame({"stay": SPAN.as_unit("s")}),
        pl.DataFrame({"stay": [dt.timedelta(hours=36), None]}),
        pa.table({"stay": pa.array([36 * 3600, None], pa.duration("s"))}),
        pa.table({"stay": pa.array([12 * 3600, None], pa.time32("s"))}),
        pa.table({"stay": pa.array([12 * 3600 * 10**9, None], pa.time64("ns"))}),
        [{"stay": np.timedelta64(36, "h")}, {"stay": None}],
    ],
)
def test_a_span_is_as_many_days_whatever_its_unit(frame: Any) -> None:
    column = Table.of(frame)["stay"]
    assert column.values[0] in (1.5, 0.5)  # the times of day are noon
    assert np.isnan(column.values[1])


def test_arrays_of_times_are_taken_in_all_units() -> None:
    for unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns"):
        moments = np.array([["2022-01-01"], ["NaT"]], f"M8[{unit}]")
        expected = moments[0].astype("M8[D]").astype(float)
        np.testing.assert_array_equal(Table.of(moments)["x0"].values, [*expected, np.nan])
    for unit in ("W", "D", "h", "m", "s", "ms", "us", "ns"):
        spans = np.array([[14], ["NaT"]], "m8[D]").astype(f"m8[{unit}]")
        np.testing.assert_array_equal(Table.of(spans)["x0"].values, [14.0, np.nan])
    with pytest.raises(InputError, match=r"'x0' holds .*in row 0.*not known\. Give days"):
        Table.of(np.array([[3]], "m8[M]"))


def test_lists_of_rows_keep_dates_spans_and_numbers_apart() -> None:
    table = Table.of([[np.datetime64("1970-01-02"), np.timedelta64(3, "D"), 2.5]] * 2)
    assert [column.kind for column in table] == ["date", "category", "category", "span", "number"]
    assert table.numbers(("x0", "x1", "x2")).tolist() == [[1.0, 3.0, 2.5]] * 2
    table = Table.of([[np.timedelta64(3, "D"), 2]] * 2)
    assert table.numbers(("x0", "x1")).tolist() == [[3.0, 2.0]] * 2


def test_a_moment_beyond_microseconds_is_no_hindrance() -> None:
    far = pa.table({"when": pa.array([10**13, None], pa.timestamp("s"))})
    assert Table.of(far)["when"].values[0] == 10**13 / 86400
    fine = pa.table({"when": pa.array([86400 * 10**9 + 1], pa.timestamp("ns"))})
    assert Table.of(fine)["when"].values[0] == pytest.approx(1.0)


def test_dates_learned_from_a_frame_are_read_from_numpys_scalars_alike() -> None:
    frame = pd.DataFrame({"when": pd.to_datetime(["2024-02-29 06:00", "2024-03-01 00:00"])})
    schema = Schema.of(Table.of(frame))
    later = schema.take([{"when": np.datetime64("2024-02-29T06")}, {"when": NAT}])
    assert later["when"].values[0] == schema.take(frame)["when"].values[0]
    assert later["when:weekday"].shown(later["when:weekday"].values) == ["Thursday", None]
