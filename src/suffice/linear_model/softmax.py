"""The weights of a softmax regression: what they say of rows, and of themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.estimators.features import Columns, read_features
from suffice.estimators.one_row import one_row, show_cell
from suffice.linear_model.summary import Summary, count_columns
from suffice.persist.checks import check_columns, check_kinds, check_shapes, refuse
from suffice.prior.predictive import Normal
from suffice.scoring import scorer as scoring
from suffice.scoring.dense import SoftmaxScorer
from suffice.scoring.explanation import Explanation, RowScores, explain_scores
from suffice.tally.tally import Floats

# How the weights were found; those of a model that was given them say nothing of it.
SEARCH_FIELDS = ("_total", "loss_curve_", "n_iter_", "converged_", "solver_")


@dataclass(frozen=True, eq=False)
class SoftmaxSearch:
    """How weights were found: from rows of which weight, by which solver, in how many steps."""

    total: float
    losses: list[float]
    n_iter: NDArray[np.int32]
    converged: bool
    solver: str


@dataclass(frozen=True, eq=False)
class SoftmaxWeights:
    """p(class | x) = softmax(W x + b), and what is known of W and b.

    Parameters
    ----------
    columns : the d columns
    classes : (C,)
    coefficients : (C, d), an array or a CSR matrix
        One row for two classes is the difference of their weights.
    intercepts : (C,), or (1,)
    deviations : standard deviations of both, or None if they are not known
    search : how the weights were found, or None if they were given
    """

    columns: Columns
    classes: NDArray[Any]
    coefficients: Any
    intercepts: Floats
    deviations: tuple[Floats, Floats] | None = None
    search: SoftmaxSearch | None = None

    def dense_coefficients(self) -> Floats:
        """Return W as an array."""
        weights = self.coefficients
        return weights if isinstance(weights, np.ndarray) else np.asarray(weights.toarray())

    def by_class(self) -> tuple[Floats, Floats]:
        """Return a weight vector and an intercept for every class, (C, d) and (C,)."""
        coef = self.dense_coefficients()
        intercept = np.broadcast_to(np.asarray(self.intercepts, dtype=np.float64), len(coef))
        if len(coef) == 1:
            nothing = np.zeros_like(coef)
            return np.vstack([nothing, coef]), np.concatenate([[0.0], intercept])
        return np.asarray(coef, dtype=np.float64), intercept

    def sparsify(self) -> SoftmaxWeights:
        """Return the same weights in a CSR matrix."""
        return replace(self, coefficients=sparse.csr_matrix(self.coefficients))

    def densify(self) -> SoftmaxWeights:
        """Return the same weights in an array."""
        return replace(self, coefficients=self.dense_coefficients())


def check_weights(weights: Floats, levels: Floats, names: Any, n_features: int | None) -> None:
    """Refuse weights that are no softmax over these classes."""
    rows = (len(names),) if len(names) > 2 else (1, 2)
    if names.ndim != 1 or len(names) < 2 or weights.ndim != 2 or len(weights) not in rows:
        raise InputError(
            f"coef of shape {weights.shape} is for other classes than these {names.size}. Give one "
            "row a class; for two classes one row may be their difference."
        )
    if levels.shape != (len(weights),):
        raise InputError(
            f"intercept of shape {levels.shape} beside coef of shape {weights.shape}. Give one "
            "intercept a row."
        )
    if not np.array_equal(np.unique(names), names):
        raise InputError(f"classes {names.tolist()[:5]} are not sorted, each once. Sort them.")
    if n_features is not None and n_features != weights.shape[1]:
        raise InputError(f"coef has {weights.shape[1]} columns, not n_features={n_features}.")
    for what, values in (("coef", weights), ("intercept", levels)):
        wrong = np.argwhere(~np.isfinite(values))
        if wrong.size:
            at = tuple(wrong[0].tolist())
            raise InputError(
                f"{what} holds {values[at]:g} at {at}. Weights must be finite: smooth the model "
                "they come from, so that no probability is 0."
            )


def score_rows(
    fitted: SoftmaxWeights, score: Callable[..., Any], X: Any, estimator_name: str
) -> Any:
    """Return what a scoring function (`suffice.scoring.scorer`) says of rows."""
    array, _ = read_features(X, fitted.columns, estimator_name)
    return _score(fitted, score, array, estimator_name)


def _score(
    fitted: SoftmaxWeights, score: Callable[..., Any], array: Any, estimator_name: str
) -> Any:
    weights, intercepts = fitted.by_class()
    try:
        return score(SoftmaxScorer(weights), array, intercepts)
    except scoring.Refused as refusal:
        names = fitted.columns.names
        rows = Rows(array, np.empty(0, np.int32), 0, names=names, estimator_name=estimator_name)
        refuse_row(rows, refusal.row)


def refuse_row(rows: Rows, row: int) -> NoReturn:
    """Say which cell of a row is no number."""
    cells = rows.cells(row).astype(np.float64)
    at = int(np.argmin(np.isfinite(cells)))
    kind = "NaN" if np.isnan(cells[at]) else "infinity"
    raise InputError(
        f"Input X contains {kind}: {cells[at]:g} in row {row}, {rows.column(at)}. "
        f"{rows.estimator_name} needs every cell: fill it or leave the row out, or use a "
        "generative classifier, which leaves missing values out."
    )


def explain_row(
    fitted: SoftmaxWeights, row: Any, target: Any, against: Any, estimator_name: str
) -> Explanation:
    """Return what each column of a row adds to the log-odds of a class: weight times cell."""
    array, _ = read_features(row, fitted.columns, estimator_name)
    _score(fitted, scoring.joint_log_proba, array, estimator_name)  # refuses what is no number
    cells = one_row(array)
    weights, intercepts = fitted.by_class()
    # Of a sparse row the cells that are stored.
    shown = np.arange(len(cells)) if isinstance(array, np.ndarray) else np.flatnonzero(cells)
    terms = fitted.columns.terms()
    names = [terms[at] for at in shown]
    values = [show_cell(name, cells[at]) for name, at in zip(names, shown, strict=True)]
    scores = RowScores(names, values, (weights * cells).T[shown], intercepts, 0.0)
    return explain_scores(scores, fitted.classes, target, against)


def weight_deviations(fitted: SoftmaxWeights, estimator_name: str) -> tuple[Floats, Floats]:
    """Return the standard deviations of coefficients and intercepts, or say why there are none."""
    if fitted.deviations is None:
        raise InputError(
            f"This {estimator_name} has weights but no standard deviations of them: they were "
            "given, or there are too many for second derivatives. Fit it to rows with fewer "
            "columns or classes."
        )
    return fitted.deviations


def summarize_weights(
    estimator_name: str, fitted: SoftmaxWeights, *, intercept: bool, C: float, level: float
) -> Summary:
    """Return the table of the weights of a model that was fitted to rows."""
    sd, intercept_sd = weight_deviations(fitted, estimator_name)
    location, search = fitted.dense_coefficients(), fitted.search
    columns = fitted.columns
    terms = columns.terms()
    if intercept:
        terms = ("intercept", *terms)
        location = np.column_stack([fitted.intercepts, location])
        sd = np.column_stack([intercept_sd, sd])
    lower, upper = Normal(location, np.square(sd)).interval(level)
    shown = fitted.classes[-1:] if len(location) == 1 else fitted.classes
    assert search is not None  # whoever has standard deviations was fitted
    facts = (
        ("loss", f"{search.losses[-1]:.4f}"),
        ("C", f"{C:g}"),
        ("solver", f"{search.solver} ({search.n_iter[0]} steps)"),
    )
    return Summary(
        f"{estimator_name}: {search.total:g} rows, {count_columns(columns.count)}",
        facts,
        tuple(str(name) for name in shown),
        terms,
        location,
        sd,
        lower,
        upper,
        level,
    )


# Saving: the weights are all that is left of the rows.


def saved_weights(fitted: SoftmaxWeights) -> dict[str, Any]:
    """Return what a model file holds of the weights."""
    state: dict[str, Any] = {
        "coef_": fitted.dense_coefficients(),
        "intercept_": fitted.intercepts,
        "classes_": fitted.classes,
        **fitted.columns.saved(),
    }
    if not isinstance(fitted.coefficients, np.ndarray):
        state["_sparse"] = True
    if fitted.deviations is not None:
        state["_sds"] = fitted.deviations
    found = fitted.search
    if found is None:
        return state
    values = (found.total, found.losses, found.n_iter, found.converged, found.solver)
    return {**state, **dict(zip(SEARCH_FIELDS, values, strict=True))}


def check_saved_weights(state: dict[str, Any]) -> None:
    """Refuse what a file holds if there cannot have been such a model."""
    columns = check_columns(state)
    given = ("coef_", "intercept_", "classes_")
    check_kinds(state, **dict.fromkeys(given, np.ndarray), _sds=tuple, solver_=str)
    check_kinds(state, _sparse=bool)
    weights, levels, names = (state[name] for name in given)
    check_weights(weights, levels, names, columns)
    if "_sds" in state:
        known = dict(zip(("coef_sd_", "intercept_sd_"), state["_sds"], strict=True))
        check_shapes(known, coef_sd_=weights.shape, intercept_sd_=levels.shape)
    if not state.keys().isdisjoint(SEARCH_FIELDS):
        _check_saved_search(state)
    elif "_sds" in state:
        refuse("It has standard deviations of weights that were given.")


def _check_saved_search(state: dict[str, Any]) -> None:
    missing = [name for name in SEARCH_FIELDS if name not in state]
    if missing:
        refuse(f"It does not say its {missing[0]!r}.")
    check_kinds(state, _total=float, loss_curve_=list, converged_=(bool, np.bool_), solver_=str)
    if not 0 < state["_total"] < np.inf:
        refuse(f"It was fitted to {state['_total']} rows.")
    losses = np.array(state["loss_curve_"])
    check_shapes({"loss_curve_": losses}, loss_curve_=(max(len(losses), 1),))
    check_shapes(state, n_iter_=(1,))


def restore_weights(state: dict[str, Any]) -> SoftmaxWeights:
    """Return the weights that a file holds, once they are checked."""
    search = None
    if SEARCH_FIELDS[0] in state:
        search = SoftmaxSearch(*(state[name] for name in SEARCH_FIELDS))
    weights = SoftmaxWeights(
        Columns.restore(state),
        state["classes_"],
        state["coef_"],
        state["intercept_"],
        state.get("_sds"),
        search,
    )
    return weights.sparsify() if state.get("_sparse") else weights
