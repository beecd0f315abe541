"""CountVectorizer and HashingVectorizer count what scikit-learn's count, token for token."""

import re

import numpy as np
import pytest
import sklearn.feature_extraction.text as theirs
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, issparse
from sklearn.base import clone
from sklearn.utils import murmurhash3_32
from sklearn.utils.estimator_checks import estimator_checks_generator

from suffice.errors import InputError
from suffice.text.vectorize.analyzer import LETTER_RUNS, WordAnalyzer
from suffice.text.vectorize.hashing import HashingVectorizer
from suffice.text.vectorize.sklearn_analyzer import analyzer_of
from suffice.text.vectorize.vectorizer import CountVectorizer

# Letters that are lowered, cut or written in a way of their own, and what parts words.
ODD = [
    "İ",  # two letters when lowered
    "Σ",  # lowered as it stands in a word
    "ΑΣ ΑΣΑ",
    "ǅ",
    "\u212a",  # Kelvin's sign: three bytes, lowered to one
    "Ⱥ",  # two bytes, lowered to three
    "ẞ",
    "Ⓐⓑ",  # lowered, but no letters
    "e\u0301",
    "\u0301",
    "نص عربي",
    "中文字",
    "😀",
    "👩\u200d🚀",
    "\ud800",  # half of a surrogate pair
    "\udc00",
    "\x00",
    "\x85",
    "\u2028",
    "_",
    "٣٤",
    "²",
    "™",
    "ﬁ",
    "𝐀𝐁",
    "𞤀𞤢",  # four bytes, with a lower case
]
PLAIN = ["the", "The", "cat", "a", "I", "at", "on", "x1", "don't", "-", ".", " ", "  ", "\n"]

pieces = st.one_of(st.sampled_from(PLAIN), st.sampled_from(ODD), st.text(max_size=4))
documents = st.lists(st.lists(pieces, max_size=12).map("".join), min_size=1, max_size=6)
settings = st.fixed_dictionaries(
    {
        "lowercase": st.booleans(),
        "ngram_range": st.sampled_from([(1, 1), (1, 2), (2, 2), (1, 3), (2, 3), (3, 3)]),
        "stop_words": st.sampled_from([None, "english", ["the", "cat", "中文字"]]),
        "strip_accents": st.sampled_from([None, None, "ascii", "unicode"]),
        "token_pattern": st.sampled_from(sorted(LETTER_RUNS)),
    }
)
limits = st.fixed_dictionaries(
    {
        "binary": st.booleans(),
        "min_df": st.sampled_from([1, 1, 2, 0.4]),
        "max_df": st.sampled_from([1.0, 1.0, 0.7, 2]),
        "max_features": st.sampled_from([None, None, 1, 3, 7]),
        "dtype": st.sampled_from([np.int64, np.float64, np.int32, np.float32, np.uint8]),
    }
)


def answer(vectorizer, learned):
    """Return the counts and names, or what an error says first."""
    try:
        found = vectorizer.fit_transform(learned)
    except ValueError as error:
        return str(error)[:20]
    return found, vectorizer.get_feature_names_out().tolist()


def assert_same_cells(ours, its):
    """Say that two sparse matrices agree to the bit."""
    assert type(ours) is type(its)
    assert issparse(ours)
    assert ours.shape == its.shape
    assert ours.dtype == its.dtype
    assert ours.indices.dtype == its.indices.dtype
    assert ours.indptr.dtype == its.indptr.dtype
    its.sort_indices()
    np.testing.assert_array_equal(ours.indptr, its.indptr)
    np.testing.assert_array_equal(ours.indices, its.indices)
    np.testing.assert_array_equal(ours.data, its.data)


@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent")
@given(documents, documents, settings, limits)
def test_counts_names_and_types_are_scikit_learns(learned, others, cut, limited):
    ours, its = CountVectorizer(**cut, **limited), theirs.CountVectorizer(**cut, **limited)
    assert isinstance(analyzer_of(ours), WordAnalyzer)
    mine, them = answer(ours, learned), answer(its, learned)
    if isinstance(them, str):
        assert mine == them
        return
    assert mine[1] == them[1]
    assert_same_cells(mine[0], them[0])
    assert_same_cells(ours.transform(others), its.transform(others))
    assert ours.vocabulary_ == its.vocabulary_
    np.testing.assert_array_equal(ours.fit(learned).transform(learned).toarray(), them[0].toarray())


@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent")
@given(
    documents,
    settings,
    st.sampled_from([1, 2, 7, 1 << 20, (1 << 31) - 2]),
    st.booleans(),
    st.sampled_from([None, "l1", "l2"]),
    st.booleans(),
    st.sampled_from([np.float64, np.float32, np.int64]),
)
def test_hashed_counts_are_scikit_learns(learned, cut, width, binary, norm, signs, dtype):
    rest = {"n_features": width, "binary": binary, "norm": norm, "alternate_sign": signs}
    ours = HashingVectorizer(**cut, **rest, dtype=dtype)
    its = theirs.HashingVectorizer(**cut, **rest, dtype=dtype)
    expected = its.transform(learned)
    assert_same_cells(ours.transform(learned), expected)
    assert_same_cells(ours.fit_transform(learned), expected)


@pytest.mark.slow
@given(documents, st.sampled_from(["char", "char_wb"]), st.sampled_from([(1, 1), (2, 4)]))
def test_runs_of_characters_are_scikit_learns(learned, analyzer, ngram_range):
    cut = {"analyzer": analyzer, "ngram_range": ngram_range}
    mine = answer(CountVectorizer(**cut), learned)
    them = answer(theirs.CountVectorizer(**cut), learned)
    if isinstance(them, str):
        assert mine == them
        return
    assert mine[1] == them[1]
    assert_same_cells(mine[0], them[0])


@pytest.mark.slow
@pytest.mark.parametrize(("form", "lowercase"), [("a{}b", True), ("a{}b", False), ("Σ{}", True)])
def test_every_code_point_is_cut_and_lowered_as_python_does(form, lowercase):
    whole = [form.format(chr(point)) for point in range(0x110000)]
    ours = CountVectorizer(lowercase=lowercase, token_pattern=r"\w+")
    found = ours.fit_transform(whole)
    names = ours.get_feature_names_out().tolist()
    cut = re.compile(r"\w+").findall
    words, ends = [], [0]
    for document in whole:
        words += cut(document.lower() if lowercase else document)
        ends.append(len(words))
    assert names == sorted(set(words))
    column = {name: at for at, name in enumerate(names)}
    ones = np.ones(len(words), np.int64)
    expected = csr_matrix((ones, [column[word] for word in words], ends), found.shape)
    expected.sum_duplicates()
    assert_same_cells(found, expected)


@pytest.mark.parametrize(
    "more",
    [
        {"token_pattern": r"(?u)\b[a-z]{3,}\b"},
        {"token_pattern": r"(\w+)@"},
        {"token_pattern": r"\S+"},
        {"tokenizer": str.split, "token_pattern": None},
        {"preprocessor": str.swapcase},
        {"preprocessor": str.swapcase, "strip_accents": "ascii"},
        {"strip_accents": lambda text: text.replace("é", "EE")},
        {"analyzer": str.split},
        {"analyzer": lambda text: [len(word) for word in text.split()]},
        {"ngram_range": (0, 2)},
        {"vocabulary": ["cat", "the", "the cat", "c++", "", " cat", "dog"]},
        {"vocabulary": {"the cat": 1, "cat": 0, "Cat": 2}, "lowercase": False},
        {"vocabulary": ["the cat sat", "cat  sat", "the"], "ngram_range": (1, 3)},
        {"vocabulary": ["the", "cat"], "stop_words": ["the"]},
        {"vocabulary": ["sat", 7, ("cat", "sat")]},
        {"stop_words": ["the cat", "sat"], "ngram_range": (1, 2)},
    ],
)
@pytest.mark.filterwarnings("ignore:Upper case characters found")
@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent")
def test_other_settings_are_scikit_learns(more):
    if "vocabulary" in more and 7 in list(more["vocabulary"]):
        more = {**more, "lowercase": False}
    learned = ["The cat sat, cafÉ 7 a@b", "", "the CAT the cat sat 7", "c++ dog x@y"]
    ours, its = CountVectorizer(**more), theirs.CountVectorizer(**more)
    assert_same_cells(ours.fit_transform(learned), its.fit_transform(learned))
    assert ours.get_feature_names_out().tolist() == its.get_feature_names_out().tolist()
    assert_same_cells(ours.transform(learned[:1]), its.transform(learned[:1]))


class Replacing(CountVectorizer):
    """A subclass that cuts its own way, as scikit-learn's guide proposes."""

    def build_preprocessor(self):
        return lambda document: document["text"]


def test_a_subclass_may_replace_a_part_of_the_cut():
    learned = ({"text": text} for text in ["The cat", "a cat"])
    assert Replacing().fit(learned).get_feature_names_out().tolist() == ["The", "cat"]


def test_documents_may_be_lists_of_words_if_a_function_takes_them():
    learned = [["to", "be"], ["be"]]
    for cut in (
        {"analyzer": list},
        {"tokenizer": list, "lowercase": False, "token_pattern": None},
        {"preprocessor": " ".join},
    ):
        found = CountVectorizer(**cut).fit_transform(learned).toarray()
        streamed = CountVectorizer(**cut).fit_transform(document for document in learned).toarray()
        assert found.tolist() == streamed.tolist() == [[1, 1], [1, 0]]


def test_ties_for_the_last_of_max_features_fall_as_in_scikit_learn():
    rng = np.random.default_rng(0)
    learned = [" ".join(f"w{n}" for n in rng.integers(0, 300, 40)) for _ in range(60)]
    for dtype in (np.int64, np.float32, np.uint8, np.int32):
        for binary in (False, True):
            rest = {"max_features": 100, "dtype": dtype, "binary": binary}
            mine, them = CountVectorizer(**rest), theirs.CountVectorizer(**rest)
            assert_same_cells(mine.fit_transform(learned), them.fit_transform(learned))
            assert mine.vocabulary_ == them.vocabulary_


def test_a_given_vocabulary_needs_no_fit():
    ours = CountVectorizer(vocabulary=["be", "to"])
    assert ours.transform(["to be or not to be"]).toarray().tolist() == [[2, 2]]
    assert ours.get_feature_names_out().tolist() == ["be", "to"]


@pytest.mark.parametrize("width", [1, 3, 1 << 20, (1 << 31) - 2])
def test_the_one_hash_without_an_absolute_value_has_its_column(width):
    word = "akqlrggi"
    assert murmurhash3_32(word, seed=0) == -(2**31)
    mine = HashingVectorizer(n_features=width).transform([word])
    assert_same_cells(mine, theirs.HashingVectorizer(n_features=width).transform([word]))


def test_an_analyzer_may_give_strings_and_bytes_and_nothing_else_to_be_hashed():
    def cut(text):
        return [text.encode(), text, *text.split()]

    ours, its = HashingVectorizer(analyzer=cut), theirs.HashingVectorizer(analyzer=cut)
    assert_same_cells(ours.transform(["to be", "or"]), its.transform(["to be", "or"]))
    assert ours.fit(["or"]).terms_of(ours.transform(["or"]).indices[0]) == ["or", "or"]
    with pytest.raises(TypeError, match="feature names must be strings"):
        HashingVectorizer(analyzer=lambda text: [1]).transform(["a"])


@given(documents, st.sampled_from([1, 3, 1 << 10]))
def test_the_names_of_hashed_terms_are_found_by_their_columns(learned, width):
    ours = HashingVectorizer(n_features=width, token_pattern=r"\w+").fit(learned)
    terms = {t for text in learned for t in ours.build_analyzer()(text)}
    for term in terms:
        (column,) = ours.transform([term]).indices
        assert term in ours.terms_of(column)
    found = [ours.terms_of(column) for column in range(width)]
    assert sorted(term for some in found for term in some) == sorted(terms)
    assert ours.get_feature_names_out().tolist() == ["|".join(some) for some in found]


def test_names_of_hashed_terms_grow_by_partial_fit_and_not_by_transform():
    ours = HashingVectorizer(n_features=1)
    with pytest.raises(ValueError, match="has learned no names"):
        ours.terms_of(0)
    ours.partial_fit(["to be"]).partial_fit(["or not"]).transform(["that is"])
    assert ours.terms_of(0) == ["to", "be", "or", "not"]
    assert clone(ours).fit(["is"]).terms_of(0) == ["is"]
    with pytest.raises(InputError, match="Document 1 is 5"):
        ours.partial_fit(["question", 5])
    assert ours.terms_of(0) == ["to", "be", "or", "not"]
    with pytest.raises(InputError, match="There is no column 1: n_features is 1"):
        ours.terms_of(1)


@pytest.mark.parametrize("kind", [CountVectorizer, HashingVectorizer])
@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_scikit_learns_checks_of_estimators_that_take_strings_pass(kind):
    checks = list(estimator_checks_generator(kind()))
    assert len(checks) == len(list(estimator_checks_generator(getattr(theirs, kind.__name__)())))
    for estimator, check in checks:
        check(estimator)
