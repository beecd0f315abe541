"""How long a process takes to begin: importing, and the first fit with a warm kernel cache."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.measure import Result

IMPORT = """
import time
start = time.perf_counter()
import suffice
print(time.perf_counter() - start)
"""
FIRST_FIT = """
import time
import sklearn.naive_bayes, sklearn.discriminant_analysis
import numpy as np
X = np.random.default_rng(0).poisson(3.0, size=(1000, 10)).astype(float)
y = np.arange(1000) % 2
start = time.perf_counter()
import suffice
suffice.{model}().fit(X, y)
print(time.perf_counter() - start)
"""
MODELS = ("GaussianNB", "MultinomialNB", "QuadraticDiscriminantAnalysis")


def startup() -> Iterator[Result]:
    """Yield lines whose ratio is the time allowed over the time taken beyond scikit-learn's."""
    yield _line("import suffice", IMPORT, 0.05)
    for model in MODELS:
        work = f"first {model} fit in a process"
        yield _line(work, FIRST_FIT.replace("{model}", model), 0.7)


def _line(work: str, program: str, allowed: float) -> Result:
    runs = [_run(program) for _ in range(5)]
    best = min(runs)
    return Result(work, best, allowed, f"{allowed} s allowed", allowed / best, 1.0, None)


def _run(program: str) -> float:
    """Return the number that a fresh process prints."""
    command = [sys.executable, "-c", program]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(answer.stdout)
