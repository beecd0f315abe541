"""What a generative classifier has learned: one frozen value, replaced as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.combine.combination import Calibration
from suffice.count.counters import Counter
from suffice.count.ranges import refusal_of
from suffice.data.hashes import Hashes
from suffice.data.rows import Rows
from suffice.estimators.features import Columns
from suffice.families.class_conditional import ClassConditional, LearnedRows
from suffice.families.class_prior import ClassPrior
from suffice.scoring import scorer as scoring
from suffice.scoring.scorer import Scorer
from suffice.tally import Groups
from suffice.tally.debt import gross_scale
from suffice.tally.tally import Floats, Index
from suffice.validation.row_sample import RowSample

Labels = NDArray[Any]
# An odd number, so that no two labels give the same hash.
ODD = np.uint64(0x9E3779B97F4A7C15)


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

    def __getstate__(self) -> dict[str, Any]:
        # What is computed when it is first asked for is no part of what was learned.
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def decision_prior(self) -> ClassPrior:
        """What a class's score starts from when rows are classified."""
        return self.prior if self.decision is None else self.decision

    @property
    def log_prior(self) -> Floats:
        """What a class's score starts from when rows are classified, (C,)."""
        return self.decision_prior.log_prob

    @cached_property
    def scorer(self) -> Scorer:
        """What adds log p(x | class), up to a term that all classes share."""
        return self.features.scorer()


class HeldOutSample(NamedTuple):
    """What a model said of kept rows when they were held out: no cells, nothing of other rows."""

    classes: Labels
    """(C,)"""
    log_proba: Floats
    """(n, C): log p(class | row), calibrated"""
    codes: Index
    """(n,): the class of each row"""
    weights: Floats
    """(n,)"""
    hashes: Hashes
    """(n,): of what each row holds; none after loading, since no file has them"""
    uncalibrated: Floats | None = None
    """(n, C): log p(class | row) of naive Bayes, nothing adjusted; older files have none"""

    def of_kept(self, sample: RowSample) -> HeldOutSample:
        """Return the answers for rows that are still kept, their classes being those of before."""
        own = sample.with_codes_of(self.classes)
        kept = np.isin(
            _hash_labelled(self.hashes, self.codes), _hash_labelled(sample.hashes, own.codes)
        )
        if kept.all():
            return self
        return self._replace(
            log_proba=self.log_proba[kept],
            codes=self.codes[kept],
            weights=self.weights[kept],
            hashes=self.hashes[kept],
            uncalibrated=None if self.uncalibrated is None else self.uncalibrated[kept],
        )


def _hash_labelled(hashes: Hashes, codes: Any) -> Hashes:
    """Return a hash of rows and their labels."""
    return np.asarray(hashes ^ (codes.astype(np.uint64) * ODD))


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
    sample : rows that are kept, to refresh the calibration on
    held_out : predictions of kept rows when they were held out
    stale_warned : bool
        Whether the warning that the calibration is stale was given.
    extra_statistics : of the rows, that no tally has; what they are is the subclass's
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
    extra_statistics: Any = None

    def __getstate__(self) -> dict[str, Any]:
        # What is computed when it is first asked for is no part of what was learned.
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def classes(self) -> Labels:
        """The classes, (C,), sorted."""
        return self.tally.classes

    @property
    def ready_model(self) -> Generative:
        """The model, where it is known that there is one."""
        assert self.model is not None
        return self.model

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
        """Return the same with some fields changed; itself if none is."""
        now = vars(self)
        if all(now[name] is value for name, value in changes.items()):
            return self
        # What is computed when it is first asked for stays behind.
        found = object.__new__(type(self))
        vars(found).update({name: now[name] for name in self.__dataclass_fields__}, **changes)
        return found


# What a kind of classifier has learned.
F = TypeVar("F", bound=Fitted)


def score_rows(answer: Any, scorer: Any, X: Any, prior: Floats, fitted: Fitted, name: str) -> Any:
    """Return an answer of `scoring.scorer` for rows; a cell that cannot be scored is named."""
    try:
        return answer(scorer, X, prior)
    except scoring.Refused as refusal:
        rows = Rows(X, np.empty(0, np.int32), 0, names=fitted.columns.names, estimator_name=name)
        raise refusal_of(rows, refusal.row) from None
