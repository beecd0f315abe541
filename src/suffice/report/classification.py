"""The report of a classifier: how good it is, what it looks at, and how it was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from suffice.naive_bayes import ComplementNB, MultinomialNB
from suffice.report import columns as distributions
from suffice.report import separation
from suffice.report.charts import Bar, bar_chart, figure
from suffice.report.held_out import JudgedRows
from suffice.report.html import Html, element, markup
from suffice.report.learning_curve import LearningCurve
from suffice.report.numbers import NOTHING, show_number
from suffice.report.quality import calibration_section, no_quality_section, quality_section
from suffice.report.section import (
    Cell,
    Section,
    facts,
    note,
    number_cell,
    sortable_table,
)
from suffice.table import GenerativeClassifier
from suffice.tally.tally import Floats
from suffice.text import TextClassifier

# Trials of blocks that are listed.
MAX_TRIALS = 30
# Features whose importance is drawn, and listed.
MAX_DRAWN, MAX_LISTED = 15, 200
# Letters of all charts of columns together: the page is to stay below 1 MB.
MAX_CHART_LETTERS = 250_000


class GivenRows(NamedTuple):
    """Rows that were given with the model: numbers of each column by name, and their classes."""

    numbers: dict[str, Floats]
    codes: Any


class Contents(NamedTuple):
    """All that the report of a classifier shows."""

    model: Any
    judged: JudgedRows | None
    given: GivenRows | None
    curve: LearningCurve | None
    beside: JudgedRows | None = None
    """other rows that it is judged by, in less detail"""

    @property
    def names(self) -> list[str]:
        """The classes as they are shown."""
        return [str(one) for one in self.model.classes_.tolist()]

    @property
    def class_weights(self) -> Floats:
        """The weight of the rows of each class."""
        return np.asarray(self.model.tally_.weights, np.float64)

    def sections(self, what_if: Section) -> list[Section]:
        """Return the sections of the page."""
        judged = self.judged
        known = type(self.model).__name__, self.names, self.class_weights
        found = [
            no_quality_section(*known) if judged is None else quality_section(judged, self.beside),
            what_if,
            None if judged is None else calibration_section(judged),
            column_section(self),
            word_section(self),
            joined_section(self),
            missing_section(self),
            choice_section(self.model),
            curve_section(self.curve),
        ]
        return [one for one in found if one is not None]


# What it looks at.


def column_section(contents: Contents) -> Section | None:
    """Return the importance of the columns, and their distributions, the most important first."""
    model = contents.model
    if isinstance(model, TextClassifier):
        return None
    shown = distributions.largest_classes(contents.class_weights)
    parts: list[Html | None] = []
    if isinstance(model, GenerativeClassifier):
        importance = model.importance()
        order = [importance.names[at] for at in importance.order]
        parts.append(importance_chart(importance))
        found = distributions.table_distributions(model)
    elif isinstance(model, MultinomialNB | ComplementNB):
        return None
    else:
        found = distributions.array_distributions(model)
        order = sorted(found, key=lambda name: -_separation(found[name]))
    drawn = [name for name in order if name in found][: distributions.MAX_CHARTS]
    parts.append(distributions.note_on_classes(len(contents.names), shown))
    charts = []
    for name in drawn:
        rows = None
        if contents.given is not None and name in contents.given.numbers:
            rows = distributions.GivenColumn(contents.given.numbers[name], contents.given.codes)
        charts.append(found[name].chart(contents.names, shown, rows))
        if sum(map(len, charts)) > MAX_CHART_LETTERS:
            break
    parts.append(element("div", charts, class_="charts"))
    if len(found) > len(charts):
        parts.append(note(f"The {len(charts)} most important of {len(found):,} columns are drawn."))
    curves = note(
        "Curves are posterior predictive distributions, p(column | class), computed from the "
        "tally and its prior."
    )
    return Section("columns", "What it looks at", markup([curves, *parts]))


def _separation(one: distributions.ColumnDistribution) -> float:
    """Return how far a column's classes are apart, for the order of charts."""
    weights = one.p / np.maximum(one.p.sum(axis=1, keepdims=True), 1e-300)
    return float(np.abs(weights - weights.mean(axis=0)).sum())


def importance_chart(importance: Any) -> Html:
    """Return what held-out rows lose without each column or word, and all figures in a table."""
    measured = [at for at in importance.order if importance.measured[at]]
    parts: list[Html] = []
    if measured:
        groups = [
            (
                importance.names[at],
                [
                    Bar(
                        float(importance.log_loss_increase[at]),
                        f"{importance.log_loss_increase[at]:+.3f}",
                        "c0" if importance.log_loss_increase[at] >= 0 else "c1",
                        float(importance.log_loss_increase[at] - 2 * importance.standard_error[at]),
                        float(importance.log_loss_increase[at] + 2 * importance.standard_error[at]),
                    )
                ],
            )
            for at in measured[:MAX_DRAWN]
        ]
        first = importance.names[measured[0]]
        title = (
            f"{first} matters most: without it the log-loss rises by "
            f"{importance.log_loss_increase[measured[0]]:.3f}"
        )
        chart = bar_chart(
            groups,
            f"{title}. Increase of the held-out log-loss without each {importance.kind}.",
            "increase of the log-loss, nats a row",
        )
        parts.append(
            figure(
                title,
                chart,
                "Whiskers are two standard errors. Two columns that say the same hardly miss "
                "each other.",
                class_="wide",
            )
        )
    rows = [
        [
            importance.names[at],
            number_cell(
                float(importance.log_loss_increase[at]), _signed(importance.log_loss_increase[at])
            ),
            number_cell(
                float(importance.mutual_information[at]), f"{importance.mutual_information[at]:.4f}"
            ),
            number_cell(
                float(importance.log_bayes_factor[at]), f"{importance.log_bayes_factor[at]:.1f}"
            ),
        ]
        for at in importance.order[:MAX_LISTED]
    ]
    heads = (importance.kind, "log-loss without it", "mutual information, nats", "log Bayes factor")
    caption = f"Importance of {len(rows):,} of {len(importance.names):,} {importance.kind}s"
    table = sortable_table(caption, heads, rows)
    parts.append(element("details", element("summary", f"All figures. {importance.note}."), table))
    return markup(parts)


def _signed(value: float) -> str:
    return "not measured" if np.isnan(value) else f"{value:+.4f}"


# Words.


def word_section(contents: Contents) -> Section | None:
    """Return the words that separate the classes: of documents, text columns, counts."""
    model, names = contents.model, contents.names
    shown = distributions.largest_classes(contents.class_weights)
    parts: list[Any] = []
    if isinstance(model, TextClassifier):
        table = model.term_probabilities()
        parts.append(importance_chart(model.importance()))
        parts.append(_word_charts(table.probability, table.terms, names, shown, "word"))
        parts.append(note(f"{len(table.terms):,} words are known."))
    elif isinstance(model, GenerativeClassifier):
        for posterior in model.posteriors_:
            if hasattr(posterior, "pieces"):
                p = separation.text_probabilities(posterior)
                terms = [str(term) for term in posterior.family.terms]
                parts.append(element("h3", f"Column {posterior.family.column}"))
                parts.append(_word_charts(p, terms, names, shown, "word"))
    elif isinstance(model, MultinomialNB | ComplementNB):
        added = model.alpha_ if isinstance(model.alpha_, float | np.ndarray) else 1.0
        counts = np.asarray(model.feature_count_, np.float64) + added
        p = counts / counts.sum(axis=1, keepdims=True)
        parts.append(
            _word_charts(p, list(model._check_ready().columns.terms()), names, shown, "column")
        )
    if not parts:
        return None
    explanation = note(
        "Bars are log p(word | class) less that of the other classes: what one such word adds to "
        "the log-odds, "
        "before calibration."
    )
    return Section(
        "words",
        "Words that separate the classes",
        markup([explanation, parts, distributions.note_on_classes(len(names), shown)]),
    )


def _word_charts(p: Floats, terms: Any, names: list[str], shown: list[int], what: str) -> Html:
    charts = [
        separation.word_chart(names, code, *separation.separating_words(p, terms, code), what)
        for code in shown
    ]
    return element("div", charts, class_="charts")


# Joined columns and missing values.


def joined_section(contents: Contents) -> Section | None:
    """Return the ellipses of joined numbers, and the names of joined levels."""
    model = contents.model
    if not isinstance(model, GenerativeClassifier):
        return None
    shown = distributions.largest_classes(contents.class_weights)
    blocks = [one for one in model.posteriors_ if len(one.family.columns) > 1]
    charts = [
        separation.ellipse_chart(one, contents.names, shown)
        for one in blocks
        if one.family.name.startswith("mvn")
    ]
    levels = [", ".join(one.family.columns) for one in blocks if one.family.name == "joint"]
    if not blocks:
        return None
    parts: list[Any] = [element("div", charts, class_="charts")]
    if levels:
        listed = element("ul", [element("li", one) for one in levels])
        parts.append(markup([element("p", "Levels that are counted together:"), listed]))
    return Section("joined", "Columns that go together", markup(parts))


def missing_section(contents: Contents) -> Section | None:
    """Return the share of missing cells by class."""
    if not isinstance(contents.model, GenerativeClassifier):
        return None
    every = separation.missing_shares(contents.model)
    some = {name: shares for name, shares in every.items() if shares.max(initial=0.0) > 1e-9}
    rule = note(
        "A missing value is left out when the model learns, and marginalised when it predicts: "
        "nothing is imputed. "
        'With missing="informative", whether a value is missing is a column of its own.'
    )
    if not some:
        return Section(
            "missing",
            "Missing values",
            markup([element("p", "No column that is counted by itself has missing values."), rule]),
        )
    shown = distributions.largest_classes(contents.class_weights)
    chart = separation.missing_chart(some, contents.names, shown)
    return Section("missing", "Missing values", markup([chart, rule]))


# How it was chosen.


def choice_section(model: Any) -> Section | None:
    """Return families with their evidence, blocks, weights and trials; or the settings alone."""
    if not isinstance(model, GenerativeClassifier):
        return Section("choices", "How it was made", settings_table(model))
    choices, combination = model.choices_, model.combination_
    weights = {
        name: weight
        for key, weight in model.weights_.items()
        for name in (key if isinstance(key, tuple) else (key,))
    }
    rows = []
    for name in choices:
        one = choices[name]
        tried = sorted(one.evidence.items(), key=lambda pair: -pair[1])
        best = tried[0][1] if tried else 0.0
        others = ", ".join(f"{family} {value - best:+.1f}" for family, value in tried[1:])
        weight = weights.get(name, float("nan"))
        rows.append(
            [
                name,
                one.family,
                one.others or NOTHING,
                one.why,
                others or NOTHING,
                number_cell(weight, NOTHING if np.isnan(weight) else f"{weight:.2f}"),
            ]
        )
    heads = ("column", "family", "joined with", "why", "evidence of others, nats", "weight")
    parts = [
        facts(
            [
                ("Structure", choices.when or "as given"),
                ("Blocks are combined by", combination.method),
                (
                    "Held-out log-loss of the combination",
                    f"{combination.held_out_log_loss:.4f}"
                    if np.isfinite(combination.held_out_log_loss)
                    else NOTHING,
                ),
                ("Noise rate", f"{combination.noise_rate:.4g}"),
                ("Log evidence", show_number(model.log_evidence_)),
                ("Free parameters", f"{model.n_parameters_:,}"),
            ]
        ),
        sortable_table("What was chosen for each column, and what else was tried", heads, rows),
        note(
            "Evidence is the log marginal likelihood of the column's cells given the classes, "
            "relative to the family chosen. "
            "A weight of 1 counts a block as naive Bayes does."
        ),
    ]
    if choices.trials:
        trials = choices.trials[:MAX_TRIALS]
        listed = [
            [
                one.what,
                number_cell(one.before, f"{one.before:.4f}"),
                number_cell(one.after, f"{one.after:.4f}"),
                "yes" if one.taken else "no",
            ]
            for one in trials
        ]
        table = sortable_table(
            f"{len(trials)} of {len(choices.trials)} arrangements that were tried",
            ("columns joined", "log-loss before", "after", "taken"),
            listed,
        )
        parts.append(
            element("details", element("summary", "Columns that were tried together"), table)
        )
    parts.append(element("details", element("summary", "Settings"), settings_table(model)))
    return Section("choices", "How it was chosen", markup(parts))


def settings_table(model: Any) -> Html:
    """Return the parameters of a model."""
    shown = {name: repr(value) for name, value in model.get_params(deep=False).items()}
    rows: Sequence[Sequence[Any]] = [
        [name, Cell(value if len(value) <= 200 else value[:199] + "…")]
        for name, value in shown.items()
    ]
    return sortable_table("Settings", ("parameter", "value"), rows)


def curve_section(curve: LearningCurve | None) -> Section | None:
    """Return the learning curve against logistic regression."""
    return None if curve is None else Section("learning", "Would more rows help?", curve.html())
