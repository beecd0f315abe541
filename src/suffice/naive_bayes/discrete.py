"""What the discrete event models share: pseudocounts, and the probabilities of the classes."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from suffice._sklearn import Interval, StrOptions
from suffice.errors import PriorError, warn_caller
from suffice.estimators.features import Columns
from suffice.families.class_conditional import ClassConditional
from suffice.families.class_prior import ClassPrior, discrete_class_prior
from suffice.families.smoothing import ESTIMATES, Smoothing, check_prior_shape
from suffice.generative.classifier import TallyClassifier
from suffice.generative.fitted import Fitted, Generative
from suffice.prior import Dirichlet
from suffice.prior.prior import Prior
from suffice.tally import Groups
from suffice.tally.tally import Floats

# scikit-learn's lowest pseudocount when force_alpha=False.
MIN_ALPHA = 1e-10
# The alpha that has the data choose the pseudocounts.
EVIDENCE = "evidence"


def alpha_constraints(*priors: type[Prior]) -> list[Any]:
    """Return what alpha may be: a number, an array, "evidence" or a prior."""
    number = Interval(Real, 0, None, closed="left")
    return [number, "array-like", *priors, StrOptions({EVIDENCE})]


class DiscreteNB(TallyClassifier):
    """Naive Bayes on counts: a tally of counts, pseudocounts `alpha`, a prior of the classes.

    A subclass says what is counted, what the columns are given the class (`_features`), and which
    pseudocounts a tally has most evidence for (`_alpha_by_evidence`).
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": alpha_constraints(),
        "force_alpha": ["boolean"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", Dirichlet, None],
        "estimate": [StrOptions(set(ESTIMATES))],
        "calibrate": [StrOptions({"folds", "loo"}), None],
    }

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any
    estimate: str

    @abstractmethod
    def _features(self, groups: Groups[Any], smoothing: Smoothing) -> ClassConditional:
        """Return p(x | class), given the pseudocounts."""

    @abstractmethod
    def _alpha_by_evidence(self, groups: Groups[Any]) -> Any:
        """Return the pseudocounts that the tally has most evidence for."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._counter().takes_sparse
        tags.classifier_tags.poor_score = True
        return tags

    def _posterior(self, fitted: Fitted) -> Generative:
        groups = fitted.tally
        classes = self._class_prior(groups.weights)
        smoothing = Smoothing(self._pseudocounts(groups, fitted.columns), self.estimate)
        return Generative(classes, self._features(groups, smoothing))

    def _class_prior(self, weights: Floats) -> ClassPrior:
        """Return p(class): given, learned, or uniform without `fit_prior`."""
        given = weights, self.class_prior
        return discrete_class_prior(*given, fit_prior=self.fit_prior, estimate=self.estimate)

    def _pseudocounts(self, groups: Groups[Any], columns: Columns) -> Any:
        """Return the pseudocounts: given, or chosen by the evidence."""
        if isinstance(self.alpha, Prior):
            check_prior_shape(self.alpha, (len(groups.classes), columns.count))
            return self.alpha
        if isinstance(self.alpha, str):
            return self._alpha_by_evidence(groups)
        return self._check_alpha(len(groups.classes), columns.count)

    def _check_alpha(self, classes: int, columns: int) -> Any:
        """Return the pseudocounts as a number or an array that broadcasts to (C, d)."""
        if isinstance(self.alpha, Real):
            alpha: Any = float(self.alpha)
        else:
            alpha = np.asarray(self.alpha, dtype=np.float64)
            if alpha.shape[-1:] != (columns,) or alpha.ndim > 2:
                raise PriorError(
                    "When alpha is an array, it should contains `n_features`. Got "
                    f"{alpha.shape[-1] if alpha.ndim else 1} elements instead of "
                    f"{columns}. Give a number, one a feature, or one a class and "
                    "feature."
                )
            if alpha.ndim == 2 and alpha.shape[0] != classes:
                raise PriorError(
                    f"alpha has {alpha.shape[0]} rows for {classes} classes. Give one a class."
                )
        lowest = np.min(alpha)
        if not (lowest >= 0 and np.all(np.isfinite(alpha))):
            wrong = lowest if not lowest >= 0 else np.max(alpha)
            raise PriorError(f"All values in alpha must be greater than 0. Got {wrong:g}.")
        if lowest < MIN_ALPHA and not self.force_alpha:
            warn_caller(
                "alpha too small will result in numeric errors, setting alpha = "
                f"{MIN_ALPHA:.1e}. Use `force_alpha=True` to keep alpha unchanged.",
                UserWarning,
            )
            return np.maximum(alpha, MIN_ALPHA)
        return alpha

    @property
    def class_count_(self) -> Floats:
        """Weight of the rows of each class, (n_classes,)."""
        return self._known("class_count_").tally.weights

    @property
    def class_log_prior_(self) -> Floats:
        """Log probability of each class, (n_classes,)."""
        log_prob: Floats = self._learned("class_log_prior_").prior.log_prob
        return log_prob

    @property
    def alpha_(self) -> Any:
        """The pseudocounts that were used."""
        return self._learned("alpha_").features.smoothing.prior
