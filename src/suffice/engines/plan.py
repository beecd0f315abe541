"""The counting plan: how a cell becomes a number, a level or a word, as one value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

import numpy as np

from suffice.data.columns import column_of
from suffice.data.schema import Field, Schema
from suffice.data.string_format import StringFormat
from suffice.data.table import CALENDAR
from suffice.errors import InputError, MergeError, SourceError
from suffice.estimators.labels import check_weights

# What a file of a plan says it is.
FORMAT = "suffice counting plan 1"


@dataclass(frozen=True)
class CountingPlan:
    """What is counted of which columns: rules, and no level, word or class that was seen.

    Two tallies of one plan add up, whatever engine, site or day they are from. New levels, words
    and classes may arrive at any time: they are keys of the tally, aligned by name. Only a cap
    names levels: those are kept, and all others are counted as "(other)". A plan prints, compares,
    has a hash, and is saved as JSON.

    Parameters
    ----------
    model : name of the class that counts
    settings : its parameters that what is counted depends on
    target, weight : names of columns
    target_format : how strings of the target are read, if they are numbers (CSV)
    schema : names and kinds of the columns that are read, without levels
    blocks : of tables: family, columns and settings of each block, without levels and terms
    missing_columns : columns of which it is a feature whether a cell is missing
    origins : by column, the number that moments are taken about in a database
    notes : what was chosen and why; no part of what is compared

    Examples
    --------
    >>> from suffice import GaussianNB
    >>> import pyarrow as pa
    >>> table = pa.table({"size": [1.0, 2.0, 5.0, 6.0], "kind": ["a", "a", "b", "b"]})
    >>> plan = GaussianNB().plan(table, target="kind")
    >>> print(plan)
    GaussianNB of 1 column for 'kind'
    size: number
    >>> CountingPlan.from_json(plan.to_json()) == plan
    True
    """

    model: str
    settings: Mapping[str, Any]
    target: str
    weight: str | None
    schema: Schema
    target_format: StringFormat | None = None
    blocks: tuple[Mapping[str, Any], ...] = ()
    missing_columns: tuple[str, ...] = ()
    origins: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CountingPlan):
            return NotImplemented
        return self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __str__(self) -> str:
        names = self.features
        of = f"{len(names)} column{'s' if len(names) != 1 else ''}"
        weight = "" if self.weight is None else f", weighted by {self.weight!r}"
        lines = [f"{self.model} of {of} for {self.target!r}{weight}"]
        if self.blocks:
            lines += [
                f"{', '.join(one['columns'])}: {one['family']}{self._caps(one['columns'])}"
                for one in self.blocks
            ]
        else:
            lines += [f"{name}: {self.schema[name].kind}" for name in names]
        return "\n".join(lines)

    def _caps(self, columns: Sequence[str]) -> str:
        """Return how many levels are kept of columns with a cap, in words."""
        kept = {one.name: one.kept for one in self.schema.fields if one.kept is not None}
        found = [len(kept[name]) for name in columns if name in kept]
        words = [f"{one} level{'s' if one != 1 else ''}" for one in found]
        return f", {' and '.join(words)} kept" if found else ""

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the columns that are to be given."""
        return self.schema.given

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns that are read: features, target and weight."""
        weight = () if self.weight is None else (self.weight,)
        return (*self.features, self.target, *weight)

    @property
    def level_columns(self) -> tuple[str, ...]:
        """The columns that have few different strings."""
        kinds = {one.name for one in self.schema.fields if one.kind == "category"}
        return (*(name for name in self.features if name in kinds), self.target)

    @property
    def digest(self) -> str:
        """A hash of all that is counted by, in hexadecimal; the same on every machine."""
        text = json.dumps(self._plain(notes=False), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    # As JSON.

    def to_json(self) -> str:
        """Return the plan as JSON, from which `from_json` makes it again."""
        return json.dumps({"format": FORMAT, **self._plain(notes=True)}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the plan that `to_json` has written."""
        try:
            found = json.loads(text)
            if found.pop("format") != FORMAT:
                raise KeyError("format")
            known = [
                Field(name, kind, tuple(levels), _format_of(strings), *map(tuple, kept))
                for name, kind, levels, strings, *kept in found["schema"]
            ]
            target_format = _format_of(found["target_format"])
            return cls(
                **{
                    **found,
                    "schema": Schema(tuple(known)),
                    "target_format": target_format,
                    "blocks": tuple(found["blocks"]),
                    "missing_columns": tuple(found["missing_columns"]),
                }
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"This is no counting plan of suffice ({type(error).__name__}: {error}). Give the "
                "text that CountingPlan.to_json has written."
            ) from error

    def _plain(self, *, notes: bool) -> dict[str, Any]:
        """Return the plan as values of JSON."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        found["schema"] = [
            [
                one.name,
                one.kind,
                list(one.levels),
                None if one.strings is None else asdict(one.strings),
                *(() if one.kept is None else (list(one.kept),)),
            ]
            for one in self.schema.fields
        ]
        target_format = self.target_format
        found["target_format"] = None if target_format is None else asdict(target_format)
        if not notes:
            del found["notes"]
        return {name: _jsonable(value) for name, value in found.items()}

    # Comparing.

    def check_same(self, other: CountingPlan) -> None:
        """Refuse another plan, and name what differs."""
        if self == other:
            return
        mine, theirs = self._plain(notes=False), other._plain(notes=False)
        name = next(name for name in mine if mine[name] != theirs[name])
        here, there = mine[name], theirs[name]
        if isinstance(here, list) and isinstance(there, list):
            pairs = [pair for pair in zip(here, there, strict=False) if pair[0] != pair[1]]
            here, there = pairs[0] if pairs else (f"{len(here)} of them", f"{len(there)} of them")
        raise MergeError(
            f"Cannot add tallies of two counting plans: {name} is {here!r:.120} here and "
            f"{there!r:.120} there. Count both by one plan."
        )

    # Reading rows.

    def split(self, table: Any) -> tuple[Any, Any, Any, int]:
        """Return features, target and weights of rows, those without a target left out.

        Parameters
        ----------
        table : pyarrow.Table with all `columns`

        Returns
        -------
        features : pyarrow.Table
        target : pyarrow array, or ndarray if its strings are numbers
        weights : (n,) or None
        left_out : how many rows have no target
        """
        import pyarrow.compute as pc

        target = table.column(self.target)
        missing = target.null_count
        if str(target.type) in ("double", "float", "halffloat"):
            missing += int(pc.sum(pc.is_nan(target)).as_py() or 0)
        if missing:
            kept = pc.is_valid(target)
            if str(target.type) in ("double", "float", "halffloat"):
                kept = pc.and_(kept, pc.invert(pc.is_nan(target.fill_null(0.0))))
            table = table.filter(kept)
            target = table.column(self.target)
        weights = None
        if self.weight is not None:
            weights = self._weights(table.column(self.weight))
        return table.select(list(self.features)), self._labels(target), weights, missing

    def _weights(self, cells: Any) -> Any:
        column = column_of(str(self.weight), cells, "number")
        if not column.numeric:
            raise InputError(
                f"The weights in column {self.weight!r} are no numbers. Name a column of numbers."
            )
        return check_weights(column.values, len(column.values))

    def _labels(self, target: Any) -> Any:
        """Return the labels, strings that are numbers as numbers."""
        if self.target_format is None:
            return target
        column = column_of(self.target, target, self.target_format)
        if np.isnan(column.values).any():
            row = int(np.argmax(np.isnan(column.values)))
            raise SourceError(
                f"The target {self.target!r} was a number in the rows looked at first, and is "
                f"{target[row].as_py()!r} in row {row}. Correct it."
            )
        whole = bool(np.all(column.values == np.floor(column.values)))
        return column.values.astype(np.int64) if whole else column.values


def without_levels(schema: Schema) -> Schema:
    """Return a schema without the levels that were seen; those of calendars stay."""
    calendars = {
        f"{one.name}:{part}" for one in schema.fields if one.kind == "date" for part in CALENDAR
    }
    kept = tuple(one if one.name in calendars else replace(one, levels=()) for one in schema.fields)
    return Schema(kept, schema.by_place)


def _format_of(saved: Any) -> StringFormat | None:
    return None if saved is None else StringFormat(**saved)


def _jsonable(value: Any) -> Any:
    """Return arrays and tuples as lists, numpy's numbers as Python's."""
    if isinstance(value, np.ndarray):
        return _jsonable(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(name): _jsonable(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(one) for one in value]
    return value
