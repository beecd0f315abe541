"""What softmax weights say of rows, and of themselves."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model._base import SparseCoefMixin
from sklearn.utils.validation import check_is_fitted

from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.estimators.explains import ColumnScores, explain_columns, one_row
from suffice.estimators.intake import names_of, owner, take_features
from suffice.linear_model.logistic_doubts import check_given
from suffice.linear_model.summary import Summary
from suffice.persist.agreement import check_columns, check_kinds, check_shapes
from suffice.persist.refusal import refuse
from suffice.persist.savable import Savable
from suffice.prior.prior import Interval
from suffice.prior.student_t import Normal
from suffice.scoring import scorer as scoring
from suffice.scoring.dense import SoftmaxScorer
from suffice.scoring.explanation import Explanation
from suffice.tally.tally import Floats

# How the weights were found; those of a model that was given them say nothing of it.
FOUND = ("_total", "loss_curve_", "n_iter_", "converged_", "solver_")


def _check_found(state: dict[str, Any]) -> None:
    """Refuse a fit that there cannot have been."""
    missing = [name for name in FOUND if name not in state]
    if missing:
        refuse(f"It does not say its {missing[0]!r}.")
    check_kinds(state, _total=float, loss_curve_=list, converged_=(bool, np.bool_), solver_=str)
    if not 0 < state["_total"] < np.inf:
        refuse(f"It was fitted to {state['_total']} rows.")
    losses = np.array(state["loss_curve_"])
    check_shapes({"loss_curve_": losses}, loss_curve_=(max(len(losses), 1),))
    check_shapes(state, n_iter_=(1,))


class SoftmaxAnswers(ClassifierMixin, SparseCoefMixin, BaseEstimator, Savable):
    """A classifier with p(class | x) = softmax(W x + b).

    W is `coef_` and b `intercept_`; one row for two classes is the difference of their weights.
    """

    classes_: NDArray[Any]
    coef_: Any
    intercept_: Floats
    fit_intercept: bool
    _saved: ClassVar[tuple[str, ...]] = (
        "coef_",
        "intercept_",
        "classes_",
        "n_features_in_",
        "feature_names_in_",
        "_sparse",
        "_sds",
        "_total",
        "loss_curve_",
        "n_iter_",
        "converged_",
        "solver_",
    )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _weights(self) -> tuple[Floats, Floats]:
        """Return a weight vector and an intercept for every class, (C, d) and (C,)."""
        coef = self.coef_ if isinstance(self.coef_, np.ndarray) else self.coef_.toarray()
        intercept = np.broadcast_to(np.asarray(self.intercept_, dtype=np.float64), len(coef))
        if len(coef) == 1:
            nothing = np.zeros_like(coef)
            return np.vstack([nothing, coef]), np.concatenate([[0.0], intercept])
        return np.asarray(coef, dtype=np.float64), intercept

    def _answer(self, answer: Any, X: Any) -> Any:
        check_is_fitted(self, "coef_")
        array = take_features(self, X, reset=False)
        weights, intercepts = self._weights()
        try:
            return answer(SoftmaxScorer(weights), array, intercepts)
        except scoring.Refused as refusal:
            rows = Rows(
                array, np.empty(0, np.int32), 0, names=names_of(self), estimator_name=owner(self)
            )
            refuse_row(rows, refusal.row)

    def decision_function(self, X: Any) -> Floats:
        """Return the scores W x + b, (n_samples, n_classes).

        With two classes: the log odds of the second, (n_samples,).
        """
        scores: Floats = self._answer(scoring.joint_log_proba, X)
        if scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row, (n_samples,)."""
        best = self._answer(scoring.best_class, X)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Return p(class | x), (n_samples, n_classes), in the order of `classes_`."""
        proba: Floats = self._answer(scoring.proba, X)
        return proba

    def predict_log_proba(self, X: Any) -> Floats:
        """Return log p(class | x), (n_samples, n_classes)."""
        log_proba: Floats = self._answer(scoring.log_proba, X)
        return log_proba

    def explain(self, row: Any, target: Any = None, against: Any = None) -> Explanation:
        """Return what each column of one row adds to the log-odds of a class: weight times cell.

        The contributions and the `base`, that of the intercepts, add up to the log-odds.

        Parameters
        ----------
        row : as for `predict`; one row
        target : class, optional
            The most probable one if not given.
        against : class, optional
            All others together if not given.

        Examples
        --------
        >>> from suffice.linear_model import LogisticRegression
        >>> model = LogisticRegression.from_weights([[2.0, -1.0]], [0.5], ["no", "yes"])
        >>> print(model.explain([[1.0, 3.0]], "yes"))
        yes against the rest: log-odds -0.500, probability 0.3775
        x1 = 3    -3.000  --------------------
        x0 = 1    +2.000  +++++++++++++
        (before)  +0.500  +++
        """
        self._answer(scoring.joint_log_proba, row)  # refuses cells that are no numbers
        array = take_features(self, row, reset=False)
        cells = one_row(array)
        weights, intercepts = self._weights()
        # Of sparse rows the cells that are stored.
        columns = np.arange(len(cells)) if isinstance(array, np.ndarray) else np.flatnonzero(cells)
        found = ColumnScores(columns, (weights * cells).T[columns])
        return explain_columns(self, cells, found, intercepts, 0.0, (target, against))

    # Saving: the weights are all that is left of the rows.

    def _saved_state(self) -> dict[str, Any]:
        state = super()._saved_state()
        if not isinstance(state.get("coef_", self), np.ndarray | type(self)):
            # The sparse matrix that sparsify() made, and makes again.
            state |= {"coef_": self.coef_.toarray(), "_sparse": True}
        return state

    def _check_saved(self, state: dict[str, Any]) -> None:
        columns = check_columns(state)
        given = ("coef_", "intercept_", "classes_")
        check_kinds(state, **dict.fromkeys(given, np.ndarray), _sds=tuple, solver_=str)
        check_kinds(state, _sparse=bool)
        weights, levels, names = (state[name] for name in given)
        check_given(weights, levels, names, columns)
        if "_sds" in state:
            known = dict(zip(("coef_sd_", "intercept_sd_"), state["_sds"], strict=True))
            check_shapes(known, coef_sd_=weights.shape, intercept_sd_=levels.shape)
        if not state.keys().isdisjoint(FOUND):
            _check_found(state)
        elif "_sds" in state:
            refuse("It has standard deviations of weights that were given.")

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore({name: value for name, value in state.items() if name != "_sparse"})
        if state.get("_sparse"):
            self.sparsify()

    def _rows_learned(self) -> float | None:
        total: float | None = getattr(self, "_total", None)
        return total

    # What is known of the weights.

    def _deviations(self) -> tuple[Floats, Floats]:
        check_is_fitted(self, "coef_")
        known: tuple[Floats, Floats] | None = self.__dict__.get("_sds")
        if known is None:
            raise InputError(
                f"This {type(self).__name__} has weights but no standard deviations of them: they "
                "were given, or there are too many for second derivatives. Fit it to rows with "
                "fewer columns or classes."
            )
        return known

    @property
    def coef_sd_(self) -> Floats:
        """Laplace's standard deviations of `coef_`."""
        return self._deviations()[0]

    @property
    def intercept_sd_(self) -> Floats:
        """Laplace's standard deviations of `intercept_`."""
        return self._deviations()[1]

    def interval(self, level: float = 0.95) -> Interval:
        """Return the interval of each coefficient that holds it with probability `level`.

        Two arrays like `coef_`, from the normal distribution that fits the posterior at its mode.
        """
        sd = self.coef_sd_
        weights = self.coef_ if isinstance(self.coef_, np.ndarray) else self.coef_.toarray()
        return Normal(weights, np.square(sd)).interval(level)

    def summary(self, level: float = 0.95) -> Summary:
        """Return the table of coefficients: estimate, standard deviation, interval.

        Two classes have one part, of the log odds of the second; more have one part each.
        """
        sd, intercept_sd = self._deviations()
        location = self.coef_ if isinstance(self.coef_, np.ndarray) else self.coef_.toarray()
        columns = location.shape[1]
        terms = names_of(self) or tuple(f"x{at}" for at in range(columns))
        if self.fit_intercept:
            terms = ("intercept", *terms)
            location = np.column_stack([self.intercept_, location])
            sd = np.column_stack([intercept_sd, sd])
        lower, upper = Normal(location, np.square(sd)).interval(level)
        shown = self.classes_[-1:] if len(location) == 1 else self.classes_
        return Summary(
            f"{type(self).__name__}: {self._rows_told()}{columns} column"
            f"{'s' if columns != 1 else ''}",
            self._facts(),
            tuple(str(name) for name in shown),
            terms,
            location,
            sd,
            lower,
            upper,
            level,
        )

    def _rows_told(self) -> str:
        return ""

    def _facts(self) -> tuple[tuple[str, str], ...]:
        return (("classes", str(len(self.classes_))),)


def refuse_row(rows: Rows, row: int) -> NoReturn:
    """Say which cell of a row is no number."""
    cells = rows.cells(row).astype(np.float64)
    at = int(np.argmin(np.isfinite(cells)))
    kind = "NaN" if np.isnan(cells[at]) else "infinity"
    raise InputError(
        f"Input X contains {kind}: {cells[at]:g} in row {row}, {rows.column(at)}. "
        f"{rows.estimator_name} needs every cell: fill it or leave the row out, or use a "
        "generative classifier, which leaves gaps out."
    )
