"""Categorical naive Bayes: columns of levels 0, 1, 2, ..."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from suffice.count import count_levels
from suffice.data.rows import Rows
from suffice.empirical_bayes.pseudocounts import SymmetricEvidence, best_pseudocount
from suffice.errors import InputError
from suffice.estimators.explains import ColumnScores
from suffice.estimators.intake import column_name
from suffice.families.leave_one_out_counts import leave_one_out_categorical
from suffice.linear_model.bridge import LinearForm
from suffice.naive_bayes.discrete import DiscreteNB
from suffice.persist.refusal import refuse
from suffice.prior import Dirichlet
from suffice.scoring.discrete import LevelScorer, log_ratio_table
from suffice.scoring.scorer import Scorer
from suffice.tally import Blocks, Counts, Groups
from suffice.tally.tally import Floats
from suffice.threads import with_one_blas_thread

# Levels that min_categories may ask for in a saved model, seen or not: a short file is not to
# take gigabytes when it is loaded.
MOST_SAVED_LEVELS = 1 << 22


@with_one_blas_thread
class CategoricalNB(DiscreteNB):
    """Naive Bayes for columns of levels (docs: mathematics, sections 2 and 8).

    A level that was never seen has the probability of one that was seen zero times.

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,) or (n_classes, n_features), or "evidence", \
default=1.0
        Pseudocount of every level of a feature; "evidence" takes the number, one for all
        features, that makes what was learned most probable.
    force_alpha, fit_prior, class_prior, min_categories : as in scikit-learn
    estimate : {"mean", "mle", "map", "predictive"}, default="mean"
        How level probabilities are read off the tally. The posterior mean, which is what
        scikit-learn computes, is also the predictive probability.
    calibrate : {None, "folds"}, default=None
        "folds" has `fit` calibrate the probabilities on those of held-out folds (`calibration_`).
        "loo", an older name, does the same.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, category_count_, feature_log_prob_, n_categories_ : \
as in scikit-learn
    alpha_ : float or ndarray
        The pseudocounts that were used.
    tally_ : Groups of Blocks of Counts, a block a column

    Examples
    --------
    >>> model = CategoricalNB().fit([[0, 2], [1, 2], [1, 0]], ["a", "b", "b"])
    >>> model.predict([[0, 7]])
    array(['a'], dtype='<U1')
    >>> sure = CategoricalNB(alpha="evidence").fit([[0], [0], [2], [2]], ["a", "a", "b", "b"])
    >>> bool(sure.alpha_ < 0.1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteNB._parameter_constraints,
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
    }
    _takes_sparse = False

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
        estimate: str = "mean",
        calibrate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.estimate = estimate
        self.calibrate = calibrate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    def _count(self, rows: Rows) -> tuple[Floats, Blocks[Counts]]:
        return count_levels(rows)

    def _keep_learned(
        self, groups: Groups[Blocks[Counts]], *, first: bool = False
    ) -> Groups[Blocks[Counts]]:
        kept = [np.arange(_highest_level(part) + 1) for part in groups.parts.parts]

        def trimmed(tally: Groups[Any]) -> Groups[Any]:
            parts = zip(tally.parts.parts, kept, strict=True)
            blocks = Blocks(tuple(part.levels_at(levels) for part, levels in parts))
            return Groups(tally.classes, tally.weights, blocks)

        if hasattr(self, "_gross"):
            self._gross = trimmed(self._gross)
        return trimmed(groups)

    def _name_of_sum(self, path: tuple[int, ...], at: tuple[int, ...]) -> str:
        return f"level {at[1]} of {column_name(self, path[0])}"

    def _check_saved(self, state: dict[str, Any]) -> None:
        super()._check_saved(state)
        levels = int(self._fewest(state["n_features_in_"]).sum())
        if levels > MOST_SAVED_LEVELS:
            refuse(f"min_categories asks for {levels} levels, where {MOST_SAVED_LEVELS} are most.")

    def _read(self, groups: Groups[Blocks[Counts]]) -> None:
        columns = groups.parts.parts
        fewest = self._fewest(len(columns))
        self.category_count_ = [
            _seen_levels(part, int(least)) for part, least in zip(columns, fewest, strict=True)
        ]
        self.n_categories_ = np.array([count.shape[1] for count in self.category_count_])
        self._read_classes(groups)
        pseudo = self._column_pseudocounts(self._pseudocounts(self._smoothing))
        self.feature_log_prob_ = [
            log_ratio_table(count, pseudo[:, j, None]).T
            for j, count in enumerate(self.category_count_)
        ]

    def _alpha_by_evidence(self, groups: Groups[Blocks[Counts]]) -> float:
        evidence = SymmetricEvidence.of(*self.category_count_)
        return best_pseudocount(evidence.slope, evidence.log_evidence)

    def _own_scores(self, rows: Rows) -> Floats:
        pseudo = self._column_pseudocounts(self._pseudocounts(self._smoothing))
        fewest = self._fewest(len(self.category_count_))
        return leave_one_out_categorical(rows, self.category_count_, pseudo, fewest)

    def _column_pseudocounts(self, pseudo: Any) -> Floats:
        """Return the pseudocount of each class and column, (C, d)."""
        shape = (len(self.classes_), len(self.category_count_))
        return np.broadcast_to(np.asarray(pseudo, dtype=np.float64), shape)

    def _fewest(self, columns: int) -> NDArray[np.int64]:
        """Return how many levels each column has at least."""
        if self.min_categories is None:
            return np.ones(columns, np.int64)  # a column of gaps has a level too
        fewest = np.array(self.min_categories)
        if not np.issubdtype(fewest.dtype, np.signedinteger):
            raise InputError(
                f"'min_categories' should have integral type. Got {fewest.dtype} instead."
            )
        if fewest.shape not in ((), (columns,)):
            raise InputError(
                f"'min_categories' should have shape ({columns},) when an array-like is "
                f"provided. Got {fewest.shape} instead."
            )
        return np.maximum(np.broadcast_to(fewest, (columns,)).astype(np.int64), 1)

    def _scorer(self) -> Scorer:
        table = np.concatenate([log_prob.T for log_prob in self.feature_log_prob_])
        ends = np.cumsum(self.n_categories_)
        unseen = np.ascontiguousarray(self._log_unseen().T)
        return LevelScorer(ends - self.n_categories_, self.n_categories_, table, unseen)

    def _log_unseen(self) -> Floats:
        """Return the log probability of a level that was seen zero times, (C, d)."""
        pseudo = self._column_pseudocounts(self._pseudocounts(self._smoothing))
        totals = np.stack([count.sum(axis=1) for count in self.category_count_], axis=1)
        totals = totals + pseudo * self.n_categories_
        with np.errstate(divide="ignore"):
            share = np.where(totals > 0, pseudo / np.where(totals > 0, totals, 1.0), 0.0)
            return np.asarray(np.log(share))

    def _linear_form(self) -> LinearForm:
        from suffice.basis import Levels

        unseen = self._log_unseen()
        parts = [
            np.column_stack([log_prob, unseen[:, j]])
            for j, log_prob in enumerate(self.feature_log_prob_)
        ]
        return LinearForm(np.hstack(parts), self._log_prior(), Levels(self.n_categories_))

    def _split(self, cells: Floats) -> ColumnScores:
        parts, unseen = np.zeros((len(cells), len(self.classes_))), self._log_unseen()
        for j in np.flatnonzero(~np.isnan(cells)).tolist():
            level, known = int(cells[j]), self.feature_log_prob_[j]
            parts[j] = known[:, level] if level < known.shape[1] else unseen[:, j]
        return ColumnScores(np.arange(len(cells)), parts)

    def _feature_parameters(self) -> int:
        return int(len(self.classes_) * np.sum(self.n_categories_ - 1))

    def _features_log_evidence(self) -> float:
        alpha = self._column_pseudocounts(self._smoothing)
        total = 0.0
        for j, count in enumerate(self.category_count_):
            concentration = np.broadcast_to(alpha[:, j, None], count.shape)
            total += float(np.sum(Dirichlet(concentration).log_evidence(Counts(count))))
        return total

    def _sample_features(self, codes: NDArray[np.intp], rng: np.random.Generator) -> Any:
        out = np.empty((len(codes), len(self.feature_log_prob_)), np.int64)
        for j, log_prob in enumerate(self.feature_log_prob_):
            edges = np.cumsum(np.exp(log_prob), axis=1)[codes]
            draws = rng.random(len(codes))[:, None] * edges[:, -1:]
            out[:, j] = np.minimum((draws >= edges).sum(axis=1), log_prob.shape[1] - 1)
        return out


def _highest_level(part: Counts) -> int:
    """Return the highest level of which any is left, -1 if there is none."""
    seen = np.flatnonzero(part.counts.any(axis=0))
    return int(seen[-1]) if seen.size else -1


def _seen_levels(part: Counts, fewest: int) -> Floats:
    """Return counts (C, levels) up to the highest level of which any is left, or `fewest`."""
    levels = max(fewest, _highest_level(part) + 1)
    return np.ascontiguousarray(part.with_levels(levels).counts[:, :levels])
