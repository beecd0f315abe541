"""Gaussian naive Bayes: features that are normal and independent given the class."""

from __future__ import annotations

import warnings
from copy import copy
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from suffice.count import count_moments
from suffice.data.rows import Rows
from suffice.empirical_bayes.moments import floor_variance
from suffice.errors import SufficeWarning, warn_caller
from suffice.estimators.class_prior import check_prior_shape, given_prior, learned_prior
from suffice.estimators.explains import ColumnScores
from suffice.families.class_conditional import (
    DiagonalGaussian,
    diagonal_gaussian,
    diagonal_mle,
    diagonal_prior,
    linear_form,
)
from suffice.families.leave_one_out_moments import LeaveOneOutMoments, moments_without
from suffice.linear_model.bridge import LinearForm, over_normals
from suffice.naive_bayes.left_out import LeavesRowsOut
from suffice.prior import NormalInverseGamma
from suffice.scoring.scorer import Scorer, joint_log_proba
from suffice.tally import Groups, Moments
from suffice.tally.tally import Floats, Index
from suffice.threads import with_one_blas_thread

# The axes of the (class, feature) tally along which one variance is shared.
SHARED: dict[str | None, tuple[int, ...]] = {
    None: (),
    "class": (0,),
    "feature": (1,),
    "both": (0, 1),
}


@with_one_blas_thread
class GaussianNB(LeavesRowsOut):
    """Gaussian naive Bayes (docs: mathematics, sections 2 and 4).

    Parameters
    ----------
    priors : array-like of shape (n_classes,), optional
        Class probabilities; learned if not given.
    var_smoothing : float, default=1e-9
        Part of the largest variance of all features that `estimate="mle"` adds to variances.
    estimate : {"mle", "map", "predictive"}, default="mle"
        Plug in the maximum-likelihood or the most probable parameters, or integrate them out
        (Student-t).
    tie : {None, "class", "feature", "both"}, default=None
        What shares one variance: nothing (s_ik), the classes (s_i), the features (s_k), all (s).
    prior : "evidence" or NormalInverseGamma, default="evidence"
        Prior of means and variances for "map", "predictive" and `log_evidence_`; "evidence" has
        the data choose its strength, around the pooled mean and spread of each feature.
    calibrate : {None, "folds"}, default=None
        "folds" has `fit` calibrate the probabilities on those of held-out folds (`calibration_`).
        "loo", an older name, does the same.

    Attributes
    ----------
    classes_, class_count_, class_prior_, theta_, var_, epsilon_ : as in scikit-learn
    tally_ : Groups of Moments
        All that was learned.
    new_classes_ : ndarray
        Classes that the last `fit`, `partial_fit` or `merge` met for the first time.

    Examples
    --------
    >>> X = [[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]]
    >>> y = [1, 1, 1, 2, 2, 2]
    >>> model = GaussianNB().fit(X, y)
    >>> model.predict([[-0.8, float("nan")]])
    array([1])
    >>> model.forget(X[:1], y[:1]).class_count_
    array([2., 3.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "estimate": [StrOptions({"mle", "map", "predictive"})],
        "tie": [StrOptions({"class", "feature", "both"}), None],
        "prior": [StrOptions({"evidence"}), NormalInverseGamma],
        "calibrate": [StrOptions({"folds", "loo"}), None],
    }

    def __init__(
        self,
        *,
        priors: Any = None,
        var_smoothing: float = 1e-9,
        estimate: str = "mle",
        tie: str | None = None,
        prior: str | NormalInverseGamma = "evidence",
        calibrate: str | None = None,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.estimate = estimate
        self.tie = tie
        self.prior = prior
        self.calibrate = calibrate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _count(self, rows: Rows) -> tuple[Floats, Moments]:
        return count_moments(rows)

    def _read(self, groups: Groups[Moments]) -> None:
        self.class_count_ = groups.weights
        if self.priors is None:
            self.class_prior_ = learned_prior(groups.weights)
        else:
            self.class_prior_ = given_prior(self.priors, len(groups.classes))
        cells = groups.parts
        self.epsilon_ = self._floor(cells)
        self._chosen = None if self.estimate == "mle" else self._feature_prior(cells)
        self._law = self._law_of(cells, self._chosen)
        self.theta_, self.var_ = self._law.location, self._law.squared_scale
        degrees = self._law.degrees
        if degrees is not None:
            # The spread of a t is shown: its variance where it has one (degrees above 2).
            with np.errstate(divide="ignore"):
                inflation = np.where(degrees > 2, degrees / np.maximum(degrees - 2, 0.0), np.inf)
            self.var_ = self.var_ * inflation

    def _floor(self, cells: Moments) -> float:
        """Return what is added to every variance."""
        return self.var_smoothing * float(np.max(np.nan_to_num(cells.pooled().variance())))

    def _law_of(self, cells: Moments, prior: NormalInverseGamma | None) -> DiagonalGaussian:
        """Return what moments (C, d) say of rows, given the prior, or none for "mle"."""
        if prior is None:
            mean, variance = diagonal_mle(cells, SHARED[self.tie])
            return diagonal_gaussian(mean, self._positive(mean, variance + self._floor(cells)))
        believed = prior.posterior(cells)
        if self.estimate == "map":
            return diagonal_gaussian(*believed.mode())
        t = believed.predictive()
        joint = 1 in SHARED[self.tie]
        return diagonal_gaussian(t.location, t.squared_scale, t.degrees, joint=joint)

    def _positive(self, mean: Floats, variance: Floats) -> Floats:
        """Return the variances, with a spread of our own and a warning where there is none."""
        flat = np.argwhere(np.broadcast_to(variance == 0, mean.shape))
        if not flat.size:
            return variance
        c, j = (int(i) for i in flat[0])
        warn_caller(
            f"Feature {j} does not vary in class {self.classes_.tolist()[c]!r}, so its "
            "likelihood has no maximum; a millionth of its size is taken as its spread. Use "
            "var_smoothing > 0 or estimate='predictive'.",
            SufficeWarning,
        )
        return np.where(variance > 0, variance, floor_variance(np.zeros_like(mean), mean))

    def _feature_prior(self, cells: Moments) -> NormalInverseGamma:
        given = None
        if isinstance(self.prior, NormalInverseGamma):
            check_prior_shape(self.prior, cells.weight.shape)
            given = self.prior
        return diagonal_prior(given, cells, SHARED[self.tie])

    def _scorer(self) -> Scorer:
        return self._law.scorer()

    def _split(self, cells: Floats) -> ColumnScores:
        return ColumnScores(np.arange(len(cells)), self._law.split(cells))

    def _linear_form(self) -> LinearForm:
        weights, bias = linear_form(self._law)
        return over_normals(weights, bias + self._log_prior(), self.n_features_in_)

    def _left_out_scores(self, rows: Rows) -> Floats:
        cells = self.tally_.parts
        smoothing = self.var_smoothing if self.estimate == "mle" else 0.0
        shared = SHARED[self.tie]
        left_out = LeaveOneOutMoments(cells, self._law, shared, self._chosen, smoothing)
        scores, doubtful = left_out.scores(rows)
        unseen = (cells.weight == 0).any(axis=1)
        if self.estimate == "mle" and unseen.any():
            # What a class shows nothing of is taken from the others, so from every row.
            doubtful |= (self._left_out_log_prior(rows)[:, unseen] > -np.inf).any(axis=1)
        doubtful |= self._alone(rows)
        if not doubtful.any():
            return scores
        order = np.argsort(rows.codes, kind="stable")
        starts = np.searchsorted(rows.codes[order], np.arange(rows.classes + 1))
        for row in np.flatnonzero(doubtful).tolist():
            c = int(rows.codes[row])
            mine = order[starts[c] : starts[c + 1]]
            scores[row] = self._scores_anew(rows, row, mine[mine != row])
        return scores

    def _with_held_prior(self, kept: Index) -> Self:
        held = copy(self)
        held.priors = None
        if self._chosen is not None:
            held.prior = _of_classes(self._chosen, kept)
        return held

    def _scores_anew(self, rows: Rows, row: int, fellows: NDArray[np.intp]) -> Floats:
        """Return log p(x | class), (C,), by reading the tally without the row."""
        cells = moments_without(self.tally_.parts, rows, row, fellows)
        gone = not self.classes_closed_ and self._alone(rows.take(np.array([row])))[0]
        kept = np.arange(len(cells.weight))
        if gone:
            kept = kept[kept != rows.codes[row]]
        scores = np.full(len(cells.weight), -np.inf)
        if kept.size:
            prior = None if self._chosen is None else _of_classes(self._chosen, kept)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SufficeWarning)
                law = self._law_of(cells.take(kept), prior)
            one = rows.take(np.array([row])).X
            scores[kept] = joint_log_proba(law.scorer(), one, np.zeros(len(kept)))[0]
        return scores

    def _log_prior(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior_)

    def _class_prior_is_given(self) -> bool:
        return self.priors is not None

    def _feature_parameters(self) -> int:
        classes, features = self.theta_.shape
        variances = {None: classes * features, "class": features, "feature": classes, "both": 1}
        return int(classes * features + variances[self.tie])

    def _features_log_evidence(self) -> float:
        cells = self.tally_.parts
        prior = self._feature_prior(cells) if self._chosen is None else self._chosen
        return float(np.sum(prior.log_evidence(cells)))

    def _sample_features(self, codes: NDArray[np.intp], rng: np.random.Generator) -> Floats:
        return self._law.sample(codes, rng)


def _of_classes(prior: NormalInverseGamma, kept: NDArray[np.intp]) -> NormalInverseGamma:
    """Return the prior of some of the classes, the first of two axes."""

    def part(field: Floats) -> Floats:
        return field[kept] if field.ndim == 2 and len(field) > 1 else field

    return NormalInverseGamma(
        part(prior.location),
        part(prior.pseudo_rows),
        part(prior.shape),
        part(prior.scale),
        prior.shared,
    )
