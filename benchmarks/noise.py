"""Tables whose columns say nothing of the label: how much worse than the class shares a fit is.

`python -m benchmarks.noise` prints, for each number of rows, the excess of the log-loss on new rows
over that of the shares (n_c + 1) / (n + C) of the training rows. Whatever is fitted on top of the
blocks (weights, residual coefficients, offsets, noise rate) must leave noise noise.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Cells = list[Any]
Floats = NDArray[np.float64]
SIZES = (30, 50, 100, 200, 500, 1000, 3000)
# New rows that a fit is judged on. The label is independent of them, so that the expected log-loss
# over all labels is known exactly.
NEW_ROWS = 1000
TABLES = 200
MISSING_SHARES = (0.0, 0.0, 0.1, 0.6)
WORDS = [f"{a}{b}{c}" for a in "bdfglmnprst" for b in "aeiou" for c in ("", "n", "r", "st")]


def _words(rng: np.random.Generator, rows: int, vocabulary: int, length: int) -> Cells:
    return [" ".join(rng.choice(WORDS[:vocabulary], rng.poisson(length) + 1)) for _ in range(rows)]


def _template(rng: np.random.Generator, rows: int) -> Cells:
    return [f"Payment received for invoice {v:06x}" for v in rng.integers(0, 1 << 24, rows)]


def _two_templates(rng: np.random.Generator, rows: int) -> Cells:
    forms = ("Your order {:x} was sent today", "We could not reach you about case {:x} at noon")
    return [forms[rng.integers(2)].format(v) for v in rng.integers(0, 1 << 20, rows)]


def _mixture(rng: np.random.Generator, rows: int) -> Cells:
    return list(rng.normal(size=rows) + 6.0 * rng.integers(0, 3, rows))


def _dates(rng: np.random.Generator, rows: int) -> Cells:
    return list(np.datetime64("2020-01-01") + rng.integers(0, 900, rows))


def _levels(rng: np.random.Generator, rows: int, levels: int) -> Cells:
    shares = rng.dirichlet(np.full(levels, 0.7))
    return [f"level {k}" for k in rng.choice(levels, rows, p=shares)]


Draw = Callable[[np.random.Generator, int], Cells]
# A kind of column, and the family that it is given by name, if "auto" would leave it out.
COLUMNS: dict[str, tuple[Draw, str | None]] = {
    "normal": (lambda rng, n: rng.normal(size=n).tolist(), None),
    "lognormal": (lambda rng, n: rng.lognormal(0, 1, n).tolist(), None),
    "mixture": (_mixture, None),
    "student": (lambda rng, n: rng.standard_t(2, n).tolist(), "student"),
    "events": (lambda rng, n: rng.poisson(3, n).tolist(), None),
    "yes or no": (lambda rng, n: (rng.random(n) < 0.3).tolist(), None),
    "few levels": (lambda rng, n: _levels(rng, n, 4), None),
    "many levels": (lambda rng, n: _levels(rng, n, 60), None),
    "one-row levels": (
        lambda rng, n: [f"{v:x}" for v in rng.integers(0, 1 << 40, n)],
        "categorical",
    ),
    "date": (_dates, None),
    "template": (_template, "text"),
    "two templates": (_two_templates, "text"),
    "short texts": (lambda rng, n: _words(rng, n, 40, 2), "text"),
    "long texts": (lambda rng, n: _words(rng, n, 200, 20), "text"),
    "presences": (lambda rng, n: _words(rng, n, 60, 5), "text:bernoulli"),
    "complements": (lambda rng, n: _words(rng, n, 60, 5), "text:complement"),
}


@dataclass(frozen=True)
class NoiseTable:
    """Rows to learn, new rows, and the probabilities of the classes whatever the row.

    Parameters
    ----------
    kinds : the kinds of the columns
    learn, new : lists of mappings from columns to cells
    labels : (n,) numbers of classes of the rows to learn
    shares : (C,)
    families : as GenerativeClassifier takes them
    """

    kinds: tuple[str, ...]
    learn: list[dict[str, Any]]
    new: list[dict[str, Any]]
    labels: NDArray[np.int64]
    shares: Floats
    families: dict[str, str]


def noise_table(seed: int, rows: int, new_rows: int = NEW_ROWS) -> NoiseTable:
    """Return a random table of one to six columns that are independent of the label."""
    rng = np.random.default_rng([seed, rows])
    classes = int(rng.choice([2, 2, 2, 3, 5]))
    shares = rng.dirichlet(np.full(classes, float(rng.choice([0.7, 3.0, 100.0]))))
    labels = rng.choice(classes, rows, p=shares)
    labels[:2] = 0, 1  # two classes at least
    columns: dict[str, Cells] = {}
    families: dict[str, str] = {}
    picked = rng.choice(list(COLUMNS), rng.integers(1, 7)).tolist()
    for at, kind in enumerate(picked):
        draw, family = COLUMNS[kind]
        cells = draw(rng, rows + new_rows)
        missing = rng.random(len(cells)) < rng.choice(MISSING_SHARES)
        name = f"{kind} {at}"
        columns[name] = [None if gone else cell for cell, gone in zip(cells, missing, strict=True)]
        if family is not None:
            families[name] = family
    table = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return NoiseTable(tuple(picked), table[:rows], table[rows:], labels, shares, families)


def excess_log_loss(table: NoiseTable, model: Any) -> float:
    """Return the expected log-loss of a model on new rows, less that of the training shares."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(table.learn, table.labels)
        found = model.predict_log_proba(table.new)
    known = model.classes_
    counts = np.bincount(table.labels, minlength=len(table.shares))[known]
    # Classes that no training row has are unknown to both.
    chances = table.shares[known] / table.shares[known].sum()
    baseline = np.log((counts + 1) / (counts.sum() + len(known)))
    return float(np.mean((baseline - found) @ chances))


def hunt(
    tables: int, sizes: tuple[int, ...], start: int = 0
) -> Iterator[tuple[int, NoiseTable, float, float]]:
    """Yield the number of rows, the table, the excess and the seconds of each fit."""
    from suffice import GenerativeClassifier

    for number in range(start, start + tables):
        rows = sizes[number % len(sizes)]
        table = noise_table(number, rows)
        begin = time.process_time()
        excess = excess_log_loss(table, GenerativeClassifier(table.families or "auto"))
        yield rows, table, excess, time.process_time() - begin


def main() -> None:
    """Print the excess by number of rows, and the worst tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    asked = parser.parse_args()
    found = list(hunt(asked.tables, tuple(asked.sizes), asked.start))
    for rows in asked.sizes:
        excess = np.array([e for n, _, e, _ in found if n == rows])
        if not len(excess):
            continue
        print(
            f"{rows:5d} rows, {len(excess):3d} tables: mean excess {excess.mean():+.4f} (at most "
            f"{1 / rows + 0.002:.4f}), largest {excess.max():+.4f}, above .05: "
            f"{(excess > 0.05).sum()}, above .1: {(excess > 0.1).sum()}"
        )
    print(f"{sum(s for *_, s in found):.1f} CPU seconds; the worst:")
    for rows, table, worst, _ in sorted(found, key=lambda one: -one[2])[:8]:
        print(
            f"  {worst:+.4f} {rows} rows, shares {table.shares.round(2)}, {', '.join(table.kinds)}"
        )


if __name__ == "__main__":
    main()
