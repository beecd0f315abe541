"""The tally of columns of numbers in a database: what a counter of arrays counts of its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.count.counters import (
    Counter,
    CountEvents,
    CountLevels,
    CountMoments,
    CountOnes,
    CountRowMoments,
    CountWords,
)
from suffice.count.discrete import MAX_LEVELS
from suffice.count.moments import MAX_PATTERN_BYTES
from suffice.errors import InputError, SufficeWarning, warn_caller
from suffice.estimators.features import Columns
from suffice.sources.source import SqlTable
from suffice.sql.array_rows import ArrayRows, filled, joined, open_rows, squares_error
from suffice.sql.cells import LARGEST
from suffice.sql.dialect import DIALECTS
from suffice.sql.queries import (
    MAX_KEYS,
    MAX_SUMS,
    Cell,
    ClassSums,
    Grouping,
    Sum,
)
from suffice.tally import Blocks, Counts, Events, Groups, Moments, Patterns, Tally
from suffice.tally.tally import ROUNDING, Floats, as_readonly

# A whole number beyond this is no double.
MAX_WHOLE = 2.0**53
# Columns whose missing values one key tells, as bits.
BITS = 50
# Of more patterns of missing values the answer would be as large as what it spares.
MAX_PATTERNS = 1000


@dataclass(frozen=True, eq=False)
class ArrayCounts:
    """What was counted of a table.

    Parameters
    ----------
    groups : Groups
    rows, unlabelled : int
        How many rows have a class, and how many have none and were left out.
    """

    groups: Groups[Any]
    rows: int
    unlabelled: int


def count_array(
    counter: Counter,
    asked: SqlTable,
    names: Sequence[str],
    *,
    target: str,
    weight: str | None = None,
    columns: Columns | None = None,
    estimator: str = "the model",
) -> ArrayCounts | None:
    """Count columns of numbers where they are: the tally that the counter has of the same rows.

    Counts are equal, and sums of numbers equal up to rounding. A query for the first rows says of
    what kind the columns are and what moments are taken about; one takes the sums of all columns.
    Products, levels and classes far from the first rows need another, and more are needed for very
    many columns. They must see one state of the table.

    Parameters
    ----------
    counter : Counter
    asked : SqlTable
    names : sequence of str
        The columns of numbers.
    target, weight : str
        The columns of the class and of the rows' weights. Rows without a class are left out.
    columns : Columns, optional
        What the columns are called in errors, if not by these names.
    estimator : str
        What the model is called in errors.

    Returns
    -------
    ArrayCounts, or None if SQL cannot count this: fourth moments, columns of strings or dates,
    numbers of events with fractions, very many patterns of missing values.

    Examples
    --------
    >>> import sqlite3
    >>> run = lambda sql: sqlite3.connect(":memory:").execute(sql).fetchall()
    >>> rows = "(SELECT 'a' AS kind, 1.5 AS x UNION SELECT 'a', 2.5 UNION SELECT 'b', NULL) AS t"
    >>> asked = SqlTable("sqlite", rows, run, local=False)
    >>> found = count_array(CountMoments(), asked, ["x"], target="kind")
    >>> found.groups.classes.tolist(), found.groups.parts.weight[:, 0], found.rows
    (['a', 'b'], array([2., 0.]), 3)
    """
    count = COUNTED.get(type(counter))
    if count is None or asked.dialect not in DIALECTS:
        return None
    if columns is None:
        columns = Columns(len(names), tuple(names))
    rows = open_rows(asked, columns, names, target, weight, estimator)
    if rows is None:
        return None
    found = count(rows, counter)
    if found is None:
        return None
    totals, tally = found
    groups = Groups(totals.classes, as_readonly(totals.weights), tally)
    return ArrayCounts(groups, int(totals.rows.sum()), totals.unlabelled)


Found = tuple[ClassSums, Tally] | None


def _count_moments(rows: ArrayRows, counter: Counter) -> Found:
    totals = rows.sums(rows.moment_sums(rows.distances()), rows.beyond_squares, squares_error)
    if totals is None:
        return None
    moments = rows.moments_of(totals.sums, _tiled(rows.middle, totals))
    origin = rows.near_origins(moments)
    if origin is None:
        return None
    far = np.flatnonzero((origin != moments.origin).any(axis=0))
    if far.size:
        parts = rows.distances_from(origin, totals)
        values = totals.sums.reshape(len(origin), -1, 3).copy()
        found = rows.further_sums(rows.moment_sums([parts[at] for at in far]), totals)
        values[:, far] = found.reshape(len(origin), -1, 3)
        moments = rows.moments_of(values.reshape(len(origin), -1), origin)
    return totals, moments


def _count_row_moments(rows: ArrayRows, counter: Counter) -> Found:
    missing = rows.rows_with([_is_missing(rows, cell) for cell in rows.cells])
    sums = [missing, *rows.moment_sums(rows.distances())]
    totals = rows.sums(sums, rows.beyond_squares, squares_error)
    if totals is None:
        return None
    moments = rows.moments_of(totals.sums[:, 1:], _tiled(rows.middle, totals))
    origin = rows.near_origins(moments)
    if origin is None:
        return None
    parts = rows.distances_from(origin, totals)
    d = len(parts)
    pairs = [(i, j) for i in range(d) for j in range(i, d)]
    write = rows.write
    products = [
        *map(write.total, parts),
        *(write.total(parts[i], parts[j]) for i, j in pairs),
    ]
    if not totals.sums[:, 0].any():
        found = rows.further_sums(products, totals)
        return totals, Patterns(d, {tuple(range(d)): _full(rows, totals.weights, origin, found)})
    return _by_pattern(rows, totals, origin, products)


def _by_pattern(rows: ArrayRows, totals: ClassSums, origin: Floats, products: list[Sum]) -> Found:
    """Return the moments of the rows of each pattern of missing values."""
    d, classes = len(rows.cells), len(totals.classes)
    keys = tuple(
        rows.write.part(_bits(rows, rows.cells[at : at + BITS]), *rows.cells[at : at + BITS])
        for at in range(0, d, BITS)
    )
    patterns = rows.source.distinct(keys) if len(keys) <= MAX_KEYS else MAX_PATTERNS + 1
    if patterns > MAX_PATTERNS or 8 * patterns * classes * d**2 > MAX_PATTERN_BYTES:
        return None
    step = MAX_SUMS - len(keys)
    sums: dict[tuple[int, ...], Floats] = {}
    weights: dict[tuple[int, ...], Floats] = {}
    for start in range(0, len(products), step):
        some = tuple(products[start : start + step])
        (found,) = rows.source.key_sums([Grouping(keys, some)], totals)
        for code, key, weight, values in zip(
            found.codes, found.keys, found.weights, found.sums, strict=True
        ):
            seen = _seen(key, d)
            own = sums.setdefault(seen, np.zeros((classes, len(products))))
            own[code, start : start + step] = filled(values)
            weights.setdefault(seen, np.zeros(classes))[code] = weight
    whole = tuple(range(d))
    sums.setdefault(whole, np.zeros((classes, len(products))))
    parts = {
        seen: _full(rows, weights.get(seen, np.zeros(classes)), origin, values, seen)
        for seen, values in sums.items()
        if seen
    }
    return totals, Patterns(d, parts)


def _full(
    rows: ArrayRows,
    weights: Floats,
    origin: Floats,
    values: Floats,
    seen: tuple[int, ...] | None = None,
) -> Moments:
    """Return the full moments of some columns, all if not given, of sums and products."""
    classes, d = origin.shape
    high, low = np.triu_indices(d)
    values = np.where(weights[:, None] > 0, filled(values), 0.0)
    sum_xx = np.zeros((classes, d, d))
    sum_xx[:, high, low] = sum_xx[:, low, high] = values[:, d:]
    rows.check_squares(np.diagonal(sum_xx, axis1=1, axis2=2))
    own = list(range(d) if seen is None else seen)
    arrays = weights, origin[:, own], values[:, own], sum_xx[:, own][:, :, own]
    return Moments(*map(as_readonly, map(np.ascontiguousarray, arrays)))


def _count_words(rows: ArrayRows, counter: Counter) -> Found:
    write = rows.write
    counts = [rows.within(cell, cell.alias) for cell in rows.cells]
    zero, one = write.number(0.0), write.number(1.0)
    # A row with a fraction among its cells is no row of counts, and has no orders.
    fraction = joined([_is_fraction(rows, cell) for cell in rows.cells], "OR")
    whole = write.part(f"CASE WHEN {fraction} THEN {zero} ELSE {one} END", *rows.cells)
    given = [f"COALESCE({write.cells.number(name)}, {zero})" for name in rows.names]
    length = Cell("row_length", joined(given, "+"))
    orders = [write.log_factorial(cell) for cell in (length, *rows.cells)]
    sums = [*map(write.total, counts), *(write.total(whole, log) for log in orders)]
    totals = rows.sums(sums, lambda cell: _below_zero(rows, cell))
    if totals is None:
        return None
    d = len(counts)
    values = filled(totals.sums)
    orderings = values[:, d] - values[:, d + 1 :].sum(axis=1)
    return totals, Counts(as_readonly(values[:, :d].copy()), as_readonly(orderings))


def _count_ones(rows: ArrayRows, counter: Counter) -> Found:
    assert isinstance(counter, CountOnes)
    write, cut = rows.write, counter.binarize
    sums = []
    for cell in rows.cells:
        value = cell.alias
        if cut is not None:
            above = f"{cell.alias} > {write.number(cut)}"
            value = f"CASE WHEN {above} THEN {write.number(1.0)} ELSE {write.number(0.0)} END"
        part = rows.within(cell, value)
        sums += [write.weight(part), write.total(part)]
    totals = rows.sums(sums, lambda cell: _is_infinite(rows, cell))
    if totals is None:
        return None
    values = filled(totals.sums)
    seen, ones = values[:, ::2], values[:, 1::2]
    zeros = seen - ones
    # Both are sums of the rows' weights, in different orders.
    zeros[np.abs(zeros) <= ROUNDING * totals.weights[:, None]] = 0.0
    wrong = ((zeros < 0) | (ones < 0)).any(axis=0)
    if wrong.any():
        raise InputError(
            f"With binarize=None cells must be 0 or 1, and those of "
            f"{rows.columns.describe(int(np.argmax(wrong)))} are not. Give a threshold in binarize."
        )
    return totals, Counts(as_readonly(np.stack([zeros, ones], axis=-1)))


def _count_events(rows: ArrayRows, counter: Counter) -> Found:
    write = rows.write
    sums = [rows.rows_with([_is_fraction(rows, cell) for cell in rows.cells])]
    for cell in rows.cells:
        part = rows.within(cell, cell.alias)
        sums += [write.weight(part), write.total(part), write.total(write.log_factorial(cell))]
    totals = rows.sums(sums, lambda cell: _below_zero(rows, cell))
    if totals is None or totals.sums[:, 0].any():
        return None
    values = filled(totals.sums[:, 1:])
    return totals, Events(*(as_readonly(values[:, at::3].copy()) for at in range(3)))


def _count_levels(rows: ArrayRows, counter: Counter) -> Found:
    write, dialect = rows.write, rows.source.dialect
    levels = [rows.within(cell, cell.alias, MAX_WHOLE) for cell in rows.cells]
    highest = [Sum(f"MAX({part.alias})", (part,)) for part in levels]
    fractions = [rows.rows_with([_is_fraction(rows, cell)]) for cell in rows.cells]
    least = write.number(-1.0)
    totals = rows.sums(
        [*fractions, *highest],
        lambda cell: f"{cell.alias} <= {least} OR {rows.above(cell, MAX_WHOLE)}",
        _too_high,
    )
    if totals is None:
        return None
    d = len(levels)
    fractional = np.asarray(totals.sums[:, :d].any(axis=0))
    if fractional.any():
        warn_caller(
            f"{rows.estimator} takes levels numbered 0, 1, 2, ... and cuts fractions off, as in "
            f"{rows.columns.describe(int(np.argmax(fractional)))}. Encode the columns, with "
            "OrdinalEncoder for example.",
            SufficeWarning,
        )
    top = np.trunc(np.fmax.reduce(totals.sums[:, d:], axis=0, initial=-1.0)).astype(np.int64)
    if top.max(initial=-1) >= MAX_LEVELS:
        at = int(np.argmax(top))
        raise InputError(
            f"Level {top[at]} in {rows.columns.describe(at)}: levels are numbered 0, 1, 2, ... up "
            f"to {MAX_LEVELS}. Encode the column, with OrdinalEncoder for example."
        )
    zero = write.number(0.0)
    keys = []
    for cell, part, cut in zip(rows.cells, levels, fractional.tolist(), strict=True):
        if cut:
            floor = dialect.floor.format(cell.alias)
            part = rows.within(
                cell, f"CASE WHEN {cell.alias} < {zero} THEN {zero} ELSE {floor} END", MAX_WHOLE
            )
        keys.append(Grouping((part,)))
    parts = []
    for most, groups in zip(top, rows.source.key_sums(keys, totals), strict=True):
        counts = np.zeros((len(totals.classes), int(most) + 1))
        for code, (key,), weight in zip(groups.codes, groups.keys, groups.weights, strict=True):
            if key is not None:
                counts[code, int(key)] += weight
        parts.append(Counts(as_readonly(counts)))
    return totals, Blocks(tuple(parts))


COUNTED: dict[type[Counter], Callable[[ArrayRows, Counter], Found]] = {
    CountMoments: _count_moments,
    CountRowMoments: _count_row_moments,
    CountWords: _count_words,
    CountOnes: _count_ones,
    CountEvents: _count_events,
    CountLevels: _count_levels,
}


# What takes longer to count there than to read all rows (docs: sources).
FASTER_FROM_ROWS: dict[str, tuple[type[Counter], ...]] = {
    "sqlite": (CountRowMoments, CountWords, CountEvents, CountLevels),
}


# Conditions of a cell.


def _is_missing(rows: ArrayRows, cell: Cell) -> str:
    return f"({rows.source.dialect.is_missing(cell.alias, number=True)})"


def _is_infinite(rows: ArrayRows, cell: Cell) -> str:
    return f"{cell.alias} < {rows.write.number(-LARGEST)} OR {rows.above(cell, LARGEST)}"


def _below_zero(rows: ArrayRows, cell: Cell) -> str:
    return f"{cell.alias} < {rows.write.number(0.0)} OR {rows.above(cell, LARGEST)}"


def _is_fraction(rows: ArrayRows, cell: Cell) -> str:
    return f"{cell.alias} <> {rows.source.dialect.floor.format(cell.alias)}"


def _bits(rows: ArrayRows, cells: Sequence[Cell]) -> str:
    """Return a whole number with a bit for each cell that is missing."""
    bits = [
        f"CASE WHEN {_is_missing(rows, cell)} THEN {1 << at} ELSE 0 END"
        for at, cell in enumerate(cells)
    ]
    return joined(bits, "+")


def _seen(keys: Sequence[Any], columns: int) -> tuple[int, ...]:
    """Return the numbers of the columns that are not missing in a pattern.

    >>> _seen([0b101], 4)
    (1, 3)
    """
    return tuple(at for at in range(columns) if not int(keys[at // BITS]) >> at % BITS & 1)


def _tiled(middle: Floats, totals: ClassSums) -> Floats:
    return np.tile(middle, (len(totals.classes), 1))


def _too_high(column: str, value: float) -> InputError:
    return InputError(
        f"Level {value:g} in {column} is too large a number. Levels are numbered 0, 1, 2, ...: "
        "encode the column, with OrdinalEncoder for example."
    )
