"""Functions of one number as lines, and the path of a search over a surface of two weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.display.plots import CLASS_COLOURS, CLASS_MARKS, INK, axes_or_new

Floats = NDArray[np.float64]
# Lines are told apart by their dashes as well, for print.
LINES: tuple[Any, ...] = (
    "-",
    (0, (5, 2)),
    (0, (1, 1.2)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (3, 1)),
    (0, (8, 2)),
)


def draw_functions(
    at: Floats,
    curves: Mapping[str, Floats],
    title: str,
    labels: tuple[str, str],
    *,
    shaded: bool = False,
    ax: Any = None,
) -> Any:
    """Draw functions (P,) of points (P,), each with its name; return the axes.

    Parameters
    ----------
    at : (P,)
    curves : names and values (P,)
    title : str
    labels : of the points and of the values
    shaded : bool
        Whether the area below each line is shaded.
    ax : matplotlib axes, optional
    """
    ax = axes_or_new(ax)
    for number, (name, values) in enumerate(curves.items()):
        colour = CLASS_COLOURS[number % len(CLASS_COLOURS)]
        ax.plot(at, values, color=colour, ls=LINES[number % len(LINES)], lw=1.8, label=name)
        if shaded:
            ax.fill_between(at, values, color=colour, alpha=0.18, lw=0)
    ax.set(xlabel=labels[0], ylabel=labels[1], xlim=(at[0], at[-1]))
    ax.set_title(title, loc="left", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
    return ax


def draw_search(
    at: tuple[Floats, Floats],
    surface: Floats,
    paths: Mapping[str, Floats],
    points: Mapping[str, Floats],
    title: str,
    labels: tuple[str, str],
    ax: Any = None,
) -> Any:
    """Draw contours of a surface, paths over it, and points with their names; return the axes.

    Parameters
    ----------
    at : two coordinates, (a,) and (b,)
    surface : (b, a)
        Higher is better; contours are at equal steps from the best.
    paths : names and points in order, (steps, 2)
    points : names and points, (2,)
    title : str
    labels : of the coordinates
    ax : matplotlib axes, optional
    """
    ax = axes_or_new(ax)
    best = float(surface.max())
    # Distances from the best that double: near the top contours would be too few otherwise.
    steps = (best - float(surface.min())) * 0.5 ** np.arange(9)
    ax.contour(*at, surface, levels=np.sort(best - steps), colors="0.75", linewidths=0.8)
    for number, (name, path) in enumerate(paths.items()):
        colour = CLASS_COLOURS[number % len(CLASS_COLOURS)]
        mark = CLASS_MARKS[number % len(CLASS_MARKS)]
        ax.plot(*path.T, color=colour, marker=mark, ms=3, lw=1.2, label=name)
    for name, point in points.items():
        ax.plot(*point, "X", color=INK, ms=6, zorder=5)
        ax.annotate(name, point, xytext=(6, 4), textcoords="offset points", fontsize="small")
    ax.set(xlabel=labels[0], ylabel=labels[1])
    ax.set(xlim=(at[0][0], at[0][-1]), ylim=(at[1][0], at[1][-1]))
    ax.set_title(title, loc="left", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small", loc="best")
    return ax
