"""By how much the log-loss grows without each of some features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.display.plots import draw_bars
from suffice.display.tables import PrintedTable, Section, Tabular
from suffice.tally.tally import Floats, Index, as_readonly, readonly_copy
from suffice.validation.information import Dependence


@dataclass(frozen=True, eq=False)
class LossIncrease:
    """Mean increases of the log-loss of rows when a feature is missing, and their standard errors.

    Parameters
    ----------
    features : (k,)
        The numbers of the features that were measured.
    mean, error : (k,)
        In nats a row.
    weight : float
        Of the rows; a row of weight 2 is two rows.
    log_loss : float
        Mean log-loss of the rows with all features.

    Examples
    --------
    >>> before, without = np.array([0.1, 0.3]), np.array([0.2, 0.8])
    >>> found = LossIncrease.of(before, [without], np.ones(2))
    >>> found.mean.round(3), found.error.round(3), found.log_loss
    (array([0.3]), array([0.141]), 0.2)
    """

    features: Index
    mean: Floats
    error: Floats
    weight: float
    log_loss: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", np.asarray(self.features, np.int64))
        object.__setattr__(self, "mean", readonly_copy(self.mean))
        object.__setattr__(self, "error", readonly_copy(self.error))

    @classmethod
    def of(cls, before: Floats, without: Iterable[Floats], weights: Floats) -> Self:
        """Return the increases of all features, given losses of rows (n,), and without each."""
        sums = []
        for losses in without:
            more = losses - before
            sums.append((weights @ more, weights @ np.square(more)))
        total, squares = np.array(sums).reshape(-1, 2).T
        return cls._from_sums(np.arange(len(total)), total, squares, before, weights)

    @classmethod
    def of_some_rows(
        cls, before: Floats, weights: Floats, rows: Index, features: Index, without: Floats
    ) -> Self:
        """Return the increases of features that only some rows have.

        Parameters
        ----------
        before, weights : (n,)
        rows, features : (p,)
            Row `rows[i]` has the feature of number `features[i]`.
        without : (p,)
            The loss of that row without it.
        """
        more, heavy = without - before[rows], weights[rows]
        known, at = np.unique(features, return_inverse=True)
        total = np.bincount(at, heavy * more, len(known)).astype(np.float64)
        squares = np.bincount(at, heavy * np.square(more), len(known)).astype(np.float64)
        return cls._from_sums(known, total, squares, before, weights)

    @classmethod
    def _from_sums(
        cls, features: Index, total: Floats, squares: Floats, before: Floats, weights: Floats
    ) -> Self:
        weight = float(weights.sum())
        mean = total / weight
        # The mean of squares is no less than the squared mean; rounding may leave it so.
        variance = np.maximum(squares / weight - np.square(mean), 0.0)
        error = np.sqrt(variance) / np.sqrt(weight)
        return cls(features, mean, error, weight, float(weights @ before) / weight)

    def among(self, size: int) -> tuple[Floats, Floats]:
        """Return means and errors of all features, (size,), NaN for those not measured."""
        mean, error = np.full(size, np.nan), np.full(size, np.nan)
        mean[self.features], error[self.features] = self.mean, self.error
        return mean, error

    def keep(self, kept: NDArray[np.bool_]) -> Self:
        """Return the increases of the features that are kept, by the numbers they have then."""
        mine = kept[self.features]
        places = np.cumsum(kept) - 1
        some = places[self.features[mine]], self.mean[mine], self.error[mine]
        return type(self)(*some, self.weight, self.log_loss)


# Features that are printed, and drawn by default.
SHOWN = 20
# Letters of a name that are printed.
MAX_LETTERS = 40
NOT_MEASURED = "not measured"


@dataclass(frozen=True, eq=False)
class Importance(Tabular):
    """Columns or words by how much they matter to the answers; prints as a table of the first.

    Features are sorted by the increase of the log-loss without them, then by mutual information;
    those that were not measured (NaN) come last.

    Parameters
    ----------
    kind : {"column", "word"}
    names : (d,)
    log_loss_increase : (d,)
        By how much the mean log-loss of rows grows, in nats, when the column is missing or the
        word is not in the document. Two features that say the same hardly miss each other.
    standard_error : (d,)
        Of that mean over rows.
    mutual_information : (d,)
        Information about the label, in nats, in the feature alone.
    log_bayes_factor : (d,)
        Log evidence that the feature depends on the class, less that it does not.
    log_loss : float
        Mean log-loss of the rows with all features; NaN if nothing was measured.
    weight : float
        Of the rows that were measured.
    note : str
        What was measured on which rows.

    Examples
    --------
    >>> table = Importance(
    ...     "column", ("noise", "age"), np.array([0.001, 0.25]), np.array([0.002, 0.03]),
    ...     np.array([0.0, 0.3]), np.array([-1.5, 12.0]), 0.4, 500.0, "Log-loss 0.4",
    ... )
    >>> print(table)
    Log-loss 0.4
    column  log-loss without it  mutual information  log Bayes factor
    age       +0.2500 +- 0.0300              0.3000             12.00
    noise     +0.0010 +- 0.0020              0.0000             -1.50
    >>> table["age"]["log_loss_increase"]
    0.25
    """

    kind: str
    names: Sequence[str]
    log_loss_increase: Floats
    standard_error: Floats
    mutual_information: Floats
    log_bayes_factor: Floats
    log_loss: float
    weight: float
    note: str

    @classmethod
    def of(
        cls,
        kind: str,
        names: Sequence[str],
        found: Dependence,
        measured: LossIncrease | None,
        note: str,
    ) -> Self:
        """Return the importance of features, of which some, all or none were measured."""
        nothing = LossIncrease(np.empty(0, np.intp), np.empty(0), np.empty(0), 0.0, np.nan)
        losses = measured or nothing
        mean, error = losses.among(len(names))
        return cls(
            kind,
            names,
            as_readonly(mean),
            as_readonly(error),
            as_readonly(found.mutual_information),
            as_readonly(found.log_bayes_factor),
            losses.log_loss,
            losses.weight,
            note,
        )

    @property
    def order(self) -> NDArray[np.intp]:
        """The features' numbers (d,), those that matter most first."""
        # NaN, which is last in any order, is not measured.
        return np.lexsort((-self.mutual_information, -self.log_loss_increase))

    @property
    def measured(self) -> NDArray[np.bool_]:
        """Of which features the increase of the log-loss was measured, (d,)."""
        return ~np.isnan(self.log_loss_increase)

    def __getitem__(self, name: str) -> dict[str, float]:
        """Return the numbers of one feature."""
        found = [at for at, known in enumerate(self.names) if known == name]
        if not found:
            raise KeyError(f"No {self.kind} {name!r} was learned.")
        return {key: float(getattr(self, key)[found[0]]) for key in NUMBERS}

    def plot(self, ax: Any = None, shown: int = SHOWN) -> Any:
        """Draw a bar for each feature, with two standard errors to either side; return the axes.

        Mutual information is drawn where nothing was measured.
        """
        if not self.measured.any():
            best = self.order[:shown]
            amounts, label = self.mutual_information[best], "mutual information with the label"
            return draw_bars([self.names[at] for at in best], amounts, self.note, label, ax, ".4f")
        best = self.order[: min(shown, int(self.measured.sum()))]
        names, errors = [self.names[at] for at in best], 2 * self.standard_error[best]
        amounts = self.log_loss_increase[best]
        label = f"log-loss without the {self.kind}, less that with it (two standard errors)"
        return draw_bars(names, amounts, self.note, label, ax, "+.4f", errors)

    def _printed(self) -> PrintedTable:
        shown = self.order[:SHOWN].tolist()
        rows = [
            (
                _clip_name(str(self.names[at])),
                self._shown_increase(at),
                f"{self.mutual_information[at]:.4f}",
                f"{self.log_bayes_factor[at]:.2f}",
            )
            for at in shown
        ]
        headings = (self.kind, "log-loss without it", "mutual information", "log Bayes factor")
        more = len(self.names) - len(shown)
        below = [f"and {more:,} more"] if more else []
        if more and not self.measured.all() and self.measured.any():
            below[0] += f"; {int((~self.measured).sum()):,} were {NOT_MEASURED}"
        return PrintedTable(headings, [Section(rows)], above=(self.note,), below=below)

    def _shown_increase(self, at: int) -> str:
        if not self.measured[at]:
            return NOT_MEASURED
        return f"{self.log_loss_increase[at]:+.4f} +- {self.standard_error[at]:.4f}"

    def _columns(self) -> dict[str, Any]:
        numbers = {key: getattr(self, key)[self.order] for key in NUMBERS}
        return {self.kind: [self.names[at] for at in self.order], **numbers}


NUMBERS = ("log_loss_increase", "standard_error", "mutual_information", "log_bayes_factor")


def _clip_name(name: str) -> str:
    return name if len(name) <= MAX_LETTERS else name[: MAX_LETTERS - 1] + "…"
