"""Where documents may come from, and what is refused."""

import io
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.feature_extraction.text as theirs

from suffice.data import Documents
from suffice.errors import InputError
from suffice.text.vectorize.analyzer import BATCH
from suffice.text.vectorize.hashing import HashingVectorizer
from suffice.text.vectorize.vectorizer import CountVectorizer

TEXTS = ["To be or not", "", "naïve Σ café", "to see the sea", "中文 be", "not not"]
GAPPED = ["To be or not", None, "naïve Σ café", None, "be", ""]
SLOW = {"token_pattern": r"(?u)\b[^\W\d]{2,}\b"}


def chunked(texts, kind):
    return pa.chunked_array([texts[:2], [], texts[2:]], kind)


WAYS = {
    "tuple": tuple,
    "object array": lambda texts: np.array(texts, object),
    "pandas object": lambda texts: pd.Series(texts, dtype=object, index=range(9, 3, -1)),
    "pandas str": lambda texts: pd.Series(texts, dtype="str"),
    "pandas string[python]": lambda texts: pd.Series(texts, dtype="string[python]"),
    "pandas string[pyarrow]": lambda texts: pd.Series(texts, dtype="string[pyarrow]"),
    "pandas category": lambda texts: pd.Series(texts, dtype="category"),
    "pandas Arrow": lambda texts: pd.Series(texts, dtype=pd.ArrowDtype(pa.string())),
    "pandas large Arrow": lambda texts: pd.Series(texts, dtype=pd.ArrowDtype(pa.large_string())),
    "pandas index": pd.Index,
    "polars": pl.Series,
    "polars categorical": lambda texts: pl.Series(texts, dtype=pl.Categorical),
    "string": lambda texts: pa.array(texts, pa.string()),
    "large string": lambda texts: pa.array(texts, pa.large_string()),
    "string view": lambda texts: pa.array(texts, pa.string_view()),
    "dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "chunks": lambda texts: chunked(texts, pa.string()),
    "chunked dictionary": lambda texts: chunked(texts, pa.string()).dictionary_encode(),
    "slice": lambda texts: pa.array(["out", *texts, "side"]).slice(1, len(texts)),
    "large slice": lambda texts: pa.array(["é", *texts], pa.large_string()).slice(1),
    "binary": lambda texts: pa.array([t if t is None else t.encode() for t in texts], pa.binary()),
    "large binary": lambda texts: pa.array(
        [t if t is None else t.encode() for t in texts], pa.large_binary()
    ),
    "binary view": lambda texts: pa.array(
        [t if t is None else t.encode() for t in texts], pa.binary_view()
    ),
    "bytes": lambda texts: [t if t is None else t.encode() for t in texts],
    "generator": lambda texts: (text for text in texts),
    "generator of lists": lambda texts: (some for some in (texts[:2], [], texts[2:])),
    "generator of arrays": lambda texts: (np.array(t, object) for t in (texts[:3], texts[3:])),
    "generator of Arrow arrays": lambda texts: (pa.array(t) for t in (texts[:2], texts[2:])),
    "generator of chunks": lambda texts: (chunked(t, pa.string()) for t in (texts[:2], texts[2:])),
    "generator of pandas": lambda texts: (pd.Series(t) for t in (texts[:2], texts[2:])),
    "generator of polars": lambda texts: (pl.Series(t) for t in (texts[:2], texts[2:])),
}


@pytest.mark.parametrize("more", [{}, SLOW], ids=["quick", "slow"])
@pytest.mark.parametrize("texts", [TEXTS, GAPPED], ids=["whole", "gapped"])
@pytest.mark.parametrize("way", WAYS)
def test_documents_may_come_in_many_ways(way, texts, more):
    expected = theirs.CountVectorizer(**more).fit([text or "" for text in texts])
    known = expected.transform([text or "" for text in texts])
    ours = CountVectorizer(**more)
    np.testing.assert_array_equal(ours.fit_transform(WAYS[way](texts)).toarray(), known.toarray())
    assert ours.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
    np.testing.assert_array_equal(ours.transform(WAYS[way](texts)).toarray(), known.toarray())
    assert ours.n_documents_ == len(texts)
    hashed = theirs.HashingVectorizer(**more).transform([text or "" for text in texts])
    mine = HashingVectorizer(**more).transform(WAYS[way](texts))
    assert mine.shape == hashed.shape
    assert (mine != hashed).nnz == 0  # a million columns are not written out


@pytest.mark.parametrize("kind", ["U", "S", "T"])
def test_numpys_own_strings_are_documents(kind):
    texts = np.array(["to be", "or", ""], dtype=np.dtypes.StringDType() if kind == "T" else kind)
    assert CountVectorizer().fit(texts).get_feature_names_out().tolist() == ["be", "or", "to"]


@pytest.mark.parametrize("missing", [None, np.nan, float("nan"), pd.NA, np.float64("nan")])
def test_what_is_missing_has_no_words(missing):
    for more in ({}, SLOW, {"analyzer": str.split}, {"preprocessor": str.upper}):
        found = CountVectorizer(**more).fit_transform(["to be", missing, "be"])
        assert np.diff(found.indptr).tolist() == [2, 0, 1]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("start", [0, 2])
def test_arrow_strings_are_read_where_they_are(kind, start):
    column = pa.array(["to be", None, "or not", "té"], kind).slice(start)
    documents = Documents.of(column)
    assert np.shares_memory(documents.text, np.frombuffer(column.buffers()[2], np.uint8))
    if kind == pa.large_string():
        assert np.shares_memory(documents.begins, np.frombuffer(column.buffers()[1], np.int64))
    assert [documents[at] or None for at in range(len(documents))] == column.to_pylist()


@pytest.mark.skipif(pd.__version__ < "3", reason="strings of pandas 2 are objects")
def test_pandas_with_arrow_is_read_where_it_is():
    column = pd.Series(["to be", None], dtype="str")
    buffer = column.array.__arrow_array__().chunk(0).buffers()[2]
    assert np.shares_memory(Documents.of(column).text, np.frombuffer(buffer, np.uint8))


def test_bytes_under_a_null_are_no_words():
    offsets = pa.py_buffer(np.array([0, 2, 6, 8], np.int32))
    valid = pa.py_buffer(bytes([0b101]))
    column = pa.Array.from_buffers(
        pa.string(), 3, [valid, offsets, pa.py_buffer(b"to\xff\xffbeor")]
    )
    assert column.to_pylist() == ["to", None, "or"]
    assert CountVectorizer().fit(column).get_feature_names_out().tolist() == ["or", "to"]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([], pa.string()),
        pa.array([], pa.null()),
        pa.array([None, None]),
        pa.chunked_array([], pa.string()),
        pl.Series([], dtype=pl.String),
        [],
        [None],
        (text for text in ()),
    ],
    ids=["strings", "null", "nulls", "chunks", "polars", "list", "None", "generator"],
)
def test_no_words_at_all_are_no_vocabulary(column):
    with pytest.raises(InputError, match="empty vocabulary; perhaps the documents only contain"):
        CountVectorizer().fit(column)


def test_no_documents_have_no_rows():
    fitted = CountVectorizer().fit(["to be"])
    for nothing in ([], iter([]), pa.array([], pa.string()), np.array([], object)):
        assert fitted.transform(nothing).shape == (0, 2)
    with pytest.raises(InputError, match="Cannot vectorize empty sequence"):
        HashingVectorizer().transform([])


BAD = [b"to be", b"caf\xe9 or", b"\xff\xfe not", b"\xf0\x9f", b"\xed\xa0\x80be"]


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "latin-1", "ascii", "utf-16-le"])
@pytest.mark.parametrize("decode_error", ["strict", "ignore", "replace"])
@pytest.mark.parametrize("as_column", [list, pa.array, np.array], ids=["list", "Arrow", "numpy"])
def test_bytes_are_decoded_as_scikit_learn_decodes_them(encoding, decode_error, as_column):
    rest = {"encoding": encoding, "decode_error": decode_error, "token_pattern": r"\w+"}
    try:
        expected = theirs.CountVectorizer(**rest).fit_transform(BAD).toarray()
    except UnicodeDecodeError as error:
        with pytest.raises(UnicodeDecodeError, match=re.escape(str(error))):
            CountVectorizer(**rest).fit_transform(as_column(BAD))
        return
    found = CountVectorizer(**rest).fit_transform(as_column(BAD)).toarray()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_arrow_strings_that_are_no_utf8_are_read_as_bytes(kind):
    wide = np.int32 if kind == pa.string() else np.int64
    begins = np.cumsum([0, *map(len, BAD)]).astype(wide)
    buffers = [None, pa.py_buffer(begins), pa.py_buffer(b"".join(BAD))]
    column = pa.Array.from_buffers(kind, len(BAD), buffers)
    with pytest.raises(UnicodeDecodeError, match="can't decode byte 0xe9"):
        CountVectorizer().fit(column)
    for decode_error in ("ignore", "replace"):
        ours = CountVectorizer(decode_error=decode_error).fit_transform(column).toarray()
        its = theirs.CountVectorizer(decode_error=decode_error).fit_transform(BAD).toarray()
        np.testing.assert_array_equal(ours, its)


@pytest.mark.parametrize("more", [{}, SLOW, {"strip_accents": "unicode"}], ids=str)
def test_documents_may_be_files_or_their_names(tmp_path, more):
    paths = []
    for number, text in enumerate(TEXTS):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_text(text, encoding="utf-8")
    expected = theirs.CountVectorizer(**more).fit_transform(TEXTS).toarray()
    for input_, source in (
        ("filename", list(map(str, paths))),
        ("filename", paths),
        ("filename", (str(path) for path in paths)),
        ("file", [io.StringIO(text) for text in TEXTS]),
        ("file", (io.BytesIO(text.encode()) for text in TEXTS)),
    ):
        found = CountVectorizer(input=input_, **more).fit_transform(source).toarray()
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(FileNotFoundError):
        CountVectorizer(input="filename").fit([tmp_path / "none.txt"])


def test_a_file_is_a_generator_of_its_lines():
    lines = io.StringIO("to be\nor not\n\nto see\n")
    assert CountVectorizer().fit_transform(lines).shape == (4, 5)


def test_a_generator_is_read_in_batches_of_documents():
    given = []

    def stream():
        for number in range(2 * BATCH + 3):
            given.append(number)
            yield f"word{number % 7}"

    ours = CountVectorizer().partial_fit(stream())
    assert ours.n_documents_ == len(given) == 2 * BATCH + 3
    assert len(ours.get_feature_names_out()) == 7


@pytest.mark.parametrize("kind", [CountVectorizer, HashingVectorizer])
@pytest.mark.parametrize("more", [{}, SLOW], ids=["quick", "slow"])
class TestRefusals:
    def test_one_string_is_no_column_of_documents(self, kind, more):
        for act in ("fit", "fit_transform", "partial_fit"):
            for text in ("to be", b"to be"):
                with pytest.raises(InputError, match=r"received\. Put the document in"):
                    getattr(kind(**more), act)(text)
        with pytest.raises(InputError, match="string object received"):
            kind(**more).fit(["to be"]).transform("to be")

    @pytest.mark.parametrize("thing", [5, 2.5, ["to", "be"], {"a": 1}, object])
    def test_what_is_no_document_is_named_with_its_row(self, kind, more, thing):
        with pytest.raises(InputError, match=re.escape(f"Document 2 is {thing!r}, of type")):
            kind(**more).fit(["to be", None, thing])

    @pytest.mark.parametrize(
        "table",
        [
            np.array([["to", "be"]], object),
            pd.DataFrame({"text": ["to be"]}),
            pl.DataFrame({"text": ["to be"]}),
            pa.table({"text": ["to be"]}),
            np.array("to be"),
        ],
        ids=["array", "pandas", "polars", "Arrow", "scalar"],
    )
    def test_a_table_is_no_column_of_documents(self, kind, more, table):
        with pytest.raises(InputError, match=r"in one dimension, but these have shape \("):
            kind(**more).fit(table)

    @pytest.mark.parametrize("column", [pa.array([1, 2]), pl.Series([1.5]), pa.array([["a"]])])
    def test_a_column_of_other_things_is_refused(self, kind, more, column):
        with pytest.raises(InputError, match=r"A column of type .* holds no documents"):
            kind(**more).fit(column)

    def test_a_generator_gives_documents_or_batches_but_not_both(self, kind, more):
        with pytest.raises(InputError, match="single documents first, then a batch of type list"):
            kind(**more).fit(iter(["to be", ["or", "not"]]))


def state(counter):
    return (
        counter.get_feature_names_out().tolist(),
        counter.term_counts_.tolist(),
        counter.document_counts_.tolist(),
        counter.n_documents_,
        counter.transform(TEXTS).toarray().tolist(),
    )


@pytest.mark.parametrize("more", [{}, SLOW, {"ngram_range": (1, 2)}], ids=str)
@pytest.mark.parametrize("act", ["fit", "partial_fit", "fit_transform"])
def test_an_error_leaves_a_vectorizer_as_it_was(act, more):
    counter = CountVectorizer(**more).fit(TEXTS)
    before = state(counter)
    for bad in (
        ["new words", 5],
        iter([["new words"], ["other words", 5]]),
        [b"new words", b"\xff"],
        "new words",
        pa.array([1]),
        iter(["new words", ["others"]]),
    ):
        with pytest.raises(ValueError, match=r"Document|decode|string object|holds no|batch of"):
            getattr(counter, act)(bad)
        assert state(counter) == before
    counter.partial_fit(["fresh words"])
    assert counter.get_feature_names_out()[-1].endswith("words")


def test_an_analyzer_that_fails_leaves_a_vectorizer_as_it_was():
    def cut(text):
        if text == "bad":
            raise RuntimeError("cannot cut this")
        return text.split()

    counter = CountVectorizer(analyzer=cut).fit(TEXTS)
    before = state(counter)
    with pytest.raises(RuntimeError, match="cannot cut this"):
        counter.partial_fit(["new words", "bad"])
    assert state(counter) == before


def test_a_setting_that_is_wrong_leaves_a_vectorizer_as_it_was():
    counter = CountVectorizer().fit(TEXTS)
    before = state(counter)
    for wrong in ({"ngram_range": (2, 1)}, {"min_df": 4, "max_df": 3}, {"min_df": 1000}):
        with pytest.raises(ValueError, match=r"lower boundary|max_df|After pruning"):
            counter.set_params(**wrong).fit(TEXTS)
        counter.set_params(ngram_range=(1, 1), min_df=1, max_df=1.0)
        assert state(counter) == before
