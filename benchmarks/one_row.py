"""One row at a time, as a server meets them, and a fresh process: what is timed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import river.naive_bayes
import sklearn.feature_extraction.text
import sklearn.naive_bayes
from sklearn.pipeline import make_pipeline

import suffice
from benchmarks.measure import Result, Work

CALLS = 300
ROUNDS = 7


def cpu_seconds(work: Work, calls: int = CALLS) -> float:
    """Return the CPU time of one call, of all threads, on average over some."""
    start = time.process_time()
    for _ in range(calls):
        work()
    return (time.process_time() - start) / calls


def cpu_line(
    work: str,
    ours: Any,
    theirs: Any,
    at_least: float,
    peer: str = "scikit-learn",
    rows: int = 1,
) -> Result:
    """Compare the CPU time of a row, so many in a call, with another library's; they take turns."""
    ours(), theirs()
    best, peer_best = float("inf"), float("inf")
    for _ in range(ROUNDS):
        calls = max(1, CALLS // rows)
        best = min(best, cpu_seconds(ours, calls))
        peer_best = min(peer_best, cpu_seconds(theirs, calls))
    ratio = peer_best / best
    return Result(f"{work}, CPU", best / rows, peer_best / rows, peer, ratio, at_least, None)


def naive_bayes() -> Iterator[Result]:
    """Predict and learn one row of 20 columns."""
    rng = np.random.default_rng(8)
    X, y = rng.poisson(3.0, size=(1000, 20)).astype(np.float64), rng.integers(0, 2, 1000)
    row, label = X[:1], y[:1]
    for name in ("GaussianNB", "MultinomialNB"):
        mine = getattr(suffice, name)().fit(X, y)
        peer = getattr(sklearn.naive_bayes, name)().fit(X, y)
        yield cpu_line(
            f"{name} predict, one row",
            lambda mine=mine: mine.predict(row),
            lambda peer=peer: peer.predict(row),
            2,
        )
        yield cpu_line(
            f"{name} partial_fit, one row",
            lambda mine=mine: mine.partial_fit(row, label),
            lambda peer=peer: peer.partial_fit(row, label),
            1,
        )


def documents() -> Iterator[Result]:
    """Predict one document of 100 words."""
    rng = np.random.default_rng(9)
    words = [f"word{k}" for k in rng.zipf(1.3, size=100_000) % 20_000]
    texts = [" ".join(words[at : at + 100]) for at in range(0, len(words), 100)]
    y = rng.integers(0, 2, len(texts))
    mine = suffice.TextClassifier().fit(texts, y)
    counts = sklearn.feature_extraction.text.CountVectorizer()
    peer = make_pipeline(counts, sklearn.naive_bayes.MultinomialNB()).fit(texts, y)
    yield cpu_line(
        "TextClassifier predict, one document of 100 words",
        lambda: mine.predict(texts[:1]),
        lambda: peer.predict(texts[:1]),
        2,
    )


# CPU seconds in which a table of one row is to be answered.
ALLOWED = 150e-6


def tables() -> Iterator[Result]:
    """Predict one row of ten columns of mixed types, given as a dict."""
    rng = np.random.default_rng(10)
    rows: list[dict[str, Any]] = []
    y = rng.integers(0, 2, 2000).tolist()
    for label in y:
        numbers = {f"number {k}": float(rng.normal(0.2 * label * k)) for k in range(4)}
        counts = {f"count {k}": int(rng.poisson(2 + label)) for k in range(2)}
        levels = {f"level {k}": "abc"[int(rng.integers(3))] for k in range(4)}
        rows.append({**numbers, **counts, **levels})
    model = suffice.GenerativeClassifier().fit(rows, y)
    model.predict(rows[0])
    best = min(cpu_seconds(lambda: model.predict(rows[0])) for _ in range(ROUNDS))
    work, allowed = "GenerativeClassifier predict, a dict of 10 columns, CPU", "150 µs allowed"
    yield Result(work, best, ALLOWED, allowed, ALLOWED / best, 1.0, None)


# Rows that a stream has in one call: as many as wait at most, and some.
STREAM_ROWS = 14_000


def streams() -> Iterator[Result]:
    """Learn and score rows of 10 numbers, given one at a time as dicts, beside river's GaussianNB.

    Learning ends with a question to the model, so that all rows are counted. One that is asked
    after every row adds that row to the tally, and makes the model again.
    """
    rng = np.random.default_rng(11)
    labels = rng.integers(0, 2, STREAM_ROWS).tolist()
    cells = rng.normal(size=(STREAM_ROWS, 10)) + np.array(labels)[:, None]
    names = [f"number {k}" for k in range(10)]
    rows = [dict(zip(names, row, strict=True)) for row in cells.tolist()]
    row, label = rows[0], labels[0]

    def learn(model: Any) -> None:
        for x, y in zip(rows, labels, strict=True):
            model.learn_one(x, y)
        model.predict_one(row)

    def alternate(model: Any) -> None:
        model.predict_proba_one(row)
        model.learn_one(row, label)

    for name, by_turns in (("GaussianNB", 0.5), ("GenerativeClassifier", 0.07)):
        mine = getattr(suffice, name)().fit(rows, labels)
        theirs = river.naive_bayes.GaussianNB()  # type: ignore[no-untyped-call]
        lines = (
            ("learn_one, a dict of 10 numbers", learn, 1, STREAM_ROWS),
            ("predict_proba_one, a dict of 10 numbers", _score(row), 5, 1),
            ("predict_proba_one and learn_one by turns", alternate, by_turns, 1),
        )
        for work, act, at_least, size in lines:
            calls = partial(act, mine), partial(act, theirs)
            yield cpu_line(f"{name} {work}", *calls, at_least, "river", size)


def _score(row: dict[str, float]) -> Callable[[Any], Any]:
    return lambda model: model.predict_proba_one(row)


# What a fresh process may take beyond scikit-learn's own.
EXTRA_SECONDS = 0.1
EXTRA_MEGABYTES = 20.0
FRESH = """
import json, pathlib, resource, time
start = time.perf_counter()
import numpy as np
from {package} import GaussianNB
X = np.random.default_rng(0).normal(size=(100, 5))
model = GaussianNB().fit(X, np.arange(100) % 2)
model.predict(X[:1])
seconds = time.perf_counter() - start
# Where Linux tells the peak of this program: `ru_maxrss` may be that of the process before it.
status = pathlib.Path("/proc/self/status")
if status.exists():
    peak = next(int(line.split()[1]) for line in status.open() if line.startswith("VmHWM"))
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([seconds, peak * 1.024e-3]))
"""


def fresh_process() -> Iterator[Result]:
    """Import, fit 100 rows and predict one, in a new process: time and peak memory."""
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(_run("suffice"))
        theirs.append(_run("sklearn.naive_bayes"))
    (time_taken, megabytes), (peer_time, peer_megabytes) = map(_smallest, (ours, theirs))
    work = "a fresh process: import, fit 100 rows, predict one"
    ratio = (peer_time + EXTRA_SECONDS) / time_taken
    yield Result(f"{work}", time_taken, peer_time, "scikit-learn + 0.1 s", ratio, 1.0, None)
    ratio, extra = (peer_megabytes + EXTRA_MEGABYTES) / megabytes, megabytes - peer_megabytes
    peer = "scikit-learn + 20 MB"
    yield Result(f"{work}, peak memory", time_taken, peer_time, peer, ratio, 1.0, extra)


def _run(package: str) -> tuple[float, float]:
    command = [sys.executable, "-c", FRESH.replace("{package}", package)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, megabytes = json.loads(done.stdout)
    return seconds, megabytes


def _smallest(runs: list[tuple[float, float]]) -> tuple[float, float]:
    return min(seconds for seconds, _ in runs), min(megabytes for _, megabytes in runs)


CASES = (naive_bayes, documents, tables, streams, fresh_process)
