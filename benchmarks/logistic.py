"""Logistic regression: the work that is measured, and the marks to reach."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import sklearn.linear_model

import suffice.linear_model
from benchmarks.measure import Result, line

# How near the peers are to come to the optimum, relative to the objective.
NEAR = 1e-8
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)


def labelled_rows(rows: int, columns: int, classes: int) -> tuple[Any, Any]:
    """Return rows of correlated columns in various units, and classes drawn from a softmax."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(rows, columns))
    X[:, 1:] += 0.8 * X[:, :-1]
    W = 2.0 * rng.normal(size=(classes, columns)) / np.sqrt(columns)
    y = np.argmax(X @ W.T + rng.gumbel(size=(rows, classes)), axis=1)
    return X * np.geomspace(0.3, 3.0, columns), y


def objective(model: Any, X: Any, y: Any) -> float:
    """Return the penalised loss at C=1."""
    own = model.predict_log_proba(X)[np.arange(len(y)), y]
    return float(-own.sum() + 0.5 * np.square(model.coef_).sum())


def near_enough(solver: str, best: float, X: Any, y: Any) -> Any:
    """Return scikit-learn's model with the widest tolerance that comes near the optimum."""
    for tol in TOLERANCES:
        model = sklearn.linear_model.LogisticRegression(solver=solver, tol=tol, max_iter=2000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if objective(model.fit(X, y), X, y) <= best * (1 + NEAR):
                break
    return model


def side_by_side(
    rows: int, columns: int, classes: int, marks: dict[str, float]
) -> Iterator[Result]:
    """Measure a fit beside scikit-learn's solvers, run to the same objective."""
    X, y = labelled_rows(rows, columns, classes)
    mine = suffice.linear_model.LogisticRegression().fit(X, y)
    best = objective(mine, X, y)
    for solver, at_least in marks.items():
        peer = near_enough(solver, best, X, y)
        yield line(
            f"LogisticRegression fit, {rows:,} x {columns}, {classes} classes",
            lambda: mine.fit(X, y),
            lambda peer=peer: peer.fit(X, y),
            at_least,
            peer=f"scikit-learn, {solver}",
            memory=True,
            peer_rounds=2,
        )


def two_classes() -> Iterator[Result]:
    """500,000 x 50, two classes."""
    yield from side_by_side(500_000, 50, 2, {"lbfgs": 5.0, "newton-cholesky": 1.5})


def ten_classes() -> Iterator[Result]:
    """200,000 x 30, ten classes."""
    yield from side_by_side(200_000, 30, 10, {"lbfgs": 3.0})


CASES = (two_classes, ten_classes)
