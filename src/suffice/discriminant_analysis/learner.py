"""What the Gaussian discriminants share: the tally, gaps by EM, densities, patience."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice.count import count_patterns, count_quartics
from suffice.data.rows import Rows
from suffice.errors import ConvergenceWarning, InputError, MergeError, warn_caller
from suffice.estimators.answers import GenerativeAnswers
from suffice.estimators.explains import ColumnScores
from suffice.estimators.settings import differences
from suffice.families.gaussians import GaussianClasses as ClassConditional
from suffice.families.gaussians import linear_form
from suffice.families.leave_one_out_gaussian import Mask
from suffice.gaussian.em import EMResult, Estimate, fit_em
from suffice.generative.legacy_bridge import BecomesLogistic, LinearForm, over_normals
from suffice.persist.refusal import refuse
from suffice.scoring import scorer as scoring
from suffice.scoring.dense import LinearScorer
from suffice.tally import Groups, Moments, Patterns, Quartics, Tally
from suffice.tally.tally import ROUNDING, Floats, Index

# How long EM goes on where the user has no say in it: scikit-learn's classes have no max_iter.
MAX_ITER = 1000
TOL = 1e-9


class GaussianLearner(BecomesLogistic, GenerativeAnswers):
    """A Gaussian classifier on moments of whole rows, by pattern of gaps.

    A subclass reads its attributes and its law off the tally in `_solve`, and names in `_derived`
    what `_solve` sets, so that a model that cannot be read yet shows nothing stale.
    """

    _law: ClassConditional
    _moments: Moments
    priors: Any
    priors_: Floats
    _float_type: type[np.floating[Any]] = np.float64
    _saved: ClassVar[tuple[str, ...]] = (*GenerativeAnswers._saved, "_float_type")

    @abstractmethod
    def _solve(self, groups: Groups[Any]) -> None:
        """Set the fitted attributes, `_law` among them, or say why the tally is not enough."""

    def _check_settings(self) -> None:
        """Refuse parameters that do not go together, whatever the rows."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = getattr(self, "shrinkage", None) != "auto"
        tags.input_tags.sparse = True
        return tags

    def _count(self, rows: Rows) -> tuple[Floats, Tally]:
        self._check_settings()
        self._counted_type = np.float32 if rows.X.dtype == np.float32 else np.float64
        if getattr(self, "shrinkage", None) == "auto":
            return count_quartics(rows)
        return count_patterns(rows)

    def _tallied(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        reset: bool,
        known: Any = None,
        groups: Any = None,
        forget: bool = False,
    ) -> Groups[Any]:
        found = super()._tallied(
            X, y, sample_weight, reset=reset, known=known, groups=groups, forget=forget
        )
        counted = self.__dict__.pop("_counted_type")
        before = counted if reset else getattr(self, "_float_type", counted)
        self._float_type = np.result_type(counted, before).type
        return found

    def _check_saved(self, state: dict[str, Any]) -> None:
        super()._check_saved(state)
        if state.get("_float_type", np.float64) not in (np.float32, np.float64):
            refuse(f"Its rows were of {state['_float_type']!r:.80}.")

    def _counted_by(self) -> Any:
        return getattr(self, "shrinkage", None) == "auto"

    def _linear_form(self) -> LinearForm:
        self._check_readable()
        weights, bias = linear_form(self._law)
        return over_normals(weights, bias + self._log_prior(), self.n_features_in_)

    def _check_mergeable(self, other: Any) -> None:
        super()._check_mergeable(other)
        mine, theirs = type(self.tally_.parts), type(other.tally_.parts)
        if mine is not theirs:
            told_by = [name for name in ("covariance", "shrinkage") if hasattr(self, name)]
            self._refuse_different(differences(self, other, told_by))
            raise MergeError(
                f"Cannot merge: {mine.__name__} were counted here and {theirs.__name__} there. "
                "Learn both with the same settings; nothing was changed."
            )

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows: the same as `fit` on all rows so far, in any order.

        Rows that do not suffice for a model yet are kept, with a warning; answers then wait for
        more.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array-like, optional
            At the first call: all the classes there will ever be; another label is then an
            error. Without it a new label becomes a new class (see `new_classes_`).
        """
        with self._patiently():
            return super().partial_fit(X, y, classes, sample_weight)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows that were learned: the same as `fit` on the others.

        A class of which no row is left is no class any more, unless `classes` closed the set.

        Give rows with the weights they were learned with. More than was learned is refused, but a
        plausible row that was never learned cannot be noticed.
        """
        with self._patiently():
            return super().forget(X, y, sample_weight)

    def merge(self, other: Self) -> Self:
        """Learn all that another model of the same kind has learned.

        The other model may know other classes. It is left as it was.
        """
        with self._patiently():
            return super().merge(other)

    def _read(self, groups: Groups[Any]) -> None:
        derived = (*self._derived, "_law", "_moments")
        self._read_or_wait(lambda: self._solve(groups), derived)

    _derived: tuple[str, ...] = ("means_", "priors_", "n_iter_", "converged_")

    def _completed(
        self,
        parts: Patterns | Quartics,
        estimate: Estimate,
        max_iter: int = MAX_ITER,
        tol: float = TOL,
    ) -> Moments:
        """Return moments of whole rows, (C, d, d): those counted, or what EM expects of gaps."""
        if isinstance(parts, Quartics):
            found = EMResult(parts.moments(), 1, True, 0.0)
        else:
            found = fit_em(parts, estimate, max_iter, tol)
        self.n_iter_, self.converged_ = found.iterations, found.converged
        if not found.converged:
            warn_caller(
                f"EM over the missing values moved by {found.last_change:.1e} standard deviations "
                f"in its last of {found.iterations} iterations. Raise max_iter or tol, or fill the "
                "gaps.",
                ConvergenceWarning,
            )
        return found.moments

    # Answers.

    def _scorer(self) -> scoring.Scorer:
        self._check_readable()
        return self._law.scorer()

    def _split(self, cells: Floats) -> ColumnScores:
        columns, scorer = np.arange(len(cells)), self._scorer()
        if not isinstance(scorer, LinearScorer):
            return ColumnScores(columns, self._law.split(cells))
        seen = np.flatnonzero(~np.isnan(cells))
        parts = np.zeros((len(cells), len(self.classes_)))
        if not seen.size:
            return ColumnScores(columns, parts)
        linear = scorer if len(seen) == len(cells) else scorer.marginal(seen)
        parts[seen] = (linear.weights * (cells[seen] - linear.centre)).T
        return ColumnScores(columns, parts, linear.bias)

    def _density(self) -> scoring.Scorer:
        self._check_readable()
        return self._law.density()

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log p(x, class), (n_samples, n_classes)."""
        joint: Floats = self._answer(scoring.joint_log_proba, X, self._fitted(self._density))
        return joint

    def score_samples(self, X: Any) -> Floats:
        """Return log p(x), (n_samples,): low for rows unlike anything learned.

        Gaps are marginalised, so rows with more gaps have higher densities.
        """
        density: Floats = self._answer(scoring.log_density, X, self._fitted(self._density))
        return density

    def _fitted(self, scorer: Any) -> Any:
        """Return a scorer, or None before `fit`: whoever answers says so."""
        return scorer() if hasattr(self, "tally_") else None

    def _sample_features(self, codes: NDArray[np.intp], rng: np.random.Generator) -> Floats:
        self._check_readable()
        return self._law.sample(codes, rng)

    def _log_prior(self) -> Floats:
        self._check_readable()
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.asarray(self.priors_, dtype=np.float64)))

    def _class_prior_is_given(self) -> bool:
        return getattr(self, "priors", None) is not None

    # Holding rows out.

    def _with_held_prior(self, kept: Index) -> Self:
        held = copy(self)
        held.priors = self.priors_[kept] / self.priors_[kept].sum()
        chosen = getattr(self, "prior_", None)
        # A prior has its place for every class; with fewer, evidence chooses it anew.
        if chosen is not None and len(kept) == len(self.classes_):
            held.prior = chosen
        return held

    @abstractmethod
    def _fill_left_out(self, rows: Rows, out: Floats) -> Mask:
        """Set log p(x | class) without each row, (n, C); return the rows to be read anew, (n,)."""

    def _without_closed_form(self) -> str:
        """Return why rows cannot be left out in closed form, or nothing."""
        parts = self.tally_.parts
        if isinstance(parts, Quartics):
            return "shrinkage='auto' depends on fourth powers of the rows"
        if isinstance(parts, Patterns) and parts.has_missing:
            return "rows with gaps are learned by EM"
        return ""

    def _why_refit(self) -> str:
        return self._without_closed_form() or "rows that a covariance hangs on"

    def _learned_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        # Counting notes what it met in the model, which is not to change.
        return super(GaussianLearner, copy(self))._learned_rows(X, y, sample_weight)

    def _refitted_joint(self, rows: Rows) -> Floats:
        model = copy(self)
        last = self._is_last(rows) & (self._class_prior_is_given() and not self.classes_closed_)
        out = np.empty((rows.shape[0], len(self.classes_)))
        if not last.all():
            others = rows.take(np.flatnonzero(~last))
            out[~last] = super(GaussianLearner, model)._refitted_joint(others)
        for number in np.flatnonzero(last):
            # Of given class probabilities those of the classes that are left count.
            kept = np.arange(len(self.classes_)) != rows.codes[number]
            model.priors = self.priors_[kept] / self.priors_[kept].sum()
            one = rows.take(np.array([number]))
            out[number] = super(GaussianLearner, model)._refitted_joint(one)[0]
        return out

    def _left_out_joint(self, rows: Rows) -> Floats | None:
        self._check_readable()
        weights = row_weights(rows)
        total = float(self.tally_.weights.sum())
        alone = np.flatnonzero(total - weights <= ROUNDING * total)
        if alone.size:
            raise InputError(
                f"Without row {alone[0]} nothing is learned that could speak of it. Learn two "
                "rows or more."
            )
        if self._without_closed_form():
            return None
        joint = np.empty((rows.shape[0], len(self.classes_)))
        doubtful = self._fill_left_out(rows, joint)
        joint += self._left_out_log_prior(rows)
        anew = np.flatnonzero(doubtful)
        if anew.size:
            joint[anew] = self._read_anew(rows, anew)
        return joint

    def _fill_densities(self, rows: Rows, out: Floats) -> None:
        """Set log p(x | class) of all that was learned: right for all classes but the row's own."""
        out[:] = scoring.joint_log_proba(self._density(), rows.X, np.zeros(out.shape[1]))

    def _is_last(self, rows: Rows) -> Mask:
        """Say which rows are all that their class has."""
        held = self.tally_.weights[rows.codes]
        return np.asarray(held - row_weights(rows) <= ROUNDING * held)

    def _read_anew(self, rows: Rows, numbers: NDArray[np.intp]) -> Floats:
        """Return log p(x, class) by reading the tally without each of these few rows."""
        try:
            return self._refitted_joint(rows.take(numbers))
        except (ValueError, np.linalg.LinAlgError) as reason:
            for number in numbers:
                self._read_one_anew(rows, int(number))
            raise AssertionError("A row that could not be left out can be now.") from reason

    def _read_one_anew(self, rows: Rows, number: int) -> None:
        try:
            self._refitted_joint(rows.take(np.array([number])))
        except (ValueError, np.linalg.LinAlgError) as reason:
            raise type(reason)(f"Without row {number} there is no model. {reason}") from reason


def row_weights(rows: Rows) -> Floats:
    """Return the weight of each row, (n,)."""
    return rows.weights if rows.weights.size else np.ones(rows.shape[0])
