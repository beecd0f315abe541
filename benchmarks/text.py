"""Counting words and classifying documents, 50,000 of them, 40 MB: what is timed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import sklearn.feature_extraction.text
import sklearn.naive_bayes
from sklearn.pipeline import make_pipeline

import suffice
from benchmarks.measure import Result, extra_megabytes, line, model_bytes, seconds

DOCUMENTS = 50_000
LETTERS = 800
# Distinct words, and words of the one long text that documents are cut from.
WORDS = 40_000
TEXT = 400_000
# Words that are taken from the text together: runs of words recur, as in real text.
RUN = 20
# Documents in a batch of a generator.
BATCH = 1_000


def corpus(classes: int, seed: int = 5) -> tuple[list[str], Any]:
    """Return documents of about 800 letters, by Zipf's law, and the class of each."""
    rng = np.random.default_rng(seed)
    alphabet = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    frequent = 1.0 / (3.0 + np.arange(len(alphabet)))
    lengths = 2 + rng.poisson(np.linspace(2.0, 6.0, WORDS))
    letters = rng.choice(alphabet, lengths.sum(), p=frequent / frequent.sum())
    words = ["".join(word) for word in np.split(letters, np.cumsum(lengths)[:-1])]
    chances = 1.0 / (2.0 + np.arange(WORDS))
    text = [words[at] for at in rng.choice(WORDS, TEXT, p=chances / chances.sum())]
    text[::15] = [f"{word}." for word in text[::15]]
    text[1::15] = [word.capitalize() for word in text[1::15]]
    y = rng.integers(0, classes, DOCUMENTS)
    documents = []
    for label in y.tolist():
        # Classes have different topics: each prefers a part of the text.
        start, parts, size = label * (TEXT // classes), [], 0
        while size < LETTERS:
            reach = TEXT // classes if rng.random() < 0.3 else TEXT
            at = (start + int(rng.integers(reach))) % (TEXT - RUN)
            parts.append(" ".join(text[at : at + RUN]))
            size += len(parts[-1]) + 1
        documents.append(" ".join(parts))
    return documents, y


# Alphabets that four of five documents are written in, letter for letter: capitals become capitals.
LATIN = "abcdefghijklmnopqrstuvwxyz"
SCRIPTS = (
    "абвгдежзийклмнопрстуфхцчшщ",
    "αβγδεζηθικλμνξοπρτυφχψωάέή",
    "abcçdefgğh\u0131ijklmnoöprsştuü",
    "的一是不了人我在有他这为之大来以个中上们到说国和地也",
)


def in_many_scripts(documents: list[str]) -> list[str]:
    """Return the documents, four of five of them in the letters of another script."""
    maps = [str.maketrans(LATIN + LATIN.upper(), letters + letters.upper()) for letters in SCRIPTS]
    kinds = len(maps) + 1
    return [
        text if at % kinds == 0 else text.translate(maps[at % kinds - 1])
        for at, text in enumerate(documents)
    ]


def counting_words() -> Iterator[Result]:
    """CountVectorizer from a list, from Arrow, and with bigrams."""
    documents, _ = corpus(2)
    column = pa.array(documents)
    peers = sklearn.feature_extraction.text
    size = "50,000 documents, 40 MB"
    for source, given, mark in (("list", documents, 12), ("Arrow", column, 15)):
        yield line(
            f"CountVectorizer fit_transform, {size}, {source}",
            lambda given=given: suffice.CountVectorizer().fit_transform(given),
            lambda: peers.CountVectorizer().fit_transform(documents),
            mark,
            peer_rounds=2,
        )
    mixed = in_many_scripts(documents)
    yield line(
        "CountVectorizer fit_transform, 50,000 documents, Latin, Cyrillic, Greek, Turkish, Chinese",
        lambda: suffice.CountVectorizer().fit_transform(mixed),
        lambda: peers.CountVectorizer().fit_transform(mixed),
        6,
        peer_rounds=2,
    )
    yield line(
        f"CountVectorizer fit_transform, {size}, words and pairs of words",
        lambda: suffice.CountVectorizer(ngram_range=(1, 2)).fit_transform(documents),
        lambda: peers.CountVectorizer(ngram_range=(1, 2)).fit_transform(documents),
        4,
        rounds=2,
        peer_rounds=1,
    )


def classifying_documents() -> Iterator[Result]:
    """TextClassifier on documents, with 2 and 20 classes."""
    for classes in (2, 20):
        documents, y = corpus(classes)
        mine = suffice.TextClassifier(event="multinomial", alpha=1.0)
        peer = make_pipeline(
            sklearn.feature_extraction.text.CountVectorizer(), sklearn.naive_bayes.MultinomialNB()
        )
        size = f"50,000 documents, {classes} classes"
        yield line(
            f"TextClassifier fit, {size}",
            lambda mine=mine, documents=documents, y=y: mine.fit(documents, y),
            lambda peer=peer, documents=documents, y=y: peer.fit(documents, y),
            9,
            peer_rounds=2,
        )
        yield line(
            f"TextClassifier predict, {size}",
            lambda mine=mine, documents=documents: mine.predict(documents),
            lambda peer=peer, documents=documents: peer.predict(documents),
            11,
            peer_rounds=2,
        )


def memory_of_batches() -> Iterator[Result]:
    """Peak memory of learning from a generator: as much for 100 batches as for 10."""
    documents, y = corpus(2)
    times, peaks = [], []
    for batches in (10, 100):

        def learned(batches: int = batches) -> Any:
            model = suffice.TextClassifier(alpha=1.0, calibrate=None)
            starts = [BATCH * (at % (DOCUMENTS // BATCH)) for at in range(batches)]
            return model.fit((documents[at : at + BATCH], y[at : at + BATCH]) for at in starts)

        learned()
        times.append(seconds(learned))
        peaks.append(extra_megabytes(learned, model_bytes))
    few, many = peaks
    if few is None or many is None:
        return
    yield Result(
        "TextClassifier fit from a generator, peak memory of 100 batches against 10",
        times[1],
        times[0],
        "10 batches",
        few / max(many, 1e-9),
        1 / 1.3,
        many,
    )


CASES = (counting_words, classifying_documents, memory_of_batches)
