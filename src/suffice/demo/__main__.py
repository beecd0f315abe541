"""Print every part of the demo: `suffice demo`, or `python -m suffice.demo`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

# Titles and captions are no wider than the tables are, on wide terminals too.
WIDTH = 80
REPORT = "suffice-demo.html"


class Section(NamedTuple):
    """Parts of the demo that belong together, and what they show."""

    title: str
    about: str
    parts: tuple[Callable[[], Table], ...]


def sections() -> tuple[Section, ...]:
    """Return what the demo shows, in this order."""
    # Imported here, after the greeting: scikit-learn takes a second to import.
    from suffice.demo import messages, passengers

    mail = messages.mail()
    counts = [int((mail.y == label).sum()) for label in messages.LABELS]
    return (
        Section(
            "A table with missing values: GenerativeClassifier",
            passengers.data().about,
            (
                passengers.first_rows,
                passengers.families,
                passengers.quality,
                passengers.explained,
                passengers.forgotten,
            ),
        ),
        Section(
            "Messages: TextClassifier",
            f"{counts[0]} messages and {counts[1]} advertisements and frauds, all written for "
            "this package. They show how it works, and are no benchmark.",
            (messages.quality, messages.explained, messages.corrected),
        ),
    )


def main(report: str = REPORT) -> None:
    """Print all sections, a table at a time, and write a report.

    Parameters
    ----------
    report : path of the HTML file that is written
    """
    start = time.perf_counter()
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    console.width = min(console.width, WIDTH)
    console.print(
        "[bold]suffice[/bold]: classifiers that learn sums over rows, called a tally. A model is a "
        "tally plus a prior, so it can learn more, merge and forget exactly.\n"
    )
    with console.status("Importing"):
        from suffice.demo.tables import print_table

        shown = sections()
    for number, section in enumerate(shown, 1):
        console.rule(f"[bold]{number}. {section.title}[/bold]", align="left")
        console.print(f"{section.about}\n", markup=False)
        for part in section.parts:
            with console.status(str(part.__doc__)):
                table = part()
            print_table(table, console)
    console.rule(f"[bold]{len(shown) + 1}. A report[/bold]", align="left")
    console.print(f"{write_report(report)}\n", markup=False)
    console.print(f"Done in {time.perf_counter() - start:.0f} s. Next, your own data:\n")
    console.print("    suffice fit customers.csv --target stays -o model.suffice", markup=False)
    console.print("    suffice mail learn mail.suffice spam ~/Maildir/.Junk --new", markup=False)


def results(report: str = REPORT) -> dict[str, Any]:
    """Return what the demo shows as plain values, and write its report."""
    from suffice.demo.tables import plain_table

    shown = [
        {
            "title": one.title,
            "about": one.about,
            "tables": [plain_table(part()) for part in one.parts],
        }
        for one in sections()
    ]
    write_report(report)
    return {"sections": shown, "report": report}


def write_report(path: str) -> str:
    """Write the report of the table's model; return what to say of it."""
    from suffice.demo import passengers
    from suffice.report import write_report

    found = passengers.data()
    write_report(passengers.model(), path, data=found.rows, target=found.y)
    return f"What the model learned of the {found.name} is in {path}: open it in a browser."


if __name__ == "__main__":
    main()
