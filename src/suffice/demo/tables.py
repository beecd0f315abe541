"""How the demo prints: tables that look alike, explanations, differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

Array = NDArray[Any]

# Contributions that are shown of an explanation; the others are summed.
SHOWN = 8
# The longest bar, in characters.
BAR = 20


def new_table(title: str) -> Table:
    """Return an empty table that looks like the others and fits 80 columns."""
    return Table(title=title, box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


def explanation_table(title: str, explanation: Any) -> Table:
    """Return an explanation as a table: the largest contributions, the rest, the prior log-odds."""
    facts = explanation.to_dict()
    lines = [(piece["value"], piece["contribution"]) for piece in facts["pieces"]]
    if len(lines) > SHOWN + 1:
        rest = lines[SHOWN:]
        lines[SHOWN:] = [(f"({len(rest)} others)", sum(amount for _, amount in rest))]
    lines.append(("(prior log-odds)", facts["base"]))
    longest = max(abs(amount) for _, amount in lines)
    table = new_table(title)
    table.add_column("value")
    table.add_column("adds to\nlog-odds", justify="right")
    table.add_column("")
    for name, amount in lines:
        bar = ("+" if amount > 0 else "-") * round(BAR * abs(amount) / longest)
        table.add_row(Text(name), f"{amount:+.2f}", bar)
    table.caption = (
        f"The sum is the log-odds, {facts['log_odds']:+.2f}: "
        f"P({facts['target']}) = {facts['probability']:.2f}."
    )
    return table


def quality_row(proba: Array, y: Array, labels: Array) -> tuple[str, str]:
    """Return accuracy and log-loss of probabilities (n, C), each with its standard error."""
    own = proba[np.arange(len(y)), np.searchsorted(labels, y)]
    right, losses = labels[proba.argmax(axis=1)] == y, -np.log(own)
    accuracy, loss = (
        f"{one.mean():.3f} ± {one.std() / len(y) ** 0.5:.3f}" for one in (right, losses)
    )
    return accuracy, loss


def largest_difference(one: Array, other: Array) -> str:
    """Write the largest difference between two arrays of probabilities."""
    largest = np.abs(one - other).max()
    return f"{largest:.0e}" if largest else "0"


def print_table(table: Table, console: Console) -> None:
    """Print title, table and caption, each of them from the left."""
    console.print(str(table.title), style="bold cyan", markup=False)
    caption, table.title, table.caption = table.caption, None, None
    console.print(table)
    if caption:
        console.print(f"{caption}\n", style="italic", markup=False)


def plain_table(table: Table) -> dict[str, Any]:
    """Return a table as plain values.

    >>> table = new_table("Rows")
    >>> table.add_column("name")
    >>> table.add_row(Text("age"))
    >>> plain_table(table)
    {'title': 'Rows', 'columns': ['name'], 'rows': [['age']], 'note': ''}
    """
    columns = [[str(cell) for cell in column.cells] for column in table.columns]
    return {
        "title": str(table.title),
        "columns": [" ".join(str(column.header).split()) for column in table.columns],
        "rows": [list(row) for row in zip(*columns, strict=True)],
        "note": str(table.caption or ""),
    }
