"""Softmax regression from rows to weights: which solver, from where, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from suffice.data.rows import Rows
from suffice.errors import InputError
from suffice.gaussian.covariance import SINGULAR, standardize
from suffice.logistic.newton import (
    SHRINKING,
    HessianSample,
    Maximum,
    Point,
    StoppingRule,
    maximize,
    predicted_gain,
)
from suffice.logistic.softmax import (
    SoftmaxPosterior,
    generative_start,
    keep_units,
    standardize_columns,
    to_own_units,
    to_units_of,
)
from suffice.tally.tally import Floats

# Unknowns up to which second derivatives are taken: a matrix of 8 MB, and no more work a row than
# some dozens of gradients. CSR rows are made dense for it, which pays for fewer.
MAX_UNKNOWNS = 1000
MAX_SPARSE_UNKNOWNS = 200
# Rows a parameter from which a sample of the rows tells the way as well as all of them, and
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
    """How to fit: `penalty` is 1 / C, `symmetric` whether it is of all C weight vectors."""

    solver: str
    penalty: float
    symmetric: bool
    intercept: bool
    tol: float
    max_iter: int
    step_size: float


@dataclass(frozen=True)
class SoftmaxFit:
    """Weights as they are shown, and how they were found.

    Parameters
    ----------
    coefficients : (R, d)
    intercepts : (R,)
    sds : standard deviations of both, or None if there are too many unknowns for them
    found : Maximum
    solver : str
    unbounded : bool
        Whether the loss has no minimum: better weights are larger without end.
    undetermined : bool
        Whether the rows, without a penalty, leave some weights open.
    """

    coefficients: Floats
    intercepts: Floats
    sds: tuple[Floats, Floats] | None
    found: Maximum
    solver: str
    unbounded: bool
    undetermined: bool


def fit_softmax(
    rows: Rows, settings: SoftmaxSettings, start: tuple[Floats, Floats] | None = None
) -> SoftmaxFit:
    """Fit weights to rows without gaps of two or more classes.

    Parameters
    ----------
    rows : Rows
    settings : SoftmaxSettings
    start : weights (R, d) and intercepts (R,) to start from, as they were shown
    """
    classes = rows.classes
    if classes == 2:
        # One vector, of the second class against the first.
        rows = replace(rows, codes=1 - rows.codes)
        settings = replace(settings, symmetric=False)
    few = _few_unknowns(rows, settings)
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
    if few and found.converged and not objective.is_separated(found.point):
        found = _refine(objective, found, move=solver == "newton")
    W, b = to_own_units(objective.likelihood, found.point.params)
    shown = contrasts(objective, classes)
    sds = _deviations(objective, found, shown) if few else None
    unbounded = objective.is_separated(found.point)
    undetermined = False
    if settings.penalty == 0 and not unbounded and sds is not None:
        unknown = np.isinf(sds[0])
        # Rows that had something to say at weights of 0 and have no more are fitted perfectly.
        ended = (
            unknown.any() and (unknown & ~np.isinf(_deviations(objective, None, shown)[0])).any()
        )
        endless = found.converged and np.abs(found.last_step).max(initial=0.0) > ENDLESS
        unbounded, undetermined = bool(ended or endless), bool(unknown.any())
    return SoftmaxFit(shown @ W, shown @ b, sds, found, solver, unbounded, undetermined)


def _maximize_by_newton(
    objective: SoftmaxPosterior,
    V: Floats,
    known: tuple[Floats, float] | None,
    settings: SoftmaxSettings,
) -> Maximum:
    """Return the optimum, from V on, or from a point of `known` value if that lies higher.

    With n rows a step of length l changes scores by about l / sqrt(n). The search stops when the
    step after the one it takes would change them by less than tol^2. Many rows tell the way by a
    sample of them.
    """
    rows = objective.likelihood
    parameters = rows.free * rows.width
    many = len(rows) // (ROWS_A_PARAMETER * parameters)
    every = max(1, min(many, parameters // CHEAP_PARAMETERS))
    sample = HessianSample(every, float(np.sqrt(parameters * every / len(rows))))
    first = objective.at(V, every)
    if known is not None and known[1] > first.value:
        first = objective.at(known[0], every)
    stop = StoppingRule(settings.tol**4 * rows.total, look_ahead=True)
    return maximize(objective, first, stop, settings.max_iter, sample)


def _refine(objective: SoftmaxPosterior, found: Maximum, *, move: bool) -> Maximum:
    """Return what was found, with the Hessian at the optimum itself; `move` goes there too.

    Gradients are cheap, so the way is gone by the Hessian that is known, as far as that leads.
    """
    V, hessian, before = found.point.params, found.hessian, np.inf
    fresh = hessian is None
    for _ in range(MAX_LAST_STEPS):
        point = objective.at(V, 1 if fresh else 0)
        hessian = point.hessian if fresh else hessian
        assert hessian is not None
        step = objective.newton_step(point.gradient, hessian)
        length = float(np.sqrt(predicted_gain(point.gradient, step)))
        V = V + step
        if fresh and (length <= AT_OPTIMUM or length >= before):
            break
        fresh = not fresh and (length <= AT_OPTIMUM or length > SHRINKING * before)
        before = length
    moved = found.point._replace(params=V) if move else found.point
    return found._replace(point=moved, hessian=hessian)


# A weight with more than this share of itself in directions that the rows say nothing of.
UNDETERMINED = 1e-6


def contrasts(objective: SoftmaxPosterior, classes: int) -> Floats:
    """Return A (R, K): the weight vectors that are shown are A V.

    Two classes show one vector, their difference. More show all C: with sum 0 if the penalty is of
    all C, else with 0 for the last.
    """
    if classes == 2:
        return np.ones((1, 1))
    whole = np.vstack([np.eye(classes - 1), np.zeros((1, classes - 1))])
    return whole - 1.0 / classes if objective.symmetric else whole


def laplace_deviations(
    objective: SoftmaxPosterior, hessian: Floats, shown: Floats
) -> tuple[Floats, Floats]:
    """Return the standard deviations (R, d) and (R,) of the weights and intercepts A V.

    The Hessian of the penalised loss at its optimum is the precision of the normal distribution
    that fits the posterior there (docs: mathematics, section 5). A weight that neither the rows
    nor a penalty determine has an infinite one.

    Parameters
    ----------
    objective : SoftmaxPosterior
    hessian : (K width, K width)
    shown : (R, K)
        A of `contrasts`.
    """
    rows = objective.likelihood
    d, width = len(rows.inverse), rows.width
    units = np.zeros((width, width))
    units[:d, :d] = np.diag(rows.inverse)
    if rows.intercept:
        units[:d, d], units[d, d] = -rows.inverse * rows.centre, 1.0
    asked = np.einsum("rk,jm->kjrm", shown, units).reshape(len(hessian), -1)
    variance = _variances(hessian, asked).reshape(len(shown), width)
    # What does not vary in the rows is known from the penalty alone.
    left_out = rows.inverse == 0
    if left_out.any():
        with np.errstate(divide="ignore"):
            alone = np.einsum("rk,kl,rl->r", shown, np.linalg.inv(objective.prior.between), shown)
            alone = np.where(alone > 0, alone / np.float64(objective.penalty), 0.0)
        variance[:, :d][:, left_out] = alone[:, None]
        if rows.intercept:
            pull = np.square(rows.centre[left_out & (rows.centre != 0)])
            if pull.size:
                variance[:, d] += alone * pull.sum()
    spread = np.sqrt(variance)
    return spread[:, :d], spread[:, d] if rows.intercept else np.zeros(len(shown))


def _variances(precision: Floats, asked: Floats) -> Floats:
    """Return q^T precision^-1 q for every column q of `asked`; infinite where that is singular."""
    spread, correlation = standardize(precision)
    scaled = asked / spread[:, None]
    try:
        root = np.linalg.cholesky(correlation)
        if np.diagonal(root).min(initial=1.0) ** 2 > SINGULAR * len(root):
            half = np.asarray(solve_triangular(root, scaled, lower=True))
            return np.asarray(np.square(half).sum(axis=0))
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(correlation)
    kept = values > SINGULAR * len(values)
    along = vectors.T @ scaled
    known = (np.square(along[kept]) / values[kept, None]).sum(axis=0)
    size = np.square(scaled).sum(axis=0)
    unknown = np.square(along[~kept]).sum(axis=0) > UNDETERMINED**2 * size
    return np.where(unknown, np.inf, known)


def _deviations(
    objective: SoftmaxPosterior, found: Maximum | None, shown: Floats
) -> tuple[Floats, Floats]:
    """Return what the rows leave open at the optimum, or at weights of 0."""
    rows = objective.likelihood
    hessian = None if found is None else found.hessian
    if hessian is None:
        V = np.zeros((rows.free, rows.width)) if found is None else found.point.params
        hessian = objective.at(V).hessian
    assert hessian is not None
    return laplace_deviations(objective, hessian, shown)


def _few_unknowns(rows: Rows, settings: SoftmaxSettings) -> bool:
    unknowns = (rows.classes - 1) * (rows.shape[1] + settings.intercept)
    return unknowns <= (MAX_SPARSE_UNKNOWNS if rows.sparse else MAX_UNKNOWNS)


def _start(
    rows: Rows, settings: SoftmaxSettings, solver: str, start: tuple[Floats, Floats] | None
) -> tuple[SoftmaxPosterior, Floats, tuple[Floats, float] | None]:
    """Return the objective, the weights to start from, and others of which the value is known.

    Newton starts from the generative solution where there is one, unless the shares of the classes
    alone are better; the plain gradient starts from 0, in the columns' own units, and so does what
    is to take no step.
    """
    terms = settings.penalty, settings.symmetric, settings.tol
    known = None
    untouched = settings.max_iter == 0
    if solver == "gradient":
        objective = SoftmaxPosterior(keep_units(rows, intercept=settings.intercept), *terms)
        V = np.zeros((objective.likelihood.free, objective.likelihood.width))
    else:
        full = solver == "newton"
        ready = standardize_columns(rows, settings.penalty, intercept=settings.intercept, full=full)
        objective = SoftmaxPosterior(ready.rows, *terms)
        V, value = objective.intercepts_only(ready.class_weights)
        if untouched:
            V = np.zeros_like(V)
        elif ready.moments.full and start is None:
            known = V, value
            V = generative_start(ready, settings.penalty)
    if start is not None:
        W, b = start
        if len(W) == rows.classes:
            W, b = W[:-1] - W[-1], b[:-1] - b[-1]
        V = to_units_of(objective.likelihood, W, b if settings.intercept else np.zeros_like(b))
    return objective, V, known


# Steps that L-BFGS remembers, and trials in one of its line searches.
LBFGS_MEMORY = 10
MAX_TRIALS = 50
# L-BFGS is asked for this share of `tol`: its last steps are few, and weights then have their
# digits.
TOL_SHARE = 0.1


def maximize_by_lbfgs(
    objective: SoftmaxPosterior, start: Floats, tol: float, max_iter: int
) -> Maximum:
    """Return where the mean gradient is `tol` or less in every entry, by L-BFGS from `start`.

    The way is in all C vectors, if the penalty is of all C (see `SoftmaxPosterior.isometry`).
    """
    M = objective.isometry()
    total = objective.likelihood.total
    seen: dict[bytes, Point] = {}

    def ask(theta: Floats) -> Point:
        return objective.at(M @ theta.reshape(start.shape), sample=0)

    def mean_loss(theta: Floats) -> tuple[float, Floats]:
        point = ask(theta)
        seen.clear()
        seen[theta.tobytes()] = point
        return -point.value / total, -(M.T @ point.gradient).ravel() / total

    def point_of(theta: Floats) -> Point:
        known = seen.get(theta.tobytes())
        return known if known is not None else ask(theta)

    theta = np.asarray(np.linalg.solve(M, start).ravel(), dtype=np.float64)
    values = [-mean_loss(theta)[0] * total]
    if max_iter == 0:
        point = point_of(theta)
        return _end(objective, M, point, values, 0, tol)

    def record(theta: Floats) -> None:
        values.append(point_of(theta).value)

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
    found = _end(objective, M, point_of(result.x), values, int(result.nit), tol)
    # Where rounding hides any further fall of the loss the optimum is reached as well.
    return found._replace(converged=found.converged or bool(result.status == 0))


def maximize_by_gradient(
    objective: SoftmaxPosterior, start: Floats, tol: float, max_iter: int, step_size: float
) -> Maximum:
    """Return where gradient ascent on the mean log-likelihood leads in steps of one size.

    w_c += step_size * mean_i x_i (1{y_i=c} - p_ic), less the penalty's share of it
    (docs: mathematics, section 5).
    """
    M = objective.isometry()
    ascent = step_size / objective.likelihood.total * (M @ M.T)
    point = objective.at(start, sample=0)
    values = [point.value]
    steps = 0
    while steps < max_iter and not _end(objective, M, point, values, 0, tol).converged:
        with np.errstate(over="ignore", invalid="ignore"):
            point = objective.at(point.params + ascent @ point.gradient, sample=0)
        steps += 1
        if not np.isfinite(point.value):
            raise InputError(
                f"With step_size={step_size:g} the weights grew beyond all numbers in {steps} "
                "steps. Take a smaller step, scale the columns, or use solver='newton'."
            )
        values.append(point.value)
    return _end(objective, M, point, values, steps, tol)


def _end(
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
