"""The tally of a table in a database: sums by class, by level and by bin, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.schema import Schema
from suffice.errors import InputError
from suffice.families.columns.binned import Binned
from suffice.families.columns.categorical import Categorical
from suffice.families.columns.family import Family
from suffice.families.columns.joint import Joint
from suffice.families.columns.mvn import MultivariateNormal
from suffice.families.columns.normal import LogNormal, Normal
from suffice.families.columns.poisson import Poisson
from suffice.families.columns.student import Student
from suffice.sql.block_sums import (
    BinnedSums,
    BlockSums,
    EventSums,
    LevelSums,
    LogNormalSums,
    NormalSums,
    ScatterSums,
    StudentSums,
)
from suffice.sql.cells import Cells
from suffice.sql.dialect import Dialect
from suffice.sql.expressions import Expressions
from suffice.sql.queries import GroupedTable, Run
from suffice.tally import Blocks, Groups
from suffice.tally.tally import Floats, as_readonly

# The sums of each family; a family comes after those that are special cases of it.
SUMS: tuple[tuple[type[Family[Any]], type[BlockSums]], ...] = (
    (LogNormal, LogNormalSums),
    (Normal, NormalSums),
    (Student, StudentSums),
    (Binned, BinnedSums),
    (Poisson, EventSums),
    (Categorical, LevelSums),
    (Joint, LevelSums),
    (MultivariateNormal, ScatterSums),
)


@dataclass(frozen=True, eq=False)
class TableCounts:
    """What was counted of a table.

    Parameters
    ----------
    schema : Schema
        With the levels that were found.
    blocks : tuple of Family
        With the levels and combinations that were found.
    groups : Groups
        Classes, their weights, and the tally of each block.
    unlabelled : int
        How many rows have no class, and were left out.
    """

    schema: Schema
    blocks: tuple[Family[Any], ...]
    groups: Groups[Blocks[Any]]
    unlabelled: int


def count_in_sql(
    run: Run,
    table: str,
    dialect: Dialect,
    *,
    schema: Schema,
    blocks: Iterable[Family[Any]],
    target: str,
    origins: Mapping[str, float],
    weight: str | None = None,
) -> TableCounts:
    """Count a table where it is: the tally that `TableCounter.count` has of the same rows.

    Counts are equal, and sums of numbers equal up to rounding. One query takes the sums of all
    columns of numbers, and another the levels and bins of all others; more are needed for very
    many columns. They must see one state of the table: run them in one transaction if others
    write to it.

    Parameters
    ----------
    run : callable
        Runs a query and returns its rows, as tuples. The connection is the caller's.
    table : str
        SQL: a quoted name, or a query in parentheses with an alias.
    dialect : Dialect
    schema : Schema
        Kinds of the columns. Levels that are found are added last, in their order.
    blocks : families
        With their edges; what they lack of levels is found.
    target : str
        The column of the class. Rows without one are left out.
    origins : mapping
        From names of numeric columns to a number near their middle, which moments are taken
        about; 0 for others.
    weight : str, optional
        The column of the rows' weights.

    Examples
    --------
    >>> import duckdb
    >>> from suffice.data.schema import Field
    >>> from suffice.families import family_of
    >>> from suffice.sql.dialect import dialect_of
    >>> rows = "(VALUES ('a', 1.5, 'Rome'), ('a', 2.5, NULL), ('b', 4, 'Oslo')) AS t(kind, x, city)"
    >>> counts = count_in_sql(
    ...     lambda sql: duckdb.sql(sql).fetchall(),
    ...     rows,
    ...     dialect_of("duckdb"),
    ...     schema=Schema((Field("x", "number"), Field("city", "category"))),
    ...     blocks=[family_of("normal", ("x",)), family_of("categorical", ("city",))],
    ...     target="kind",
    ...     origins={"x": 2.0},
    ... )
    >>> counts.groups.classes.tolist(), counts.schema["city"].levels
    (['a', 'b'], ('Oslo', 'Rome'))
    >>> counts.groups.parts.parts[0].mean()[:, 0], counts.groups.parts.parts[1].counts
    (array([2., 4.]), array([[0., 1.],
           [1., 0.]]))
    """
    write = Expressions(Cells(schema, dialect), dict(origins), weighted=weight is not None)
    counted = [_sums_of(block, write) for block in blocks]
    for block in counted:
        block.check_kinds()
    source = GroupedTable(run, table, dialect, target, weight)
    checks = write.unreadable(name for block in counted for name in block.family.columns)
    sums = [one for block in counted for one in block.sums]
    totals = source.class_sums([*checks.values(), *sums])
    _refuse_unreadable(write.cells, checks, totals.sums[:, : len(checks)].sum(axis=0))
    ends = np.cumsum([len(checks), *(len(block.sums) for block in counted)])
    values = np.split(totals.sums, ends, axis=1)[1:-1]
    for block, own in zip(counted, values, strict=True):
        block.check(own)
    grouped = [block for block in counted if block.grouping is not None]
    groupings = [block.grouping for block in grouped if block.grouping is not None]
    found = dict(zip(grouped, source.key_sums(groupings, totals), strict=True))
    families, tallies = [], []
    for block, own in zip(counted, values, strict=True):
        schema, family, tally = block.tally(schema, own, found.get(block))
        families.append(family)
        tallies.append(tally)
    parts = Blocks(tuple(tallies))
    groups = Groups(totals.classes, as_readonly(totals.weights), parts)
    return TableCounts(schema, tuple(families), groups, totals.unlabelled)


def _refuse_unreadable(cells: Cells, names: Iterable[str], numbers: Floats) -> None:
    for name, number in zip(names, numbers, strict=True):
        if number > 0:
            raise InputError(
                f"Column {name!r} was learned as {cells.kind(name)!r}, and {number:g} of its cells "
                "are not, or not as a database reads them. Give a query that makes them NULL or "
                "what they are."
            )


def _sums_of(block: Family[Any], write: Expressions) -> BlockSums:
    for family, sums in SUMS:
        if isinstance(block, family):
            return sums(block, write)
    raise InputError(
        f"Column {block.column!r} is learned as {block.name!r}, which is counted from rows and not "
        "by a database. Leave the column out, or learn from rows."
    )
