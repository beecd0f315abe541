"""Whether the strings of a column are numbers, dates or times, and how they are then read.

The rule is a function of the strings and of how many cells have each, and of nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.data.parsing import (
    BLANKS,
    DATE_LIKE,
    FEW,
    INTEGER,
    LEADING_ZERO,
    NUMBER_LIKE,
    TIME_LIKE,
    UNIT,
    Bools,
    Floats,
    NumberForm,
    dates_of,
    full_matches,
    has_match,
    iso_dates,
    number_form,
    order_of,
    plain_floats,
    read_dates,
    read_numbers,
    read_times,
)
from suffice.errors import ShapeError

Counts = NDArray[np.int64]

# A column is read if at least so many of so many cells read.
READ, OF = 19, 20
# Integers of so many different values, or fewer, are names of levels.
MAX_LEVELS = 20
# What files write for a missing value, beside nothing at all.
MISSING = ("NA", "N/A", "n/a", "<NA>", "#N/A", "NaN", "nan", "NULL", "null", "None")
NOTHING = f"{BLANKS}(?:{'|'.join(map(re.escape, MISSING))})?{BLANKS}"
ANY_LIKE = f"{NUMBER_LIKE}|{DATE_LIKE}|{TIME_LIKE}"
# Strings that are looked at before those that do not read are counted.
STEP = 1 << 13

UNDECIDED = "dates whose order of day and month is open, kept as levels"
CODES = "integers with leading zeros, kept as levels"


@dataclass(frozen=True)
class StringFormat:
    """How the strings of a column are read: as numbers, as dates or as times of day.

    Parameters
    ----------
    kind : "number", "date" or "time"
    decimal : "." or ","
        The decimal sign of numbers.
    unit : str
        The sign of a currency, or "%", that numbers may have before or after them; it is left off.
    day_first : bool or None
        Of dates with the year last; None if such dates are not read.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = Strings(pa.array(["31.1.2020", "1.2.2020", "?"]))
    >>> StringFormat("date", day_first=True).read(cells.values)
    array([18292., 18293.,    nan])
    """

    kind: Literal["number", "date", "time"]
    decimal: str = "."
    unit: str = ""
    day_first: bool | None = None

    def __post_init__(self) -> None:
        unit = self.unit
        known = unit == "" or re.fullmatch(UNIT, unit) is not None
        orders = (None, True, False) if self.kind == "date" else (None,)
        plain = (self.decimal, unit) == (".", "") or self.kind == "number"
        if self.kind not in ("number", "date", "time") or self.decimal not in (".", ","):
            raise ShapeError(f"No strings are read as {self.kind!r} with {self.decimal!r}.")
        if not (known and plain and any(self.day_first is order for order in orders)):
            raise ShapeError(f"No {self.kind!r} has unit {unit!r}, day first {self.day_first!r}.")

    def read(self, strings: Any) -> Floats:
        """Return numbers, days since 1970 or parts of a day, (n,); NaN where nothing is read."""
        if self.kind == "number":
            return read_numbers(strings, NumberForm(self.decimal, self.unit))
        if self.kind == "time":
            return read_times(strings)
        return read_dates(strings, day_first=self.day_first)

    def unreadable(self, strings: Any, values: Floats) -> Bools:
        """Return which strings hold something, (n,), though they were read as nothing."""
        import pyarrow as pa

        found = np.isnan(values)
        if strings.null_count:
            found &= ~np.asarray(strings.is_null())
        if found.any():
            at = np.flatnonzero(found)
            found[at[_missing(strings.take(pa.array(at)))]] = False
        return np.asarray(found)

    @property
    def description(self) -> str:
        """What is said of a column that is read so."""
        if self.kind == "time":
            return "read as times of day"
        if self.kind == "number":
            return "read as numbers" + (" with decimal commas" if self.decimal == "," else "")
        order = {None: "", True: ", the day before the month", False: ", the month before the day"}
        return f"read as dates{order[self.day_first]}"

    def merge(self, other: StringFormat | None, name: str) -> StringFormat:
        """Return the format that reads what both read; name the column if there is none."""
        if other is None or other == self:
            return self
        days = {self.day_first, other.day_first} - {None}
        units = {self.unit, other.unit} - {""}
        if (self.kind, self.decimal) == (other.kind, other.decimal) and len(days | units) <= 1:
            return StringFormat(self.kind, self.decimal, "".join(units), next(iter(days), None))
        raise ShapeError(
            f"Column {name!r} is {self._shown} in one and {other._shown} in the other. Make "
            "numbers or dates of its strings before they are learned."
        )

    @property
    def _shown(self) -> str:
        return self.description + (f" in {self.unit}" if self.unit else "")


@dataclass(frozen=True, eq=False)
class Strings:
    """The strings of a column: cell by cell, or each once, with the code of every cell.

    Parameters
    ----------
    values : Arrow array of n strings
    codes : (cells,), optional
        The place of each cell's string in `values`; -1 for none.
    """

    values: Any
    codes: NDArray[np.int32] | None = None

    @cached_property
    def counts(self) -> Counts:
        """How many cells have each string, (n,); none has a null."""
        if self.codes is None:
            return (~np.asarray(self.values.is_null())).astype(np.int64)
        return np.bincount(self.codes + 1, minlength=len(self.values) + 1)[1:]

    @property
    def n_cells(self) -> int:
        """As many cells as hold strings, or more."""
        return len(self.values) if self.codes is None else len(self.codes)

    def too_many(self, unread: Bools) -> bool:
        """Say, without counting all cells, whether too many have one of these strings, (n,)."""
        codes = self.codes if self.codes is not None else np.arange(len(unread))
        of_code, found = np.append(unread, False), 0
        for start in range(0, len(codes), STEP):
            found += int(np.count_nonzero(of_code[codes[start : start + STEP]]))
            if OF * found > (OF - READ) * len(codes):
                return True
        return False

    def cells(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return what each cell has of values (n,) of the strings; NaN for no string."""
        return values if self.codes is None else np.append(values, np.nan)[self.codes]

    def first_cell(self, at: int) -> int:
        """Return the first cell that has a string."""
        return at if self.codes is None else int(np.argmax(self.codes == at))


class Decision(NamedTuple):
    """How strings are to be read, or None to keep them, and what is said of it.

    values : (n,)
        What is read, NaN for strings that do not read.
    """

    format: StringFormat | None
    note: str = ""
    values: Floats = np.empty(0)


KEPT = Decision(None)


def decide_format(strings: Strings, *, codes_too: bool = False) -> Decision:
    """Return how the strings of a column are to be read.

    They are read if at least 19 in 20 cells read, those without a value (empty, "NA") aside.

    Parameters
    ----------
    strings : Strings
    codes_too : bool
        Whether integers are read as numbers though they look like codes: few, or with leading
        zeros.

    Examples
    --------
    >>> import pyarrow as pa
    >>> decide_format(Strings(pa.array(["3.14", "2.72", ""]))).format
    StringFormat(kind='number', decimal='.', unit='', day_first=None)
    >>> decide_format(Strings(pa.array(["007", "12345"]))).note
    'integers with leading zeros, kept as levels'
    >>> decide_format(Strings(pa.array(["1/2/2020", "3/4/2020"]))).note
    'dates whose order of day and month is open, kept as levels'
    """
    if len(strings.values) > STEP:
        # One leading zero is enough, and there is no need to look further.
        first = decide_format(Strings(strings.values.slice(0, STEP)), codes_too=codes_too)
        if first.note == CODES:
            return first
    few = len(strings.values) <= FEW
    if few and _scan(strings, ANY_LIKE) is None:
        return KEPT
    values = plain_floats(strings.values)
    if values is not None:
        return _numbers(strings, StringFormat("number"), values, codes_too=codes_too)
    if not few and _scan(strings, ANY_LIKE) is None:
        return KEPT
    found = _scan(strings, NUMBER_LIKE)
    if found is not None:
        format = StringFormat("number", *_number_form(strings, found))
        values = format.read(strings.values)
        decision = _numbers(strings, format, values, codes_too=codes_too)
        if decision is not KEPT:
            return decision
    # "31.12.2020" looks like a number with thousands, until it is read.
    for pattern, decide in ((DATE_LIKE, _dates), (TIME_LIKE, _times)):
        if _scan(strings, pattern) is not None:
            return decide(strings)
    return KEPT


def _numbers(
    strings: Strings, format: StringFormat, values: Floats, *, codes_too: bool
) -> Decision:
    reads = ~np.isnan(values)
    if not reads.any():
        return KEPT
    if not codes_too:
        if bool((reads & has_match(strings.values, LEADING_ZERO)).any()):
            return Decision(None, CODES if _enough(strings, format, values) else "")
        seen = values[reads]
        few = bool(np.all(seen == np.floor(seen))) and len(np.unique(seen)) <= MAX_LEVELS
        # "3.0" and "$5" are whole, but no names of levels.
        if few and not bool((reads & ~full_matches(strings.values, INTEGER)).any()):
            return KEPT
    return _decision(strings, format, values)


def _dates(strings: Strings) -> Decision:
    values = iso_dates(strings.values)
    if values is not None:
        return _decision(strings, StringFormat("date"), values)
    found = dates_of(strings.values)
    format = StringFormat("date", day_first=order_of(found, strings.counts))
    decision = _decision(strings, format, found.ordered(format.day_first))
    if decision.format is None and format.day_first is None:
        either = np.where(np.isnan(found.day_first), found.month_first, found.day_first)
        if _enough(strings, format, either):
            return Decision(None, UNDECIDED)
    return decision


def _times(strings: Strings) -> Decision:
    format = StringFormat("time")
    return _decision(strings, format, format.read(strings.values))


def _decision(strings: Strings, format: StringFormat, values: Floats) -> Decision:
    enough = _enough(strings, format, values)
    return Decision(format, format.description, values) if enough else KEPT


def _enough(strings: Strings, format: StringFormat, values: Floats) -> bool:
    """Say whether enough cells read, those that hold nothing aside."""
    if np.isnan(values).all():
        return False
    unread = format.unreadable(strings.values, values)
    if not unread.any():
        return True
    if strings.too_many(unread):
        return False
    reads = int(strings.counts[~np.isnan(values)].sum())
    return OF * reads >= READ * (reads + int(strings.counts[unread].sum()))


def _scan(strings: Strings, pattern: str) -> Bools | None:
    """Return which strings match or say that there is no value; None as soon as too few do.

    Every string is that of one cell at least.
    """
    found = np.zeros(len(strings.values), np.bool_)
    allowed = strings.n_cells * (OF - READ) // OF + strings.values.null_count
    for start in range(0, len(found), STEP):
        match = full_matches(strings.values.slice(start, STEP), f"{pattern}|{NOTHING}")
        found[start : start + STEP] = match
        allowed -= len(match) - int(match.sum())
        if allowed < 0:
            return None
    return found if found.any() else None


def _number_form(strings: Strings, mask: Bools) -> NumberForm:
    """Return the form of the strings of a mask; cells are counted only if there is a choice."""
    import pyarrow as pa

    some = strings.values if mask.all() else strings.values.filter(pa.array(mask))
    if not has_match(some, f"{UNIT}|,").any():
        return NumberForm()
    return number_form(some, strings.counts[mask])


def _missing(strings: Any) -> Bools:
    """Return which strings are null, empty, or say that there is no value, (n,)."""
    found = full_matches(strings, NOTHING)
    return found | np.asarray(strings.is_null()) if strings.null_count else found
