"""What the parts of the demo share: data in two halves, and tables that look alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text
from sklearn import datasets
from sklearn.model_selection import train_test_split

Array = NDArray[Any]

# Contributions that are shown of an explanation; the others are summed up.
SHOWN = 8
# The longest bar, in characters.
BAR = 20


class Halves(NamedTuple):
    """A data set, half to learn from and half to be tested on, its classes by name."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


def halves(name: str) -> Halves:
    """Load a data set of scikit-learn's and halve it, the same way every time."""
    bunch: Any = getattr(datasets, f"load_{name}")()
    labels = np.asarray(bunch.target_names).astype(str)[bunch.target]
    X, X_test, y, y_test = train_test_split(
        bunch.data, labels, test_size=0.5, random_state=0, stratify=labels
    )
    return Halves(X, y, X_test, y_test)


def a_table(title: str) -> Table:
    """Return an empty table that looks like the others and fits 80 columns."""
    return Table(title=title, box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


def contributions(title: str, explanation: Any) -> Table:
    """Show an explanation: what adds most to the log-odds, and what is there before."""
    facts = explanation.to_dict()
    lines = [(piece["value"], piece["contribution"]) for piece in facts["pieces"]]
    if len(lines) > SHOWN + 1:
        rest = lines[SHOWN:]
        lines[SHOWN:] = [(f"({len(rest)} others)", sum(amount for _, amount in rest))]
    lines.append(("(before any of them)", facts["base"]))
    longest = max(abs(amount) for _, amount in lines)
    table = a_table(title)
    table.add_column("what is known")
    table.add_column("adds", justify="right")
    table.add_column("")
    for name, amount in lines:
        bar = ("+" if amount > 0 else "-") * round(BAR * abs(amount) / longest)
        table.add_row(Text(name), f"{amount:+.2f}", bar)
    table.caption = (
        f"In sum {facts['log_odds']:+.2f}, the log-odds: "
        f"{facts['target']} has probability {facts['probability']:.2f}."
    )
    return table


def difference(one: Array, other: Array) -> str:
    """Write the largest difference between two arrays of probabilities."""
    apart = np.abs(one - other).max()
    return f"{apart:.0e}" if apart else "none"
