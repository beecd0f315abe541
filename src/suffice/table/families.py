"""All families by name: those of numbers and levels, and those of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from suffice.data.columns import ReadAs
from suffice.errors import InputError
from suffice.families import Family
from suffice.families import family_of as plain_family

TEXTS = {"text": "multinomial", "text:bernoulli": "bernoulli", "text:complement": "complement"}
# Families whose columns may be levels.
OF_LEVELS = ("categorical", "bernoulli", "joint")


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


def string_formats(families: Any) -> dict[str, ReadAs]:
    """Return how columns of strings are read to which a user gave a family.

    Those of texts and of levels are kept as they are, those of numbers become numbers.

    >>> string_formats({"note": "text", ("age",): {"family": "normal"}, "city": "categorical"})
    {'note': 'text', 'age': 'number', 'city': 'category'}
    """
    found: dict[str, ReadAs] = {}
    for key, given in families.items() if isinstance(families, Mapping) else ():
        columns = key if isinstance(key, tuple) else (key,)
        settings = given if isinstance(given, Mapping) else {"family": given}
        name, levels = settings.get("family"), settings.get("levels")
        # A column of an array is named by its place.
        names = [f"x{one}" if isinstance(one, int | np.integer) else str(one) for one in columns]
        if name in TEXTS:
            found |= dict.fromkeys(names, "text")
        elif name not in OF_LEVELS:
            found |= dict.fromkeys(names if name != "ignore" else (), "number")
        else:
            # Another model's settings say which of the levels are numbers.
            known = levels if name == "joint" and levels else [levels] * len(names)
            kept = [one is None for one in known]
            found |= {n: "category" if k else "number" for n, k in zip(names, kept, strict=True)}
    return found
