"""Adding, merging and subtracting what models have learned: functions of tallies, not of models.

Beside its tally a model keeps a gross scale: how large the sums have been where the tally no
longer shows it (`suffice.tally.debt`), or None. Every function here that returns a tally returns
the gross scale that goes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from suffice.errors import DebtError, MergeError
from suffice.estimators.features import Columns
from suffice.estimators.settings import Difference, describe, same
from suffice.tally.debt import gross_scale, scale_of_sum

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


def check_same_columns(mine: Columns, theirs: Columns) -> None:
    """Refuse to merge models of other columns; columns without names go with any names.

    >>> check_same_columns(Columns(2, ("age", "height")), Columns(2, ("age", "weight")))
    Traceback (most recent call last):
        ...
    suffice.errors.MergeError: Cannot merge: column 1 is 'height' here and 'weight' there. Learn \
the same columns in both.
    """
    if theirs.count != mine.count:
        raise MergeError(
            f"Cannot merge models of {mine.count} and {theirs.count} features. Learn the same "
            "columns in both."
        )
    if mine.names is None or theirs.names is None:
        return
    for at, (here, there) in enumerate(zip(mine.names, theirs.names, strict=True)):
        if here != there:
            raise MergeError(
                f"Cannot merge: column {at} is {here!r} here and {there!r} there. Learn the same "
                "columns in both."
            )


def compare_settings(
    mine: Mapping[str, Any], theirs: Mapping[str, Any], names: Iterable[str]
) -> list[Difference]:
    """Return which of these parameters have different values.

    >>> compare_settings({"alpha": 1.0, "k": 3}, {"alpha": 0.5, "k": 3}, ["alpha", "k"])
    [Difference(name='alpha', here=1.0, there=0.5)]
    """
    pairs = ((name, mine[name], theirs[name]) for name in names)
    return [Difference(*pair) for pair in pairs if not same(pair[1], pair[2])]


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
