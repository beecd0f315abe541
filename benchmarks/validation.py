"""Validation without refits: the work that is measured, and the marks to reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
import sklearn.model_selection
import sklearn.naive_bayes

import suffice
from benchmarks.measure import Result, line


def words() -> tuple[Any, Any]:
    """Return 20,000 x 30,000 counts in 20 classes: common and rare words, as in text."""
    rng = np.random.default_rng(6)
    documents, vocabulary, length = 20_000, 30_000, 100
    columns = (rng.zipf(1.3, size=documents * length) % vocabulary).astype(np.int32)
    indptr = np.arange(0, documents * length + 1, length)
    X = scipy.sparse.csr_matrix((np.ones(columns.size), columns, indptr), (documents, vocabulary))
    X.sum_duplicates()
    return X, rng.integers(0, 20, documents)


def cross_validation() -> Iterator[Result]:
    """10 folds of 20 pseudocounts of MultinomialNB."""
    X, y = words()
    alphas = np.logspace(-3, 1, 20)
    mine = suffice.MultinomialNB()
    peer = sklearn.model_selection.GridSearchCV(
        sklearn.naive_bayes.MultinomialNB(), {"alpha": alphas}, cv=10
    )
    yield line(
        "MultinomialNB, 10 folds x 20 alphas, 20,000 x 30,000 CSR",
        lambda: mine.cross_validate(X, y, 10, alpha=alphas),
        lambda: peer.fit(X, y),
        30,
        peer="GridSearchCV",
        rounds=5,
        peer_rounds=2,
    )


def leave_one_out() -> Iterator[Result]:
    """Leave-one-out against one fit and prediction of our own."""
    rng = np.random.default_rng(7)
    for classes in (2, 10):
        y = rng.integers(0, classes, 100_000)
        X = rng.normal(size=(100_000, 50)) + 0.3 * y[:, None]
        naive = suffice.GaussianNB().fit(X, y)
        yield line(
            f"GaussianNB leave_one_out, 100,000 x 50, {classes} classes, against fit + proba",
            lambda X=X, y=y, naive=naive: naive.leave_one_out(X, y),
            lambda X=X, y=y: suffice.GaussianNB().fit(X, y).predict_proba(X),
            1 / 5,
            peer="fit + predict_proba",
            rounds=9,
            peer_rounds=9,
        )
    y = rng.integers(0, 10, 20_000)
    X = rng.normal(size=(20_000, 30)) + 0.3 * y[:, None]
    full = suffice.QuadraticDiscriminantAnalysis().fit(X, y)
    yield line(
        "QDA leave_one_out, 20,000 x 30, 10 classes, against fit + predict",
        lambda: full.leave_one_out(X, y),
        lambda: suffice.QuadraticDiscriminantAnalysis().fit(X, y).predict(X),
        1 / 10,
        peer="fit + predict",
        rounds=9,
        peer_rounds=9,
    )


CASES = (cross_validation, leave_one_out)
