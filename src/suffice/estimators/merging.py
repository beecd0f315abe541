"""Adding, merging and subtracting what models have learned: functions of tallies, not of models.

Beside its tally a model keeps a gross scale: how large the sums have been where the tally no
longer shows it (`suffice.tally.debt`), or None. Every function here that returns a tally returns
the gross scale that goes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from suffice.errors import DebtError, MergeError
from suffice.tally.debt import gross_scale, scale_of_sum

# Settings of two models side by side: which differ, in words.


class Difference(NamedTuple):
    """A parameter that two models have with different values."""

    name: str
    here: Any
    there: Any

    def __str__(self) -> str:
        return f"{self.name} is {self.here!r:.80} here and {self.there!r:.80} there"


def compare_settings(
    mine: Mapping[str, Any], theirs: Mapping[str, Any], names: Iterable[str]
) -> list[Difference]:
    """Return which of these parameters have different values.

    >>> compare_settings({"alpha": 1.0, "k": 3}, {"alpha": 0.5, "k": 3}, ["alpha", "k"])
    [Difference(name='alpha', here=1.0, there=0.5)]
    """
    pairs = ((name, mine[name], theirs[name]) for name in names)
    return [Difference(*pair) for pair in pairs if not same(pair[1], pair[2])]


def describe(found: Iterable[Difference]) -> str:
    """Return the differences in words.

    >>> describe([Difference("alpha", 1.0, 0.5), Difference("fit_prior", True, False)])
    'alpha is 1.0 here and 0.5 there, fit_prior is True here and False there'
    """
    return ", ".join(str(one) for one in found)


def same(one: Any, other: Any) -> bool:
    """Say whether two values of a parameter are the same, arrays and estimators too.

    >>> same([1.0, 2.0], np.array([1.0, 2.0])), same(True, 1), same(float("nan"), float("nan"))
    (True, False, True)
    """
    if one is other:
        return True
    if hasattr(one, "get_params") or hasattr(other, "get_params"):
        return type(one) is type(other) and same(one.get_params(), other.get_params())
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    some, others = _listed(one), _listed(other)
    if some is not None and others is not None:
        return len(some) == len(others) and all(map(same, some, others))
    if some is not None or others is not None or isinstance(one, bool) != isinstance(other, bool):
        return False
    return bool(one == other) or bool(one != one and other != other)


def _listed(value: Any) -> list[Any] | None:
    """Return the elements of a list, a tuple or an array, or None of anything else."""
    if isinstance(value, list | tuple):
        return list(value)
    return list(np.asarray(value)) if getattr(value, "ndim", 0) else None


# Models that can be merged, and no others.


def check_same_class(mine: type, theirs: type) -> None:
    """Refuse to merge models of different classes.

    >>> check_same_class(int, str)
    Traceback (most recent call last):
        ...
    suffice.errors.MergeError: Cannot merge str into int. Merge models of one class.
    """
    if theirs is not mine:
        raise MergeError(
            f"Cannot merge {theirs.__name__} into {mine.__name__}. Merge models of one class."
        )


def refuse_different_counts(found: list[Difference]) -> None:
    """Refuse to merge models with these differences in what they counted."""
    if found:
        raise MergeError(
            f"Cannot merge: {describe(found)}, so different things were counted. Learn both with "
            "the same settings."
        )


def check_addable(
    mine: Mapping[str, Any], theirs: Mapping[str, Any], free: Collection[str] = ()
) -> None:
    """Refuse `+` for models of different settings, of which the sum could have only one.

    Parameters
    ----------
    mine, theirs : parameters by name
    free : names of parameters that may differ, since no prediction depends on them
    """
    found = compare_settings(mine, theirs, [name for name in mine if name not in free])
    if found:
        raise MergeError(
            f"Cannot add models with different settings: {describe(found)}. Give both the same "
            "(set_params), or use merge, which keeps the settings of the model that learns."
        )


def is_start_of_sum(value: Any) -> bool:
    """Say whether a value is the 0 with which `sum` begins: `0 + model` is a copy of the model.

    >>> is_start_of_sum(0), is_start_of_sum(1), is_start_of_sum(0.0)
    (True, False, False)
    """
    return isinstance(value, int) and value == 0


# Tallies with their gross scale.


def add_counts(tally: Any, gross: Any, counted: Any) -> tuple[Any, Any]:
    """Return the tally with further rows, and the gross scale where the sum does not show it.

    Examples
    --------
    >>> from suffice.tally import Counts
    >>> total, gross = add_counts(Counts([2.0, 1.0]), None, Counts([0.0, 3.0]))
    >>> total.counts, gross
    (array([2., 4.]), None)
    """
    total = tally + counted
    return total, scale_of_sum(gross, total, tally, counted)


def merge_tallies(tally: Any, gross: Any, theirs: Any, their_gross: Any) -> tuple[Any, Any]:
    """Return the sum of two models' tallies, and the gross scale of both.

    Both have to be of the same classes and levels, in the same order.
    """
    if gross is None and their_gross is None:
        return add_counts(tally, None, theirs)
    return tally + theirs, gross_scale(gross, tally) + gross_scale(their_gross, theirs)


def subtract_counts(
    tally: Any, gross: Any, taken: Any, describe_missing: Callable[[Any], str | None]
) -> tuple[Any, Any]:
    """Return the tally without rows that are forgotten, and the gross scale of all there were.

    Parameters
    ----------
    tally, gross : what was learned
    taken : tally of the rows to forget
    describe_missing : called with the gross scale if those rows were not learned
        Returns the column, level or word that is missing, in words, or None if it cannot tell.
    """
    scale = gross_scale(gross, tally, taken)
    try:
        return tally.subtract(taken, scale), scale
    except DebtError as debt:
        missing = describe_missing(scale)
        if missing is None:
            raise
        raise DebtError(missing) from debt
