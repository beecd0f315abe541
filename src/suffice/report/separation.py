"""Words, joined numbers and missing values: how else the classes differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.report.charts import Axis, Bar, Chart, bar_chart, ellipse_points, figure, shorten
from suffice.report.columns import MAX_CHARTS, class_legend
from suffice.report.html import Html
from suffice.report.numbers import show_share
from suffice.table import GenerativeClassifier
from suffice.table.rows import MISSING_SUFFIX
from suffice.tally import Blocks, Counts
from suffice.tally.tally import Floats

# Words of a class that are drawn.
MAX_WORDS = 12
# Mahalanobis distance within which half of a normal distribution of two columns is, and 90 %.
HALF, NINE_TENTHS = 1.1774, 2.1460

# Words.


def word_chart(names: list[str], code: int, words: list[str], ratios: Floats, what: str) -> Html:
    """Return the words that speak most for a class, and by how much."""
    bars = [
        (word, [Bar(float(ratio), f"{ratio:+.2f}", "c0" if ratio >= 0 else "c1")])
        for word, ratio in zip(words, ratios, strict=True)
    ]
    shown = shorten(names[code], 30)
    title = (
        f"{shorten(words[0], 24)} speaks most for {shown}"
        if words
        else f"No {what} speaks for {shown}"
    )
    chart = bar_chart(
        bars, f"{title}. Log-odds that one such {what} adds for {shown}.", "log-odds added"
    )
    return figure(title, chart)


def separating_words(p: Floats, terms: Any, code: int) -> tuple[list[str], Floats]:
    """Return the words most informative of a class against the others, with their log ratios.

    Parameters
    ----------
    p : (C, terms)
        Probability of each word in each class.
    terms : the words
    code : number of the class
    """
    others = np.delete(p, code, axis=0).mean(axis=0) if len(p) > 1 else p[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(p[code]) - np.log(others)
        gain = np.where(np.isfinite(ratio), p[code] * ratio, -np.inf)
    best = np.argsort(-gain, kind="stable")[:MAX_WORDS]
    best = best[gain[best] > 0]
    best = best[np.argsort(-ratio[best], kind="stable")]
    return [str(terms[at]) for at in best], ratio[best]


def text_probabilities(posterior: Any) -> Floats:
    """Return p(term | class), (C, V), of a text column; of Bernoulli events, that it is there."""
    documents, counts = posterior.tally.counts[:, :1], posterior.tally.counts[:, 1:]
    if posterior.family.event == "bernoulli":
        return np.asarray((counts + posterior.alpha) / (documents + 2 * posterior.alpha))
    smoothed = counts + posterior.alpha
    return np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))


# Joined numbers.


def ellipse_chart(posterior: Any, names: list[str], classes: list[int]) -> Html:
    """Return the ellipses of two joined columns: where half, and nine tenths, of a class lie.

    Of more columns, those two that are most correlated within the classes.
    """
    means, matrices = joined_moments(posterior)
    scale = np.sqrt(np.einsum("kii->ki", matrices))
    correlation = (matrices / (scale[:, :, None] * scale[:, None, :])).mean(axis=0)
    np.fill_diagonal(correlation, 0.0)
    pair = sorted(np.unravel_index(int(np.abs(correlation).argmax()), correlation.shape))
    first, second = (posterior.family.columns[at] for at in pair)
    outlines = []
    for code in classes:
        matrix = matrices[min(code, len(matrices) - 1)][np.ix_(pair, pair)]
        centre = means[code][pair]
        outlines.append([ellipse_points(centre, matrix, away) for away in (HALF, NINE_TENTHS)])
    every = np.concatenate([np.array(one) for both in outlines for one in both], axis=1)
    pad = 0.03 * (every.max(axis=1) - every.min(axis=1))
    low, high = every.min(axis=1) - pad, every.max(axis=1) + pad
    found = Chart(
        Axis(float(low[0]), float(high[0]), first),
        Axis(float(low[1]), float(high[1]), second),
        height=280,
    )
    for number, both in enumerate(outlines):
        for outline in both:
            found.line(*outline, f"c{number}")
        found.dots(
            means[classes[number]][pair[0]][None],
            means[classes[number]][pair[1]][None],
            f"c{number}",
        )
    strength = float(correlation[pair[0], pair[1]])
    rise = "rise together" if strength > 0 else "move against each other"
    title = f"{first} and {second} {rise} within the classes (correlation {strength:+.2f})"
    joined = ", ".join(posterior.family.columns)
    note = f"Half and nine tenths of each class lie within its ellipses. Joined columns: {joined}."
    return figure(title, found.svg(title), note, legend=class_legend(names, classes))


def joined_moments(posterior: Any) -> tuple[Floats, Floats]:
    """Return means (C, d) and covariances (C or 1, d, d) of the predictive distribution."""
    found = posterior.features.distribution
    degrees = np.asarray(found.degrees, np.float64)
    matrix = np.asarray(found.matrix, np.float64)
    if degrees.size:
        grow = np.where(degrees > 2, degrees / np.maximum(degrees - 2, 1e-9), 1.0)
        if found.scale_factor is not None:
            grow = grow * found.scale_factor
        matrix = matrix * np.broadcast_to(grow, (len(found.location),))[:, None, None]
    return np.asarray(found.location), matrix


# Missing values.


def missing_shares(model: GenerativeClassifier) -> dict[str, Floats]:
    """Return the share of missing cells of each column in each class, (C,), from the tally.

    Levels that are counted together are learned only of rows that have all of them: "a or b" is
    the share of rows where one is missing. Normals that are counted together have no such count.
    """
    fitted = model._check_ready()
    totals = fitted.tally.weights
    found: dict[str, Floats] = {}
    for block, part in zip(fitted.counter.blocks, fitted.tally.parts.parts, strict=True):
        if len(block.columns) != 1 and not isinstance(part, Counts):
            continue
        text = hasattr(block, "event")
        seen = part.counts[:, 0] if text else _seen_weight(part, len(totals))
        if seen is not None:
            found[" or ".join(block.columns)] = np.clip(
                1 - seen / np.maximum(totals, 1e-300), 0.0, 1.0
            )
    for name in fitted.counter.missing_columns:
        found.pop(name + MISSING_SUFFIX, None)
    return found


def _seen_weight(part: Any, classes: int) -> Floats | None:
    """Return the weight of the cells that a tally of one column has, (C,)."""
    if isinstance(part, Blocks):  # bins, and distances in their tails
        part = part.parts[0]
    for name in ("weight", "counts"):
        values = getattr(part, name, None)
        if values is not None:
            return np.asarray(np.asarray(values, np.float64).reshape(classes, -1).sum(axis=1))
    return None


def missing_chart(shares: dict[str, Floats], names: list[str], classes: list[int]) -> Html:
    """Return the shares of missing cells, the column with the largest first."""
    order = sorted(shares, key=lambda name: -float(shares[name][classes].max()))[:MAX_CHARTS]
    groups = [
        (
            name,
            [
                Bar(
                    float(shares[name][code]),
                    show_share(float(shares[name][code]), 1),
                    f"c{number}",
                )
                for number, code in enumerate(classes)
            ],
        )
        for name in order
    ]
    first = order[0]
    by_class = shares[first][classes]
    most = shorten(names[classes[int(by_class.argmax())]], 24)
    title = f"{first} is missing most often: {show_share(float(by_class.max()), 1)} of {most}"
    chart = bar_chart(
        groups, f"{title}. Share of missing cells by column and class.", "share of missing cells"
    )
    return figure(title, chart, legend=class_legend(names, classes), class_="wide")
