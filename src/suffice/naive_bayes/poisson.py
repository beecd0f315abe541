"""Poisson naive Bayes: columns of numbers of events."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from sklearn.utils._param_validation import Interval, StrOptions

from suffice.count import count_events
from suffice.data.rows import Rows
from suffice.empirical_bayes.pseudocounts import CentredEvidence, best_pseudocount
from suffice.errors import PriorError
from suffice.estimators.explains import ColumnScores
from suffice.families.leave_one_out_counts import leave_one_out_poisson
from suffice.linear_model.bridge import LinearForm
from suffice.naive_bayes.discrete import EVIDENCE, DiscreteNB, refuse_predictive
from suffice.prior import Gamma
from suffice.prior.predictive import draw_events
from suffice.prior.special import log_gamma_step
from suffice.scoring import scorer as scoring
from suffice.scoring.discrete import IntegratedCountScorer, TableScorer, row_log_factorials
from suffice.tally import Events, Groups
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class PoissonNB(DiscreteNB):
    """Naive Bayes for numbers of events (docs: mathematics, section 2).

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,) or (n_classes, n_features), Gamma, or \
"evidence", default=1.0
        Pseudo-events: the shape of the gamma prior of each rate. "evidence" centres the prior on
        the rate of each feature in all classes together, and takes as its strength the number of
        rows that makes what was learned most probable.
    prior_rows : float, default=1.0
        Rows that the pseudo-events were seen in: the rate of the gamma prior. A Gamma and
        "evidence" have their own.
    force_alpha, fit_prior, class_prior : as in the other discrete models
    estimate : {"mean", "mle", "map", "predictive"}, default="mean"
        Plug in the rates' posterior mean, maximum likelihood or posterior mode, or integrate them
        out (negative binomial).
    calibrate : {None, "folds"}, default=None
        "folds" has `fit` calibrate the probabilities on those of held-out folds (`calibration_`).
        "loo", an older name, does the same.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : as in the other discrete models
    rate_ : ndarray of shape (n_classes, n_features)
        Events a row.
    alpha_, prior_rows_ : float or ndarray
        The pseudo-events, and the rows that they were seen in, that were used.
    tally_ : Groups of Events

    Examples
    --------
    >>> model = PoissonNB().fit([[0, 3], [1, 4], [9, 1]], ["quiet", "quiet", "loud"])
    >>> model.predict([[7, 2]])
    array(['loud'], dtype='<U5')
    >>> model.set_params(alpha="evidence").fit([[0, 3], [1, 4], [9, 1]], [0, 0, 1]).alpha_.shape
    (2,)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteNB._parameter_constraints,
        "alpha": [
            Interval(Real, 0, None, closed="left"),
            "array-like",
            Gamma,
            StrOptions({EVIDENCE}),
        ],
        "prior_rows": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        prior_rows: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        estimate: str = "mean",
        calibrate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.prior_rows = prior_rows
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.estimate = estimate
        self.calibrate = calibrate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _count(self, rows: Rows) -> tuple[Floats, Events]:
        return count_events(rows)

    def _read(self, groups: Groups[Events]) -> None:
        self._read_classes(groups)
        shape, rate = self._supposed()
        events, rows = groups.parts.sum_x + shape, groups.parts.weight + rate
        # A class that shows nothing of a feature, with no prior to go by, is like the others.
        everyone = groups.parts.pooled()
        fallback = everyone.sum_x / np.where(everyone.weight > 0, everyone.weight, 1.0)
        self.rate_ = np.where(rows > 0, events / np.where(rows > 0, rows, 1.0), fallback)

    def _linear_form(self) -> LinearForm:
        refuse_predictive(self.estimate, "negative binomial")
        with np.errstate(divide="ignore"):
            weights = np.log(self.rate_)
        return LinearForm(weights, self._log_prior() - self.rate_.sum(axis=1))

    def _supposed(self) -> tuple[Any, Any]:
        """Return the events and rows that `estimate` adds to those seen."""
        shape, rate = self._gamma()
        if self.estimate == "mle":
            return np.zeros_like(shape), 0.0
        return (self._pseudocounts(shape) if self.estimate == "map" else shape), rate

    def _alpha_by_evidence(self, groups: Groups[Events]) -> Gamma:
        evidence = CentredEvidence.of(groups.parts)
        rows = best_pseudocount(evidence.slope, evidence.log_evidence)
        return Gamma(shape=rows * evidence.centre, rate=rows)

    def _pseudocounts_used(self) -> Any:
        shape, rate = self._gamma()
        # Evidence has chosen one number for all features.
        self.prior_rows_ = float(rate[0]) if isinstance(self.alpha, str) else rate
        return shape

    def _own_scores(self, rows: Rows) -> Floats:
        tally, pseudo = self.tally_.parts, self._supposed()
        unseen = (tally.weight + pseudo[1] == 0).any(axis=1)
        if (self._left_out_log_prior(rows)[:, unseen] > -np.inf).any():
            # What a class shows nothing of is taken from the others, so from every row.
            return np.full(rows.shape[0], np.nan)
        integrated = self.estimate == "predictive"
        return leave_one_out_poisson(rows, tally.weight, tally.sum_x, pseudo, integrated=integrated)

    def _left_out_scores(self, rows: Rows) -> Floats:
        return super()._left_out_scores(rows) - row_log_factorials(rows.X)[1][:, None]

    def _gamma(self) -> tuple[Any, Any]:
        """Return the pseudo-events and the rows they were seen in."""
        if isinstance(self._smoothing, Gamma):
            return self._smoothing.shape, self._smoothing.rate
        return self._smoothing, float(self.prior_rows)

    def _believed(self) -> tuple[Floats, Floats]:
        """Return shape and rate of the rates' posterior, (V, C)."""
        shape, rate = self._gamma()
        events = np.ascontiguousarray((self.tally_.parts.sum_x + shape).T)
        rows = np.ascontiguousarray((self.tally_.parts.weight + rate).T)
        if np.any(events <= 0) or np.any(rows <= 0):
            raise PriorError(
                "estimate='predictive' needs alpha > 0 and prior_rows > 0 where nothing was "
                "seen. Raise them, or use estimate='mean'."
            )
        return events, rows

    def _scorer(self) -> scoring.Scorer:
        if self.estimate == "predictive":
            # Negative binomial: r = events, p = rows / (rows + 1), both posterior.
            events, rows = self._believed()
            silent = -events * np.log1p(1.0 / rows)
            slope = -np.log1p(rows)
            return IntegratedCountScorer(events, slope, np.empty(0), silent.sum(axis=0), silent)
        rate = np.ascontiguousarray(self.rate_.T)
        with np.errstate(divide="ignore"):
            return TableScorer(np.log(rate), -rate.sum(axis=0), -rate, lowest=0.0)

    def _split(self, cells: Floats) -> ColumnScores:
        x = np.where(np.isnan(cells), 0.0, cells)[:, None]
        if self.estimate == "predictive":
            events, rows = self._believed()
            parts = log_gamma_step(events, x) - events * np.log1p(1.0 / rows) - x * np.log1p(rows)
        else:
            rate = self.rate_.T
            parts = xlogy(x, rate) - rate
        return ColumnScores(np.arange(len(cells)), np.where(np.isnan(cells)[:, None], 0.0, parts))

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log p(x, class), (n_samples, n_classes)."""
        return super().predict_joint_log_proba(X) - self._log_factorials(X)[:, None]

    def score_samples(self, X: Any) -> Floats:
        """Return log p(x), (n_samples,)."""
        return super().score_samples(X) - self._log_factorials(X)

    def _log_factorials(self, X: Any) -> Floats:
        array = self._take_features(X, reset=False)
        return row_log_factorials(array)[1]

    def _feature_parameters(self) -> int:
        return int(self.rate_.size)

    def _features_log_evidence(self) -> float:
        shape, rate = self._gamma()
        return float(np.sum(Gamma(shape=shape, rate=rate).log_evidence(self.tally_.parts)))

    def _sample_features(self, codes: NDArray[np.intp], rng: np.random.Generator) -> Any:
        if self.estimate != "predictive":
            return draw_events(rng, self.rate_[codes])
        events, rows = self._believed()
        return draw_events(rng, rng.standard_gamma(events.T[codes]) / rows.T[codes])
