"""Decisions: the action with the least expected loss (docs: mathematics, section 2)."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import InputError
from suffice.tally.tally import Floats

Loss = Any


def decide(
    proba: Floats, classes: NDArray[Any], loss: Loss = None, reject: float | None = None
) -> NDArray[Any]:
    """Return the action of least expected loss for each row.

    Parameters
    ----------
    proba : (n, C)
    classes : (C,)
    loss : (A, C) array, or mapping from an action to its losses by class, or None
        What each action costs under each class. The actions of a square array are the classes
        themselves, those of another array are 0, 1, 2, ...; None is a loss of 1 for a wrong class.
    reject : float, optional
        What it costs to decide nothing; such rows get None.

    Examples
    --------
    >>> p = np.array([[0.6, 0.4], [0.95, 0.05]])
    >>> ham_spam = np.array(["ham", "spam"])
    >>> decide(p, ham_spam, {"deliver": {"ham": 0, "spam": 1}, "hold": {"ham": 5, "spam": 0}})
    array(['deliver', 'deliver'], dtype='<U7')
    >>> decide(p, ham_spam, reject=0.1)
    array([None, 'ham'], dtype=object)
    """
    actions, table = loss_table(classes, loss)
    expected = proba @ table.T
    best = np.argmin(expected, axis=1)
    chosen: NDArray[Any] = actions[best]
    if reject is None:
        return chosen
    if not (isinstance(reject, Real) and np.isfinite(reject)):
        raise InputError(f"reject={reject!r:.80} is no cost. Give a finite number, or None.")
    out: NDArray[Any] = chosen.astype(object)
    out[expected[np.arange(len(best)), best] > reject] = None
    return out


def loss_table(classes: NDArray[Any], loss: Loss) -> tuple[NDArray[Any], Floats]:
    """Return the actions, (A,), and what each costs under each class, (A, C)."""
    if loss is None:
        return classes, 1.0 - np.eye(len(classes))
    if isinstance(loss, Mapping):
        if not loss:
            raise InputError("loss names no action. Give at least one, with its losses by class.")
        actions = np.empty(len(loss), dtype=object)
        actions[:] = list(loss)
        if len({type(action) for action in loss}) == 1 and np.isscalar(actions[0]):
            actions = np.array(list(loss))
        rows = [_losses_of(action, costs, classes) for action, costs in loss.items()]
        table = np.array(rows, dtype=np.float64)
    else:
        try:
            table = np.asarray(loss, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"loss={loss!r:.80} is no table of costs. Give an array with a row an action and a "
                "column a class, a mapping from each action to its costs by class, or None, which "
                "counts 1 for a wrong class."
            ) from None
        if table.ndim != 2 or table.shape[1] != len(classes):
            raise InputError(
                f"loss has shape {table.shape} for {len(classes)} classes. Give one row an "
                "action and one column a class."
            )
        square = table.shape[0] == len(classes)
        actions = classes if square else np.arange(table.shape[0])
    if not np.isfinite(table).all():
        raise InputError("loss holds a value that is not finite. Give finite costs.")
    return actions, table


def _losses_of(action: Any, costs: Any, classes: NDArray[Any]) -> list[float]:
    names = classes.tolist()
    if not isinstance(costs, Mapping):
        if np.ndim(costs) != 1 or len(costs) != len(classes):
            given = f"{len(costs)} losses" if np.ndim(costs) == 1 else f"the loss {costs!r:.80}"
            raise InputError(
                f"Action {action!r} has {given} for {len(classes)} classes. Give one a class."
            )
        costs = dict(zip(names, costs, strict=True))
    missing = [name for name in names if name not in costs]
    if missing:
        raise InputError(
            f"Action {action!r} has no loss for class {missing[0]!r}. Give one for each class."
        )
    for name in names:
        if np.ndim(costs[name]) or np.asarray(costs[name]).dtype.kind not in "biuf":
            raise InputError(
                f"Action {action!r} has the loss {costs[name]!r:.80} for class {name!r}, which is "
                "no number. Give a finite cost."
            )
    return [float(costs[name]) for name in names]


def read_loss(path: str | os.PathLike[str], classes: NDArray[Any]) -> dict[str, dict[Any, float]]:
    """Return what actions cost, as `decide` takes it, from a file.

    Parameters
    ----------
    path : of a CSV file, a line an action and a column a class, or of JSON, an object of objects:
        `{"call": {"leaves": 1, "stays": 3}, "wait": {"leaves": 20, "stays": 0}}`
    classes : (C,)
    """
    name = os.fspath(path)
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            text = file.read()
        if text.lstrip().startswith("{"):
            found = json.loads(text)
        else:
            lines = list(csv.DictReader(text.splitlines()))
            first = next(iter(lines[0]))
            found = {line.pop(first): line for line in lines}
        named = {
            action: {label: float(costs[str(label)]) for label in classes.tolist()}
            for action, costs in found.items()
        }
    except KeyError as error:
        raise InputError(
            f"{name!r} has an action without a cost for class {error.args[0]!r}. Give one for each "
            f"of the classes {classes.tolist()}."
        ) from None
    except (ValueError, TypeError, AttributeError, IndexError, StopIteration) as error:
        raise InputError(
            f"{name!r} is no table of costs ({error}). Give CSV, a line an action and a column a "
            "class, or JSON: {action: {class: cost}}."
        ) from None
    # An action that is a class has the class's own name, so that the two can be compared.
    own = {str(label): label for label in classes.tolist()}
    return {own.get(action, action): costs for action, costs in named.items()}
