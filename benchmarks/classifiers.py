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
    for classes, proba_target in ((2, 20), (10, 40)):
        X, y = gaussian_rows(classes)
        size = f"1,000,000 x 50, {classes} classes"
        mine, peer = suffice.GaussianNB(), sklearn.naive_bayes.GaussianNB()
        yield line(
            f"GaussianNB fit, {size}",
            lambda X=X, y=y, mine=mine: mine.fit(X, y),
            lambda X=X, y=y, peer=peer: peer.fit(X, y),
            25,
            memory=True,
            rounds=7,
        )
        yield line(
            f"GaussianNB fit, {size}, against X.sum()",
            lambda X=X, y=y, mine=mine: mine.fit(X, y),
            X.sum,
            1 / 1.3,
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


def gaussian_naive_bayes_of_short_cells() -> Iterator[Result]:
    """GaussianNB of cells of four bytes, against the sum of as many bytes."""
    X, y = gaussian_rows(2)
    mine = suffice.GaussianNB()
    for cells in (X.astype(np.float32), (1000.0 * X).astype(np.int32)):
        # Integers of eight bytes: numpy adds them up as fast as memory allows.
        same_bytes = cells.view(np.int64)
        yield line(
            f"GaussianNB fit, 1,000,000 x 50 {cells.dtype}, 2 classes, against a sum of its bytes",
            lambda cells=cells: mine.fit(cells, y),
            same_bytes.sum,
            1 / 1.3,
            peer="X.sum() of as many bytes",
            rounds=9,
            peer_rounds=9,
        )


def sparse_rows(classes: int) -> tuple[Any, Any]:
    """Return 100,000 x 50,000 counts of 10 million words, drawn by Zipf's law."""
    rng = np.random.default_rng(2)
    documents, words, each = 100_000, 50_000, 100
    chances = 1.0 / (1.0 + np.arange(words))
    columns = rng.choice(words, documents * each, p=chances / chances.sum()).astype(np.int32)
    indptr = np.arange(0, documents * each + 1, each).astype(np.int32)
    data = np.ones(documents * each)
    X = scipy.sparse.csr_matrix((data, columns, indptr), (documents, words))
    X.sum_duplicates()
    return X, rng.integers(0, classes, documents)


def multinomial_naive_bayes() -> Iterator[Result]:
    """MultinomialNB on a CSR matrix of 10 million words: two classes, as most have, and more."""
    for classes, target in ((2, 3), (4, 3), (20, 4), (500, 20)):
        X, y = sparse_rows(classes)
        size = f"100,000 x 50,000 CSR, {classes} classes"
        mine, peer = suffice.MultinomialNB(), sklearn.naive_bayes.MultinomialNB()
        rounds = 7 if classes < 100 else 3
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
        25,
        memory=True,
    )
    yield line(
        "CategoricalNB predict, 1,000,000 x 20, 10 levels",
        lambda: mine.predict(X),
        lambda: peer.predict(X),
        15,
    )


def discriminant_analysis() -> Iterator[Result]:
    """LDA and QDA, 1,000,000 x 50."""
    lda, qda = (
        suffice.LinearDiscriminantAnalysis,
        suffice.QuadraticDiscriminantAnalysis,
    )
    peers = sklearn.discriminant_analysis
    X, y = gaussian_rows(10)
    for solver, target, label in (("lsqr", 10, "its lsqr"), ("svd", 45, "its default, svd")):
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
        30,
        memory=True,
        peer_rounds=2,
    )
    yield line(
        "QDA predict, 1,000,000 x 50, 10 classes",
        lambda: full.predict(X),
        lambda: peer_full.predict(X),
        15,
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
    gaussian_naive_bayes_of_short_cells,
    multinomial_naive_bayes,
    categorical_naive_bayes,
    discriminant_analysis,
    growth,
)
