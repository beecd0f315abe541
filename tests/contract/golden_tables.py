"""The classifier of mixed tables: every family, combination, stream and automatic choice."""

from __future__ import annotations

import datetime
from itertools import pairwise

import numpy as np

from golden_values import (
    IMPORTANT,
    answers,
    cross_validation,
    explanations,
    fields_of,
    fitted,
    leave_one_out,
    samples,
    value_or_refusal,
)
from suffice import GenerativeClassifier

SIZE = 160
NAMES = np.array(["ant", "bee", "cow"])
WORDS = np.array(
    ["cheap", "pills", "watch", "lunch", "noon", "report", "you", "at", "the", "meeting"]
)


def table(seed=20, size=SIZE, gaps=True):
    """Return a mapping of columns of all kinds, and labels that depend on most of them."""
    rng = np.random.default_rng(seed)
    y = np.arange(size) % 3
    first = rng.normal(size=size)
    columns = {
        "weight": rng.normal(10.0 + 3.0 * y, 1.5),
        "income": np.exp(rng.normal(3.0 + 0.8 * y, 0.6)),
        "children": rng.poisson(0.7 + 2.0 * y),
        "city": np.where(rng.random(size) < 0.7, np.array(["Rome", "Oslo", "Lima"])[y], "Bonn"),
        "member": rng.random(size) < 0.1 + 0.4 * y,
        "left": first + 0.2 * y,
        "right": first * np.where(y == 0, -1, 1) + 0.3 * rng.normal(size=size),
    }
    columns = {
        name: (np.round(column, 4) if column.dtype.kind == "f" else column).tolist()
        for name, column in columns.items()
    }
    if gaps:
        for name in ("weight", "income", "city"):
            for at in np.flatnonzero(rng.random(size) < 0.08).tolist():
                columns[name][at] = None
    return columns, NAMES[y]


def documents(seed=21, size=SIZE):
    """Return short texts, and labels that depend on some words."""
    rng = np.random.default_rng(seed)
    y = np.arange(size) % 3
    liking = np.array(
        [
            [5, 5, 5, 1, 1, 1, 3, 3, 3, 1],
            [1, 1, 1, 6, 6, 1, 3, 3, 3, 1],
            [1, 1, 1, 1, 1, 6, 3, 3, 3, 6],
        ]
    )
    texts = [
        " ".join(rng.choice(WORDS, 3 + rng.poisson(4), p=liking[c] / liking[c].sum()).tolist())
        + (f" own{at}" if rng.random() < 0.2 else "")
        for at, c in enumerate(y.tolist())
    ]
    return texts, NAMES[y]


def rows_of(columns, at):
    """Return some rows of a mapping of columns."""
    return {name: [column[row] for row in at] for name, column in columns.items()}


NEW = {
    "weight": [9.0, 16.5, None, 12.0, None],
    "income": [12.0, None, 90.0, 33.0, None],
    "children": [0, 6, 3, 1, None],
    "city": ["Rome", "Lima", None, "Cairo", None],
    "member": [False, True, True, None, None],
    "left": [0.5, -1.0, 0.3, 0.0, None],
    "right": [-0.6, -1.1, 0.2, 0.1, None],
}


def only(columns, *names):
    """Return some columns."""
    return {name: columns[name] for name in names}


def answers_of(model, rows, labels, new, *, leave=True, validate=False, rest=False):
    """Return all results of a classifier of tables."""
    first = {name: column[:1] for name, column in new.items()}
    found = answers(model, new) | fitted(model) | explanations(model, first, rest=rest or validate)
    found |= value_or_refusal("importance", lambda: fields_of(model.importance(), *IMPORTANT))
    found |= value_or_refusal("impute", lambda: plain(model.impute(new)))
    found |= samples(model)
    for column, choice in model.choices_.items():
        found |= value_or_refusal(
            f"choice.{column}",
            lambda choice=choice: fields_of(choice, "family", "block", "evidence"),
        )
    found["choices when"] = model.choices_.when
    if leave:
        found |= leave_one_out(model, rows, labels)
    if validate:
        found |= cross_validation(model, rows, labels)
    return found


def plain(filled):
    """Return a table as a mapping of columns."""
    return filled.to_dict("list") if hasattr(filled, "to_dict") else filled


def whole(settings, validate=False, names=None, weights=None, groups=None, labels=None):
    """Fit a classifier to the mixed table, or some columns of it."""
    columns, y = table()
    y = y if labels is None else labels(y)
    names = list(columns) if names is None else names
    rows, new = only(columns, *names), only(NEW, *names)
    model = GenerativeClassifier(**settings).fit(rows, y, sample_weight=weights, groups=groups)
    rest = settings.get("estimate") == "mean"
    return answers_of(model, rows, y, new, validate=validate, leave=weights is None, rest=rest)


FAMILIES = {
    "weight": ["normal", "normal:tied", "binned", "student", "ignore"],
    "income": ["lognormal", "lognormal:tied", "normal", "student"],
    "children": ["poisson", "categorical", "normal", "binned"],
    "city": ["categorical"],
    "member": ["bernoulli", "categorical"],
}


def one_family(column, family):
    """Fit a classifier whose one interesting column has a family by name."""
    names = [column, "left"]
    settings = {"families": {column: family, "left": "normal"}, "combine": "blocks"}
    return whole(settings, names=names)


BLOCKS = {
    "mvn": {("left", "right"): "mvn"},
    "mvn:tied": {("left", "right", "weight"): "mvn:tied"},
    "joint": {("city", "member"): "joint"},
    "mvn and joint": {("left", "right"): "mvn", ("city", "member"): "joint", "income": "ignore"},
}


def text_table(family, combine):
    """Fit a classifier to a table with a column of texts."""
    texts, y = documents()
    columns, _ = table()
    rows = {"note": texts, "weight": columns["weight"]}
    new = {"note": ["cheap pills at noon", "", None, "zzz"], "weight": [9.0, 16.0, None, None]}
    families = {"note": family} if family else "auto"
    model = GenerativeClassifier(families, combine=combine).fit(rows, y)
    return answers_of(model, rows, y, new, validate=family is None)


def informative():
    """Fit a classifier where missingness depends on the class."""
    columns, y = table(gaps=False)
    rows = only(columns, "weight", "city")
    rng = np.random.default_rng(22)
    chance = np.where(y == "ant", 0.5, 0.05)
    hidden = (rng.random(SIZE) < chance).tolist()
    rows["city"] = [None if missing else c for missing, c in zip(hidden, rows["city"], strict=True)]
    new = only(NEW, "weight", "city")
    model = GenerativeClassifier(missing="informative").fit(rows, y)
    return answers_of(model, rows, y, new)


def strings():
    """Fit a classifier to numbers, dates and times that are written as strings."""
    columns, y = table(gaps=False)
    first = datetime.date(2024, 1, 1)
    rng = np.random.default_rng(23)
    days = (rng.integers(0, 60, SIZE) + 40 * (np.arange(SIZE) % 3)).tolist()
    rows = {
        "price": [f"${x:,.2f}" for x in columns["income"]],
        "since": [(first + datetime.timedelta(days=day)).isoformat() for day in days],
        "at": [f"{int(h)}:30" for h in rng.integers(6, 20, SIZE)],
    }
    rows["price"][7] = "n.d."
    new = {
        "price": ["$10.00", "1,000.50", None],
        "since": ["2024-02-01", "31 Mar 2024", None],
        "at": ["18:30", None, "6:30"],
    }
    model = GenerativeClassifier({"since": "normal"}, combine="blocks").fit(rows, y)
    return answers_of(model, rows, y, new)


def identifiers():
    """Fit a classifier to a column of identifiers, and one that depends on the class."""
    columns, y = table()
    rows = only(columns, "weight")
    rows["id"] = [f"row{at}" for at in range(SIZE)]
    new = {"weight": [9.0, None], "id": ["row3", "row900"]}
    return answers_of(GenerativeClassifier().fit(rows, y), rows, y, new)


def array(settings):
    """Fit a classifier to an array of numbers with missing values."""
    columns, y = table()
    rows = np.array([columns[name] for name in ("weight", "left", "right")], dtype=float).T
    model = GenerativeClassifier(**settings).fit(rows, y)
    found = answers(model, rows[:6]) | fitted(model) | explanations(model, rows[:1])
    return found | leave_one_out(model, rows, y)


def stream(stop, settings=None):
    """Learn a table in batches that start with one row."""
    columns, y = table()
    rows = only(columns, "weight", "children", "city")
    model = GenerativeClassifier(**(settings or {}))
    edges = [0, 1, 2, 10, 45, 60, 100, SIZE]
    for start, end in pairwise(edges):
        if end <= stop:
            part = list(range(start, end))
            model.partial_fit(rows_of(rows, part), y[part])
    new = only(NEW, "weight", "children", "city")
    learned = list(range(stop))
    return answers_of(model, rows_of(rows, learned), y[learned], new, leave=False)


def learned_on(act):
    """Fit a classifier to part of a table, and go on from there."""
    columns, y = table()
    rows = only(columns, "weight", "children", "city")
    first, second = list(range(100)), list(range(100, SIZE))
    parts = [(rows_of(rows, at), y[at]) for at in (first, second)]
    model = act(parts)
    return answers_of(model, rows, y, only(NEW, "weight", "children", "city"), leave=False)


def _partial_fit(parts):
    return GenerativeClassifier().fit(*parts[0]).partial_fit(*parts[1])


def _refreshed(parts):
    return _partial_fit(parts).refresh_weights()


def _forget(parts):
    return _partial_fit(parts).forget(*parts[1])


def _sum(parts):
    first = GenerativeClassifier().fit(*parts[0])
    return first + GenerativeClassifier(first.families_).fit(*parts[1])


def _merged(parts):
    first = GenerativeClassifier().fit(*parts[0])
    first.merge(GenerativeClassifier(first.families_).fit(*parts[1]))
    both = {name: parts[0][0][name] + parts[1][0][name] for name in parts[0][0]}
    return first.refresh_weights(both, np.concatenate([parts[0][1], parts[1][1]]))


def _decay(parts):
    return GenerativeClassifier().fit(*parts[0]).decay(0.5).partial_fit(*parts[1])


def _window(parts):
    model = GenerativeClassifier().window(90)
    return model.partial_fit(*parts[0]).partial_fit(*parts[1])


def _new_class(parts):
    rows, labels = parts[1]
    return GenerativeClassifier().fit(*parts[0]).partial_fit(rows, np.full(len(labels), "dog"))


HISTORIES = {
    "partial_fit": _partial_fit,
    "partial_fit refresh_weights": _refreshed,
    "partial_fit forget": _forget,
    "sum": _sum,
    "merge refresh_weights": _merged,
    "decay": _decay,
    "window": _window,
    "new class": _new_class,
}


def tried():
    """Try settings by cross-validation, rows in groups."""
    columns, y = table()
    rows = only(columns, "weight", "children", "city")
    settings = {"combine": ["naive", "blocks"], "estimate": ["predictive", "mean"]}
    return cross_validation(
        GenerativeClassifier(), rows, y, 3, groups=np.arange(SIZE) % 31, **settings
    )


def cases():
    """Return all cases of the classifier of tables by name."""
    found = {"auto": lambda: whole({}, validate=True)}
    for combine in ("naive", "temperature", "blocks", "residual", "auto"):
        stored_as = "corrected" if combine == "residual" else combine
        for estimate in ("predictive", "mean"):
            settings = {"combine": combine, "estimate": estimate, "budget": 0}
            found[f"combine={stored_as} estimate={estimate}"] = lambda settings=settings: whole(
                settings, names=["weight", "income", "children", "city", "member"]
            )
    for column, families in FAMILIES.items():
        for family in families:
            found[f"{column} is {family}"] = lambda column=column, family=family: one_family(
                column, family
            )
    for name, families in BLOCKS.items():
        for estimate in ("predictive", "mean"):
            settings = {"families": families, "estimate": estimate, "budget": 0}
            found[f"block {name} estimate={estimate}"] = lambda settings=settings: whole(settings)
    found["budget=0"] = lambda: whole({"budget": 0})
    found["joined blocks"] = lambda: whole({}, names=["left", "right", "children"])
    found["two classes"] = lambda: whole(
        {}, labels=lambda y: y == "ant", names=["weight", "children", "city", "member"]
    )
    weights = np.random.default_rng(24).choice([0.5, 1.0, 2.0], SIZE)
    found["sample_weight"] = lambda: whole({}, weights=weights, names=["weight", "city"])
    found["groups"] = lambda: whole({}, groups=np.arange(SIZE) % 40, names=["weight", "city"])
    for family in ("text", "text:bernoulli", "text:complement", None):
        for combine in ("auto", "naive") if family == "text" else ("auto",):
            found[f"texts {family} combine={combine}"] = lambda family=family, combine=combine: (
                text_table(family, combine)
            )
    found["missing=informative"] = informative
    found["strings"] = strings
    found["identifiers"] = identifiers
    found["array"] = lambda: array({})
    found["array families by place"] = lambda: array({"families": {(1, 2): "mvn", 0: "normal"}})
    for stop in (1, 10, 60, SIZE):
        found[f"stream of {stop}"] = lambda stop=stop: stream(stop)
    found["stream naive"] = lambda: stream(SIZE, {"combine": "naive"})
    for name, act in HISTORIES.items():
        found[f"history {name}"] = lambda act=act: learned_on(act)
    found["cross_validate"] = tried
    return {f"GenerativeClassifier {name}": make for name, make in found.items()}
