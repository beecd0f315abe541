"""A table of orders with GenerativeClassifier, and messages with TextClassifier."""

from __future__ import annotations

import warnings
from datetime import date
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table
from rich.text import Text
from sklearn.metrics import log_loss

from suffice.demo import shop_data
from suffice.demo.shop_data import Order
from suffice.demo.tables import Array, explanation_table, largest_difference, new_table
from suffice.errors import StaleCalibrationWarning
from suffice.table import GenerativeClassifier
from suffice.text import TextClassifier

ORDERS_LEARNED = 400
# An order that comes in; its price is missing.
NEW_ORDER: Order = {
    "goods": "shoes",
    "price": None,
    "pieces": 2,
    "ordered": date(shop_data.YEAR, 12, 12),
    "member": True,
    "note": "not sure about the boots, the last one was too small",
}

MESSAGES = [message for messages in shop_data.MESSAGES.values() for message in messages]
DESKS = [desk for desk, messages in shop_data.MESSAGES.items() for _ in messages]
# What it costs to have a message read by a person; sent to a wrong desk, it costs 1.
REJECT = 0.4


class Orders(NamedTuple):
    """Orders and their outcomes: some to learn from, and others to test on."""

    X: list[Order]
    y: Array
    X_test: list[Order]
    y_test: Array


@cache
def orders() -> Orders:
    """Return the orders, drawn once."""
    X, outcomes = shop_data.draw_orders()
    y, n = np.array(outcomes), ORDERS_LEARNED
    return Orders(X[:n], y[:n], X[n:], y[n:])


@cache
def order_model() -> GenerativeClassifier:
    """Return a model of the orders, fitted once; parts that update it fit their own."""
    X, y, _, _ = orders()
    return GenerativeClassifier().fit(X, y)


def first_orders() -> Table:
    """Show the first orders as they are."""
    X, y, _, _ = orders()
    table = new_table(f"The first of {shop_data.ROWS} orders of a shop, made up for this demo")
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


def families() -> Table:
    """Show which distribution was selected for each column, and the scores on test orders."""
    X, y, X_test, y_test = orders()
    model = order_model()
    table = new_table(
        f"Distributions selected by GenerativeClassifier().fit: {ORDERS_LEARNED} orders learned"
    )
    table.add_column("column")
    table.add_column("missing", justify="right")
    table.add_column("distribution")
    table.add_column("others, by decreasing evidence")
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
        "Evidence is the probability of the column's data, parameters integrated out.\n"
        f"On {len(y_test)} test orders: accuracy {model.score(X_test, y_test):.2f}, log-loss "
        f"{log_loss(y_test, model.predict_proba(X_test)):.2f}. With class frequencies alone: "
        f"{np.mean(y_test == model.classes_[shares.argmax()]):.2f}, {log_loss(y_test, guess):.2f}."
    )
    return table


def explained_order() -> Table:
    """Explain the probability of one new order."""
    return explanation_table(
        "model.explain(order): will a new order be returned? Its price is missing",
        order_model().explain(NEW_ORDER, "returned"),
    )


def updated_orders() -> Table:
    """Learn the outcome of a new order, forget it, and forget one of the first orders."""
    X, y, X_test, _ = orders()
    model = GenerativeClassifier().fit(X, y)
    table = new_table("Learning one order more, and forgetting orders")
    table.add_column("call")
    table.add_column("orders\nlearned", justify="right")
    table.add_column("P(returned),\nnew order", justify="right")

    def add_state(call: str) -> Array:
        at = list(model.classes_).index("returned")
        new = model.predict_proba([NEW_ORDER])[0, at]
        table.add_row(Text(call), f"{model.tally_.weights.sum():.0f}", f"{new:.3f}")
        answers: Array = model.predict_proba(X_test)
        return answers

    with warnings.catch_warnings():
        # The combination weights stay those of the first fit until refresh_weights.
        warnings.simplefilter("ignore", StaleCalibrationWarning)
        before = add_state("model.fit(orders, outcomes)")
        model.partial_fit([NEW_ORDER], ["kept"])
        add_state('model.partial_fit([new], ["kept"])')
        model.forget([NEW_ORDER], ["kept"])
        undone = largest_difference(before, add_state('model.forget([new], ["kept"])'))
        model.forget(X[:1], y[:1])
        add_state("model.forget(orders[:1], outcomes[:1])")
        model.refresh_weights(X[1:], y[1:])
    refitted: Any = GenerativeClassifier(model.families_).fit(X[1:], y[1:])
    apart = largest_difference(model.predict_proba(X_test), refitted.predict_proba(X_test))
    table.caption = (
        "Largest difference of a probability of a test order:\n"
        f"- new order learned and forgotten, against never learned: {undone}\n"
        f"- first order forgotten and refresh_weights(), against a fit without it: {apart}"
    )
    return table


@cache
def message_model() -> TextClassifier:
    """Return a model of the messages, fitted once; parts that update it fit their own."""
    return TextClassifier().fit(MESSAGES, DESKS)


def sorted_messages() -> Table:
    """Show which desk new messages are for, and which are left to a person."""
    model = message_model()
    new = [*(message for message, _ in shop_data.NEW_MESSAGES), shop_data.FOREIGN_MESSAGE]
    table = new_table(
        f"New messages, after {len(MESSAGES)} were learned; all were written for this demo"
    )
    table.add_column("message")
    for desk in model.classes_:
        table.add_column(f"P({desk})", justify="right")
    table.add_column("decision")
    answers = model.predict_proba(new), model.decide(new, reject=REJECT)
    for message, proba, desk in zip(new, *answers, strict=True):
        numbers = (f"{p:.2f}" for p in proba)
        table.add_row(Text(message), *numbers, "a person" if desk is None else str(desk))
    left_out = model.leave_one_out(MESSAGES, DESKS)
    table.caption = (
        f"The decision is model.decide(messages, reject={REJECT}): a wrong desk costs 1, and a "
        f"person who reads the message {REJECT}. Leave-one-out: accuracy {left_out.accuracy:.2f}, "
        f"log-loss {left_out.log_loss:.2f}."
    )
    return table


def explained_message() -> Table:
    """Explain the desk of one message."""
    message, desk = shop_data.NEW_MESSAGES[0]
    return explanation_table(
        f"model.explain(message): {message}", message_model().explain(message, desk)
    )


def updated_messages() -> Table:
    """Learn the right label of one message, then forget another."""
    model = TextClassifier().fit(MESSAGES, DESKS)
    message, desk = shop_data.NEW_MESSAGES[-1]
    table = new_table("Learning a correction, and forgetting a message")
    table.add_column("call")
    table.add_column("words", justify="right")
    table.add_column(f"P({desk}),\nthis one", justify="right")
    table.add_column(f"P({desk}),\na similar one", justify="right")

    def add_state(call: str) -> Array:
        at = list(model.classes_).index(desk)
        answers: Array = model.predict_proba([message, shop_data.SIMILAR_MESSAGE, *MESSAGES])
        own, similar = answers[:2, at]
        table.add_row(Text(call), str(len(model.terms_)), f"{own:.2f}", f"{similar:.2f}")
        return answers

    with warnings.catch_warnings():
        # The calibration stays that of the first fit; it is refreshed before models are compared.
        warnings.simplefilter("ignore", StaleCalibrationWarning)
        add_state("model.fit(messages, desks)")
        model.partial_fit([message], [desk])
        add_state(f'model.partial_fit([this], ["{desk}"])')
        model.forget(MESSAGES[:1], DESKS[:1])
        add_state("model.forget(messages[:1], desks[:1])")
    texts, desks = [*MESSAGES[1:], message], [*DESKS[1:], desk]
    model.refresh_calibration(texts, desks)
    refitted = TextClassifier().fit(texts, desks)
    apart = largest_difference(model.predict_proba(MESSAGES), refitted.predict_proba(MESSAGES))
    table.caption = (
        f"This one: {message}\nA similar one: {shop_data.SIMILAR_MESSAGE}\n"
        "Largest difference of a probability, one message forgotten and refresh_calibration(), "
        f"against a fit without it: {apart}"
    )
    return table
