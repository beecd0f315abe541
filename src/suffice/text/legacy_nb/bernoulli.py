"""Bernoulli naive Bayes: features that are present or absent."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from suffice.count import count_ones
from suffice.data.rows import Rows
from suffice.empirical_bayes.pseudocounts import SymmetricEvidence, best_pseudocount
from suffice.estimators.explains import ColumnScores
from suffice.estimators.intake import column_name
from suffice.families.leave_one_out_counts import leave_one_out_bernoulli
from suffice.generative.legacy_bridge import LinearForm
from suffice.prior import Beta
from suffice.scoring.discrete import BinaryScorer, TableScorer
from suffice.scoring.scorer import Scorer
from suffice.tally import Counts, Groups
from suffice.tally.tally import Floats, Index
from suffice.text.legacy_nb.discrete import EVIDENCE, DiscreteNB
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class BernoulliNB(DiscreteNB):
    """Naive Bayes for features that are present or absent (docs: mathematics, sections 2 and 8).

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,) or (n_classes, n_features), Beta, or \
"evidence", default=1.0
        Pseudocounts of presence and of absence alike; a Beta tells them apart. "evidence" takes
        the number that makes what was learned most probable.
    force_alpha, fit_prior, class_prior : as in scikit-learn
    binarize : float or None, default=0.0
        Cells above it are present; None if cells are 0 and 1 already.
    estimate : {"mean", "mle", "map", "predictive"}, default="mean"
        How the probability of presence is read off the tally. The posterior mean, which is what
        scikit-learn computes, is also the predictive probability.
    calibrate : {None, "folds"}, default=None
        "folds" has `fit` calibrate the probabilities on those of held-out folds (`calibration_`).
        "loo", an older name, does the same.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_count_, feature_log_prob_ : as in scikit-learn
    alpha_ : float, ndarray or Beta
        The pseudocounts that were used.
    tally_ : Groups of Counts of shape (n_classes, n_features, 2)

    Examples
    --------
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"])
    >>> model.predict_proba([[0, 1]]).round(3)
    array([[0.36, 0.64]])
    >>> rare = np.repeat([[1, 0, 0, 0], [0, 0, 0, 0]], [1, 19], axis=0)
    >>> bool(BernoulliNB(alpha="evidence").fit(rare, [0, 1] * 10).alpha_ < 0.1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteNB._parameter_constraints,
        "alpha": [
            Interval(Real, 0, None, closed="left"),
            "array-like",
            Beta,
            StrOptions({EVIDENCE}),
        ],
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }
    _tally_settings = ("binarize",)

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        estimate: str = "mean",
        calibrate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.estimate = estimate
        self.calibrate = calibrate

    def _count(self, rows: Rows) -> tuple[Floats, Counts]:
        return count_ones(rows, self.binarize)

    def _name_of_sum(self, path: tuple[int, ...], at: tuple[int, ...]) -> str:
        return f"{column_name(self, at[1])} {'present' if at[2] else 'absent'}"

    def _read(self, groups: Groups[Counts]) -> None:
        self._read_classes(groups)
        absent, present = groups.parts.counts[..., 0], groups.parts.counts[..., 1]
        prior = self._feature_prior()
        some = present + self._pseudocounts(prior.successes)
        none = absent + self._pseudocounts(prior.failures)
        self.feature_count_ = present
        # A feature of which nothing was seen, with no pseudocount, says nothing: log 1.
        total = np.where(some + none > 0, some + none, 1.0)
        with np.errstate(divide="ignore"):
            self.feature_log_prob_ = np.log(np.where(some + none > 0, some, 1.0) / total)
            self._log_absent = np.log(np.where(some + none > 0, none, 1.0) / total)

    def _linear_form(self) -> LinearForm:
        from sklearn.preprocessing import Binarizer

        with np.errstate(invalid="ignore"):
            weights = self.feature_log_prob_ - self._log_absent
        bias = self._log_prior() + self._log_absent.sum(axis=1)
        basis = None if self.binarize is None else Binarizer(threshold=self.binarize)
        return LinearForm(weights, bias, basis)

    def _taken_off(self, columns: Index, counts: Floats, lengths: Floats) -> Floats:
        """Return what the scores of rows lose without one term, (J, C), which is absent then.

        Parameters
        ----------
        columns, counts : (J,)
            Which term it is, and whether (1) the row has it.
        lengths : (J,), of no matter here
        """
        said = self.feature_log_prob_[:, columns] - self._log_absent[:, columns]
        return np.asarray(counts[:, None] * said.T)

    def _feature_prior(self) -> Any:
        if isinstance(self._smoothing, Beta):
            return self._smoothing
        return _Pseudocounts(self._smoothing, self._smoothing)

    def _alpha_by_evidence(self, groups: Groups[Counts]) -> float:
        evidence = SymmetricEvidence.of(groups.parts.counts)
        return best_pseudocount(evidence.slope, evidence.log_evidence)

    def _own_scores(self, rows: Rows) -> Floats:
        prior = self._feature_prior()
        pseudo = self._pseudocounts(prior.successes), self._pseudocounts(prior.failures)
        if self.binarize is None and min(np.min(part) for part in pseudo) == 0:
            # How fractions are scored depends on whether all scores are finite without the row.
            return np.full(rows.shape[0], np.nan)
        return leave_one_out_bernoulli(rows, self.tally_.parts.counts, pseudo, self.binarize)

    def _scorer(self) -> Scorer:
        threshold = 0.5 if self.binarize is None else float(self.binarize)
        present, absent = (
            np.ascontiguousarray(table.T) for table in (self.feature_log_prob_, self._log_absent)
        )
        if self.binarize is None and np.isfinite(present).all() and np.isfinite(absent).all():
            # Cells that were learned as they are, fractions too, are scored as they are.
            return TableScorer(present - absent, absent.sum(axis=0), absent)
        return BinaryScorer(present, absent, threshold)

    def _split(self, cells: Floats) -> ColumnScores:
        present, absent = self.feature_log_prob_.T, self._log_absent.T
        if self.binarize is None and np.isfinite(present).all() and np.isfinite(absent).all():
            parts = cells[:, None] * (present - absent) + absent
        else:
            threshold = 0.5 if self.binarize is None else self.binarize
            parts = np.where((cells > threshold)[:, None], present, absent)
        return ColumnScores(np.arange(len(cells)), np.where(np.isnan(cells)[:, None], 0.0, parts))

    def _feature_parameters(self) -> int:
        return int(self.feature_log_prob_.size)

    def _features_log_evidence(self) -> float:
        prior = self._feature_prior()
        beta = Beta(successes=prior.successes, failures=prior.failures)
        return float(np.sum(beta.log_evidence(self.tally_.parts)))

    def _sample_features(self, codes: NDArray[np.intp], rng: np.random.Generator) -> Any:
        chance = np.exp(self.feature_log_prob_)[codes]
        return (rng.random(chance.shape) < chance).astype(np.int64)


class _Pseudocounts:
    """Pseudocounts that may be 0, where a Beta would have no density."""

    def __init__(self, successes: Any, failures: Any) -> None:
        self.successes = successes
        self.failures = failures
