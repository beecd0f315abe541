"""Cases of documents, and of columns of texts, for the laws of `suffice.testing`."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from law_case import Case
from suffice.data import Table
from suffice.text.classify.document_model import DocumentModel
from suffice.text.classify.term_counter import TermCounter
from suffice.text.family import Text
from suffice.text.vectorize.analyzer import WordAnalyzer
from suffice.text.vectorize.vocabulary import Vocabulary

OWN = np.arange(60) % 2


def documents() -> list[str]:
    rng = np.random.default_rng(5)
    terms, shares = ["late", "rude", "kind", "quick"], np.array([0.1, 0.2, 0.3, 0.4])
    return [" ".join(rng.choice(terms, 6, p=shares[:: 1 - 2 * own])) for own in OWN.tolist()]


def document_cases() -> dict[str, Case]:
    found = {}
    for event, given in product(("multinomial", "bernoulli", "complement", "polya"), (0, 1)):
        counter = TermCounter(WordAnalyzer(), Vocabulary.empty(), event=event)
        counter, matrix = counter.learn(documents())
        if given:
            known = TermCounter(WordAnalyzer(), counter.vocabulary, event=event, is_given=True)
            counter, matrix = known.learn(documents())

        def fit(tally: Any, counter: TermCounter = counter) -> DocumentModel:
            return DocumentModel.of(counter, tally, 1.0)

        settings = {
            "count": counter.count,
            "read": counter.read,
            "missing": False,
            "evidence": bool(given) and event in ("bernoulli", "polya"),
        }
        name = f"documents, {event}{', terms given' * given}"
        found[name] = Case(DocumentModel, (fit, matrix, OWN), settings)
    return found


def text_cases() -> dict[str, Case]:
    found = {}
    texts = Table.of(pa.table({"note": documents()}), {"note": "text"})
    for event in ("multinomial", "bernoulli", "complement"):
        settings = {"missing": False, "evidence": event == "bernoulli"}
        found[f"text, {event}"] = Case(Text, (Text(("note",), event=event), texts, OWN), settings)
    return found


DOCUMENT_DISTRIBUTIONS = document_cases()
TEXT_COLUMNS = text_cases()
