"""Arrays of numbers: scikit-learn's classifiers beside ours, what ours add, and regression."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import sklearn.discriminant_analysis
import sklearn.naive_bayes
from rich.table import Table
from sklearn import datasets
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from suffice.demo.tables import Array, largest_difference, new_table
from suffice.discriminant_analysis import (
    GaussianDiscriminant,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.linear_model import BayesianLinearRegression
from suffice.naive_bayes import GaussianNB, MultinomialNB

# Rows drawn from a fitted model to time fits on.
DRAWN_ROWS = 50_000


class Halves(NamedTuple):
    """A data set, half to learn from and half to test on, its classes by name."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


def load_halves(name: str) -> Halves:
    """Load a data set of scikit-learn and halve it, the same way every time."""
    bunch: Any = getattr(datasets, f"load_{name}")()
    labels = np.asarray(bunch.target_names).astype(str)[bunch.target]
    X, X_test, y, y_test = train_test_split(
        bunch.data, labels, test_size=0.5, random_state=0, stratify=labels
    )
    return Halves(X, y, X_test, y_test)


class Contest(NamedTuple):
    """A classifier of scikit-learn, ours, and ours with the parameters integrated out."""

    title: str
    theirs: Any
    ours: Any
    predictive: Any


def best_fit_time(model: Any, X: Array, y: Array, tries: int = 3) -> float:
    """Return the time of the fastest of a few fits, in milliseconds."""
    times = []
    for _ in range(tries):
        start = time.perf_counter()
        model.fit(X, y)
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def same_results() -> Table:
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
    table = new_table("The same results as scikit-learn: half of the rows learned, half tested")
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
        X, y, X_test, y_test = load_halves(name)
        models = [m.fit(X, y) for m in (contest.theirs, contest.ours, contest.predictive)]
        scores = [f"{m.score(X_test, y_test):.3f}" for m in models]
        losses = [f"{log_loss(y_test, m.predict_proba(X_test)):.3f}" for m in models]
        table.add_row(name.split("_")[-1], contest.title, *scores, *losses)
    table.caption = (
        'pred.: suffice with estimate="predictive", which integrates the parameters out.'
    )
    return table


def fit_times() -> Table:
    """Time fits on rows drawn from a model of the breast-cancer data."""
    X, y, _, _ = load_halves("breast_cancer")
    rows, labels = GaussianNB().fit(X, y).sample(DRAWN_ROWS, random_state=0)
    y_index = np.unique(labels, return_inverse=True)[1]
    table = new_table(f"The time of fit on {DRAWN_ROWS:,} rows and {X.shape[1]} columns")
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
        slow, fast = (best_fit_time(model, rows, y_index) for model in (theirs, ours))
        table.add_row(type(ours).__name__, f"{slow:.0f}", f"{fast:.0f}", f"{slow / fast:.1f}x")
    return table


def updates() -> Table:
    """Merge, forget and add a class, and compare with a fit on the same rows."""
    X, y, X_test, _ = load_halves("digits")
    half = len(X) // 2
    table = new_table("Merging, forgetting and new classes are exact (digits, probabilities)")
    table.add_column("what was done")
    table.add_column("compared with", style="dim")
    table.add_column("largest\ndifference", justify="right")

    def compare(done: str, with_what: str, one: Any, other: Any) -> None:
        apart = largest_difference(one.predict_proba(X_test), other.predict_proba(X_test))
        table.add_row(done, with_what, apart)

    def settings() -> GaussianNB:
        return GaussianNB(estimate="predictive", tie="class")

    everything = settings().fit(X, y)
    merged = settings().fit(X[:half], y[:half]) + settings().fit(X[half:], y[half:])
    compare("two models of half the rows, merged", "fit on all rows", merged, everything)
    forgotten = settings().fit(X, y).forget(X[:100], y[:100])
    compare("100 rows forgotten", "fit without them", forgotten, settings().fit(X[100:], y[100:]))
    known = y != "9"
    grown = settings().fit(X[known], y[known])
    grown.partial_fit(X[~known], y[~known])
    news = ", ".join(grown.new_classes_)
    compare(f"9 classes learned, then a new one, {news!r}", "fit on all rows", grown, everything)
    return table


def missing_values() -> Table:
    """Show the class probabilities of one flower when some of its measurements are missing."""
    X, y, X_test, y_test = load_halves("iris")
    model = GaussianDiscriminant(covariance="full", estimate="predictive").fit(X, y)
    at = int(np.argmin(model.predict_proba(X_test).max(axis=1)))
    table = new_table(f"Missing values are integrated out: an iris of class {y_test[at]}")
    table.add_column("sepal, petal (cm)")
    for label in model.classes_:
        table.add_column(f"P({label})", justify="right")
    for missing in ([], [1], [2, 3], [0, 1, 2, 3]):
        flower = X_test[at].copy()
        flower[missing] = np.nan
        cells = "  ".join("  ?" if np.isnan(cell) else f"{cell:.1f}" for cell in flower)
        table.add_row(cells, *(f"{p:.3f}" for p in model.predict_proba(flower[None])[0]))
    return table


def decisions() -> Table:
    """Decide by expected cost, and leave uncertain rows to an expert."""
    X, y, X_test, y_test = load_halves("breast_cancer")
    model = GaussianDiscriminant(covariance="tied", estimate="predictive").fit(X, y)
    missed, alarm, expert = 50.0, 1.0, 0.5
    costs = {
        "treat": {"malignant": 0.0, "benign": alarm},
        "dismiss": {"malignant": missed, "benign": 0.0},
    }
    table = new_table(
        f"Decisions by cost: a missed tumour {missed:g}, a false alarm {alarm:g}, "
        f"an expert {expert:g}"
    )
    for title in ("rule", "missed", "false alarms", "expert", "mean cost"):
        table.add_column(title, justify="left" if title == "rule" else "right")
    plain = np.where(model.predict(X_test) == "malignant", "treat", "dismiss")
    rules = [
        ("predict(X)", plain),
        ("decide(X, loss)", model.decide(X_test, costs)),
        ("decide(X, loss, reject)", model.decide(X_test, costs, reject=expert)),
    ]
    for rule, actions in rules:
        misses = int(np.sum((actions == "dismiss") & (y_test == "malignant")))
        alarms = int(np.sum((actions == "treat") & (y_test == "benign")))
        rejected = int(np.sum(actions == None))  # noqa: E711  # cell by cell
        cost = (missed * misses + alarm * alarms + expert * rejected) / len(actions)
        table.add_row(rule, str(misses), str(alarms), str(rejected), f"{cost:.3f}")
    return table


def scales() -> Table:
    """Show that a column of large noise does not hide a column of small values."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    signal = 1e-3 * (rng.standard_normal(len(y)) + 5 * y)
    noise = 1e3 * rng.standard_normal(len(y))
    half = len(y) // 2
    table = new_table(
        "Each column has its own scale: a signal of size 1e-3 beside noise of size 1e3"
    )
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


def evidence() -> Table:
    """Compare the evidence on the training half with the log-loss on the test half."""
    table = new_table(
        "GaussianNB(tie=...): which variances are shared, by evidence and by log-loss"
    )
    table.add_column("data")
    table.add_column("tie")
    for title in ("parameters", "log evidence", "log-loss, test half"):
        table.add_column(title, justify="right")
    for name in ("wine", "iris", "breast_cancer", "digits"):
        X, y, X_test, y_test = load_halves(name)
        models = [
            GaussianNB(estimate="predictive", tie=tie).fit(X, y)
            for tie in (None, "class", "feature", "both")
        ]
        evidences = [model.log_evidence_ for model in models]
        losses = [log_loss(y_test, model.predict_proba(X_test)) for model in models]
        for model, gain, loss in zip(models, evidences, losses, strict=True):
            table.add_row(
                name.split("_")[-1],
                repr(model.tie),
                str(model.n_parameters_),
                f"{'* ' if gain == max(evidences) else ''}{gain:.1f}",
                f"{'* ' if loss == min(losses) else ''}{loss:.3f}",
            )
    table.caption = (
        "* best. Evidence measures the fit of p(x, class), log-loss that of p(class | x): "
        "they need not agree."
    )
    return table


def calibration() -> Table:
    """Calibrate naive Bayes on held-out folds."""
    table = new_table("Calibrated probabilities: log-loss of GaussianNB on the test half")
    table.add_column("data")
    for title in ("not calibrated", 'calibrate="folds"', "temperature", "noise rate"):
        table.add_column(title, justify="right")
    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y, X_test, y_test = load_halves(name)
        plain, calibrated = GaussianNB().fit(X, y), GaussianNB(calibrate="folds").fit(X, y)
        losses = [f"{log_loss(y_test, m.predict_proba(X_test)):.3f}" for m in (plain, calibrated)]
        fitted = calibrated.calibration_
        title = name.split("_")[-1]
        table.add_row(title, *losses, f"{fitted.temperature:.1f}", f"{fitted.noise_rate:.1%}")
    return table


def regression() -> Table:
    """Fit a Bayesian linear regression, and check its intervals on the test half."""
    bunch: Any = datasets.load_diabetes(scaled=False)
    X, X_test, y, y_test = train_test_split(bunch.data, bunch.target, test_size=0.5, random_state=0)
    # Arrow's tables name their columns, and pandas need not be there.
    X, X_test = (
        pa.table(dict(zip(bunch.feature_names, half.T, strict=True))) for half in (X, X_test)
    )
    model = BayesianLinearRegression().fit(X, y)
    summary = model.summary()
    table = new_table(
        "BayesianLinearRegression: progression of diabetes, learned on half of the rows"
    )
    table.add_column("column")
    for title in ("estimate", "sd", "2.5 %", "97.5 %"):
        table.add_column(title, justify="right")
    kinds = (summary.estimate, summary.sd, summary.lower, summary.upper)
    for term, *numbers in zip(summary.terms, *(kind[0] for kind in kinds), strict=True):
        table.add_row(term, *(f"{number:.3g}" for number in numbers))
    lower, upper = model.interval(X_test, 0.9)
    inside = float(np.mean((lower < y_test) & (y_test < upper)))
    left_out = model.leave_one_out(X, y).root_mean_square
    tested = float(np.sqrt(np.mean(np.square(model.predict(X_test) - y_test))))
    table.caption = (
        f"{inside:.0%} of the test targets lie in their 90 % predictive intervals. Root mean "
        f"squared error: {left_out:.1f} by leave-one-out, {tested:.1f} on the test half."
    )
    return table
