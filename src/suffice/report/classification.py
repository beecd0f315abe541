"""The report of a classifier: how good it is, what it looks at, and how it was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from suffice.naive_bayes import ComplementNB, MultinomialNB
from suffice.report import columns as distributions
from suffice.report.charts import Axis, Bar, Chart, bar_chart, figure
from suffice.report.held_out import MAX_TABLE, JudgedRows
from suffice.report.html import Html, element, markup
from suffice.report.learning_curve import LearningCurve
from suffice.report.numbers import show_count, show_number, show_share
from suffice.report.section import (
    Cell,
    Section,
    facts,
    note,
    number_cell,
    scrolled,
    sortable_table,
)
from suffice.table import GenerativeClassifier
from suffice.tally.tally import Floats
from suffice.text import TextClassifier

# Classes whose calibration is drawn, pairs of classes and trials of blocks that are listed.
MAX_CALIBRATIONS, MAX_PAIRS, MAX_TRIALS = 12, 20, 30
# Features whose importance is drawn, and listed.
MAX_DRAWN, MAX_LISTED = 15, 200
BEFORE, AFTER = "c1", "c0"
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

    @property
    def names(self) -> list[str]:
        """The classes as they are shown."""
        return [str(one) for one in self.model.classes_.tolist()]

    @property
    def class_weights(self) -> Floats:
        """The weight of the rows of each class."""
        return np.asarray(self.model.tally_.weights, np.float64)

    def sections(self, *, what_if: bool) -> list[Section]:
        """Return the sections of the page."""
        found = [
            quality_section(self),
            what_if_section(self.model) if what_if else None,
            calibration_section(self.judged),
            column_section(self),
            word_section(self),
            joined_section(self),
            missing_section(self),
            choice_section(self.model),
            curve_section(self.curve),
        ]
        return [one for one in found if one is not None]


# How good it is.


def quality_section(contents: Contents) -> Section:
    """Return the headline, the slider, the confusion table and the figures of each class."""
    title, judged = "How good it is", contents.judged
    if judged is None:
        return Section("quality", title, _no_scores(contents))
    begin = judged.menu()[0]
    headline = element("p", headline_sentence(judged, begin), id="headline", class_="headline", aria_live="polite")
    fairness = note(f"Judged on {judged.what}. {judged.fairness}")
    parts = [headline, quality_facts(judged), fairness, controls(judged), class_table(judged)]
    if len(judged.classes) > 2:
        parts.append(full_confusion(judged))
    return Section("quality", title, markup(parts))


def headline_sentence(judged: JudgedRows, at: int, threshold: int = 50) -> Html:
    """Return what share of a class is found, and how many of those that are named are of it."""
    found, wrong = (float(side[threshold]) for side in judged.above(at))
    total, scale = float(judged.class_weights[at]), judged.rows_a_weight
    name = element("strong", judged.names[at], class_="class")
    recall = element("strong", show_share(found / total if total else float("nan")))
    if not found + wrong:
        return markup(["Names no row as ", name, " at this threshold."])
    hits = element("strong", f"{100 * found / (found + wrong):.0f}")
    from suffice.report.numbers import wilson

    low, high = wilson(found * scale, total * scale)
    below, above = wilson(found * scale, (found + wrong) * scale)
    ranges = element(
        "span",
        f" (95 % intervals: {100 * low:.0f} to {100 * high:.0f} % found, {100 * below:.0f} to {100 * above:.0f} of 100 right)",
        class_="interval",
    )
    return markup(["Finds ", recall, " of ", name, "; of 100 rows it names, ", hits, " are.", ranges])


def quality_facts(judged: JudgedRows) -> Html:
    """Return accuracy, log-loss and calibration error, each with what it is compared with."""
    accuracy, low, high = judged.accuracy
    loss, error = judged.log_loss
    shares = judged.class_weights / judged.total
    pairs = [
        (
            "Accuracy",
            f"{show_share(accuracy, 1)} ({show_share(low, 1)} to {show_share(high, 1)}); always the largest class: {show_share(float(shares.max()), 1)}",
        ),
        (
            "Log-loss",
            f"{loss:.4f} ± {error:.4f}; the class shares alone: {judged.share_log_loss:.4f}",
        ),
        ("Calibration error", show_share(judged.calibration_error(judged.proba), 1)),
    ]
    return facts(pairs)


def controls(judged: JudgedRows) -> Html:
    """Return menu, slider and costs, with the table that follows from them."""
    names, menu = judged.names, judged.menu()
    options = [
        element("option", names[at], value=at, selected=number == 0)
        for number, at in enumerate(menu)
    ]
    left_out = len(names) - len(menu)
    chosen = element(
        "label",
        element("span", "Class to find, against the rest"),
        element("select", options, id="class-menu"),
    )
    slider = element(
        "label",
        element("span", "Name a row from this probability on: ", element("output", "50 %", id="threshold-shown")),
        element("input", type="range", id="threshold", min=0, max=100, step=1, value=50),
    )
    costs = [
        element(
            "label",
            element("span", text),
            element("input", type="number", id=name, min=0, step="any", value=1, inputmode="decimal"),
        )
        for name, text in (("cost-miss", "Cost of a row missed"), ("cost-alarm", "Cost of a false alarm"))
    ]
    by_costs = element("button", "Set the threshold by the costs", type="button", id="by-costs")
    found, wrong = (float(side[50]) for side in judged.above(menu[0]))
    mine = float(judged.class_weights[menu[0]])
    others = judged.total - mine
    cells = {"found": found, "missed": mine - found, "alarm": wrong, "left": others - wrong}
    shown = {key: element("td", show_count(round(value, 1)), id=f"cell-{key}", class_="number") for key, value in cells.items()}
    table = element(
        "table",
        element("caption", "Rows by what they are and what they are named"),
        element(
            "thead",
            element("tr", element("td"), element("th", "named", scope="col"), element("th", "not named", scope="col")),
        ),
        element(
            "tbody",
            element("tr", element("th", names[menu[0]], scope="row", id="class-shown"), shown["found"], shown["missed"]),
            element("tr", element("th", "the rest", scope="row"), shown["alarm"], shown["left"]),
        ),
        class_="confusion",
        id="one-against-rest",
    )
    cost = element("p", id="expected-cost", aria_live="polite")
    rest = note(f"{left_out:,} smaller classes are not in the menu.") if left_out > 0 else None
    form = element("div", chosen, slider, element("div", costs, by_costs, class_="costs"), rest, class_="controls")
    return element("div", form, element("div", table, cost, class_="outcome"), class_="decide")


def class_table(judged: JudgedRows) -> Html:
    """Return recall and precision of each class when the most probable class is named."""
    table = judged.confusion()
    right, own, named = table.diagonal(), table.sum(axis=1), table.sum(axis=0)
    rows = []
    for at, name in enumerate(judged.names):
        recall = right[at] / own[at] if own[at] else float("nan")
        precision = right[at] / named[at] if named[at] else float("nan")
        rows.append(
            [
                name,
                number_cell(own[at], show_count(float(own[at]))),
                number_cell(own[at] / judged.total, show_share(own[at] / judged.total, 1)),
                number_cell(recall, show_share(recall, 1)),
                number_cell(precision, show_share(precision, 1)),
            ]
        )
    heads = ("class", "rows", "share", "found (recall)", "right if named (precision)")
    return sortable_table("Each class, if the most probable class is named", heads, rows)


def full_confusion(judged: JudgedRows) -> Html:
    """Return the table of all classes, or the pairs that are confused most often."""
    names, table = judged.names, judged.confusion()
    if len(names) > MAX_TABLE:
        off = table - np.diag(table.diagonal())
        order = np.argsort(-off, axis=None)[:MAX_PAIRS]
        pairs = [np.unravel_index(int(at), off.shape) for at in order if off.flat[at] > 0]
        rows = [
            [names[a], names[b], number_cell(float(off[a, b]), show_count(float(off[a, b]))), number_cell(float(off[a, b] / table[a].sum()), show_share(float(off[a, b] / table[a].sum()), 1))]
            for a, b in pairs
        ]
        heads = ("is", "is named", "rows", "share of the class")
        return sortable_table(f"The {len(rows)} pairs of classes that are confused most often", heads, rows)
    head = [element("th", name, scope="col") for name in names]
    body = []
    for at, name in enumerate(names):
        cells = [
            element("td", show_count(round(float(value), 1)), class_="number right" if at == to else "number", data_cell=f"{at},{to}")
            for to, value in enumerate(table[at])
        ]
        body.append(element("tr", element("th", name, scope="row"), cells))
    confusion = element(
        "table",
        element("caption", "Rows by their class (down) and by the class of least expected cost (across)"),
        element("thead", element("tr", element("td"), head)),
        element("tbody", body),
        class_="confusion",
        id="all-classes",
    )
    costs = []
    for at, name in enumerate(names):
        cells = [
            element("td", element("input", type="number", min=0, step="any", value=int(at != to), data_cost=f"{at},{to}", aria_label=f"cost of naming {name} as {other}"))
            for to, other in enumerate(names)
        ]
        costs.append(element("tr", element("th", name, scope="row"), cells))
    matrix = element(
        "table",
        element("caption", "Cost of naming a row of a class (down) as another (across)"),
        element("thead", element("tr", element("td"), head)),
        element("tbody", costs),
        class_="confusion costs",
    )
    label = "confusion table of all classes"
    editor = element("details", element("summary", "Cost matrix"), scrolled(matrix, "cost matrix"))
    return markup([scrolled(confusion, label), element("p", id="matrix-cost", aria_live="polite"), editor])


def _no_scores(contents: Contents) -> Html:
    name = type(contents.model).__name__
    return markup(
        [
            element("p", "The model keeps no held-out scores, so this page cannot say how good it is.", class_="headline"),
            note(
                f"This {name} was fitted without calibration, or comes from a file without held-out "
                "scores. Give labelled rows with the report (data=, target=), or fit with "
                'calibrate="folds".'
            ),
            sortable_table(
                "Classes",
                ("class", "rows learned"),
                [[one, number_cell(float(weight), show_count(float(weight)))] for one, weight in zip(contents.names, contents.class_weights, strict=True)],
            ),
        ]
    )


# Probabilities.


def calibration_section(judged: JudgedRows | None) -> Section | None:
    """Return calibration curves, before and after."""
    if judged is None:
        return None
    charts = [
        calibration_chart(judged, at, hidden=number > 0)
        for number, at in enumerate(judged.menu()[:MAX_CALIBRATIONS])
    ]
    after = judged.calibration_error(judged.proba)
    sentence = f"Probabilities are off by {show_share(after, 1)} on average"
    if judged.before is not None:
        sentence += f", against {show_share(judged.calibration_error(judged.before), 1)} before calibration"
    words = [
        element("p", sentence + "."),
        note(
            "Rows are cut into ten groups of equal weight by their probability. On the diagonal, of "
            "rows with a probability of 70 % seven in ten are of the class. Bands are 95 % intervals. "
            "The chart is of the class that is chosen above."
        ),
    ]
    return Section("calibration", "Can its probabilities be trusted?", markup([words, charts]))


def calibration_chart(judged: JudgedRows, at: int, *, hidden: bool) -> Html:
    """Return the calibration curve of one class."""
    marks = [(share, show_share(share)) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    name = judged.names[at]
    chart = Chart(Axis(0.0, 1.0, f"probability of {name[:30]}", marks), Axis(0.0, 1.0, "share that is", marks), height=300)
    chart.line([0, 1], [0, 1], "diagonal")
    legend = [(AFTER, "calibrated")]
    if judged.before is not None:
        bins = np.array(judged.calibration(at, judged.before))
        chart.line(bins[:, 0], bins[:, 1], BEFORE)
        legend.append((BEFORE, "before (naive Bayes)"))
    bins = np.array(judged.calibration(at, judged.proba))
    chart.band(bins[:, 0], bins[:, 2], bins[:, 3], AFTER)
    chart.line(bins[:, 0], bins[:, 1], AFTER)
    hints = [f"probability {mean:.3f}, share {share:.3f} ({low:.3f} to {high:.3f})" for mean, share, low, high in bins]
    chart.dots(bins[:, 0], bins[:, 1], AFTER, hints)
    inside = int(np.sum((bins[:, 2] <= bins[:, 0]) & (bins[:, 0] <= bins[:, 3])))
    title = f"{name}: {inside} of {len(bins)} groups have the diagonal in their band"
    return figure(title, chart.svg(title), legend=legend, data_class=at, hidden=hidden, class_="calibration")


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
        "Curves are posterior predictive distributions, p(column | class), computed from the tally and its prior."
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
        title = f"{first} matters most: without it the log-loss rises by {importance.log_loss_increase[measured[0]]:.3f}"
        chart = bar_chart(groups, f"{title}. Increase of the held-out log-loss without each {importance.kind}.", "increase of the log-loss, nats a row")
        parts.append(figure(title, chart, "Whiskers are two standard errors. Two columns that say the same hardly miss each other.", class_="wide"))
    rows = [
        [
            importance.names[at],
            number_cell(float(importance.log_loss_increase[at]), _signed(importance.log_loss_increase[at])),
            number_cell(float(importance.mutual_information[at]), f"{importance.mutual_information[at]:.4f}"),
            number_cell(float(importance.log_bayes_factor[at]), f"{importance.log_bayes_factor[at]:.1f}"),
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
                p = distributions.text_probabilities(posterior)
                terms = [str(term) for term in posterior.family.terms]
                parts.append(element("h3", f"Column {posterior.family.column}"))
                parts.append(_word_charts(p, terms, names, shown, "word"))
    elif isinstance(model, MultinomialNB | ComplementNB):
        p = np.exp(MultinomialNB.feature_log_prob_.fget(model)) if isinstance(model, MultinomialNB) else None  # type: ignore[attr-defined]
        if p is None:
            counts = model.feature_count_ + 1.0
            p = counts / counts.sum(axis=1, keepdims=True)
        parts.append(_word_charts(p, list(model._check_ready().columns.terms()), names, shown, "column"))
    if not parts:
        return None
    explanation = note(
        "Bars are log p(word | class) less that of the other classes: what one such word adds to the log-odds, "
        "before calibration."
    )
    return Section("words", "Words that separate the classes", markup([explanation, parts, distributions.note_on_classes(len(names), shown)]))


def _word_charts(p: Floats, terms: Any, names: list[str], shown: list[int], what: str) -> Html:
    charts = [
        distributions.word_chart(names, code, *distributions.separating_words(p, terms, code), what)
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
        distributions.ellipse_chart(one, contents.names, shown)
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
    every = distributions.missing_shares(contents.model)
    some = {name: shares for name, shares in every.items() if shares.max(initial=0.0) > 1e-9}
    rule = note(
        "A missing value is left out when the model learns, and marginalised when it predicts: nothing is imputed. "
        'With missing="informative", whether a value is missing is a column of its own.'
    )
    if not some:
        return Section("missing", "Missing values", markup([element("p", "No column that is counted by itself has missing values."), rule]))
    shown = distributions.largest_classes(contents.class_weights)
    chart = distributions.missing_chart(some, contents.names, shown)
    return Section("missing", "Missing values", markup([chart, rule]))


# Trying it.


def what_if_section(model: Any) -> Section:
    """Return the place of the form, which the page's script fills."""
    documents = isinstance(model, TextClassifier)
    words = (
        "Type a document."
        if documents
        else "Change a value and see what follows. An empty field is a missing value."
    )
    answer = element(
        "div",
        element("h3", "Answer", id="answer-title"),
        element("div", id="answer", aria_live="polite", aria_labelledby="answer-title"),
        element("h3", "Reasons"),
        element("div", id="reasons"),
        class_="answer",
    )
    form = element("form", id="what-if-form", autocomplete="off")
    content = [
        element("p", words),
        note("Computed here, in your browser, from the model itself. Nothing is sent anywhere."),
        element("p", id="what-if-note", class_="note"),
        element("div", form, answer, class_="what-if"),
        element("noscript", element("p", "The form needs JavaScript.")),
    ]
    return Section("what-if", "Try it", markup(content))


# How it was chosen.


def choice_section(model: Any) -> Section | None:
    """Return families with their evidence, blocks, weights and trials; or the settings alone."""
    if not isinstance(model, GenerativeClassifier):
        return Section("choices", "How it was made", settings_table(model))
    choices, combination = model.choices_, model.combination_
    weights = {name: weight for key, weight in model.weights_.items() for name in (key if isinstance(key, tuple) else (key,))}
    rows = []
    for name in choices:
        one = choices[name]
        tried = sorted(one.evidence.items(), key=lambda pair: -pair[1])
        best = tried[0][1] if tried else 0.0
        others = ", ".join(f"{family} {value - best:+.1f}" for family, value in tried[1:])
        weight = weights.get(name, float("nan"))
        rows.append([name, one.family, one.others or "–", one.why, others or "–", number_cell(weight, "–" if np.isnan(weight) else f"{weight:.2f}")])
    heads = ("column", "family", "joined with", "why", "evidence of others, nats", "weight")
    parts = [
        facts(
            [
                ("Structure", choices.when or "as given"),
                ("Blocks are combined by", combination.method),
                ("Held-out log-loss of the combination", f"{combination.held_out_log_loss:.4f}" if np.isfinite(combination.held_out_log_loss) else "–"),
                ("Noise rate", f"{combination.noise_rate:.4g}"),
                ("Log evidence", show_number(model.log_evidence_)),
                ("Free parameters", f"{model.n_parameters_:,}"),
            ]
        ),
        sortable_table("What was chosen for each column, and what else was tried", heads, rows),
        note(
            "Evidence is the log marginal likelihood of the column's cells given the classes, relative to the family chosen. "
            "A weight of 1 counts a block as naive Bayes does."
        ),
    ]
    if choices.trials:
        trials = choices.trials[:MAX_TRIALS]
        listed = [
            [one.what, number_cell(one.before, f"{one.before:.4f}"), number_cell(one.after, f"{one.after:.4f}"), "yes" if one.taken else "no"]
            for one in trials
        ]
        table = sortable_table(
            f"{len(trials)} of {len(choices.trials)} arrangements that were tried",
            ("columns joined", "log-loss before", "after", "taken"),
            listed,
        )
        parts.append(element("details", element("summary", "Columns that were tried together"), table))
    parts.append(element("details", element("summary", "Settings"), settings_table(model)))
    return Section("choices", "How it was chosen", markup(parts))


def settings_table(model: Any) -> Html:
    """Return the parameters of a model."""
    shown = {name: repr(value) for name, value in model.get_params(deep=False).items()}
    rows: Sequence[Sequence[Any]] = [
        [name, Cell(value if len(value) <= 200 else value[:199] + "…")] for name, value in shown.items()
    ]
    return sortable_table("Settings", ("parameter", "value"), rows)


def curve_section(curve: LearningCurve | None) -> Section | None:
    """Return the learning curve against logistic regression."""
    return None if curve is None else Section("learning", "Would more rows help?", curve.html())
