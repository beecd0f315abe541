"""What differs between two models: what they learned, what was chosen, and what they answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.errors import InputError
from suffice.tally.tally import Floats

# Rows that are drawn from each model to compare answers on, and columns or words that are listed.
DRAWS = 500
LISTED = 20


def difference(
    first: Any, second: Any, draws: int = DRAWS, random_state: int = 0
) -> dict[str, Any]:
    """Return what differs between two classifiers of one kind, as plain values.

    Parameters
    ----------
    first, second : classifiers that were fitted
    draws : int
        How many rows are drawn from each model, to compare the answers of both for them.
    random_state : int

    Returns
    -------
    dict
        `rows` and `classes` (weights of both), `settings` that differ, and where they apply
        `columns` (families, weights and information about the label), `words` (the log-ratios that
        changed most) and `answers` (how far apart probabilities are, how many labels differ).

    Examples
    --------
    >>> from suffice import GaussianNB
    >>> one = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b"])
    >>> other = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0], [7.0]], ["a", "a", "b", "b", "b"])
    >>> found = difference(one, other)
    >>> found["classes"]["b"], found["answers"]["other_labels"] < 0.2
    ([2.0, 3.0], True)
    """
    if type(first) is not type(second):
        raise InputError(
            f"A {type(first).__name__} and a {type(second).__name__} have nothing to compare part "
            "by part. Give two models of one kind."
        )
    if not hasattr(first, "tally_") or not hasattr(first, "classes_"):
        raise InputError(f"A {type(first).__name__} has no classes to compare. Give classifiers.")
    found: dict[str, Any] = {
        "model": type(first).__name__,
        "rows": [float(one.tally_.weights.sum()) for one in (first, second)],
        "classes": _pairs(_class_weights(first), _class_weights(second), 0.0),
        "settings": _changed(first.get_params(deep=False), second.get_params(deep=False)),
    }
    if hasattr(first, "choices_"):
        found["columns"] = _columns(first, second)
    if hasattr(first, "term_probabilities"):
        found["words"] = _words(first, second)
    answers = _answers(first, second, draws, random_state)
    if answers is not None:
        found["answers"] = answers
    return found


def _class_weights(model: Any) -> dict[Any, float]:
    return dict(zip(model.classes_.tolist(), model.tally_.weights.tolist(), strict=True))


def _pairs(first: dict[Any, Any], second: dict[Any, Any], missing: Any) -> dict[Any, list[Any]]:
    """Return the values of both under each key that either has."""
    keys = dict.fromkeys([*first, *second])
    return {key: [first.get(key, missing), second.get(key, missing)] for key in keys}


def _changed(first: dict[str, Any], second: dict[str, Any]) -> dict[str, list[Any]]:
    both = _pairs(first, second, None)
    return {name: pair for name, pair in both.items() if repr(pair[0]) != repr(pair[1])}


def _columns(first: Any, second: Any) -> dict[str, dict[str, list[Any]]]:
    """Return family, weight and information of each column in both, the largest change first."""
    families = _pairs(_families(first), _families(second), None)
    information = _pairs(_information(first), _information(second), None)
    weights = _pairs(_weights(first), _weights(second), None)
    found = {
        name: {
            "family": pair,
            "weight": weights.get(name, [None, None]),
            "mutual_information": information.get(name, [None, None]),
        }
        for name, pair in families.items()
    }

    def change(name: str) -> float:
        one, other = found[name]["mutual_information"]
        return abs(float(one or 0.0) - float(other or 0.0))

    return {name: found[name] for name in sorted(found, key=lambda name: -change(name))}


def _families(model: Any) -> dict[str, str]:
    choices = model.choices_
    return {name: choices[name].family for name in choices}


def _information(model: Any) -> dict[str, float]:
    found = model.importance()
    return dict(zip(found.names, found.mutual_information.tolist(), strict=True))


def _weights(model: Any) -> dict[str, float]:
    found = {}
    for block, weight in model.weights_.items():
        for name in block if isinstance(block, tuple) else (block,):
            found[name] = weight
    return found


def _words(first: Any, second: Any) -> dict[str, Any]:
    """Return words that only one model has, and those whose log-ratio changed most."""
    tables = [one.term_probabilities() for one in (first, second)]
    known = [dict(zip(table.terms.tolist(), _log_ratios(table), strict=True)) for table in tables]
    both = [word for word in known[0] if word in known[1]]
    changes = sorted(both, key=lambda word: -float(np.abs(known[1][word] - known[0][word]).max()))
    return {
        "only_first": len(known[0]) - len(both),
        "only_second": len(known[1]) - len(both),
        "changed": {
            word: [float(known[0][word].max()), float(known[1][word].max())]
            for word in changes[:LISTED]
            if not np.array_equal(known[0][word], known[1][word])
        },
    }


def _log_ratios(table: Any) -> Floats:
    """Return log p(word | class) less its mean over the classes, (words, C)."""
    logs = np.log(np.asarray(table.probability)).T
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def _answers(first: Any, second: Any, draws: int, random_state: int) -> dict[str, float] | None:
    """Return how far apart the answers are for rows drawn from both; None if none can be drawn."""
    labels = np.union1d(first.classes_, second.classes_)
    apart, other = [], []
    for one, offset in ((first, 0), (second, 1)):
        try:
            X, _ = one.sample(draws, random_state=random_state + offset)
            proba = [_among(model, X, labels) for model in (first, second)]
        except (InputError, ValueError, TypeError):
            return None  # columns differ, or there is nothing to draw
        apart.append(np.abs(proba[0] - proba[1]).max(axis=1))
        other.append(proba[0].argmax(axis=1) != proba[1].argmax(axis=1))
    return {
        "rows": 2 * draws,
        "mean_change": float(np.mean(apart)),
        "largest_change": float(np.max(apart)),
        "other_labels": float(np.mean(other)),
    }


def _among(model: Any, X: Any, labels: Any) -> Floats:
    """Return the probabilities of all labels, (n, L), 0 for those that a model does not know."""
    found = np.zeros((len(X), len(labels)))
    found[:, np.searchsorted(labels, model.classes_)] = model.predict_proba(X)
    return found
