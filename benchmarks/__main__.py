"""`make bench`: time everything, print one table, write it to results.json."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy
import scipy
import sklearn
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from benchmarks import classifiers, linear_models, text, validation
from benchmarks.measure import Result
from suffice import __version__
from suffice.threads import get_threads

# Lines of the table are not wrapped, however narrow the terminal.
WIDTH = 190
CASES = (*classifiers.CASES, *linear_models.CASES, *validation.CASES, *text.CASES)
RESULTS = Path(__file__).parent / "results.json"
# Programs that print how long they take to begin, kernels having been compiled before.
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
    """Yield the times of an import and of first fits; the ratio is time allowed over time taken."""
    yield _startup_line("import suffice", IMPORT, 0.05)
    for model in MODELS:
        work = f"first {model} fit in a process"
        yield _startup_line(work, FIRST_FIT.replace("{model}", model), 0.7)


def _startup_line(work: str, program: str, allowed: float) -> Result:
    runs = [_run(program) for _ in range(5)]
    best = min(runs)
    return Result(work, best, allowed, f"{allowed} s allowed", allowed / best, 1.0, None)


def _run(program: str) -> float:
    """Return the number that a fresh process prints."""
    command = [sys.executable, "-c", program]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(answer.stdout)


def row(result: Result) -> tuple[str, ...]:
    """Return a line of the table as text."""
    extra = "" if result.extra_megabytes is None else f"{result.extra_megabytes:.0f}"
    return (
        result.work,
        f"{result.seconds:.3f}",
        f"{result.peer_seconds:.3f}",
        result.peer,
        f"{result.ratio:.2f}",
        f"{result.at_least:.2f}",
        "[green]yes[/]" if result.met else "[red]no[/]",
        extra,
    )


def main() -> None:
    """Measure, print, write."""
    console = Console()
    if console.width < WIDTH:
        console = Console(width=WIDTH)
    table = Table(
        title="suffice and its peers: best of several runs, taken in turn", box=SIMPLE_HEAD
    )
    for name in ("work", "ours, s", "peer, s", "peer", "ratio", "at least", "met", "extra MB"):
        text = name in ("work", "peer")
        table.add_column(name, justify="left" if text else "right", no_wrap=True)
    results: list[Result] = []
    for case in (*CASES, startup):
        with console.status(case.__name__.replace("_", " ")):
            for result in case():
                results.append(result)
                table.add_row(*row(result))
    console.print(table)
    setting = {
        "suffice": __version__,
        "scikit-learn": sklearn.__version__,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
        "threads": get_threads(),
        "processor": platform.processor() or platform.machine(),
    }
    lines = [result.as_json() for result in results]
    RESULTS.write_text(json.dumps({"setting": setting, "results": lines}, indent=2) + "\n")
    console.print(f"Written to benchmarks/{RESULTS.name}.")


if __name__ == "__main__":
    main()
