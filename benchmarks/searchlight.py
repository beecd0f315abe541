"""The searchlight beside a loop of cross-validations over positions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from benchmarks.measure import Result, in_turn
from suffice.lab import searchlight

HAXBY = Path(__file__).parents[2] / "shared/data/haxby_slice/haxby_slice_detrended.csv.gz"
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


def leaving_out() -> Iterator[Result]:
    """One row at a time, then one run at a time."""
    data = haxby_slice() if HAXBY.exists() else generated()
    yield beside_a_loop(data, None, positions=1)
    yield beside_a_loop(data, data.runs, positions=10)


def beside_a_loop(data: Volumes, runs: Any, positions: int) -> Result:
    """Measure all positions here, and some of them with scikit-learn, to be multiplied."""
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
            told = cross_val_predict(model, data.X[:, near], data.y, groups=runs, cv=folds)
            answers[f"{at}"] = np.mean(told == data.y)

    best, peer_best = in_turn(ours, theirs, rounds=5, peer_rounds=2)
    for at in some:
        same = np.isclose(answers["map"].accuracy[tuple(where[at])], answers[f"{at}"])
        assert same, f"Another accuracy than scikit-learn's at {where[at]}."
    peer_best *= len(where) / positions
    left_out = "row" if runs is None else "run"
    work = f"searchlight, {data.name}, {len(data.y)} x {len(where)}, leave-one-{left_out}-out"
    peer = f"cross-validation, {positions} of {len(where)} positions"
    return Result(work, best, peer_best, peer, peer_best / best, AT_LEAST, None)


CASES = (leaving_out,)
