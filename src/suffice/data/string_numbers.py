"""Numbers as files write them: "3.14", "-2", "1e5", "1,234", "$5.00", "12 %", "1,5"."""

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
SIGN = r"[+\-−]?"
EXPONENT = r"(?:[eE][+\-−]?\d+)?"
# The signs of Unicode's category Sc, those of its first plane.
CURRENCIES = "$¢-¥֏؋߾߿৲৳৻૱௹฿៛₠-⃀꠸﷼﹩＄￠￡￥￦"
# Signs that a number may have before or after it: of currencies, and per cent.
UNIT = f"[{CURRENCIES}%]"
# Whatever can be a number under some decimal sign, and with some unit.
NUMBER_LIKE = (
    rf"{BLANKS}{SIGN}{BLANKS}{UNIT}?{BLANKS}{SIGN}{BLANKS}"
    rf"[.,]?\d(?:[\d.,'’]|{BLANK})*{EXPONENT}{BLANKS}{UNIT}?{BLANKS}"
)
INTEGER = rf"{BLANKS}{SIGN}\d+{BLANKS}"
LEADING_ZERO = rf"{BLANKS}{SIGN}0\d.*"
# Up to so many strings, Python is done before Arrow has compiled a pattern.
FEW = 100


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
    groups = "|".join(rf"(?:{mark}\d{{3}})+" for mark in (other, "['’]", BLANK))
    whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:{groups}))"
    digits = rf"(?:{whole}(?:{decimal}\d*)?|{decimal}\d+){EXPONENT}"
    unit = f"(?:{re.escape(form.unit)})?" if form.unit else ""
    before = rf"(?:{SIGN}{BLANKS}{unit}|{unit}{BLANKS}{SIGN})"
    return rf"{BLANKS}{before}{BLANKS}{digits}{BLANKS}{unit}{BLANKS}"


def matching(strings: Any, pattern: str) -> Bools:
    """Return which strings of an Arrow array match from end to end, (n,); no null does.

    >>> import pyarrow as pa
    >>> matching(pa.array(["7", "7 ", "x", None]), INTEGER)
    array([ True,  True, False, False])
    """
    if len(strings) <= FEW:
        match = re.compile(pattern, re.ASCII | re.DOTALL).fullmatch
        cells = strings.to_pylist()
        return np.array([s is not None and match(s) is not None for s in cells], np.bool_)
    import pyarrow.compute as pc

    found = pc.match_substring_regex(strings, f"(?s)^(?:{pattern})$")
    return np.asarray(found.fill_null(False).to_numpy(zero_copy_only=False))


def plain_floats(strings: Any) -> Floats | None:
    """Return the numbers of strings that are all plain numbers or null, else None.

    >>> import pyarrow as pa
    >>> plain_floats(pa.array(["1e5", None])), plain_floats(pa.array(["1,5"])) is None
    (array([100000.,     nan]), True)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        cast = pc.cast(strings, pa.float64())
    except pa.ArrowInvalid:
        return None
    values = np.asarray(cast.to_numpy(zero_copy_only=False))
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
    reads = matching(strings, number_pattern(form))
    strings = pc.if_else(pa.array(reads), strings, pa.scalar(None, strings.type))
    plain = plain_floats(strings) if form.decimal == "." else None
    if plain is not None:
        return plain
    if form.unit:
        strings = pc.replace_substring(strings, form.unit, "")
    other = "," if form.decimal == "." else "."
    strings = pc.replace_substring_regex(strings, f"{BLANK}|['’+{other}]", "")
    strings = pc.replace_substring(strings, "−", "-")
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
    commas = _holding(strings, ",")
    if not commas.any():
        return NumberForm(".", unit)
    point, comma = (matching(strings, number_pattern(NumberForm(mark, unit))) for mark in ".,")
    if (commas & point).any():
        return NumberForm(".", unit)
    points = counts[_holding(strings, ".") & point].sum()
    return NumberForm("," if counts[commas & comma].sum() > points else ".", unit)


def _holding(strings: Any, mark: str) -> Bools:
    import pyarrow.compute as pc

    found = pc.match_substring(strings, mark)
    return np.asarray(found.fill_null(False).to_numpy(zero_copy_only=False))


def _common_unit(strings: Any, counts: NDArray[np.int64]) -> str:
    """Return the unit that most cells with a unit have, "" if there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    having = matching(strings, f".*{UNIT}.*")
    if not having.any():
        return ""
    some = strings.filter(pa.array(having))
    found = pc.extract_regex(some, f"(?P<unit>{UNIT})").field("unit").dictionary_encode()
    cells = np.bincount(np.asarray(found.indices), counts[having])
    return str(found.dictionary[int(np.argmax(cells))].as_py())
