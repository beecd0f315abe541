"""What a generative classifier has learned: one frozen value, replaced as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.combine.combination import Calibration
from suffice.count.counters import Counter
from suffice.count.ranges import refusal_of
from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.estimators.features import Columns
from suffice.estimators.saved_rows import HeldOutSample
from suffice.families.class_conditional import ClassConditional, LearnedRows
from suffice.families.class_prior import ClassPrior
from suffice.scoring import scorer as scoring
from suffice.tally import Groups
from suffice.tally.debt import gross_scale
from suffice.tally.tally import Floats
from suffice.validation.row_sample import RowSample

Labels = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Batch:
    """Labelled rows as they were given: checked, and ready to count.

    Parameters
    ----------
    rows : Rows, coded by `classes`
    classes : (C,)
    columns : number and names of the columns
    counter : what is counted of the rows; it knows all of their levels
    """

    rows: Rows
    classes: Labels
    columns: Columns
    counter: Counter


@dataclass(frozen=True, eq=False)
class Generative:
    """p(class) and p(x | class).

    Parameters
    ----------
    prior : p(class)
    features : p(x | class)
    decision : ClassPrior, optional
        What decisions start from, if not p(class): a rule may have no prior.
    """

    prior: ClassPrior
    features: ClassConditional
    decision: ClassPrior | None = None

    @property
    def decision_prior(self) -> ClassPrior:
        """What a class's score starts from when rows are classified."""
        return self.prior if self.decision is None else self.decision

    @property
    def log_prior(self) -> Floats:
        """What a class's score starts from when rows are classified, (C,)."""
        return self.decision_prior.log_prob


@dataclass(frozen=True, eq=False)
class Fitted:
    """All that a classifier has learned.

    Parameters
    ----------
    columns : number and names of the columns
    counter : what is counted of rows
    tally : Groups
    closed : bool
        Whether `classes` named all classes that there will ever be.
    new_classes : classes that the last rows brought
    gross : Groups, optional
        How large the sums have been, where they do not show it (`tally.debt`).
    model : Generative, or None while the rows do not suffice for one
    not_yet : why there is no model
    calibration : Calibration, optional
    calibration_stale : bool
        Whether rows were learned or forgotten since.
    sample : rows that are kept, to calibrate anew
    held_out : what was said of kept rows when they were held out
    stale_warned : bool
        Whether it was said that the calibration is stale.
    beside : what else is known of the rows that no tally has
    """

    columns: Columns
    counter: Counter
    tally: Groups[Any]
    closed: bool = False
    new_classes: Labels = field(default_factory=lambda: np.empty(0))
    gross: Groups[Any] | None = None
    model: Generative | None = None
    not_yet: str | None = None
    calibration: Calibration | None = None
    calibration_stale: bool = False
    sample: RowSample | None = None
    held_out: HeldOutSample | None = None
    stale_warned: bool = False
    beside: Any = None

    @property
    def classes(self) -> Labels:
        """The classes, (C,), sorted."""
        return self.tally.classes

    @property
    def is_calibrated(self) -> bool:
        """Whether probabilities are those of the class-conditional model, adjusted on rows."""
        return self.calibration is not None

    def keep_used(self, tally: Groups[Any]) -> Self:
        """Return the value without what it knows of levels that no row of a tally has."""
        return self.replace(counter=self.counter.shrink(tally))

    def gross_with(self, *others: Groups[Any]) -> Groups[Any]:
        """Return how large the sums have been, those of other tallies among them."""
        found: Groups[Any] = gross_scale(self.gross, self.tally, *others)
        return found

    def learned(self, rows: Rows) -> LearnedRows:
        """Return all learned rows, coded by our classes, to be taken out of the tally."""
        gross = self.gross_with()
        return LearnedRows(rows, self.tally, self.counter.count, gross, self.closed)

    def replace(self, **changes: Any) -> Self:
        """Return the same with some fields changed."""
        return replace(self, **changes)


# What a kind of classifier has learned.
F = TypeVar("F", bound=Fitted)


def score_rows(answer: Any, scorer: Any, X: Any, prior: Floats, fitted: Fitted, name: str) -> Any:
    """Return an answer of `scoring.scorer` for rows; a cell that cannot be scored is named."""
    try:
        return answer(scorer, X, prior)
    except scoring.Refused as refusal:
        rows = Rows(X, np.empty(0, np.int32), 0, names=fitted.columns.names, estimator_name=name)
        raise refusal_of(rows, refusal.row) from None


def row_hashes(hashes: Hashes, rows: Rows) -> Hashes:
    """Return hashes of rows (n,) that are the same for rows of one group, if there are any."""
    return np.asarray(hashes ^ rows.groups) if rows.groups.size else hashes
