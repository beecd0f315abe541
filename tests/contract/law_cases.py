"""A case for every tally, prior and family of the library, for the laws of `suffice.testing`.

Cases of families are beside the tests of their package.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

import reference
import suffice
from families.family_cases import COLUMN_FAMILIES, DISTRIBUTIONS
from law_case import Case
from suffice.families import ClassConditional, Family
from suffice.gaussian import KnownCovariance, MultivariateNormal
from suffice.prior import (
    Beta,
    Dirichlet,
    Gamma,
    NormalInverseGamma,
    NormalInverseWishart,
    PointMasses,
    Prior,
)
from suffice.tally import Blocks, Counts, Events, Groups, Moments, Patterns, Quartics, Tally
from text.document_cases import DOCUMENT_DISTRIBUTIONS, TEXT_COLUMNS


def classes_of(parent: type) -> set[type]:
    """Return every class of the library that inherits from another, abstract ones aside."""
    found = set()
    for module in pkgutil.walk_packages(suffice.__path__, "suffice."):
        if module.name.endswith("__main__"):
            continue
        for _, value in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(value, parent) and value is not parent and not inspect.isabstract(value):
                found.add(value)
    return found


# ---- tallies: how rows are tallied, and some rows

LABELS = np.array(["ham", "other", "spam"])


def whole(rng: np.random.Generator, shape: Any) -> np.ndarray:
    return rng.integers(0, 9, shape).astype(np.float64)


def measured(rng: np.random.Generator, shape: Any) -> np.ndarray:
    return rng.normal(1e3, 1.0, shape)


def with_missing(values: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda rng, shape: np.where(rng.random(shape) < 0.25, np.nan, values(rng, shape))


PARTS = [([0], reference.events), ([0, 1], reference.moments), ([1], reference.full_moments)]
TALLIES: dict[str, tuple[type, Any, Any]] = {
    "levels": (Counts, partial(reference.counts, levels=9), with_missing(whole)),
    "words": (Counts, reference.word_counts, whole),
    "events": (Events, reference.events, with_missing(whole)),
    "moments": (Moments, reference.moments, with_missing(measured)),
    "full moments": (Moments, reference.full_moments, measured),
    "patterns": (Patterns, reference.patterns, with_missing(measured)),
    "quartics": (Quartics, reference.quartics, measured),
    "blocks": (Blocks, partial(reference.blocks, parts=PARTS), whole),
}


def by_label(build: Any, *, named: bool) -> Any:
    """Return a function that tallies rows with a label in their last column, class by class."""

    def make(table: np.ndarray, weights: np.ndarray) -> Tally:
        labels = LABELS[table[:, -1].astype(int)]
        classes = None if named else LABELS
        groups = reference.by_class(build, table[:, :-1], labels, weights, classes)
        return groups if named else groups.parts

    return make


def tally_cases() -> dict[str, Case]:
    found = {}
    for name, (kind, build, values) in TALLIES.items():

        def plain(rng: np.random.Generator, size: int, values: Any = values) -> np.ndarray:
            return values(rng, (size, 2))

        def labelled(rng: np.random.Generator, size: int, values: Any = values) -> np.ndarray:
            return np.column_stack([values(rng, (size, 2)), rng.integers(0, 3, size)])

        found[name] = Case(kind, (build, plain))
        together = by_label(build, named=False)
        found[f"{name} of classes"] = Case(kind, (together, labelled), {"classes": 3})
        found[f"groups of {name}"] = Case(Groups, (by_label(build, named=True), labelled))
    return found


# ---- priors: some of each, with the likelihood by scipy


def bernoulli(theta: Any, x: Any) -> Any:
    return stats.bernoulli.logpmf(x, theta)


def normal(parameter: Any, x: Any) -> Any:
    return stats.norm.logpdf(x, parameter[0], np.sqrt(parameter[1]))


def multivariate_normal(parameter: Any, x: Any) -> Any:
    root = np.linalg.inv(np.linalg.cholesky(parameter[1]))
    white = np.einsum("...jk,...k->...j", root, x - parameter[0])
    return stats.norm.logpdf(white).sum(axis=-1) + np.log(np.linalg.det(root))


ROWS_COVARIANCE = np.array([[1.0, 0.3], [0.3, 2.0]])
NEGATIVE = {"pseudo_rows": -1.0}, {"pseudo_rows": 0.0}
PRIORS: dict[str, Case] = {
    "beta": Case(Beta, (Beta(1.5, 2.5), bernoulli), {"improper": [{"successes": 0.0}]}),
    "beta with a pole": Case(Beta, (Beta(0.7, 2.5), bernoulli), {"improper": [{"failures": -1}]}),
    "point masses": Case(PointMasses, (PointMasses([0.2, 0.5, 0.9], [1, 2, 1]), bernoulli)),
    "certain points": Case(
        PointMasses,
        (PointMasses([0.0, 0.3, 1.0], [1, 2, 1]), bernoulli),
        {"improper": [{"points": [0.0, 0.3, 2.0]}, {"weights": [1, -2, 1]}]},
    ),
    "dirichlet": Case(
        Dirichlet,
        (Dirichlet([0.8, 2.0, 3.5]), lambda theta, x: stats.multinomial.logpmf(x, 1, theta)),
        {"improper": [{"concentration": [1.0, 0.0, 1.0]}]},
    ),
    "gamma": Case(
        Gamma,
        (Gamma(2.0, 0.5), lambda rate, x: stats.poisson.logpmf(x, rate)),
        {"improper": [{"shape": 0.0}, {"rate": -1.0}]},
    ),
    "gamma with a pole": Case(Gamma, (Gamma(0.6, 2.0),)),
    "normal-inverse-gamma": Case(
        NormalInverseGamma,
        (NormalInverseGamma(0.5, 0.7, 1.5, 2.0), normal),
        {"improper": [*NEGATIVE, {"shape": 0.0}, {"scale": -1.0}]},
    ),
    "normal-inverse-Wishart": Case(
        NormalInverseWishart,
        (
            NormalInverseWishart([0.5, -1.0], 0.7, 5.0, [[2.0, 0.6], [0.6, 1.0]]),
            multivariate_normal,
        ),
        {"improper": [*NEGATIVE, {"degrees": 1.0}, {"scale_matrix": [[1.0, 2.0], [2.0, 1.0]]}]},
    ),
    "known variance": Case(
        KnownCovariance,
        (
            KnownCovariance(MultivariateNormal.from_diagonal([0.5], [2.0]), 1.5),
            lambda mean, x: stats.norm.logpdf(x, mean, np.sqrt(1.5)),
        ),
        {"improper": [{"covariance": -1.0}]},
    ),
    "known covariance": Case(
        KnownCovariance,
        (
            KnownCovariance(
                MultivariateNormal.from_diagonal([0.5, 1.0], [2.0, 1.0]), ROWS_COVARIANCE
            ),
            lambda mean, x: multivariate_normal((mean, ROWS_COVARIANCE), x),
        ),
        {"improper": [{"covariance": [[1.0, 2.0], [2.0, 1.0]]}]},
    ),
}

# ---- families

ROW_FAMILIES = {**DISTRIBUTIONS, **DOCUMENT_DISTRIBUTIONS}
TABLE_FAMILIES = {**COLUMN_FAMILIES, **TEXT_COLUMNS}
EVERY = {
    Tally: tally_cases(),
    Prior: PRIORS,
    ClassConditional: ROW_FAMILIES,
    Family: TABLE_FAMILIES,
}
