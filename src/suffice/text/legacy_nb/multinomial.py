"""Multinomial naive Bayes: rows of counts, such as words in a document."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from suffice.count import count_words
from suffice.data.rows import Rows
from suffice.empirical_bayes.pseudocounts import SymmetricEvidence, best_pseudocount
from suffice.estimators.explains import ColumnScores
from suffice.estimators.folds import Experiment
from suffice.families.leave_one_out_counts import leave_one_out_multinomial
from suffice.generative.legacy_bridge import LinearForm
from suffice.prior import Dirichlet
from suffice.prior.predictive import draw_events
from suffice.prior.special import log_gamma_step
from suffice.scoring import scorer as scoring
from suffice.scoring.discrete import (
    EMPTY_TABLE,
    IntegratedCountScorer,
    TableScorer,
    log_ratio_table,
)
from suffice.tally import Counts, Groups
from suffice.tally.tally import Floats, Index
from suffice.text.legacy_nb.discrete import EVIDENCE, DiscreteNB, refuse_predictive
from suffice.text.legacy_nb.many_alphas import scores_at_once
from suffice.threads import with_one_blas_thread


class CountRows(DiscreteNB):
    """Naive Bayes whose tally is one multinomial a class."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _count(self, rows: Rows) -> tuple[Floats, Counts]:
        return count_words(rows)

    def _read_counts(self, groups: Groups[Counts]) -> None:
        self._read_classes(groups)
        self.feature_count_ = groups.parts.counts

    def _concentration(self) -> Any:
        """Return the pseudocounts, a number or an array that broadcasts to (C, d)."""
        if isinstance(self._smoothing, Dirichlet):
            return self._smoothing.concentration
        return self._smoothing

    def _pseudocounts_used(self) -> Any:
        return self._concentration()

    def _alpha_by_evidence(self, groups: Groups[Counts]) -> float:
        evidence = SymmetricEvidence.of(groups.parts.counts)
        return best_pseudocount(evidence.slope, evidence.log_evidence)

    def _own_scores(self, rows: Rows) -> Floats:
        polya = self.estimate == "predictive"
        alpha = self._concentration()
        pseudo = alpha if polya else self._pseudocounts(alpha)
        return leave_one_out_multinomial(rows, self.feature_count_, pseudo, polya=polya)

    def _word_log_prob(self) -> Floats:
        """Return log p(word | class), (V, C)."""
        return log_ratio_table(self.feature_count_, self._pseudocounts(self._concentration()))

    def _linear_form(self) -> LinearForm:
        refuse_predictive(self.estimate, "Polya")
        return LinearForm(np.ascontiguousarray(self._word_log_prob().T), self._log_prior())

    def _word_scorer(self) -> scoring.Scorer:
        """Return the scorer of the multinomial, plugged in or (Polya) integrated out."""
        if self.estimate != "predictive":
            table = self._word_log_prob()
            return TableScorer(table, np.zeros(table.shape[1]), EMPTY_TABLE, 0.0, one_total=True)
        believed = np.ascontiguousarray((self.feature_count_ + self._concentration()).T)
        totals = believed.sum(axis=0)
        return IntegratedCountScorer(
            believed, EMPTY_TABLE, totals, np.zeros(len(totals)), EMPTY_TABLE
        )

    def score_samples(self, X: Any) -> Floats:
        """Return log p(x), (n_samples,): of the row's words in one order, given how many there are.

        As in `predict_joint_log_proba`, which scikit-learn defines so, the multinomial coefficient
        is left out: it is the same in all classes.
        """
        density: Floats = self._answer(scoring.log_density, X, self._word_scorer())
        return density

    def _split(self, cells: Floats) -> ColumnScores:
        columns = np.flatnonzero(cells)  # gaps among them, which add nothing
        gaps = np.isnan(cells)
        counts = np.where(gaps, 0.0, cells)[columns]
        return ColumnScores(columns, self._word_parts(columns, counts, ~gaps))

    @abstractmethod
    def _word_parts(
        self, columns: Index, counts: Floats, seen: NDArray[np.bool_] | None = None
    ) -> Floats:
        """Return what words (J,), so many times each, add to the scores, (J, C).

        Where words are hidden (not `seen`, of all (V,)), the others share their probability.
        """

    def _taken_off(self, columns: Index, counts: Floats, lengths: Floats) -> Floats:
        """Return what the scores of rows lose without one word, (J, C).

        Parameters
        ----------
        columns, counts : (J,)
            Which word it is, and how often the row has it.
        lengths : (J,)
            How many words the row has.
        """
        return self._word_parts(columns, counts)

    def _feature_parameters(self) -> int:
        classes, words = self.feature_count_.shape
        return int(classes * (words - 1))

    def _features_log_evidence(self) -> float:
        alpha = self._concentration()
        shape = self.feature_count_.shape
        concentration = np.broadcast_to(alpha, shape if np.ndim(alpha) else shape[1:])
        return float(np.sum(Dirichlet(concentration).log_evidence(self.tally_.parts)))

    def _sample_features(self, codes: NDArray[np.intp], rng: np.random.Generator) -> Any:
        """Draw rows whose lengths are Poisson about the mean length of their class."""
        weights = self.tally_.weights
        lengths = self.feature_count_.sum(axis=1) / np.where(weights > 0, weights, 1.0)
        events = draw_events(rng, lengths[codes])
        if self.estimate == "predictive":
            believed = self.feature_count_ + self._concentration()
            chances = np.stack([rng.dirichlet(believed[c]) for c in codes])
        else:
            chances = np.exp(self._word_log_prob().T)
            # A class without a word, unsmoothed, draws rows of length 0 from whatever it may.
            chances = np.where(chances.any(axis=1, keepdims=True), chances, 1.0)
            chances = (chances / chances.sum(axis=1, keepdims=True))[codes]
        return rng.multinomial(events, chances)


def times(counts: Floats, table: Floats) -> Floats:
    """Return counts (J,) times their rows of a table (J, C); 0 times anything is 0."""
    with np.errstate(invalid="ignore"):
        return np.where(counts[:, None] == 0, 0.0, counts[:, None] * table)


@with_one_blas_thread
class MultinomialNB(CountRows):
    """Naive Bayes for rows of counts (docs: mathematics, sections 2 and 8).

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,) or (n_classes, n_features), Dirichlet, or \
"evidence", default=1.0
        Pseudocounts; "evidence" takes the number that makes what was learned most probable.
    force_alpha, fit_prior, class_prior : as in scikit-learn
    estimate : {"mean", "mle", "map", "predictive"}, default="mean"
        How word probabilities are read off the tally: their posterior mean (scikit-learn's),
        maximum likelihood, posterior mode, or integrated out over the whole row (Polya).
    calibrate : {None, "folds"}, default=None
        "folds" has `fit` calibrate the probabilities on those of held-out folds (`calibration_`).
        "loo", an older name, does the same.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, feature_count_, feature_log_prob_ : as in scikit-learn
    alpha_ : float or ndarray
        The pseudocounts that were used.
    tally_ : Groups of Counts of shape (n_classes, n_features)

    Examples
    --------
    >>> model = MultinomialNB().fit([[2, 1], [0, 3]], ["ham", "spam"])
    >>> model.partial_fit([[5, 5]], ["news"]).new_classes_
    array(['news'], dtype='<U4')
    >>> model.predict([[0, 2]])
    array(['spam'], dtype='<U4')
    >>> bool(MultinomialNB(alpha="evidence").fit([[9, 0, 0], [0, 9, 0]], [0, 1]).alpha_ < 0.1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteNB._parameter_constraints,
        "alpha": [
            Interval(Real, 0, None, closed="left"),
            "array-like",
            Dirichlet,
            StrOptions({EVIDENCE}),
        ],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        estimate: str = "mean",
        calibrate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.estimate = estimate
        self.calibrate = calibrate

    def _scores(self, models: list[Any], experiment: Experiment) -> tuple[Floats, Floats, Floats]:
        at_once = scores_at_once(models, experiment)
        return super()._scores(models, experiment) if at_once is None else at_once

    def _read(self, groups: Groups[Counts]) -> None:
        self._read_counts(groups)
        self.feature_log_prob_ = self._word_log_prob().T

    def _scorer(self) -> scoring.Scorer:
        if self.estimate == "predictive":
            return self._word_scorer()
        table = self.feature_log_prob_.T
        return TableScorer(table, np.zeros(table.shape[1]), EMPTY_TABLE, 0.0, one_total=True)

    def _taken_off(self, columns: Index, counts: Floats, lengths: Floats) -> Floats:
        if self.estimate != "predictive":
            return super()._taken_off(columns, counts, lengths)
        believed = self.feature_count_ + np.broadcast_to(
            self._concentration(), self.feature_count_.shape
        )
        total, many = believed.sum(axis=1), counts[:, None]
        left = lengths[:, None] - many
        return np.asarray(
            log_gamma_step(believed[:, columns].T, many) - log_gamma_step(total + left, many)
        )

    def _word_parts(
        self, columns: Index, counts: Floats, seen: NDArray[np.bool_] | None = None
    ) -> Floats:
        if self.estimate == "predictive":
            # Integrated out: each word by itself, and its share of what the length takes off.
            believed = np.broadcast_to(self._concentration(), self.feature_count_.shape)
            believed = self.feature_count_ + believed
            total = (believed if seen is None else believed[:, seen]).sum(axis=1)
            length = float(counts.sum())
            share = counts[:, None] / (length or 1.0)
            each = log_gamma_step(believed[:, columns].T, counts[:, None])
            return np.asarray(each - share * log_gamma_step(total, length))
        parts = times(counts, self.feature_log_prob_[:, columns].T)
        if seen is None or seen.all():
            return parts
        left = np.exp(self.feature_log_prob_[:, seen]).sum(axis=1)
        return parts - counts[:, None] * np.log(np.where(left > 0, left, 1.0))
