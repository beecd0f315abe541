"""Tables that the tests of the classifier share."""

import datetime

import numpy as np
import pandas as pd


def mixed(n=240, seed=0, missing=True):
    """Return a table of all kinds of columns, and labels that depend on most of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    day = np.datetime64("2024-01-01") + (rng.integers(0, 200, n) + 60 * y).astype("m8[D]")
    frame = pd.DataFrame(
        {
            "weight": rng.normal(10.0 + 2.0 * y, 1.5),
            "income": np.exp(rng.normal(3.0 + 0.4 * y, 0.5)),
            "children": rng.poisson(1.0 + y),
            "city": np.where(rng.random(n) < 0.6, np.array(["Rome", "Oslo", "Lima"])[y], "Bonn"),
            "member": rng.random(n) < 0.3 + 0.2 * y,
            "since": pd.to_datetime(day),
            "noise": rng.normal(size=n),
        }
    )
    if missing:
        for at, name in enumerate(["weight", "income", "city"]):
            frame.loc[rng.random(n) < 0.1 + 0.05 * at, name] = None
    return frame, np.array(["a", "b", "c"])[y]


def since():
    """Return a day, for rows that are written out."""
    return datetime.date(2024, 3, 1)


def misleading(n, seed=0):
    """Return columns of levels, each misleading alone, and labels.

    Level 0 of a column comes with level 0 of the next, which has the opposite effect: alone it says
    nothing, and level 1 all that it should. One weight for a column cannot put both right.
    """
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 3, (n, 8)).astype(str)
    for at in range(0, 8, 2):
        cells[:, at + 1] = np.where(cells[:, at] == "0", "0", cells[:, at + 1])
    score = (cells[:, ::2] == "0").sum(axis=1) - (cells[:, 1::2] == "0").sum(axis=1)
    score = 3.0 * score + 1.5 * (cells == "1").sum(axis=1)
    y = score - np.median(score) + rng.logistic(size=n) > 0
    return cells.astype(object), y.astype(int)
