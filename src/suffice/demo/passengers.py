"""A mixed table: passengers of the Titanic, a file that comes with scikit-learn.

scikit-learn has the table (OpenML 40945) among the files of its tests. Where a build leaves these
out, its diabetes data stand in: numbers, and the sex of each patient.
"""

from __future__ import annotations

import csv
import gzip
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.datasets
from rich.table import Table
from rich.text import Text
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from suffice.demo.tables import (
    Array,
    explanation_table,
    largest_difference,
    new_table,
    quality_row,
)
from suffice.errors import StaleCalibrationWarning
from suffice.table import GenerativeClassifier

FILE = Path("tests", "data", "openml", "id_40945", "data-v1-dl-16826755.arff.gz")
CLASSES = {"1": "first", "2": "second", "3": "third"}
FOLDS = 5
Row = dict[str, Any]


class Data(NamedTuple):
    """A mixed table and a label for each row."""

    name: str
    about: str
    rows: list[Row]
    y: Array
    target: str
    """the class that is explained"""
    new: Row
    """a row to explain, made up"""
    outcome: str
    """what is learned of it later"""


@cache
def data() -> Data:
    """Return the table of the demo, read once."""
    path = Path(str(sklearn.datasets.__file__)).parent / FILE
    return read_passengers(path) if path.exists() else diabetes()


def read_passengers(path: Path) -> Data:
    """Read the passengers out of an ARFF file, compressed; "?" is a missing value."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        head, _, body = file.read().partition("@data")
    names = [line.split("'")[1] for line in head.splitlines() if line.startswith("@attribute")]
    found = [dict(zip(names, row, strict=True)) for row in csv.reader(body.strip().splitlines())]

    def cell(row: dict[str, str], name: str, read: Callable[[str], Any]) -> Any:
        return None if row[name] == "?" else read(row[name])

    rows = [
        {
            "cabin class": CLASSES[one["pclass"]],
            "sex": one["sex"],
            "age": cell(one, "age", float),
            "siblings": cell(one, "sibsp", int),
            "parents": cell(one, "parch", int),
            "fare": cell(one, "fare", float),
            "port": cell(one, "embarked", str),
        }
        for one in found
    ]
    y = np.where([one["survived"] == "1" for one in found], "survived", "died")
    about = (
        "Who survived the Titanic? Strings, counts, numbers and missing values go in as they are. "
        "The table comes with scikit-learn (OpenML 40945)."
    )
    new = {**rows[0], "cabin class": "second", "sex": "female", "age": 31.0, "fare": None}
    new |= {"siblings": 1, "parents": 0, "port": "S"}
    return Data("passengers", about, rows, y, "survived", new, "died")


def diabetes() -> Data:
    """Return scikit-learn's diabetes data, where the label says how fast the disease progresses."""
    found: Any = sklearn.datasets.load_diabetes(scaled=False)
    rows = [
        {
            **dict(zip(found.feature_names, map(float, row), strict=True)),
            "sex": f"sex {row[1]:.0f}",
        }
        for row in found.data
    ]
    y = np.where(found.target > np.median(found.target), "faster", "slower")
    about = (
        "Does a patient's diabetes progress faster than that of half of the patients? Numbers, "
        "and sex as a category. The table comes with scikit-learn."
    )
    return Data("patients", about, rows, y, "faster", {**rows[0], "bmi": None}, "slower")


@cache
def model() -> GenerativeClassifier:
    """Return a model of the whole table, fitted once; parts that change one fit their own."""
    return GenerativeClassifier().fit(data().rows, data().y)


def first_rows() -> Table:
    """Show the first rows as they are."""
    found = data()
    table = new_table(f"The first of {len(found.rows):,} {found.name}")
    for column, cell in found.rows[0].items():
        table.add_column(column, justify="left" if isinstance(cell, str) else "right")
    table.add_column("label")
    for row, label in zip(found.rows[:5], found.y, strict=False):
        cells = (
            "?" if cell is None else f"{cell:g}" if cell is not str(cell) else cell
            for cell in row.values()
        )
        table.add_row(*cells, str(label))
    table.caption = "? is a missing value. No column is encoded, scaled or filled in."
    return table


def families() -> Table:
    """Show which distribution was selected for each column."""
    rows = data().rows
    table = new_table("GenerativeClassifier().fit(rows, labels): the distribution of each column")
    table.add_column("column")
    table.add_column("missing", justify="right")
    table.add_column("distribution")
    table.add_column("others, by decreasing evidence")
    for name, choice in model().choices_.items():
        missing = sum(row[name] is None for row in rows)
        family = choice.family + (f", with {choice.others}" if choice.others else "")
        others = sorted(choice.evidence, key=lambda other: -choice.evidence[other])
        less = ", ".join(other for other in others if other != choice.family)
        table.add_row(Text(name), str(missing), Text(family), less or "-")
    table.caption = "Evidence is the probability of a column's data, parameters integrated out."
    return table


def usual_pipeline() -> Any:
    """Return scikit-learn's usual pipeline: fill in, scale, encode, logistic regression."""
    row = data().rows[0]
    texts = [at for at, cell in enumerate(row.values()) if isinstance(cell, str)]
    numbers = [at for at in range(len(row)) if at not in texts]
    steps = [
        ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (
            "texts",
            make_pipeline(
                SimpleImputer(strategy="most_frequent", missing_values=None),
                OneHotEncoder(handle_unknown="ignore"),
            ),
            texts,
        ),
    ]
    return make_pipeline(ColumnTransformer(steps), LogisticRegression(max_iter=1000))


def quality() -> Table:
    """Compare held-out quality with scikit-learn's usual pipeline."""
    found = data()
    listed: Any = [list(row.values()) for row in found.rows]
    cells = np.array(listed, dtype=object)
    for at in range(cells.shape[1]):
        if not any(isinstance(cell, str) for cell in cells[:, at]):
            cells[:, at] = cells[:, at].astype(np.float64)
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(cells, found.y))
    labels = np.unique(found.y)
    table = new_table(f"Held-out quality, {FOLDS} folds, mean of the rows and its standard error")
    for title in ("model", "accuracy", "log-loss", "fit, s"):
        table.add_column(title, justify="left" if title == "model" else "right")
    shares = np.empty((len(cells), len(labels)))
    proba = {name: np.empty_like(shares) for name in ("ours", "usual")}
    seconds = dict.fromkeys(proba, 0.0)
    for train, test in splits:
        y = found.y[train]
        shares[test] = [np.mean(y == label) for label in labels]
        start = time.perf_counter()
        ours = GenerativeClassifier().fit([found.rows[at] for at in train], y)
        middle = time.perf_counter()
        usual = usual_pipeline().fit(cells[train], y)
        seconds["ours"] += middle - start
        seconds["usual"] += time.perf_counter() - middle
        proba["ours"][test] = ours.predict_proba([found.rows[at] for at in test])
        proba["usual"][test] = usual.predict_proba(cells[test])
    table.add_row("the shares of the classes", *quality_row(shares, found.y, labels), "")
    usual_name = "scikit-learn: impute, scale, one-hot,\nLogisticRegression"
    for name, title in (("usual", usual_name), ("ours", "suffice: GenerativeClassifier()")):
        spent = f"{seconds[name] / FOLDS:.2f}"
        table.add_row(title, *quality_row(proba[name], found.y, labels), spent)
    table.caption = "Lower log-loss is better: it is the mean of -log P(the true label)."
    return table


def explained() -> Table:
    """Explain the probability of one row."""
    found = data()
    unknown = next(name for name, cell in found.new.items() if cell is None)
    return explanation_table(
        f"model.explain(row, {found.target!r}): one more row; its {unknown} is missing",
        model().explain(found.new, found.target),
    )


def forgotten() -> Table:
    """Learn one row more, forget it, and forget one of the first rows."""
    found = data()
    changed = GenerativeClassifier().fit(found.rows, found.y)
    table = new_table("One row learned, and forgotten again; another row forgotten")
    table.add_column("call")
    table.add_column("rows\nlearned", justify="right")
    table.add_column(f"P({found.target})\nof the new row", justify="right")

    def add_state(call: str) -> Array:
        at = list(changed.classes_).index(found.target)
        new = changed.predict_proba([found.new])[0, at]
        table.add_row(Text(call), f"{changed.tally_.weights.sum():.0f}", f"{new:.4f}")
        answers: Array = changed.predict_proba(found.rows)
        return answers

    with warnings.catch_warnings():
        # The combination weights stay those of the first fit until refresh_weights.
        warnings.simplefilter("ignore", StaleCalibrationWarning)
        before = add_state("model.fit(rows, labels)")
        changed.partial_fit([found.new], [found.outcome])
        add_state(f'model.partial_fit([new], ["{found.outcome}"])')
        changed.forget([found.new], [found.outcome])
        undone = largest_difference(before, add_state(f'model.forget([new], ["{found.outcome}"])'))
        changed.forget(found.rows[:1], found.y[:1])
        add_state("model.forget(rows[:1], labels[:1])")
        changed.refresh_weights(found.rows[1:], found.y[1:])
    refitted: Any = GenerativeClassifier(changed.families_).fit(found.rows[1:], found.y[1:])
    answers = changed.predict_proba(found.rows), refitted.predict_proba(found.rows)
    table.caption = (
        "Largest difference of a probability:\n"
        f"- new row learned and forgotten, against never learned: {undone}\n"
        "- first row forgotten and refresh_weights(), against a fit without it: "
        f"{largest_difference(*answers)}"
    )
    return table
