"""What a sum in the tally of a block is of, in the words of the table."""

from __future__ import annotations

from typing import Any

from suffice.data.schema import Schema
from suffice.families.binned import Binned
from suffice.families.categorical import Categorical
from suffice.families.family import Family
from suffice.families.joint import Joint
from suffice.families.levels import Levels
from suffice.text.block import Text


def sum_name(family: Family[Any], schema: Schema, part: int | None, at: tuple[int, ...]) -> str:
    """Return the name of the sum at a place of a block's tally, (class, ...).

    `part` is the number of the tally, where a block has several.
    """
    if isinstance(family, Categorical):
        return _level(family.column, family.levels, schema, at[1])
    if isinstance(family, Joint):
        cells = zip(family.columns, family.levels, family.seen[at[1]].tolist(), strict=True)
        return " and ".join(_level(name, known, schema, code) for name, known, code in cells)
    if isinstance(family, Binned):
        edges = ["-inf", *(f"{edge:g}" for edge in family.edges), "inf"]
        first = at[1] if part == 0 else at[1] * (len(edges) - 2)
        return f"column {family.column!r} from {edges[first]} to {edges[first + 1]}"
    if isinstance(family, Text):
        if at[1] == 0:
            return f"a text in column {family.column!r}"
        return f"the word {family.terms[at[1] - 1]!r} in column {family.column!r}"
    place = at[1] if len(family.columns) > 1 else 0
    return f"column {family.columns[place]!r}"


def _level(column: str, known: Levels, schema: Schema, code: int) -> str:
    level = repr(schema[column].levels[code]) if known is None else f"{known[code]:g}"
    return f"{level} in column {column!r}"
