"""The families of columns: by name, as users give them, and those that may suit a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from suffice.data.columns import Column, ReadAs
from suffice.data.rows import Rows
from suffice.data.table import Table
from suffice.errors import InputError
from suffice.families import Family, Posterior
from suffice.families import family_of as plain_family
from suffice.table.structure.settings import DEFAULT_SEARCH, SearchSettings

TEXTS = {"text": "multinomial", "text:bernoulli": "bernoulli", "text:complement": "complement"}
# Families whose columns may be levels.
OF_LEVELS = ("categorical", "bernoulli", "joint")
# The family of a column that is left out.
IGNORE = "ignore"


def family_of(name: str, columns: tuple[str, ...], **settings: Any) -> Family[Any]:
    """Return the family of this name, for these columns, with settings that it had before.

    Examples
    --------
    >>> family_of("text:bernoulli", ("note",)).name
    'text:bernoulli'
    """
    if name not in TEXTS:
        return plain_family(name, columns, **settings)
    if len(columns) != 1:
        raise InputError(
            f"The family {name!r} is of one column, not of {len(columns)} "
            f"({', '.join(columns)}). Name each by itself."
        )
    # Loaded for the first column of text only: a table without one does without.
    from suffice.text.family import Text

    return Text.with_settings(columns, TEXTS[name], **settings)


class GivenFamily(NamedTuple):
    """The family that a user names for columns, with settings that it had in another model."""

    columns: tuple[str, ...]
    family: Any
    settings: dict[str, Any]


def given_families(families: Any) -> Iterator[GivenFamily]:
    """Yield what the parameter `families` names; a column of an array is given by its place.

    >>> list(given_families({0: "normal", ("a", "b"): {"family": "joint", "levels": None}}))[0]
    GivenFamily(columns=('x0',), family='normal', settings={})
    """
    for key, wanted in families.items() if isinstance(families, Mapping) else ():
        columns = key if isinstance(key, tuple) else (key,)
        names = (f"x{one}" if isinstance(one, int | np.integer) else str(one) for one in columns)
        settings = dict(wanted) if isinstance(wanted, Mapping) else {"family": wanted}
        family = settings.pop("family", None)
        yield GivenFamily(tuple(names), family, settings)


def string_formats(families: Any) -> dict[str, ReadAs]:
    """Return how columns of strings are read to which a user gave a family.

    Those of texts and of levels are kept as they are, those of numbers become numbers.

    >>> string_formats({"note": "text", ("age",): {"family": "normal"}, "city": "categorical"})
    {'note': 'text', 'age': 'number', 'city': 'category'}
    """
    found: dict[str, ReadAs] = {}
    for names, family, settings in given_families(families):
        if family in TEXTS:
            found |= dict.fromkeys(names, "text")
        elif family not in OF_LEVELS:
            found |= dict.fromkeys(names if family != IGNORE else (), "number")
        else:
            # Another model's settings say which of the levels are numbers.
            levels = settings.get("levels")
            known = levels if family == "joint" and levels else [levels] * len(names)
            pairs = zip(names, known, strict=True)
            found |= {name: "category" if one is None else "number" for name, one in pairs}
    return found


class Candidate(NamedTuple):
    """A family with settings taken from rows, and its posterior given their tally."""

    family: Family[Any]
    posterior: Posterior[Any]


def fit_candidate(family: Family[Any], rows: Rows) -> Candidate:
    """Return a family with settings taken from these rows, and its posterior."""
    own = rows.X.table, rows.codes, rows.classes, rows.weights
    return count_candidate(family.fit_settings(*own).refine_settings(*own, rows.groups), rows)


def count_candidate(family: Family[Any], rows: Rows) -> Candidate:
    """Return a family that has its settings, and its posterior given the rows."""
    tally = family.count(rows.X.table, rows.codes, rows.classes, rows.weights)
    return Candidate(family, family.posterior(tally))


def candidate_names(
    column: Column, rows: Rows, settings: SearchSettings = DEFAULT_SEARCH
) -> tuple[str, ...]:
    """Return the names of the families that may suit a column, each with its own variances."""
    if column.kind == "category":
        return ("categorical",)
    if column.kind == "text":
        return ("text",)
    if column.kind == "boolean":
        return ("bernoulli",)
    few = has_few_values(column, settings)
    names = [] if few and is_narrow(column, rows) else list(settings.numeric_families)
    if column.whole and column.kind != "date":
        names.append("poisson")
    if few:
        names.append("categorical")
    return tuple(names)


def has_few_values(column: Column, settings: SearchSettings = DEFAULT_SEARCH) -> bool:
    """Say whether a column of numbers has few enough values to be names of levels."""
    return len(column.distinct) <= settings.max_levels


def is_narrow(column: Column, rows: Rows) -> bool:
    """Say whether a class has a standard deviation below half the least distance of values.

    A density can be as high as it likes at a value that repeats, which no probability can: it would
    win over levels without being any better.
    """
    values = column.distinct
    if len(values) < 2:
        return True
    seen = ~column.missing
    numbers, codes = column.values[seen], rows.codes[seen]
    weights = rows.weights[seen] if rows.weights.size else np.ones(len(numbers))
    counts = np.bincount(codes, weights, rows.classes)
    # In units of the least distance, since its square may be beyond all floats; so may numbers in
    # it, which are then not narrow.
    with np.errstate(over="ignore", invalid="ignore"):
        steps = (numbers - values[0]) / np.diff(values).min()
        sums = np.bincount(codes, weights * steps, rows.classes)
        means = sums / np.where(counts > 0, counts, 1.0)
        squares = np.bincount(codes, weights * (steps - means[codes]) ** 2, rows.classes)
    # One row has no variance; where there are more, it may be too small to differ from none.
    several = counts > 1
    return bool(np.any(squares[several] < (counts[several] - 1) / 4))


def fit_candidates(
    names: tuple[str, ...], columns: tuple[str, ...], rows: Rows, table: Table
) -> dict[str, Candidate]:
    """Return those of the families that can be of these columns, fitted to the rows.

    The rows may be few of those of the table, all of which are to be learned.
    """
    families = {name: family_of(name, columns) for name in names}
    return {
        name: fit_candidate(family, rows)
        for name, family in families.items()
        if family.objection(table) is None
    }


def evidence_of_classes(name: str, columns: tuple[str, ...], rows: Rows) -> float:
    """Return the log evidence of a distribution for each class against one for all classes.

    The prior sample size, which decides how far the classes may differ, costs half a log of the
    rows.
    """
    alike = replace(rows, codes=np.zeros(rows.shape[0], np.int32), classes=1)
    apart, together = (fit_candidate(family_of(name, columns), r).posterior for r in (rows, alike))
    price = np.log(max(apart.weight, 1.0)) / 2
    return float(apart.log_evidence - together.log_evidence - price)


def describe_identifier(column: Column, settings: SearchSettings = DEFAULT_SEARCH) -> str | None:
    """Say why a column looks like an identifier, or None.

    Strings that are nearly all different are names. Whole numbers that are all different are
    numbers of rows if so many drawn by chance from their range would repeat: n^2 / (2 range)
    pairs of them are expected to be equal.

    Examples
    --------
    >>> number = Column("id", "integer", np.arange(100.0))
    >>> describe_identifier(number)
    '100 whole numbers from 0 to 99, no two equal'
    >>> describe_identifier(Column("income", "integer", np.arange(100.0) ** 3)) is None
    True
    """
    seen = column.seen
    n = len(seen)
    if n < settings.min_identifier_rows or column.kind in ("boolean", "date", "text"):
        return None
    if column.kind == "category":
        different = len(column.distinct)
        if different >= settings.min_identifier_share * n:
            return f"{different} different values in {n} rows"
        return None
    if not column.whole or len(column.distinct) < n:
        return None
    low, high = column.ends
    if n**2 / (2 * (high - low + 1)) < settings.expected_equal_pairs:
        return None
    return f"{n} whole numbers from {low:g} to {high:g}, no two equal"
