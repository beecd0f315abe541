"""How good a classifier is: headline, threshold and costs, confusion, calibration."""

from __future__ import annotations

import numpy as np

from suffice.report.charts import Axis, Chart, figure
from suffice.report.held_out import MAX_TABLE, JudgedRows
from suffice.report.html import Html, element, markup
from suffice.report.numbers import show_count, show_share, wilson
from suffice.report.section import Section, facts, note, number_cell, scrolled, sortable_table
from suffice.tally.tally import Floats

# Classes whose calibration is drawn, and pairs of classes that are listed.
MAX_CALIBRATIONS, MAX_PAIRS = 12, 20
BEFORE, AFTER = "c1", "c0"
TITLE = "How good it is"


def quality_section(judged: JudgedRows, beside: JudgedRows | None = None) -> Section:
    """Return the headline, the slider, the confusion table and the figures of each class."""
    begin = judged.menu()[0]
    headline = element(
        "p", headline_sentence(judged, begin), id="headline", class_="headline", aria_live="polite"
    )
    fairness = note(f"Judged on {judged.what}. {judged.fairness}")
    parts = [headline, quality_facts(judged), fairness, controls(judged), class_table(judged)]
    if len(judged.classes) > 2:
        parts.append(full_confusion(judged))
    if beside is not None:
        heading = element("h3", f"By comparison, on {beside.what}")
        parts += [heading, quality_facts(beside), note(beside.fairness)]
    return Section("quality", TITLE, markup(parts))


def headline_sentence(judged: JudgedRows, at: int, threshold: int = 50) -> Html:
    """Return what share of a class is found, and how many of those that are named are of it."""
    found, wrong = (float(side[threshold]) for side in judged.above(at))
    total, scale = float(judged.class_weights[at]), judged.rows_a_weight
    name = element("strong", judged.names[at], class_="class")
    recall = element("strong", show_share(found / total if total else float("nan")))
    if not found + wrong:
        return markup(["Names no row as ", name, " at this threshold."])
    hits = element("strong", f"{100 * found / (found + wrong):.0f}")
    low, high = wilson(found * scale, total * scale)
    below, above = wilson(found * scale, (found + wrong) * scale)
    ranges = element(
        "span",
        f" (95 % intervals: {100 * low:.0f} to {100 * high:.0f} % found, {100 * below:.0f} to "
        f"{100 * above:.0f} of 100 right)",
        class_="interval",
    )
    return markup(
        ["Finds ", recall, " of ", name, "; of 100 rows it names, ", hits, " are.", ranges]
    )


def quality_facts(judged: JudgedRows) -> Html:
    """Return accuracy, log-loss and calibration error, each with what it is compared with."""
    accuracy, low, high = judged.accuracy
    loss, error = judged.log_loss
    shares = judged.class_weights / judged.total
    pairs = [
        (
            "Accuracy",
            f"{show_share(accuracy, 1)} ({show_share(low, 1)} to {show_share(high, 1)}); always "
            f"the largest class: {show_share(float(shares.max()), 1)}",
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
        element(
            "span",
            "Name a row from this probability on: ",
            element("output", "50 %", id="threshold-shown"),
        ),
        element("input", type="range", id="threshold", min=0, max=100, step=1, value=50),
    )
    costs = [
        element(
            "label",
            element("span", text),
            element(
                "input", type="number", id=name, min=0, step="any", value=1, inputmode="decimal"
            ),
        )
        for name, text in (
            ("cost-miss", "Cost of a row missed"),
            ("cost-alarm", "Cost of a false alarm"),
        )
    ]
    by_costs = element("button", "Set the threshold by the costs", type="button", id="by-costs")
    found, wrong = (float(side[50]) for side in judged.above(menu[0]))
    mine = float(judged.class_weights[menu[0]])
    others = judged.total - mine
    cells = {"found": found, "missed": mine - found, "alarm": wrong, "left": others - wrong}
    shown = {
        key: element("td", show_count(round(value, 1)), id=f"cell-{key}", class_="number")
        for key, value in cells.items()
    }
    table = element(
        "table",
        element("caption", "Rows by what they are and what they are named"),
        element(
            "thead",
            element(
                "tr",
                element("td"),
                element("th", "named", scope="col"),
                element("th", "not named", scope="col"),
            ),
        ),
        element(
            "tbody",
            element(
                "tr",
                element("th", names[menu[0]], scope="row", id="class-shown"),
                shown["found"],
                shown["missed"],
            ),
            element("tr", element("th", "the rest", scope="row"), shown["alarm"], shown["left"]),
        ),
        class_="confusion",
        id="one-against-rest",
    )
    cost = element("p", id="expected-cost", aria_live="polite")
    rest = note(f"{left_out:,} smaller classes are not in the menu.") if left_out > 0 else None
    form = element(
        "div",
        chosen,
        slider,
        element("div", costs, by_costs, class_="costs"),
        rest,
        class_="controls",
    )
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
            [
                names[a],
                names[b],
                number_cell(float(off[a, b]), show_count(float(off[a, b]))),
                number_cell(
                    float(off[a, b] / table[a].sum()),
                    show_share(float(off[a, b] / table[a].sum()), 1),
                ),
            ]
            for a, b in pairs
        ]
        heads = ("is", "is named", "rows", "share of the class")
        return sortable_table(
            f"The {len(rows)} pairs of classes that are confused most often", heads, rows
        )
    head = [element("th", name, scope="col") for name in names]
    body = []
    for at, name in enumerate(names):
        cells = [
            element(
                "td",
                show_count(round(float(value), 1)),
                class_="number right" if at == to else "number",
                data_cell=f"{at},{to}",
            )
            for to, value in enumerate(table[at])
        ]
        body.append(element("tr", element("th", name, scope="row"), cells))
    confusion = element(
        "table",
        element(
            "caption", "Rows by their class (down) and by the class of least expected cost (across)"
        ),
        element("thead", element("tr", element("td"), head)),
        element("tbody", body),
        class_="confusion",
        id="all-classes",
    )
    costs = []
    for at, name in enumerate(names):
        cells = [
            element(
                "td",
                element(
                    "input",
                    type="number",
                    min=0,
                    step="any",
                    value=int(at != to),
                    data_cost=f"{at},{to}",
                    aria_label=f"cost of naming {name} as {other}",
                ),
            )
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
    return markup(
        [scrolled(confusion, label), element("p", id="matrix-cost", aria_live="polite"), editor]
    )


def no_quality_section(name: str, classes: list[str], weights: Floats) -> Section:
    """Say that the model keeps nothing that it could be judged by."""
    rows = [
        [one, number_cell(float(weight), show_count(float(weight)))]
        for one, weight in zip(classes, weights, strict=True)
    ]
    fact = "The model keeps no held-out scores, so this page cannot say how good it is."
    cure = (
        f"This {name} was fitted without calibration, or comes from a file without held-out "
        "scores. Give labelled rows with the report (data=, target=), or fit with "
        'calibrate="folds".'
    )
    table = sortable_table("Classes", ("class", "rows learned"), rows)
    parts = [element("p", fact, class_="headline"), note(cure), table]
    return Section("quality", TITLE, markup(parts))


# Probabilities.


def calibration_section(judged: JudgedRows) -> Section:
    """Return calibration curves, before and after."""
    charts = [
        calibration_chart(judged, at, hidden=number > 0)
        for number, at in enumerate(judged.menu()[:MAX_CALIBRATIONS])
    ]
    after = judged.calibration_error(judged.proba)
    sentence = f"Probabilities are off by {show_share(after, 1)} on average"
    if judged.before is not None:
        sentence += (
            f", against {show_share(judged.calibration_error(judged.before), 1)} before calibration"
        )
    words = [
        element("p", sentence + "."),
        note(
            "Rows are cut into ten groups of equal weight by their probability. On the diagonal, "
            "of "
            "rows with a probability of 70 % seven in ten are of the class. Bands are 95 % "
            "intervals. "
            "The chart is of the class that is chosen above."
        ),
    ]
    return Section("calibration", "Can its probabilities be trusted?", markup([words, charts]))


def calibration_chart(judged: JudgedRows, at: int, *, hidden: bool) -> Html:
    """Return the calibration curve of one class."""
    marks = [(share, show_share(share)) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    name = judged.names[at]
    chart = Chart(
        Axis(0.0, 1.0, f"probability of {name[:30]}", marks),
        Axis(0.0, 1.0, "share that is", marks),
        height=300,
    )
    chart.line([0, 1], [0, 1], "diagonal")
    legend = [(AFTER, "calibrated")]
    if judged.before is not None:
        bins = np.array(judged.calibration(at, judged.before))
        chart.line(bins[:, 0], bins[:, 1], BEFORE)
        legend.append((BEFORE, "before (naive Bayes)"))
    bins = np.array(judged.calibration(at, judged.proba))
    chart.band(bins[:, 0], bins[:, 2], bins[:, 3], AFTER)
    chart.line(bins[:, 0], bins[:, 1], AFTER)
    hints = [
        f"probability {mean:.3f}, share {share:.3f} ({low:.3f} to {high:.3f})"
        for mean, share, low, high in bins
    ]
    chart.dots(bins[:, 0], bins[:, 1], AFTER, hints)
    inside = int(np.sum((bins[:, 2] <= bins[:, 0]) & (bins[:, 0] <= bins[:, 3])))
    title = f"{name}: {inside} of {len(bins)} groups have the diagonal in their band"
    return figure(
        title, chart.svg(title), legend=legend, data_class=at, hidden=hidden, class_="calibration"
    )
