"""Explanations: log-odds as an exact sum of contributions, whatever the order of the parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad_vec
from scipy.special import expit, logsumexp

from suffice.display.plots import draw_bars
from suffice.display.tables import Bar, PrintedTable, Section, Tabular
from suffice.errors import InputError, ShapeError
from suffice.scoring.scorer import mix_with_uniform
from suffice.tally.tally import Floats, Index, readonly_copy

# Absolute error of the mean gradient (which lies between -1 and 1), and the most intervals of its
# integral: where scores are in the thousands it changes sharply, but at few places.
GRADIENT_ERROR = 1e-13
MAX_INTERVALS = 2000


def log_odds(
    scores: Floats, target: int, against: NDArray[np.intp], noise_rate: float = 0.0
) -> float:
    """Return log p(target) - log p(any of `against`) (docs: mathematics, section 10).

    Parameters
    ----------
    scores : (C,)
        Log-probabilities up to a constant.
    target : int
    against : (A,)
        Numbers of other classes.
    noise_rate : float
        Share of the uniform distribution that the probabilities are mixed with.

    Examples
    --------
    >>> log_odds(np.log([0.5, 0.25, 0.25]), 0, np.array([1, 2]))
    0.0
    """
    log_proba = _log_proba(scores, noise_rate)
    return float(log_proba[target] - logsumexp(log_proba[against]))


def attribute_log_odds(
    base: Floats, parts: Floats, target: int, against: NDArray[np.intp], noise_rate: float = 0.0
) -> Floats:
    """Return what each part adds to the log-odds, (J,), from `base` to the sum of all parts.

    Log-odds are no sums of the parts' scores where there are several other classes, or a noise
    rate. All parts are added together, along base + t * (sum of parts), t from 0 to 1, and each
    gets its share of the derivative at every t (Aumann and Shapley): part_j . integral of the
    gradient of the log-odds along the path. The contributions add up to the change of the
    log-odds, whatever the order of the parts. Of two classes and without noise they are plain
    differences of scores.

    Parameters
    ----------
    base : (C,)
        Scores before any part, such as the log prior.
    parts : (J, C)
        What each part adds to the scores.
    target, against, noise_rate : as for `log_odds`

    Examples
    --------
    >>> base, parts = np.log([0.5, 0.5]), np.array([[1.0, 0.0], [0.0, 3.0]])
    >>> attribute_log_odds(base, parts, 0, np.array([1])).tolist()
    [1.0, -3.0]
    """
    total = parts.sum(axis=0)
    if not (np.isfinite(base).all() and np.isfinite(total).all()):
        raise InputError(
            f"Scores {base.tolist()} and {total.tolist()} are not all finite, so their log-odds "
            "have no parts. Leave out classes of which nothing was learned."
        )
    if len(against) == 1 and noise_rate == 0:
        return np.asarray(parts[:, target] - parts[:, against[0]])
    mean_gradient = quad_vec(
        lambda t: _gradient(base + t * total, target, against, noise_rate),
        0.0,
        1.0,
        epsabs=GRADIENT_ERROR,
        epsrel=GRADIENT_ERROR,
        norm="max",
        limit=MAX_INTERVALS,
        points=_ties(base, total),
    )[0]
    return np.asarray(parts @ mean_gradient)


def _log_proba(scores: Floats, noise_rate: float) -> Floats:
    return mix_with_uniform(scores - logsumexp(scores), noise_rate, len(scores))


def _gradient(scores: Floats, target: int, against: NDArray[np.intp], noise_rate: float) -> Floats:
    """Return the derivatives of the log-odds by the scores, (C,)."""
    log_shares = scores - logsumexp(scores)
    shares, log_proba = np.exp(log_shares), _log_proba(scores, noise_rate)
    # What part of a class's probability is softmax's, not the uniform part's.
    known = (
        (1 - noise_rate) * np.exp(log_shares - log_proba) if noise_rate else np.ones(len(scores))
    )
    others = np.zeros(len(scores))
    others[against] = np.exp(log_proba[against] - logsumexp(log_proba[against]))
    gradient = -others * known
    gradient[target] += known[target]
    # Softmax takes from all classes what it gives to one; without noise this cancels.
    return np.asarray(gradient - shares * (known[target] - (others * known).sum()))


def _ties(base: Floats, total: Floats) -> Floats:
    """Return the t between 0 and 1 at which two classes are equally probable, sorted."""
    apart, faster = np.subtract.outer(base, base), np.subtract.outer(total, total)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = -apart / faster
    return np.unique(at[(at > 0) & (at < 1)])


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
        shares = readonly_copy(contributions)
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
        """Probability of the target, given that it is this class or one of those against it."""
        return float(expit(self.log_odds))

    @property
    def order(self) -> list[int]:
        """Numbers of the pieces, the largest contribution first."""
        order: list[int] = np.argsort(-np.abs(self.contributions), kind="stable").tolist()
        return order

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, the largest contribution first."""
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
        """Draw a bar for each piece, the largest contribution on top; return the axes."""
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
            (_clip_name(name), f"{amount:+.3f}", bar)
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

        yield Text(self.title, style="bold")
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
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


def _clip_name(name: str) -> str:
    return name if len(name) <= MAX_LETTERS else name[: MAX_LETTERS - 1] + "…"


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


Classes = NDArray[Any]


class RowScores(NamedTuple):
    """The scores of the classes of one row, as a sum over its parts."""

    names: Sequence[str]
    """(J,): the columns or words"""
    values: Sequence[str]
    """(J,): how they are shown"""
    parts: Floats
    """(J, C): what each adds to the score of each class"""
    base: Floats
    """(C,): the scores before any of them"""
    noise_rate: float = 0.0
    """Share of the uniform distribution that the probabilities are mixed with"""


def explain_scores(
    scores: RowScores, classes: Classes, target: Any = None, against: Any = None
) -> Explanation:
    """Return what each part adds to the log-odds of a class against another, or all others.

    Classes with a score of -inf, which the row cannot be of, are left out. The class with the
    largest score is explained if no other is named.

    Examples
    --------
    >>> scores = RowScores(["a"], ["a = 1"], np.array([[2.0, 0.5]]), np.log([0.5, 0.5]))
    >>> reasons = explain_scores(scores, np.array(["ham", "spam"]))
    >>> reasons.target, reasons.contributions.tolist(), reasons.base
    ('ham', [1.5], 0.0)
    """
    total = scores.base + scores.parts.sum(axis=0)
    at, others = find_classes(classes, total, target, against)
    possible = np.isfinite(total)
    others = others[possible[others]]
    if not possible[at] or not others.size:
        raise InputError(
            f"Class {classes.tolist()[at]!r}, or every class against it, has probability 0 "
            "for this row, so there are no odds. Explain a class that has rows, or smooth the "
            "model."
        )
    place = np.cumsum(possible) - 1
    base, parts = scores.base[possible], scores.parts[:, possible]
    sides = int(place[at]), place[others]
    shares = attribute_log_odds(base, parts, *sides, scores.noise_rate)
    odds = log_odds(total[possible], *sides, scores.noise_rate)
    other = None if against is None else classes.tolist()[int(others[0])]
    return Explanation.of(classes.tolist()[at], other, scores.names, scores.values, shares, odds)


def find_classes(classes: Classes, total: Floats, target: Any, against: Any) -> tuple[int, Index]:
    """Return the number of the class that is explained, and of those it is compared with."""
    if len(classes) == 1:
        raise InputError(
            f"There is one class only, {classes.tolist()[0]!r}, so there are no odds. Learn "
            "another class."
        )
    at = int(np.argmax(total)) if target is None else _number(classes, target)
    if against is None:
        return at, np.delete(np.arange(len(classes)), at)
    other = _number(classes, against)
    if other == at:
        raise InputError(f"Class {against!r} is compared with itself. Name another class.")
    return at, np.array([other])


def _number(classes: Classes, label: Any) -> int:
    found = np.flatnonzero(classes == label)
    if not found.size:
        raise InputError(f"There is no class {label!r}; the classes are {classes.tolist()}.")
    return int(found[0])
