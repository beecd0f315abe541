"""Models that tests of the report share, each fitted once."""

import warnings
from functools import cache

import numpy as np
import pandas as pd

from suffice import BayesianLinearRegression, GenerativeClassifier, TextClassifier

SIZE = 400
ROW_OF_ITS_OWN = 123456.789


def churn_rows(size=SIZE, seed=0, shift=0.0):
    """Return a mixed table of customers, and who leaves."""
    rng = np.random.default_rng(seed)
    leaves = rng.random(size) < 0.3
    frame = pd.DataFrame(
        {
            "contract": np.where(
                rng.random(size) < np.where(leaves, 0.8, 0.4), "monthly", "yearly"
            ),
            "charges": rng.normal(np.where(leaves, 78, 62) + shift, 15).round(2),
            "calls": rng.poisson(np.where(leaves, 2.6, 1.1)),
            "senior": rng.random(size) < np.where(leaves, 0.3, 0.1),
            "paid": rng.lognormal(3, np.where(leaves, 1.0, 0.5)),
        }
    )
    frame["usage"] = frame["charges"] * 0.5 + rng.normal(0, 4, size) - 6 * leaves
    frame.loc[rng.random(size) < np.where(leaves, 0.25, 0.1), "usage"] = np.nan
    notes = [["too expensive now", "cancel it please"], ["all is well", "thanks a lot"]]
    frame["note"] = [
        f"{notes[rng.random() < (0.3 if one else 0.6)][rng.integers(2)]} {rng.integers(50)} more"
        for one in leaves
    ]
    return frame, np.where(leaves, "leaves", "stays")


FAMILIES = {"note": "text", ("charges", "usage"): "mvn", "paid": "lognormal", "calls": "poisson"}


@cache
def churn():
    """Return a classifier of the mixed table."""
    frame, labels = churn_rows()
    frame.loc[5, "paid"] = ROW_OF_ITS_OWN
    return GenerativeClassifier(families=FAMILIES).fit(frame, labels)


@cache
def later_churn():
    """Return a classifier of other rows, with higher charges."""
    frame, labels = churn_rows(300, 1, 20.0)
    return GenerativeClassifier(families=FAMILIES).fit(frame, labels)


@cache
def messages():
    """Return a classifier of documents."""
    rng = np.random.default_rng(0)
    words = {
        "ham": ["lunch", "report", "noon", "team", "call"],
        "spam": ["cheap", "pills", "win", "prize"],
    }
    labels = np.where(rng.random(150) < 0.4, "spam", "ham")
    text = [
        " ".join(rng.choice(words[one], 3))
        + " "
        + " ".join(rng.choice(words["ham"] + words["spam"], 3))
        for one in labels
    ]
    return TextClassifier().fit(text, labels)


@cache
def many_classes():
    """Return a classifier of more classes than the page has colours for."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(8), 40)
    X = rng.normal(np.column_stack([codes, codes % 3]), 0.8)
    frame = pd.DataFrame(X, columns=["height", "width"])
    return GenerativeClassifier(budget=0).fit(frame, [f"kind {one}" for one in codes])


@cache
def regression():
    """Return a regression of three columns."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=["age", "income", "noise"])
    target = 3 + 2 * frame["age"] - frame["income"] + rng.normal(0, 0.5, 120)
    return BayesianLinearRegression().fit(frame, target.rename("price"))


# A column, a level and classes that would run, or end an element, if they were not escaped.
EVIL = "<script>alert(1)</script>"


@cache
def evil():
    """Return a classifier whose names are markup."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({EVIL: rng.normal(size=80), "'\"&<i>": rng.choice([EVIL, "{{main}}"], 80)})
    labels = np.where(frame[EVIL] > 0, EVIL, "]]>--><img src=x onerror=alert(2)>")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GenerativeClassifier().fit(frame, labels)
