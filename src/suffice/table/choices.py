"""What was chosen for each column, what else was tried, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

Columns = tuple[str, ...]
# Reasons to leave a column out, or not to choose.
EMPTY, CONSTANT, AS_GIVEN = "no value at all", "one value only", "as given"
# Columns up to which a block is described by their names.
MAX_NAMED = 4


@dataclass(frozen=True)
class Choice:
    """What was chosen for one column.

    Parameters
    ----------
    column : str
    family : of the block that the column is in; "ignore" if it is in none
    block : the columns of that block
    evidence : net log evidence of each family that was tried, by name
    why : str
    """

    column: str
    family: str
    block: Columns
    evidence: Mapping[str, float] = field(default_factory=dict)
    why: str = ""

    @property
    def others(self) -> str:
        """The names of the block's other columns, or how many they are."""
        names = [name for name in self.block if name != self.column]
        return ", ".join(names) if len(names) < MAX_NAMED else f"{len(names)} others"

    def __str__(self) -> str:
        tried = sorted(self.evidence.items(), key=lambda pair: -pair[1])
        best = tried[0][1] if tried else 0.0
        evidence = ", ".join(f"{name} {value - best:+.1f}" for name, value in tried)
        together = f" with {self.others}" if self.others else ""
        return f"{self.column}: {self.family}{together} ({self.why})" + (
            f"; evidence {evidence}" if len(tried) > 1 else ""
        )


class Trial(NamedTuple):
    """One arrangement of blocks that was tried against the one before.

    Parameters
    ----------
    what : the block that was tried
    before, after : float
        Held-out log-loss of a row, without and with it; where a first look was enough, what it
        would be at best.
    taken : whether the block is there in the end
    """

    what: str
    before: float
    after: float
    taken: bool

    def __str__(self) -> str:
        return (
            f"{'taken' if self.taken else 'left'}: {self.what}, held-out log-loss "
            f"{self.before:.4f} -> {self.after:.4f}"
        )


@dataclass(frozen=True)
class Choices(Mapping[str, Choice]):
    """The choice for each column by name, and the trials of blocks; prints as a table.

    Parameters
    ----------
    columns : tuple of Choice
    trials : tuple of Trial
    rows : int
        From how many rows the choices were made; 0 if it is not known.
    again_at : int
        After how many rows of a stream they will be made again; 0 if they are held.

    Examples
    --------
    >>> age = Choice("age", "normal", ("age",), {"normal": -10.0, "binned": -12.5}, "best evidence")
    >>> print(Choices((age,)))
    age: normal (best evidence); evidence normal +0.0, binned -2.5
    """

    columns: tuple[Choice, ...]
    trials: tuple[Trial, ...] = ()
    rows: int = 0
    again_at: int = 0

    @property
    def when(self) -> str:
        """From how many rows the choices were made, and when they will be made again.

        >>> Choices((), rows=50, again_at=200).when
        'decided from 50 rows, to be decided again after 200'
        """
        if not self.rows:
            return ""
        again = f", to be decided again after {self.again_at:,}" if self.again_at else ""
        return f"decided from {self.rows:,} row{'s' if self.rows != 1 else ''}{again}"

    def with_notes(self, notes: Mapping[str, str]) -> Choices:
        """Return the choices with notes on some columns, which come before the reasons."""
        noted = (
            replace(one, why=f"{notes[one.column]}; {one.why}") if one.column in notes else one
            for one in self.columns
        )
        return replace(self, columns=tuple(noted))

    def __getitem__(self, column: str) -> Choice:
        for choice in self.columns:
            if choice.column == column:
                return choice
        raise KeyError(column)

    def __iter__(self) -> Iterator[str]:
        return (choice.column for choice in self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __str__(self) -> str:
        return "\n".join(
            str(line) for line in (*self.columns, *self.trials, self.when) if str(line)
        )

    def __rich_console__(self, console: Any, options: Any) -> Any:
        """Print as two tables."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(box=SIMPLE_HEAD)
        for name in ("column", "family", "with", "why", "evidence of the others"):
            table.add_column(name)
        for choice in self.columns:
            tried = sorted(choice.evidence.items(), key=lambda pair: -pair[1])
            best = tried[0][1] if tried else np.nan
            others = ", ".join(f"{name} {value - best:+.1f}" for name, value in tried[1:])
            table.add_row(choice.column, choice.family, choice.others, choice.why, others)
        yield table
        if self.trials:
            tries = Table(box=SIMPLE_HEAD)
            for name in ("blocks tried", "log-loss before", "after", "taken"):
                tries.add_column(name)
            for trial in self.trials:
                row = f"{trial.before:.4f}", f"{trial.after:.4f}", "yes" if trial.taken else "no"
                tries.add_row(trial.what, *row)
            yield tries
        if self.when:
            yield self.when
