"""Numbers that a user gives in place of learning them: checked, or refused with the value."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.errors import InputError
from suffice.tally.tally import Floats


def ascending(name: str, values: Any) -> Floats:
    """Return a list of finite numbers in ascending order, each once.

    Examples
    --------
    >>> ascending("knots", [3, 1, 3])
    array([1., 3.])
    """
    numbers = finite(name, values)
    if numbers.ndim != 1:
        raise InputError(f"{name} has shape {numbers.shape}. Give a list of numbers.")
    return np.unique(numbers)


def positive_by_column(name: str, values: Any, columns: int) -> Floats:
    """Return a positive number for each column, from one for all or one a column.

    Examples
    --------
    >>> positive_by_column("period", 24, 2)
    array([24., 24.])
    """
    numbers = finite(name, values)
    if numbers.shape not in ((), (columns,)):
        raise InputError(
            f"{name} has shape {numbers.shape} for {columns} columns. Give one number, or one a "
            "column."
        )
    if np.any(numbers <= 0):
        raise InputError(f"{name} is {numbers.min():g}. Give a number above 0.")
    return np.broadcast_to(numbers, (columns,)).copy()


def finite(name: str, values: Any) -> Floats:
    """Return an array of finite numbers."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is {values!r}. Give numbers.") from error
    if not np.isfinite(numbers).all():
        odd = numbers[~np.isfinite(numbers)][0]
        raise InputError(f"{name} holds {odd:g}. Give finite numbers.")
    return numbers
