"""Which strings are numbers, dates and times, and which numbers they are."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.data.parsing import CURRENCIES
from suffice.data.string_format import (
    CODES,
    UNDECIDED,
    Decision,
    StringFormat,
    Strings,
    decide_format,
)
from suffice.errors import ShapeError

NAN = float("nan")


def decided(cells: list[str | None]) -> Decision:
    return decide_format(Strings(pa.array(cells, pa.string())))


def read(cells: list[str | None]) -> list[float]:
    """Return what the cells of a column that is read are, with None where nothing is read."""
    found = decided(cells)
    assert found.format is not None, found.note
    np.testing.assert_array_equal(found.format.read(pa.array(cells, pa.string())), found.values)
    return [None if np.isnan(value) else value for value in found.values.tolist()]


def kept(cells: list[str | None]) -> str:
    """Return what is said of a column that is kept as it is."""
    found = decided(cells)
    assert found.format is None, found
    return found.note


NUMBERS: dict[str, tuple[list[str], list[float]]] = {
    "decimals": (["3.14", "-2", "+7", ".5", "5.", "-0.25"], [3.14, -2, 7, 0.5, 5, -0.25]),
    "exponents": (["1e5", "1E-3", "-2.5e+2"], [1e5, 1e-3, -250]),
    "the minus of typesetters": (["−2.5", "1e−3"], [-2.5, 1e-3]),
    "blanks around": ([" 1.5", "2.5 ", "\t3.5\n", "\u00a04.5"], [1.5, 2.5, 3.5, 4.5]),
    "thousands": (["1,234", "12,345,678.5", "999"], [1234, 12345678.5, 999]),
    "thousands by blanks": (["1 234.5", "1\u202f234\u202f567"], [1234.5, 1234567]),
    "thousands by apostrophes": (["1'234.5", "1’000’000"], [1234.5, 1e6]),
    "decimal commas": (["1,5", "-0,25", "12", "1.234,5"], [1.5, -0.25, 12, 1234.5]),
    "three decimals": (["1.234", "0.512"], [1.234, 0.512]),
    "dollars": (["$5.00", "$1,234.50", "-$3.10", "$-3.10", "7.5"], [5, 1234.5, -3.1, -3.1, 7.5]),
    "euros behind": (["5,00 €", "1.234,50€", "12 €"], [5, 1234.5, 12]),
    "pounds": (["£5.5", "£ 6.5"], [5.5, 6.5]),
    "per cent": (["12 %", "3.5%", "-1 %"], [12, 3.5, -1]),
    "beyond 64 bits": (["1180591620717411303424", "0.5"], [2.0**70, 0.5]),
}


# Few strings are matched by Python, many by Arrow.
@pytest.mark.parametrize("times", [1, 200])
@pytest.mark.parametrize(("cells", "values"), NUMBERS.values(), ids=NUMBERS.keys())
def test_numbers_are_read_in_the_forms_that_files_have(
    cells: list[str], values: list[float], times: int
) -> None:
    assert read(cells * times) == values * times


DATES: dict[str, tuple[list[str], list[str]]] = {
    "ISO": (["2024-01-31", "1969-12-31"], ["2024-01-31", "1969-12-31"]),
    "ISO with times": (
        ["2024-01-31 18:30", "2024-01-31T18:30:15", "2024-01-31T18:30:15.250", "2024-01-31"],
        ["2024-01-31 18:30", "2024-01-31 18:30:15", "2024-01-31 18:30:15.250", "2024-01-31"],
    ),
    "zones are left off": (
        ["2024-01-31T18:30:00Z", "2024-01-31T18:30:00+02:00", "2024-01-31 18:30 -0500"],
        ["2024-01-31 18:30"] * 3,
    ),
    "years first": (["2024/1/31", "2024.01.05"], ["2024-01-31", "2024-01-05"]),
    "days first": (["31/01/2024", "5/2/2024"], ["2024-01-31", "2024-02-05"]),
    "months first": (["01/31/2024", "2/5/2024"], ["2024-01-31", "2024-02-05"]),
    "days with dots": (["31.1.2024", "05.02.2024"], ["2024-01-31", "2024-02-05"]),
    "dots and times": (["31.1.2024 6:15", "05.02.2024"], ["2024-01-31 06:15", "2024-02-05"]),
    "days with dashes": (["31-01-2024", "05-02-2024"], ["2024-01-31", "2024-02-05"]),
    "years of two digits": (
        ["31/01/24", "05/02/68", "05/02/69"],
        ["2024-01-31", "2068-02-05", "1969-02-05"],
    ),
    "halves of the day": (
        ["1/31/2024 6:30 PM", "2/5/2024 12:05 am", "2/5/2024 12:05 p.m."],
        ["2024-01-31 18:30", "2024-02-05 00:05", "2024-02-05 12:05"],
    ),
    "leap days": (["29/02/2024", "28/02/2023"], ["2024-02-29", "2023-02-28"]),
}


@pytest.mark.parametrize("times", [1, 200])
@pytest.mark.parametrize(("cells", "moments"), DATES.values(), ids=DATES.keys())
def test_dates_are_days_since_1970_as_pandas_has_them(
    cells: list[str], moments: list[str], times: int
) -> None:
    expected = [(pd.Timestamp(m) - pd.Timestamp(0)) / pd.Timedelta(days=1) for m in moments]
    assert read(cells * times) == expected * times
    assert "read as dates" in decided(cells).note


def test_times_of_day_are_parts_of_a_day() -> None:
    cells = ["18:00", "06:00:00", "6:00 pm", "00:00", "23:59:59.5"]
    assert read(cells) == [0.75, 0.25, 0.75, 0.0, 86399.5 / 86400]
    assert decided(cells).note == "read as times of day"


@pytest.mark.parametrize(
    "cells",
    [
        ["red", "blue"],
        ["3f", "2b7"],
        ["12-34", "56-78"],
        ["192.168.0.1", "10.0.0.7"],
        ["555-1234", "555-9876"],
        ["30/02/2024", "31/02/2024"],
        ["2024-13-01", "2024-00-05"],
        ["25:00", "12:60"],
        ["1,23,456", "7,89,012"],
        ["5 EUR", "6 EUR"],
        ["5 $ 6 $", "1 2"],
        ["inf", "-inf"],
        ["2024-01", "2024-02"],
        ["31/01.2024", "30/01.2024"],
        ["", " ", "NA"],
        ["yes", "no"],
        ["true", "false"],
    ],
    ids=lambda cells: cells[0],
)
def test_other_strings_are_kept_and_nothing_is_said(cells: list[str]) -> None:
    assert kept(cells) == ""
    assert kept(cells * 100) == ""


def test_nineteen_in_twenty_cells_have_to_read() -> None:
    nineteen = [f"{at}.5" for at in range(19)]
    assert read([*nineteen, "?"])[-1] is None
    assert kept([*nineteen[1:], "?"]) == ""
    # Cells count, not different strings.
    assert len(read([*nineteen * 5, "?", "??", "???", "????", "?????"])) == 100
    assert kept([*nineteen, "?", "?"]) == ""
    many = Strings(pa.array(["0.5", "x"]), np.repeat([0, 1], [19, 1]).astype(np.int32))
    assert decide_format(many).format == StringFormat("number")
    fewer = Strings(pa.array(["0.5", "x"]), np.repeat([0, 1], [18, 1]).astype(np.int32))
    assert decide_format(fewer).format is None


def test_cells_without_a_value_do_not_count() -> None:
    empty = ["", " ", "NA", "N/A", "nan", "NULL", "None", None]
    assert read(["1.5", "2.5", *empty * 10]) == [1.5, 2.5, *[None] * 80]
    found = decided(["1.5", "?", *["2.5"] * 30, "NA"])
    assert found.format is not None
    strings = pa.array(["1.5", "?", "NA", None])
    assert found.format.unreadable(strings, found.format.read(strings)).tolist() == [
        False,
        True,
        False,
        False,
    ]


def test_a_comma_is_decimal_only_if_no_cell_reads_as_thousands() -> None:
    assert read(["1,5", "2,75", "3"]) == [1.5, 2.75, 3.0]
    assert read(["1,234", "2,500", "3"]) == [1234.0, 2500.0, 3.0]
    assert kept(["1,5", "2,75", "1,234"]) == ""
    # One odd cell among many thousands does not read.
    assert read([*[f"{at},234" for at in range(1, 40)], "1,5"])[-1] is None
    # Points are decimal in a column that has mostly points.
    assert read([*[f"{at}.234" for at in range(1, 40)], "1,5"])[0] == 1.234
    # And commas beside integers, however few.
    assert read([*[str(at) for at in range(40)], "1,5"])[-1] == 1.5


def test_leading_zeros_are_codes() -> None:
    assert kept(["007", "12345"]) == CODES
    assert kept([f"{at:05d}" for at in range(1000, 60000, 7)]) == CODES
    assert kept(["01067", *[str(at) for at in range(10000, 11000)]]) == CODES
    assert read(["0", "0.5", "-0.5", "10"]) == [0, 0.5, -0.5, 10]
    # A zero before what is no number says nothing.
    assert read([*["1.5"] * 30, "01/2020"])[-1] is None


def test_few_integers_are_levels_and_more_are_numbers() -> None:
    assert kept([str(at) for at in range(20)] * 50) == ""
    assert kept([*[str(at) for at in range(20)], "?"]) == ""
    assert read([str(at) for at in range(21)]) == list(range(21))
    # Decimals and units are of no codes.
    assert read(["1.0", "2.0"]) == [1.0, 2.0]
    assert read(["$1", "$2"]) == [1.0, 2.0]
    for cells in (["1", "2"], ["007", "12"]):
        decision = decide_format(Strings(pa.array(cells)), codes_too=True)
        assert decision.format == StringFormat("number")


def test_the_column_orders_day_and_month() -> None:
    dates = [dt.date(2024, 1, 1) + dt.timedelta(days=at) for at in range(0, 60, 5)]
    expected = [(date - dt.date(1970, 1, 1)).days for date in dates]
    assert read([f"{d.day}/{d.month}/{d.year}" for d in dates]) == expected
    assert read([f"{d.month}/{d.day}/{d.year}" for d in dates]) == expected
    assert kept(["1/2/2024", "3/4/2024", "5/6/2024"]) == UNDECIDED
    assert kept(["13/2/2024", "2/13/2024"]) == UNDECIDED
    # Cells that fit the other order only do not read.
    assert read([*["25/12/2024"] * 30, "12/25/2024"])[-1] is None
    # Where the year stands first there is nothing to decide, and a rare other form is left out.
    assert read([*["2024-05-06"] * 30, "1/2/2024"])[-1] is None


def test_two_currencies_are_not_one() -> None:
    assert kept(["$5.50", "€5.50"]) == ""
    assert read([*["$5.50"] * 40, "€5.50"])[-1] is None


def test_currencies_are_those_of_unicode() -> None:
    one = re.compile(f"[{CURRENCIES}]")
    for code in range(0x10000):
        sign = chr(code)
        assert (one.match(sign) is not None) == (unicodedata.category(sign) == "Sc"), hex(code)


amounts = st.decimals(-(10**9), 10**9, allow_nan=False, allow_infinity=False, places=2)


@given(st.lists(amounts, min_size=1, max_size=5), st.sampled_from(["", "$", "€", "%"]))
def test_numbers_come_back_however_they_are_written(values: list[Decimal], unit: str) -> None:
    expected = [float(value) for value in values]
    for thousands, decimal in ((",", "."), (".", ","), (" ", "."), ("'", ","), ("", ".")):
        marks = str.maketrans({",": thousands, ".": decimal})
        written = [f"{value:,.2f}".translate(marks) for value in values]
        for cells in ([unit + text for text in written], [f"{text} {unit}" for text in written]):
            # A pair that leaves no doubt about the decimal sign.
            sure = [f"0{decimal}5"] * (len(cells) + 1)
            assert read(cells + sure)[: len(cells)] == expected


@given(st.lists(st.text("0123456789.,'-+/: $€%eEaPMTZ−\u00a0\n", max_size=8), max_size=8))
def test_few_and_many_strings_are_decided_alike(cells: list[str]) -> None:
    few, many = decided(cells), decided(cells * 200)
    assert few.format == many.format
    np.testing.assert_array_equal(np.tile(few.values, 200), many.values)


@given(st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)))
def test_moments_come_back_to_the_microsecond(moment: dt.datetime) -> None:
    sure = dt.datetime(2024, 12, 31)
    expected = [(m - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1) for m in (moment, sure)]
    for style in ("%Y-%m-%d %H:%M:%S.%f", "%d/%m/%Y %H:%M:%S.%f", "%m-%d-%Y %I:%M:%S.%f %p"):
        cells = [m.strftime(style) for m in (moment, sure)]
        assert read(cells) == expected


def test_formats_are_what_they_may_be() -> None:
    for wrong in [
        ("word",),
        ("number", ";"),
        ("number", ".", "x"),
        ("number", ".", "$$"),
        ("number", ".", "", True),
        ("date", ","),
        ("date", ".", "$"),
        ("date", ".", "", 1),
        ("time", ".", "", False),
    ]:
        with pytest.raises(ShapeError, match="No "):
            StringFormat(*wrong)


def test_formats_merge_if_one_reads_what_both_read() -> None:
    plain, dollars = StringFormat("number"), StringFormat("number", ".", "$")
    assert plain.merge(dollars, "c") == dollars.merge(plain, "c") == dollars
    assert dollars.merge(None, "c") == dollars
    iso, by_day = StringFormat("date"), StringFormat("date", day_first=True)
    assert iso.merge(by_day, "c") == by_day.merge(iso, "c") == by_day
    for one, other in [
        (dollars, StringFormat("number", ".", "€")),
        (plain, StringFormat("number", ",")),
        (by_day, StringFormat("date", day_first=False)),
        (plain, StringFormat("time")),
    ]:
        with pytest.raises(ShapeError, match=r"Column 'c' is read as .* in one and read as"):
            one.merge(other, "c")


@pytest.mark.parametrize(
    "form",
    [
        "%d %B %Y",
        "%d-%b-%Y",
        "%d %b %y",
        "%B %d, %Y",
        "%b %d %Y",
        "%b. %d, %Y",
        "%a, %d %b %Y",
        "%A, %B %d, %Y",
        "%a, %d %b %Y %H:%M:%S +0000",
        "%d %B %Y %I:%M %p",
    ],
)
@pytest.mark.parametrize("change", [str, str.upper, str.lower])
def test_dates_with_the_name_of_the_month_are_read_as_the_standard_library_wrote_them(form, change):
    moments = [dt.datetime(1970 + 3 * at, at % 12 + 1, 1 + 2 * at % 28, 12, 30) for at in range(16)]
    strings = pa.array([change(moment.strftime(form)) for moment in moments])
    decision = decide_format(Strings(strings))
    assert decision.note == "read as dates"
    midnight = dt.datetime(1970, 1, 1)
    timed = "%M" in form
    expected = [(one - midnight).days + (12.5 / 24 if timed else 0.0) for one in moments]
    np.testing.assert_allclose(decision.values, expected, rtol=1e-12)


def test_words_that_are_no_months_and_days_that_no_month_has_are_no_dates():
    for wrong in ("31 Apr 2020", "1 Apple 2020", "Mayor 3, 2020", "3 Jan 20201", "Jan 2020"):
        assert np.isnan(StringFormat("date").read(pa.array([wrong]))).all()
