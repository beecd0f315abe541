"""Hinges whose directions are learned with the regression on them."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice._sklearn import Interval, StrOptions
from suffice.basis.expansion import Expansion, FittedExpansion, read_cells
from suffice.basis.hinge import RandomHinges, check_hinges, draw_hinges, measure_columns
from suffice.basis.hinge_fit import Evidence, HingeFit, Likelihood, Objective, maximize
from suffice.errors import InputError
from suffice.estimators.features import Columns, generator
from suffice.estimators.fitted import keep_fitted
from suffice.estimators.labels import read_targets, take_labels
from suffice.persist.checks import refuse
from suffice.tally.tally import Floats
from suffice.threads import one_blas_thread


@dataclass(frozen=True, eq=False)
class LearnedHinges(RandomHinges):
    """`RandomHinges` with learned weights, and what the regression on them was worth."""

    objective: float
    n_iter: int


class LearnedHinge(Expansion):
    """max(0, w.z + b) of standardised rows z, with w and b learned (docs: mathematics, section 7).

    This is a network with one hidden layer. w and b maximise the evidence of the Bayesian linear
    regression on the hinges, in which the outer weights and the noise are integrated out, or the
    penalised likelihood of a logistic regression on them. Neither objective is concave: L-BFGS
    starts from several random hinges, and the best end is kept. It is the best that was found, and
    `random_state` may change it.

    w and b themselves are maximised, not integrated out, so `objective_` and the `log_evidence_`
    of the regression on top are higher than those of hinges chosen beforehand: compare models by
    held-out rows. With two rows for each w_j and b or fewer, `RandomHinge` predicts better.

    Parameters
    ----------
    n_features : int, default=10
        How many hinges.
    objective : "evidence" or "likelihood", default="evidence"
        "evidence" takes numbers y: the log evidence of `BayesianLinearRegression()`. "likelihood"
        takes classes y: that of `LogisticRegression(C)` on standardised hinges.
    C : float, default=1.0
        Variance of the prior of logistic weights; "evidence" finds the scale itself.
    restarts : int, default=10
        From how many random starts.
    max_iter : int, default=200
        The most steps from each start.
    random_state : int, numpy Generator or RandomState, optional
        Where the starts come from.

    Attributes
    ----------
    mean_, scale_ : ndarray of shape (n_features_in_,)
        As in `RandomHinge`.
    weights_ : ndarray of shape (n_features, n_features_in_)
        Of standardised rows, each of length 1.
    offsets_ : ndarray of shape (n_features,)
    directions_ : ndarray of shape (n_features, n_features_in_)
        The same directions in the columns' own units, each of length 1.
    objective_ : float
        The log evidence, or penalised log-likelihood, of the training rows.
    n_iter_ : int
        Steps from the best start.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = np.maximum(0.0, X @ [0.6, -0.8]) + 0.1 * rng.normal(size=200)
    >>> LearnedHinge(1, random_state=0).fit(X, y).directions_.round(1)
    array([[ 0.6, -0.8]])
    """

    _saved = (*Expansion._saved, "mean_", "scale_", "weights_", "offsets_", "objective_", "n_iter_")
    _functions = LearnedHinges
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_features": [Interval(Integral, 1, None, closed="left")],
        "objective": [StrOptions({"evidence", "likelihood"})],
        "C": [Interval(Real, 0, None, closed="neither")],
        "restarts": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_features: int = 10,
        *,
        objective: str = "evidence",
        C: float = 1.0,
        restarts: int = 10,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        self.n_features = n_features
        self.objective = objective
        self.C = C
        self.restarts = restarts
        self.max_iter = max_iter
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn directions and offsets from rows and what is to be predicted.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows with missing values (NaN, null) are left out.
        y : array-like of shape (n_samples,)
            Numbers, or classes if objective="likelihood".
        """
        with one_blas_thread:
            self._validate_params()
            cells, columns = read_cells(X, None, type(self).__name__)
            used, objective = self._read_objective(cells, y)
            functions = self._learn_from(cells, columns, used, objective)
        return keep_fitted(self, FittedExpansion(columns, functions))

    def _learn(self, cells: Floats, columns: Columns) -> LearnedHinges:
        raise InputError("LearnedHinge learns from X and y. Call fit(X, y).")

    def _read_objective(self, cells: Floats, y: Any) -> tuple[NDArray[np.bool_], Objective]:
        """Return which rows are learned, and what hinges of them are worth."""
        complete = np.asarray(~np.isnan(cells).any(axis=1))
        if self.objective == "likelihood":
            classes, codes = take_labels(cells, y, type(self).__name__)
            seen = codes[complete]
            if len(np.unique(seen)) < 2:
                raise InputError(
                    f"y has {len(np.unique(seen))} class, {classes.tolist()[:1]!r:.80}, in rows "
                    "without missing values. Give two or more."
                )
            kept = np.unique(seen)
            return complete, Likelihood((seen[:, None] == kept).astype(np.float64), float(self.C))
        targets, shape = read_targets(y, cells, type(self).__name__)
        if shape.count > 1:
            raise InputError(
                f"y has {shape.count} targets, and hinges are learned for one. Fit one for each."
            )
        used = complete & ~np.isnan(targets[:, 0])
        seen = targets[used, 0]
        if len(seen) < 2 or np.ptp(seen) == 0:
            raise InputError(
                f"y does not vary in the n_samples = {len(seen)} rows without missing values, so "
                "there is nothing to learn. Give rows with other targets."
            )
        # In units of their own deviation, so that no square overflows.
        sd = float(seen.std())
        return used, Evidence((seen - seen.mean()) / sd, sd)

    def _learn_from(
        self, cells: Floats, columns: Columns, used: NDArray[np.bool_], objective: Objective
    ) -> LearnedHinges:
        mean, scale = measure_columns(cells, columns, type(self).__name__)
        rows = np.asarray((cells[used] - mean) / scale)
        parameters = int(self.n_features) * (columns.count + 1)
        if len(rows) <= parameters:
            raise InputError(
                f"{self.n_features} hinges of {columns.count} columns have {parameters} weights "
                f"and offsets for n_samples = {len(rows)} rows without missing values, and would "
                "fit any y. Learn fewer hinges, from more rows, or use RandomHinge."
            )
        rng = generator(self.random_state)
        best: HingeFit | None = None
        for _ in range(int(self.restarts)):
            start = draw_hinges(rng, rows, int(self.n_features))
            found = maximize(rows, *start, objective, int(self.max_iter))
            if best is None or found.value > best.value:
                best = found
        assert best is not None  # there is at least one start
        return LearnedHinges(mean, scale, best.weights, best.offsets, best.value, best.steps)

    def _check_learned(self, state: dict[str, Any], columns: int) -> None:
        check_hinges(state, columns)
        if not isinstance(state["objective_"], float) or not np.isfinite(state["objective_"]):
            refuse(f"Its objective is {state['objective_']!r:.80}.")
        if type(state["n_iter_"]) is not int or state["n_iter_"] < 0:
            refuse(f"Its number of steps is {state['n_iter_']!r:.80}.")

    @property
    def mean_(self) -> Floats:
        """Mean of each column's cells, (n_features_in_,)."""
        return np.asarray(self._learned("mean_"))

    @property
    def scale_(self) -> Floats:
        """Standard deviation of each column's cells, (n_features_in_,)."""
        return np.asarray(self._learned("scale_"))

    @property
    def weights_(self) -> Floats:
        """Directions of standardised rows, (n_features, n_features_in_)."""
        return np.asarray(self._learned("weights_"))

    @property
    def offsets_(self) -> Floats:
        """Offset of each hinge, (n_features,)."""
        return np.asarray(self._learned("offsets_"))

    @property
    def directions_(self) -> Floats:
        """Directions in the columns' own units, (n_features, n_features_in_)."""
        weights = self._learned("weights_") / self._learned("scale_")
        length = np.linalg.norm(weights, axis=1, keepdims=True)
        return np.asarray(weights / np.where(length > 0, length, 1.0))

    @property
    def objective_(self) -> float:
        """The log evidence, or penalised log-likelihood, of the training rows."""
        return float(self._learned("objective_"))

    @property
    def n_iter_(self) -> int:
        """Steps from the best start."""
        return int(self._learned("n_iter_"))
