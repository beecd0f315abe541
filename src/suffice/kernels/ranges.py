"""Ranges of rows, worked on by all cores, with an answer that does not depend on how many."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

# Cells a range holds: enough that starting one costs nothing, few enough to stay in cache.
RANGE_CELLS = 1 << 19


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def row_ranges(rows: int, columns: int) -> list[tuple[int, int]]:
    """Cut `rows` into ranges of about `RANGE_CELLS` cells; the cut depends on the shape only."""
    step = max(1, RANGE_CELLS // max(1, columns))
    return [(start, min(start + step, rows)) for start in range(0, rows, step)]


def on_all_cores(work: Callable[..., T], tasks: list[tuple[int, int]]) -> list[T]:
    """Do `work(start, stop)` for every task and return the answers in the order of the tasks.

    Threads are started anew at each call, so that a forked process never waits for threads that
    stayed behind; kernels release the interpreter's lock.
    """
    workers = min(cores(), len(tasks))
    if workers <= 1:
        return [work(start, stop) for start, stop in tasks]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda task: work(*task), tasks))
