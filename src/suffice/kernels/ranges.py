"""Ranges of rows, worked on by threads, with an answer that does not depend on how many."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from suffice.threads import get_threads, one_blas_thread

T = TypeVar("T")

# Cells a range holds: enough that starting one costs nothing, few enough to stay in cache.
RANGE_CELLS = 1 << 19


def row_ranges(rows: int, columns: int) -> list[tuple[int, int]]:
    """Cut `rows` into ranges of about `RANGE_CELLS` cells; the cut depends on the shape only."""
    step = max(1, RANGE_CELLS // max(1, columns))
    return [(start, min(start + step, rows)) for start in range(0, rows, step)]


def on_all_cores(work: Callable[..., T], tasks: list[tuple[int, int]]) -> list[T]:
    """Do `work(start, stop)` for every task and return the answers in the order of the tasks.

    Threads are started anew at each call, so that a forked process never waits for threads that
    stayed behind; kernels release the interpreter's lock. Inside a thread of ours BLAS has one.
    """
    workers = min(get_threads(), len(tasks))
    if workers <= 1:
        return [work(start, stop) for start, stop in tasks]
    with (
        one_blas_thread,
        ThreadPoolExecutor(workers, initializer=one_blas_thread.limit_this_thread) as pool,
    ):
        return list(pool.map(lambda task: work(*task), tasks))
