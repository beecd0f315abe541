"""The weights of a logistic (softmax) regression: how they are fitted, and what they predict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import compute_class_weight

from suffice._core import first_incomplete_row
from suffice.data.rows import Rows, readable
from suffice.errors import ConvergenceWarning, InputError, SufficeWarning, warn_caller
from suffice.estimators.features import Columns, one_row, read_features, show_cell
from suffice.linear_model.summary import Summary, count_columns
from suffice.linear_model.weight_prior import NO_PRIOR, GivenPrior, read_prior
from suffice.logistic.laplace import left_out_scores
from suffice.logistic.passes import RowPasses
from suffice.logistic.penalty_search import penalty_by_evidence
from suffice.logistic.softmax_fit import SoftmaxFit, SoftmaxSettings, fit_softmax
from suffice.persist.checks import check_columns, check_kinds, check_shapes, refuse
from suffice.prior.predictive import Normal
from suffice.scoring import scorer as scoring
from suffice.scoring.explanation import Explanation, RowScores, explain_scores
from suffice.scoring.gaussian import SoftmaxScorer
from suffice.tally.tally import Floats
from suffice.validation.cross_validation import LeaveOneOutResult

R = TypeVar("R", Rows, Rows | RowPasses)
# Rows whose leverages are computed together.
LEVERAGE_ROWS = 4096
# Names in a file for how weights were found; weights that were given have none of them.
SEARCH_FIELDS = ("_total", "loss_curve_", "n_iter_", "converged_", "solver_")
# And for what is known of them; older files have only the standard deviations.
LAPLACE_FIELDS = ("_covariance", "_log_evidence", "_variance")


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
    covariance : (R width, R width), of one row after the other, its intercept last; or None
    log_evidence : float, or None if it is not known
    variance : C, or None if the weights were given
    search : how the weights were found, or None if they were given
    """

    columns: Columns
    classes: NDArray[Any]
    coefficients: Any
    intercepts: Floats
    deviations: tuple[Floats, Floats] | None = None
    search: SoftmaxSearch | None = None
    covariance: Floats | None = None
    log_evidence: float | None = None
    variance: float | None = None

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

    def check_deviations(self, estimator_name: str) -> tuple[Floats, Floats]:
        """Return the standard deviations of coefficients and intercepts; refuse if unknown."""
        if self.deviations is None:
            raise InputError(
                f"This {estimator_name} has weights but no standard deviations of them: they were "
                "given, or there are too many for second derivatives. Fit it to rows with fewer "
                "columns or classes."
            )
        return self.deviations

    def check_covariance(self, estimator_name: str) -> Floats:
        """Return the covariance of coefficients and intercepts; refuse if unknown."""
        self.check_deviations(estimator_name)
        if self.covariance is None:
            raise InputError(
                f"The file of this {estimator_name} has no covariances of its weights: it was "
                "written before they were kept. Fit it again."
            )
        return self.covariance

    def check_log_evidence(self, estimator_name: str) -> float:
        """Return the log evidence; refuse if there is none."""
        if self.log_evidence is None:
            raise InputError(
                f"This {estimator_name} has no evidence: its weights were given, or have no prior "
                "(C=np.inf), or a prior that was taken from the same labels, or the optimum was "
                "not found, or there are too many parameters for second derivatives. Fit it to "
                "rows with a finite C."
            )
        return self.log_evidence

    def leave_one_out(self, rows: Rows, estimator_name: str) -> LeaveOneOutResult:
        """Return the probabilities of each row by weights fitted without it (one Newton step)."""
        covariance = self.check_covariance(estimator_name)
        if not np.isfinite(covariance).all():
            raise InputError(
                "Some weights are not determined by the rows, so there is no model without a row. "
                "Leave columns out, or give a finite C."
            )
        scores = self.score_array(scoring.joint_log_proba, rows.X, estimator_name)
        vectors, width = len(self.intercepts), len(covariance) // len(self.intercepts)
        blocks = covariance.reshape(vectors, width, vectors, width)
        if vectors > 1:
            blocks = blocks[1:] - blocks[:1]
            blocks = blocks[:, :, 1:] - blocks[:, :, :1]
        free = len(blocks)
        leverages = np.empty((len(scores), free, free))
        for start in range(0, len(scores), LEVERAGE_ROWS):
            some = slice(start, start + LEVERAGE_ROWS)
            cells = rows.X[some].toarray() if rows.sparse else np.asarray(rows.X[some], np.float64)
            if width > cells.shape[1]:
                cells = np.column_stack([cells, np.ones(len(cells))])
            for k in range(free):
                for other in range(free):
                    leverages[some, k, other] = (cells @ blocks[k, :, other] * cells).sum(axis=1)
        weights = rows.row_weights
        found = left_out_scores(scores[:, 1:] - scores[:, :1], rows.codes, weights, leverages)
        joint = np.column_stack([np.zeros(len(found)), found])
        return LeaveOneOutResult.of(joint, rows.codes, weights, self.classes)

    # Answers.

    def score(self, score: Callable[..., Any], X: Any, estimator_name: str) -> NDArray[Any]:
        """Return a scoring function (`suffice.scoring.scorer`) of rows."""
        array, _ = read_features(X, self.columns, estimator_name)
        return self.score_array(score, array, estimator_name)

    def score_array(
        self, score: Callable[..., Any], array: Any, estimator_name: str
    ) -> NDArray[Any]:
        """Return a scoring function of rows that are read: an array or CSR matrix."""
        weights, intercepts = self.by_class()
        try:
            return np.asarray(score(SoftmaxScorer(weights), array, intercepts))
        except scoring.Refused as refusal:
            names, no_labels = self.columns.names, np.empty(0, np.int32)
            rows = Rows(array, no_labels, 0, names=names, estimator_name=estimator_name)
            _refuse_row(rows, refusal.row)

    def explain(self, row: Any, target: Any, against: Any, estimator_name: str) -> Explanation:
        """Return what each column of a row adds to the log-odds of a class: weight times cell."""
        array, _ = read_features(row, self.columns, estimator_name)
        # Refuses what is no number.
        self.score_array(scoring.joint_log_proba, array, estimator_name)
        cells = one_row(array)
        weights, intercepts = self.by_class()
        # Of a sparse row the cells that are stored.
        shown = np.arange(len(cells)) if isinstance(array, np.ndarray) else np.flatnonzero(cells)
        terms = self.columns.terms()
        names = [terms[at] for at in shown]
        values = [show_cell(name, cells[at]) for name, at in zip(names, shown, strict=True)]
        scores = RowScores(names, values, (weights * cells).T[shown], intercepts, 0.0)
        return explain_scores(scores, self.classes, target, against)

    def summarize(self, estimator_name: str, *, intercept: bool, C: Any, level: float) -> Summary:
        """Return the table of the weights of a model that was fitted to rows."""
        sd, intercept_sd = self.check_deviations(estimator_name)
        location, search, terms = self.dense_coefficients(), self.search, self.columns.terms()
        if intercept:
            terms = ("intercept", *terms)
            location = np.column_stack([self.intercepts, location])
            sd = np.column_stack([intercept_sd, sd])
        lower, upper = Normal(location, np.square(sd)).interval(level)
        shown = self.classes[-1:] if len(location) == 1 else self.classes
        assert search is not None  # standard deviations come from a fit
        facts = (
            ("loss", f"{search.losses[-1]:.4f}"),
            ("C", f"{C if self.variance is None else self.variance:g}"),
            ("solver", f"{search.solver} ({search.n_iter[0]} steps)"),
        )
        title = f"{estimator_name}: {search.total:g} rows, {count_columns(self.columns.count)}"
        targets = tuple(str(name) for name in shown)
        return Summary(title, facts, targets, terms, location, sd, lower, upper, level)

    # Saving: the weights are all that is left of the rows.

    def saved(self) -> dict[str, Any]:
        """Return what a model file holds of the weights."""
        state: dict[str, Any] = {
            "coef_": self.dense_coefficients(),
            "intercept_": self.intercepts,
            "classes_": self.classes,
            **self.columns.saved(),
        }
        if not isinstance(self.coefficients, np.ndarray):
            state["_sparse"] = True
        if self.deviations is not None:
            state["_sds"] = self.deviations
        laplace = zip(
            LAPLACE_FIELDS, (self.covariance, self.log_evidence, self.variance), strict=True
        )
        state |= {name: value for name, value in laplace if value is not None}
        if self.search is None:
            return state
        values = (getattr(self.search, field.name) for field in fields(self.search))
        return {**state, **dict(zip(SEARCH_FIELDS, values, strict=True))}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> SoftmaxWeights:
        """Return the weights that a file holds, once they are checked (`check_saved`)."""
        search = None
        if SEARCH_FIELDS[0] in state:
            search = SoftmaxSearch(*(state[name] for name in SEARCH_FIELDS))
        arrays = state["classes_"], state["coef_"], state["intercept_"]
        laplace = (state.get(name) for name in LAPLACE_FIELDS)
        weights = cls(Columns.restore(state), *arrays, state.get("_sds"), search, *laplace)
        return weights.sparsify() if state.get("_sparse") else weights


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


def check_saved(state: dict[str, Any]) -> None:
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
    check_kinds(state, _covariance=np.ndarray, _log_evidence=float, _variance=float)
    if "_covariance" in state:
        square = state["_covariance"].shape
        sizes = (weights.size, weights.size + len(levels))
        if "_sds" not in state or square not in [(size, size) for size in sizes]:
            refuse(f"Its covariance of shape {square} is not that of its weights.")
    if not state.keys().isdisjoint(SEARCH_FIELDS):
        _check_saved_search(state)
    elif not state.keys().isdisjoint(("_sds", *LAPLACE_FIELDS)):
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


def _refuse_row(rows: Rows, row: int) -> NoReturn:
    """Say which cell of a row is no number."""
    cells = rows.cells(row).astype(np.float64)
    at = int(np.argmin(np.isfinite(cells)))
    kind = "NaN" if np.isnan(cells[at]) else "infinity"
    raise InputError(
        f"Input X contains {kind}: {cells[at]:g} in row {row}, {rows.column(at)}. "
        f"{rows.estimator_name} needs every cell: fill it or leave the row out, or use a "
        "generative classifier, which leaves missing values out."
    )


# C that is chosen by evidence.
EVIDENCE = "evidence"
# Every solver that may be named, and the one that finds the same optimum here.
SOLVER_USED = {
    "newton": "newton",
    "newton-cholesky": "newton",
    "lbfgs": "lbfgs",
    "newton-cg": "lbfgs",
    "sag": "lbfgs",
    "saga": "lbfgs",
    "gradient": "gradient",
}
SOLVERS = {*SOLVER_USED, "liblinear"}


def read_settings(params: Mapping[str, Any]) -> SoftmaxSettings:
    """Return how to fit, from the parameters of the estimator; refuse what is not here."""
    return SoftmaxSettings(
        _read_solver(params),
        _read_penalty(params),
        params["weights"] == "all",
        bool(params["fit_intercept"]),
        float(params["tol"]),
        int(params["max_iter"]),
        float(params["step_size"]),
    )


def _read_solver(params: Mapping[str, Any]) -> str:
    """Return which of our solvers to use."""
    if params["solver"] == "liblinear":
        raise InputError(
            "solver='liblinear' penalises the intercept too, which no solver here does. Use "
            "'newton' or 'lbfgs', or scikit-learn's class."
        )
    if params["dual"]:
        raise InputError(
            f"Solver {params['solver']} supports only dual=False, got dual={params['dual']}. The "
            "optimum of the dual is the same: use dual=False."
        )
    if params["n_jobs"] is not None:
        warn_caller(
            "'n_jobs' has no effect, as in scikit-learn since 1.8: all cores are used. Leave it "
            "out.",
            FutureWarning,
        )
    return SOLVER_USED[params["solver"]]


def _read_penalty(params: Mapping[str, Any]) -> float:
    """Return 1 / C, or 0 for no penalty; refuse what is no L2 penalty."""
    penalty, ratio, variance = params["penalty"], params["l1_ratio"], params["C"]
    if penalty != "deprecated":
        warn_caller(
            f"'penalty' was deprecated in scikit-learn 1.8. Leave penalty={penalty!r} out: C=np.inf"
            " is no penalty, and l1_ratio=0 an L2 penalty.",
            FutureWarning,
        )
    if ratio is None:
        warn_caller(
            "'l1_ratio=None' was deprecated in scikit-learn 1.8. Use l1_ratio=0.",
            FutureWarning,
        )
    if penalty in ("l1", "elasticnet") or ratio not in (None, 0):
        named = f"l1_ratio={ratio!r}" if penalty == "deprecated" else f"penalty={penalty!r}"
        raise InputError(
            f"{named} asks for an L1 penalty, which no solver here has. Use l1_ratio=0 (an L2 "
            "penalty), or scikit-learn's LogisticRegression with solver='saga'."
        )
    if penalty is None and variance != 1.0:
        warn_caller(
            "Setting penalty=None will ignore the C and l1_ratio parameters",
            UserWarning,
        )
    if variance == EVIDENCE:
        return 0.0 if penalty is None else 1.0
    return 0.0 if penalty is None or np.isinf(variance) else 1.0 / float(variance)


def fit_weights(
    rows: Rows | RowPasses,
    classes: Any,
    columns: Columns,
    settings: SoftmaxSettings,
    class_weight: Any = None,
    start: SoftmaxWeights | None = None,
    prior: GivenPrior = NO_PRIOR,
    *,
    by_evidence: bool = False,
) -> SoftmaxWeights:
    """Return the weights of least penalised loss.

    Parameters
    ----------
    rows : labelled, weighted rows, all cells finite (`check_complete`)
    classes : (C,)
    columns : of the rows
    settings : how to fit
    class_weight : mapping of classes to factors, "balanced" or None
    start : weights to start from, optional
    prior : mean and precision of the weights that were given
    by_evidence : bool
        Whether C is chosen by evidence.
    """
    if len(classes) < 2:
        raise InputError(
            "This solver needs samples of at least 2 classes in the data, but the data contains "
            f"only one class: {classes.tolist()[0]!r}. Learn rows of another class too."
        )
    rows = apply_class_weight(rows, classes, class_weight)
    settings = replace(settings, prior=read_prior(prior, rows, classes, by_evidence=by_evidence))
    if by_evidence and settings.penalty > 0:
        settings = replace(settings, penalty=penalty_by_evidence(rows, settings))
    fit = fit_softmax(rows, settings, _starting_point(start, rows))
    search = SoftmaxSearch(
        rows.total,
        [-value for value in fit.found.values],
        np.array([fit.found.steps], dtype=np.int32),
        fit.found.converged and not fit.unbounded,
        fit.solver,
    )
    _warn_of_fit(fit, settings)
    known = fit.known
    return SoftmaxWeights(
        columns,
        classes,
        fit.coefficients,
        fit.intercepts,
        None if known is None else known[:2],
        search,
        None if known is None else known.covariance,
        None if prior.has_seen_labels else fit.log_evidence,
        np.inf if settings.penalty == 0 else 1.0 / settings.penalty,
    )


def check_complete(rows: Rows) -> None:
    """Refuse rows with a cell that is missing or infinite, and name the first."""
    row = _first_missing_row(rows)
    if row >= 0:
        _refuse_row(rows, row)


def _first_missing_row(rows: Rows) -> int:
    """Return the first row with a cell that is not finite, or -1."""
    if rows.sparse:
        wrong = np.flatnonzero(~np.isfinite(rows.X.data))
        return int(np.searchsorted(rows.X.indptr, wrong[0], side="right")) - 1 if wrong.size else -1
    return int(first_incomplete_row(readable(rows.X)))


def _starting_point(
    start: SoftmaxWeights | None, rows: Rows | RowPasses
) -> tuple[Floats, Floats] | None:
    """Return the weights to start from, if there are any; refuse those of other rows."""
    if start is None:
        return None
    weights = start.dense_coefficients()
    shapes = [(rows.classes, rows.shape[1])]
    if rows.classes == 2:
        shapes.insert(0, (1, rows.shape[1]))
    if weights.shape not in shapes:
        raise InputError(
            f"Initialization coef is of shape {weights.shape} where these rows need {shapes[0]}. "
            "Use warm_start=False for rows of other columns or classes."
        )
    return weights, np.broadcast_to(start.intercepts, len(weights))


def apply_class_weight(rows: R, classes: Any, class_weight: Any) -> R:
    """Return the rows with their weights multiplied by those of their classes."""
    if class_weight is None:
        return rows
    class_sums = rows.class_weights
    if class_weight == "balanced" and not class_sums.all():
        raise InputError(
            f"The rows of class {classes.tolist()[int(np.argmin(class_sums))]!r} have no weight, "
            "so class_weight='balanced' has nothing to weigh. Weigh a row of it, or leave it out."
        )
    # A row of each class that has the weight of all its rows stands for them.
    by_class = compute_class_weight(
        class_weight, classes=classes, y=classes, sample_weight=class_sums
    )
    if not (class_sums * by_class).any():
        raise InputError("All class weights are zero: nothing would be learned. Weigh a class.")
    return rows.weigh_classes(by_class)


def _warn_of_fit(fit: SoftmaxFit, settings: SoftmaxSettings) -> None:
    """Warn if there is no optimum, if it was not reached, or if there are many."""
    found = fit.found
    if fit.unbounded:
        largest = np.abs(fit.coefficients).max(initial=0.0)
        warn_caller(
            "The columns separate classes, so the maximum is at infinity: larger weights fit ever "
            f"better. The largest is {largest:.4g} after {found.steps} steps; give a finite "
            "C.",
            SufficeWarning,
        )
        return
    if not found.converged:
        what = "step in standard deviations" if fit.solver == "newton" else "mean gradient"
        warn_caller(
            f"{fit.solver} failed to converge after {found.steps} iteration(s) "
            f"(max_iter={settings.max_iter}): the {what} was {found.distance:.3g} for "
            f"tol={settings.tol:g}. Increase max_iter, scale the columns, or use solver='newton'.",
            ConvergenceWarning,
        )
    if fit.undetermined:
        warn_caller(
            "Some columns do not vary or are combinations of others, so many weights fit alike; "
            "small ones are taken. Leave columns out, or give a finite C.",
            SufficeWarning,
        )
