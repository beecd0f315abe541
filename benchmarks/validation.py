"""Validation without refits, and the searchlight: what is timed, and ratios to reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB, MultinomialNB

import suffice
from benchmarks.measure import Result, in_turn, line
from benchmarks.quality_sets import FOLDER
from suffice.lab import searchlight


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
    peer = GridSearchCV(MultinomialNB(), {"alpha": alphas}, cv=10)
    yield line(
        "MultinomialNB, 10 folds x 20 alphas, 20,000 x 30,000 CSR",
        lambda: mine.cross_validate(X, y, 10, alpha=alphas),
        lambda: peer.fit(X, y),
        40,
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


HAXBY = FOLDER / "haxby_slice" / "haxby_slice_detrended.csv.gz"
AT_LEAST = 100


class Volumes(NamedTuple):
    """Rows of voxels of a masked grid, their classes and their runs."""

    name: str
    X: Any
    y: Any
    runs: Any
    mask: Any


def haxby_slice() -> Volumes:
    """Return the posterior half of a slice of subject 1 of Haxby and others, without rest."""
    import pandas as pd

    frame = pd.read_csv(HAXBY)
    frame = frame[frame["label"] != "rest"]
    names = [name for name in frame if str(name).startswith("v_")]
    places = np.array([[int(part) for part in str(name).split("_")[1:3]] for name in names])
    order = np.lexsort(places.T[::-1])
    mask = np.zeros(places.max(axis=0) + 1, np.bool_)
    mask[tuple(places.T)] = True
    X = frame[names].to_numpy()[:, order]
    return Volumes("haxby slice", X, frame["label"].to_numpy(), frame["run"].to_numpy(), mask)


def generated() -> Volumes:
    """Return rows of the same size, for machines without the slice."""
    rng = np.random.default_rng(6)
    across, down = np.indices((37, 19))
    mask = ((across - 18) / 18.5) ** 2 + ((down - 19) / 19.5) ** 2 <= 1
    y = np.tile(np.repeat(np.arange(8), 9), 12)
    X = rng.normal(size=(len(y), mask.sum())) + 0.3 * rng.normal(size=(8, mask.sum()))[y]
    return Volumes("generated slice", X, y, np.repeat(np.arange(12), 72), mask)


def searchlight_accuracy() -> Iterator[Result]:
    """Leave out one row at a time, then one run at a time."""
    data = haxby_slice() if HAXBY.exists() else generated()
    yield compare_with_loop(data, None, positions=1)
    yield compare_with_loop(data, data.runs, positions=10)


def compare_with_loop(data: Volumes, runs: Any, positions: int) -> Result:
    """Time all positions, and scikit-learn on some of them, scaled up to all."""
    where = np.argwhere(data.mask)
    some = np.random.default_rng(7).choice(len(where), positions, replace=False)
    folds = LeaveOneOut() if runs is None else LeaveOneGroupOut()
    answers: dict[str, Any] = {}

    def ours() -> None:
        answers["map"] = searchlight(data.X, data.y, data.mask.shape, mask=data.mask, runs=runs)

    def theirs() -> None:
        for at in some:
            near = np.abs(where - where[at]).max(axis=1) <= 1
            model = GaussianNB(var_smoothing=0)
            predicted = cross_val_predict(model, data.X[:, near], data.y, groups=runs, cv=folds)
            answers[f"{at}"] = np.mean(predicted == data.y)

    best, peer_best = in_turn(ours, theirs, rounds=5, peer_rounds=2)
    for at in some:
        same = np.isclose(answers["map"].accuracy[tuple(where[at])], answers[f"{at}"])
        assert same, f"The accuracy differs from scikit-learn's at {where[at]}."
    peer_best *= len(where) / positions
    left_out = "row" if runs is None else "run"
    work = f"searchlight, {data.name}, {len(data.y)} x {len(where)}, leave-one-{left_out}-out"
    peer = f"cross-validation, {positions} of {len(where)} positions"
    return Result(work, best, peer_best, peer, peer_best / best, AT_LEAST, None)


CASES = (cross_validation, leave_one_out, searchlight_accuracy)
