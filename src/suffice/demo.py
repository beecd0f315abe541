"""What suffice does, shown on data that ships with scikit-learn: `python -m suffice.demo`."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import sklearn.discriminant_analysis
import sklearn.naive_bayes
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from sklearn import datasets
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from suffice.discriminant_analysis import (
    GaussianDiscriminant,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.linear_model import BayesianLinearRegression
from suffice.naive_bayes import GaussianNB, MultinomialNB

Array = NDArray[Any]
# Rows drawn from a fitted model, to time fits that take more than a blink.
DRAWN_ROWS = 200_000


class Halves(NamedTuple):
    """A data set, half to learn from and half to be tested on, its classes by name."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


class Contest(NamedTuple):
    """The same classifier by scikit-learn and by us, and ours with its parameters integrated."""

    title: str
    theirs: Any
    ours: Any
    predictive: Any


def halves(name: str) -> Halves:
    """Load a data set of scikit-learn's and halve it, the same way every time."""
    bunch: Any = getattr(datasets, f"load_{name}")()
    labels = np.asarray(bunch.target_names).astype(str)[bunch.target]
    X, X_test, y, y_test = train_test_split(
        bunch.data, labels, test_size=0.5, random_state=0, stratify=labels
    )
    return Halves(X, y, X_test, y_test)


def a_table(title: str) -> Table:
    """Return an empty table that looks like the others and fits 80 columns."""
    return Table(title=title, box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


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


def arithmetic() -> Table:
    """Merge, forget and meet a new class, and compare with models that learned it all at once."""
    X, y, X_test, _ = halves("digits")
    half = len(X) // 2
    table = a_table("A model is a tally: it merges, forgets and grows (digits, probabilities)")
    table.add_column("what was done")
    table.add_column("compared with", style="dim")
    table.add_column("largest\ndifference", justify="right")

    def compare(done: str, with_what: str, one: Any, other: Any) -> None:
        apart = np.abs(one.predict_proba(X_test) - other.predict_proba(X_test)).max()
        table.add_row(done, with_what, f"{apart:.0e}" if apart else "none")

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


def gaps() -> Table:
    """Show what one flower is called when some of its measures are missing."""
    X, y, X_test, y_test = halves("iris")
    model = GaussianDiscriminant(covariance="full", estimate="predictive").fit(X, y)
    at = int(np.argmin(model.predict_proba(X_test).max(axis=1)))
    table = a_table(f"Gaps are left out, exactly: one iris, in truth {y_test[at]}")
    table.add_column("sepal and petal, cm")
    for label in model.classes_:
        table.add_column(f"p({label})", justify="right")
    for missing in ([], [1], [2, 3], [0, 1, 2, 3]):
        flower = X_test[at].copy()
        flower[missing] = np.nan
        cells = "  ".join("  ?" if np.isnan(cell) else f"{cell:.1f}" for cell in flower)
        table.add_row(cells, *(f"{p:.3f}" for p in model.predict_proba(flower[None])[0]))
    return table


def decisions() -> Table:
    """Decide by what mistakes cost, and leave the doubtful rows to somebody else."""
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


def evidence() -> Table:
    """Hold the evidence of the training half against what the test half says."""
    table = a_table("What shares a variance: the evidence's choice, and the test half's")
    table.add_column("data")
    table.add_column("tie")
    for title in ("parameters", "log evidence", "log-loss, test half"):
        table.add_column(title, justify="right")
    for name in ("wine", "iris", "breast_cancer", "digits"):
        X, y, X_test, y_test = halves(name)
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
    table.caption = "* best. The evidence judges the model of the rows, not of the classes alone."
    return table


def calibration() -> Table:
    """Calibrate naive Bayes on its exact leave-one-out probabilities."""
    table = a_table("Honest probabilities: GaussianNB, log-loss on the test half")
    table.add_column("data")
    for title in ("as it is", 'calibrate="loo"', "temperature", "rows it knows nothing of"):
        table.add_column(title, justify="right")
    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y, X_test, y_test = halves(name)
        plain, calm = GaussianNB().fit(X, y), GaussianNB(calibrate="loo").fit(X, y)
        losses = [f"{log_loss(y_test, m.predict_proba(X_test)):.3f}" for m in (plain, calm)]
        found = calm.calibration_
        title = name.split("_")[-1]
        table.add_row(title, *losses, f"{found.temperature:.1f}", f"{found.lapse:.1%}")
    return table


def regression() -> Table:
    """Fit a Bayesian linear regression, and hold its intervals against the test half."""
    bunch: Any = datasets.load_diabetes(as_frame=True, scaled=False)
    X, X_test, y, y_test = train_test_split(bunch.data, bunch.target, test_size=0.5, random_state=0)
    model = BayesianLinearRegression().fit(X, y)
    summary = model.summary()
    table = a_table("Bayesian linear regression: progression of diabetes, half the rows learned")
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
        f"{inside:.0%} of the test targets lie in their 90 % intervals. Error of a row: "
        f"{left_out:.1f} by leave-one-out, {tested:.1f} on the test half."
    )
    return table


PARTS = (
    side_by_side,
    timings,
    arithmetic,
    gaps,
    decisions,
    scales,
    evidence,
    calibration,
    regression,
)


def main() -> None:
    """Print everything, a table at a time."""
    console = Console()
    console.print("[bold]suffice[/bold]: a model is a tally plus a prior.\n")
    for part in PARTS:
        table = part()
        # Printed by itself, a title may be longer than its table is wide.
        console.print(f"[bold cyan]{table.title}[/bold cyan]")
        table.title = None
        console.print(table)


if __name__ == "__main__":
    main()
