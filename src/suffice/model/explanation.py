"""Reasons: what each piece of a row says for a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from suffice.errors import InputError, ShapeError
from suffice.figures.bars import draw_bars
from suffice.figures.tables import Bar, PrintedTable, Section, Tabular
from suffice.tally.tally import Floats, frozen

# Pieces that are printed and drawn, unless more are asked for; the others are summed up.
SHOWN = 20
# Letters of a piece that are printed: a level may be as long as a document.
MAX_LETTERS = 60


@dataclass(frozen=True, eq=False)
class Explanation(Tabular):
    """The log-odds of a class, as a sum over pieces (docs: mathematics, section 10).

    Parameters
    ----------
    target : the class that is explained
    against : another class, or None for all others together
    names : of the pieces
        Columns, or words.
    values : of the pieces, as shown
        "age = 39", or "free x2".
    contributions : (J,)
        What each piece adds to the log-odds.
    log_odds : float
        log p(target | row) - log p(against | row).

    Examples
    --------
    >>> reasons = Explanation.of("spam", None, ["free", "hi"], ["free x2", "hi x1"], [2.0, -0.5], 1)
    >>> reasons.base, round(reasons.probability, 2)
    (-0.5, 0.73)
    >>> print(reasons)
    spam against the rest: log-odds +1.000, probability 0.7311
    free x2   +2.000  ++++++++++++++++++++
    hi x1     -0.500  -----
    (before)  -0.500  -----
    """

    target: Any
    against: Any
    names: tuple[str, ...]
    values: tuple[str, ...]
    contributions: Floats
    log_odds: float

    @classmethod
    def of(
        cls,
        target: Any,
        against: Any,
        names: Sequence[str],
        values: Sequence[str],
        contributions: ArrayLike,
        log_odds: float,
    ) -> Self:
        """Return the explanation; what the pieces do not add up to is its base."""
        shares = frozen(contributions)
        if not shares.shape == (len(names),) == (len(values),):
            raise ShapeError(
                f"{len(names)} names, {len(values)} values and contributions of shape "
                f"{shares.shape}. Give one of each for every piece."
            )
        if not (np.isfinite(shares).all() and np.isfinite(log_odds)):
            raise InputError("Contributions or log-odds are not finite. Nothing adds up to them.")
        return cls(target, against, tuple(names), tuple(values), shares, float(log_odds))

    @property
    def base(self) -> float:
        """Log-odds before any piece: the class prior and the offsets."""
        return float(self.log_odds - self.contributions.sum())

    @property
    def probability(self) -> float:
        """Probability of the target, if it is this class or those it is held against."""
        return float(expit(self.log_odds))

    @property
    def order(self) -> list[int]:
        """Numbers of the pieces, the weightiest first."""
        order: list[int] = np.argsort(-np.abs(self.contributions), kind="stable").tolist()
        return order

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, the weightiest piece first."""
        pieces = [
            {
                "name": self.names[at],
                "value": self.values[at],
                "contribution": float(self.contributions[at]),
            }
            for at in self.order
        ]
        return {
            "target": _plain(self.target),
            "against": _plain(self.against),
            "log_odds": self.log_odds,
            "probability": self.probability,
            "base": self.base,
            "pieces": pieces,
        }

    def plot(self, ax: Any = None, shown: int = SHOWN) -> Any:
        """Draw a bar for each piece, the weightiest on top; return the axes."""
        names, amounts = self.lines(shown)
        return draw_bars(names, np.array(amounts), self.title, "adds to the log-odds", ax)

    @property
    def title(self) -> str:
        """One line that says what is explained."""
        other = "the rest" if self.against is None else str(self.against)
        return (
            f"{self.target} against {other}: log-odds {self.log_odds:+.3f}, "
            f"probability {self.probability:.4f}"
        )

    def lines(self, shown: int = SHOWN) -> tuple[list[str], list[float]]:
        """Return what is shown and its amounts: pieces, what was left out, and the base."""
        names = [self.values[at] for at in self.order[:shown]]
        amounts = [float(self.contributions[at]) for at in self.order[:shown]]
        rest = self.order[shown:]
        if rest:
            names.append(f"({len(rest)} others)")
            amounts.append(float(self.contributions[rest].sum()))
        return [*names, "(before)"], [*amounts, self.base]

    def _printed(self) -> PrintedTable:
        names, amounts = self.lines()
        rows = [
            (_clipped(name), f"{amount:+.3f}", bar)
            for name, amount, bar in zip(names, amounts, _bars(amounts), strict=True)
        ]
        return PrintedTable(("", "", ""), [Section(rows)], above=(self.title,), left=(0, 2))

    def _columns(self) -> dict[str, list[Any]]:
        pieces = self.order
        return {
            "name": [self.names[at] for at in pieces] + ["(before)"],
            "value": [self.values[at] for at in pieces] + ["(before)"],
            "contribution": [float(self.contributions[at]) for at in pieces] + [self.base],
        }

    def __rich_console__(self, console: Any, options: Any) -> Any:
        """Print as a table with coloured bars."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(title=self.title, box=SIMPLE_HEAD, title_justify="left")
        table.add_column("piece")
        table.add_column("log-odds", justify="right")
        table.add_column("")
        names, amounts = self.lines()
        for name, amount, bar in zip(names, amounts, _bars(amounts), strict=True):
            colour = "blue" if amount >= 0 else "dark_orange"
            table.add_row(Text(name), f"{amount:+.3f}", Text(bar.text(), style=colour))
        yield table


def _bars(amounts: list[float]) -> list[Bar]:
    """Return a bar for each amount."""
    longest = max(map(abs, amounts), default=0.0)
    return [Bar(amount / longest if longest else 0.0) for amount in amounts]


def _clipped(name: str) -> str:
    return name if len(name) <= MAX_LETTERS else name[: MAX_LETTERS - 1] + "…"


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
