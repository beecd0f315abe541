"""Print every part of the demo: `python -m suffice.demo`."""

from __future__ import annotations

import time

from rich.console import Console
from rich.table import Table

# Titles and captions are no wider than the tables are, on wide terminals too.
WIDTH = 80


def main() -> None:
    """Print everything, a table at a time."""
    start = time.perf_counter()
    console = Console(highlight=False)
    console.width = min(console.width, WIDTH)
    console.print("[bold]suffice[/bold]: a model is a tally plus a prior.")
    console.print(
        "The first run compiles the loops over rows, which takes a minute or two. They are kept: "
        "later runs take seconds.\n"
    )
    with console.status("Importing"):
        # After the greeting: scikit-learn, numba and pyarrow take seconds to import.
        from suffice.demo.sections import SECTIONS
    for number, section in enumerate(SECTIONS, 1):
        console.rule(f"[bold]{number}. {section.title}[/bold]", align="left")
        console.print(f"{section.about}\n")
        for part in section.parts:
            with console.status(str(part.__doc__)):
                shown = part()
            show(shown, console)
    console.print(f"Done in {time.perf_counter() - start:.0f} s. The code is in suffice/demo.")


def show(shown: Table, console: Console) -> None:
    """Print title, table and caption, each of them from the left."""
    console.print(str(shown.title), style="bold cyan", markup=False)
    caption, shown.title, shown.caption = shown.caption, None, None
    console.print(shown)
    if caption:
        console.print(f"{caption}\n", style="italic", markup=False)


if __name__ == "__main__":
    main()
