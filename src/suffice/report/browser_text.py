"""What the browser needs of texts: terms with their counts, and the letters of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.report.json_numbers import compress, numbers
from suffice.tally.tally import Floats, Index
from suffice.text.classify.length_discount import OFFSET_WORDS
from suffice.text.vectorize.analyzer import Analyzer, WordAnalyzer
from suffice.text.vectorize.lexicon import (
    AND_GAP,
    BY_PLACE,
    CASED,
    PASSED_OVER,
    letter_cases,
    letter_table,
)
from suffice.text.vectorize.sklearn_analyzer import PreprocessedWordAnalyzer
from suffice.validation.information import table_information

# Bytes that the terms and counts of all texts of a page may take, deflated and in base64.
MAX_BYTES = 700_000
# Terms whose size is measured to guess how many fit.
MEASURED_TERMS = 20_000
# So much of the room is to be used at least.
MARGIN = 0.97

Order = Callable[[], Index]


def browser_terms(
    terms: Sequence[str],
    counts: Floats,
    documents: Floats,
    event: str,
    alpha: float,
    analyzer: Analyzer,
    *,
    length_discount: float,
    texts: int = 1,
    with_unknown: bool = False,
    document_counts: Floats | None = None,
    refinement: Floats | None = None,
) -> dict[str, Any]:
    """Return terms and what each class has of them, as far as a page has room for them.

    Totals and the number of terms are those of all terms: p(term | class) of a term that is kept is
    that of the whole model. Terms that are left out are unknown to the page.

    Parameters
    ----------
    terms : V names
    counts : (C, V)
    documents : (C,)
    event : of `suffice.text.classify.event_model.EVENTS`
    alpha : pseudocount of each term
    analyzer : how documents are split
    length_discount : float
    texts : how many texts the page has to hold
    with_unknown : whether unknown terms count as one term, with a pseudocount of its own
    document_counts : (V,), with tf-idf
        Documents that have each term.
    refinement : (C, V), optional
        Weights of terms.
    """
    reason = why_not(analyzer)
    found: dict[str, Any] = {
        "event": event,
        "alpha": alpha,
        "length_discount": length_discount,
        "offset_words": OFFSET_WORDS,
        "unknown": with_unknown,
        "tally": {"documents": numbers(documents)},
        "reason": reason,
    }
    if reason is not None:
        return found | {"terms": [], "left_out": len(terms)}
    assert isinstance(analyzer, WordAnalyzer)
    ngrams = analyzer.ngrams
    found["words"] = {
        "lowercase": ngrams.lowercase,
        "letters": ngrams.word_letters,
        "shortest": ngrams.shortest,
        "longest": ngrams.longest,
        "stop_words": sorted(ngrams.stop_words),
    }
    tables = [counts]
    if document_counts is not None:
        tables.append(document_counts[None])
    if refinement is not None:
        tables.append(refinement)
    totals = documents if event == "bernoulli" else counts.sum(axis=1)
    order = partial(by_information, counts, totals)
    kept = terms_that_fit(terms, tables, order, MAX_BYTES // texts)
    is_left_out = np.ones(len(terms), np.bool_)
    is_left_out[kept] = False
    rest = np.flatnonzero(is_left_out)
    found["terms"] = [terms[at] for at in kept.tolist()]
    found["left_out"] = len(rest)
    tally = found["tally"]
    tally["counts"] = numbers(counts[:, kept])
    which = _groups(
        counts[:, rest], None if document_counts is None else document_counts[rest], event
    )
    tally["other_terms"] = numbers(np.bincount(which))
    tally["other_counts"] = [numbers(np.bincount(which, own)) for own in counts[:, rest]]
    if document_counts is not None:
        tally["document_counts"] = numbers(document_counts[kept])
        tally["other_document_counts"] = numbers(np.unique(document_counts[rest]))
    if refinement is not None:
        found["refinement"] = numbers(refinement[:, kept])
    return found


def _groups(counts: Floats, document_counts: Floats | None, event: str) -> Index:
    """Return the group of each term that is left out, (V,): of a group only the sums are needed.

    A Bernoulli model is made of the absence of each term, so that terms of a group have the same
    counts (C, V). With tf-idf they have the same rarity.
    """
    if event == "bernoulli":
        return np.unique(counts, axis=1, return_inverse=True)[1].ravel()
    if document_counts is not None:
        return np.unique(document_counts, return_inverse=True)[1]
    return np.zeros(counts.shape[1], np.intp)


def why_not(analyzer: Analyzer) -> str | None:
    """Return why a page cannot split documents as an analyzer does, or None if it can."""
    if isinstance(analyzer, PreprocessedWordAnalyzer):
        what = "a preprocessor" if analyzer.vectorizer.preprocessor is not None else "strip_accents"
        if analyzer.vectorizer.input != "content":
            what = f"input={analyzer.vectorizer.input!r}"
        return f"Documents are prepared by Python code ({what}), which a page cannot run."
    if isinstance(analyzer, WordAnalyzer):
        return None
    settings = analyzer.settings
    if settings["tokenizer"] is not None:
        what = "a tokenizer"
    elif settings["analyzer"] != "word":
        shown = settings["analyzer"]
        what = f"analyzer={shown!r}" if isinstance(shown, str) else "an analyzer"
    else:
        what = f"token_pattern={settings['token_pattern']!r}"
    return f"Documents are split by Python code ({what}), which a page cannot run."


def terms_that_fit(
    terms: Sequence[str], tables: Sequence[Floats], order: Order, room: int
) -> Index:
    """Return the terms that a page has room for, increasing: all, or the first ones in an order.

    Parameters
    ----------
    terms : V names
    tables : (k, V) each
        What goes out of every term.
    order : function without arguments
        All terms, those first that are to be kept; asked for if not all fit.
    room : bytes
    """
    size = len(terms)
    some = np.unique(np.linspace(0, size - 1, min(size, MEASURED_TERMS)).astype(np.intp))
    bytes_each = _bytes_of(terms, tables, some) / max(len(some), 1)
    if bytes_each * size <= room:
        everything = np.arange(size)
        if _bytes_of(terms, tables, everything) <= room:
            return everything
    first, many = order(), min(size, int(room / bytes_each))
    while True:
        needed = _bytes_of(terms, tables, first[:many])
        if MARGIN * room <= needed <= room:
            return np.sort(first[:many])
        # Rarer terms take other room than frequent ones, so that some guesses are needed.
        guess = int(many * (1 + MARGIN) / 2 * room / needed)
        if guess == many or not guess:
            return np.sort(first[:guess])
        many = min(guess, size)


def by_information(counts: Floats, totals: Floats) -> Index:
    """Return all terms or levels, those of most mutual information with the class first.

    Parameters
    ----------
    counts : (C, V)
    totals : (C,)
        How many terms, rows or documents each class has.
    """
    others = np.maximum(totals[:, None] - counts, 0.0)
    tables = np.stack([others, counts], axis=-1).swapaxes(0, 1)
    return np.argsort(-table_information(np.ascontiguousarray(tables)), kind="stable")


def _bytes_of(terms: Sequence[str], tables: Sequence[Floats], some: Index) -> int:
    kept = np.sort(some)
    names = [terms[at] for at in kept.tolist()]
    return len(compress({"terms": names, "tables": [numbers(one[:, kept]) for one in tables]}))


# Letters.


@cache
def browser_letters() -> dict[str, Any]:
    r"""Return the letters of words and their lower case, as runs of code points.

    The table is the library's own (`letter_table`): a browser may know another version of Unicode.

    words : runs (first, how many) of Python's `\w`
    lower : runs (first, step, how many, what is added) of letters whose lower case is another;
        where it is no letter of a word, code point 0
    gap_after, by_place : code points whose lower case parts words, or depends on their place
    cased, passed_over : runs, for the last sigma of a word
    """
    plain, marked = letter_table(False), letter_table(True)
    lower = (marked & ~np.uint32(AND_GAP | BY_PLACE)).astype(np.int64)
    cases = letter_cases()
    changed = np.flatnonzero(lower != plain)
    return {
        "words": _runs(plain != 0),
        "lower": _steps(changed, lower[changed]),
        "gap_after": np.flatnonzero(marked & np.uint32(AND_GAP)).tolist(),
        "by_place": np.flatnonzero(marked & np.uint32(BY_PLACE)).tolist(),
        "cased": _runs(cases == CASED),
        "passed_over": _runs(cases == PASSED_OVER),
    }


def _runs(mask: NDArray[np.bool_]) -> list[list[int]]:
    """Return runs of True: first and length."""
    padded = np.concatenate([[False], mask, [False]]).astype(np.int8)
    ends = np.flatnonzero(np.diff(padded)).tolist()
    return [[first, stop - first] for first, stop in zip(ends[::2], ends[1::2], strict=True)]


def _steps(points: Index, targets: NDArray[np.int64]) -> list[list[int]]:
    """Return runs of code points, a step apart, that the same number is added to.

    >>> _steps(np.array([65, 66, 67, 256, 258]), np.array([97, 98, 99, 257, 259]))
    [[65, 1, 3, 32], [256, 2, 2, 1]]
    """
    found: list[list[int]] = []
    for point, target in zip(points.tolist(), targets.tolist(), strict=True):
        added = target - point
        if found and found[-1][3] == added:
            first, step, many, _ = found[-1]
            if many == 1 and point - first <= 2:
                found[-1][1:3] = [point - first, 2]
                continue
            if many > 1 and point == first + step * many:
                found[-1][2] += 1
                continue
        found.append([point, 1, 1, added])
    return found
