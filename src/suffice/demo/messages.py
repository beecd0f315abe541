"""Messages that were written for this package, ham and spam: a demonstration, not a benchmark."""

from __future__ import annotations

import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table
from rich.text import Text
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from suffice.demo.tables import (
    Array,
    explanation_table,
    largest_difference,
    new_table,
    quality_row,
)
from suffice.errors import StaleCalibrationWarning
from suffice.text import TextClassifier
from suffice.text.mail import Message, parse_message, read_mail

FOLDS = 5
LABELS = ("ham", "spam")
# Messages that are new to the model: ham that has the words of spam, and one like it.
TRICKY = b"""From: Auctions <desk@oldlamps.example>
Subject: Congratulations, you have won the auction

Your bid has won lot 12, two brass lamps. Please pay the invoice by Friday and claim your
order at our desk; shipping is free if you pay now.
"""
SIMILAR = b"""From: Auctions <desk@oldlamps.example>
Subject: You have won lot 31

Your bid has won lot 31, a clock. Pay now and claim it, shipping is free.
"""


class Mail(NamedTuple):
    """Messages, and the label of each."""

    messages: list[Message]
    texts: list[str]
    y: Array


def folder() -> Path:
    """Return where the mailboxes of the demo are."""
    return Path(__file__).parent


@cache
def mail() -> Mail:
    """Return the messages of the demo, read once."""
    found = [(one, label) for label in LABELS for one in read_mail(folder() / f"{label}.mbox")]
    messages = [message for message, _ in found]
    y = np.array([label for _, label in found])
    return Mail(messages, [message.text for message in messages], y)


def quality() -> Table:
    """Compare held-out quality with scikit-learn's usual pipelines."""
    _, texts, y = mail()
    documents = np.array(texts, dtype=object)
    models: dict[str, Any] = {
        "scikit-learn: CountVectorizer, MultinomialNB": lambda: make_pipeline(
            CountVectorizer(), MultinomialNB()
        ),
        "scikit-learn: TfidfVectorizer,\nLogisticRegression": lambda: make_pipeline(
            TfidfVectorizer(), LogisticRegression()
        ),
        "suffice: TextClassifier()": TextClassifier,
    }
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(documents, y))
    table = new_table(f"Held-out quality, {FOLDS} folds, mean of the messages and standard error")
    for title in ("model", "accuracy", "log-loss", "fit, s"):
        table.add_column(title, justify="left" if title == "model" else "right")
    for name, new in models.items():
        proba, seconds = np.empty((len(y), len(LABELS))), 0.0
        for train, test in splits:
            start = time.perf_counter()
            fitted = new().fit(documents[train], y[train])
            seconds += time.perf_counter() - start
            proba[test] = fitted.predict_proba(documents[test])
        table.add_row(name, *quality_row(proba, y, np.array(LABELS)), f"{seconds / FOLDS:.3f}")
    table.caption = "So few messages of one hand show that it works. They are no benchmark."
    return table


def explained() -> Table:
    """Explain the label of one message: which of its words speak for spam."""
    model = TextClassifier().fit(mail().texts, mail().y)
    reasons = model.explain(parse_message(TRICKY).text, "spam")
    return explanation_table('model.explain(message, "spam"): mail of an auction house', reasons)


def corrected() -> Table:
    """Learn the right label of one message, then forget another."""
    _, texts, y = mail()
    model, message = TextClassifier().fit(texts, y), parse_message(TRICKY).text
    similar = parse_message(SIMILAR).text
    table = new_table("A correction learned, and a message forgotten")
    table.add_column("call")
    table.add_column("words", justify="right")
    table.add_column("P(spam),\nthis one", justify="right")
    table.add_column("P(spam),\none like it", justify="right")

    def add_state(call: str) -> None:
        at = list(model.classes_).index("spam")
        both = model.predict_proba([message, similar])[:, at]
        table.add_row(Text(call), f"{len(model.terms_):,}", *(f"{one:.3f}" for one in both))

    with warnings.catch_warnings():
        # The calibration stays that of the first fit; it is refreshed before models are compared.
        warnings.simplefilter("ignore", StaleCalibrationWarning)
        add_state("model.fit(messages, labels)")
        model.partial_fit([message], ["ham"])
        add_state('model.partial_fit([this], ["ham"])')
        model.forget(texts[:1], y[:1])
        add_state("model.forget(messages[:1], labels[:1])")
        model.refresh_calibration()
    left = [*texts[1:], message], [*y[1:], "ham"]
    refitted = TextClassifier().fit(*left)
    apart = largest_difference(model.predict_proba(texts), refitted.predict_proba(texts))
    table.caption = (
        "Largest difference of a probability, one message forgotten and refresh_calibration(), "
        f"against a fit without it: {apart}"
    )
    return table
