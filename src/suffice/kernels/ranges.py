"""Ranges of rows, worked on by threads, with an answer that does not depend on how many."""

from __future__ import annotations

from suffice.threads import on_all_cores

__all__ = ["on_all_cores", "row_ranges"]

# Cells a range holds: enough that starting one costs nothing, few enough to stay in cache.
RANGE_CELLS = 1 << 19


def row_ranges(rows: int, columns: int) -> list[tuple[int, int]]:
    """Cut `rows` into ranges of about `RANGE_CELLS` cells; the cut depends on the shape only."""
    step = max(1, RANGE_CELLS // max(1, columns))
    return [(start, min(start + step, rows)) for start in range(0, rows, step)]
