"""The report of a linear regression: how well it predicts, its coefficients, and a form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suffice.errors import SufficeError
from suffice.report.charts import Axis, Bar, Chart, bar_chart, ellipse_points, figure
from suffice.report.classification import settings_table
from suffice.report.html import Html, element, markup
from suffice.report.numbers import show_count, show_number, show_share
from suffice.report.section import Section, facts, note, number_cell, sortable_table
from suffice.report.separation import HALF, NINE_TENTHS
from suffice.tally.tally import Floats

# Groups of rows of equal size in the chart of predictions, and coefficients that are drawn.
GROUPS, MAX_DRAWN, MAX_ELLIPSES = 10, 20, 12


class Predictions(NamedTuple):
    """Targets of rows that were given, and what is predicted of them."""

    targets: Floats
    predictions: Floats
    what: str


class RegressionContents(NamedTuple):
    """All that the report of a regression shows, target by target."""

    model: Any
    predictions: Predictions | None

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.model._fitted.learned.columns.terms())

    @property
    def target_names(self) -> list[str]:
        """The names of the targets."""
        targets = self.model._fitted.learned.targets
        if targets.names and len(set(targets.names)) == targets.count:
            return [str(one) for one in targets.names]
        return ["the target"] if targets.count == 1 else [f"y{at}" for at in range(targets.count)]

    @property
    def moments(self) -> tuple[Floats, Floats]:
        """Means and covariance of columns and targets together, by the tally."""
        moments = self.model.tally_
        return np.asarray(moments.mean()), np.asarray(moments.scatter()) / float(moments.weight)

    def sections(self, what_if: Section) -> list[Section]:
        """Return the sections of the page."""
        found = [
            quality_section(self),
            what_if,
            coefficient_section(self),
            column_section(self),
            settings_section(self),
        ]
        return [one for one in found if one is not None]


def predict_given(model: Any, X: Any, y: Any) -> Predictions:
    """Return what is predicted of rows: each by all others if they are those learned."""
    targets = np.asarray(y, np.float64)
    if float(model._rows_learned()) == len(targets):
        try:
            left = model.leave_one_out(X, y)
        except SufficeError:
            pass  # as many rows, but others
        else:
            predicted = np.asarray(left.predictions, np.float64)
            return Predictions(
                targets,
                predicted,
                f"{len(targets):,} rows, each predicted by all others (leave-one-out)",
            )
    what = (
        f"the {len(targets):,} rows that were given. If the model has learned them, the figures "
        "are too good"
    )
    return Predictions(targets, np.asarray(model.predict(X)), what)


def quality_section(contents: RegressionContents) -> Section:
    """Return the headline, and predictions against targets where rows were given."""
    model, names = contents.model, contents.target_names
    solution = model._fitted.solution
    explained, noise = _in_sample(solution, contents)
    parts: list[Any] = []
    given = contents.predictions
    if given is None:
        for name, share, sd in zip(names, explained, noise, strict=True):
            parts.append(
                element(
                    "p",
                    "Explains ",
                    element("strong", show_share(share)),
                    " of the variance of ",
                    element("strong", name),
                    "; predictions are off by about ",
                    element("strong", show_number(sd)),
                    " (standard deviation).",
                    class_="headline",
                )
            )
        parts.append(
            note(
                "By the rows that were learned, with the number of coefficients allowed for: a "
                "regression keeps no held-out rows. Give labelled rows with the report (data=, "
                "target=) to see how it predicts them."
            )
        )
    else:
        targets, predicted = (np.atleast_2d(one.T) for one in (given.targets, given.predictions))
        for at, name in enumerate(names):
            errors = predicted[at] - targets[at]
            known = ~np.isnan(errors)
            errors, total = errors[known], float(np.var(targets[at][known]))
            squared = np.square(errors)
            share = 1 - float(squared.mean()) / total if total else float("nan")
            root = float(np.sqrt(squared.mean()))
            error = float(squared.std() / np.sqrt(len(squared)) / (2 * root)) if root else 0.0
            parts.append(
                element(
                    "p",
                    "Explains ",
                    element("strong", show_share(share)),
                    " of the variance of ",
                    element("strong", name),
                    "; predictions are off by about ",
                    element("strong", show_number(root)),
                    f" ± {show_number(error)} (root mean square, standard error).",
                    class_="headline",
                )
            )
            parts.append(prediction_chart(name, targets[at][known], predicted[at][known]))
        parts.append(note(f"Judged on {given.what}."))
    left_out = int(getattr(model, "n_rows_left_out_", 0))
    rows = float(contents.model.tally_.weight)
    pairs = [("Rows learned", show_count(rows)), ("Columns", f"{len(contents.columns):,}")]
    if left_out:
        pairs.append(("Rows with a missing value, left out", show_count(left_out)))
    if hasattr(model, "log_evidence_"):
        pairs.append(("Log evidence", show_number(model.log_evidence_)))
    return Section("quality", "How good it is", markup([parts, facts(pairs)]))


def _in_sample(solution: Any, contents: RegressionContents) -> tuple[list[float], list[float]]:
    """Return the adjusted share of the variance explained, and the noise, of each target."""
    rows, d = float(contents.model.tally_.weight), len(contents.columns)
    left = np.maximum(np.atleast_1d(solution.products.about(solution.coefficients).yy), 0.0)
    total = np.atleast_1d(solution.products.yy)
    freedom = max(rows - d - 1, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        explained = 1 - (left / freedom) / (total / max(rows - 1, 1.0))
    return explained.tolist(), np.sqrt(left / freedom).tolist()


def prediction_chart(name: str, targets: Floats, predicted: Floats) -> Html:
    """Return mean target against mean prediction of groups of rows, with the spread in each."""
    order = np.argsort(predicted, kind="stable")
    groups = [one for one in np.array_split(order, min(GROUPS, len(order))) if one.size]
    x = np.array([predicted[one].mean() for one in groups])
    middle = np.array([targets[one].mean() for one in groups])
    low, high = (
        np.array([np.quantile(targets[one], share) for one in groups]) for share in (0.1, 0.9)
    )
    ends = float(min(x.min(), low.min())), float(max(x.max(), high.max()))
    if ends[0] == ends[1]:
        ends = ends[0] - 0.5, ends[1] + 0.5
    chart = Chart(
        Axis(*ends, "mean prediction of a group"),
        Axis(*ends, f"{name[:30]}, mean of the group"),
        height=300,
    )
    chart.line(ends, ends, "diagonal")
    chart.band(x, low, high, "c0")
    chart.line(x, middle, "c0")
    chart.dots(x, middle, "c0")
    off = float(np.abs(middle - x).mean())
    title = f"Groups of rows differ from their predicted {name} by {show_number(off)} on average"
    return figure(
        title,
        chart.svg(title),
        f"{len(groups)} groups of rows of equal size, by their prediction; the band holds the "
        "middle eight tenths of each.",
        class_="wide",
    )


class CoefficientTable(NamedTuple):
    """Coefficients with their standard deviations and 95 % intervals, (t, k) each."""

    terms: tuple[str, ...]
    estimate: Floats
    sd: Floats
    lower: Floats
    upper: Floats


def coefficient_table(contents: RegressionContents) -> CoefficientTable:
    """Return the coefficients; NaN for what is not known where they have no posterior."""
    try:
        found = contents.model.summary()
    except SufficeError:  # positive=True, or columns that are combinations of others
        solution = contents.model._fitted.solution
        estimate = np.atleast_2d(solution.coefficients)
        unknown = np.full(estimate.shape, np.nan)
        return CoefficientTable(tuple(contents.columns), estimate, unknown, unknown, unknown)
    return CoefficientTable(found.terms, found.estimate, found.sd, found.lower, found.upper)


def coefficient_section(contents: RegressionContents) -> Section:
    """Return the coefficients with their intervals."""
    summary = coefficient_table(contents)
    scale = np.sqrt(np.maximum(np.diagonal(contents.moments[1]), 0.0))
    place = {name: at for at, name in enumerate(contents.columns)}
    parts: list[Any] = []
    for at, target in enumerate(contents.target_names):
        bars = []
        for term, value, low, high in zip(
            summary.terms, summary.estimate[at], summary.lower[at], summary.upper[at], strict=True
        ):
            if term in place:
                sd = float(scale[place[term]])
                bars.append(
                    (
                        abs(value * sd),
                        term,
                        Bar(
                            value * sd,
                            show_number(value * sd),
                            "c0" if value >= 0 else "c1",
                            low * sd,
                            high * sd,
                        ),
                    )
                )
        bars.sort(key=lambda one: -one[0])
        if bars:
            first = bars[0][1]
            way = "rises" if bars[0][2].value >= 0 else "falls"
            title = f"{target} {way} most with {first}"
            chart = bar_chart(
                [(term, [bar]) for _, term, bar in bars[:MAX_DRAWN]],
                f"{title}. Change of {target} for one standard deviation of each column.",
                f"change of {target} for one standard deviation",
            )
            parts.append(
                figure(
                    title,
                    chart,
                    "Whiskers are 95 % intervals; the other columns are held.",
                    class_="wide",
                )
            )
        rows = [
            [
                term,
                number_cell(float(a)),
                number_cell(float(b)),
                number_cell(float(c)),
                number_cell(float(d)),
            ]
            for term, a, b, c, d in zip(
                summary.terms,
                summary.estimate[at],
                summary.sd[at],
                summary.lower[at],
                summary.upper[at],
                strict=True,
            )
        ]
        parts.append(
            sortable_table(
                f"Coefficients of {target}",
                ("term", "estimate", "standard deviation", "2.5 %", "97.5 %"),
                rows,
            )
        )
    return Section("coefficients", "What it looks at", markup(parts))


def column_section(contents: RegressionContents) -> Section | None:
    """Return how each column goes with the first target, by the tally."""
    means, covariance = contents.moments
    d = len(contents.columns)
    scale = np.sqrt(np.maximum(np.diagonal(covariance), 1e-300))
    correlation = covariance[:d, d] / scale[:d] / scale[d]
    order = [
        at
        for at in np.argsort(-np.abs(correlation), kind="stable")
        if covariance[at, at] > 0 and abs(correlation[at]) < 1 - 1e-9
    ]
    if not order or covariance[d, d] <= 0:
        return None
    target = contents.target_names[0]
    charts = []
    for at in order[:MAX_ELLIPSES]:
        pair = [at, d]
        matrix, centre = covariance[np.ix_(pair, pair)], means[pair]
        outer = np.array(ellipse_points(centre, matrix, NINE_TENTHS))
        low, high = outer.min(axis=1), outer.max(axis=1)
        chart = Chart(
            Axis(float(low[0]), float(high[0]), contents.columns[at]),
            Axis(float(low[1]), float(high[1]), target),
        )
        for away in (HALF, NINE_TENTHS):
            chart.line(*ellipse_points(centre, matrix, away), "c0")
        slope = matrix[0, 1] / matrix[0, 0]
        ends = np.array([low[0], high[0]])
        chart.line(ends, centre[1] + slope * (ends - centre[0]), "c1")
        way = "rises" if slope >= 0 else "falls"
        title = f"{target} {way} with {contents.columns[at]} (correlation {correlation[at]:+.2f})"
        charts.append(
            figure(
                title,
                chart.svg(title),
                legend=[
                    ("c0", "half and nine tenths of the rows"),
                    ("c1", "this column alone"),
                ],
            )
        )
    words = note("From the tally: means and covariances of columns and target.")
    more = (
        note(f"The {len(charts)} columns of largest correlation, of {d:,}.")
        if d > len(charts)
        else None
    )
    return Section(
        "columns",
        "Column by column",
        markup([words, element("div", charts, class_="charts"), more]),
    )


def settings_section(contents: RegressionContents) -> Section:
    """Return the settings."""
    return Section("choices", "How it was made", settings_table(contents.model))
