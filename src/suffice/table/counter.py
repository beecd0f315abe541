"""What is counted of a table: one tally for each block of columns, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from suffice.count.counters import Counter, Describe
from suffice.data.plain_rows import STRINGS, TRUTH_VALUES, Cells, PlainCells
from suffice.data.rows import Rows
from suffice.data.schema import Schema
from suffice.data.table import CALENDAR
from suffice.errors import MergeError, ShapeError
from suffice.estimators.merging import same
from suffice.families import Family
from suffice.families.columns.binned import Binned
from suffice.families.columns.categorical import Categorical
from suffice.families.columns.family import Mask
from suffice.families.columns.joint import Joint
from suffice.families.columns.levels import Levels
from suffice.table.rows import MISSING_SUFFIX, TableRows
from suffice.tally import Blocks, Groups
from suffice.tally.tally import Floats, Index, unchecked

Families = tuple[Family[Any], ...]
NO_COLUMNS = Schema(())


@dataclass(frozen=True, eq=False)
class TableCounter(Counter):
    """Rows of a table to a tally of each block: `Blocks`, in the order of the blocks.

    Two counters are equal if they count the same of the same columns, bins and levels included.
    New levels come last, so that tallies of before stay valid (`grow`); those of which no row is
    left can be unlearned (`shrink`).

    Parameters
    ----------
    schema : Schema
        Names, types and levels of all columns, those that are in no block among them.
    missing_columns : names of columns
        Each has a further column beside it, NAME:missing, that says where its cells are missing.
    blocks : tuple of Family
        With their settings: edges of bins, levels of numbers, terms of texts.

    Examples
    --------
    >>> from suffice.data.table import Table
    >>> from suffice.table.structure.families import family_of
    >>> table = Table.of([{"city": "Rome"}, {"city": "Oslo"}])
    >>> counter = TableCounter(Schema.of(table), (), (family_of("categorical", ("city",)),))
    >>> print(counter)
    categorical of city
    >>> wider, rows = counter.grow([{"city": "Lima"}])
    >>> wider.schema["city"].levels, rows.table["city"].values
    (('Rome', 'Oslo', 'Lima'), array([2], dtype=int32))
    >>> weights, tally = wider.count(Rows(rows, np.zeros(1, np.int32), 1))
    >>> tally.parts[0].counts
    array([[0., 0., 1.]])
    >>> wider.shrink(Groups(np.array(["a"]), weights, tally)).schema["city"].levels
    ('Lima',)
    """

    takes_sparse: ClassVar[bool] = False

    schema: Schema = NO_COLUMNS
    missing_columns: tuple[str, ...] = ()
    blocks: Families = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TableCounter):
            return NotImplemented
        return (
            (self.schema, self.missing_columns) == (other.schema, other.missing_columns)
            and self.block_names == other.block_names
            and all(
                same(mine.settings, theirs.settings)
                for mine, theirs in zip(self.blocks, other.blocks, strict=True)
            )
        )

    def __hash__(self) -> int:
        return hash((self.schema, self.missing_columns, self.block_names))

    def __str__(self) -> str:
        return "\n".join(self.block_names)

    @property
    def block_names(self) -> tuple[str, ...]:
        """Family and columns of each block, in words."""
        return tuple(f"{block.name} of {', '.join(block.columns)}" for block in self.blocks)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the blocks' columns, block by block."""
        return tuple(name for block in self.blocks for name in block.columns)

    @property
    def unused(self) -> set[str]:
        """The columns that nothing is counted of: their cells may be of any type."""
        counted = set(self.columns)
        # A column may be looked at for its missing values or for its weekday alone.
        bases = counted | {name.rpartition(":")[0] for name in counted}
        return {field.name for field in self.schema.fields} - bases

    @property
    def unused_given(self) -> set[str]:
        """Those of the columns that users give that nothing is counted of."""
        used = {name.removesuffix(MISSING_SUFFIX) for name in self.columns}
        for name in tuple(used):
            used |= {name.removesuffix(f":{part}") for part in CALENDAR}
        return set(self.schema.given) - used

    # Reading rows.

    def read(self, given: Any) -> TableRows:
        """Return rows (`check_table`) of these columns; a new level is an unknown one."""
        table = self.schema.take(given, self.unused)
        return TableRows(table).with_missing_columns(self.missing_columns)

    def read_plain(self, X: Any) -> TableRows | None:
        """Return one row, a mapping, whose cells are looked up (`Schema.take_plain`), or None."""
        row = X[0] if type(X) is list and len(X) == 1 else X
        table = self.schema.take_plain(row) if type(row) is dict else None
        if table is None:
            return None
        return TableRows(table).with_missing_columns(self.missing_columns)

    def plain_columns(self) -> dict[str, PlainCells] | None:
        """Return cells of each given column that can surely be learned; None if that is unknown.

        It is of dates, of numbers that are read from strings, and of columns without names.
        """
        schema = self.schema
        if schema.by_place or schema.given != schema.names:
            return None
        blocks = {name: block for block in self.blocks for name in block.columns}
        found: dict[str, PlainCells] = {}
        for field in schema.fields:
            block = blocks.get(field.name)
            cells = PlainCells() if block is None else block.plain_cells(field.name)
            if field.strings is not None:
                return None
            if field.kind in ("category", "text"):
                if not all(isinstance(level, str) for level in field.levels):
                    return None
                few = block is not None and block.name == "bernoulli"
                cells = PlainCells(STRINGS, levels=frozenset(field.levels) if few else None)
            elif field.kind == "boolean":
                cells = PlainCells(TRUTH_VALUES, levels=cells.levels)
            found[field.name] = cells
        return found

    def grow(self, given: Any) -> tuple[Self, TableRows]:
        """Return the counter that knows the levels of these rows too, and the rows."""
        learned = set(self.columns)
        if not learned:  # columns that are left out have no levels that could be forgotten again
            return self, self.read(given)
        schema, table = self.schema.with_levels_of(given, learned, self.unused)
        rows = TableRows(table).with_missing_columns(self.missing_columns)
        blocks = tuple(block.with_levels_of(rows.table) for block in self.blocks)
        return replace(self, schema=schema, blocks=blocks), rows

    def recode(self, rows: Rows) -> Rows:
        """Return rows that were read before, with levels by the codes that they have now."""
        found = TableRows(self.schema.take(rows.X.table))
        return replace(rows, X=found.with_missing_columns(self.missing_columns))

    def with_missing_columns(self, rows: Rows) -> Rows:
        """Return rows with a column for each of `missing_columns`, and for no others."""
        names = {field.name for field in self.schema.fields}
        table = rows.X.table
        columns = tuple(column for column in table.columns if column.name in names)
        found = TableRows(replace(table, columns=columns))
        return replace(rows, X=found.with_missing_columns(self.missing_columns))

    # Counting.

    def count(self, rows: Rows) -> tuple[Floats, Blocks[Any]]:
        """Return the weight of each class's rows, (C,), and the tally of each block."""
        weights = rows.weights
        total = np.bincount(
            rows.codes, weights if weights.size else None, minlength=rows.classes
        ).astype(np.float64)
        given = rows.X.table, rows.codes, rows.classes, weights
        return total, Blocks(tuple(block.count(*given) for block in self.blocks))

    def add_row(self, parts: Blocks[Any], cells: Cells, code: int) -> Blocks[Any] | None:
        """Return the tally of each block with one row more, its cells in the schema's order."""
        names = (field.name for field in self.schema.fields)
        table = self.schema.take_plain(dict(zip(names, cells, strict=True)))
        if table is None:
            return None
        rows = TableRows(table).with_missing_columns(self.missing_columns)
        found = []
        for block, part in zip(self.blocks, parts.parts, strict=True):
            more = block.add_row(part, rows.table, code)
            if more is None:
                return None
            found.append(more)
        return unchecked(Blocks, parts=tuple(found))

    def describe_sum(self, path: tuple[int, ...], at: tuple[int, ...], column: Describe) -> str:
        """Return what a sum of a block's tally is of: a column, a level, a bin, a word."""
        part = path[1] if len(path) > 1 else None
        return describe_block_sum(self.blocks[path[0]], self.schema, part, at)

    # Levels that come and go.

    def levels_in_use(self, tally: Blocks[Any]) -> dict[str, Mask]:
        """Say, for each column of levels or terms, which of them the tally has rows of.

        Truth values, weekdays and months have their levels whether there are rows of them or not.
        A category that is left out has none.
        """
        fields = {field.name: field for field in self.schema.fields}
        found = {
            name: np.zeros(len(field.levels), np.bool_)
            for name, field in fields.items()
            if field.kind == "category"
        }
        for block, part in zip(self.blocks, tally.parts, strict=True):
            for name, used in block.levels_in_use(part).items():
                more = len(found.get(name, used)) - len(used)
                found[name] = np.pad(used, (0, more)) if more else used
        given = {name for name in self.schema.given if fields[name].kind != "boolean"}
        return {name: used | (name not in given) for name, used in found.items()}

    def shrink(self, like: Groups[Any]) -> Self:
        """Return the counter without the levels and terms that no row of `like` has.

        The blocks are the same objects if all of them stay as they are.
        """
        used = self.levels_in_use(like.parts)
        found = self._keep_levels(like.parts, used)
        schema = self.schema.keep_levels(used)
        if all(places is None for _, places in found):
            return self if schema is self.schema else replace(self, schema=schema)
        return replace(self, schema=schema, blocks=tuple(block for block, _ in found))

    def trim(self, groups: Groups[Any], like: Groups[Any]) -> Groups[Any]:
        """Return a tally without the levels and terms that no row of `like` has."""
        found = self._keep_levels(like.parts, self.levels_in_use(like.parts))
        if all(places is None for _, places in found):
            return groups
        parts = tuple(
            part if places is None else part.levels_at(places)
            for part, (_, places) in zip(groups.parts.parts, found, strict=True)
        )
        return Groups(groups.classes, groups.weights, Blocks(parts))

    def _keep_levels(
        self, tally: Blocks[Any], used: Mapping[str, Mask]
    ) -> list[tuple[Family[Any], Index | None]]:
        pairs = zip(self.blocks, tally.parts, strict=True)
        return [block.keep_levels(part, used) for block, part in pairs]

    # Two counters.

    def merge(self, other: Self, groups: Groups[Any]) -> tuple[Self, Groups[Any]]:
        """Return the counter that knows the levels of both, and the other's tally by it."""
        try:
            schema = self.schema.merge(other.schema)
            places = other.schema.translations(schema)
            pairs = zip(self.blocks, other.blocks, groups.parts.parts, strict=True)
            found = [mine.merge(theirs, part, places) for mine, theirs, part in pairs]
        except ShapeError as error:
            raise MergeError(f"Cannot merge: {error}") from error
        merged = replace(self, schema=schema, blocks=tuple(block for block, _ in found))
        parts = Blocks(tuple(part for _, part in found))
        return merged, Groups(groups.classes, groups.weights, parts)

    def check_same_blocks(self, other: Self) -> None:
        """Refuse to merge counters of other blocks."""
        mine, theirs = self.block_names, other.block_names
        if mine != theirs:
            odd = next(iter([block for block in mine if block not in theirs] or theirs))
            raise MergeError(
                f"Cannot merge: only one of the models has a block {odd}. Learn the second with "
                "families=first.families_ (suffice fit --like FIRST)."
            )


def describe_block_sum(
    family: Family[Any], schema: Schema, part: int | None, at: tuple[int, ...]
) -> str:
    """Return the name of the sum at a place of a block's tally, (class, ...), for errors.

    `part` is the number of the tally, where a block has several.
    """
    if isinstance(family, Categorical):
        return _describe_level(family.column, family.levels, schema, at[1])
    if isinstance(family, Joint):
        cells = zip(family.columns, family.levels, family.seen[at[1]].tolist(), strict=True)
        levels = (_describe_level(name, known, schema, code) for name, known, code in cells)
        return " and ".join(levels)
    if isinstance(family, Binned):
        edges = ["-inf", *(f"{edge:g}" for edge in family.edges), "inf"]
        first = at[1] if part == 0 else at[1] * (len(edges) - 2)
        return f"column {family.column!r} from {edges[first]} to {edges[first + 1]}"
    terms = getattr(family, "terms", None)
    if terms is not None:
        if at[1] == 0:
            return f"a text in column {family.column!r}"
        return f"the word {terms[at[1] - 1]!r} in column {family.column!r}"
    place = at[1] if len(family.columns) > 1 else 0
    return f"column {family.columns[place]!r}"


def _describe_level(column: str, known: Levels, schema: Schema, code: int) -> str:
    level = repr(schema[column].levels[code]) if known is None else f"{known[code]:g}"
    return f"{level} in column {column!r}"
