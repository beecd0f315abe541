"""What the browser needs of each block of a table: its tally, its prior and its settings.

The families are those of `sql.terms`. There each is written out as an expression with its
logarithms taken; here the sums go out as they are, and the page makes the posterior and takes
logarithms (`model.js`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.errors import InputError
from suffice.families import Posterior
from suffice.families.columns.bin_tree import PSEUDO_COUNT
from suffice.families.columns.binned import BinnedPosterior
from suffice.families.columns.categorical import CategoricalPosterior
from suffice.families.columns.joint import JointPosterior
from suffice.families.columns.mvn import MultivariateNormalPosterior
from suffice.families.columns.normal import NormalPosterior
from suffice.families.columns.poisson import PoissonPosterior
from suffice.families.columns.student import StudentPosterior
from suffice.prior import NormalInverseGamma, NormalInverseWishart
from suffice.report.browser_text import browser_terms, by_information
from suffice.report.json_numbers import numbers
from suffice.tally import Moments
from suffice.tally.tally import Floats, Index
from suffice.text.family import TextPosterior
from suffice.text.vectorize.analyzer import WordAnalyzer

# Standard deviations to either side of the mean that a form offers.
RANGE_DEVIATIONS = 3.0
# Levels of a category that a page takes: 10,000 are about 100 kB of a page that may have 1 MB.
MAX_LEVELS = 10_000


def browser_block(posterior: Posterior[Any], texts: int = 1) -> dict[str, Any]:
    """Return a block: family, columns, tally, prior, and the settings that say how it is read.

    `texts` says how many texts share the room that a page has for them.
    """
    family = posterior.family
    found = {"family": family.name, "columns": list(family.columns)}
    if isinstance(posterior, NormalPosterior):
        return found | {
            "logarithm": family.of_logarithms,
            "tied": family.tied,
            "plug_in": posterior.plug_in,
            "tally": moments(posterior.tally),
            "prior": _normal_inverse_gamma(posterior.prior, len(posterior.tally.weight)),
        }
    if isinstance(posterior, StudentPosterior):
        prior = posterior.prior
        return found | {
            "plug_in": posterior.plug_in,
            "tally": moments(posterior.tally),
            "prior": {
                "location": prior.location,
                "variance": prior.variance,
                "pseudo_rows": prior.pseudo_rows,
                "shape": prior.shape,
                "degrees": prior.degrees,
            },
        }
    if isinstance(posterior, PoissonPosterior):
        size = len(posterior.tally.weight)
        prior_events, prior_rows = (
            np.broadcast_to(part, (size, 1))[:, 0]
            for part in (posterior.prior.shape, posterior.prior.rate)
        )
        return found | {
            "plug_in": posterior.plug_in,
            "tally": {
                "weight": numbers(posterior.tally.weight[:, 0]),
                "sum_x": numbers(posterior.tally.sum_x[:, 0]),
            },
            "prior": {"shape": numbers(prior_events), "rate": numbers(prior_rows)},
        }
    if isinstance(posterior, BinnedPosterior):
        tree = posterior.tables
        return found | {
            "edges": numbers(family.edges),
            "tally": {"counts": numbers(tree.counts)},
            "prior": {
                "pooled": numbers(tree.pooled),
                "pseudo_count": PSEUDO_COUNT,
                "sample_sizes": numbers(tree.prior_sample_sizes),
            },
        }
    if isinstance(posterior, CategoricalPosterior):
        tables = posterior.tables
        other, kept = tables.other, kept_levels(posterior)
        total = tables.counts.sum(axis=1) - tables.counts[:, kept].sum(axis=1)
        return found | {
            "levels": _levels(family.levels),
            "tally": {"counts": numbers(tables.counts[:, kept]), "left_out": numbers(total)},
            "prior": {
                "pseudocounts": numbers(np.asarray(tables.pseudocounts)[kept]),
                "other": None if other is None else float(other),
                "sample_size": float(tables.prior_sample_size),
            },
        }
    if isinstance(posterior, JointPosterior):
        return found | {
            "levels": [_levels(levels) for levels in family.levels],
            "seen": numbers(family.seen),
            "tally": {"counts": numbers(posterior.tables.counts)},
            "prior": {
                "shares": [numbers(share) for share in posterior.shares],
                "sample_size": float(posterior.tables.prior_sample_size),
            },
        }
    if isinstance(posterior, MultivariateNormalPosterior):
        return found | {
            "tied": family.tied,
            "plug_in": posterior.plug_in,
            "tally": moments(posterior.tally),
            "prior": normal_inverse_wishart(posterior.prior, posterior.tally, tied=family.tied),
        }
    if isinstance(posterior, TextPosterior):
        terms = list(family.terms.strings())
        return found | browser_terms(
            terms,
            posterior.tally.counts[:, 1:],
            posterior.tally.counts[:, 0],
            family.event,
            posterior.alpha,
            WordAnalyzer(),
            length_discount=family.length_discount,
            texts=texts,
        )
    name = family.columns[0]
    raise InputError(
        f"Column {name!r} has the family {family.name!r}, which a page cannot compute. Leave it "
        f"out: families={{{name!r}: 'ignore'}}."
    )


def kept_levels(posterior: CategoricalPosterior) -> Index:
    """Return the codes of the levels that a page has room for, increasing.

    All, or those of a category that have most mutual information with the class. The others count
    in the totals of the classes, and are unknown to the page.
    """
    counts = posterior.tables.counts
    if posterior.family.levels is not None or counts.shape[1] <= MAX_LEVELS:
        return np.arange(counts.shape[1])
    return np.sort(by_information(counts, counts.sum(axis=1))[:MAX_LEVELS])


def moments(tally: Moments) -> dict[str, Any]:
    """Return the sums of a tally of moments, about their origin."""
    squeeze = not tally.full and tally.weight.ndim == 2 and tally.weight.shape[1] == 1
    parts = (tally.weight, tally.origin, tally.sum_x, tally.sum_xx)
    names = ("weight", "origin", "sum_x", "sum_xx")
    return {
        name: numbers(part[:, 0] if squeeze else part)
        for name, part in zip(names, parts, strict=True)
    }


def _levels(levels: Any) -> list[float] | None:
    return None if levels is None else numbers(np.array(levels, np.float64))


def _normal_inverse_gamma(prior: NormalInverseGamma, classes: int) -> dict[str, Any]:
    """Return the prior of one column, an entry a class; one entry where all classes share it."""
    scales = 1 if prior.shared else classes
    return {
        "location": numbers(np.broadcast_to(prior.location, (classes, 1))[:, 0]),
        "pseudo_rows": numbers(np.broadcast_to(prior.pseudo_rows, (classes, 1))[:, 0]),
        "shape": numbers(np.broadcast_to(prior.shape, (scales, 1))[:, 0]),
        "scale": numbers(np.broadcast_to(prior.scale, (scales, 1))[:, 0]),
    }


def normal_inverse_wishart(
    prior: NormalInverseWishart, tally: Moments, *, tied: bool
) -> dict[str, Any]:
    """Return the prior of several columns, an entry a class; one matrix if all classes share it."""
    classes, d = tally.sum_x.shape
    matrices = 1 if tied else classes
    return {
        "location": numbers(np.broadcast_to(prior.location, (classes, d))),
        "pseudo_rows": numbers(np.broadcast_to(prior.pseudo_rows, (classes,))),
        "degrees": numbers(np.broadcast_to(prior.degrees, (matrices,))),
        "scale_matrix": numbers(np.broadcast_to(prior.scale_matrix, (matrices, d, d))),
    }


# What a form offers.


@dataclass(frozen=True)
class TypicalCells:
    """A value to begin with, and the range of most rows; None where the tally does not say.

    typical : float, or the code of a level
    low, high : float
    """

    typical: float | int | None = None
    low: float | None = None
    high: float | None = None


def typical_cells(posterior: Posterior[Any]) -> Mapping[str, TypicalCells]:
    """Return what the rows of each column of a block are like, as far as its tally says."""
    family = posterior.family
    if isinstance(posterior, NormalPosterior):
        found = of_moments(posterior.tally, logarithm=family.of_logarithms)
    elif isinstance(posterior, MultivariateNormalPosterior):
        found = of_moments(posterior.tally.diagonal())
    elif isinstance(posterior, StudentPosterior):
        edges, rows = family.edges, posterior.tally.weight.sum(axis=0)
        found = [_of_cells(edges, posterior.tally.pooled().mean(), rows)]
    elif isinstance(posterior, BinnedPosterior):
        bins = family.bins
        found = [_of_cells(bins.edges, bins.expected, posterior.tables.counts.sum(axis=0))]
    elif isinstance(posterior, PoissonPosterior):
        pooled = posterior.tally.pooled()
        rate = float(pooled.sum_x[0] / max(float(pooled.weight[0]), 1.0))
        top = np.ceil(rate + RANGE_DEVIATIONS * np.sqrt(rate)) + 1
        found = [TypicalCells(round(rate), 0.0, float(top))]
    elif isinstance(posterior, CategoricalPosterior):
        found = [_of_levels(posterior.tables.counts.sum(axis=0), family.levels)]
    elif isinstance(posterior, JointPosterior):
        pooled_counts = posterior.tables.counts.sum(axis=0)
        found = [
            _of_levels(
                np.asarray(np.bincount(family.seen[:, at], pooled_counts, size), np.float64), levels
            )
            for at, (size, levels) in enumerate(zip(family.sizes, family.levels, strict=True))
        ]
    else:
        found = [TypicalCells() for _ in family.columns]
    return dict(zip(family.columns, found, strict=True))


def of_moments(tally: Moments, *, logarithm: bool = False) -> list[TypicalCells]:
    """Return the mean of each column and three standard deviations to either side."""
    pooled = tally.pooled()
    found = []
    for at in range(len(pooled.origin)):
        if not pooled.weights[at] > 0:
            found.append(TypicalCells())
            continue
        mean = float(pooled.mean()[at])
        away = RANGE_DEVIATIONS * float(np.sqrt(np.ravel(pooled.variance())[at]))
        ends = mean, mean - away, mean + away
        found.append(TypicalCells(*(float(np.exp(x)) for x in ends) if logarithm else ends))
    return found


def _of_cells(edges: Floats, middle: Floats, rows: Floats) -> TypicalCells:
    """Return the middle cell by weight, and the cells at the ends that have rows."""
    held = np.flatnonzero(rows > 0)
    if not held.size:
        return TypicalCells()
    below = np.cumsum(rows)
    at = int(np.searchsorted(below, below[-1] / 2))
    return TypicalCells(float(middle[at]), float(middle[held[0]]), float(middle[held[-1]]))


def _of_levels(rows: Floats, levels: Any) -> TypicalCells:
    if not len(rows):
        return TypicalCells()
    best = int(np.argmax(rows))
    if levels is None:
        return TypicalCells(best)
    return TypicalCells(float(levels[best]), float(min(levels)), float(max(levels)))
