"""Histories of rows for every model that forgets: what it learns, and in what order it forgets."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice import (
    BayesianLinearRegression,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    GenerativeClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    TextClassifier,
)

WORDS = np.array(["ale", "bread", "cheese", "dates", "eggs", "figs"])
GAPS = 0.2


def decimals(rng, size):
    return rng.normal(size=(size, 2)).round(1)


def gappy(rng, size):
    return np.where(rng.random((size, 2)) < GAPS, np.nan, decimals(rng, size))


def counts(rng, size):
    return rng.integers(0, 4, (size, 3)).astype(float)


def gappy_counts(rng, size):
    return np.where(rng.random((size, 3)) < GAPS, np.nan, counts(rng, size))


def fractions(rng, size):
    return rng.integers(0, 9, (size, 3)) / 10


def documents(rng, size):
    texts = [" ".join(rng.choice(WORDS, rng.integers(0, 5))) for _ in range(size)]
    return np.array([*texts[:-1], "ale"], object)


def column(draw):
    """Return how to draw a table of columns a and b, of which some cells are missing."""

    def rows(rng, size):
        cells = {name: np.array(draw(rng, size), object) for name in "ab"}
        for values in cells.values():
            values[rng.random(size) < GAPS] = None
        return np.array([{name: cells[name][at] for name in "ab"} for at in range(size)])

    return rows


def numbers(rng, size):
    return rng.normal(size=size).round(1)


def positive(rng, size):
    return np.exp(rng.normal(size=size)).round(2) + 0.01


def events(rng, size):
    return rng.integers(0, 5, size)


def names(rng, size):
    return rng.choice(["ada", "bob", "cyd", "dan"], size)


def answers(rng, size):
    return rng.choice(["yes", "no"], size)


def table(family, together=False):
    """Return how to make a classifier of a table whose columns have this family."""
    families = {("a", "b"): family} if together else {"a": family, "b": family}
    return lambda: GenerativeClassifier(families, combine="naive", budget=0)


@dataclass
class Case:
    """How to make a model and rows for it, and how many models with how many classes to try."""

    make: Any
    rows: Any
    models: int
    classes: int = 60
    target: str = "label"

    def can_be_learned(self, rows):
        """Say whether rows can be learned by themselves: no column of theirs is empty."""
        if rows.dtype != object:
            return True
        if isinstance(rows[0], str):
            return any(rows)
        return all(any(row[name] for row in rows) for name in "ab")


def cases():
    """Return one case for each model that forgets, 10,000 classes or more in all."""
    shared = {
        "GaussianNB": Case(GaussianNB, decimals, 48),
        "GaussianNB gaps": Case(GaussianNB, gappy, 24),
        "BernoulliNB": Case(BernoulliNB, gappy_counts, 12),
        "MultinomialNB": Case(MultinomialNB, counts, 6),
        "MultinomialNB fractions": Case(MultinomialNB, fractions, 12),
        "ComplementNB": Case(ComplementNB, fractions, 6),
        "CategoricalNB": Case(CategoricalNB, gappy_counts, 12),
        "PoissonNB": Case(PoissonNB, gappy_counts, 12),
        "LDA": Case(LinearDiscriminantAnalysis, decimals, 9),
        "LDA of quartics": Case(
            lambda: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), decimals, 6
        ),
        "QDA": Case(lambda: QuadraticDiscriminantAnalysis(reg_param=0.1), decimals, 6),
        "discriminant": Case(GaussianDiscriminant, decimals, 9),
        "discriminant gaps": Case(
            lambda: GaussianDiscriminant("tied_diagonal", max_iter=2), gappy, 3, 12
        ),
        "text": Case(lambda: TextClassifier(calibrate=None), documents, 3, 20),
        "text tfidf": Case(
            lambda: TextClassifier(calibrate=None, weighting="tfidf", alpha=1.0), documents, 3, 20
        ),
        "text bernoulli": Case(
            lambda: TextClassifier(calibrate=None, event="bernoulli"), documents, 3, 20
        ),
        "regression": Case(LinearRegression, decimals, 45, 1, "number"),
        "Bayesian regression": Case(BayesianLinearRegression, decimals, 30, 1, "number"),
    }
    families = {
        "normal": numbers,
        "normal:tied": numbers,
        "lognormal": positive,
        "student": numbers,
        "binned": numbers,
        "poisson": events,
        "bernoulli": answers,
        "categorical": names,
        "text": documents,
        "text:bernoulli": documents,
        "text:complement": documents,
    }
    tables = {
        name: Case(table(name), column(draw), 3, 8 if draw is documents else 20)
        for name, draw in families.items()
    }
    tables["joint"] = Case(table("joint", together=True), column(names), 3, 20)
    tables["mvn"] = Case(table("mvn", together=True), column(numbers), 3, 20)
    return shared | {f"table of {name}": case for name, case in tables.items()}


WEIGHTS = {
    "one each": lambda rng, size: np.ones(size),
    "decimals": lambda rng, size: rng.integers(1, 40, size) / 10,
    "six decades": lambda rng, size: 10 ** rng.uniform(-3, 3, size),
}


@dataclass
class History:
    """Rows that are learned, and the numbers of the rows of each step of forgetting."""

    X: Any
    y: Any
    weights: Any
    learned: list
    steps: list

    @classmethod
    def of(cls, case, seed, kind):
        """Draw one to seven rows of each class, learned in parts and forgotten in another order."""
        rng = np.random.default_rng(seed)
        if case.target == "number":
            size = int(rng.integers(3, 12))
            y = rng.normal(size=size).round(1)
        else:
            y = np.repeat(np.arange(case.classes), rng.integers(1, 8, case.classes))
            size = len(y)
        order = rng.permutation(size)
        parts = np.array_split(rng.permutation(size), rng.integers(1, 4))
        cuts = np.sort(rng.integers(1, size - 1, min(6, size - 2)))
        steps = [step for step in np.split(order[:-1], np.unique(cuts)) if len(step)]
        return cls(case.rows(rng, size), y, WEIGHTS[kind](rng, size), list(parts), steps)

    def at(self, numbers):
        """Return rows, labels and weights by number, as a model takes them."""
        X = self.X[numbers]
        if X.dtype == object and isinstance(X[0], dict):
            X = X.tolist()
        return {"X": X, "y": self.y[numbers], "sample_weight": self.weights[numbers]}

    def learn(self, model, numbers):
        """Teach a model some rows at once; it may find that they do not suffice for answers yet."""
        quietly(model.partial_fit, **self.at(np.sort(numbers)))
        return model

    def learned_by(self, model):
        """Teach a model all rows, part by part."""
        for part in self.learned:
            self.learn(model, part)
        return model


def quietly(act, *given, **named):
    """Call without the warnings that single rows, single classes and lost digits rightly cause."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return act(*given, **named)
