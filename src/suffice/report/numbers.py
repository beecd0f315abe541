"""How numbers are written on the page."""

from __future__ import annotations

import math

THIN_SPACE = "\u202f"
# Where there is no number.
NOTHING = "\u2013"


def show_share(share: float, digits: int = 0) -> str:
    """Return a share as a percentage.

    >>> show_share(0.814), show_share(0.00412, 1), show_share(float("nan"))
    ('81\u202f%', '0.4\u202f%', '–')
    """
    return NOTHING if math.isnan(share) else f"{100 * share:.{digits}f}{THIN_SPACE}%"


def show_count(number: float) -> str:
    """Return a weight of rows, whole numbers without decimals.

    >>> show_count(12345.0), show_count(2.5)
    ('12,345', '2.5')
    """
    return f"{number:,.0f}" if number == round(number) or number >= 1000 else f"{number:,.4g}"


def show_number(value: float) -> str:
    """Return a number with four digits, large ones with commas.

    >>> show_number(1234567.0), show_number(0.000123456), show_number(17.25)
    ('1,234,567', '0.0001235', '17.25')
    """
    if not math.isfinite(value):
        return str(value)
    if 1000 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def wilson(right: float, total: float, z: float = 1.96) -> tuple[float, float]:
    """Return the interval of a share by Wilson's score, 95 % by default; (0, 1) of nothing.

    >>> low, high = wilson(8, 10)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    if total <= 0:
        return 0.0, 1.0
    share = right / total
    middle = share + z * z / (2 * total)
    half = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    whole = 1 + z * z / total
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)
