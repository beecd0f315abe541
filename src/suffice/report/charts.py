"""Charts as accessible SVG: a title that states the point, a description, labelled axes.

Colours are classes of the style sheet (`c0`, `c1`, ...), so that they follow light, dark and
print; curves differ in their dashes too, and bars are labelled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.report.html import Html, element
from suffice.report.numbers import show_number

Floats = NDArray[np.float64]

# Points of a chart, as wide as a phone shows them one to one, and the room for labels.
WIDTH, HEIGHT = 360, 220
LEFT, RIGHT, TOP, BOTTOM = 56, 10, 10, 42
# Points of one letter of a label, nearly, and of a line of bars.
LETTER, LINE = 6.8, 20
# Letters of a name beside a bar.
MAX_LETTERS = 22
COLOURS = 8


def shorten(name: str, most: int = MAX_LETTERS) -> str:
    """Return a name that fits beside a bar."""
    return name if len(name) <= most else name[: most - 1] + "…"


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers between two others, about `most` of them.

    >>> ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    if not high > low:
        return [low]
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((1, 2, 2.5, 5, 10), key=lambda one: abs(math.log(one * power / raw))) * power
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(at * step, 12) for at in range(first, last + 1)]


@dataclass(frozen=True)
class Axis:
    """An axis: its ends, its label, and what stands at its ticks.

    Parameters
    ----------
    low, high : float
    label : str
    marks : what stands where, or None for round numbers
    log : bool
        Whether equal distances are equal ratios.
    """

    low: float
    high: float
    label: str
    marks: Sequence[tuple[float, str]] | None = None
    log: bool = False

    def share(self, values: Any) -> Any:
        """Return how far along the axis values are, 0 to 1."""
        low, high, at = self.low, self.high, np.asarray(values, np.float64)
        if self.log:
            low, high, at = math.log(low), math.log(high), np.log(at)
        return (at - low) / (high - low if high > low else 1.0)

    @property
    def labels(self) -> list[tuple[float, str]]:
        """What stands where."""
        if self.marks is not None:
            return list(self.marks)
        if not self.log:
            return [(at, show_number(at)) for at in ticks(self.low, self.high)]
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        found = [10.0**power for power in powers if self.low <= 10.0**power <= self.high]
        if len(found) < 2:
            found = ticks(self.low, self.high, 4)
        return [(at, show_number(at)) for at in found if at > 0]


@dataclass
class Chart:
    """A picture of two axes, to which curves, bands, bars and dots are added."""

    x: Axis
    y: Axis
    width: int = WIDTH
    height: int = HEIGHT
    parts: list[Html] = field(default_factory=list)

    def _x(self, values: Any) -> Any:
        return LEFT + self.x.share(values) * (self.width - LEFT - RIGHT)

    def _y(self, values: Any) -> Any:
        return self.height - BOTTOM - self.y.share(values) * (self.height - TOP - BOTTOM)

    def _points(self, x: Any, y: Any) -> str:
        top, bottom = TOP - 2, self.height - BOTTOM + 2
        across, down = np.atleast_1d(self._x(x)), np.clip(np.atleast_1d(self._y(y)), top, bottom)
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))

    def line(self, x: Any, y: Any, colour: str) -> None:
        """Add a curve."""
        self.parts.append(element("polyline", points=self._points(x, y), class_=f"line {colour}"))

    def band(self, x: Any, low: Any, high: Any, colour: str) -> None:
        """Add the area between two curves."""
        x = np.asarray(x)
        around = np.concatenate([x, x[::-1]]), np.concatenate([low, np.asarray(high)[::-1]])
        self.parts.append(element("polygon", points=self._points(*around), class_=f"band {colour}"))

    def steps(self, edges: Any, heights: Any, colour: str) -> None:
        """Add a histogram."""
        edges, heights = np.asarray(edges, np.float64), np.asarray(heights, np.float64)
        x = np.repeat(edges, 2)
        y = np.concatenate([[self.y.low], np.repeat(heights, 2), [self.y.low]])
        self.parts.append(element("polygon", points=self._points(x, y), class_=f"hist {colour}"))

    def dots(self, x: Any, y: Any, colour: str, words: Sequence[str] = (), size: float = 3) -> None:
        """Add dots; `words` are shown under a pointer."""
        for number, (a, b) in enumerate(zip(self._x(x), self._y(y), strict=True)):
            hint = element("title", words[number]) if number < len(words) else None
            self.parts.append(
                element(
                    "circle", hint, cx=f"{a:.1f}", cy=f"{b:.1f}", r=size, class_=f"dot {colour}"
                )
            )

    def stems(self, x: Any, low: Any, high: Any, colour: str) -> None:
        """Add vertical lines from one height to another."""
        for a, b, c in zip(self._x(x), self._y(low), self._y(high), strict=True):
            ends = {"x1": f"{a:.1f}", "x2": f"{a:.1f}", "y1": f"{b:.1f}", "y2": f"{c:.1f}"}
            self.parts.append(element("line", class_=f"stem {colour}", **ends))

    def svg(self, description: str) -> Html:
        """Return the chart, its axes first."""
        bottom, right = self.height - BOTTOM, self.width - RIGHT
        axes: list[Html] = []
        for at, text in self.y.labels:
            y = f"{float(self._y(at)):.1f}"
            axes.append(element("line", x1=LEFT, x2=right, y1=y, y2=y, class_="grid"))
            axes.append(element("text", text, x=LEFT - 5, y=y, class_="tick end", dy="0.35em"))
        ends = self.x.labels
        for at, text in ends:
            x = float(self._x(at))
            wide = len(text) * LETTER / 2
            place = "start" if x - wide < 2 else "end" if x + wide > self.width else "middle"
            axes.append(
                element(
                    "line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1=bottom, y2=bottom + 4, class_="axis"
                )
            )
            x = self.width - 1 if place == "end" else x
            axes.append(element("text", text, x=f"{x:.1f}", y=bottom + 16, class_=f"tick {place}"))
        axes.append(element("line", x1=LEFT, x2=right, y1=bottom, y2=bottom, class_="axis"))
        middle = (LEFT + right) / 2
        axes.append(
            element("text", self.x.label, x=middle, y=self.height - 4, class_="label middle")
        )
        turned = f"rotate(-90 10 {(TOP + bottom) / 2})"
        axes.append(
            element(
                "text",
                self.y.label,
                x=10,
                y=(TOP + bottom) / 2,
                transform=turned,
                class_="label middle",
            )
        )
        return picture(self.width, self.height, description, axes, self.parts)


def picture(width: float, height: float, description: str, *parts: Any) -> Html:
    """Return an SVG that says what it shows."""
    return element(
        "svg",
        element("title", description),
        *parts,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_label=description,
    )


def figure(
    title: str, chart: Any, *notes: Any, legend: Sequence[tuple[str, str]] = (), **how: Any
) -> Html:
    """Return a chart with its title, its legend (colour and name) and what is to be said of it."""
    keys = [
        element("li", _key(colour), " ", element("span", shorten(name, 40)))
        for colour, name in legend
    ]
    return element(
        "figure",
        element(
            "figcaption",
            element("h3", title),
            element("ul", keys, class_="legend") if keys else None,
        ),
        chart,
        [element("p", note, class_="note") for note in notes if note],
        **how,
    )


def _key(colour: str) -> Html:
    line = element("line", x1=1, x2=27, y1=6, y2=6, class_=f"line {colour}")
    return element("svg", line, viewBox="0 0 28 12", class_="key", aria_hidden="true")


@dataclass(frozen=True)
class Bar:
    """A bar: its length, its ends if it is uncertain, what stands beside it, its colour."""

    value: float
    text: str
    colour: str = "c0"
    low: float = math.nan
    high: float = math.nan


def bar_chart(
    groups: Sequence[tuple[str, Sequence[Bar]]],
    description: str,
    label: str,
    *,
    top: float | None = None,
) -> Html:
    """Return horizontal bars, in groups under one name each; values below 0 go to the left."""
    every = [bar for _, bars in groups for bar in bars]
    ends = [end for bar in every for end in (bar.value, bar.low, bar.high) if math.isfinite(end)]
    low, high = min(0.0, *ends, 0.0), max(*ends, 0.0, 0.0) if top is None else top
    if high <= low:
        high = low + 1.0
    names = max((len(shorten(name)) for name, _ in groups), default=0) * LETTER + 8
    texts = max((len(bar.text) for bar in every), default=0) * LETTER + 8
    left, room = names, WIDTH - names - texts
    if any(bar.value < 0 for bar in every):
        left, room = names + texts, max(60.0, WIDTH - names - 2 * texts)
    single = all(len(bars) <= 1 for _, bars in groups)
    thick = 13 if single else 10

    def x(value: float) -> float:
        return left + (value - low) / (high - low) * room

    parts: list[Html] = []
    y = 4.0
    for name, bars in groups:
        middle = y + max(1, len(bars)) * (thick + 2) / 2
        hint = element("title", name)
        parts.append(
            element(
                "text",
                hint,
                shorten(name),
                x=f"{names - 6:.1f}",
                y=f"{middle:.1f}",
                dy="0.32em",
                class_="name end",
            )
        )
        for bar in bars:
            start, stop = sorted((x(0.0), x(bar.value)))
            box = {"x": f"{start:.1f}", "width": f"{max(stop - start, 0.8):.1f}"}
            parts.append(
                element("rect", y=f"{y:.1f}", height=thick, class_=f"bar {bar.colour}", **box)
            )
            centre = f"{y + thick / 2:.1f}"
            end = stop if bar.value >= 0 else start
            if math.isfinite(bar.low) and math.isfinite(bar.high):
                whisker = {"x1": f"{x(bar.low):.1f}", "x2": f"{x(bar.high):.1f}"}
                parts.append(element("line", y1=centre, y2=centre, class_="whisker", **whisker))
                end = max(end, x(bar.high)) if bar.value >= 0 else min(end, x(bar.low))
            beside = (end + 4, "start") if bar.value >= 0 else (end - 4, "end")
            parts.append(
                element(
                    "text",
                    bar.text,
                    x=f"{beside[0]:.1f}",
                    y=centre,
                    dy="0.35em",
                    class_=f"value {beside[1]}",
                )
            )
            y += thick + 2
        y += 6 if not single else LINE - 15
    if low < 0:
        parts.append(
            element("line", x1=f"{x(0):.1f}", x2=f"{x(0):.1f}", y1=0, y2=f"{y:.1f}", class_="axis")
        )
    parts.append(
        element("text", label, x=f"{left + room / 2:.1f}", y=f"{y + 12:.1f}", class_="label middle")
    )
    return picture(WIDTH, y + 18, description, parts)


def ellipse_points(mean: Floats, covariance: Floats, distance: float) -> tuple[Floats, Floats]:
    """Return the outline of the points at one Mahalanobis distance from the mean."""
    angles = np.linspace(0, 2 * np.pi, 61)
    root = np.linalg.cholesky(covariance)
    outline = mean[:, None] + distance * root @ np.stack([np.cos(angles), np.sin(angles)])
    return outline[0], outline[1]
