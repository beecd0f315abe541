"""TextClassifier on messages: which desk is each for, and why."""

from __future__ import annotations

import warnings
from functools import cache

from rich.table import Table
from rich.text import Text

from suffice.demo.made_up_messages import FOREIGN, LEARNED, NEW, SIMILAR
from suffice.demo.parts import Array, a_table, contributions, difference
from suffice.errors import StaleCalibrationWarning
from suffice.text import TextClassifier

MESSAGES = [message for messages in LEARNED.values() for message in messages]
DESKS = [desk for desk, messages in LEARNED.items() for _ in messages]
# What it costs to have a message read by a person; sent to a wrong desk, it costs 1.
REJECT = 0.4


@cache
def fitted() -> TextClassifier:
    """Fit once, for the parts that leave the model as it is."""
    return TextClassifier().fit(MESSAGES, DESKS)


def sorting() -> Table:
    """Say which desk new messages are for, and leave doubtful ones to a person."""
    model = fitted()
    asked = [*(message for message, _ in NEW), FOREIGN]
    table = a_table(f"{len(MESSAGES)} messages learned, all written for this demo; new ones")
    table.add_column("message")
    for desk in model.classes_:
        table.add_column(f"P({desk})", justify="right")
    table.add_column("decision")
    answers = model.predict_proba(asked), model.decide(asked, reject=REJECT)
    for message, shares, desk in zip(asked, *answers, strict=True):
        numbers = (f"{share:.2f}" for share in shares)
        table.add_row(Text(message), *numbers, "a person" if desk is None else str(desk))
    left_out = model.leave_one_out(MESSAGES, DESKS)
    table.caption = (
        f"A wrong desk costs 1, a person {REJECT}: model.decide(messages, reject={REJECT}). "
        f"Leave-one-out: accuracy {left_out.accuracy:.2f}, log-loss {left_out.log_loss:.2f}; "
        f"{len(model.terms_)} words."
    )
    return table


def reasons() -> Table:
    """Explain the desk of one message."""
    message, desk = NEW[0]
    return contributions(f"model.explain: {message}", fitted().explain(message, desk))


def learned_and_forgotten() -> Table:
    """Correct the model on one message, then forget another."""
    model = TextClassifier().fit(MESSAGES, DESKS)
    message, desk = NEW[-1]
    table = a_table("One message corrected, another forgotten")
    table.add_column("call")
    table.add_column("words", justify="right")
    table.add_column(f"P({desk}),\nthis one", justify="right")
    table.add_column(f"P({desk}),\na similar one", justify="right")

    def state(call: str) -> Array:
        at = list(model.classes_).index(desk)
        answers: Array = model.predict_proba([message, SIMILAR, *MESSAGES])
        own, similar = answers[:2, at]
        table.add_row(Text(call), str(len(model.terms_)), f"{own:.2f}", f"{similar:.2f}")
        return answers

    with warnings.catch_warnings():
        # The calibration stays that of the first fit; it is refreshed before models are compared.
        warnings.simplefilter("ignore", StaleCalibrationWarning)
        state("model.fit(messages, desks)")
        model.partial_fit([message], [desk])
        state(f'model.partial_fit([this], ["{desk}"])')
        model.forget(MESSAGES[:1], DESKS[:1])
        state("model.forget(messages[:1], desks[:1])")
    texts, desks = [*MESSAGES[1:], message], [*DESKS[1:], desk]
    model.refresh_calibration(texts, desks)
    never = TextClassifier().fit(texts, desks)
    apart = difference(model.predict_proba(MESSAGES), never.predict_proba(MESSAGES))
    table.caption = (
        f"This one: {message}\nA similar one: {SIMILAR}\n"
        "Largest difference of a probability. One message forgotten, with the calibration "
        f"refreshed, and a fit on the others: {apart}."
    )
    return table
