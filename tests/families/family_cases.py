"""Cases of all families for the laws of `suffice.testing`: how they are fitted, and rows."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.special import gammaln

from families.block_cases import BLOCKS, rows
from law_case import Case
from suffice.count import (
    count_events,
    count_levels,
    count_moments,
    count_ones,
    count_patterns,
    count_quartics,
    count_words,
)
from suffice.families import family_of
from suffice.families.bernoulli import IndependentBernoullis
from suffice.families.categorical import IndependentCategories
from suffice.families.dense_normal import DenseNormals, DenseSettings
from suffice.families.linear_discriminant import LinearDiscriminant, LinearSettings
from suffice.families.multinomial import Complements, Multinomials
from suffice.families.normal import IndependentNormals, NormalSettings
from suffice.families.poisson import IndependentPoissons
from suffice.families.quadratic_discriminant import QuadraticDiscriminant, QuadraticSettings
from suffice.families.smoothing import Smoothing
from suffice.prior import NormalInverseGamma, NormalInverseWishart

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


def log_factorials(X: Any) -> np.ndarray:
    return -np.nansum(gammaln(X + 1), axis=1)


def log_orders(X: Any) -> np.ndarray:
    return gammaln(X.sum(axis=1) + 1) - gammaln(X + 1).sum(axis=1)


NIG = NormalInverseGamma(0.0, 1.0, 2.0, 1.0)
NIW = NormalInverseWishart([0.0, 0.0], 1.0, 4.0, np.eye(2))


def of_rows(kind: type, fit: Any, X: Any, count: Any, **settings: Any) -> Case:
    return Case(kind, (fit, X, OWN), {"count": count, **settings})


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
                count_moments,
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
                count_patterns,
                evidence=estimate == "predictive",
            )
    low_rank = DenseSettings("low_rank", "map", rank=1, max_iter=2000, tol=1e-5)
    found["dense, low rank"] = of_rows(
        DenseNormals,
        partial(DenseNormals.fit, settings=low_rank),
        numbers(3),
        count_patterns,
        evidence=False,
        size=16,
    )
    shrunk = DenseSettings("tied", "mle", shrinkage="auto")
    found["dense, shrunk"] = of_rows(
        DenseNormals,
        partial(DenseNormals.fit, settings=shrunk),
        numbers(),
        count_quartics,
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
                LinearDiscriminant, fit, numbers(), count_patterns, evidence=False, held=held
            )
    for settings in (
        QuadraticSettings("svd"),
        QuadraticSettings("svd", reg_param=0.1),
        QuadraticSettings("eigen", 0.2),
    ):
        name = f"quadratic, {settings.solver}, {settings.shrinkage}, {settings.reg_param}"
        fit = partial(QuadraticDiscriminant.fit, settings=settings)
        found[name] = of_rows(QuadraticDiscriminant, fit, numbers(), count_patterns, evidence=False)
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
            partial(count_ones, threshold=0.0),
            support=[0, 1],
            evidence=single,
        )
        found[f"categories, {estimate}"] = of_rows(
            IndependentCategories,
            partial(IndependentCategories, smoothing=smoothing, min_levels=np.array([3, 3])),
            levels(),
            count_levels,
            support=[0, 1, 2],
            evidence=single,
        )
        found[f"poissons, {estimate}"] = of_rows(
            IndependentPoissons,
            partial(IndependentPoissons, smoothing=smoothing, pseudo_rows=1.0),
            events(),
            count_events,
            support=np.arange(300.0),
            base=log_factorials,
            evidence=integrated,
        )
        found[f"multinomials, {estimate}"] = of_rows(
            Multinomials,
            partial(Multinomials, smoothing=smoothing),
            words(),
            count_words,
            base=log_orders,
            missing=False,
            evidence=integrated,
        )
        if not integrated:
            found[f"complements, {estimate}"] = of_rows(
                Complements,
                partial(Complements, smoothing=smoothing),
                words(),
                count_words,
                missing=False,
                evidence=False,
            )
    return found


DISTRIBUTIONS = {**normal_cases(), **discriminant_cases(), **count_cases()}

# ---- families of columns of a table

SUPPORT = {
    "calls": np.arange(2000.0),
    "rooms": [2.0, 4.0, 6.0, 8.0, 10.0, 109.0],  # the last stands for all others
    "paid": [0.0, 1.0],
}


def column_cases() -> dict[str, Case]:
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
    return found


COLUMN_FAMILIES = column_cases()
