"""Vectorizers that learn in parts, merge, are pruned, and are carried about."""

import pickle
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
import sklearn.feature_extraction.text as theirs
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from suffice.errors import InputError, MergeError
from suffice.text.vectorize.hashing import HashingVectorizer
from suffice.text.vectorize.sklearn_analyzer import analyzer_of
from suffice.text.vectorize.terms import Names
from suffice.text.vectorize.vectorizer import CountVectorizer
from suffice.text.vectorize.vocabulary import Vocabulary

WORDS = st.sampled_from(["to", "be", "or", "not", "that", "is", "the", "é", "中文", "Σας", "a"])
documents = st.lists(st.lists(WORDS, max_size=6).map(" ".join), min_size=1, max_size=12)
analyzers = st.sampled_from(
    [
        {},
        {"ngram_range": (1, 2)},
        {"ngram_range": (2, 3)},
        {"analyzer": "char"},
        {"stop_words": ["to"]},
    ]
)


def by_name(counter):
    """Return how often each term was learned, and in how many documents."""
    names = counter.get_feature_names_out().tolist() if len(counter.term_counts_) else []
    pairs = zip(counter.term_counts_.tolist(), counter.document_counts_.tolist(), strict=True)
    return dict(zip(names, pairs, strict=True)), counter.n_documents_


def counted_by_hand(cut, learned):
    analyze = theirs.CountVectorizer(**cut).build_analyzer()
    totals, seen = Counter(), Counter()
    for text in learned:
        totals.update(analyze(text))
        seen.update(set(analyze(text)))
    return {term: (totals[term], seen[term]) for term in totals}, len(learned)


@given(documents, analyzers, st.lists(st.integers(0, 12), max_size=4))
def test_partial_fit_in_any_split_counts_as_by_hand(learned, cut, marks):
    ends = [*sorted(min(mark, len(learned)) for mark in marks), len(learned)]
    counter, start = CountVectorizer(**cut), 0
    for end in ends:
        counter.partial_fit(learned[start:end])
        start = end
    assert by_name(counter) == counted_by_hand(cut, learned)
    if len(counter.term_counts_):
        whole = CountVectorizer(**cut).fit(learned)
        assert by_name(whole) == by_name(counter)
        names = counter.get_feature_names_out().tolist()
        order = [names.index(name) for name in whole.get_feature_names_out()]
        np.testing.assert_array_equal(
            counter.transform(learned).toarray()[:, order], whole.transform(learned).toarray()
        )


@given(documents, analyzers)
def test_new_terms_come_in_the_order_of_first_sight_and_columns_stay(learned, cut):
    together = CountVectorizer(**cut).partial_fit(learned)
    one_by_one = CountVectorizer(**cut)
    for text in learned:
        before = len(getattr(one_by_one, "term_counts_", ()))
        known = one_by_one.get_feature_names_out().tolist() if before else []
        one_by_one.partial_fit([text])
        if before:
            assert one_by_one.get_feature_names_out()[:before].tolist() == known
    assert list(one_by_one.vocabulary_) == list(together.vocabulary_)


@given(documents, documents, analyzers)
def test_a_merged_vectorizer_has_learned_both(first, second, cut):
    a = CountVectorizer(**cut).partial_fit(first)
    b = CountVectorizer(**cut).partial_fit(second)
    expected = counted_by_hand(cut, first + second)
    before = by_name(a), by_name(b)
    assert by_name(a + b) == expected
    assert by_name(b + a) == expected
    assert (by_name(a), by_name(b)) == before
    assert by_name(a.merge(b)) == expected
    assert by_name(b) == before[1]
    a.partial_fit(first)
    assert by_name(a) == counted_by_hand(cut, first + second + first)


@given(documents, analyzers, st.integers(0, 4))
def test_pruning_forgets_terms_that_are_rare(learned, cut, least):
    counter = CountVectorizer(**cut).partial_fit(learned)
    terms, rows = by_name(counter)
    kept = {term: counts for term, counts in terms.items() if counts[0] >= least}
    if not kept:
        with pytest.raises(InputError, match=f"No term was learned {least} times or more"):
            counter.prune(least)
        assert by_name(counter) == (terms, rows)
        return
    assert by_name(counter.prune(least)) == (kept, rows)
    found = counter.transform(learned)
    assert found.sum(axis=0).tolist()[0] == [counts[0] for counts in kept.values()]
    counter.partial_fit(learned)
    assert set(counter.get_feature_names_out()) == set(terms)


def test_a_merged_vectorizer_names_its_new_columns_after_earlier_calls():
    counter = CountVectorizer().fit(["to be"])
    assert counter.vocabulary_ == {"be": 0, "to": 1}
    assert counter.merge(CountVectorizer().fit(["to see"])).vocabulary_ == {
        "be": 0,
        "to": 1,
        "see": 2,
    }


def test_what_cannot_be_merged_says_why_and_changes_nothing():
    counter = CountVectorizer().fit(["to be"])
    others = {
        "lowercase is True here and False there": CountVectorizer(lowercase=False).fit(["x y zz"]),
        r"ngram_range is \(1, 1\) here": CountVectorizer(ngram_range=(1, 2)).fit(["or not"]),
        "whose vocabulary was given": CountVectorizer(vocabulary=["be"]).fit(["be"]),
        "Cannot merge HashingVectorizer into": HashingVectorizer().fit(["or not"]),
    }
    for reason, other in others.items():
        with pytest.raises(MergeError, match=reason):
            counter.merge(other)
        assert by_name(counter) == ({"be": (1, 1), "to": (1, 1)}, 1)
    with pytest.raises(NotFittedError):
        counter.merge(CountVectorizer())
    with pytest.raises(NotFittedError):
        CountVectorizer().merge(counter)
    with pytest.raises(TypeError):
        counter + 1


def test_a_given_vocabulary_is_counted_and_does_not_grow():
    counter = CountVectorizer(vocabulary=["be", "see"])
    counter.partial_fit(["to be or not to be"]).partial_fit(["be"])
    assert by_name(counter) == ({"be": (3, 2), "see": (0, 0)}, 2)


def test_terms_that_are_no_strings_grow_merge_and_are_pruned():
    def lengths(text):
        return map(len, text.split())

    counter = CountVectorizer(analyzer=lengths).partial_fit(["to be or", "see"])
    assert counter.get_feature_names_out().tolist() == [2, 3]
    more = CountVectorizer(analyzer=lengths).partial_fit(["a be"])
    assert by_name(counter + more) == ({2: (4, 2), 3: (1, 1), 1: (1, 1)}, 3)
    assert counter.prune(2).get_feature_names_out().tolist() == [2]


def test_a_vectorizer_without_terms_says_so_when_it_is_to_prune_them():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        CountVectorizer().prune(2)


def test_a_vocabulary_of_other_things_may_learn_words():
    vocabulary = Vocabulary([7, "be"])
    grown, counted = vocabulary.learn(
        analyzer_of(CountVectorizer(token_pattern=r"\w+")), ["to be 7 be"]
    )
    assert list(grown.terms) == [7, "be", "to", "7"]
    assert counted.counts.tolist() == [1, 2, 1]


@pytest.mark.parametrize("more", [{}, {"ngram_range": (1, 2)}, {"analyzer": "char"}], ids=str)
def test_a_pickle_goes_on_learning(more):
    counter = CountVectorizer(**more).partial_fit(["to be", "or"])
    copy = pickle.loads(pickle.dumps(counter))
    assert by_name(copy) == by_name(counter)
    assert by_name(copy.partial_fit(["not to"])) == by_name(counter.partial_fit(["not to"]))
    hashing = pickle.loads(pickle.dumps(HashingVectorizer(**more, n_features=2).fit(["to be"])))
    names = hashing.get_feature_names_out().tolist()
    assert (
        names
        == HashingVectorizer(**more, n_features=2).fit(["to be"]).get_feature_names_out().tolist()
    )


def test_a_clone_has_learned_nothing_and_keeps_its_settings():
    counter = CountVectorizer(ngram_range=(1, 2), binary=True).fit(["to be"])
    copy = clone(counter)
    assert copy.get_params() == counter.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(["to be"])
    assert not hasattr(copy, "vocabulary_")


def test_parameters_are_scikit_learns():
    for ours, its in (
        (CountVectorizer, theirs.CountVectorizer),
        (HashingVectorizer, theirs.HashingVectorizer),
    ):
        assert ours().get_params() == its().get_params()
        assert hasattr(ours(), "set_output") == hasattr(its(), "set_output")


def test_a_vocabulary_set_by_hand_is_used_and_grows():
    counter = CountVectorizer()
    counter.vocabulary_ = {"or": 1, "be": 0}
    assert counter.transform(["be or be"]).toarray().tolist() == [[2, 1]]
    counter.partial_fit(["to be"])
    assert by_name(counter) == ({"be": (1, 1), "or": (0, 0), "to": (1, 1)}, 1)


def test_nothing_is_known_before_anything_is_learned():
    counter = CountVectorizer()
    for ask in (counter.get_feature_names_out, lambda: counter.transform(["a"])):
        with pytest.raises(NotFittedError, match="Vocabulary not fitted or provided"):
            ask()
    with pytest.raises(AttributeError, match="no attribute 'vocabulary_' yet"):
        _ = counter.vocabulary_
    counter.partial_fit([""])
    with pytest.raises(InputError, match="Vocabulary is empty"):
        counter.transform(["a"])


# Prints the most memory, in kB, that a process has needed after 20 batches and after all 100. The
# same words come in every batch, so that there is nothing new after the first.
STREAM = """
import resource
import numpy as np
import pyarrow as pa
from suffice.text.vectorize.vectorizer import CountVectorizer

rng = np.random.default_rng(0)
words = np.array([f"word{n}" for n in range(200)])
batch = pa.array([" ".join(words[rng.integers(0, 200, 400)]) for _ in range(400)])

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

def batches():
    for at in range(100):
        if at == 20:
            print(most())
        yield batch

counter = CountVectorizer(ngram_range=(1, 2)).fit(batches())
assert counter.n_documents_ == 400 * 100
print(most())
"""


@pytest.mark.slow
def test_memory_of_a_generator_does_not_grow_with_the_number_of_documents():
    command = [sys.executable, "-c", STREAM]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    early, late = map(int, printed.split())
    # Rows that were kept would take 200 MB here.
    assert late < early + 20_000


def test_names_keep_their_order_and_some_of_them():
    terms = ["be", "to", "", "to be", "É", "e", "\ud800", "中", "a\x00", "a"]
    names = Names.of(terms)
    assert [terms[at] for at in names.order()] == sorted(terms)
    assert list(names.take([3, 0])) == ["to be", "be"]
    assert list(names.take(np.array([True] + 9 * [False]))) == ["be"]
    assert names.array().tolist() == terms
    assert list(Names.of(())) == list(names.take([])) == []
