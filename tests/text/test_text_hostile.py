"""Documents that are large, many or made to break a counter; and any number of threads."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
import sklearn.feature_extraction.text as theirs
from hypothesis import given
from hypothesis import strategies as st

from suffice.data import Documents
from suffice.text.vectorize.hashing import HashingVectorizer
from suffice.text.vectorize.lexicon import Lexicon, WordNgrams
from suffice.text.vectorize.vectorizer import CountVectorizer

pytestmark = pytest.mark.hostile

MANY = 50_000_000


def test_a_document_of_fifty_million_bytes_is_counted():
    text = " ".join(f"word{n}" for n in range(1000)) + " "
    times = MANY // len(text)
    counter = CountVectorizer()
    found = counter.fit_transform(["small word1", text * times])
    assert found.shape == (2, 1001)
    assert found[1].toarray().ravel().tolist() == [0] + 1000 * [times]
    assert found[0].sum() == 2
    assert counter.transform([text * times]).sum() == 1000 * times


@pytest.mark.parametrize("letter", ["a", "é"])
def test_a_word_of_fifty_million_bytes_is_a_word(letter):
    word = letter * (MANY // len(letter.encode()))
    counter = CountVectorizer().fit([word, "be"])
    assert counter.get_feature_names_out().tolist() == sorted([word, "be"])
    assert counter.transform([word + " " + word, word + letter]).sum() == 2


def test_a_million_empty_documents_are_rows_without_cells():
    column = pa.array([""] * 1_000_000 + ["to be"])
    counter = CountVectorizer()
    assert counter.fit_transform(column).shape == (1_000_001, 2)
    found = counter.transform(column)
    assert found.nnz == 2
    assert found[1_000_000].toarray().tolist() == [[1, 1]]
    assert counter.n_documents_ == 1_000_001
    assert HashingVectorizer().transform(column).nnz == 2


def test_a_hundred_thousand_words_in_one_document_and_their_pairs():
    words = [f"w{n:06d}" for n in range(100_000)]
    counter = CountVectorizer(ngram_range=(1, 2))
    found = counter.fit_transform([" ".join(words)])
    assert found.shape == (1, 199_999)
    assert found.sum() == found.nnz == 199_999
    names = counter.get_feature_names_out().tolist()
    assert names == sorted(words + [f"{a} {b}" for a, b in pairwise(words)])


def test_nothing_but_separators_or_bytes_of_zero_is_no_word():
    assert CountVectorizer().fit(["\x00" * 100_000 + "be\x00or", "   " * 100_000]).vocabulary_ == {
        "be": 0,
        "or": 1,
    }


PIECES = st.sampled_from(["to", "be", "or", "é", "中文", "Σ", "\x00", "", "a", "not", "İx"])
documents = st.lists(st.lists(PIECES, max_size=9).map(" ".join), min_size=1, max_size=30)
CUTS = [{}, {"ngram_range": (1, 3)}, {"stop_words": ["to", "or"], "ngram_range": (2, 2)}]


@pytest.mark.parametrize("settings", CUTS, ids=str)
@pytest.mark.parametrize("number", [1, 2, 7])
def test_any_number_of_threads_and_any_size_of_ranges_count_alike(
    number, settings, threads, ranges
):
    @given(documents)
    def check(learned):
        threads(1)
        ranges(1 << 19)
        plain = CountVectorizer(**settings).partial_fit(learned)
        hashed = HashingVectorizer(**settings).fit(learned)
        threads(number)
        ranges(3)
        some = CountVectorizer(**settings).partial_fit(learned)
        assert list(some.vocabulary_) == list(plain.vocabulary_)
        np.testing.assert_array_equal(some.term_counts_, plain.term_counts_)
        if not plain.vocabulary_:
            return
        np.testing.assert_array_equal(
            some.transform(learned).toarray(), plain.transform(learned).toarray()
        )
        refitted = HashingVectorizer(**settings).fit(learned)
        assert list(refitted._fitted.terms) == list(hashed._fitted.terms)
        expected = theirs.CountVectorizer(**settings).fit_transform(learned)
        found = CountVectorizer(**settings).fit_transform(learned)
        np.testing.assert_array_equal(found.toarray(), expected.toarray())

    check()


@given(st.lists(documents, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_batches_in_any_order_give_the_same_counts_by_name(batches, random):
    def counts(some):
        counter = CountVectorizer(ngram_range=(1, 2)).partial_fit(iter(some))
        return dict(zip(counter.vocabulary_, counter.term_counts_.tolist(), strict=True))

    shuffled = list(batches)
    random.shuffle(shuffled)
    assert counts(shuffled) == counts(batches)


def test_many_words_make_tables_grow_and_stay_right():
    rng = np.random.default_rng(0)
    learned = [
        " ".join(f"w{n}" for n in rng.integers(0, 30_000, rng.integers(0, 900))) for _ in range(120)
    ]
    for settings in ({}, {"ngram_range": (1, 2)}, {"ngram_range": (2, 3)}):
        ours, its = CountVectorizer(**settings), theirs.CountVectorizer(**settings)
        found, expected = ours.fit_transform(learned), its.fit_transform(learned)
        assert ours.vocabulary_ == its.vocabulary_
        assert (found != expected).nnz == 0
        assert (ours.transform(learned) != expected).nnz == 0


def test_long_words_with_the_same_beginning_are_distinguished():
    stems = ["abcdefgh" * n for n in range(1, 5)]
    words = [stem + end for stem in stems for end in ("", "a", "b", "ab", "ba", "é", "ê")]
    counter = CountVectorizer()
    found = counter.fit_transform([" ".join(words), " ".join(words[::2])])
    assert counter.vocabulary_ == {word: at for at, word in enumerate(sorted(words))}
    assert Counter(found.toarray().sum(axis=0).tolist()) == {1: 14, 2: 14}


def test_counting_changes_nothing_in_a_lexicon():
    known = Lexicon(WordNgrams(longest=2))
    known.learn(Documents.of(["to be or not"]))
    before = list(known.names)
    counted = known.count(Documents.of(["to be to see", ""]))
    assert counted.unknown.tolist() == [3, 0]
    assert list(known.names) == before
