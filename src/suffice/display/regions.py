"""Decision regions of two columns: probabilities on a grid, rows, class ellipses, boundaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.display.plots import CLASS_COLOURS, CLASS_MARKS, INK, axes_or_new

Floats = NDArray[np.float64]

# How much of a class's colour a point has where the class is certain.
STRONGEST = 0.55
# Ellipses at so many standard deviations.
DISTANCES = (1.0, 2.0)


class Ellipses(NamedTuple):
    """A normal for each class: means (C, 2), covariances (C, 2, 2), and whose they are."""

    means: Floats
    covariances: Floats
    of: str = "rows"


def draw_regions(
    at: tuple[Floats, Floats],
    proba: Floats,
    names: Sequence[str],
    *,
    rows: Floats | None = None,
    codes: NDArray[Any] | None = None,
    wrong: NDArray[np.bool_] | None = None,
    ellipses: Ellipses | None = None,
    labels: tuple[str, str] = ("feature 0", "feature 1"),
    title: str = "",
    legend: bool = True,
    ax: Any = None,
) -> Any:
    """Draw the regions of classes, lines between them, rows and class ellipses; return the axes.

    Regions are the darker the more certain their class is. The lines are where two classes are
    equally probable: p = .5 for two.

    Parameters
    ----------
    at : two coordinates of the grid, (a,) and (b,)
    proba : (b, a, C)
    names : of the C classes
    rows : (n, 2), optional
    codes : (n,), classes of the rows
    wrong : (n,), which rows are on the wrong side; they have a ring
    ellipses : Ellipses, optional
    labels : names of the two columns
    title : str
    legend : bool
    ax : matplotlib axes, optional
    """
    from matplotlib.colors import to_rgb

    ax = axes_or_new(ax)
    x, y = at
    classes = proba.shape[-1]
    colours = np.array([to_rgb(CLASS_COLOURS[c % len(CLASS_COLOURS)]) for c in range(classes)])
    best, certainty = proba.argmax(axis=-1), proba.max(axis=-1)
    share = STRONGEST * (certainty - 1 / classes) / (1 - 1 / classes)
    image = 1.0 - share[..., None] * (1.0 - colours[best])
    extent = (x[0], x[-1], y[0], y[-1])
    ax.imshow(image, origin="lower", extent=extent, aspect="auto", interpolation="bilinear")
    for c in range(classes if classes > 2 else 1):
        others = np.delete(proba, c, axis=-1).max(axis=-1)
        margin = proba[..., c] - others
        if margin.min() < 0 < margin.max():
            ax.contour(x, y, margin, levels=[0.0], colors=[INK], linewidths=1.6)
    boundary = "p = .5" if classes == 2 else "two classes equally probable"
    ax.plot([], [], color=INK, lw=1.6, label=boundary)
    if rows is not None and codes is not None:
        _draw_rows(ax, rows, codes, names, colours, wrong)
    if ellipses is not None:
        _draw_ellipses(ax, ellipses, colours)
    ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]), xlabel=labels[0], ylabel=labels[1])
    ax.set_title(title, loc="left", fontsize="medium")
    if legend:
        ax.figure.legend(*ax.get_legend_handles_labels(), **LEGEND)
    return ax


LEGEND: dict[str, Any] = {
    "loc": "outside lower center",
    "ncols": 3,
    "fontsize": "small",
    "frameon": False,
}


def _draw_rows(
    ax: Any,
    rows: Floats,
    codes: NDArray[Any],
    names: Sequence[str],
    colours: Floats,
    wrong: NDArray[np.bool_] | None,
) -> None:
    size = 5.0 if len(rows) <= 300 else 3.0
    for c, name in enumerate(names):
        mine = rows[codes == c]
        mark = CLASS_MARKS[c % len(CLASS_MARKS)]
        edge = {"mfc": colours[c], "mec": "white", "mew": 0.5}
        ax.plot(*mine.T, mark, ms=size, ls="", label=name, zorder=3, **edge)
    if wrong is not None and wrong.any():
        ring = {"mfc": "none", "mec": INK, "mew": 1.0, "ms": size + 4}
        ax.plot(*rows[wrong].T, "o", ls="", label="on the wrong side", zorder=4, **ring)


def _draw_ellipses(ax: Any, ellipses: Ellipses, colours: Floats) -> None:
    angle = np.linspace(0.0, 2 * np.pi, 200)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    for c, (mean, covariance) in enumerate(zip(ellipses.means, ellipses.covariances, strict=True)):
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        for number, distance in enumerate(DISTANCES):
            line = {"color": 0.7 * colours[c], "lw": 1.5, "ls": (0, (4, 1.5)), "zorder": 5}
            ax.plot(*(mean + distance * circle @ root.T).T, **line)
            if c == 0 and number == 0:
                text = f"classes of the {ellipses.of}, {DISTANCES[0]:g} and {DISTANCES[1]:g} sd"
                ax.plot([], [], color=INK, lw=1.5, ls=(0, (4, 1.5)), label=text)
        ax.plot(*mean, "+", color=0.6 * colours[c], ms=9, mew=2.0, zorder=5)
