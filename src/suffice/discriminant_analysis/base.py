"""What the Gaussian discriminants share: the tally of whole rows, and what stands beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from suffice.count.counters import Counter, CountFourthMoments, CountRowMoments
from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.estimators.features import Columns
from suffice.families.class_covariances import EstimatedCovariances
from suffice.generative.classifier import TallyClassifier
from suffice.generative.counts import ClassCounts
from suffice.generative.fitted import Batch, Fitted
from suffice.generative.held_out import Candidate
from suffice.generative.persistence import FIELDS
from suffice.persist.checks import check_shapes, refuse
from suffice.tally.tally import Floats
from suffice.validation.cross_validation import LeaveOneOutResult

if TYPE_CHECKING:
    from suffice.engines.plan import CountingPlan
    from suffice.engines.plan_tally import PlanTally
    from suffice.sources.source import SqlTable


@dataclass(frozen=True, eq=False)
class BesideTally:
    """What a discriminant knows of its rows that no tally has.

    Parameters
    ----------
    float_type : float32 if all rows were of it, float64 otherwise
    estimated : covariances of a `covariance_estimator`, which needs all rows at once
    """

    float_type: type[np.floating[Any]] = np.float64
    estimated: EstimatedCovariances | None = None


class GaussianClassifier(TallyClassifier):
    """A classifier of Gaussian classes, on moments of whole rows by pattern of missing values."""

    _waits: ClassVar[bool] = True
    _saved: ClassVar[tuple[str, ...]] = (*FIELDS, "_float_type", "_row_covariances", "_row_total")

    shrinkage: Any
    priors: Any
    covariance_estimator: Any = None

    def _check_settings(self) -> None:
        """Refuse parameters that do not go together, whatever the rows."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.shrinkage != "auto"
        tags.input_tags.sparse = True
        return tags

    def _counter(self) -> Counter:
        self._check_settings()
        return CountFourthMoments() if self.shrinkage == "auto" else CountRowMoments()

    def _extra_statistics(self, before: Fitted | None, batch: Batch) -> BesideTally:
        own = np.float32 if batch.rows.X.dtype == np.float32 else np.float64
        if before is None:
            return BesideTally(own, self._estimate_covariances(batch.rows))
        known: BesideTally = before.extra_statistics
        return BesideTally(np.result_type(own, known.float_type).type, known.estimated)

    def _extra_statistics_in_sql(self) -> BesideTally:
        return BesideTally()

    def _counts_in_sql(
        self, counts: ClassCounts, plan: CountingPlan, asked: SqlTable
    ) -> PlanTally | None:
        if self.covariance_estimator is not None:  # which is fitted to rows
            return None
        return super()._counts_in_sql(counts, plan, asked)

    @staticmethod
    def _estimated(fitted: Fitted) -> EstimatedCovariances | None:
        """Return the covariances of a `covariance_estimator`, if there are any."""
        return None if fitted.extra_statistics is None else fitted.extra_statistics.estimated

    def _estimate_covariances(self, rows: Rows) -> EstimatedCovariances | None:
        """Fit the `covariance_estimator`, if any, to each class's rows and to all of them."""
        if self.covariance_estimator is None:
            return None
        if rows.weights.size:
            raise InputError(
                "A covariance_estimator learns from rows, not from their weights. Leave "
                "sample_weight out, or use shrinkage."
            )
        X = np.asarray(rows.as_dense().X)
        present = np.unique(rows.codes)
        found = [self._covariance_of(X[rows.codes == c]) for c in present]
        covariances = np.tile(np.mean(found, axis=0), (rows.classes, 1, 1))
        covariances[present] = found
        return EstimatedCovariances(covariances, self._covariance_of(X))

    def _covariance_of(self, X: NDArray[Any]) -> Floats:
        estimator = clone(self.covariance_estimator, safe=False)
        estimator.fit(X)
        if not hasattr(estimator, "covariance_"):
            raise ValueError(f"{type(estimator).__name__} does not have a covariance_ attribute")
        return np.atleast_2d(np.asarray(estimator.covariance_, dtype=np.float64))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows: the same as `fit` on all rows so far, in any order.

        Rows that do not suffice for a model yet are kept, with a warning; answers then wait for
        more. Not with a `covariance_estimator`, which needs all rows at once.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array-like, optional
            At the first call: all the classes there will ever be; another label is then an
            error. Without it a new label becomes a new class (see `new_classes_`).
        """
        self._refuse_estimator("learn further rows", self)
        return super().partial_fit(X, y, classes, sample_weight)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows that were learned: the same as `fit` on the others.

        A class of which no row is left is no class any more, unless `classes` closed the set.

        Give rows with the weights they were learned with. More than was learned is refused, but a
        plausible row that was never learned cannot be noticed.
        """
        self._refuse_estimator("forget rows", self)
        return super().forget(X, y, sample_weight)

    def merge(self, other: Self) -> Self:
        """Learn all that another model of the same kind has learned.

        The other model may know other classes. It is left as it was.
        """
        self._refuse_estimator("merge", self)
        self._refuse_estimator("merge", other)
        return super().merge(other)

    def leave_one_out(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> LeaveOneOutResult:
        """Return what the others say of each row that this model learned.

        Parameters
        ----------
        X, y, sample_weight : the rows that were learned, all of them
        groups : the groups that `fit` was given, if any

        Temperature, offsets and noise rate of a calibrated model are held: those of all rows.
        """
        self._refuse_estimator("leave rows out", self)
        return super().leave_one_out(X, y, sample_weight, groups)

    def _candidate(self, columns: Columns) -> Candidate:
        if self.covariance_estimator is not None:
            raise InputError(
                "Cannot cross-validate on tallies: a covariance_estimator needs rows. Leave it "
                "out, or use scikit-learn's cross_validate."
            )
        return super()._candidate(columns)

    def _refuse_estimator(self, act: str, model: Any) -> None:
        fitted = model._before()
        asked = getattr(model, "covariance_estimator", None) is not None
        if fitted is not None and (asked or fitted.extra_statistics.estimated is not None):
            raise InputError(
                f"Cannot {act}: the covariances are those of a covariance_estimator, which needs "
                "all rows at once. Fit on all rows, or leave covariance_estimator out; nothing "
                "was changed."
            )

    # Saving.

    def _state(self, fitted: Fitted) -> dict[str, Any]:
        state, beside = super()._state(fitted), fitted.extra_statistics
        state["_float_type"] = beside.float_type
        if beside.estimated is not None:
            state["_row_covariances"] = beside.estimated.classes
            state["_row_total"] = beside.estimated.total
        return state

    def _check_saved(self, state: dict[str, Any]) -> None:
        super()._check_saved(state)
        if state.get("_float_type", np.float64) not in (np.float32, np.float64):
            refuse(f"Its rows were of {state['_float_type']!r:.80}.")
        classes, d = len(state["tally_"].classes), state["n_features_in_"]
        check_shapes(state, _row_covariances=(classes, d, d), _row_total=(d, d))
        if ("_row_covariances" in state) != ("_row_total" in state):
            refuse("It has covariances of classes without those of all rows, or the reverse.")

    def _restore_extra_statistics(self, state: dict[str, Any]) -> BesideTally:
        estimated = None
        if "_row_covariances" in state:
            estimated = EstimatedCovariances(state["_row_covariances"], state["_row_total"])
        return BesideTally(state.get("_float_type", np.float64), estimated)

    # Attributes that all discriminants have.

    @property
    def priors_(self) -> Floats:
        """Probability of each class, (n_classes,)."""
        prob: Floats = self._learned("priors_").prior.prob
        return prob

    @property
    def n_iter_(self) -> int:
        """Iterations of EM (1 without missing values) and of factor analysis."""
        return self._iterations("n_iter_")[0]

    @property
    def converged_(self) -> bool:
        """Whether the iterations sufficed."""
        return self._iterations("converged_")[1]

    def _iterations(self, name: str) -> tuple[int, bool]:
        found = self._learned(name).features.found
        return found.n_iter, found.converged
