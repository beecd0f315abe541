"""Softmax regression from rows to weights: which solver, from where, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from suffice.data.rows import Rows
from suffice.gaussian.covariance import solve
from suffice.logistic.objective import Found, Objective
from suffice.logistic.solvers import SHRINKING, Newton, by_gradient, by_lbfgs
from suffice.logistic.start import (
    contrasts,
    deviations,
    generative,
    in_own_units,
    in_units_of,
    measured,
    plain,
)
from suffice.tally.tally import Floats

# Unknowns up to which second derivatives are taken: a matrix of 8 MB, and no more work a row than
# some dozens of gradients. CSR rows are made dense for it, which pays for fewer.
MOST_UNKNOWNS = 1000
MOST_SPARSE_UNKNOWNS = 200
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
    found : Found
    solver : str
    unbounded : bool
        Whether the loss has no minimum: better weights are larger without end.
    undetermined : bool
        Whether the rows, without a penalty, leave some weights open.
    """

    coefficients: Floats
    intercepts: Floats
    sds: tuple[Floats, Floats] | None
    found: Found
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
    objective, V, known = _started(rows, settings, solver, start)
    if solver == "newton":
        found = Newton(objective, settings.tol, settings.max_iter).minimise(V, known)
    elif solver == "lbfgs":
        found = by_lbfgs(objective, V, settings.tol, settings.max_iter)
    else:
        found = by_gradient(objective, V, settings.tol, settings.max_iter, settings.step_size)
    if few and found.converged and not objective.at_infinity(found.point, np.inf):
        found = _at_optimum(objective, found, move=solver == "newton")
    W, b = in_own_units(objective.rows, found.point.V)
    shown = contrasts(objective, classes)
    sds = _deviations(objective, found, shown) if few else None
    unbounded = objective.at_infinity(found.point, np.inf)
    undetermined = False
    if settings.penalty == 0 and not unbounded and sds is not None:
        unknown = np.isinf(sds[0])
        # Rows that had something to say at weights of 0 and have no more are fitted perfectly.
        ended = (
            unknown.any() and (unknown & ~np.isinf(_deviations(objective, None, shown)[0])).any()
        )
        endless = found.converged and np.abs(found.step).max(initial=0.0) > ENDLESS
        unbounded, undetermined = bool(ended or endless), bool(unknown.any())
    return SoftmaxFit(shown @ W, shown @ b, sds, found, solver, unbounded, undetermined)


def _at_optimum(objective: Objective, found: Found, *, move: bool) -> Found:
    """Return what was found, with the curvature at the optimum itself; `move` goes there too.

    Gradients are cheap, so the way is gone by the curvature that is known, as far as that leads.
    """
    V, curvature, before = found.point.V, found.curvature, np.inf
    fresh = curvature is None
    for _ in range(MAX_LAST_STEPS):
        point = objective.at(V, 1 if fresh else 0)
        curvature = point.curvature if fresh else curvature
        assert curvature is not None
        step = solve(curvature, point.gradient.reshape(-1, 1)).reshape(V.shape)
        length = float(np.sqrt(max(0.0, float((step * point.gradient).sum()))))
        V = V - step
        if fresh and (length <= AT_OPTIMUM or length >= before):
            break
        fresh = not fresh and (length <= AT_OPTIMUM or length > SHRINKING * before)
        before = length
    moved = found.point._replace(V=V) if move else found.point
    return found._replace(point=moved, curvature=curvature)


def _deviations(objective: Objective, found: Found | None, shown: Floats) -> tuple[Floats, Floats]:
    """Return what the rows leave open at the optimum, or at weights of 0."""
    rows = objective.rows
    curvature = None if found is None else found.curvature
    if curvature is None:
        V = np.zeros((rows.free, rows.width)) if found is None else found.point.V
        curvature = objective.at(V, 1).curvature
    assert curvature is not None
    return deviations(objective, curvature, shown)


def _few_unknowns(rows: Rows, settings: SoftmaxSettings) -> bool:
    unknowns = (rows.classes - 1) * (rows.shape[1] + settings.intercept)
    return unknowns <= (MOST_SPARSE_UNKNOWNS if rows.sparse else MOST_UNKNOWNS)


def _started(
    rows: Rows, settings: SoftmaxSettings, solver: str, start: tuple[Floats, Floats] | None
) -> tuple[Objective, Floats, tuple[Floats, float] | None]:
    """Return the objective, the weights to start from, and others of which the value is known.

    Newton starts from the generative solution where there is one, unless the shares of the classes
    alone are better; the plain gradient starts from 0, in the columns' own units, and so does what
    is to take no step.
    """
    terms = settings.penalty, settings.symmetric
    known = None
    untouched = settings.max_iter == 0
    if solver == "gradient":
        objective = Objective(plain(rows, intercept=settings.intercept), *terms)
        V = np.zeros((objective.rows.free, objective.rows.width))
    else:
        full = solver == "newton"
        ready = measured(rows, settings.penalty, intercept=settings.intercept, full=full)
        objective = Objective(ready.rows, *terms)
        V, value = objective.class_shares_only(ready.class_weights)
        if untouched:
            V = np.zeros_like(V)
        elif ready.moments.full and start is None:
            known = V, value
            V = generative(ready, settings.penalty)
    if start is not None:
        W, b = start
        if len(W) == rows.classes:
            W, b = W[:-1] - W[-1], b[:-1] - b[-1]
        V = in_units_of(objective.rows, W, b if settings.intercept else np.zeros_like(b))
    return objective, V, known
