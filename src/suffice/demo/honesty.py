"""How far a model can be trusted: evidence, calibration, intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from rich.table import Table
from sklearn import datasets
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from suffice.demo.parts import a_table, halves
from suffice.linear_model import BayesianLinearRegression
from suffice.naive_bayes import GaussianNB


def evidence() -> Table:
    """Compare the choice by evidence on the training half with that of the test half."""
    table = a_table("GaussianNB(tie=...): which variances are equal, by evidence and by test half")
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
    table.caption = (
        "* best. The evidence is about the density of the rows, not about the classes alone."
    )
    return table


def calibration() -> Table:
    """Calibrate naive Bayes on rows that were held out."""
    table = a_table("Calibrated probabilities: GaussianNB, log-loss on the test half")
    table.add_column("data")
    for title in ("as it is", 'calibrate="folds"', "temperature", "noise rate"):
        table.add_column(title, justify="right")
    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y, X_test, y_test = halves(name)
        plain, calm = GaussianNB().fit(X, y), GaussianNB(calibrate="folds").fit(X, y)
        losses = [f"{log_loss(y_test, m.predict_proba(X_test)):.3f}" for m in (plain, calm)]
        found = calm.calibration_
        title = name.split("_")[-1]
        table.add_row(title, *losses, f"{found.temperature:.1f}", f"{found.noise_rate:.1%}")
    return table


def regression() -> Table:
    """Fit a Bayesian linear regression, and compare its intervals with the test half."""
    bunch: Any = datasets.load_diabetes(scaled=False)
    X, X_test, y, y_test = train_test_split(bunch.data, bunch.target, test_size=0.5, random_state=0)
    # Arrow's tables name their columns, and pandas need not be there.
    X, X_test = (
        pa.table(dict(zip(bunch.feature_names, half.T, strict=True))) for half in (X, X_test)
    )
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
