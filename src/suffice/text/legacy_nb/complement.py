"""Complement naive Bayes: each class is judged by the words of all the others."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from suffice.data.rows import Rows
from suffice.families.leave_one_out_counts import leave_one_out_complement
from suffice.generative.legacy_bridge import LinearForm
from suffice.prior import Dirichlet
from suffice.scoring.discrete import EMPTY_TABLE, TableScorer, log_ratio_table
from suffice.scoring.scorer import Scorer, joint_log_proba
from suffice.tally import Counts, Groups
from suffice.tally.tally import Floats, Index
from suffice.text.legacy_nb.discrete import EVIDENCE, DiscreteNB
from suffice.text.legacy_nb.multinomial import CountRows, times
from suffice.threads import with_one_blas_thread


@with_one_blas_thread
class ComplementNB(CountRows):
    """Rennie and others' complement rule on the multinomial tally.

    The rule decides; it is no model of the rows. What only a model can answer (`score_samples`,
    `sample`, `log_evidence_`, `n_parameters_`) is answered by the multinomial with the same tally
    and the same pseudocounts. Hence `score_samples` is not the sum over classes of what
    `predict_joint_log_proba` gives, which are the scores of the rule.

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,) or (n_classes, n_features), Dirichlet, or \
"evidence", default=1.0
        Pseudocounts; "evidence" takes the number that makes what was learned most probable under
        the multinomial.
    force_alpha, fit_prior, class_prior, norm : as in scikit-learn
    estimate : {"mean", "mle", "map"}, default="mean"
        How the complements' word probabilities are read off the tally.
    calibrate : {None, "folds"}, default=None
        "folds" has `fit` calibrate the probabilities on those of held-out folds (`calibration_`).
        "loo", an older name, does the same.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_count_, feature_all_, feature_log_prob_ : as \
in scikit-learn
    alpha_ : float or ndarray
        The pseudocounts that were used.
    tally_ : Groups of Counts of shape (n_classes, n_features)

    Examples
    --------
    >>> model = ComplementNB().fit([[3, 0, 1], [0, 2, 1], [1, 2, 0]], [0, 1, 1])
    >>> model.predict([[2, 0, 1]])
    array([0])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteNB._parameter_constraints,
        "alpha": [
            Interval(Real, 0, None, closed="left"),
            "array-like",
            Dirichlet,
            StrOptions({EVIDENCE}),
        ],
        "norm": ["boolean"],
        "estimate": [StrOptions({"mean", "mle", "map"})],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
        estimate: str = "mean",
        calibrate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm
        self.estimate = estimate
        self.calibrate = calibrate

    def _read(self, groups: Groups[Counts]) -> None:
        self._read_counts(groups)
        self.feature_all_ = self.feature_count_.sum(axis=0)
        pseudo = self._pseudocounts(self._concentration())
        table = log_ratio_table(self.feature_count_, pseudo, of_others=True)
        if self.norm:
            for c in range(table.shape[1]):
                table[:, c] = _normalised(table[:, c])
        else:
            np.negative(table, out=table)
        self.feature_log_prob_ = table.T

    def _linear_form(self) -> LinearForm:
        return LinearForm(np.ascontiguousarray(self.feature_log_prob_), self._decision_prior())

    def _scorer(self) -> Scorer:
        table = np.ascontiguousarray(self.feature_log_prob_.T)
        return TableScorer(table, np.zeros(table.shape[1]), EMPTY_TABLE)

    def _word_parts(
        self, columns: Index, counts: Floats, seen: NDArray[np.bool_] | None = None
    ) -> Floats:
        return times(counts, self.feature_log_prob_[:, columns].T)

    def _left_out_scores(self, rows: Rows) -> Floats:
        scores = joint_log_proba(self._scorer(), rows.X, np.zeros(len(self.classes_)))
        pseudo = self._pseudocounts(self._concentration())
        return leave_one_out_complement(rows, self.feature_count_, pseudo, scores, norm=self.norm)

    def _left_out_log_prior(self, rows: Rows) -> Floats:
        """Return 0, for the rule has no prior, and -inf for a class that is gone."""
        prior = np.zeros((rows.shape[0], len(self.classes_)))
        if not self.classes_closed_:
            gone = np.flatnonzero(self._alone(rows))
            prior[gone, rows.codes[gone]] = -np.inf
        return prior

    def _decision_prior(self) -> Floats:
        """Return zeros: the rule has no prior, except that one class alone is sure."""
        if len(self.classes_) == 1:
            return self._log_prior()
        return np.zeros(len(self.classes_))


def _normalised(logged: Floats) -> Floats:
    """Return the weights of one class, (V,), that add up to 1.

    Words that the others never had outweigh the rest without bound as alpha falls to 0, and in
    the limit share all the weight.
    """
    never = np.isinf(logged)
    if never.any():
        return np.asarray(never / never.sum())
    total = logged.sum()
    return np.asarray(logged / (total if total != 0 else 1.0))
