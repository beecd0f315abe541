"""GenerativeClassifier on a table as it is: words, numbers, dates, texts and missing values."""

from __future__ import annotations

import warnings
from datetime import date
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table
from rich.text import Text
from sklearn.metrics import log_loss

from suffice.demo.made_up_orders import ROWS, YEAR, Order, draw_orders
from suffice.demo.parts import Array, a_table, contributions, difference
from suffice.errors import StaleCalibrationWarning
from suffice.table import GenerativeClassifier

LEARNED = 400
# An order that comes in; its price is missing.
NEW_ORDER: Order = {
    "goods": "shoes",
    "price": None,
    "pieces": 2,
    "ordered": date(YEAR, 12, 12),
    "member": True,
    "note": "not sure about the boots, the last one was too small",
}


class Orders(NamedTuple):
    """Orders and their outcomes: some to learn from, and others to be tested on."""

    X: list[Order]
    y: Array
    X_test: list[Order]
    y_test: Array


@cache
def orders() -> Orders:
    """Draw the orders once."""
    rows, outcomes = draw_orders()
    y = np.array(outcomes)
    return Orders(rows[:LEARNED], y[:LEARNED], rows[LEARNED:], y[LEARNED:])


@cache
def fitted() -> GenerativeClassifier:
    """Fit once, for the parts that leave the model as it is."""
    X, y, _, _ = orders()
    return GenerativeClassifier().fit(X, y)


def a_look() -> Table:
    """Show some orders as they are."""
    X, y, _, _ = orders()
    table = a_table(f"{ROWS} orders of a shop, made up for this demo; the first of them")
    for column in X[0]:
        right = column in ("price", "pieces")
        table.add_column(
            column,
            justify="right" if right else "left",
            no_wrap=True,
            overflow="ellipsis",
            max_width=24,
        )
    table.add_column("outcome", no_wrap=True)
    for order, outcome in zip(X[:6], y, strict=False):
        cells = ["?" if cell is None else str(cell) for cell in order.values()]
        table.add_row(*cells, str(outcome))
    table.caption = "? is a missing value. No column is encoded, scaled or filled in."
    return table


def choices() -> Table:
    """Say which family each column was given, and what the model reaches on other orders."""
    X, y, X_test, y_test = orders()
    model = fitted()
    table = a_table(f"GenerativeClassifier().fit(orders, outcomes), {LEARNED} orders learned")
    table.add_column("column")
    table.add_column("missing", justify="right")
    table.add_column("distribution")
    table.add_column("tried, with less evidence")
    for name, choice in model.choices_.items():
        # A date is also a weekday and a month.
        missing = sum(order[name.split(":")[0]] is None for order in X)
        family = choice.family + (f", with {choice.others}" if choice.others else "")
        others = sorted(choice.evidence, key=lambda other: -choice.evidence[other])
        less = ", ".join(other for other in others if other != choice.family)
        table.add_row(name, str(missing), family, less or "-")
    shares = np.array([np.mean(y == label) for label in model.classes_])
    guess = np.tile(shares, (len(y_test), 1))
    table.caption = (
        f"On the {len(y_test)} other orders: accuracy {model.score(X_test, y_test):.2f}, log-loss "
        f"{log_loss(y_test, model.predict_proba(X_test)):.2f}. From the class shares alone: "
        f"{np.mean(y_test == model.classes_[shares.argmax()]):.2f}, {log_loss(y_test, guess):.2f}."
    )
    return table


def reasons() -> Table:
    """Explain the probability of one new order."""
    return contributions(
        "model.explain(order): why a new order may come back; its price is missing",
        fitted().explain(NEW_ORDER, "returned"),
    )


def learned_and_forgotten() -> Table:
    """Learn what became of the new order, forget it, and forget one of the first orders."""
    X, y, X_test, _ = orders()
    model = GenerativeClassifier().fit(X, y)
    table = a_table("One order more, and one order less")
    table.add_column("call")
    table.add_column("orders\nlearned", justify="right")
    table.add_column("P(returned)\nof the new order", justify="right")

    def state(call: str) -> Array:
        at = list(model.classes_).index("returned")
        new = model.predict_proba([NEW_ORDER])[0, at]
        table.add_row(Text(call), f"{model.tally_.weights.sum():.0f}", f"{new:.3f}")
        answers: Array = model.predict_proba(X_test)
        return answers

    with warnings.catch_warnings():
        # Weights are those of the first rows until refresh_weights: here they are to stay.
        warnings.simplefilter("ignore", StaleCalibrationWarning)
        before = state("model.fit(orders, outcomes)")
        model.partial_fit([NEW_ORDER], ["kept"])
        state('model.partial_fit([new], ["kept"])')
        model.forget([NEW_ORDER], ["kept"])
        undone = difference(before, state('model.forget([new], ["kept"])'))
        model.forget(X[:1], y[:1])
        state("model.forget(orders[:1], outcomes[:1])")
        model.refresh_weights(X[1:], y[1:])
    never: Any = GenerativeClassifier(model.families_).fit(X[1:], y[1:])
    apart = difference(model.predict_proba(X_test), never.predict_proba(X_test))
    table.caption = (
        f"Largest difference of a probability on the test orders. The new order learned and "
        f"forgotten, and never learned: {undone}. The first order forgotten, with the weights "
        f"refreshed, and a fit on the other {LEARNED - 1}: {apart}."
    )
    return table
