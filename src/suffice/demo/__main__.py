"""Print every part of the demo: `python -m suffice.demo`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

# Titles and captions are no wider than the tables are, on wide terminals too.
WIDTH = 80


class Section(NamedTuple):
    """Parts of the demo that belong together, and what they show."""

    title: str
    about: str
    parts: tuple[Callable[[], Table], ...]


def sections() -> tuple[Section, ...]:
    """Return what the demo shows, in this order."""
    # Imported here, after the greeting: scikit-learn and pyarrow take a second to import.
    from suffice.demo import arrays, shop

    return (
        Section(
            "A table with missing values: GenerativeClassifier",
            "Columns of any kind go in as they are. Calibrated probabilities and reasons come out.",
            (shop.first_orders, shop.families, shop.explained_order, shop.updated_orders),
        ),
        Section(
            "Messages: TextClassifier",
            "Texts go in, labels come out. The model learns from corrections and forgets, one "
            "message at a time.",
            (shop.sorted_messages, shop.explained_message, shop.updated_messages),
        ),
        Section(
            "The classifiers of scikit-learn, faster",
            "The same names, parameters and results, on data sets of scikit-learn.",
            (arrays.same_results, arrays.fit_times),
        ),
        Section(
            "What these classifiers can do beyond scikit-learn's",
            "Merging, forgetting, new classes, missing values, decisions by cost.",
            (arrays.updates, arrays.missing_values, arrays.decisions, arrays.scales),
        ),
        Section(
            "Evidence, calibration and intervals",
            "Each is computed on half of the rows and compared with the other half.",
            (arrays.evidence, arrays.calibration, arrays.regression),
        ),
    )


def main() -> None:
    """Print all sections, a table at a time."""
    start = time.perf_counter()
    console = Console(highlight=False)
    console.width = min(console.width, WIDTH)
    console.print(
        "[bold]suffice[/bold]: classifiers and regressions that learn sums over rows, called a "
        "tally. A model is a tally plus a prior, so it can learn more, merge and forget exactly."
    )
    console.print(
        "The first run compiles the loops over rows, which takes a minute or two. Later runs take "
        "seconds.\n"
    )
    with console.status("Importing"):
        from suffice.demo.tables import print_table

        shown = sections()
    for number, section in enumerate(shown, 1):
        console.rule(f"[bold]{number}. {section.title}[/bold]", align="left")
        console.print(f"{section.about}\n")
        for part in section.parts:
            with console.status(str(part.__doc__)):
                table = part()
            print_table(table, console)
    console.print(
        f"Done in {time.perf_counter() - start:.0f} s. The code of this demo is in suffice/demo."
    )


if __name__ == "__main__":
    main()
