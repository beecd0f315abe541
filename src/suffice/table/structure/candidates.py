"""The families that may suit a column, and the one its rows have most evidence for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from suffice.data.columns import Column
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.families import Family, Posterior
from suffice.table.families import family_of

# Distinct numbers up to which they may be names of levels.
MOST_LEVELS = 32
CONTINUOUS = ("normal", "lognormal", "binned")
# Families of which one with a variance for all classes is tried too, if they are the best.
TIED = {"normal": "normal:tied", "lognormal": "lognormal:tied"}


class Candidate(NamedTuple):
    """A family with settings taken from rows, and what their tally says."""

    family: Family[Any]
    reading: Posterior[Any]


def read_from(family: Family[Any], rows: Rows) -> Candidate:
    """Return a family with settings taken from these rows, and their tally read."""
    own = rows.X.table, rows.codes, rows.classes, rows.weights
    return read_by(family.fit_settings(*own).refine_settings(*own, rows.groups), rows)


def read_by(family: Family[Any], rows: Rows) -> Candidate:
    """Return a family that has its settings, and the rows' tally read by it."""
    tally = family.count(rows.X.table, rows.codes, rows.classes, rows.weights)
    return Candidate(family, family.posterior(tally))


def candidates_for(column: Column, rows: Rows) -> tuple[str, ...]:
    """Return the names of the families that may suit a column, each with its own variances."""
    if column.kind == "category":
        return ("categorical",)
    if column.kind == "text":
        return ("text",)
    if column.kind == "boolean":
        return ("bernoulli",)
    few = few_values(column)
    names = [] if few and is_narrow(column, rows) else list(CONTINUOUS)
    if column.whole and column.kind != "date":
        names.append("poisson")
    if few:
        names.append("categorical")
    return tuple(names)


def few_values(column: Column) -> bool:
    """Say whether a column of numbers has few enough values to be names of levels."""
    return len(column.distinct) <= MOST_LEVELS


def is_narrow(column: Column, rows: Rows) -> bool:
    """Say whether the few values of a column are narrower, in some class, than the gaps between.

    A density can be as high as it likes at a value that repeats, which no probability can: it would
    win over levels without being any better.
    """
    values = column.distinct
    if len(values) < 2:
        return True
    seen = ~column.missing
    numbers, codes = column.values[seen], rows.codes[seen]
    mass = rows.weights[seen] if rows.weights.size else np.ones(len(numbers))
    counts = np.bincount(codes, mass, rows.classes)
    # In units of the least gap, since its square may be beyond all floats; so may numbers in it,
    # which are then not narrow.
    with np.errstate(over="ignore", invalid="ignore"):
        steps = (numbers - values[0]) / np.diff(values).min()
        means = np.bincount(codes, mass * steps, rows.classes) / np.where(counts > 0, counts, 1.0)
        squares = np.bincount(codes, mass * (steps - means[codes]) ** 2, rows.classes)
    # One row has no spread; where there are more, it may be too small to be told from none.
    several = counts > 1
    return bool(np.any(squares[several] < (counts[several] - 1) / 4))


def tried(
    names: tuple[str, ...], columns: tuple[str, ...], rows: Rows, table: Table
) -> dict[str, Candidate]:
    """Return those of the families that can be of these columns, each with its evidence.

    The rows may be few of those of the table, which are to be learned all.
    """
    found = {}
    for name in names:
        family = family_of(name, columns)
        if family.objection(table) is not None:
            continue
        found[name] = read_from(family, rows)
    return found


def evidence_of_classes(name: str, columns: tuple[str, ...], rows: Rows) -> float:
    """Return the evidence of a distribution for each class against one for all classes.

    The strength that decides how far the classes may differ is paid for by half a log of the rows.
    """
    alike = replace(rows, codes=np.zeros(rows.shape[0], np.int32), classes=1)
    apart, together = (read_from(family_of(name, columns), r).reading for r in (rows, alike))
    price = np.log(max(apart.weight, 1.0)) / 2
    return float(apart.log_evidence - together.log_evidence - price)


# Fewer rows than these may all differ in anything.
FEWEST_ROWS = 20
# Part of the cells that are different in a column of names.
NEARLY_ALL = 0.95
# Equal pairs that whole numbers within their range would have by chance, if they have none.
EXPECTED_PAIRS = 10.0


def names_rows(column: Column) -> str | None:
    """Say why a column looks like an identifier, or None.

    Strings that are nearly all different are names. Whole numbers that are all different are
    numbers of rows if so many drawn by chance from their range would repeat: n^2 / (2 range)
    pairs of them are expected to be equal.

    Examples
    --------
    >>> import numpy as np
    >>> number = Column("id", "integer", np.arange(100.0))
    >>> names_rows(number)
    '100 whole numbers from 0 to 99, no two equal'
    >>> names_rows(Column("income", "integer", np.arange(100.0) ** 3)) is None
    True
    """
    seen = column.seen
    n = len(seen)
    if n < FEWEST_ROWS or column.kind in ("boolean", "date", "text"):
        return None
    if column.kind == "category":
        different = len(column.distinct)
        if different >= NEARLY_ALL * n:
            return f"{different} different values in {n} rows"
        return None
    if not column.whole or len(column.distinct) < n:
        return None
    low, high = column.ends
    if n**2 / (2 * (high - low + 1)) < EXPECTED_PAIRS:
        return None
    return f"{n} whole numbers from {low:g} to {high:g}, no two equal"
