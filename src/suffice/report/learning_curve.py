"""A learning curve of the model beside logistic regression, on rows that are given."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from suffice._sklearn import safe_indexing
from suffice.data.table import Table
from suffice.errors import SufficeError
from suffice.lab.learning_curves import Candidate, draw_split, learning_curves
from suffice.linear_model import LogisticRegression
from suffice.report.charts import Axis, Chart, figure
from suffice.report.html import Html, markup
from suffice.report.section import note
from suffice.table import GenerativeClassifier
from suffice.tally.tally import Floats
from suffice.text import CountVectorizer, TextClassifier

# Rows that are learned from, in which steps; rows that are tested on; repeats.
SIZES, MAX_TESTED, REPEATS = (50, 200, 800), 1000, 3
# Rows that a curve needs, and levels of a column that logistic regression has a weight for.
MIN_ROWS, MAX_LEVELS = 100, 50
# Variance of the prior of the weights of the logistic regression, columns being standardised.
PRIOR_VARIANCE = 1.0
# What logistic regression is given.
OF_TABLES = (
    "Logistic regression has standardised numbers, an indicator for each level, and the mean in "
    "place of missing numbers."
)
OF_DOCUMENTS = "Logistic regression has an indicator for each word."


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Mean log-losses of two models on rows that were not learned, and their standard errors.

    Parameters
    ----------
    name : of the model
    sizes : (m,)
    means, errors : (2, m)
    tested : how many rows were tested on
    how : what logistic regression was given, and what was left out
    """

    name: str
    sizes: list[int]
    means: Floats
    errors: Floats
    tested: int
    how: str

    def html(self) -> Html:
        """Return the chart and what it says."""
        low = float((self.means - 2 * self.errors).min())
        high = float((self.means + 2 * self.errors).max())
        pad = 0.08 * (high - low or 1.0)
        marks = [(float(size), f"{size:,}") for size in self.sizes]
        x = Axis(self.sizes[0], self.sizes[-1], "rows learned, logarithmic scale", marks, log=True)
        chart = Chart(
            x, Axis(max(0.0, low - pad), high + pad, "log-loss of other rows"), height=260
        )
        for number, (mean, error) in enumerate(zip(self.means, self.errors, strict=True)):
            chart.band(self.sizes, mean - 2 * error, mean + 2 * error, f"c{number}")
            chart.line(self.sizes, mean, f"c{number}")
            chart.dots(self.sizes, mean, f"c{number}")
        legend = [("c0", self.name), ("c1", "logistic regression")]
        mine, theirs = float(self.means[0, -1]), float(self.means[1, -1])
        size = f"{self.sizes[-1]:,}"
        if abs(mine - theirs) < 2 * float(np.hypot(*self.errors[:, -1])):
            title = (
                f"With {size} rows, {self.name} and logistic regression are as good ({mine:.3f} "
                f"and {theirs:.3f})"
            )
        else:
            better, worse = sorted((mine, theirs))
            first = self.name if mine < theirs else "Logistic regression"
            title = f"{first} is better with {size} rows: log-loss {better:.3f} against {worse:.3f}"
        words = note(
            f"Both learn the same rows and are tested on {self.tested:,} others, {REPEATS} times; "
            f"bands are two standard errors. {self.how}"
        )
        return markup([figure(title, chart.svg(title), legend=legend, class_="wide"), words])


def learning_curve(model: Any, X: Any, y: Any, size: int) -> LearningCurve | None:
    """Return the curve of a classifier like the model; None of too few rows."""
    labels = np.asarray(y)
    classes, codes = np.unique(labels, return_inverse=True)
    if size < MIN_ROWS or len(classes) < 2 or np.bincount(codes).min() < 4:
        return None
    rng = np.random.default_rng(0)
    splits = []
    for _ in range(REPEATS):
        split = draw_split(codes, 0.3, rng)
        splits.append(split._replace(test=rng.permutation(split.test)[:MAX_TESTED]))
    most = len(splits[0].order)
    sizes = [one for one in SIZES if one < most and one > 3 * len(classes)]
    if not sizes:
        return None
    if most < SIZES[-1] and most > 1.5 * sizes[-1]:
        sizes.append(most)
    own = clone(model)
    if isinstance(own, GenerativeClassifier):
        own.set_params(budget=0)  # a search for columns to join takes most of the time
    candidates = [
        Candidate(own, X, False),
        Candidate(LogisticRegression(C=PRIOR_VARIANCE), discriminative_rows(model, X), False),
    ]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = np.array(list(learning_curves(candidates, labels, sizes, splits)))[:, :, 1]
    except (SufficeError, ValueError):
        return None  # a class that few rows lack, say: there is no curve to draw
    if not np.isfinite(found).all():
        return None
    errors = found.std(axis=0, ddof=1) / np.sqrt(REPEATS)
    tested = len(splits[0].test)
    how = OF_DOCUMENTS if isinstance(model, TextClassifier) else OF_TABLES
    if isinstance(own, GenerativeClassifier):
        how += " Columns are not joined here, to save time."
    return LearningCurve(type(model).__name__, sizes, found.mean(axis=0), errors, tested, how)


def discriminative_rows(model: Any, X: Any) -> Any:
    """Return rows as logistic regression takes them: standardised numbers, indicators of levels."""
    if isinstance(model, TextClassifier):
        return CountVectorizer(binary=True).fit_transform(list(X))
    columns = []
    for column in Table.of(X):
        if column.kind == "text":
            continue
        if column.kind == "category":
            counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
            for level in np.argsort(-counts, kind="stable")[:MAX_LEVELS]:
                columns.append((column.values == level).astype(np.float64))
            continue
        values = np.asarray(column.values, np.float64)
        missing = np.isnan(values)
        mean, spread = (
            (float(np.mean(values[~missing])), float(np.std(values[~missing])))
            if (~missing).any()
            else (0.0, 1.0)
        )
        columns.append(np.where(missing, 0.0, (values - mean) / (spread or 1.0)))
        if missing.any():
            columns.append(missing.astype(np.float64))
    return np.column_stack(columns) if columns else np.zeros((len(X), 1))


def sample_rows(X: Any, y: Any, size: int, most: int) -> tuple[Any, Any, int]:
    """Return so many rows at most, drawn at random, with their labels."""
    if size <= most:
        return X, y, size
    some = np.sort(np.random.default_rng(0).permutation(size)[:most])
    return safe_indexing(X, some), np.asarray(y)[some], most
