"""The same classes as scikit-learn's: side by side, and timed."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import sklearn.discriminant_analysis
import sklearn.naive_bayes
from rich.table import Table
from sklearn.metrics import log_loss

from suffice.demo.parts import Array, a_table, halves
from suffice.discriminant_analysis import (
    GaussianDiscriminant,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.naive_bayes import GaussianNB, MultinomialNB

# Rows drawn from a fitted model, so many that a fit takes longer than the clock is uncertain.
DRAWN_ROWS = 50_000


class Contest(NamedTuple):
    """The same classifier by scikit-learn and by us, and ours with its parameters integrated."""

    title: str
    theirs: Any
    ours: Any
    predictive: Any


def best_fit_time(model: Any, X: Array, y: Array, tries: int = 5) -> float:
    """Return the shortest of a few fits, in milliseconds."""
    times = []
    for _ in range(tries):
        start = time.perf_counter()
        model.fit(X, y)
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def side_by_side() -> Table:
    """Fit the same classifiers with scikit-learn and with suffice."""
    gaussian = Contest(
        "GaussianNB",
        sklearn.naive_bayes.GaussianNB(),
        GaussianNB(),
        GaussianNB(estimate="predictive"),
    )
    words = Contest(
        "MultinomialNB",
        sklearn.naive_bayes.MultinomialNB(),
        MultinomialNB(),
        MultinomialNB(estimate="predictive"),
    )
    linear = Contest(
        "LDA",
        sklearn.discriminant_analysis.LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(),
        GaussianDiscriminant(covariance="tied", estimate="predictive"),
    )
    quadratic = Contest(
        "QDA",
        sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
        GaussianDiscriminant(covariance="full", estimate="predictive"),
    )
    table = a_table("The same classes as scikit-learn's: half the rows to learn, half to test")
    table.add_column("data")
    table.add_column("classifier")
    for score in ("accuracy", "log-loss"):
        table.add_column(f"{score}\nsklearn", justify="right")
        table.add_column("\nsuffice", justify="right")
        table.add_column("\npred.", justify="right", style="bold")
    rounds = [
        ("digits", gaussian),
        ("digits", words),
        ("iris", gaussian),
        ("iris", quadratic),
        ("wine", gaussian),
        ("wine", linear),
        ("wine", quadratic),
        ("breast_cancer", gaussian),
        ("breast_cancer", linear),
    ]
    for name, contest in rounds:
        X, y, X_test, y_test = halves(name)
        models = [m.fit(X, y) for m in (contest.theirs, contest.ours, contest.predictive)]
        scores = [f"{m.score(X_test, y_test):.3f}" for m in models]
        losses = [f"{log_loss(y_test, m.predict_proba(X_test)):.3f}" for m in models]
        table.add_row(name.split("_")[-1], contest.title, *scores, *losses)
    table.caption = "suffice: scikit-learn's settings; pred.: parameters integrated out"
    return table


def timings() -> Table:
    """Time fits on rows drawn from a model of the breast-cancer data."""
    X, y, _, _ = halves("breast_cancer")
    rows, labels = GaussianNB().fit(X, y).sample(DRAWN_ROWS, random_state=0)
    codes = np.unique(labels, return_inverse=True)[1]
    table = a_table(f"The time of fit() on {DRAWN_ROWS:,} rows of {X.shape[1]}, drawn by sample()")
    table.add_column("classifier")
    for title in ("sklearn, ms", "suffice, ms", "ratio"):
        table.add_column(title, justify="right")
    pairs = [
        (sklearn.naive_bayes.GaussianNB(), GaussianNB()),
        (
            sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis(),
            QuadraticDiscriminantAnalysis(),
        ),
    ]
    for theirs, ours in pairs:
        slow, fast = (best_fit_time(model, rows, codes, tries=3) for model in (theirs, ours))
        table.add_row(type(ours).__name__, f"{slow:.0f}", f"{fast:.0f}", f"{slow / fast:.1f}x")
    return table
