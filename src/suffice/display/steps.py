"""A picture of three steps: a standard normal is stretched, rotated and shifted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.display.plots import AGAINST, FOR, INK, PANEL_INCHES, panels

Floats = NDArray[np.float64]
# Contours at so many standard deviations.
DISTANCES = (1.0, 2.0)
TITLES = ("1. standard normal", "2. stretched", "3. rotated", "4. shifted by the mean")
# Room around the dots and contours, as a share of the width.
MARGIN = 0.06
# A mean further away than this many times the reach of the other panels is shown without 0.
FAR = 1.8


def draw_steps(
    dots: Floats,
    directions: Floats,
    lengths: Floats,
    mean: Floats,
    *,
    names: Sequence[str] | None = None,
) -> Any:
    """Draw draws of N(0, I), stretched, rotated and shifted, in four panels; return the figure.

    Dots keep their colour (by the sign of their first coordinate), and the two axes their line,
    so that they can be followed from panel to panel.

    Parameters
    ----------
    dots : (n, 2)
        Draws of two independent standard normals.
    directions : (2, 2)
        Orthonormal columns.
    lengths : (2,)
    mean : (2,)
    names : two names, optional
        Of the features, once there are some: after the rotation.
    """
    figure, axes = panels(len(TITLES))
    stretch = np.diag(lengths)
    maps = (np.eye(2), stretch, directions @ stretch, directions @ stretch)
    origins = (np.zeros(2), np.zeros(2), np.zeros(2), np.asarray(mean))
    angle = np.linspace(0.0, 2 * np.pi, 200)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    first = dots[:, 0] >= 0
    features = ("feature 0", "feature 1") if names is None else tuple(names)
    shown = []
    for ax, title, matrix, origin in zip(axes, TITLES, maps, origins, strict=True):
        places = dots @ matrix.T + origin
        ax.plot(*places[first].T, ".", color=FOR, ms=3, alpha=0.45)
        ax.plot(*places[~first].T, "x", color=AGAINST, ms=3, alpha=0.45)
        for distance in DISTANCES:
            ax.plot(*(distance * circle @ matrix.T + origin).T, color=INK, lw=1.0)
        for along, style in zip(matrix.T, ("-", (0, (2, 0.8))), strict=True):
            ax.plot(*np.stack([origin, origin + along]).T, color=INK, lw=2.0, ls=style)
        ax.axhline(0.0, color="0.8", lw=0.8, zorder=0)
        ax.axvline(0.0, color="0.8", lw=0.8, zorder=0)
        ax.set_title(title, loc="left", fontsize="medium")
        rotated = title in TITLES[2:]
        ax.set_xlabel(features[0] if rotated else "coordinate 0")
        ax.set_ylabel(features[1] if rotated else "coordinate 1")
        shown.append(np.vstack([places, DISTANCES[-1] * circle @ matrix.T + origin]))
    # One scale for all panels: lengths and angles can be compared, and seen as they are.
    *before, shifted = (float(np.abs(part).max()) for part in shown)
    reach = (1 + MARGIN) * max(before)
    near = (1 + MARGIN) * shifted <= FAR * reach
    if near:
        reach = max(reach, (1 + MARGIN) * shifted)
    for ax, origin in zip(axes, origins, strict=True):
        x, y = (0.0, 0.0) if near else origin
        ax.set(aspect="equal", xlim=(x - reach, x + reach), ylim=(y - reach, y + reach))
    figure.set_figheight(PANEL_INCHES[0] + 0.4)
    figure.suptitle(
        f"x = mean + U diag(lengths) z: contours at {DISTANCES[0]:g} and {DISTANCES[1]:g} "
        "standard deviations, and the two axes",
        fontsize="medium",
    )
    return figure
