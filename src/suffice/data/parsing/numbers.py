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
# Strings that Arrow is asked to read at once.
MAX_BATCH = 1 << 14


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

    having = has_match(strings, UNIT)
    if not having.any():
        return ""
    some = strings.filter(pa.array(having))
    found = pc.extract_regex(some, f"(?P<unit>{UNIT})").field("unit").dictionary_encode()
    cells = np.bincount(np.asarray(found.indices), counts[having])
    return str(found.dictionary[int(np.argmax(cells))].as_py())
