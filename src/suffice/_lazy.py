"""Names of a package that are loaded when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import FunctionType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

# Slots of a frame, 8 bytes each: Python then gets a block of 256 kB, and half of it is left for
# the calls that are made inside.
LARGE_FRAME = 16_384


def with_room_for_calls(function: F) -> F:
    """Return a function inside which calls find room for their frames in one block of memory.

    Python has frames in blocks of 16 kB. It gets a new one from the system whenever a call goes
    over the end of a block, and gives it back when that call returns. Imports inside imports may do
    so tens of thousands of times, if they happen to be at such a depth: loading scikit-learn then
    takes up to a quarter longer (docs: decisions, 034). A frame that is larger than a block makes
    Python get one with as much room again.
    """
    assert isinstance(function, FunctionType)
    function.__code__ = function.__code__.replace(co_stacksize=LARGE_FRAME)
    return function


@with_room_for_calls
def load(module: str, name: str | None = None) -> Any:
    """Return a module, or what it has under a name.

    Examples
    --------
    >>> load("suffice.tally", "Counts").__name__
    'Counts'
    """
    found = import_module(module)
    return found if name is None else getattr(found, name)


def load_at_first_use(package: str, home: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose public names live in these modules of it.

    Examples
    --------
    >>> load_at_first_use("suffice.tally", {"Counts": "discrete"})("Counts").__name__
    'Counts'
    """

    def load_name(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return load(f"{package}.{home[name]}", name)

    return load_name
