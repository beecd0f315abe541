"""Curves drawn with characters, for terminals and logs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# One mark a curve, what both have in one place, and what is above the picture.
MARKS = ("o", "x")
BOTH, ABOVE = "*", "^"
# A value beyond so many times the median of all is drawn at the upper edge.
OUTLIER = 4.0


def draw_curves_text(
    sizes: Floats,
    curves: Floats,
    names: Sequence[str],
    label: str,
    *,
    width: int = 60,
    height: int = 14,
) -> str:
    """Return two curves over sizes on a logarithmic scale, as lines of text.

    Parameters
    ----------
    sizes : (m,), ascending and positive
    curves : (2, m)
    names : of the curves
    label : what the curves are of
    width, height : characters of the picture within its axes

    Examples
    --------
    >>> curves = np.array([[0.4, 0.3, 0.25], [0.6, 0.35, 0.2]])
    >>> sizes = np.array([5.0, 20.0, 80.0])
    >>> print(draw_curves_text(sizes, curves, "ab", "error", width=21, height=5))
    error   o a   x b
     0.600 |xxx
     0.500 |   xxxx
     0.400 |oooooo xxxx
     0.300 |      ooooo******ooo
     0.200 |                 xxx*
           +---------------------
            5                  80
    """
    shown = np.where(np.isfinite(curves), curves, np.nan)
    top = min(float(np.nanmax(shown)), OUTLIER * float(np.nanmedian(shown)))
    low = float(np.nanmin(shown))
    top = top if top > low else low + 1.0
    grid = [[" "] * width for _ in range(height)]
    logs = np.log(sizes)
    places = np.linspace(logs[0], logs[-1], width)
    for curve, mark in zip(curves, MARKS, strict=True):
        known = np.isfinite(curve)
        heights = np.interp(places, logs[known], curve[known]) if known.any() else []
        for column, value in enumerate(heights):
            row = round((top - value) / (top - low) * (height - 1))
            over = row < 0
            cell = grid[max(row, 0)]
            here = ABOVE if over else mark
            cell[column] = here if cell[column] in (" ", here) else BOTH
    ends = f"{sizes[0]:g}", f"{sizes[-1]:g}"
    lines = [f"{label}   " + "   ".join(f"{m} {n}" for m, n in zip(MARKS, names, strict=True))]
    for at, cells in enumerate(grid):
        value = top - (top - low) * at / (height - 1)
        lines.append(f"{value:6.3f} |{''.join(cells)}".rstrip())
    lines.append(f"{'':7}+{'-' * width}")
    lines.append(f"{'':8}{ends[0]}{ends[1]:>{width - len(ends[0])}}")
    return "\n".join(lines)
