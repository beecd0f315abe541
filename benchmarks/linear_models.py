"""Linear and logistic regression, and Gaussian algebra: what is timed, and ratios to reach."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.stats
import sklearn.linear_model

import suffice
from benchmarks.measure import Result, in_turn, line, seconds

ROWS = 1_000_000
COLUMNS = 100
HELD_OUT = 20_000
# Densities that differ by less than this are taken as equal on held-out rows.
EQUAL = 0.9999


def regression_rows() -> tuple[Any, Any]:
    """Return rows of correlated columns, and targets that do not depend on some of them."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(ROWS + HELD_OUT, COLUMNS))
    X[:, 1:] += 0.5 * X[:, :-1]
    w = rng.normal(size=COLUMNS) * (rng.random(COLUMNS) < 0.7)
    return X, X @ w + 3.0 * rng.normal(size=len(X))


def linear_regression() -> Iterator[Result]:
    """LinearRegression and BayesianLinearRegression, 1,000,000 x 100."""
    X, y = regression_rows()
    train, test = (X[:ROWS], y[:ROWS]), (X[ROWS:], y[ROWS:])
    mine, peer = suffice.LinearRegression(), sklearn.linear_model.LinearRegression()
    yield line(
        "LinearRegression fit, 1,000,000 x 100",
        lambda: mine.fit(*train),
        lambda: peer.fit(*train),
        5,
        memory=True,
        peer_rounds=2,
    )
    bayes, ridge = suffice.BayesianLinearRegression(), sklearn.linear_model.BayesianRidge()
    yield line(
        "BayesianLinearRegression fit, 1,000,000 x 100, by evidence",
        lambda: bayes.fit(*train),
        lambda: ridge.fit(*train),
        5,
        peer="BayesianRidge",
        memory=True,
        peer_rounds=2,
    )
    yield from held_out(bayes, ridge, *test)
    few = slice(0, 150)
    yield from held_out(bayes.fit(X[few], y[few]), ridge.fit(X[few], y[few]), *test)


def held_out(bayes: Any, ridge: Any, X: Any, y: Any) -> Iterator[Result]:
    """Compare the density of held-out targets: the ratio is that of a row, the times of predict."""
    ours = bayes.predictive(X).log_density(y[:, None]).mean()
    theirs = scipy.stats.norm.logpdf(y, *ridge.predict(X, return_std=True)).mean()
    rows = f"{float(bayes.tally_.weight):,.0f}"
    work = f"held-out log density after {rows} rows: {ours:.6f}, BayesianRidge {theirs:.6f}"
    best, peer_best = in_turn(
        lambda: bayes.predict(X, return_std=True),
        lambda: ridge.predict(X, return_std=True),
        rounds=5,
        peer_rounds=5,
    )
    density_ratio = float(np.exp(ours - theirs))
    yield Result(work, best, peer_best, "BayesianRidge", density_ratio, EQUAL, None)


def conditioning() -> Iterator[Result]:
    """Condition 1,000 dimensions on 500 values, for 10,000 rows."""
    rng = np.random.default_rng(5)
    half = rng.normal(size=(1000, 1000))
    covariance = half @ half.T / 1000 + np.eye(1000)
    values = rng.normal(size=(10_000, 500))
    which = np.arange(500, 1000)
    normal = suffice.MultivariateNormal(np.zeros(1000), covariance)

    def by_numpy() -> Any:
        given = covariance[500:, 500:]
        across = covariance[:500, 500:]
        mean = across @ np.linalg.solve(given, values.T)
        return mean, covariance[:500, :500] - across @ np.linalg.solve(given, across.T)

    yield line(
        "condition 1,000 dimensions on 500 values, 10,000 rows",
        lambda: normal.condition(which, values),
        by_numpy,
        0.8,
        peer="numpy, two solves",
    )


# How close the peers must come to the optimum, relative to the objective.
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


def near_enough(solver: str, best: float, X: Any, y: Any) -> tuple[Any, float]:
    """Return scikit-learn's model with the widest tolerance that comes close to the optimum.

    And how long its fit took.
    """
    for tol in TOLERANCES:
        model = sklearn.linear_model.LogisticRegression(solver=solver, tol=tol, max_iter=2000)
        taken = seconds(partial(model.fit, X, y))
        if objective(model, X, y) <= best * (1 + NEAR):
            break
    return model, taken


def standard_rows(rows: int, columns: int) -> tuple[Any, Any]:
    """Return rows of independent standard columns, which suit lbfgs best, and two classes."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(rows, columns))
    log_odds = X @ (2.0 * rng.normal(size=columns) / np.sqrt(columns))
    return X, (rng.logistic(size=rows) < log_odds).astype(np.int64)


def compare_solvers(X: Any, y: Any, columns: str, marks: dict[str, float]) -> Iterator[Result]:
    """Time a fit against scikit-learn's solvers, run to the same objective."""
    rows, classes = len(X), len(np.unique(y))
    mine = suffice.LogisticRegression().fit(X, y)
    best = objective(mine, X, y)
    for solver, at_least in marks.items():
        peer, taken = near_enough(solver, best, X, y)
        yield line(
            f"LogisticRegression fit, {rows:,} x {columns}, {classes} classes",
            lambda: mine.fit(X, y),
            lambda peer=peer: peer.fit(X, y),
            at_least,
            peer=f"scikit-learn, {solver}",
            memory=True,
            peer_rounds=1,
            peer_best=taken,
        )


def two_classes() -> Iterator[Result]:
    """500,000 x 50, two classes."""
    marks = {"lbfgs": 5.0, "newton-cholesky": 4.0}
    yield from compare_solvers(*labelled_rows(500_000, 50, 2), "50", marks)
    rows = standard_rows(500_000, 50)
    yield from compare_solvers(*rows, "50 independent columns", {"lbfgs": 3.0})


def ten_classes() -> Iterator[Result]:
    """200,000 x 30, ten classes."""
    yield from compare_solvers(*labelled_rows(200_000, 30, 10), "30", {"lbfgs": 3.0})


CASES = (linear_regression, conditioning, two_classes, ten_classes)
