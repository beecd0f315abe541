"""Logarithms in SQL that keep their digits: of 1 + u, and of steps of the gamma function."""

from __future__ import annotations

import math

from suffice.sql.dialect import Dialect

# From here on log(1 + u) of a single precision-losing sum would show: u is 1/v times something of
# the size of 1, and the logarithm is multiplied by v.
MANY = 1e4
# Below this, log(1 + u) is u.
LEAST_PART = 2.3e-16
# Stirling's series of six terms is exact to 1e-14 from the first on, and one term is enough from
# the second.
FIRST_OF_SERIES, LAST_OF_SERIES = 8.0, 1e6
SERIES = (1 / 12, 1 / 360, 1 / 1260, 1 / 1680, 1 / 1188, 691 / 360360)
# Numbers of events beyond this count as this: no product is then beyond all doubles.
MOST_EVENTS = 1e300


def log1p(u: str, dialect: Dialect, *, exact: bool) -> str:
    """Return log(1 + u) of u of 0 or more, by Kahan's correction if it is to be exact."""
    one = dialect.number(1.0)
    if not exact:
        return dialect.log(f"{one} + {u}")
    log, beyond = dialect.log(f"{one} + {u}"), f"(({one} + {u}) - {one})"
    least = dialect.number(LEAST_PART)
    return f"CASE WHEN {u} < {least} THEN {u} ELSE {log} * ({u} / {beyond}) END"


def log_gamma_step(a: float, x: str, slope: float, dialect: Dialect) -> str:
    """Return log gamma(a + x) - log gamma(a) + slope x, of x = 0, 1, ... up to `MOST_EVENTS`.

    With A = a + n of 8 or more, it is (A + x - 1/2) log(1 + x/A) + x (log A - 1 + slope), and the
    rest of Stirling's series at A + x less that at A, less the logarithms of (a + i + x) / (a + i)
    for i < n.
    """
    number = dialect.number
    shift = max(0, math.ceil(FIRST_OF_SERIES - a))
    high = a + shift
    z = f"({number(high)} + {x})"
    ratio = log1p(f"({x} / {number(high)})", dialect, exact=high > MANY)
    main = f"({number(high - 0.5)} + {x}) * {ratio}"
    first = f"{number(SERIES[0])} / {z}"
    if high < LAST_OF_SERIES:
        square = f"({number(1.0)} / ({z} * {z}))"
        series = number(SERIES[-1])
        for term in reversed(SERIES[:-1]):
            series = f"({number(term)} - {square} * {series})"
        limit = number(LAST_OF_SERIES)
        first = f"CASE WHEN {z} < {limit} THEN {series} / {z} ELSE {first} END"
    # What the series leaves out of log gamma(A), as far as floats know it.
    rest = number(_series(high))
    steep = f"{x} * {number(math.log(high) - 1.0 + slope)}"
    small = [dialect.log(f"{number(1.0)} + {x} / {number(a + i)}") for i in range(shift)]
    less = f" - ({' + '.join(small)})" if small else ""
    return f"({main} + {steep} + ({first} - {rest}){less})"


def _series(z: float) -> float:
    """Return log gamma(z) less (z - 1/2) log z - z + log(2 pi) / 2."""
    if z < LAST_OF_SERIES:
        r, found = 1.0 / (z * z), SERIES[-1]
        for term in reversed(SERIES[:-1]):
            found = term - r * found
        return found / z
    return SERIES[0] / z
