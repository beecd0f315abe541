"""All families by name: those of numbers and levels, and those of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suffice.blocks import Family
from suffice.blocks import family_of as plain_family
from suffice.errors import InputError

TEXTS = {"text": "multinomial", "text:bernoulli": "bernoulli", "text:complement": "complement"}


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
    from suffice.text.block import Text

    return Text(columns, event=TEXTS[name], **settings)


def texts_of(families: Any) -> tuple[str, ...]:
    """Return the columns that a user gave a family of text, whatever their strings look like.

    >>> texts_of({"note": "text", ("title",): {"family": "text"}, "city": "categorical"})
    ('note', 'title')
    """
    if not isinstance(families, Mapping):
        return ()
    wanted = {
        key if isinstance(key, tuple) else (key,): given.get("family")
        if isinstance(given, Mapping)
        else given
        for key, given in families.items()
    }
    return tuple(str(column) for key, name in wanted.items() if name in TEXTS for column in key)
