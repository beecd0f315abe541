"""Poisson naive Bayes: columns of numbers of events."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from suffice._sklearn import Interval
from suffice.count.counters import CountEvents
from suffice.empirical_bayes.centred import gamma_prior
from suffice.families.poisson import IndependentPoissons
from suffice.families.smoothing import Smoothing
from suffice.naive_bayes.discrete import DiscreteNB, alpha_constraints
from suffice.prior import Gamma
from suffice.scoring.discrete import row_log_factorials
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
        the rate of each feature in all classes together, and takes as its sample size the number of
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
        "alpha": alpha_constraints(Gamma),
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

    def _counter(self) -> CountEvents:
        return CountEvents()

    def _features(self, groups: Groups[Events], smoothing: Smoothing) -> IndependentPoissons:
        return IndependentPoissons(groups, smoothing, self.prior_rows)

    def _alpha_by_evidence(self, groups: Groups[Events]) -> Gamma:
        return gamma_prior(groups.parts)

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log p(x, class), (n_samples, n_classes)."""
        return super().predict_joint_log_proba(X) - self._log_factorials(X)[:, None]

    def score_samples(self, X: Any) -> Floats:
        """Return log p(x), (n_samples,)."""
        return super().score_samples(X) - self._log_factorials(X)

    def _log_factorials(self, X: Any) -> Floats:
        return row_log_factorials(self._read(self._check_ready(), X))[1]

    @property
    def rate_(self) -> Floats:
        """Events a row, (n_classes, n_features)."""
        rate: Floats = self._learned("rate_").features.rate
        return rate

    @property
    def alpha_(self) -> Any:
        """The pseudo-events that were used."""
        return self._learned("alpha_").features.prior_events

    @property
    def prior_rows_(self) -> Any:
        """The rows that the pseudo-events were seen in."""
        return self._learned("prior_rows_").features.prior_rows
