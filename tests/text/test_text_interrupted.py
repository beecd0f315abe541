"""Vectorizers that are interrupted: at any line, what was learned is whole."""

from pathlib import Path

import pytest

import suffice
from interruptions import interrupt_at
from suffice import CountVectorizer, HashingVectorizer

HOME = Path(suffice.__file__).parent
PLACES = {str(path) for path in (HOME / "text").rglob("*.py")}
BEFORE = ["ham and eggs and ham", "ham and späm", "ham"]
MORE = ["more späm", "and toast"]


def known(vectorizer):
    """Return all that can be asked of a vectorizer, each thing by its own way."""
    if "_fitted" not in vars(vectorizer):
        return None
    answers = [vectorizer.get_feature_names_out().tolist(), vectorizer.transform(MORE).toarray()]
    if isinstance(vectorizer, CountVectorizer):
        answers += [vectorizer.term_counts_, vectorizer.document_counts_, vectorizer.n_documents_]
        answers += [vectorizer.vocabulary_]
    return str(answers)


def counter():
    return CountVectorizer().fit(BEFORE)


def hashing():
    return HashingVectorizer(n_features=8, norm=None).fit(BEFORE)


def characters():
    return CountVectorizer(analyzer="char", ngram_range=(1, 2)).fit(BEFORE)


CHANGES = {
    "prune": (counter, lambda one: one.prune(2)),
    "partial_fit": (counter, lambda one: one.partial_fit(iter([MORE, BEFORE]))),
    "partial_fit by Python": (characters, lambda one: one.partial_fit(MORE)),
    "first partial_fit": (CountVectorizer, lambda one: one.partial_fit(MORE)),
    "merge": (counter, lambda one: one.merge(CountVectorizer().fit(MORE))),
    "fit": (counter, lambda one: one.fit(MORE)),
    "fit_transform": (counter, lambda one: one.fit_transform(MORE)),
    "hashed fit": (hashing, lambda one: one.fit(MORE)),
    "hashed partial_fit": (hashing, lambda one: one.partial_fit(MORE)),
    "hashed fit_transform": (hashing, lambda one: one.fit_transform(MORE)),
}


@pytest.mark.slow
@pytest.mark.parametrize(("made", "change"), CHANGES.values(), ids=CHANGES.keys())
def test_a_vectorizer_that_is_interrupted_at_any_line_is_as_it_was_or_changed_as_a_whole(
    made, change
):
    whole = made()
    before = known(whole)
    change(whole)
    after, outcomes, at = known(whole), [], 1
    one = made()
    while interrupt_at(lambda: change(one), PLACES, KeyboardInterrupt(), at):  # noqa: B023
        outcomes.append(known(one))
        if outcomes[-1] != before:
            one = made()
        at += 1
    assert set(outcomes) <= {before, after}
    # It is changed only once there is nothing left to do but to leave.
    assert outcomes.count(before) > len(outcomes) - 5
    assert len(outcomes) > 5
    assert before != after
