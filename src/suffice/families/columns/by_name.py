"""The families by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import numpy as np

from suffice.data.table import Table
from suffice.errors import InputError
from suffice.families.columns.binned import Binned
from suffice.families.columns.categorical import Bernoulli, Categorical
from suffice.families.columns.family import Family
from suffice.families.columns.joint import Joint
from suffice.families.columns.mvn import MultivariateNormal
from suffice.families.columns.normal import LogNormal, Normal
from suffice.families.columns.poisson import Poisson
from suffice.families.columns.student import Student

FAMILIES: dict[str, Callable[..., Family[Any]]] = {
    "normal": Normal,
    "normal:tied": partial(Normal, tied=True),
    "lognormal": LogNormal,
    "lognormal:tied": partial(LogNormal, tied=True),
    "student": Student,
    "binned": Binned,
    "poisson": Poisson,
    "bernoulli": Bernoulli,
    "categorical": Categorical,
    "joint": Joint,
    "mvn": MultivariateNormal,
    "mvn:tied": partial(MultivariateNormal, tied=True),
}


def family_of(name: str, columns: tuple[str, ...], **settings: Any) -> Family[Any]:
    """Return the family of this name, for these columns, with settings that it had before.

    Examples
    --------
    >>> family_of("normal:tied", ("age",)).name
    'normal:tied'
    >>> family_of("mvn", ("age",))
    Traceback (most recent call last):
        ...
    suffice.errors.InputError: The family 'mvn' is of two or more columns, not of 1 (age). Name \
several, as a tuple.
    """
    if name not in FAMILIES:
        raise InputError(f"No family {name!r}. Use one of {', '.join(sorted(FAMILIES))}.")
    family = FAMILIES[name](columns, **settings)
    if family.width == 1 and len(columns) != 1:
        raise InputError(
            f"The family {name!r} is of one column, not of {len(columns)} "
            f"({', '.join(columns)}). Name each by itself."
        )
    if len(columns) < family.width:
        raise InputError(
            f"The family {name!r} is of two or more columns, not of {len(columns)} "
            f"({', '.join(columns)}). Name several, as a tuple."
        )
    return family


# Families cut the number line at far fewer places.
MAX_EDGES = 4096
# The tails of bins: below, and above.
TAILS = (2,)


def check_settings(family: Family[Any], table: Table | None = None) -> None:
    """Refuse settings under which a family would score nonsense, or fail when it scores.

    Parameters
    ----------
    family : Family
    table : Table, optional
        Of the columns that the family is about: levels are to suit them.

    Examples
    --------
    >>> from suffice.families import family_of
    >>> check_settings(family_of("binned", ("age",), edges=np.array([1.0, 2.0]), tails=np.ones(2)))
    >>> check_settings(family_of("binned", ("age",), edges=np.array([2.0, 1.0]), tails=np.ones(2)))
    Traceback (most recent call last):
        ...
    suffice.errors.InputError: The edges of 'binned' of age do not increase. Give finite numbers, \
each above the one before.
    """
    for name, value in family.settings.items():
        CHECKS[name](family, table, value)


def _refuse(family: Family[Any], fact: str, cure: str) -> NoReturn:
    raise InputError(fact.format(f"{family.name!r} of {', '.join(family.columns)}") + f" {cure}")


def _numbers(values: Any, kinds: str, axes: int) -> Any:
    """Return values as an array of numbers of so many axes, or None if they are not."""
    if isinstance(values, list | tuple) and all(type(value) in (int, float) for value in values):
        values = np.array(values)
    fine = isinstance(values, np.ndarray) and values.dtype.kind in kinds and values.ndim == axes
    return values if fine else None


def _check_edges(family: Family[Any], table: Table | None, edges: Any) -> None:
    found = _numbers(edges, "iuf", 1)
    if found is None or not 0 < len(found) <= MAX_EDGES:
        _refuse(family, "The edges of {} are no array of numbers.", f"Give 1 to {MAX_EDGES}.")
    as_floats = found.astype(np.float64)  # in which whole numbers may be the same
    with np.errstate(over="ignore", invalid="ignore"):
        widths, whole = np.diff(as_floats), as_floats[-1] - as_floats[0]
    if not (np.isfinite(as_floats).all() and np.isfinite(whole) and (widths > 0).all()):
        cure = "Give finite numbers, each above the one before."
        _refuse(family, "The edges of {} do not increase.", cure)


def _check_tails(family: Family[Any], table: Table | None, tails: Any) -> None:
    found = _numbers(tails, "iuf", 1)
    fine = found is not None and found.shape == TAILS
    if not fine or not (np.isfinite(found) & (found > 0)).all():
        _refuse(family, "The tails of {} are not two lengths.", "Give two finite numbers above 0.")


def _check_spread(family: Family[Any], table: Table | None, spread: Any) -> None:
    if not isinstance(spread, float) or not 0 < spread < np.inf:
        _refuse(family, f"The spread of {{}} is {spread!r:.80}.", "Give a finite number above 0.")


def _check_levels(family: Family[Any], table: Table | None, levels: Any) -> None:
    if family.width == 1:
        _check_column_levels(family, table, family.column, levels)
        return
    if type(levels) is not tuple or len(levels) != len(family.columns):
        _refuse(family, "The levels of {} are not those of its columns.", "Give a tuple of them.")
    for column, known in zip(family.columns, levels, strict=True):
        _check_column_levels(family, table, column, known)


def _check_column_levels(
    family: Family[Any], table: Table | None, column: str, levels: Any
) -> None:
    """Refuse levels of a category, and for numbers what are not numbers, each once."""
    if table is not None and (levels is None) != (table[column].kind == "category"):
        cure = "Give levels to numbers, and None to a category, which has its own."
        _refuse(family, f"The levels of {{}} do not suit the column {column!r}.", cure)
    if levels is None:
        return
    numbers = type(levels) is tuple and all(isinstance(level, int | float) for level in levels)
    if not numbers or len(set(levels)) < len(levels) or not np.isfinite(levels).all():
        cure = "Give a tuple of finite numbers."
        _refuse(family, f"The levels of {{}} in {column!r} are not numbers, each once.", cure)


def _check_sizes(family: Any, table: Table | None, sizes: Any) -> None:
    fine = type(sizes) is tuple and len(sizes) == len(family.columns)
    if not fine or not all(type(size) is int and size >= 0 for size in sizes):
        _refuse(family, "The sizes of {} are not those of its columns.", "Give a tuple of numbers.")
    for column, size, levels in zip(family.columns, sizes, family.levels, strict=True):
        if levels is not None:
            wrong = size != len(levels)
        else:
            wrong = table is not None and size > len(table[column].levels)
        if wrong:
            fact = f"The sizes of {{}} say that {column!r} has {size} levels."
            _refuse(family, fact, "Give as many as there are.")


def _check_seen(family: Any, table: Table | None, seen: Any) -> None:
    if _numbers(seen, "iu", 2) is None or seen.shape[1] != len(family.columns):
        _refuse(family, "The combinations of {} are no array of codes.", "Give (M, columns).")
    if np.any(seen < 0) or np.any(seen >= np.array(family.sizes)):
        cure = "Give codes of levels that there are."
        _refuse(family, "The combinations of {} have codes out of range.", cure)
    if len(np.unique(family.combinations.keys(seen))) < len(seen):
        _refuse(family, "The combinations of {} are there twice.", "Give each once.")


# In the order of a family's settings, of which later ones rely on earlier ones.
CHECKS: dict[str, Callable[[Any, Table | None, Any], None]] = {
    "edges": _check_edges,
    "tails": _check_tails,
    "spread": _check_spread,
    "levels": _check_levels,
    "sizes": _check_sizes,
    "seen": _check_seen,
}
