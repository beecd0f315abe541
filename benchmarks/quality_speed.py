"""How long fit and predict take beside scikit-learn's one-hot and logistic regression, in turn."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

from benchmarks.quality_peers import OTHERS
from benchmarks.quality_sets import LabelledSet

REPEATS = 7


def seconds(make: Callable[[], Any], learn: tuple[Any, Any], ask: Any) -> float:
    """Return how long a new model takes to learn rows and to answer."""
    model = make()
    start = time.perf_counter()
    model.fit(*learn)
    model.predict(ask)
    return time.perf_counter() - start


def speed(spec: LabelledSet) -> list[str]:
    """Return the best of several runs of both, on the first split and on all rows at once."""
    import suffice

    frame = spec.read()
    X, y = spec.rows(frame)
    train, test = next(iter(spec.splits(frame, y)))
    told = []
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
            for make in makers:  # compiled kernels are loaded before the clock starts
                seconds(make, learn, ask)
            runs = [[seconds(make, learn, ask) for make in makers] for _ in range(REPEATS)]
        ours, theirs = (min(column) for column in zip(*runs, strict=True))
        told.append(
            f"fit + predict of {spec.name}, {what} ({len(learn[1])} + {len(ask)} rows): "
            f"{ours:.3f} s, one-hot + logistic {theirs:.3f} s: {theirs / ours:.1f} times"
        )
    return told
