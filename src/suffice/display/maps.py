"""Maps of values on a grid: images, and volumes slice by slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.display.plots import INK, axes_or_new

Floats = NDArray[np.float64]

# Slices of a volume, and maps of classes, side by side before a new row begins.
IN_A_ROW = 6
MAPS_IN_A_ROW = 4
OUTSIDE = "#e4e4e4"
RING = "#1f9ed1"
# The height of one map, and what names, ticks and the scale take beside it.
MAP_INCHES = 2.4
BESIDE_INCHES = 1.4
LARGEST_INCHES = 14.0
# A map that nowhere exceeds the start of its scale still needs a scale of some length.
SHORTEST_SCALE = 1e-3


def draw_map(
    values: Floats,
    label: str,
    *,
    lowest: float,
    marked: tuple[int, ...],
    ax: Any = None,
) -> Any:
    """Draw values (a, b), or (a, b, c) slice by slice, with a scale; return the axes.

    The first axis of an image runs down, the second to the right; slices are cut across the first
    axis of a volume. NaN is grey.

    Parameters
    ----------
    values : (a, b) or (a, b, c)
    label : of the scale
    lowest : float
        Where the scale begins; what is lower has the same colour.
    marked : a position
        Circled, and named in the title.
    ax : matplotlib axes, optional
    """
    new, ax = ax is None, axes_or_new(ax)
    if new:
        _fit(ax.figure, values, down=1, across=1, height=1.5 * MAP_INCHES)
    highest = max(float(np.nanmax(values)), lowest + SHORTEST_SCALE)
    image = _draw(ax, values, (lowest, highest), "inferno_r")
    down, right = _place(values, marked)
    ax.plot([right], [down], "o", mfc="none", mec=RING, mew=2.0, ms=11)
    ax.set_title(f"best {values[marked]:.3f} at {marked}", fontsize="small", color=INK)
    extend = "min" if np.nanmin(values) < lowest else "neither"
    ax.figure.colorbar(image, ax=ax, label=label, extend=extend, shrink=0.85)
    return ax


def draw_maps(values: Floats, names: Sequence[str], label: str) -> Any:
    """Draw maps (C, a, b) or (C, a, b, c), each in axes of its own, on one scale; return the axes.

    A scale of both signs has white at 0.
    """
    across = min(len(names), MAPS_IN_A_ROW if values.ndim == 3 else 1)
    down = -(-len(names) // across)
    figure = axes_or_new().figure
    figure.clear()
    _fit(figure, values[0], down, across, MAP_INCHES)
    axes = figure.subplots(down, across, squeeze=False).ravel()
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    both = low < 0 < high
    if both:
        low, high = -max(-low, high), max(-low, high)
    for ax, one, name in zip(axes, values, names, strict=False):
        image = _draw(ax, one, (low, high), "RdBu_r" if both else "viridis")
        ax.set_title(name, fontsize="small", color=INK)
    for ax in axes[len(names) :]:
        ax.set_axis_off()
    figure.colorbar(image, ax=axes.tolist(), label=label, shrink=0.85)
    return axes[: len(names)]


def _draw(ax: Any, values: Floats, limits: tuple[float, float], colours: str) -> Any:
    from matplotlib import colormaps

    palette = colormaps[colours].with_extremes(bad=OUTSIDE)
    picture, corners, first = _tile(values)
    low, high = limits
    rows, columns = picture.shape
    top, left = first
    box = (left - 0.5, left + columns - 0.5, top + rows - 0.5, top - 0.5)
    image = ax.imshow(picture, cmap=palette, vmin=low, vmax=high, extent=box)
    if values.ndim == 3:
        for number, (down, right) in corners.items():
            ax.text(right, down - 0.7, f"{number}", fontsize="x-small", color=INK, va="bottom")
        ax.set_axis_off()
    ax.tick_params(labelsize="x-small")
    return image


def _seen(values: Floats) -> list[slice]:
    """Return the least box that holds all values."""
    places = np.nonzero(np.isfinite(values))
    return [slice(int(axis.min()), int(axis.max()) + 1) for axis in places]


def _layout(values: Floats) -> tuple[list[slice], int, int, int]:
    """Return the box of a volume, the sides of a tile with its margin, and tiles in a row."""
    box = _seen(values)
    rows, columns = (axis.stop - axis.start for axis in box[1:])
    margin = max(2, rows // 6)
    slices = box[0].stop - box[0].start
    lines = -(-slices // IN_A_ROW)
    return box, rows + margin, columns + margin, -(-slices // lines)


def _tile(values: Floats) -> tuple[Floats, dict[int, tuple[int, int]], tuple[int, int]]:
    """Return one picture, the corners of the slices in it, and the number of its first cell."""
    if values.ndim == 2:
        box = _seen(values)
        return values[tuple(box)], {}, (box[0].start, box[1].start)
    box, high, wide, across = _layout(values)
    numbers = range(box[0].start, box[0].stop)
    corners = {
        number: (high * (at // across) + high - (box[1].stop - box[1].start), wide * (at % across))
        for at, number in enumerate(numbers)
    }
    picture = np.full((high * (-(-len(numbers) // across)), wide * across), np.nan)
    for number, (down, right) in corners.items():
        part = values[number, box[1], box[2]]
        picture[down : down + part.shape[0], right : right + part.shape[1]] = part
    return picture, corners, (0, 0)


def _place(values: Floats, position: tuple[int, ...]) -> tuple[int, int]:
    """Return where a position is drawn: down and right."""
    if values.ndim == 2:
        return position[0], position[1]
    box = _seen(values)
    down, right = _tile(values)[1][position[0]]
    return down + position[1] - box[1].start, right + position[2] - box[2].start


def _fit(figure: Any, values: Floats, down: int, across: int, height: float) -> None:
    """Give a figure the size that so many maps take, each of some height, if it is not too wide."""
    rows, columns = _tile(values)[0].shape
    width = min(height * columns / rows, (LARGEST_INCHES - BESIDE_INCHES) / across)
    tall = down * (width * rows / columns + 0.4)
    figure.set_size_inches(across * (width + 0.3) + BESIDE_INCHES, min(tall, LARGEST_INCHES))
