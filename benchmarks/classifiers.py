"""Naive Bayes and discriminant analysis: what is timed, and ratios to reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
import sklearn.discriminant_analysis
import sklearn.naive_bayes

import suffice
from benchmarks.measure import Result, line

ROWS = 1_000_000
COLUMNS = 50


def gaussian_rows(classes: int) -> tuple[Any, Any]:
    """Return a million rows of 50 normal columns with shifted classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = rng.integers(0, classes, ROWS)
    X[:, :5] += 0.5 * y[:, None]
    return X, y


def gaussian_naive_bayes() -> Iterator[Result]:
    """GaussianNB, 1,000,000 x 50, 2 and 10 classes."""
    for classes, proba_target in ((2, 10), (10, 30)):
        X, y = gaussian_rows(classes)
        size = f"1,000,000 x 50, {classes} classes"
        mine, peer = suffice.GaussianNB(), sklearn.naive_bayes.GaussianNB()
        yield line(
            f"GaussianNB fit, {size}",
            lambda X=X, y=y, mine=mine: mine.fit(X, y),
            lambda X=X, y=y, peer=peer: peer.fit(X, y),
            15,
            memory=True,
            rounds=7,
        )
        yield line(
            f"GaussianNB fit, {size}, against X.sum()",
            lambda X=X, y=y, mine=mine: mine.fit(X, y),
            X.sum,
            1 / 1.6,
            peer="X.sum()",
            rounds=9,
            peer_rounds=9,
        )
        yield line(
            f"GaussianNB predict_proba, {size}",
            lambda X=X, mine=mine: mine.predict_proba(X),
            lambda X=X, peer=peer: peer.predict_proba(X),
            proba_target,
        )


def sparse_rows(classes: int) -> tuple[Any, Any]:
    """Return 200,000 x 50,000 counts, 100 distinct uniform columns a row: 20 million in all."""
    rng = np.random.default_rng(2)
    documents, words, each = 200_000, 50_000, 100
    # One column out of each of 100 equal strips: distinct and sorted without a sort.
    strip = words // each
    columns = rng.integers(0, strip, size=(documents, each)) + strip * np.arange(each)
    indptr = np.arange(0, documents * each + 1, each).astype(np.int32)
    data = rng.integers(1, 4, size=documents * each).astype(np.float64)
    X = scipy.sparse.csr_matrix(
        (data, columns.ravel().astype(np.int32), indptr), (documents, words)
    )
    return X, rng.integers(0, classes, documents)


def multinomial_naive_bayes() -> Iterator[Result]:
    """MultinomialNB on a CSR matrix with 20 million non-zeros, 20 and 500 classes."""
    for classes, target in ((20, 3), (500, 10)):
        X, y = sparse_rows(classes)
        size = f"200,000 x 50,000 CSR, {classes} classes"
        mine, peer = suffice.MultinomialNB(), sklearn.naive_bayes.MultinomialNB()
        rounds = 3 if classes < 100 else 2
        yield line(
            f"MultinomialNB fit, {size}",
            lambda X=X, y=y, mine=mine: mine.fit(X, y),
            lambda X=X, y=y, peer=peer: peer.fit(X, y),
            target,
            memory=True,
            rounds=rounds,
            peer_rounds=rounds - 1,
        )
        yield line(
            f"MultinomialNB predict, {size}",
            lambda X=X, mine=mine: mine.predict(X),
            lambda X=X, peer=peer: peer.predict(X),
            target,
            rounds=rounds,
            peer_rounds=rounds - 1,
        )


def categorical_naive_bayes() -> Iterator[Result]:
    """CategoricalNB, 1,000,000 x 20, 10 levels."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 10, size=(ROWS, 20)), rng.integers(0, 2, ROWS)
    mine, peer = suffice.CategoricalNB(), sklearn.naive_bayes.CategoricalNB()
    yield line(
        "CategoricalNB fit, 1,000,000 x 20, 10 levels",
        lambda: mine.fit(X, y),
        lambda: peer.fit(X, y),
        10,
        memory=True,
    )
    yield line(
        "CategoricalNB predict, 1,000,000 x 20, 10 levels",
        lambda: mine.predict(X),
        lambda: peer.predict(X),
        10,
    )


def discriminant_analysis() -> Iterator[Result]:
    """LDA and QDA, 1,000,000 x 50."""
    lda, qda = (
        suffice.LinearDiscriminantAnalysis,
        suffice.QuadraticDiscriminantAnalysis,
    )
    peers = sklearn.discriminant_analysis
    X, y = gaussian_rows(10)
    for solver, target, label in (("lsqr", 8, "its lsqr"), ("svd", 40, "its default, svd")):
        mine = lda()
        peer = peers.LinearDiscriminantAnalysis(solver=solver)
        yield line(
            f"LDA fit, 1,000,000 x 50, 10 classes, against {label}",
            lambda mine=mine: mine.fit(X, y),
            lambda peer=peer: peer.fit(X, y),
            target,
            memory=True,
            peer_rounds=2,
        )
    full, peer_full = qda(), peers.QuadraticDiscriminantAnalysis()
    yield line(
        "QDA fit, 1,000,000 x 50, 10 classes",
        lambda: full.fit(X, y),
        lambda: peer_full.fit(X, y),
        20,
        memory=True,
        peer_rounds=2,
    )
    yield line(
        "QDA predict, 1,000,000 x 50, 10 classes",
        lambda: full.predict(X),
        lambda: peer_full.predict(X),
        10,
        peer_rounds=2,
    )


def growth() -> Iterator[Result]:
    """Twice the rows take at most 2.2 times as long."""
    X, y = gaussian_rows(10)
    half = ROWS // 2
    models = {
        "GaussianNB fit": suffice.GaussianNB(),
        "QDA fit": suffice.QuadraticDiscriminantAnalysis(),
    }
    for name, model in models.items():
        yield line(
            f"{name}, 1,000,000 rows against 500,000",
            lambda model=model: model.fit(X, y),
            lambda model=model: model.fit(X[:half], y[:half]),
            1 / 2.2,
            peer="half the rows",
            rounds=9,
            peer_rounds=9,
        )


CASES = (
    gaussian_naive_bayes,
    multinomial_naive_bayes,
    categorical_naive_bayes,
    discriminant_analysis,
    growth,
)
