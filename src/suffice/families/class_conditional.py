"""p(x | class) of every class: what a family of distributions makes of a tally and a prior."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.rows import Rows
from suffice.errors import SufficeWarning
from suffice.scoring.scorer import Scorer, joint_log_proba
from suffice.tally import Groups
from suffice.tally.tally import ROUNDING, Floats, Index

Marks = NDArray[np.bool_]
# Rows to the weight of each class, (C,), and their tally with first axis C.
Count = Callable[[Rows], tuple[Floats, Any]]


class ColumnScores(NamedTuple):
    """What columns of a row add to the scores of the classes."""

    columns: Index
    """(J,)"""
    parts: Floats
    """(J, C)"""
    bias: Floats | float = 0.0
    """(C,): what is added whatever the columns hold"""


class Basis(NamedTuple):
    """Statistics phi(x) that a model is linear in, other than the columns themselves."""

    name: str
    """"quadratic", "binarize" or "levels" """
    settings: Mapping[str, Any]


class LinearForm(NamedTuple):
    """log p(x | class) = weights . phi(x) + bias_c, up to a term that all classes share."""

    weights: Floats
    """(C, k)"""
    bias: Floats
    """(C,)"""
    basis: Basis | None = None
    """None if phi(x) = x"""


@dataclass(frozen=True, eq=False)
class LearnedRows:
    """All rows that a tally has learned, so that each can be taken out of it.

    Parameters
    ----------
    rows : Rows, coded by the classes of the tally
    tally : Groups
    count : how rows are counted
    gross : Groups, optional
        How large the sums have been (`tally.debt`).
    closed : bool
        Whether a class without rows stays a class.
    """

    rows: Rows
    tally: Groups[Any]
    count: Count
    gross: Groups[Any] | None = None
    closed: bool = False

    @cached_property
    def is_last(self) -> Marks:
        """Whether each row is all the weight of its class, (n,)."""
        whole = self.tally.weights[self.rows.codes]
        return np.asarray(whole - self.rows.row_weights <= ROUNDING * whole)

    def without(self, number: int) -> Groups[Any]:
        """Return the tally without one row; a class without rows is gone, unless closed."""
        one = self.rows.take(np.array([number]))
        taken = Groups(self.tally.classes, *self.count(one))
        rest = self.tally.subtract(taken, self.gross)
        return rest if self.closed else rest.drop_empty()


class LeftOut(NamedTuple):
    """log p(x | class) of rows, each under classes that have not learned it."""

    scores: Floats
    """(n, C)"""
    needs_refit: Marks
    """(n,): rows of which too few digits are left, or for which there is no closed form"""


class ClassConditional(ABC):
    """The distribution of a row in every class.

    It is immutable, and all that scoring, leaving rows out, sampling and explaining need.
    """

    def __getstate__(self) -> dict[str, Any]:
        # What is computed when it is first asked for is no part of what was learned.
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def prepare(self, X: Any) -> Any:
        """Return rows, as a counter counts them, as the scorers take them."""
        return X

    @abstractmethod
    def scorer(self) -> Scorer:
        """Return what adds log p(x | class), up to a term that all classes share."""

    def density(self) -> Scorer:
        """Return what adds log p(x | class)."""
        return self.scorer()

    @abstractmethod
    def split(self, cells: Floats) -> ColumnScores:
        """Return what the columns of one row (d,) add to log p(x | class), up to a term of x."""

    @abstractmethod
    def linear_form(self) -> LinearForm:
        """Return the statistics that log p(x | class) is linear in, or say why there are none."""

    @abstractmethod
    def sample(self, codes: Index, rng: np.random.Generator) -> Any:
        """Draw a row of each of these classes."""

    @property
    @abstractmethod
    def log_evidence(self) -> float:
        """Log marginal likelihood of the rows, given their classes."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """How many free parameters all classes have."""

    @abstractmethod
    def with_tally(self, groups: Groups[Any], kept: Index) -> Self:
        """Return the distributions of another tally, of classes `kept`, under the same prior."""

    @abstractmethod
    def leave_one_out(self, learned: LearnedRows, log_prior: Floats) -> LeftOut:
        """Return log p(x | class) of each row, (n, C), without the row; the prior is held.

        Parameters
        ----------
        learned : all rows of the tally
        log_prior : (n, C)
            Log p(class) without each row: -inf for a class that is gone.
        """

    def no_closed_form(self) -> str:
        """Return why rows cannot be left out in closed form, or nothing."""
        return ""

    def why_refit(self) -> str:
        """Return why rows are left out by refits."""
        return self.no_closed_form() or "rows that a covariance hangs on"

    def refit_scores(self, learned: LearnedRows, number: int) -> Floats:
        """Return log p(x | class), (C,), of one row under the tally without it; -inf if gone."""
        rest = learned.without(number)
        kept = np.searchsorted(learned.tally.classes, rest.classes)
        scores = np.full(len(learned.tally.classes), -np.inf)
        if kept.size:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SufficeWarning)
                without = self.with_tally(rest, kept)
            X = learned.rows.take(np.array([number])).X
            scores[kept] = joint_log_proba(without.scorer(), X, np.zeros(len(kept)))[0]
        return scores
