"""Numbers, dates and times of day as files write them."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
# Patterns are of whole strings, and mean the same to Python's `re` (ASCII) and to Arrow's RE2.
BLANK = "[\\s\u00a0\u2009\u202f]"
BLANKS = f"{BLANK}*"
# The minus of typesetters, and the apostrophe.
MINUS, APOSTROPHE = "\u2212", "\u2019"
SIGN = rf"[+\-{MINUS}]?"
EXPONENT = rf"(?:[eE]{SIGN}\d+)?"
# The signs of Unicode's category Sc, those of its first plane.
CURRENCIES = (
    "$\u00a2-\u00a5\u058f\u060b\u07fe\u07ff\u09f2\u09f3\u09fb\u0af1\u0bf9"
    "\u0e3f\u17db\u20a0-\u20c0\ua838\ufdfc\ufe69\uff04\uffe0\uffe1\uffe5\uffe6"
)
# Signs that a number may have before or after it: of currencies, and per cent.
UNIT = f"[{CURRENCIES}%]"
# Whatever can be a number under some decimal sign, and with some unit.
NUMBER_LIKE = (
    rf"{BLANKS}{SIGN}{BLANKS}{UNIT}?{BLANKS}{SIGN}{BLANKS}"
    rf"[.,]?\d(?:[\d.,'{APOSTROPHE}]|{BLANK})*{EXPONENT}{BLANKS}{UNIT}?{BLANKS}"
)
INTEGER = rf"{BLANKS}{SIGN}\d+{BLANKS}"
LEADING_ZERO = rf"\A{BLANKS}{SIGN}0\d"
# Up to so many strings, Python is done before Arrow has compiled a pattern.
FEW = 100
# Strings that Arrow reads at once.
MAX_BATCH = 1 << 14
# Seconds of a day, and ticks (microseconds) of a second.
DAY, TICKS = 86400, 1_000_000
# A year of two digits from here on is of the last century, as POSIX has it.
PIVOT = 69
CENTURY = 100
MONTHS = 12
NOON = 12
CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d+)?))?"
HALF = r"(?P<half>[AaPp])\.?[Mm]\.?"
ZONE = r"(?:[Zz]|[+\-]\d{2}:?\d{2})"
TIME = rf"{CLOCK}{BLANKS}(?:{HALF})?{BLANKS}{ZONE}?"
PARTS = (
    r"(?P<first>\d{1,4})(?P<mark>[-/.])(?P<second_part>\d{1,2})(?P<mark_too>[-/.])(?P<last>\d{1,4})"
)
DATE_PARTS = rf"{BLANKS}{PARTS}(?:(?:[Tt]|{BLANK}+){TIME})?{BLANKS}"
TIME_PARTS = rf"{BLANKS}{TIME}{BLANKS}"
# English names of months and weekdays: "31 January 2024", "Wed, 31 Jan 2024", "Jan. 31, 2024".
MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
REST_OF_NAME = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    "sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
MONTH = rf"(?P<month>(?i:{REST_OF_NAME}))\.?"
WEEKDAY = rf"(?:(?i:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?i:day)?\.?,?{BLANK}+)?"
DAY_OF_MONTH = r"(?P<day>\d{1,2})(?i:st|nd|rd|th)?"
YEAR = r"(?P<year>\d{4}|\d{2})"
CLOCK_TOO = rf"(?:(?:[Tt]|,?{BLANK}+){TIME})?{BLANKS}"
NAMED_PARTS = (
    rf"{BLANKS}{WEEKDAY}{DAY_OF_MONTH}[-/. ]{{1,2}}{MONTH}[-/., ]{{1,2}}{YEAR}{CLOCK_TOO}",
    rf"{BLANKS}{WEEKDAY}{MONTH}{BLANK}+{DAY_OF_MONTH},?{BLANK}+{YEAR}{CLOCK_TOO}",
)
# The same without the names of the parts, which no two patterns can share.
DATE_LIKE, TIME_LIKE = (
    re.sub(r"\?P<\w+>", "?:", named) for named in ("|".join((DATE_PARTS, *NAMED_PARTS)), TIME_PARTS)
)
# What Arrow reads by itself, and as we do.
ISO = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?"


class NumberForm(NamedTuple):
    """The decimal sign of a column, "." or ",", and the unit that cells may have, or ""."""

    decimal: str = "."
    unit: str = ""


@cache
def number_pattern(form: NumberForm) -> str:
    """Return the regular expression of the numbers of a form.

    Thousands are groups of three behind the other of "." and ",", a blank or an apostrophe.
    """
    decimal = re.escape(form.decimal)
    other = re.escape("," if form.decimal == "." else ".")
    groups = "|".join(rf"(?:{mark}\d{{3}})+" for mark in (other, f"['{APOSTROPHE}]", BLANK))
    whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:{groups}))"
    digits = rf"(?:{whole}(?:{decimal}\d*)?|{decimal}\d+){EXPONENT}"
    unit = f"(?:{re.escape(form.unit)})?" if form.unit else ""
    before = rf"(?:{SIGN}{BLANKS}{unit}|{unit}{BLANKS}{SIGN})"
    return rf"{BLANKS}{before}{BLANKS}{digits}{BLANKS}{unit}{BLANKS}"


def full_matches(strings: Any, pattern: str) -> Bools:
    """Return which strings of an Arrow array match from end to end, (n,); no null does.

    >>> import pyarrow as pa
    >>> full_matches(pa.array(["7", "7 ", "x", None]), INTEGER)
    array([ True,  True, False, False])
    """
    return has_match(strings, rf"\A(?:{pattern})\z")


def has_match(strings: Any, pattern: str) -> Bools:
    """Return which strings of an Arrow array hold a match, (n,); no null does."""
    if len(strings) <= FEW:
        search = re.compile(pattern.replace(r"\z", r"\Z"), re.ASCII).search
        cells = strings.to_pylist()
        return np.array([s is not None and search(s) is not None for s in cells], np.bool_)
    import pyarrow.compute as pc

    found = pc.match_substring_regex(strings, pattern)
    return np.asarray(found.fill_null(False).to_numpy(zero_copy_only=False))


def plain_floats(strings: Any) -> Floats | None:
    """Return the numbers of strings that are all plain numbers or null, else None.

    >>> import pyarrow as pa
    >>> plain_floats(pa.array(["1e5", None])), plain_floats(pa.array(["1,5"])) is None
    (array([100000.,     nan]), True)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    values = np.empty(len(strings))
    start, size = 0, FEW
    while start < len(strings):
        # Piece by piece: Arrow goes on to the last cell, slowly, when one is no number.
        try:
            piece = pc.cast(strings.slice(start, size), pa.float64())
        except pa.ArrowInvalid:
            return None
        values[start : start + size] = piece.to_numpy(zero_copy_only=False)
        start, size = start + size, MAX_BATCH
    finite = np.isfinite(values)
    if strings.null_count:
        finite |= np.asarray(strings.is_null())
    # "nan" and "inf" are words to us.
    return values if finite.all() else None


def read_numbers(strings: Any, form: NumberForm) -> Floats:
    """Return the numbers of strings, (n,), NaN for those that are none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_numbers(pa.array(["$1,234.50", " -2 ", "1'000", "<0.01", None]), NumberForm(".", "$"))
    array([1234.5,   -2. , 1000. ,    nan,    nan])
    >>> read_numbers(pa.array(["1.234,5 €", "0,5", "1,5e3"]), NumberForm(",", "€"))
    array([1.2345e+03, 5.0000e-01, 1.5000e+03])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = plain_floats(strings) if form.decimal == "." else None
    if plain is not None:
        return plain
    reads = full_matches(strings, number_pattern(form))
    strings = pc.if_else(pa.array(reads), strings, pa.scalar(None, strings.type))
    plain = plain_floats(strings) if form.decimal == "." else None
    if plain is not None:
        return plain
    if form.unit:
        strings = pc.replace_substring(strings, form.unit, "")
    other = "," if form.decimal == "." else "."
    strings = pc.replace_substring_regex(strings, f"{BLANK}|['{APOSTROPHE}+{other}]", "")
    strings = pc.replace_substring(strings, MINUS, "-")
    strings = pc.replace_substring(strings, form.decimal, ".")
    values = np.array(pc.cast(strings, pa.float64()).to_numpy(zero_copy_only=False))
    values[~np.isfinite(values)] = np.nan  # beyond all floats
    return values


def number_form(strings: Any, counts: NDArray[np.int64]) -> NumberForm:
    """Return the form that strings (n,), all like numbers, have as a whole.

    The unit is the most common one. The decimal sign is the comma if no string reads as thousands
    ("1,234"), and more cells have a decimal comma than a decimal point.

    Parameters
    ----------
    strings : Arrow array
    counts : (n,)
        Cells that have each string.

    Examples
    --------
    >>> import pyarrow as pa
    >>> number_form(pa.array(["1,5", "2 €"]), np.array([9, 1]))
    NumberForm(decimal=',', unit='€')
    >>> number_form(pa.array(["1,5", "1,234"]), np.array([9, 1]))
    NumberForm(decimal='.', unit='')
    """
    unit = _common_unit(strings, counts)
    commas = has_match(strings, ",")
    if not commas.any():
        return NumberForm(".", unit)
    point, comma = (full_matches(strings, number_pattern(NumberForm(mark, unit))) for mark in ".,")
    if (commas & point).any():
        return NumberForm(".", unit)
    points = counts[has_match(strings, r"\.") & point].sum()
    return NumberForm("," if counts[commas & comma].sum() > points else ".", unit)


def _common_unit(strings: Any, counts: NDArray[np.int64]) -> str:
    """Return the unit that most cells with a unit have, "" if there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    with_unit = has_match(strings, UNIT)
    if not with_unit.any():
        return ""
    some = strings.filter(pa.array(with_unit))
    found = pc.extract_regex(some, f"(?P<unit>{UNIT})").field("unit").dictionary_encode()
    cells = np.bincount(np.asarray(found.indices), counts[with_unit])
    return str(found.dictionary[int(np.argmax(cells))].as_py())


class Dates(NamedTuple):
    """Dates (n,) of strings under either order of day and month; NaN where there is none.

    Where the year stands first both are the same.
    """

    day_first: Floats
    month_first: Floats
    by_order: Bools
    """Which strings have the year last, so that the order matters."""

    def ordered(self, day_first: bool | None) -> Floats:
        """Return the dates under one order; None reads none to which it matters."""
        if day_first is None:
            return np.where(self.by_order, np.nan, self.day_first)
        return self.day_first if day_first else self.month_first


def read_dates(strings: Any, *, day_first: bool | None) -> Floats:
    """Return days since 1970 on the clock of the place, (n,), NaN for strings that are no dates.

    Parameters
    ----------
    strings : Arrow array
    day_first : bool or None
        The order of day and month where the year stands last; None reads no such string.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_dates(pa.array(["1970-01-02 06:00", "02/01/1970", "?"]), day_first=True)
    array([1.25, 1.  ,  nan])
    """
    plain = iso_dates(strings)
    if plain is not None:
        return plain
    return dates_of(strings).ordered(day_first)


def read_times(strings: Any) -> Floats:
    """Return the part of the day that has gone, (n,), NaN for strings that are no times of day.

    >>> import pyarrow as pa
    >>> read_times(pa.array(["18:00", "6:00 PM", "25:00", None]))
    array([0.75, 0.75,  nan,  nan])
    """
    return _ticks_of_day(_groups(strings, TIME_PARTS)) / (DAY * TICKS)


def dates_of(strings: Any) -> Dates:
    """Return the dates of strings under both orders of day and month."""
    parts = _groups(strings, DATE_PARTS)
    first, second, last = (_numbers(parts.field(name)) for name in ("first", "second_part", "last"))
    widths = [_widths(parts.field(name)) for name in ("first", "last")]
    alike = np.asarray(_equal(parts.field("mark"), parts.field("mark_too")))
    year_first = alike & (widths[0] == 4) & (widths[1] <= 2)
    year_last = alike & (widths[0] <= 2) & np.isin(widths[1], (2, 4))
    year = np.where(widths[1] == 2, _of_century(last), last)
    ticks = _ticks_of_day(parts, dated=True)
    leading = _moments(np.where(year_first, first, np.nan), second, last, ticks)
    year = np.where(year_last, year, np.nan)
    orders = (_moments(year, second, first, ticks), _moments(year, first, second, ticks))
    by_day, by_month = (np.where(year_last, found, leading) for found in orders)
    by_order = year_last & ~(np.isnan(by_day) & np.isnan(by_month))
    for pattern in NAMED_PARTS:
        left = np.flatnonzero(np.isnan(by_day) & np.isnan(by_month))
        if left.size:
            by_day[left] = by_month[left] = _named_dates(strings.take(left), pattern)
    return Dates(by_day, by_month, by_order)


def _named_dates(strings: Any, pattern: str) -> Floats:
    """Return the dates of strings with the name of the month in them, (n,)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = _groups(strings, pattern)
    names = pc.utf8_slice_codeunits(pc.ascii_lower(parts.field("month")), 0, 3)
    months = pc.index_in(names, pa.array(MONTH_NAMES, names.type)).cast(pa.float64())
    month = np.asarray(months.to_numpy(zero_copy_only=False)) + 1
    day, year = (_numbers(parts.field(name)) for name in ("day", "year"))
    year = np.where(_widths(parts.field("year")) == 2, _of_century(year), year)
    return _moments(year, month, day, _ticks_of_day(parts, dated=True))


def order_of(dates: Dates, counts: NDArray[np.int64]) -> bool | None:
    """Return whether days stand before months, as most cells say that have one order only.

    None if there are none such, or as many of either.

    >>> import pyarrow as pa
    >>> order_of(dates_of(pa.array(["31/1/2020", "1/2/2020"])), np.array([1, 5]))
    True
    >>> order_of(dates_of(pa.array(["3/1/2020", "1/2/2020"])), np.array([1, 5])) is None
    True
    """
    no_day, no_month = np.isnan(dates.day_first), np.isnan(dates.month_first)
    by_day = int(counts[dates.by_order & no_month].sum())
    by_month = int(counts[dates.by_order & no_day].sum())
    return None if by_day == by_month else by_day > by_month


def iso_dates(strings: Any) -> Floats | None:
    """Return days since 1970 if every string is an ISO date or null, else None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if int(full_matches(strings, ISO).sum()) < len(strings) - strings.null_count:
        return None
    try:
        moments = pc.cast(strings, pa.timestamp("us"))
    except pa.ArrowInvalid:  # the 30th of February
        return None
    ticks = moments.cast(pa.int64()).cast(pa.float64(), safe=False)
    return np.asarray(ticks.to_numpy(zero_copy_only=False)) / (DAY * TICKS)


def _groups(strings: Any, pattern: str) -> Any:
    import pyarrow.compute as pc

    return pc.extract_regex(strings, f"^(?:{pattern})$")


def _numbers(part: Any) -> Floats:
    """Return the numbers of a group of digits, NaN where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    there = pc.if_else(pc.equal(part, ""), pa.scalar(None, part.type), part)
    return np.asarray(pc.cast(there, pa.float64()).to_numpy(zero_copy_only=False))


def _widths(part: Any) -> NDArray[np.int64]:
    import pyarrow.compute as pc

    return np.asarray(pc.binary_length(part).fill_null(0).to_numpy(zero_copy_only=False))


def _equal(one: Any, other: Any) -> Bools:
    import pyarrow.compute as pc

    found = pc.equal(one, other).fill_null(False)
    return np.asarray(found.to_numpy(zero_copy_only=False))


def _of_century(year: Floats) -> Floats:
    return year + np.where(year < PIVOT, 20 * CENTURY, 19 * CENTURY)


def _ticks_of_day(parts: Any, *, dated: bool = False) -> Floats:
    """Return microseconds since midnight; NaN for no such time, 0 for a date without one."""
    import pyarrow.compute as pc

    hour, minute, second = (_numbers(parts.field(name)) for name in ("hour", "minute", "second"))
    half = pc.utf8_upper(parts.field("half")).fill_null("")
    morning, evening = (_equal(half, mark) for mark in ("A", "P"))
    fine = hour < 24
    twelve = morning | evening
    fine &= ~twelve | ((hour >= 1) & (hour <= NOON))
    hour = np.where(twelve, hour % NOON + NOON * evening, hour)
    second = np.where(np.isnan(second), 0.0, second)
    fine &= (minute < 60) & (second < 60)
    ticks = np.round(((hour * 60 + minute) * 60 + second) * TICKS)
    none = np.isnan(hour) if dated else np.zeros(len(hour), bool)
    return np.where(none, 0.0, np.where(fine, ticks, np.nan))


def _moments(year: Floats, month: Floats, day: Floats, ticks: Floats) -> Floats:
    """Return days since 1970, NaN for days that no calendar has."""
    known = np.isfinite(year) & (year >= 1) & (month >= 1) & (month <= MONTHS) & (day >= 1)
    known &= day <= 31
    months = np.where(known, (year - 1970) * MONTHS + month - 1, 0).astype(np.int64)
    days = months.astype("M8[M]").astype("M8[D]") + np.where(known, day - 1, 0).astype(np.int64)
    known &= days.astype("M8[M]").astype(np.int64) == months
    known &= ~np.isnan(ticks)
    # Whole numbers, as the ticks of a column of times are: floats would round twice.
    whole = days.astype(np.int64) * (DAY * TICKS) + np.where(known, ticks, 0).astype(np.int64)
    return np.where(known, whole / (DAY * TICKS), np.nan)
