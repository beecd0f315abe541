"""What scikit-learn's classes cannot do: merge, forget, grow, score rows with missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn.naive_bayes
from rich.table import Table

from suffice.demo.parts import a_table, difference, halves
from suffice.discriminant_analysis import GaussianDiscriminant
from suffice.naive_bayes import GaussianNB


def arithmetic() -> Table:
    """Merge, forget and meet a new class, and compare with models that learned it all at once."""
    X, y, X_test, _ = halves("digits")
    half = len(X) // 2
    table = a_table("A model is a tally: it merges, forgets and grows (digits, probabilities)")
    table.add_column("what was done")
    table.add_column("compared with", style="dim")
    table.add_column("largest\ndifference", justify="right")

    def compare(done: str, with_what: str, one: Any, other: Any) -> None:
        apart = difference(one.predict_proba(X_test), other.predict_proba(X_test))
        table.add_row(done, with_what, apart)

    def settings() -> GaussianNB:
        return GaussianNB(estimate="predictive", tie="class")

    everything = settings().fit(X, y)
    merged = settings().fit(X[:half], y[:half]) + settings().fit(X[half:], y[half:])
    compare("two halves learned apart, merged", "fit on all rows", merged, everything)
    forgotten = settings().fit(X, y).forget(X[:100], y[:100])
    compare("100 rows forgotten", "fit without them", forgotten, settings().fit(X[100:], y[100:]))
    known = y != "9"
    grown = settings().fit(X[known], y[known])
    grown.partial_fit(X[~known], y[~known])
    news = ", ".join(grown.new_classes_)
    compare(f"nine classes learned, then {news!r} arrived", "fit on all rows", grown, everything)
    return table


def missing_values() -> Table:
    """Show the class probabilities of one flower when some of its measures are missing."""
    X, y, X_test, y_test = halves("iris")
    model = GaussianDiscriminant(covariance="full", estimate="predictive").fit(X, y)
    at = int(np.argmin(model.predict_proba(X_test).max(axis=1)))
    table = a_table(f"Missing values are integrated out: one iris, in truth {y_test[at]}")
    table.add_column("sepal and petal, cm")
    for label in model.classes_:
        table.add_column(f"P({label})", justify="right")
    for missing in ([], [1], [2, 3], [0, 1, 2, 3]):
        flower = X_test[at].copy()
        flower[missing] = np.nan
        cells = "  ".join("  ?" if np.isnan(cell) else f"{cell:.1f}" for cell in flower)
        table.add_row(cells, *(f"{p:.3f}" for p in model.predict_proba(flower[None])[0]))
    return table


def decisions() -> Table:
    """Decide by what mistakes cost, and leave doubtful rows to an expert."""
    X, y, X_test, y_test = halves("breast_cancer")
    model = GaussianDiscriminant(covariance="tied", estimate="predictive").fit(X, y)
    missed, alarm, doubt = 50.0, 1.0, 0.5
    costs = {
        "treat": {"malignant": 0.0, "benign": alarm},
        "dismiss": {"malignant": missed, "benign": 0.0},
    }
    table = a_table(
        f"Decisions: a missed tumour costs {missed:g}, a false alarm {alarm:g}, "
        f"asking an expert {doubt:g}"
    )
    for title in ("rule", "missed", "false alarms", "asked", "cost a patient"):
        table.add_column(title, justify="left" if title == "rule" else "right")
    plain = np.where(model.predict(X_test) == "malignant", "treat", "dismiss")
    rules = [
        ("the more probable class", plain),
        ("decide(X, loss)", model.decide(X_test, costs)),
        ("decide(X, loss, reject)", model.decide(X_test, costs, reject=doubt)),
    ]
    for rule, actions in rules:
        bad = int(np.sum((actions == "dismiss") & (y_test == "malignant")))
        false = int(np.sum((actions == "treat") & (y_test == "benign")))
        asked = int(np.sum(actions == None))  # noqa: E711  # cell by cell
        cost = (missed * bad + alarm * false + doubt * asked) / len(actions)
        table.add_row(rule, str(bad), str(false), str(asked), f"{cost:.3f}")
    return table


def scales() -> Table:
    """Put a wide column of noise beside a narrow signal."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    signal = 1e-3 * (rng.standard_normal(len(y)) + 5 * y)
    noise = 1e3 * rng.standard_normal(len(y))
    half = len(y) // 2
    table = a_table("Every feature has its own scale: a signal of 1e-3 beside noise of 1e3")
    table.add_column("model")
    table.add_column("accuracy,\nsignal alone", justify="right")
    table.add_column("accuracy,\nboth columns", justify="right")
    models = {
        "sklearn GaussianNB()": sklearn.naive_bayes.GaussianNB(),
        'suffice GaussianNB(estimate="predictive")': GaussianNB(estimate="predictive"),
    }
    for title, model in models.items():
        scores = []
        for X in (signal[:, None], np.column_stack([signal, noise])):
            scores.append(model.fit(X[:half], y[:half]).score(X[half:], y[half:]))
        table.add_row(title, *(f"{score:.3f}" for score in scores))
    return table
