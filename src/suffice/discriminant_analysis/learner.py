"""What the Gaussian discriminants share: the tally, gaps by EM, densities, patience."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.count import count_patterns, count_quartics
from suffice.data.rows import Rows
from suffice.errors import ConvergenceWarning, MergeError
from suffice.model import scoring
from suffice.model.em import Completed, Estimate, complete
from suffice.model.laws import Law
from suffice.skin.answers import GenerativeAnswers
from suffice.tally import Groups, Moments, Patterns, Quartics, Tally
from suffice.tally.tally import Floats

# How long EM goes on where the user has no say in it: scikit-learn's classes have no max_iter.
MAX_ITER = 1000
TOL = 1e-9


class GaussianLearner(GenerativeAnswers):
    """A Gaussian classifier on moments of whole rows, by pattern of gaps.

    A subclass reads its attributes and its law off the tally in `_solve`, and names in `_derived`
    what `_solve` sets, so that a model that cannot be read yet shows nothing stale.
    """

    _law: Law
    _moments: Moments

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
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, known: Any = None
    ) -> Groups[Any]:
        groups = super()._tallied(X, y, sample_weight, reset=reset, known=known)
        counted = self.__dict__.pop("_counted_type")
        before = counted if reset else getattr(self, "_float_type", counted)
        self._float_type = np.result_type(counted, before).type
        return groups

    def _check_mergeable(self, other: Any) -> None:
        super()._check_mergeable(other)
        mine, theirs = type(self.tally_.parts), type(other.tally_.parts)
        if mine is not theirs:
            raise MergeError(
                f"Cannot merge: {mine.__name__} were counted here and {theirs.__name__} there "
                "(shrinkage='auto' needs more than other settings). Learn both with the same "
                "settings; nothing was changed."
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
        self._read_or_wait(lambda: self._solve(groups), derived, depth=6)

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
            found = Completed(parts.moments(), 1, True, 0.0)
        else:
            found = complete(parts, estimate, max_iter, tol)
        self.n_iter_, self.converged_ = found.iterations, found.converged
        if not found.converged:
            warnings.warn(
                f"EM over the gaps moved by {found.last_change:.1e} standard deviations in its "
                f"last of {found.iterations} iterations. Raise max_iter or tol, or fill the gaps.",
                ConvergenceWarning,
                stacklevel=7,
            )
        return found.moments

    # Answers.

    def _scorer(self) -> scoring.Scorer:
        self._check_readable()
        return self._law.scorer()

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
