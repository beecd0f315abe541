"""Fitting a softmax regression: Newton, L-BFGS or gradient ascent, and Laplace's normal."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.logistic.laplace import WeightCovariance, contrasts, covariance_at, log_evidence
from suffice.logistic.newton import (
    SHRINKING,
    HessianSample,
    Maximum,
    Point,
    StoppingRule,
    maximize,
    predicted_gain,
)
from suffice.logistic.passes import RowPasses
from suffice.logistic.softmax import (
    SoftmaxLogLikelihood,
    SoftmaxPosterior,
    WeightPrior,
    generative_start,
    standardize_columns,
)
from suffice.tally.tally import Floats

# Parameters up to which second derivatives are taken: a matrix of 8 MB, and no more work a row than
# some dozens of gradients. CSR rows are made dense for it, which pays for fewer.
MAX_PARAMETERS = 1000
MAX_SPARSE_PARAMETERS = 200
# Rows a parameter from which the Hessian of a sample is as good as that of all rows, and
# parameters whose Hessian costs about as much as all else in a pass.
ROWS_A_PARAMETER = 50
CHEAP_PARAMETERS = 8
# A last step as long as this, in standard deviations of a column, was no last step.
ENDLESS = 0.1
# Second derivatives are taken at a point no further than this from the optimum, in standard
# deviations: these change by about as much, relative to themselves, as the point moves.
AT_OPTIMUM = 1e-8
# Steps from a solver's result to there. Few are needed; where columns nearly repeat others,
# rounding may keep the last from being short.
MAX_LAST_STEPS = 20


@dataclass(frozen=True)
class SoftmaxSettings:
    """How to fit: `penalty` is 1 / C, `symmetric` whether it is of all C weight vectors.

    `prior` is the mean and the precision of the weights, where they were given.
    """

    solver: str
    penalty: float
    symmetric: bool
    intercept: bool
    tol: float
    max_iter: int
    step_size: float
    prior: WeightPrior | None = None

    def count_parameters(self, classes: int, columns: int) -> int:
        """Return how many weights and intercepts there are to find."""
        return (classes - 1) * (columns + self.intercept)

    def starts_from_products(self, classes: int, columns: int) -> bool:
        """Say whether products of the columns of dense rows give the weights to start from."""
        few = self.count_parameters(classes, columns) <= MAX_PARAMETERS
        return self.solver == "newton" and few

    @property
    def column_penalty(self) -> float | Floats:
        """The penalty of each column, (d,), or of all."""
        if self.prior is None:
            return self.penalty
        return self.penalty * self.prior.diagonal


@dataclass(frozen=True)
class SoftmaxFit:
    """Weights, for one or all classes, and how they were found.

    Parameters
    ----------
    coefficients : (R, d)
    intercepts : (R,)
    known : standard deviations and covariance of both, or None if there are too many parameters
    log_evidence : float, or None if the prior is improper or the optimum was not reached
    found : Maximum
    solver : str
    unbounded : bool
        Whether the loss has no minimum: better weights are larger without end.
    undetermined : bool
        Whether the rows, without a penalty, do not determine some weights.
    """

    coefficients: Floats
    intercepts: Floats
    known: WeightCovariance | None
    log_evidence: float | None
    found: Maximum
    solver: str
    unbounded: bool
    undetermined: bool


def fit_softmax(
    rows: Rows | RowPasses, settings: SoftmaxSettings, start: tuple[Floats, Floats] | None = None
) -> SoftmaxFit:
    """Fit weights to rows without missing values, of two or more classes.

    Parameters
    ----------
    rows : Rows, or RowPasses: a pass for each step, and for each trial of a line search
    settings : SoftmaxSettings
    start : weights (R, d) and intercepts (R,) to start from, as in a SoftmaxFit
    """
    classes = rows.classes
    if classes == 2:
        # One vector, of the second class against the first.
        rows = rows.reverse_classes()
        settings = replace(settings, symmetric=False)
    few = _has_few_parameters(rows, settings)
    solver = settings.solver
    if solver == "newton" and not few:
        solver = "lbfgs"
    objective, V, known = _start(rows, settings, solver, start)
    if solver == "newton":
        found = _maximize_by_newton(objective, V, known, settings)
    elif solver == "lbfgs":
        found = maximize_by_lbfgs(objective, V, settings.tol, settings.max_iter)
    else:
        limits = settings.tol, settings.max_iter, settings.step_size
        found = maximize_by_gradient(objective, V, *limits)
    evidence = None
    if few and found.converged and not objective.is_separated(found.point):
        found, value = _refine(objective, found, move=solver == "newton")
        if settings.penalty > 0:
            evidence = log_evidence(objective, value, found.hessian)
    W, b = objective.likelihood.to_column_units(found.point.params)
    shown = contrasts(objective, classes)
    covariance = _covariance(objective, found, shown) if few else None
    unbounded = objective.is_separated(found.point)
    undetermined = False
    if settings.penalty == 0 and not unbounded and covariance is not None:
        unknown = np.isinf(covariance.coef_sd)
        undetermined = bool(unknown.any())
        # Rows that determine a weight at 0 but not at the end are fitted perfectly.
        at_zero = unknown
        if undetermined:
            at_zero = np.isinf(_covariance(objective, None, shown).coef_sd)
        endless = found.converged and np.abs(found.last_step).max(initial=0.0) > ENDLESS
        unbounded = bool((unknown & ~at_zero).any() or endless)
    answers = shown @ W, shown @ b, covariance, evidence
    return SoftmaxFit(*answers, found, solver, unbounded, undetermined)


def _maximize_by_newton(
    objective: SoftmaxPosterior,
    V: Floats,
    known: tuple[Floats, float] | None,
    settings: SoftmaxSettings,
) -> Maximum:
    """Return the optimum, from V on, or from a point of `known` value if that is higher.

    With n rows a step of length l changes scores by about l / sqrt(n). The search stops when the
    step after the current one would change them by less than tol^2. Of many rows the Hessian is
    that of a sample.
    """
    rows = objective.likelihood
    parameters = rows.free * rows.width
    every = _sample_of(len(rows), parameters)
    sample = HessianSample(every, float(np.sqrt(parameters * every / len(rows))))
    first = objective.at(V, every)
    if known is not None and known[1] > first.value:
        first = objective.at(known[0], every)
    stop = StoppingRule(settings.tol**4 * rows.total, look_ahead=True)
    return maximize(objective, first, stop, settings.max_iter, sample)


def _sample_of(rows: int, parameters: int) -> int:
    """Return k: to take steps, products of columns of every k-th row do as well as of all."""
    many = rows // (ROWS_A_PARAMETER * max(parameters, 1))
    return max(1, min(many, parameters // CHEAP_PARAMETERS))


def _refine(objective: SoftmaxPosterior, found: Maximum, *, move: bool) -> tuple[Maximum, float]:
    """Return what was found, with the Hessian at the optimum itself, and the value there.

    `move` goes there too.

    Gradients are cheap, so a Hessian is kept for as long as steps with it shrink. It is taken anew
    where the next step, if it shrinks as the last one did, is short enough.
    """
    V, hessian = found.point.params, found.hessian
    before = np.inf if hessian is None else found.distance
    fresh, value = hessian is None, found.point.value
    for _ in range(MAX_LAST_STEPS):
        point = objective.at(V, 1 if fresh else 0)
        hessian = point.hessian if fresh else hessian
        assert hessian is not None
        step = objective.newton_step(point.gradient, hessian)
        length = float(np.sqrt(predicted_gain(point.gradient, step)))
        V = V + step
        value = point.value + length**2 / 2
        if fresh and (length <= AT_OPTIMUM or length >= before):
            break
        ahead = length * min(1.0, length / before) if before > 0 else length
        fresh = not fresh and (ahead <= AT_OPTIMUM or length > SHRINKING * before)
        before = length
    moved = found.point._replace(params=V) if move else found.point
    return found._replace(point=moved, hessian=hessian), value


def _covariance(
    objective: SoftmaxPosterior, found: Maximum | None, shown: Floats
) -> WeightCovariance:
    """Return what is known of the weights at the optimum, or at weights of 0."""
    rows = objective.likelihood
    hessian = None if found is None else found.hessian
    if hessian is None:
        V = np.zeros((rows.free, rows.width)) if found is None else found.point.params
        hessian = objective.at(V).hessian
    assert hessian is not None
    return covariance_at(objective, hessian, shown)


def _has_few_parameters(rows: Rows | RowPasses, settings: SoftmaxSettings) -> bool:
    most = MAX_SPARSE_PARAMETERS if rows.sparse else MAX_PARAMETERS
    return settings.count_parameters(rows.classes, rows.shape[1]) <= most


def _start(
    rows: Rows | RowPasses,
    settings: SoftmaxSettings,
    solver: str,
    start: tuple[Floats, Floats] | None,
) -> tuple[SoftmaxPosterior, Floats, tuple[Floats, float] | None]:
    """Return the objective, the weights to start from, and others of which the value is known.

    Newton starts from the generative solution where there is one, unless the class proportions
    alone are better. Gradient ascent starts from 0, in the columns' own units; so does a fit of no
    steps.
    """
    terms = settings.penalty, settings.symmetric, settings.tol, settings.prior
    known = None
    if solver == "gradient":
        d = rows.shape[1]
        own_units = SoftmaxLogLikelihood(rows, np.zeros(d), np.ones(d), settings.intercept)
        objective = SoftmaxPosterior(own_units, *terms)
        V = np.zeros((own_units.free, own_units.width))
    else:
        full = solver == "newton"
        every = _sample_of(rows.shape[0], settings.count_parameters(rows.classes, rows.shape[1]))
        ready = standardize_columns(
            rows,
            settings.column_penalty,
            intercept=settings.intercept,
            full=full,
            every=every,
            leave_out=settings.prior is None,
        )
        objective = SoftmaxPosterior(ready.rows, *terms)
        V, value = objective.intercepts_only(ready.class_weights)
        if settings.max_iter == 0:
            V = np.zeros_like(V)
        elif ready.products is not None and start is None:
            known = V, value
            V = generative_start(ready, settings.column_penalty)
    if start is not None:
        W, b = start
        if len(W) == rows.classes:
            W, b = W[:-1] - W[-1], b[:-1] - b[-1]
        b = b if settings.intercept else np.zeros_like(b)
        V = objective.likelihood.from_column_units(W, b)
    return objective, V, known


# Steps that L-BFGS remembers, and trials in one of its line searches.
LBFGS_MEMORY = 10
MAX_TRIALS = 50
# L-BFGS aims at this share of `tol`: its last steps are few, and weights then have their digits.
TOL_SHARE = 0.1


def maximize_by_lbfgs(
    objective: SoftmaxPosterior, start: Floats, tol: float, max_iter: int
) -> Maximum:
    """Return where the mean gradient is `tol` or less in every entry, by L-BFGS from `start`.

    The search is in all C vectors if the penalty is of all C (see `SoftmaxPosterior.isometry`).
    """
    M = objective.isometry()
    total = objective.likelihood.total
    seen: dict[bytes, Point] = {}  # the last one

    def point_at(theta: Floats) -> Point:
        key = theta.tobytes()
        if key not in seen:
            seen.clear()
            seen[key] = objective.at(M @ theta.reshape(start.shape), sample=0)
        return seen[key]

    def mean_loss(theta: Floats) -> tuple[float, Floats]:
        point = point_at(theta)
        return -point.value / total, -(M.T @ point.gradient).ravel() / total

    theta = np.asarray(np.linalg.solve(M, start).ravel(), dtype=np.float64)
    values = [-mean_loss(theta)[0] * total]
    if max_iter == 0:
        return _maximum_at(objective, M, point_at(theta), values, 0, tol)

    def record(theta: Floats) -> None:
        values.append(point_at(theta).value)

    # The gradient decides, unless the loss falls no more than it rounds.
    options = {
        "maxiter": max_iter,
        "maxls": MAX_TRIALS,
        "maxcor": LBFGS_MEMORY,
        "gtol": TOL_SHARE * tol,
        "ftol": 2 * np.finfo(np.float64).eps,
        "maxfun": np.inf,
    }
    result = minimize(
        mean_loss, theta, method="L-BFGS-B", jac=True, callback=record, options=options
    )
    found = _maximum_at(objective, M, point_at(result.x), values, int(result.nit), tol)
    # Where rounding hides any further fall of the loss the optimum is reached as well.
    return found._replace(converged=found.converged or bool(result.status == 0))


def maximize_by_gradient(
    objective: SoftmaxPosterior, start: Floats, tol: float, max_iter: int, step_size: float
) -> Maximum:
    """Return where gradient ascent on the mean log-likelihood ends, in steps of one size.

    w_c += step_size * mean_i x_i (1{y_i=c} - p_ic), less the penalty's share of it
    (docs: mathematics, section 5).
    """
    M = objective.isometry()
    ascent = step_size / objective.likelihood.total * (M @ M.T)
    point = objective.at(start, sample=0)
    values = [point.value]
    steps = 0
    while steps < max_iter and not _maximum_at(objective, M, point, values, 0, tol).converged:
        with np.errstate(over="ignore", invalid="ignore"):
            point = objective.at(point.params + ascent @ point.gradient, sample=0)
        steps += 1
        if not np.isfinite(point.value):
            raise InputError(
                f"With step_size={step_size:g} the weights grew beyond all numbers in {steps} "
                "steps. Take a smaller step, scale the columns, or use solver='newton'."
            )
        values.append(point.value)
    return _maximum_at(objective, M, point, values, steps, tol)


def _maximum_at(
    objective: SoftmaxPosterior,
    M: Floats,
    point: Point,
    values: list[float],
    steps: int,
    tol: float,
) -> Maximum:
    gradient = M.T @ point.gradient / objective.likelihood.total
    distance = float(np.abs(gradient).max(initial=0.0))
    nothing = np.zeros_like(point.params)
    return Maximum(point, None, values, steps, distance <= tol, distance, nothing)
