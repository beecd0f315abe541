"""Numbers as they stand in the names of columns."""

from __future__ import annotations

from numpy.typing import ArrayLike

from suffice.tally.tally import readonly_copy

# Six digits are what people read ("g" prints as many); 17 tell any two float64 apart.
MIN_DIGITS, MAX_DIGITS = 6, 17


def numerals(values: ArrayLike) -> list[str]:
    """Return numbers as text, with as many digits as tell different ones apart.

    Examples
    --------
    >>> numerals([30.0, 0.25, 1 / 3])
    ['30', '0.25', '0.333333']
    >>> numerals([1e8, 1e8 + 1])
    ['100000000', '100000001']
    """
    numbers = readonly_copy(values).tolist()
    different = len(set(numbers))
    digits = MIN_DIGITS
    while digits < MAX_DIGITS and len({f"{number:.{digits}g}" for number in numbers}) < different:
        digits += 1
    return [f"{number:.{digits}g}" for number in numbers]
