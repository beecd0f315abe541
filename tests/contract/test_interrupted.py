"""A signal that raises (Ctrl-C, the time-out of a server) at any moment: the old model or the new.

SUFFICE_INTERRUPTS=2000 interrupts every call so often.
"""

import os
import random
import signal
import time

import numpy as np
import pytest

from suffice import (
    CountVectorizer,
    GaussianNB,
    GenerativeClassifier,
    LogisticRegression,
    TextClassifier,
)

INTERRUPTS = int(os.environ.get("SUFFICE_INTERRUPTS", "20"))
RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 2, 300)
NUMBERS = RNG.normal(size=(300, 8)) + LABELS[:, None]
DOCUMENTS = [" ".join(f"w{(i * j) % 997}" for j in range(12)) for i in range(1, 301)]
TABLE = [
    {"text": text, "size": float(row[0]), "kind": "ab"[label]}
    for text, row, label in zip(DOCUMENTS, NUMBERS, LABELS, strict=True)
]
# An estimator, its rows, and how rows are answered. What is learned first are the first 200.
CASES = {
    "GaussianNB": (GaussianNB, NUMBERS, "predict_proba"),
    "LogisticRegression": (LogisticRegression, NUMBERS, "predict_proba"),
    "TextClassifier": (TextClassifier, DOCUMENTS, "predict_proba"),
    "CountVectorizer": (CountVectorizer, DOCUMENTS, "transform"),
    "GenerativeClassifier": (GenerativeClassifier, TABLE, "predict_proba"),
}

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timer signals"),
    pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning"),
    pytest.mark.slow,
]


class Alarm:
    """Raises KeyboardInterrupt in a call, at a random moment of the time that it takes."""

    def __init__(self, call):
        self.call, self.armed, self.rng = call, False, random.Random(1)
        self.taken = 1.0

    def ring(self, *_):
        if self.armed:
            raise KeyboardInterrupt

    def interrupts(self):
        """Call; say whether it was interrupted."""
        before = signal.signal(signal.SIGALRM, self.ring)
        start = time.perf_counter()
        try:
            self.armed = True
            signal.setitimer(signal.ITIMER_REAL, self.rng.random() * self.taken + 1e-6)
            self.call()
            self.armed = False
        except KeyboardInterrupt:
            return True
        finally:
            self.armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.taken = time.perf_counter() - start
        return False


def answers(model, rows, answer):
    found = getattr(model, answer)(rows)
    found = found.toarray() if hasattr(found, "toarray") else found
    return found.shape, found.tobytes()


@pytest.mark.parametrize("name", CASES)
def test_an_interrupted_fit_leaves_the_old_model_or_the_new(name):
    build, rows, answer = CASES[name]
    first, second = (rows[:200], LABELS[:200]), (rows[100:], LABELS[100:])
    old, new = (answers(build().fit(*part), rows, answer) for part in (first, second))
    assert old != new
    model = build().fit(*first)
    alarm = Alarm(lambda: model.fit(*second))
    interrupted = as_before = 0
    while interrupted < INTERRUPTS:
        fitted = vars(model).copy()
        interrupted += (rang := alarm.interrupts())
        found = answers(model, rows, answer)
        if rang and found == old:
            as_before += 1
            assert_same_values(model, fitted)
        else:
            assert found == new
            model.fit(*first)
    print(f"{name}.fit: {interrupted} interrupted, {as_before} times the model as before")
    assert as_before > INTERRUPTS // 2


@pytest.mark.parametrize("name", CASES)
def test_an_interrupted_answer_changes_nothing(name):
    build, rows, answer = CASES[name]
    model = build().fit(rows, LABELS)
    expected, fitted = answers(model, rows, answer), vars(model).copy()
    alarm = Alarm(lambda: getattr(model, answer)(rows))
    interrupted = 0
    while interrupted < INTERRUPTS:
        interrupted += alarm.interrupts()
        assert_same_values(model, fitted)
        assert answers(model, rows, answer) == expected
    print(f"{name}.{answer}: {interrupted} interrupted, always the model as before")


def assert_same_values(model, fitted):
    assert vars(model).keys() == fitted.keys()
    assert all(vars(model)[name] is value for name, value in fitted.items())
