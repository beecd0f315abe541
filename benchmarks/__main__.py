"""`make bench`: time everything, print one table, write it to results.json.

`python -m benchmarks text one_row` times these modules only, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path

import numpy
import scipy
import sklearn
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from benchmarks import classifiers, linear_models, one_row, sources, text, validation
from benchmarks.measure import Result
from suffice import __version__
from suffice.threads import get_threads

# Lines of the table are not wrapped, however narrow the terminal.
WIDTH = 190
MODULES = {
    "classifiers": classifiers,
    "linear_models": linear_models,
    "validation": validation,
    "text": text,
    "one_row": one_row,
    "sources": sources,
}
# Times below this are given in microseconds.
SHORT = 0.001
RESULTS = Path(__file__).parent / "results.json"


def duration(seconds: float) -> str:
    """Return a time in seconds, or in microseconds if it is short.

    Examples
    --------
    >>> duration(0.25), duration(0.000125)
    ('0.250 s', '125 µs')
    """
    return f"{seconds:.3f} s" if seconds >= SHORT else f"{seconds * 1e6:.0f} µs"


def row(result: Result) -> tuple[str, ...]:
    """Return a line of the table as text."""
    extra = "" if result.extra_megabytes is None else f"{result.extra_megabytes:.0f}"
    return (
        result.work,
        duration(result.seconds),
        duration(result.peer_seconds),
        f"{result.peer} (one run)" if result.once else result.peer,
        f"{result.ratio:.2f}",
        f"{result.at_least:.2f}",
        "[green]yes[/]" if result.met else "[red]no[/]",
        extra,
    )


def main() -> None:
    """Measure, print, write."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("modules", nargs="*", choices=[*MODULES, []])
    wanted = arguments.parse_args().modules or list(MODULES)
    console = Console()
    if console.width < WIDTH:
        console = Console(width=WIDTH)
    table = Table(
        title="suffice and its peers: best of several runs, taken in turn", box=SIMPLE_HEAD
    )
    for name in ("work", "ours", "its time", "peer", "ratio", "at least", "met", "extra MB"):
        text = name in ("work", "peer")
        table.add_column(name, justify="left" if text else "right", no_wrap=True)
    results: list[Result] = []
    start = time.perf_counter()
    for case in (case for name in wanted for case in MODULES[name].CASES):
        with console.status(case.__name__.replace("_", " ")):
            for result in case():
                results.append(result)
                table.add_row(*row(result))
    console.print(table)
    console.print(f"This took {(time.perf_counter() - start) / 60:.1f} minutes.")
    if set(wanted) != set(MODULES):
        return
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
