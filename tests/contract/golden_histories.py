"""Learning in parts, forgetting, merging and adding, for every model with a tally."""

from __future__ import annotations

import golden_data as data
from golden_values import answers, fitted, flat
from suffice import (
    BayesianLinearRegression,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LinearRegression,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
)

HALF = 30
COUNTED = (data.MISSING_COUNTS, data.NEW_COUNTS)
NUMBERS = (data.NUMBERS, data.NEW)
TIGHT = {"tol": 1e-13, "max_iter": 2000}
MODELS = {
    "GaussianNB": (lambda: GaussianNB(), (data.MISSING, data.NEW)),
    "GaussianNB predictive": (lambda: GaussianNB(estimate="predictive", tie="class"), NUMBERS),
    "BernoulliNB": (lambda: BernoulliNB(alpha="evidence"), COUNTED),
    "MultinomialNB": (lambda: MultinomialNB(), COUNTED),
    "ComplementNB": (lambda: ComplementNB(), COUNTED),
    "PoissonNB": (lambda: PoissonNB(estimate="predictive"), COUNTED),
    "CategoricalNB": (lambda: CategoricalNB(), (data.MISSING_LEVELS, data.NEW_LEVELS)),
    "LinearDiscriminantAnalysis": (lambda: LinearDiscriminantAnalysis(), NUMBERS),
    "LinearDiscriminantAnalysis auto": (
        lambda: LinearDiscriminantAnalysis("lsqr", shrinkage="auto"),
        NUMBERS,
    ),
    "QuadraticDiscriminantAnalysis": (
        lambda: QuadraticDiscriminantAnalysis(reg_param=0.1),
        NUMBERS,
    ),
    "GaussianDiscriminant": (
        lambda: GaussianDiscriminant("full", **TIGHT),
        (data.MISSING, data.NEW),
    ),
    "GaussianDiscriminant diagonal": (lambda: GaussianDiscriminant("diagonal"), NUMBERS),
}


def parts_of(rows, labels):
    """Return the first rows and the others."""
    return (rows[:HALF], labels[:HALF]), (rows[HALF:], labels[HALF:])


def _batches(make, rows, labels):
    model = make()
    for start in range(0, len(rows), 13):
        stop = start + 13
        model.partial_fit(
            rows[start:stop], labels[start:stop], sample_weight=data.WEIGHTS[start:stop]
        )
    return model


def _closed(make, rows, labels):
    (first, first_labels), second = parts_of(rows, labels)
    model = make().partial_fit(first, first_labels, classes=["ant", "bee", "cow", "dog"])
    return model.partial_fit(*second)


def _forget(make, rows, labels):
    model = make().fit(rows, labels)
    return model.forget(rows[HALF:], labels[HALF:])


def _forget_class(make, rows, labels):
    gone = labels == "cow"
    return make().fit(rows, labels).forget(rows[gone], labels[gone])


def _merge(make, rows, labels):
    first, second = parts_of(rows, labels)
    return make().fit(*first).merge(make().fit(*second))


def _sum(make, rows, labels):
    return sum([make().fit(rows[at::2], labels[at::2]) for at in range(2)])


def _new_class(make, rows, labels):
    known = labels != "cow"
    return make().fit(rows[known], labels[known]).partial_fit(rows[~known], labels[~known])


HISTORIES = {
    "batches": _batches,
    "closed classes": _closed,
    "forget": _forget,
    "forget a class": _forget_class,
    "merge": _merge,
    "sum": _sum,
    "new class": _new_class,
}


def classified(model, history):
    """Return the results of a classifier after a history."""
    make, (rows, new) = MODELS[model]
    learned = HISTORIES[history](make, rows, data.LABELS)
    return answers(learned, new) | fitted(learned)


def calibrated(kind, rows, new, refresh):
    """Return the results of a calibrated classifier after it learned more and forgot."""
    model = kind(calibrate="folds").fit(rows[:HALF], data.LABELS[:HALF])
    model.partial_fit(rows[HALF:], data.LABELS[HALF:]).forget(rows[:8], data.LABELS[:8])
    if refresh == "kept rows":
        model.refresh_calibration()
    if refresh == "rows given":
        model.refresh_calibration(rows[8:], data.LABELS[8:], groups=data.GROUPS[8:])
    return answers(model, new) | fitted(model)


def regressed(kind, history):
    """Return the results of a regression after a history."""
    rows, targets, weights = data.COLUMNS, data.TARGETS, data.REPEATS
    if history == "batches":
        model = kind()
        for start in range(0, 80, 23):
            part = slice(start, start + 23)
            model.partial_fit(rows[part], targets[part], sample_weight=weights[part])
    elif history == "forget":
        model = kind().fit(rows, targets).forget(rows[:35], targets[:35])
    elif history == "merge":
        model = kind().fit(rows[:35], targets[:35]).merge(kind().fit(rows[35:], targets[35:]))
    else:
        model = sum([kind().fit(rows[at::3], targets[at::3]) for at in range(3)])
    return flat("predict", model.predict(data.NEW_COLUMNS_MISSING)) | fitted(model)


def cases():
    """Return all histories by name."""
    found = {}
    for model in MODELS:
        for history in HISTORIES:
            found[f"{model} {history}"] = lambda model=model, history=history: classified(
                model, history
            )
    tables = {GaussianNB: NUMBERS, MultinomialNB: COUNTED, GaussianDiscriminant: NUMBERS}
    for kind, (rows, new) in tables.items():
        for refresh in ("stale", "kept rows", "rows given"):
            found[f"{kind.__name__} calibrated {refresh}"] = (
                lambda kind=kind, rows=rows, new=new, refresh=refresh: calibrated(
                    kind, rows, new, refresh
                )
            )
    for kind in (LinearRegression, BayesianLinearRegression):
        for history in ("batches", "forget", "merge", "sum"):
            found[f"{kind.__name__} {history}"] = lambda kind=kind, history=history: regressed(
                kind, history
            )
    return found
