"""What the discrete event models share: pseudocounts, and the probabilities of the classes."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from copy import copy
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from suffice.data.rows import Rows
from suffice.errors import InputError, PriorError, SufficeWarning, warn_caller
from suffice.estimators.class_prior import check_prior_shape, learned_prior
from suffice.prior.prior import Prior
from suffice.scoring import scorer as scoring
from suffice.tally import Groups
from suffice.tally.tally import Floats, Index
from suffice.text.legacy_nb.left_out import LeavesRowsOut

# scikit-learn's lowest pseudocount when force_alpha=False.
LOWEST_ALPHA = 1e-10
# What an estimate adds to a pseudocount: the mode of a Dirichlet lies one count below.
ESTIMATES = ("mean", "mle", "map", "predictive")
# The alpha that has the data choose the pseudocounts.
EVIDENCE = "evidence"


class DiscreteNB(LeavesRowsOut):
    """Naive Bayes on counts: a tally of counts, pseudocounts `alpha`, a prior of the classes.

    A subclass reads the pseudocounts with most evidence off a tally (`_alpha_by_evidence`), and
    scores each row under its own class without the row (`_own_scores`).
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like", StrOptions({EVIDENCE})],
        "force_alpha": ["boolean"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "estimate": [StrOptions(set(ESTIMATES))],
        "calibrate": [StrOptions({"folds", "loo"}), None],
    }

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any
    estimate: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._takes_sparse
        tags.classifier_tags.poor_score = True
        return tags

    def _check_alpha(self) -> Any:
        """Return the pseudocounts as a number or an array that broadcasts to (C, d)."""
        if isinstance(self.alpha, Real):
            alpha: Any = float(self.alpha)
        else:
            alpha = np.asarray(self.alpha, dtype=np.float64)
            if alpha.shape[-1:] != (self.n_features_in_,) or alpha.ndim > 2:
                raise PriorError(
                    "When alpha is an array, it should contains `n_features`. Got "
                    f"{alpha.shape[-1] if alpha.ndim else 1} elements instead of "
                    f"{self.n_features_in_}. Give a number, one a feature, or one a class and "
                    "feature."
                )
            if alpha.ndim == 2 and alpha.shape[0] != len(self.classes_):
                raise PriorError(
                    f"alpha has {alpha.shape[0]} rows for {len(self.classes_)} classes. Give one "
                    "a class."
                )
        lowest = np.min(alpha)
        if not (lowest >= 0 and np.all(np.isfinite(alpha))):
            odd = lowest if not lowest >= 0 else np.max(alpha)
            raise PriorError(f"All values in alpha must be greater than 0. Got {odd:g}.")
        if lowest < LOWEST_ALPHA and not self.force_alpha:
            warn_caller(
                "alpha too small will result in numeric errors, setting alpha = "
                f"{LOWEST_ALPHA:.1e}. Use `force_alpha=True` to keep alpha unchanged.",
                UserWarning,
            )
            return np.maximum(alpha, LOWEST_ALPHA)
        return alpha

    def _pseudocounts(self, alpha: Any) -> Any:
        """Return what `estimate` adds to the counts (docs: mathematics, section 2).

        The posterior mean adds alpha, the mode alpha - 1, maximum likelihood nothing.
        """
        if self.estimate == "mle":
            return np.zeros_like(alpha)
        if self.estimate == "map":
            if np.min(alpha) < 1:
                raise PriorError(
                    f"estimate='map' has no mode for pseudocounts below 1 (alpha="
                    f"{np.min(alpha):g}). Use alpha >= 1, or estimate='mean'."
                )
            return alpha - 1.0
        return alpha

    def _read_classes(self, groups: Groups[Any]) -> None:
        """Set class_count_, class_log_prior_ and the pseudocounts that all readings share."""
        if isinstance(self.alpha, Prior):
            check_prior_shape(self.alpha, (len(groups.classes), self.n_features_in_))
            self._smoothing: Any = self.alpha
        elif isinstance(self.alpha, str):
            self._smoothing = self._alpha_by_evidence(groups)
        else:
            self._smoothing = self._check_alpha()
        self.alpha_ = self._pseudocounts_used()
        self.class_count_ = groups.weights
        classes = len(groups.classes)
        if self.class_prior is not None:
            if len(self.class_prior) != classes:
                raise PriorError(
                    "Number of priors must match number of classes. Got "
                    f"{len(self.class_prior)} priors for {classes} classes."
                )
            prior = np.asarray(self.class_prior, dtype=np.float64)
            if not np.all(np.isfinite(prior) & (prior >= 0)):
                raise PriorError(
                    f"class_prior holds {prior[~(np.isfinite(prior) & (prior >= 0))][0]:g}. "
                    "Priors must be non-negative."
                )
        elif self.fit_prior:
            prior = learned_prior(groups.weights)
        else:
            prior = np.full(classes, 1.0 / classes)
        with np.errstate(divide="ignore"):
            self.class_log_prior_ = np.log(prior)

    @abstractmethod
    def _alpha_by_evidence(self, groups: Groups[Any]) -> Any:
        """Return the pseudocounts that the tally has most evidence for."""

    def _pseudocounts_used(self) -> Any:
        """Return what is shown as `alpha_`."""
        return self._smoothing

    @abstractmethod
    def _own_scores(self, rows: Rows) -> Floats:
        """Return log p(x | own class) without the row, (n,); NaN where others change too."""

    def _left_out_scores(self, rows: Rows) -> Floats:
        scores = scoring.joint_log_proba(self._scorer(), rows.X, np.zeros(len(self.classes_)))
        own = self._own_scores(rows)
        scores[np.arange(len(own)), rows.codes] = own
        for row in np.flatnonzero(np.isnan(own)).tolist():
            scores[row] = self._scores_anew(rows.take(np.array([row])))
        return scores

    def _with_held_prior(self, kept: Index) -> Self:
        held = copy(self)
        held.alpha, held.force_alpha = self._smoothing, True
        held.class_prior, held.fit_prior = None, False
        if len(kept) < len(self.classes_) and not isinstance(held.alpha, Prior):
            held.alpha = held.alpha[kept] if np.ndim(held.alpha) > 1 else held.alpha
        return held

    def _scores_anew(self, one: Rows) -> Floats:
        """Return log p(x | class), (C,), of one row by reading the tally without it."""
        without = self._with_held_prior(np.arange(len(self.classes_)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SufficeWarning)
            without._settle(self._without(Groups(self.classes_, *self._count(one))))
        nothing = np.zeros(len(self.classes_))
        scores: Floats = scoring.joint_log_proba(without._scorer(), one.X, nothing)[0]
        return scores

    def _log_prior(self) -> Floats:
        prior: Floats = self.class_log_prior_
        return prior

    def _class_prior_is_given(self) -> bool:
        return self.class_prior is not None or not self.fit_prior


def refuse_predictive(estimate: str, law: str) -> None:
    """Refuse to write as a logistic regression what is linear in no statistics of a row."""
    if estimate == "predictive":
        raise InputError(
            f"A {law} distribution is linear in no statistics of a row, so estimate='predictive' "
            "is no logistic regression. Use estimate='mean' or 'map'."
        )
