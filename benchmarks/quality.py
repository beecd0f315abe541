"""`make quality`: log-loss, accuracy and calibration beside scikit-learn's classifiers.

Nothing is tuned to a set. Results are kept in quality.json; peers that are there already are not
run again unless --fresh says so.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
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

from benchmarks.quality_peers import NAIVE, OTHERS, TEXT_NAIVE, TEXT_OTHERS, Maker
from benchmarks.quality_sets import FOLDER, SETS, LabelledSet
from benchmarks.quality_speed import speed

RESULTS = Path(__file__).parent / "quality.json"
BINS = 15
# The set on which fit and predict are timed.
TIMED = "adult"
OURS = "suffice"
SHOWN = (OURS, "naive Bayes", "LDA", "logistic", "boosting")


def calibration_error(proba: NDArray[Any], right: NDArray[Any]) -> float:
    """Return the expected calibration error of the chosen classes, in 15 bins of equal width."""
    sure = proba.max(axis=1)
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, right, BINS) - np.bincount(bins, sure, BINS)
    return float(np.abs(gaps).sum() / len(sure))


def measured(spec: LabelledSet, maker: Maker) -> dict[str, float]:
    """Return the scores of a model: pooled over the test rows of all folds."""
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
            if not loss:  # compiled kernels are loaded before the clock starts
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
    import suffice

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
    """Return the scores of the naive Bayes model of least log-loss."""
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


def marks(results: dict[str, Any]) -> list[str]:
    """Return what was to be reached, and what was."""
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


def main() -> None:
    """Measure what is asked for, print tables, keep the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=[spec.name for spec in SETS])
    parser.add_argument("--models", nargs="*", help="all, if not given")
    parser.add_argument("--fresh", action="store_true", help="run peers again")
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args()
    console = Console(width=120)
    results = json.loads(asked.results.read_text()) if asked.results.exists() else {}
    for spec in SETS:
        if spec.name not in asked.sets:
            continue
        if not (FOLDER / spec.file).exists():
            console.print(f"{spec.name}: not there, left out")
            continue
        scores = results.setdefault(spec.name, {})
        for name, maker in makers(spec).items():
            if asked.models and name not in asked.models:
                continue
            if name in scores and name != OURS and not asked.fresh:
                continue
            with console.status(f"{spec.name}: {name}"):
                scores[name] = measured(spec, maker)
            asked.results.write_text(json.dumps(results, indent=2) + "\n")
    for field in ("log_loss", "accuracy", "calibration_error", "seconds"):
        console.print(table({k: v for k, v in results.items() if v}, field))
    for told in marks(results):
        console.print(told)
    for spec in SETS:
        if spec.name == TIMED and spec.name in asked.sets and (FOLDER / spec.file).exists():
            for told in speed(spec):
                console.print(told)


if __name__ == "__main__":
    main()
