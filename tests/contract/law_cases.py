"""A case for every tally, prior and family of the library, for the laws of `suffice.testing`."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import stats
from scipy.special import gammaln

import reference
import suffice
from block_cases import BLOCKS, rows
from suffice.count.counters import (
    CountEvents,
    CountFourthMoments,
    CountLevels,
    CountMoments,
    CountOnes,
    CountRowMoments,
    CountWords,
)
from suffice.data.table import Table
from suffice.families import Family, family_of
from suffice.families.bernoulli import IndependentBernoullis
from suffice.families.categorical import IndependentCategories
from suffice.families.class_conditional import ClassConditional
from suffice.families.dense_normal import DenseNormals, DenseSettings
from suffice.families.linear_discriminant import LinearDiscriminant, LinearSettings
from suffice.families.multinomial import Complements, Multinomials
from suffice.families.normal import IndependentNormals, NormalSettings
from suffice.families.poisson import IndependentPoissons
from suffice.families.quadratic_discriminant import QuadraticDiscriminant, QuadraticSettings
from suffice.families.smoothing import Smoothing
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
from suffice.text.classify.document_model import DocumentModel
from suffice.text.classify.term_counter import TermCounter
from suffice.text.family import Text
from suffice.text.vectorize.analyzer import WordAnalyzer
from suffice.text.vectorize.vocabulary import Vocabulary


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


@dataclass(frozen=True)
class Case:
    """What is checked, the class that the case is for, and how the check is called."""

    kind: type
    arguments: tuple[Any, ...]
    settings: dict[str, Any] = field(default_factory=dict)


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

# ---- distributions of rows: how they are fitted to a tally, rows, and how these are counted

SIZE = 60
OWN = np.arange(SIZE) % 2
INTEGRATED = ("mean", "predictive")  # of a single event the posterior mean is the predictive


def numbers(columns: int = 2) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(SIZE, columns)) + 0.5 * rng.normal(size=(SIZE, 1)) + OWN[:, None]


def bits() -> np.ndarray:
    chance = 0.3 + 0.3 * OWN[:, None]
    return (np.random.default_rng(1).random((SIZE, 3)) < chance).astype(np.float64)


def levels() -> np.ndarray:
    rng = np.random.default_rng(2)
    drawn = rng.integers(0, 3, (SIZE, 2))
    drawn[:, 0] = np.where(rng.random(SIZE) < 0.5, OWN, drawn[:, 0])
    return drawn.astype(np.float64)


def events() -> np.ndarray:
    return np.random.default_rng(3).poisson(2 + 2 * OWN[:, None], (SIZE, 2)).astype(np.float64)


def words() -> np.ndarray:
    """Return rows of equally many words: scores do not depend on the number of words."""
    rng = np.random.default_rng(4)
    shares = np.array([[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]])
    return np.stack([rng.multinomial(6, shares[own]) for own in OWN]).astype(np.float64)


def documents() -> list[str]:
    rng = np.random.default_rng(5)
    terms, shares = ["late", "rude", "kind", "quick"], np.array([0.1, 0.2, 0.3, 0.4])
    return [" ".join(rng.choice(terms, 6, p=shares[:: 1 - 2 * own])) for own in OWN.tolist()]


def log_factorials(X: Any) -> np.ndarray:
    return -np.nansum(gammaln(X + 1), axis=1)


def log_orders(X: Any) -> np.ndarray:
    return gammaln(X.sum(axis=1) + 1) - gammaln(X + 1).sum(axis=1)


NIG = NormalInverseGamma(0.0, 1.0, 2.0, 1.0)
NIW = NormalInverseWishart([0.0, 0.0], 1.0, 4.0, np.eye(2))


def of_rows(kind: type, fit: Any, X: Any, counter: Any, **settings: Any) -> Case:
    return Case(kind, (fit, X, OWN), {"count": counter.count, **settings})


def normal_cases() -> dict[str, Case]:
    found = {}
    shares: list[tuple[int, ...]] = [(), (0,), (1,), (0, 1)]
    for estimate, shared in product(("mle", "map", "mean", "predictive"), shares):
        for prior in (None,) if estimate == "mle" else (None, NIG):
            settings = NormalSettings(estimate, shared)
            name = f"normals, {estimate}, shared {shared}, {'given' if prior else 'evidence'}"
            found[name] = of_rows(
                IndependentNormals,
                partial(IndependentNormals.fit, settings=settings, prior=prior),
                numbers(),
                CountMoments(),
                evidence=estimate == "predictive",
            )
    for estimate, covariance in product(("mle", "map", "predictive"), ("tied", "full")):
        for prior in (None,) if estimate == "mle" else (None, NIW):
            dense = DenseSettings(covariance, estimate)
            name = f"dense, {estimate}, {covariance}, {'given' if prior else 'evidence'}"
            found[name] = of_rows(
                DenseNormals,
                partial(DenseNormals.fit, settings=dense, prior=prior),
                numbers(),
                CountRowMoments(),
                evidence=estimate == "predictive",
            )
    low_rank = DenseSettings("low_rank", "map", rank=1, max_iter=2000, tol=1e-5)
    found["dense, low rank"] = of_rows(
        DenseNormals,
        partial(DenseNormals.fit, settings=low_rank),
        numbers(3),
        CountRowMoments(),
        evidence=False,
        size=16,
    )
    shrunk = DenseSettings("tied", "mle", shrinkage="auto")
    found["dense, shrunk"] = of_rows(
        DenseNormals,
        partial(DenseNormals.fit, settings=shrunk),
        numbers(),
        CountFourthMoments(),
        evidence=False,
    )
    return found


def discriminant_cases() -> dict[str, Case]:
    found = {}

    def with_shares(settings: LinearSettings) -> Any:
        return lambda tally: LinearDiscriminant.fit(
            tally, settings, tally.weights / tally.weights.sum()
        )

    for solver, shrinkage in (("svd", None), ("lsqr", None), ("lsqr", 0.2), ("eigen", 0.2)):
        linear = LinearSettings(solver, shrinkage)
        given = partial(
            LinearDiscriminant.fit,
            settings=linear,
            class_prob=np.array([0.4, 0.6]),
            prob_given=True,
        )
        for name, fit, held in (("given", given, True), ("shares", with_shares(linear), False)):
            found[f"linear, {solver}, {shrinkage}, {name}"] = of_rows(
                LinearDiscriminant, fit, numbers(), CountRowMoments(), evidence=False, held=held
            )
    for settings in (
        QuadraticSettings("svd"),
        QuadraticSettings("svd", reg_param=0.1),
        QuadraticSettings("eigen", 0.2),
    ):
        name = f"quadratic, {settings.solver}, {settings.shrinkage}, {settings.reg_param}"
        fit = partial(QuadraticDiscriminant.fit, settings=settings)
        found[name] = of_rows(
            QuadraticDiscriminant, fit, numbers(), CountRowMoments(), evidence=False
        )
    return found


def count_cases() -> dict[str, Case]:
    found = {}
    for estimate in ("mle", "map", "mean", "predictive"):
        smoothing = Smoothing(2.0, estimate)
        single, integrated = estimate in INTEGRATED, estimate == "predictive"
        found[f"bernoullis, {estimate}"] = of_rows(
            IndependentBernoullis,
            partial(IndependentBernoullis, smoothing=smoothing, binarize=0.0),
            bits(),
            CountOnes(0.0),
            support=[0, 1],
            evidence=single,
        )
        found[f"categories, {estimate}"] = of_rows(
            IndependentCategories,
            partial(IndependentCategories, smoothing=smoothing, min_levels=np.array([3, 3])),
            levels(),
            CountLevels(),
            support=[0, 1, 2],
            evidence=single,
        )
        found[f"poissons, {estimate}"] = of_rows(
            IndependentPoissons,
            partial(IndependentPoissons, smoothing=smoothing, pseudo_rows=1.0),
            events(),
            CountEvents(),
            support=np.arange(300.0),
            base=log_factorials,
            evidence=integrated,
        )
        found[f"multinomials, {estimate}"] = of_rows(
            Multinomials,
            partial(Multinomials, smoothing=smoothing),
            words(),
            CountWords(),
            base=log_orders,
            missing=False,
            evidence=integrated,
        )
        if not integrated:
            found[f"complements, {estimate}"] = of_rows(
                Complements,
                partial(Complements, smoothing=smoothing),
                words(),
                CountWords(),
                missing=False,
                evidence=False,
            )
    return found


def document_cases() -> dict[str, Case]:
    found = {}
    for event, given in product(("multinomial", "bernoulli", "complement", "polya"), (0, 1)):
        counter = TermCounter(WordAnalyzer(), Vocabulary.empty(), event=event)
        counter, matrix = counter.learn(documents())
        if given:
            known = TermCounter(WordAnalyzer(), counter.vocabulary, event=event, is_given=True)
            counter, matrix = known.learn(documents())

        def fit(tally: Any, counter: TermCounter = counter) -> DocumentModel:
            return DocumentModel.of(counter, tally, 1.0)

        found[f"documents, {event}{', terms given' * given}"] = of_rows(
            DocumentModel,
            fit,
            matrix,
            counter,
            read=counter.read,
            missing=False,
            evidence=bool(given) and event in ("bernoulli", "polya"),
        )
    return found


ROW_FAMILIES = {**normal_cases(), **discriminant_cases(), **count_cases(), **document_cases()}

# ---- families of columns of a table

SUPPORT = {
    "calls": np.arange(2000.0),
    "rooms": [2.0, 4.0, 6.0, 8.0, 10.0, 109.0],  # the last stands for all others
    "paid": [0.0, 1.0],
}


def table_cases() -> dict[str, Case]:
    table, codes = rows()
    found = {}
    for case, (name, columns) in BLOCKS.items():
        family = family_of(name, columns)
        support = {**SUPPORT, "paid": [0.0, 1.0, 2.0]} if name == "joint" else SUPPORT
        settings = {
            "support": support,
            "evidence": name != "student",  # a bound
            "integration_error": 3e-3 if name == "binned" else 1e-5,
        }
        found[case] = Case(type(family), (family, table, codes), settings)
    texts = Table.of(pa.table({"note": documents()}), {"note": "text"})
    for event in ("multinomial", "bernoulli", "complement"):
        settings = {"missing": False, "evidence": event == "bernoulli"}
        found[f"text, {event}"] = Case(Text, (Text(("note",), event=event), texts, OWN), settings)
    return found


TABLE_FAMILIES = table_cases()
EVERY = {
    Tally: tally_cases(),
    Prior: PRIORS,
    ClassConditional: ROW_FAMILIES,
    Family: TABLE_FAMILIES,
}
