"""`python -m benchmarks.text_quality`: accuracy and log-loss on texts, against scikit-learn's.

Nothing is tuned to a set. Sets that are not in the folder of data sets (SUFFICE_DATA) are skipped.
"""

from __future__ import annotations

import gzip
import json
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline

from benchmarks.quality_sets import FOLDER
from suffice import TextClassifier

SETS = ("sms_spam", "sentence_polarity", "r8")
MODELS: dict[str, Callable[[], Any]] = {
    "TextClassifier()": TextClassifier,
    "TextClassifier(ngrams=2)": lambda: TextClassifier(ngrams=2),
    'TextClassifier(refine="logistic")': lambda: TextClassifier(refine="logistic"),
    "MultinomialNB": lambda: make_pipeline(CountVectorizer(), MultinomialNB()),
    "ComplementNB": lambda: make_pipeline(CountVectorizer(), ComplementNB()),
    "LogisticRegression, tf-idf, C=1": lambda: tfidf_logistic(1.0),
    "LogisticRegression, tf-idf, C=10": lambda: tfidf_logistic(10.0),
}


class Scores(NamedTuple):
    """Means over the folds, and the time of all of them."""

    accuracy: float
    log_loss: float
    seconds: float


def tfidf_logistic(C: float) -> Any:
    """Return scikit-learn's logistic regression on tf-idf."""
    return make_pipeline(TfidfVectorizer(), LogisticRegression(C=C, max_iter=1000))


def read(name: str) -> tuple[NDArray[Any], NDArray[Any], list[Any]] | None:
    """Return the documents, labels and splits of a set, if it exists."""
    path = FOLDER / name / f"{name}.jsonl.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    documents = np.array([row["text"] for row in rows], object)
    labels = np.array([row["label"] for row in rows])
    if "split" in rows[0]:
        train = np.array([row["split"] == "train" for row in rows])
        return documents, labels, [(np.flatnonzero(train), np.flatnonzero(~train))]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return documents, labels, list(folds.split(documents, labels))


def evaluate(make: Callable[[], Any], documents: Any, labels: Any, splits: list[Any]) -> Scores:
    """Return the mean scores of a model over the splits."""
    right, loss, start = [], [], time.perf_counter()
    for train, test in splits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make().fit(documents[train], labels[train])
            proba = model.predict_proba(documents[test])
        right.append(np.mean(model.classes_[proba.argmax(axis=1)] == labels[test]))
        loss.append(log_loss(labels[test], proba, labels=model.classes_))
    spent = time.perf_counter() - start
    return Scores(float(np.mean(right)), float(np.mean(loss)), spent)


def main() -> None:
    """Evaluate, and print a table for each set."""
    console = Console()
    for name in SETS:
        found = read(name)
        if found is None:
            console.print(f"{name}: not found, skipped.")
            continue
        table = Table("model", "accuracy", "log-loss", "seconds", title=name, box=SIMPLE_HEAD)
        for model, make in MODELS.items():
            with console.status(f"{name}: {model}"):
                scores = evaluate(make, *found)
            table.add_row(
                model,
                f"{scores.accuracy:.4f}",
                f"{scores.log_loss:.4f}",
                f"{scores.seconds:.1f}",
            )
        console.print(table)


if __name__ == "__main__":
    main()
