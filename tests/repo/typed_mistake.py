"""Mistakes that mypy must find; each line names its error after "error:" (see test_types.py)."""

import numpy as np

import suffice
from suffice import Beta, Counts, GaussianNB, LogisticRegression, TextClassifier

X, y = np.zeros((2, 1)), [0, 1]


def mistakes() -> None:
    """Make them."""
    GaussianNB(var_smoothing="small")  # error: arg-type
    GaussianNB(smoothing=1e-9)  # error: call-arg
    GaussianNB().fitt(X, y)  # error: attr-defined
    GaussianNB().fit(X, y).predict_probabilities(X)  # error: attr-defined
    LogisticRegression().fit(X)  # error: call-arg
    TextClassifier().explain(7)  # error: arg-type
    Counts([1, 2]) + Beta(1, 1)  # error: operator
    Beta(1, 1).posterior(Counts([1, 2])).means()  # error: attr-defined
    suffice.set_threads("two")  # error: arg-type
    suffice.GausianNB()  # error: attr-defined
    text: str = suffice.Beta(1, 1).mean()  # error: assignment
    print(text)
