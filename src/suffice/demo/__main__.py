"""Print every part of the demo."""

from __future__ import annotations

from rich.console import Console

from suffice.demo.contests import side_by_side, timings
from suffice.demo.honesty import calibration, evidence, regression
from suffice.demo.powers import arithmetic, decisions, gaps, scales

PARTS = (
    side_by_side,
    timings,
    arithmetic,
    gaps,
    decisions,
    scales,
    evidence,
    calibration,
    regression,
)


def main() -> None:
    """Print everything, a table at a time."""
    console = Console()
    console.print("[bold]suffice[/bold]: a model is a tally plus a prior.\n")
    for part in PARTS:
        table = part()
        # Printed by itself, a title may be longer than its table is wide.
        console.print(f"[bold cyan]{table.title}[/bold cyan]")
        table.title = None
        console.print(table)


if __name__ == "__main__":
    main()
