"""Contours of two features: ellipses, their centres, and rows as dots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.display.canvas import axes_or_new

Floats = NDArray[np.float64]


def draw_ellipses(
    outlines: Mapping[float, Floats],
    centres: Floats,
    *,
    names: Sequence[str] | None = None,
    rows: Floats | None = None,
    ax: Any = None,
) -> Any:
    """Draw contours, each in the shade of its level, around centres; return the axes.

    Parameters
    ----------
    outlines : mapping from levels to (..., points, 2)
        The closed contours that contain a share `level` of the probability, one a centre.
    centres : (..., 2)
    names : two names, optional
        Of the axes.
    rows : (n, 2), optional
        Drawn as dots below the contours.
    ax : matplotlib axes, optional
    """
    ax = axes_or_new(ax)
    if rows is not None:
        dots = rows.reshape(-1, 2)
        ax.plot(*dots.T, ".", color="0.6", markersize=4, zorder=1, label="rows")
    ordered = sorted(outlines)
    for number, level in enumerate(ordered):
        # The inner contours are the darker ones, so that overlapping centres stay told apart.
        shade = 1.0 - 0.6 * number / max(len(ordered) - 1, 1)
        for which, outline in enumerate(outlines[level].reshape(-1, *outlines[level].shape[-2:])):
            label = f"{100 * level:g} %" if which == 0 else None
            ax.plot(*outline.T, color="C0", alpha=shade, zorder=2, label=label)
    ax.plot(*centres.reshape(-1, 2).T, "+", color="C3", markersize=9, zorder=3, label="mean")
    first, second = ("feature 0", "feature 1") if names is None else names
    ax.set_xlabel(first)
    ax.set_ylabel(second)
    ax.legend(frameon=False)
    return ax
