"""Learning documents as arithmetic on fitted values: streams, merging, what grows stale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from suffice.errors import InputError
from suffice.estimators.merging import Difference, compare_settings, refuse_different_counts, same
from suffice.generative import learning
from suffice.tally.tally import Index
from suffice.text.classify.fitted import TextFitted
from suffice.text.classify.held_out import with_alpha_factor
from suffice.text.classify.term_counter import TermCounter
from suffice.text.term_rows import place_rows, row_sums, with_column
from suffice.text.vectorize.cutting import CUT_SETTINGS
from suffice.validation.row_sample import RowSample


def merge_documents(mine: TextFitted, theirs: TextFitted) -> TextFitted:
    """Return what two models have learned; terms and classes are aligned by name."""
    counter, columns = mine.terms.union(theirs.terms)
    if theirs.sample is not None:
        sample = _place_sample(theirs.sample, theirs.terms, columns, counter)
        theirs = theirs.replace(sample=sample)
    return learning.merge(mine.with_vocabulary_of(counter), theirs)


def _place_sample(
    sample: RowSample, theirs: TermCounter, columns: Index, counter: TermCounter
) -> RowSample:
    """Return kept documents of another counter as rows of ours, given their terms' columns."""
    given = sample.rows.X
    known = theirs.known_part(given)
    X = place_rows(known, columns, len(counter.vocabulary), with_unknown=False)
    if counter.with_unknown:
        X = with_column(X, row_sums(given) - row_sums(known))
    return sample.with_rows(X, sample.hashes)


def check_same_terms(mine: TermCounter, theirs: TermCounter) -> None:
    """Refuse to merge models that have cut documents, or counted terms, in different ways."""
    found = compare_settings(vars(mine), vars(theirs), ("event", "weighting"))
    ours, others = mine.cutter.settings, theirs.cutter.settings
    for name in CUT_SETTINGS:
        if not same(ours[name], others[name]):
            found.append(Difference(name, ours[name], others[name]))
    given = [one.vocabulary if one.is_given else None for one in (mine, theirs)]
    if given[0] != given[1]:
        found.append(Difference("vocabulary", *given))
    if found:
        refuse_different_counts(found)


def grow_stale(fitted: TextFitted) -> TextFitted:
    """Return the fitted value, what was fitted to documents stale, or gone with its classes."""
    if fitted.refinement is None:
        found = learning.mark_stale(fitted)
        gone = fitted.calibration is not None and found.calibration is None
        return drop_calibration(found) if gone else found
    fact = "The refinement is that of the documents learned before."
    if len(fitted.refinement.bias) != len(fitted.classes):
        fact = "The classes have changed, so answers are not refined any more."
        fitted = drop_calibration(fitted)
    return learning.warn_stale(fitted, fact, "refresh_calibration")


def drop_calibration(fitted: TextFitted) -> TextFitted:
    """Return the fitted value without all that was fitted to documents."""
    return with_alpha_factor(fitted, 1.0).replace(
        calibration=None,
        calibration_stale=False,
        loss_increase=None,
        refinement=None,
        length_discount=0.0,
    )


def check_words(fitted: TextFitted) -> None:
    """Refuse to learn from documents without words; what is left of others may have none."""
    if not len(fitted.terms.vocabulary):
        raise InputError(
            "No document has a word: the vocabulary is empty; perhaps the documents only "
            "contain stop words. Give documents with words."
        )


def labelled_batches(batches: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Return the documents and labels of each batch that a generator gives."""
    for batch in batches:
        if isinstance(getattr(batch, "text", None), str):
            raise InputError(
                f"A generator gave a {type(batch).__name__} without a label. Give the texts and "
                "their labels: fit([message.text for message in read_mail(path)], labels)."
            )
        if not isinstance(batch, tuple) or len(batch) != 2:
            raise InputError(
                f"A generator gave a {type(batch).__name__} without labels. Give pairs (documents, "
                "labels), or documents and y."
            )
        yield batch


def as_documents(X: Any) -> Any:
    """Return documents, of which one string is one."""
    return [X] if isinstance(X, str | bytes) else X
