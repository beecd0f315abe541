"""What an estimator is given to plan from, and what it says in a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from suffice.data.schema import Schema

# How many levels all columns of strings keep at most; or, by column, how many or which.
Caps = int | Mapping[str, int | Sequence[str]] | None


class Sample(NamedTuple):
    """Rows that stand for all rows of a source."""

    features: Any
    """a pyarrow.Table"""
    target: Any
    """the labels, (n,)"""
    weights: Any
    """(n,) or None"""
    declared: frozenset[str]
    """columns that are categories whatever their strings look like"""
    complete: bool
    """whether these are all rows"""
    left_out: int = 0
    """how many rows had no target"""
    caps: Caps = None
    """how many levels, or which, columns of strings keep"""


@dataclass(frozen=True)
class PlanParts:
    """What a plan says that depends on the kind of estimator."""

    schema: Schema
    settings: dict[str, Any] = field(default_factory=dict)
    blocks: tuple[dict[str, Any], ...] = ()
    missing_columns: tuple[str, ...] = ()
    origins: dict[str, float] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
