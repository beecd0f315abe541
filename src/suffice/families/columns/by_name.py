"""The families by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

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
