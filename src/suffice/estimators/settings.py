"""Settings of two models side by side: which differ, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np


class Difference(NamedTuple):
    """A parameter that two models have with different values."""

    name: str
    here: Any
    there: Any

    def __str__(self) -> str:
        return f"{self.name} is {self.here!r:.80} here and {self.there!r:.80} there"


def differences(one: Any, other: Any, names: Iterable[str]) -> list[Difference]:
    """Return which of these attributes two models have with different values."""
    pairs = ((name, getattr(one, name), getattr(other, name)) for name in names)
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
