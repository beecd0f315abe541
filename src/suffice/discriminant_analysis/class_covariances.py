"""Class covariances as scikit-learn's discriminants offer them: plain, shrunk, or estimated."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from suffice.data.rows import Rows
from suffice.discriminant_analysis.learner import GaussianLearner
from suffice.empirical_bayes.covariance import covariance_prior
from suffice.errors import InputError
from suffice.families.leave_one_out_gaussian import Mask
from suffice.gaussian.covariance import ledoit_wolf, mle, toward_mean_variance
from suffice.persist.agreement import check_shapes
from suffice.tally import Groups, Tally
from suffice.tally.tally import Floats


class ClassCovariances(GaussianLearner):
    """Reads `shrinkage` and `covariance_estimator`; the latter needs rows, so `fit` uses it."""

    shrinkage: Any
    priors: Any
    covariance_estimator: Any
    # Whether the model has one covariance for all classes.
    _tied: bool
    _saved: ClassVar[tuple[str, ...]] = (*GaussianLearner._saved, "_row_covariances", "_row_total")
    _free_settings: ClassVar[tuple[str, ...]] = ("store_covariance",)

    def _check_saved(self, state: dict[str, Any]) -> None:
        super()._check_saved(state)
        classes, d = len(state["tally_"].classes), state["n_features_in_"]
        check_shapes(state, _row_covariances=(classes, d, d), _row_total=(d, d))

    def _count(self, rows: Rows) -> tuple[Floats, Tally]:
        counted = super()._count(rows)
        self._fit_rows(rows)
        return counted

    def _check_settings(self) -> None:
        if self.covariance_estimator is not None and self.shrinkage not in (None, 0):
            raise ValueError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two "
                "can be set."
            )

    def _means_and_covariances(self, groups: Groups[Any]) -> tuple[Floats, Floats]:
        """Return the classes' means (C, d) and covariances (C, d, d), shrunk as asked."""
        moments = self._completed(groups.parts, partial(mle, tied=self._tied))
        self._moments = moments
        means, covariances = mle(moments, tied=False)
        if hasattr(self, "_row_covariances"):
            covariances = self._row_covariances
        elif self.shrinkage == "auto":
            shrunk = ledoit_wolf(groups.parts)
            covariances = np.where((groups.weights > 0)[:, None, None], shrunk, covariances)
        elif self.shrinkage is not None:
            covariances = toward_mean_variance(covariances, self.shrinkage)
        return means, covariances

    def _total_covariance(self, groups: Groups[Any]) -> Floats:
        """Return the covariance (d, d) of all rows about one mean, shrunk as asked."""
        if hasattr(self, "_row_total"):
            return self._row_total
        if self.shrinkage == "auto":
            return ledoit_wolf(groups.parts.pooled())
        total = self._moments.pooled().variance()
        return total if self.shrinkage is None else toward_mean_variance(total, self.shrinkage)

    def _features_log_evidence(self) -> float:
        self._check_readable()
        prior = covariance_prior(self._moments, tied=self._tied)
        return float(np.sum(prior.log_evidence(self._moments)))

    # An estimator of the user's.

    def _fit_rows(self, rows: Rows) -> None:
        """Fit the estimator, if any, to each class's rows and to all of them."""
        if self.covariance_estimator is None:
            self.__dict__.pop("_row_covariances", None)
            self.__dict__.pop("_row_total", None)
            return
        if rows.weights.size:
            raise InputError(
                "A covariance_estimator learns from rows, not from their weights. Leave "
                "sample_weight out, or use shrinkage."
            )
        X = np.asarray(rows.as_dense().X)
        present = np.unique(rows.codes)
        found = [self._covariance_of(X[rows.codes == c]) for c in present]
        self._row_covariances = np.tile(np.mean(found, axis=0), (rows.classes, 1, 1))
        self._row_covariances[present] = found
        self._row_total = self._covariance_of(X)

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
        self._refuse_if_rows_were_needed("learn further rows", self)
        return super().partial_fit(X, y, classes, sample_weight)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows that were learned: the same as `fit` on the others.

        A class of which no row is left is no class any more, unless `classes` closed the set.
        """
        self._refuse_if_rows_were_needed("forget rows", self)
        return super().forget(X, y, sample_weight)

    def merge(self, other: Self) -> Self:
        """Learn all that another model of the same kind has learned.

        The other model may know other classes. It is left as it was.
        """
        self._refuse_if_rows_were_needed("merge", self)
        self._refuse_if_rows_were_needed("merge", other)
        return super().merge(other)

    def _left_out_joint(self, rows: Rows) -> Floats | None:
        self._refuse_if_rows_were_needed("leave rows out", self)
        return super()._left_out_joint(rows)

    def _without_closed_form(self) -> str:
        if not np.all(self.tally_.weights > 0):
            return "a class without rows is taken to be like the others"
        return super()._without_closed_form()

    def _last_of_a_closed_class(self, rows: Rows) -> Mask:
        """Say which rows leave an announced class without any, and so like the others."""
        last = self._is_last(rows)
        return last if self.classes_closed_ else np.zeros_like(last)

    def _refuse_if_rows_were_needed(self, act: str, model: Any) -> None:
        asked = getattr(model, "covariance_estimator", None) is not None
        if hasattr(model, "tally_") and (asked or hasattr(model, "_row_covariances")):
            raise InputError(
                f"Cannot {act}: the covariances are those of a covariance_estimator, which needs "
                "all rows at once. Fit on all rows, or leave covariance_estimator out; nothing "
                "was changed."
            )
