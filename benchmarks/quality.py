"""`make quality`: log-loss, accuracy and calibration against scikit-learn's classifiers.

Nothing is tuned to a set. Results are kept in quality.json; peers that are
in it already are run again only with --fresh.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import suffice
from benchmarks.quality_peers import NAIVE, OTHERS, TEXT_NAIVE, TEXT_OTHERS, Maker
from benchmarks.quality_sets import FOLDER, SETS, LabelledSet

RESULTS = Path(__file__).parent / "quality.json"
BINS = 15
# The set on which fit and predict are timed.
TIMED = "adult"
REPEATS = 7
OURS = "suffice"
SHOWN = (OURS, "naive Bayes", "LDA", "logistic", "boosting")


def calibration_error(proba: NDArray[Any], right: NDArray[Any]) -> float:
    """Return the expected calibration error of the chosen classes, in 15 bins of equal width."""
    confidence = proba.max(axis=1)
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    difference = np.bincount(bins, right, BINS) - np.bincount(bins, confidence, BINS)
    return float(np.abs(difference).sum() / len(confidence))


def evaluate(spec: LabelledSet, maker: Maker) -> dict[str, float]:
    """Return the scores of a model, pooled over the test rows of all folds."""
    frame = spec.read()
    X, y = spec.rows(frame)
    classes = np.unique(y)
    loss: list[float] = []
    right, proba, seconds = [], [], 0.0
    for train, test in spec.splits(frame, y):
        learn, ask = X.iloc[train], X.iloc[test]
        model = maker(learn, spec.categorical)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not loss:  # libraries are loaded before the clock starts
                maker(learn, spec.categorical).fit(learn, y[train]).predict_proba(ask[:1])
            start = time.perf_counter()
            model.fit(learn, y[train])
            found = model.predict_proba(ask)
            seconds += time.perf_counter() - start
        full = np.zeros((len(test), len(classes)))
        full[:, np.searchsorted(classes, model.classes_)] = found
        loss.append(log_loss(y[test], full, labels=classes))
        right.append(classes[full.argmax(axis=1)] == y[test])
        proba.append(full)
    hits = np.concatenate(right)
    return {
        "log_loss": float(np.mean(loss)),
        "accuracy": float(hits.mean()),
        "calibration_error": calibration_error(np.concatenate(proba), hits),
        "seconds": seconds,
        "rows": len(y),
    }


def ours(X: Any, categorical: tuple[str, ...] | None) -> Any:
    """Return our classifier, with no argument."""
    return suffice.GenerativeClassifier()


def ours_for_text(X: Any, categorical: tuple[str, ...] | None) -> Any:
    """Return our classifier, with no argument, of a table with one column of texts."""
    return make_pipeline(FunctionTransformer(lambda texts: texts.to_frame()), ours(X, categorical))


def makers(spec: LabelledSet) -> dict[str, Maker]:
    """Return all models for a set, by name."""
    if spec.text:
        return {OURS: ours_for_text, **TEXT_NAIVE, **TEXT_OTHERS}
    return {OURS: ours, **NAIVE, **OTHERS}


def best_naive(scores: dict[str, Any]) -> dict[str, Any] | None:
    """Return the scores of the naive Bayes model with the lowest log-loss."""
    found = [scores[name] for name in (*NAIVE, *TEXT_NAIVE) if name in scores]
    return min(found, key=lambda one: float(one["log_loss"])) if found else None


def table(results: dict[str, Any], field: str) -> Table:
    """Return one score of all models on all sets."""
    out = Table(title=field.replace("_", " "), box=SIMPLE_HEAD)
    out.add_column("set")
    out.add_column("rows", justify="right")
    for name in SHOWN:
        out.add_column(name, justify="right")
    for name, given in results.items():
        scores = {**given, "naive Bayes": best_naive(given)}
        rows = next(iter(given.values()))["rows"]
        cells = [scores.get(model) for model in SHOWN]
        out.add_row(name, str(rows), *(f"{c[field]:.3f}" if c else "-" for c in cells))
    return out


def summary(results: dict[str, Any]) -> list[str]:
    """Return on how many sets the log-loss is below that of each peer, and what is wanted."""
    pairs = [(g[OURS], {**g, "naive Bayes": best_naive(g)}) for g in results.values() if OURS in g]
    lines = []
    for peer, wanted, below in (
        ("naive Bayes", "all", np.inf),
        ("logistic", "two thirds", np.inf),
        ("boosting", "half of those below 2,000 rows", 2000),
    ):
        held = [
            (o["log_loss"], p[peer]["log_loss"])
            for o, p in pairs
            if p.get(peer) and o["rows"] < below
        ]
        won = sum(a < b for a, b in held)
        ratio = float(np.exp(np.mean([np.log(b / a) for a, b in held]))) if held else np.nan
        lines.append(
            f"log-loss below {peer}: {won} of {len(held)} (wanted: {wanted}); "
            f"{ratio:.2f} times smaller in the geometric mean"
        )
    accuracy = [
        (o["accuracy"], p["naive Bayes"]["accuracy"]) for o, p in pairs if p.get("naive Bayes")
    ]
    if accuracy:
        lines.append("mean accuracy {:.4f}, naive Bayes {:.4f}".format(*np.mean(accuracy, axis=0)))
    worst = [
        (o["calibration_error"], name)
        for name, g in results.items()
        if (o := g.get(OURS)) and o["rows"] >= 1000
    ]
    if worst:
        lines.append(
            "largest calibration error of 1,000 rows or more: {:.3f} ({})".format(*max(worst))
        )
    return lines


def seconds(make: Callable[[], Any], train: tuple[Any, Any], test: Any) -> float:
    """Return how long fit and predict of a new model take."""
    model = make()
    start = time.perf_counter()
    model.fit(*train)
    model.predict(test)
    return time.perf_counter() - start


def compare_speed(spec: LabelledSet) -> list[str]:
    """Compare fit and predict with one-hot and logistic regression, best of several runs."""
    frame = spec.read()
    X, y = spec.rows(frame)
    train, test = next(iter(spec.splits(frame, y)))
    lines = []
    for what, learn, ask in (
        ("the first split", (X.iloc[train], y[train]), X.iloc[test]),
        ("all rows", (X, y), X),
    ):
        makers = (
            suffice.GenerativeClassifier,
            lambda rows=learn[0]: OTHERS["logistic"](rows, spec.categorical),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for make in makers:  # libraries are loaded before the clock starts
                seconds(make, learn, ask)
            runs = [[seconds(make, learn, ask) for make in makers] for _ in range(REPEATS)]
        ours, theirs = (min(column) for column in zip(*runs, strict=True))
        lines.append(
            f"fit + predict of {spec.name}, {what} ({len(learn[1])} + {len(ask)} rows): "
            f"{ours:.3f} s, one-hot + logistic {theirs:.3f} s: {theirs / ours:.1f} times"
        )
    return lines


def main() -> None:
    """Evaluate, print tables, keep the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=[spec.name for spec in SETS])
    parser.add_argument("--models", nargs="*", help="all, if not given")
    parser.add_argument("--fresh", action="store_true", help="run peers again")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    console = Console(width=120)
    results = json.loads(options.results.read_text()) if options.results.exists() else {}
    for spec in SETS:
        if spec.name not in options.sets:
            continue
        if not (FOLDER / spec.file).exists():
            console.print(f"{spec.name}: not found, skipped")
            continue
        scores = results.setdefault(spec.name, {})
        for name, maker in makers(spec).items():
            if options.models and name not in options.models:
                continue
            if name in scores and name != OURS and not options.fresh:
                continue
            with console.status(f"{spec.name}: {name}"):
                scores[name] = evaluate(spec, maker)
            options.results.write_text(json.dumps(results, indent=2) + "\n")
    for field in ("log_loss", "accuracy", "calibration_error", "seconds"):
        console.print(table({k: v for k, v in results.items() if v}, field))
    for line in summary(results):
        console.print(line)
    for spec in SETS:
        if spec.name == TIMED and spec.name in options.sets and (FOLDER / spec.file).exists():
            for line in compare_speed(spec):
                console.print(line)


if __name__ == "__main__":
    main()
