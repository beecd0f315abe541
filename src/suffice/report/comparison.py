"""Two models side by side: before and after forgetting, two sites, two months."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from suffice.report import columns as distributions
from suffice.report.charts import Bar, bar_chart, figure
from suffice.report.classification import Contents
from suffice.report.columns import ColumnDistribution
from suffice.report.html import Html, element, markup
from suffice.report.numbers import NOTHING, show_count, show_number, show_share
from suffice.report.quality import headline_sentence
from suffice.report.regression import coefficient_table
from suffice.report.section import Section, note, number_cell, sortable_table
from suffice.table import GenerativeClassifier
from suffice.tally.tally import Floats
from suffice.text import TextClassifier

# Columns and words that are shown, those that changed most first.
MAX_COLUMNS, MAX_CHANGED_WORDS = 12, 12
NAMES = ("this model", "the other")


def comparison_section(first: Any, second: Any) -> Section:
    """Return what differs between two classifiers, or two regressions, of one kind."""
    parts: list[Any] = [overview(first, second)]
    if isinstance(first, Contents) and isinstance(second, Contents):
        parts += [
            share_chart(first, second),
            column_changes(first, second),
            word_changes(first, second),
        ]
    else:
        parts.append(coefficient_changes(first, second))
    return Section("comparison", "Side by side", markup(parts))


def overview(first: Any, second: Any) -> Html:
    """Return the figures of both models in one table."""
    rows: list[list[Any]] = [["model", *(type(one.model).__name__ for one in (first, second))]]
    if isinstance(first, Contents):
        both = (first, second)
        rows.append(["rows learned", *(show_count(float(one.class_weights.sum())) for one in both)])
        rows.append(
            [
                "classes",
                *(", ".join(one.names[:6]) + (" …" if len(one.names) > 6 else "") for one in both),
            ]
        )
        for name, show in (
            ("accuracy", _accuracy),
            ("log-loss", _log_loss),
            ("headline", _headline),
        ):
            rows.append([name, *(show(one) for one in both)])
        if isinstance(first.model, GenerativeClassifier) and isinstance(
            second.model, GenerativeClassifier
        ):
            changed = family_changes(first.model, second.model)
            rows.append(
                ["columns with another family", str(len(changed)), ", ".join(changed[:6]) or "none"]
            )
        if isinstance(first.model, TextClassifier) and isinstance(second.model, TextClassifier):
            mine, theirs = (set(one.model.terms_.tolist()) for one in both)
            rows.append(
                [
                    "words known",
                    f"{len(mine):,} ({len(mine - theirs):,} only here)",
                    f"{len(theirs):,} ({len(theirs - mine):,} only there)",
                ]
            )
    else:
        rows.append(
            [
                "rows learned",
                *(show_count(float(one.model.tally_.weight)) for one in (first, second)),
            ]
        )
    return sortable_table("Both models", ("figure", *NAMES), rows)


def _accuracy(one: Contents) -> str:
    if one.judged is None:
        return "no held-out scores"
    share, low, high = one.judged.accuracy
    return f"{show_share(share, 1)} ({show_share(low, 1)} to {show_share(high, 1)})"


def _log_loss(one: Contents) -> str:
    return NOTHING if one.judged is None else "{:.4f} ± {:.4f}".format(*one.judged.log_loss)


def _headline(one: Contents) -> Any:
    return NOTHING if one.judged is None else headline_sentence(one.judged, one.judged.menu()[0])


def family_changes(first: GenerativeClassifier, second: GenerativeClassifier) -> list[str]:
    """Return the columns that have another family, or are not in both."""
    mine, theirs = (
        {name: one[name].family for name in one} for one in (first.choices_, second.choices_)
    )
    return [name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]


def share_chart(first: Contents, second: Contents) -> Html:
    """Return the shares of the classes in both models."""
    names = list(dict.fromkeys([*first.names, *second.names]))
    shares = [
        dict(zip(one.names, (one.class_weights / one.class_weights.sum()).tolist(), strict=True))
        for one in (first, second)
    ]
    change = {name: abs(shares[0].get(name, 0.0) - shares[1].get(name, 0.0)) for name in names}
    order = sorted(names, key=lambda name: -change[name])[:MAX_COLUMNS]
    groups = [
        (
            name,
            [
                Bar(one.get(name, 0.0), show_share(one.get(name, 0.0), 1), f"c{at}")
                for at, one in enumerate(shares)
            ],
        )
        for name in order
    ]
    most = order[0]
    title = (
        f"{most}: {show_share(shares[0].get(most, 0.0), 1)} here, "
        f"{show_share(shares[1].get(most, 0.0), 1)} in the other"
    )
    legend = [("c0", NAMES[0]), ("c1", NAMES[1])]
    return figure(
        title,
        bar_chart(groups, f"{title}. Shares of the classes.", "share of the rows"),
        legend=legend,
        class_="wide",
    )


def _distributions(one: Contents) -> Mapping[str, ColumnDistribution]:
    if isinstance(one.model, GenerativeClassifier):
        return distributions.table_distributions(one.model)
    return {}


def column_changes(first: Contents, second: Contents) -> Html | None:
    """Return the columns side by side, those whose distributions changed most first."""
    mine, theirs = _distributions(first), _distributions(second)
    both = [name for name in mine if name in theirs]
    if not both:
        return None
    distance = {name: change(mine[name], theirs[name], first.names, second.names) for name in both}
    order = sorted(both, key=lambda name: -distance[name])
    table = sortable_table(
        "How much the distributions differ: total variation distance, the mean over the classes "
        "of both",
        ("column", "distance"),
        [[name, number_cell(distance[name], f"{distance[name]:.3f}")] for name in order],
    )
    pairs = []
    for name in order[:MAX_COLUMNS]:
        sides = []
        for contents, known, title in ((first, mine, NAMES[0]), (second, theirs, NAMES[1])):
            shown = distributions.largest_classes(contents.class_weights)
            sides.append(
                element(
                    "div",
                    element("p", title, class_="side"),
                    known[name].chart(contents.names, shown, None),
                )
            )
        pairs.append(element("div", sides, class_="pair"))
    words = note("0 is no difference, 1 is none in common. Columns that changed most come first.")
    return markup([element("h3", "Columns"), words, table, pairs])


def change(
    one: ColumnDistribution, other: ColumnDistribution, mine: list[str], theirs: list[str]
) -> float:
    """Return the total variation distance of two distributions, the mean over common classes."""
    shared = [(mine.index(name), theirs.index(name)) for name in mine if name in theirs]
    if not shared or (one.kind == "level") != (other.kind == "level"):
        return 1.0
    first, second = (
        np.array([side.p[pair[at]] for pair in shared]) for at, side in enumerate((one, other))
    )
    if one.kind == "level":
        names = list(dict.fromkeys([*one.at, *other.at]))
        first, second = _on_levels(first, one.at, names), _on_levels(second, other.at, names)
    else:
        at = np.linspace(min(one.at[0], other.at[0]), max(one.at[-1], other.at[-1]), 400)
        first, second = _on_points(first, one, at), _on_points(second, other, at)
    first = first / np.maximum(first.sum(axis=1, keepdims=True), 1e-300)
    second = second / np.maximum(second.sum(axis=1, keepdims=True), 1e-300)
    return float(np.abs(first - second).sum(axis=1).mean() / 2)


def _on_levels(p: Floats, known: Any, names: list[str]) -> Floats:
    place = {name: at for at, name in enumerate(known)}
    return np.array([[row[place[name]] if name in place else 0.0 for name in names] for row in p])


def _on_points(p: Floats, of: ColumnDistribution, at: Floats) -> Floats:
    density = p / of.at if of.log else p
    return np.array([np.interp(at, of.at, row, left=0.0, right=0.0) for row in density])


def word_changes(first: Contents, second: Contents) -> Html | None:
    """Return the words whose log-odds changed most."""
    if not (isinstance(first.model, TextClassifier) and isinstance(second.model, TextClassifier)):
        return None
    tables = [one.model.term_probabilities() for one in (first, second)]
    shared = sorted(set(map(str, tables[0].terms)) & set(map(str, tables[1].terms)))
    classes = [name for name in first.names if name in second.names][: distributions.MAX_CLASSES]
    if not shared or len(classes) < 2:
        return None
    charts = []
    for name in classes[:2] if len(classes) == 2 else classes:
        ratios = [
            _log_ratios(table, one.names.index(name), shared)
            for table, one in zip(tables, (first, second), strict=True)
        ]
        order = np.argsort(-np.abs(ratios[0][0] - ratios[1][0]) * ratios[0][1], kind="stable")[
            :MAX_CHANGED_WORDS
        ]
        groups = [
            (
                shared[at],
                [
                    Bar(float(ratio[0][at]), f"{ratio[0][at]:+.2f}", f"c{number}")
                    for number, ratio in enumerate(ratios)
                ],
            )
            for at in order
        ]
        title = f"{shared[order[0]]} changed most for {name}"
        charts.append(
            figure(
                title,
                bar_chart(
                    groups,
                    f"{title}. Log-odds that one such word adds, in both models.",
                    "log-odds added",
                ),
                legend=[("c0", NAMES[0]), ("c1", NAMES[1])],
            )
        )
    return markup([element("h3", "Words"), element("div", charts, class_="charts")])


def _log_ratios(table: Any, code: int, terms: list[str]) -> tuple[Floats, Floats]:
    place = {str(term): at for at, term in enumerate(table.terms)}
    at = [place[term] for term in terms]
    p = np.maximum(table.probability[:, at], 1e-300)
    return np.log(p[code]) - np.log(np.delete(p, code, axis=0).mean(axis=0)), p.max(axis=0)


def coefficient_changes(first: Any, second: Any) -> Html:
    """Return the coefficients of both regressions."""
    tables = [coefficient_table(one) for one in (first, second)]
    known = [
        dict(zip(one.terms, zip(one.estimate[0], one.sd[0], strict=True), strict=True))
        for one in tables
    ]
    rows = []
    for term in dict.fromkeys([*known[0], *known[1]]):
        pair = [one.get(term) for one in known]
        shown = [
            NOTHING
            if one is None
            else number_cell(
                float(one[0]), f"{show_number(float(one[0]))} ± {show_number(float(one[1]))}"
            )
            for one in pair
        ]
        apart = float("nan")
        if pair[0] is not None and pair[1] is not None:
            apart = abs(float(pair[0][0] - pair[1][0])) / float(np.hypot(pair[0][1], pair[1][1]))
        rows.append(
            [term, *shown, number_cell(apart, NOTHING if np.isnan(apart) else f"{apart:.2f}")]
        )
    heads = ("term", *NAMES, "difference, standard deviations")
    return sortable_table(
        f"Coefficients of {first.target_names[0]}, ± one standard deviation", heads, rows
    )
