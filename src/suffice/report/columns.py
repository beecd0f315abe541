"""What each column says of the class: p(x | class), drawn from the tally and its prior.

A column's distribution in each class is asked of the model itself: it scores a table in which the
column runs over a grid, or over its levels, and all others are missing, which is marginalising.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.columns import Column
from suffice.data.table import Table
from suffice.report.charts import Axis, Bar, Chart, bar_chart, figure, shorten
from suffice.report.html import Html, element
from suffice.report.numbers import show_number, show_share
from suffice.table import GenerativeClassifier
from suffice.table.rows import MISSING_SUFFIX, format_time
from suffice.tally.tally import Floats

# Points of a curve, draws of each class that say where it runs, and the tails that are left out.
POINTS, DRAWS, TAIL = 91, 400, 0.005
# A number whose largest values are so many times its median is drawn on a logarithmic scale.
SKEWED = 25.0
# Whole numbers, levels and classes that are drawn, and columns that have a chart.
MAX_WHOLE, MAX_LEVELS, MAX_CLASSES, MAX_CHARTS = 40, 10, 6, 40
# Stems of all classes beyond which whole numbers are drawn as a curve.
MAX_STEMS = 60
# Bins of the histogram of rows that are given.
HISTOGRAM_BINS = 30
# Means that are closer than this part of the standard deviation hardly differ.
HARDLY = 0.1


@dataclass(frozen=True, eq=False)
class ColumnDistribution:
    """p(x | class) of one column at points: a density of numbers, a probability of levels.

    Parameters
    ----------
    name : str
    kind : "number", "whole", "level"
    at : points, or the names of levels
    p : (C, points)
    label : how the column's axis is labelled
    dates : kind of the column's days, if they are shown as dates
    log : bool
        Whether the points are at equal ratios, and `p` is a density of logarithms.
    """

    name: str
    kind: str
    at: Any
    p: Floats
    label: str
    dates: str = ""
    log: bool = False

    def show(self, value: float) -> str:
        """Return a point as it is written: dates to the day, times to the minute."""
        if not self.dates:
            return show_number(value)
        parts = 1 if self.dates == "date" else 24 * 60
        return format_time(round(value * parts) / parts, self.dates)  # type: ignore[arg-type]

    @cached_property
    def means(self) -> Floats:
        """The mean of each class, within the points that are drawn, (C,)."""
        return np.asarray(self._weights @ self.at)

    @property
    def spreads(self) -> Floats:
        """The standard deviation of each class, within the points that are drawn, (C,)."""
        away = np.square(np.asarray(self.at) - self.means[:, None])
        return np.asarray(np.sqrt((self._weights * away).sum(axis=1)))

    @cached_property
    def _weights(self) -> Floats:
        found = self.p * (1.0 if self.kind == "whole" else np.gradient(self._scale))
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    @property
    def _scale(self) -> Floats:
        return np.log(self.at) if self.log else np.asarray(self.at, np.float64)

    def point(self, names: list[str], classes: list[int]) -> str:
        """Return what the chart shows, in a few words."""
        return (
            self._point_of_levels(names, classes)
            if self.kind == "level"
            else self._point_of_numbers(names, classes)
        )

    def _point_of_numbers(self, names: list[str], classes: list[int]) -> str:
        means, spreads = self.means[classes], self.spreads[classes]
        low, high = int(means.argmin()), int(means.argmax())
        if means[high] - means[low] >= HARDLY * float(spreads.mean()):
            first, last = (shorten(names[classes[at]], 24) for at in (low, high))
            ends = self.show(float(means[low])), self.show(float(means[high]))
            return f"{self.name} is lower for {first} (mean {ends[0]}) than for {last} ({ends[1]})"
        narrow, wide = int(spreads.argmin()), int(spreads.argmax())
        if spreads[wide] > (1 + HARDLY) * spreads[narrow]:
            first, last = (shorten(names[classes[at]], 24) for at in (wide, narrow))
            ends = show_number(float(spreads[wide])), show_number(float(spreads[narrow]))
            return (
                f"{self.name} varies more for {first} (standard deviation {ends[0]}) than for "
                f"{last} ({ends[1]})"
            )
        return f"{self.name} hardly differs between the classes"

    def _point_of_levels(self, names: list[str], classes: list[int]) -> str:
        p = np.maximum(self.p[classes], 1e-12)
        others = (p.sum(axis=0) - p) / max(1, len(classes) - 1)
        gain = p * np.log(p / np.maximum(others, 1e-12))
        best, level = np.unravel_index(int(gain.argmax()), gain.shape)
        mine, theirs = float(p[best, level]), float(others[best, level])
        if mine < 1.1 * theirs:
            return f"{self.name} hardly differs between the classes"
        return (
            f"{shorten(str(self.at[level]), 24)} is more frequent for "
            f"{shorten(names[classes[int(best)]], 24)} ({show_share(mine)}) than otherwise "
            f"({show_share(theirs)})"
        )

    def chart(self, names: list[str], classes: list[int], rows: GivenColumn | None) -> Html:
        """Return the chart of some classes."""
        point = self.point(names, classes)
        if self.kind == "level":
            return figure(
                point, self._level_bars(names, classes, point), legend=class_legend(names, classes)
            )
        label = self.label + (", logarithmic scale" if self.log else "")
        found = self._number_chart(classes, label, rows)
        what = f"{point}. Distribution of {self.name} in each class."
        note = "Steps: the rows that were given." if rows is not None else None
        return figure(point, found.svg(what), note, legend=class_legend(names, classes))

    def _number_chart(self, classes: list[int], label: str, rows: GivenColumn | None) -> Chart:
        top = float(self.p[classes].max()) * 1.08
        bars = None if rows is None else rows.histogram(self, classes)
        if bars is not None:
            top = max(top, min(float(bars[1].max()) * 1.05, 2.5 * top))
        marks = None
        if self.dates:
            ends = np.linspace(float(self.at[0]), float(self.at[-1]), 3)
            marks = [(float(one), self.show(float(one))) for one in ends]
        low, high = float(self.at[0]), float(self.at[-1])
        if self.kind == "whole":
            low, high = low - 0.6, high + 0.6
            marks = marks or whole_marks(self.at)
        x = Axis(low, high, label, marks, self.log)
        found = Chart(
            x, Axis(0.0, top or 1.0, "probability" if self.kind == "whole" else "density")
        )
        if bars is not None:
            for number, _ in enumerate(classes):
                found.steps(bars[0], bars[1][number], f"c{number}")
        for number, code in enumerate(classes):
            if self.kind == "whole" and len(self.at) * len(classes) <= MAX_STEMS:
                shift = (number - (len(classes) - 1) / 2) * 0.8 / max(2, len(classes))
                found.stems(self.at + shift, np.zeros(len(self.at)), self.p[code], f"c{number}")
                found.dots(self.at + shift, self.p[code], f"c{number}", size=2.2)
            else:
                found.line(self.at, self.p[code], f"c{number}")
        return found

    def _level_bars(self, names: list[str], classes: list[int], point: str) -> Html:
        shares = self.p[classes]
        order = np.argsort(-shares.max(axis=0), kind="stable")[:MAX_LEVELS]
        groups = [
            (
                str(self.at[level]),
                [
                    Bar(float(share), show_share(float(share)), f"c{number}")
                    for number, share in enumerate(shares[:, level])
                ],
            )
            for level in order
        ]
        rest = len(self.at) - len(order)
        if rest:
            left = 1 - shares[:, order].sum(axis=1)
            groups.append(
                (
                    f"{rest} other levels",
                    [
                        Bar(float(share), show_share(float(share)), f"c{n}")
                        for n, share in enumerate(left)
                    ],
                )
            )
        return bar_chart(
            groups,
            f"{point}. Shares of the levels of {self.name} in each class.",
            f"share of {self.name}",
            top=max(0.05, float(shares.max())),
        )


def whole_marks(at: Any) -> list[tuple[float, str]]:
    """Return whole numbers for an axis, no more than about ten."""
    step = max(1, round((float(at[-1]) - float(at[0])) / 8))
    return [(float(one), show_number(float(one))) for one in np.arange(at[0], at[-1] + 1, step)]


def class_legend(names: list[str], classes: list[int]) -> list[tuple[str, str]]:
    """Return colour and name of each class."""
    return [(f"c{number}", names[code]) for number, code in enumerate(classes)]


@dataclass(frozen=True, eq=False)
class GivenColumn:
    """Numbers of a column, and the classes of the rows that have them."""

    values: Floats
    codes: NDArray[np.intp]

    def histogram(self, of: ColumnDistribution, classes: list[int]) -> tuple[Floats, Floats] | None:
        """Return edges, and the density of the rows of each class between them."""
        if of.kind == "whole":
            edges = np.append(np.asarray(of.at) - 0.5, of.at[-1] + 0.5)
        elif of.log:
            edges = np.geomspace(of.at[0], of.at[-1], HISTOGRAM_BINS + 1)
        else:
            edges = np.linspace(of.at[0], of.at[-1], HISTOGRAM_BINS + 1)
        found = np.zeros((len(classes), len(edges) - 1))
        for number, code in enumerate(classes):
            mine = self.values[(self.codes == code) & ~np.isnan(self.values)]
            if mine.size:
                widths = np.diff(np.log(edges)) if of.log else np.diff(edges)
                found[number] = np.histogram(mine, edges)[0] / mine.size / widths
        return (edges, found) if found.any() else None


# Columns of tables.


def table_distributions(model: GenerativeClassifier) -> dict[str, ColumnDistribution]:
    """Return the distributions of the columns of a table; of texts there are none."""
    fitted = model._check_ready()
    found: dict[str, ColumnDistribution] = {}
    for posterior in fitted.posteriors:
        if hasattr(posterior, "pieces"):
            continue
        codes = np.repeat(np.arange(len(fitted.classes)), DRAWS).astype(np.int32)
        drawn = posterior.sample(codes, np.random.default_rng(0))
        empty = {
            name: _empty_column(fitted.counter.schema, name) for name in posterior.family.columns
        }
        for name, column in empty.items():
            at = _points(column, drawn[name], _levels_of(posterior.family, name, column))
            others = [one.as_missing(len(at.values)) for key, one in empty.items() if key != name]
            table = Table((at, *others), len(at.values))
            found[name] = _distribution(at, posterior.scores(table), posterior.family)
    return found


def _empty_column(schema: Any, name: str) -> Column:
    known = {field.name: field for field in schema.fields}
    if name not in known:  # whether a cell is missing
        return Column(name, "boolean", np.empty(0))
    field = known[name]
    values = np.empty(0, np.int32) if field.kind == "category" else np.empty(0)
    return Column(name, field.kind, values, field.levels)


def _levels_of(family: Any, name: str, column: Column) -> Any:
    """Return the levels of a column that are numbers, or None."""
    levels = getattr(family, "levels", None)
    if levels is None or column.kind == "category":
        return None
    return levels if family.width == 1 else levels[family.columns.index(name)]


def _points(column: Column, drawn: Any, levels: Any) -> Column:
    """Return a column whose cells are the points at which it is drawn."""
    name, kind = column.name, column.kind
    if kind == "category":
        return Column(name, kind, np.arange(len(column.levels), dtype=np.int32), column.levels)
    if kind == "boolean":
        return Column(name, kind, np.array([0.0, 1.0]))
    if levels is not None and len(levels) <= MAX_WHOLE:
        return Column(name, kind, np.sort(np.asarray(levels, np.float64)))
    return Column(name, kind, number_points(np.asarray(drawn, np.float64)))


def number_points(drawn: Floats) -> Floats:
    """Return points over which draws of a number lie: whole ones, or at equal steps or ratios."""
    low, middle, high = np.quantile(drawn[np.isfinite(drawn)], [TAIL, 0.5, 1 - TAIL])
    if np.all(drawn == np.round(drawn)) and high - low < MAX_WHOLE:
        return np.arange(low.round(), max(high, low).round() + 1)
    if not high > low:
        return np.linspace(low - 0.5, low + 0.5, 3)
    if low > 0 and high > SKEWED * middle:
        return np.geomspace(low, high, POINTS)
    return np.linspace(low, high, POINTS)


def _distribution(at: Column, scores: Floats, family: Any) -> ColumnDistribution:
    label = at.name
    p = np.exp(scores.T)
    if at.kind in ("category", "boolean"):
        names = [str(one) for one in at.levels] if at.levels else ["no", "yes"]
        if at.name.endswith(MISSING_SUFFIX):
            names = ["present", "missing"]
        return ColumnDistribution(at.name, "level", names, p, label)
    values = at.values
    levels = getattr(family, "levels", None) is not None
    discrete = levels or family.name == "poisson"
    dates = at.kind if at.kind in ("date", "time", "span") else ""
    if discrete and len(values) <= MAX_WHOLE:
        return ColumnDistribution(
            at.name,
            "whole",
            values,
            p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300),
            label,
            dates,
        )
    log = is_log(values)
    return ColumnDistribution(
        at.name, "number", values, p * values if log else p, label, dates, log
    )


def is_log(points: Floats) -> bool:
    """Say whether points are at equal ratios."""
    return (
        len(points) > 2
        and points[0] > 0
        and not np.isclose(points[1] - points[0], points[-1] - points[-2], rtol=1e-3)
    )


# Columns of arrays.


def array_distributions(model: Any) -> dict[str, ColumnDistribution]:
    """Return the distributions of the columns of a classifier of arrays of numbers."""
    fitted = model._check_ready()
    width = fitted.columns.count
    names = list(fitted.columns.terms())
    drawn, _ = model.sample(DRAWS * len(fitted.classes), random_state=0)
    if hasattr(drawn, "toarray"):
        return {}
    prior = fitted.ready_model.prior.log_prob
    found = {}
    for at in range(min(width, MAX_CHARTS)):
        values = number_points(np.asarray(drawn[:, at], np.float64))
        rows = np.full((len(values), width), np.nan)
        rows[:, at] = values
        p = np.exp(model.predict_joint_log_proba(rows) - prior).T
        whole = len(values) < MAX_WHOLE and np.all(values == values.round())
        if whole:
            p = p / p.sum(axis=1, keepdims=True)
        log = not whole and is_log(values)
        found[names[at]] = ColumnDistribution(
            names[at],
            "whole" if whole else "number",
            values,
            p * values if log else p,
            names[at],
            "",
            log,
        )
    return found


# Classes.


def largest_classes(weights: Floats) -> list[int]:
    """Return the numbers of the classes that are drawn: the largest, in their own order."""
    order = np.argsort(-weights, kind="stable")[:MAX_CLASSES]
    return sorted(int(one) for one in order)


def note_on_classes(total: int, shown: list[int]) -> Html | None:
    """Say which classes are drawn, if not all are."""
    if total == len(shown):
        return None
    return element(
        "p", f"Charts show the {len(shown)} largest of {total:,} classes.", class_="note"
    )
