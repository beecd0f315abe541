"""Labels and strings as codes, and hashes of rows, against plain numpy and dictionaries."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from suffice import _core

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("step", [1, 3, -1])
def test_integers_are_coded_as_numpy_sorts_them(dtype, step, ranges):
    ranges(100)
    rng = np.random.default_rng(0)
    info = np.iinfo(dtype)
    labels = rng.integers(max(info.min, -50), min(info.max, 77), 1000).astype(dtype)[::step]
    classes, codes = _core.encode_integers(labels, 1000)
    wanted, inverse = np.unique(labels, return_inverse=True)
    np.testing.assert_array_equal(classes, wanted)
    np.testing.assert_array_equal(codes, inverse)


def test_truth_values_are_coded_as_zero_and_one():
    classes, codes = _core.encode_integers(np.array([True, True, False]), 10)
    assert (classes.tolist(), codes.tolist()) == ([0, 1], [1, 1, 0])


@pytest.mark.parametrize(
    "labels",
    [
        np.array([], np.int64),
        np.array([0, 10]),
        np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max]),
        np.array([0, 2**64 - 1], np.uint64),
        np.array([2**64 - 1], np.uint64),
    ],
)
def test_integers_that_span_too_much_are_left_to_others(labels):
    assert _core.encode_integers(labels, 10) is None


def test_the_largest_and_smallest_integers_are_coded():
    for dtype in (np.int64, np.int32):
        info = np.iinfo(dtype)
        for low in (info.min, info.max - 2):
            labels = np.array([low + 2, low, low], dtype)
            classes, codes = _core.encode_integers(labels, 3)
            assert (classes.tolist(), codes.tolist()) == ([low, low + 2], [1, 0, 0])


@given(st.lists(st.integers(0, 4), max_size=60), st.integers(1, 4))
def test_the_first_rows_of_each_class_are_found(codes, wanted):
    codes = np.array(codes, np.int32)
    found = _core.first_rows(codes, 6, wanted)
    for c in range(6):
        mine = np.flatnonzero(codes == c)[:wanted].tolist()
        assert found[c].tolist() == mine + [-1] * (wanted - len(mine))


def encode(strings, missing=(), most=1024, index=np.int64):
    text = [string.encode() for string in strings]
    begins = np.cumsum([0, *map(len, text)]).astype(index)
    letters = np.frombuffer(b"".join(text), np.uint8)
    found = _core.encode_strings(letters, begins, np.array(missing, bool), most)
    if found is None:
        return None
    codes, places = found
    whole = b"".join(text)
    return codes.tolist(), [whole[at : at + size].decode() for size, at in places.tolist()]


@given(st.lists(st.text(max_size=40), max_size=40), st.sampled_from([np.int32, np.int64]))
def test_strings_are_numbered_in_the_order_of_first_sight(strings, index):
    levels = list(dict.fromkeys(strings))
    codes = [levels.index(string) for string in strings]
    assert encode(strings, index=index) == (codes, levels)


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 1000])
def test_strings_that_differ_in_one_letter_are_different_levels(length):
    base = "a" * length
    strings = [base] + [base[:at] + "b" + base[at + 1 :] for at in range(length)]
    strings += [base + "a", base + "\0"]
    codes, levels = encode([*strings, *strings])
    assert codes == [*range(len(strings)), *range(len(strings))]
    assert levels == strings


def test_missing_strings_have_no_level():
    assert encode(["a", "b", "a"], [False, True, False]) == ([0, -1, 0], ["a"])


def test_more_levels_than_wanted_are_left_to_others():
    assert encode(["a", "b", "a"], most=2) == ([0, 1, 0], ["a", "b"])
    assert encode(["a", "b", "c"], most=2) is None


def cells(rng, rows, columns, dtype=float):
    return rng.integers(0, 4, (rows, columns)).astype(dtype)


@pytest.mark.parametrize("dtype", [*INTEGERS, np.float32, np.float64, np.bool_])
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_equal_rows_have_equal_hashes_and_no_others(dtype, order, ranges):
    ranges(64)
    rng = np.random.default_rng(1)
    X = cells(rng, 500, 3, dtype)
    rows = X.repeat(2, axis=0)[::2] if order == "strided" else np.asarray(X, order=order)
    seeds = np.array([3, 5, 9], np.uint64)
    found = np.zeros(500, np.uint64)
    _core.hash_rows(rows, seeds, found)
    _, wanted = np.unique(X.astype(float), axis=0, return_inverse=True)
    _, groups = np.unique(found, return_inverse=True)
    assert len(set(zip(wanted.ravel(), groups, strict=True))) == len(set(wanted.ravel()))
    assert len(set(groups)) == len(set(wanted.ravel()))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_rows_have_the_hashes_of_dense_ones(dtype, index):
    rng = np.random.default_rng(2)
    X = cells(rng, 200, 5, dtype)
    seeds = rng.integers(0, 2**63, 5).astype(np.uint64)
    dense, sparse = np.zeros(200, np.uint64), np.zeros(200, np.uint64)
    _core.hash_rows(X, seeds, dense)
    matrix = sp.csr_array(X)
    parts = matrix.data, matrix.indices.astype(index), matrix.indptr.astype(index)
    _core.hash_sparse_rows(*parts, seeds, sparse)
    np.testing.assert_array_equal(sparse, dense)


def test_every_nan_and_both_zeros_are_one_number():
    strange = np.array([0x7FF8000000000001, 0xFFF8000000000000], np.uint64).view(np.float64)
    X = np.array([[np.nan], [strange[0]], [strange[1]], [0.0], [-0.0]])
    found = np.zeros(5, np.uint64)
    _core.hash_rows(X, np.array([7], np.uint64), found)
    assert len(set(found[:3].tolist())) == 1
    assert found[3] == found[4] == 0


def test_levels_hash_by_what_they_are_and_missing_ones_as_one():
    one, two = np.zeros(3, np.uint64), np.zeros(3, np.uint64)
    _core.hash_levels(np.array([0, 1, -1], np.int32), np.array([11, 22], np.uint64), 5, one)
    _core.hash_levels(np.array([1, 0, -1], np.int32), np.array([22, 11], np.uint64), 5, two)
    np.testing.assert_array_equal(one, two)
    assert len(set(one.tolist())) == 3


@given(st.lists(st.binary(max_size=20), max_size=30))
def test_strings_have_equal_hashes_where_they_are_equal(strings):
    begins = np.cumsum([0, *map(len, strings)])
    found = _core.hash_strings(np.frombuffer(b"".join(strings), np.uint8), begins).tolist()
    assert len(set(zip(strings, found, strict=True))) == len(set(strings)) == len(set(found))


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.sampled_from([0.0, 0.5, 2.0]))),
    st.booleans(),
)
def test_equal_rows_of_one_class_are_grouped_with_their_weights(rows, weighted):
    hashes = np.array([hash_ for hash_, _, _ in rows], np.uint64)
    codes = np.array([code for _, code, _ in rows], np.int32)
    weights = np.array([w for _, _, w in rows]) if weighted and rows else np.empty(0)
    first, totals = _core.group_equal_rows(hashes, codes, weights)
    wanted = {}
    for i, (hash_, code, w) in enumerate(rows):
        w = w if weights.size else 1.0
        if w:
            at, total = wanted.get((hash_, code), (i, 0.0))
            wanted[hash_, code] = at, total + w
    assert list(zip(first.tolist(), totals.tolist(), strict=True)) == list(wanted.values())


def test_arrays_that_do_not_fit_are_refused():
    hashes, seeds = np.zeros(3, np.uint64), np.zeros(2, np.uint64)
    none = np.empty(0, bool)
    letters = np.zeros(4, np.uint8)
    refused = [
        lambda: _core.hash_rows(np.zeros((3, 3)), seeds, hashes),
        lambda: _core.hash_rows(np.zeros((2, 2)), seeds, hashes),
        lambda: _core.hash_levels(np.array([2], np.int32), seeds, 1, hashes[:1]),
        lambda: _core.first_rows(np.array([3], np.int32), 3, 1),
        lambda: _core.first_rows(np.array([-1], np.int32), 3, 1),
        lambda: _core.hash_strings(letters, np.array([0, 5])),
        lambda: _core.hash_strings(letters, np.array([3, 1])),
        lambda: _core.hash_strings(letters, np.array([-1, 1])),
        lambda: _core.encode_strings(letters, np.array([0, 5]), none, 9),
        lambda: _core.encode_strings(letters, np.array([3, 1]), none, 9),
        lambda: _core.encode_strings(letters, np.array([0, 1]), np.zeros(2, bool), 9),
        lambda: _core.encode_strings(letters, np.array([0.0, 1.0]), none, 9),
        lambda: _core.encode_integers(np.array([0.5]), 9),
        lambda: _core.encode_integers(np.array([5]), 2**32),
        lambda: _core.group_equal_rows(hashes, np.zeros(2, np.int32), np.empty(0)),
    ]
    for call in refused:
        with pytest.raises(ValueError, match=r"\w"):
            call()
