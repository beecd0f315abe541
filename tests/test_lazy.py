"""Names that are loaded at their first use, and the memory that loading needs for its calls."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from suffice._lazy import load_at_first_use, with_room_for_calls

resource = pytest.importorskip("resource", reason="page faults are counted by Unix systems")
CALLS = 500


def _page_faults(work: Callable[[], None], depth: int) -> int:
    """Return how many pages the system hands out while `work` runs, so many calls deep."""
    if depth:
        return _page_faults(work, depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    work()
    after: int = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    return after - before


def _three_deep(depth: int = 3) -> None:
    if depth:
        _three_deep(depth - 1)


def _call_often() -> None:
    for _ in range(CALLS):
        _three_deep()


def test_calls_inside_get_no_memory_from_the_system_at_any_depth() -> None:
    @with_room_for_calls
    def with_room() -> None:
        _call_often()

    assert max(_page_faults(with_room, depth) for depth in range(200)) < CALLS / 2


@pytest.mark.skipif(
    sys.implementation.name != "cpython" or sys.version_info >= (3, 15),
    reason="how CPython has frames was looked at up to 3.14",
)
def test_without_that_room_some_depth_costs_a_page_for_every_call() -> None:
    assert max(_page_faults(_call_often, depth) for depth in range(200)) >= CALLS


def test_a_name_that_a_package_does_not_have_is_named() -> None:
    load = load_at_first_use("suffice.tally", {"Counts": "discrete"})
    with pytest.raises(AttributeError, match=r"module 'suffice\.tally' has no attribute 'Sums'"):
        load("Sums")
