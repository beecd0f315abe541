"""Documents, settings and models that were really fitted without a document."""

import warnings
from itertools import product

import numpy as np

from suffice import TextClassifier
from suffice.errors import OneClassWarning

EVENTS = ("multinomial", "bernoulli", "complement", "polya")
UNKNOWN = ("ignore", "smooth")
WORDS = np.array(
    ["cheap", "pills", "watches", "lunch", "noon", "report", "meeting", "free", "win", "prize"]
)
MAILS = [
    "cheap pills cheap pills",
    "lunch at noon",
    "cheap watches only today",
    "see you at lunch lunch lunch",
    "quarterly report attached",
    "the report and the lunch",
    "win a free watch today, win",
    "",
    "meeting at noon, report to follow",
    "free pills",
]
LABELS = ["spam", "ham", "spam", "ham", "work", "work", "spam", "ham", "work", "spam"]
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 1.0, 1.5, 1.0, 0.25])

event_cases = list(product(EVENTS, UNKNOWN))


def corpus(size=120, classes=3, seed=0):
    """Return documents of random words, some classes fonder of some of them, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, size)
    liking = rng.dirichlet(np.full(len(WORDS), 0.7), classes)
    documents = [
        " ".join(rng.choice(WORDS, rng.poisson(6), p=liking[label]))
        # A word that no other document has, now and then.
        + (f" own{at}" if rng.random() < 0.3 else "")
        for at, label in enumerate(y.tolist())
    ]
    return documents, np.array(["eggs", "ham", "spam", "toast"])[y]


def without(items, at):
    """Return all items but one."""
    return [item for number, item in enumerate(items) if number != at]


def tally_by_name(model):
    """Return what was learned as plain numbers: by class, the weight and the terms' counts."""
    parts = model.tally_.parts
    parts = parts.parts if hasattr(parts, "parts") else (parts,)
    terms = model.terms_.tolist()
    return {
        str(label): (
            float(weight),
            [
                {t: float(n) for t, n in zip(terms, part.counts[at], strict=True) if n}
                for part in parts
            ],
        )
        for at, (label, weight) in enumerate(
            zip(model.classes_.tolist(), model.tally_.weights, strict=True)
        )
    }


def quietly(act):
    """Do something that leaves one class, without its warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassWarning)
        return act()


def refitted(model, documents, labels, weights, at):
    """Return log p(class | document) by a model that really was fitted to the others."""
    settings = model.get_params(deep=False) | {"alpha": model.alpha_, "calibrate": None}
    rest = TextClassifier(**settings)
    others = np.asarray(weights)[np.arange(len(documents)) != at]
    quietly(lambda: rest.fit(without(documents, at), without(labels, at), others))
    log_proba = np.full(len(model.classes_), -np.inf)
    log_proba[np.searchsorted(model.classes_, rest.classes_)] = rest.predict_log_proba(
        [documents[at]]
    )
    return log_proba
