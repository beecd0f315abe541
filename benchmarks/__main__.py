"""`make bench`: measure everything, print one table, keep it in results.json."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import numpy
import scipy
import sklearn
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from benchmarks import cases, logistic, regression, searchlight, text, validation
from benchmarks.measure import Result
from benchmarks.startup import startup
from suffice import __version__
from suffice.threads import get_threads

# A line of the table stays a line, however narrow the terminal.
WIDTH = 190
CASES = (
    *cases.CASES,
    *regression.CASES,
    *logistic.CASES,
    *validation.CASES,
    *searchlight.CASES,
    *text.CASES,
)
RESULTS = Path(__file__).parent / "results.json"


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
    table = Table(title="suffice beside its peers: best of several, in turn", box=SIMPLE_HEAD)
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
