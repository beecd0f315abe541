"""Counting, against the plain slow way."""

import numpy as np
import pytest
import scipy.sparse as sp

from counting_cases import KINDS, SPARSE_KINDS, cells, check, counted
from suffice.count import count_pairs, count_words
from suffice.count.moments import count_complete_rows
from suffice.count.pairs import PairedRows
from suffice.data import Rows
from suffice.errors import InputError, SufficeWarning

TYPES = [
    np.float32,
    np.float64,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
    np.bool_,
]


# ---- what is counted


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_cells_of_every_type_are_counted(kind, dtype):
    rng = np.random.default_rng(1)
    X, y = cells(rng, 60).astype(dtype), rng.integers(0, 3, 60)
    check(kind, X, y, 3)


@pytest.mark.parametrize("order", ["F", "strided", "reversed", "transposed", "read-only"])
@pytest.mark.parametrize("kind", KINDS)
def test_memory_order_does_not_matter(kind, order):
    rng = np.random.default_rng(2)
    X, y = cells(rng, 50).astype(float), rng.integers(0, 2, 50)
    wide = np.zeros((100, 6))
    wide[::2, ::2] = X
    views = {
        "F": np.asfortranarray(X),
        "strided": wide[::2, ::2],
        "reversed": X[::-1].copy()[::-1],
        "transposed": X.T.copy().T,
        "read-only": X.copy(),
    }
    views["read-only"].flags.writeable = False
    check(kind, views[order], y, 2)


def test_half_extended_and_swapped_bytes_are_read_as_numbers():
    rng = np.random.default_rng(3)
    X, y = cells(rng, 20), rng.integers(0, 2, 20)
    for dtype in (np.float16, np.longdouble, ">f8", ">i4"):
        check("moments", X.astype(dtype), y, 2, dense=X)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_multiply_what_a_row_adds(kind):
    rng = np.random.default_rng(4)
    X, y = cells(rng, 80).astype(float), rng.integers(0, 3, 80)
    weights = rng.exponential(size=80)
    weights[::7] = 0.0
    check(kind, X, y, 3, weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["moments", "patterns", "ones", "words", "events", "levels"])
def test_missing_values_are_left_out(kind, weighted):
    rng = np.random.default_rng(5)
    X, y = cells(rng, 90).astype(float), rng.integers(0, 3, 90)
    X[rng.random(X.shape) < 0.2] = np.nan
    if kind == "patterns":
        X[np.isnan(X).all(axis=1)] = 1.0
    check(kind, X, y, 3, rng.exponential(size=90) if weighted else None)


def test_a_row_of_missing_values_weighs_but_says_nothing():
    X = np.array([[np.nan, np.nan], [1.0, 2.0]])
    weights, tally = counted("patterns", X, [0, 0], 1)
    assert weights.tolist() == [2.0]
    assert list(tally.parts) == [(0, 1)]
    weights, moments = counted("moments", X, [0, 0], 1)
    assert weights.tolist() == [2.0]
    assert moments.weight.tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize("gappy_blocks", ["all", "one"])
@pytest.mark.parametrize("columns", [3, 101])
def test_patterns_of_narrow_and_wide_rows_in_several_blocks(columns, gappy_blocks):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(2100, columns)), rng.integers(0, 2, 2100)
    at = rng.integers(0, 2100 if gappy_blocks == "all" else 900, 12)
    X[at, rng.integers(0, 2, 12)] = np.nan
    weights = rng.exponential(size=2100)
    row_weights, tally = counted("patterns", X, y, 2, weights)
    np.testing.assert_allclose(row_weights, np.bincount(y, weights), rtol=1e-12)
    patterns = {tuple(np.flatnonzero(~np.isnan(row)).tolist()) for row in X}
    assert set(tally.parts) == patterns
    for pattern, moments in tally.parts.items():
        hidden = np.setdiff1d(np.arange(columns), pattern)
        mine = np.isnan(X[:, hidden]).all(axis=1) & ~np.isnan(X[:, pattern]).any(axis=1)
        for c in range(2):
            rows, w = X[mine & (y == c)][:, pattern], weights[mine & (y == c)]
            np.testing.assert_allclose(moments.weight[c], w.sum(), rtol=1e-12)
            if len(rows) > 1:
                wanted = np.cov(rows.T, aweights=w, ddof=0)
                np.testing.assert_allclose(moments.variance()[c], wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_is_enough(kind):
    check(kind, np.array([[1.0, 0.0, 3.0]]), [0], 1)


@pytest.mark.parametrize("columns", [2, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_no_rows_are_counted_as_nothing(kind, columns):
    forms = [np.empty((0, columns)), np.empty((0, columns), np.float32)]
    forms += [sp.csr_array((0, columns))] if kind in SPARSE_KINDS else []
    rng = np.random.default_rng(6)
    _, tally = counted(kind, cells(rng, 12, columns), np.arange(12) % 3, 3)
    for nothing in forms:
        weights, empty = counted(kind, nothing, [], 3)
        assert weights.tolist() == [0.0] * 3
        assert (empty + tally).allclose(tally, 1e-12)
        assert (tally - empty).allclose(tally, 1e-12)


def test_no_whole_rows_and_no_pairs_are_counted_as_nothing():
    for columns in (2, 40):
        weight, moments, others = count_complete_rows(
            Rows(np.empty((0, columns)), np.empty(0, np.int32), 3)
        )
        assert weight.tolist() == moments.weight.tolist() == [0.0] * 3
        assert not moments.sum_xx.any()
        assert not others.size
    pairs = count_pairs(PairedRows.of(np.empty((0, 2)), np.empty((0, 1))))
    assert (pairs.tally.weight, pairs.n_skipped) == (0.0, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_without_rows_is_empty(kind):
    rng = np.random.default_rng(7)
    X, y = cells(rng, 30), rng.choice([0, 2], 30)
    check(kind, X, y, 4)


@pytest.mark.parametrize("kind", ["moments", "ones", "words", "events", "levels"])
def test_many_classes_share_few_rows(kind):
    rng = np.random.default_rng(8)
    X, y = cells(rng, 400), rng.integers(0, 300, 400)
    check(kind, X, y, 300)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", KINDS)
def test_many_sums_are_held_by_few_long_ranges(kind, order, ranges):
    ranges(150, sums=10)
    rng = np.random.default_rng(9)
    X, y = cells(rng, 500).astype(float), rng.integers(0, 3, 500)
    X = np.asarray(X, order=order)
    if kind not in ("quartics", "levels"):
        X[[7, 222, 444], 1] = np.nan
    check(kind, X, y, 3, rng.exponential(size=500))
    if kind not in ("patterns", "quartics"):
        X[333, 2] = np.inf
        with pytest.raises(InputError, match="inf in row 333, column 2"):
            counted(kind, X, y, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_more_rows_than_a_range_holds(kind, ranges):
    ranges(150)
    rng = np.random.default_rng(10)
    X, y = cells(rng, 500).astype(float), rng.integers(0, 3, 500)
    check(kind, X, y, 3, rng.exponential(size=500))


def test_ranges_of_full_length_cover_all_rows():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(300_000, 4)).astype(np.float32)
    y = rng.integers(0, 2, len(X))
    weights, moments = counted("moments", X, y, 2)
    np.testing.assert_array_equal(weights, np.bincount(y))
    for c in range(2):
        mine = X[y == c].astype(float)
        np.testing.assert_allclose(moments.mean()[c], mine.mean(axis=0), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(moments.variance()[c], mine.var(axis=0), rtol=1e-11)


# ---- sparse rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, np.uint8, np.bool_])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", SPARSE_KINDS)
def test_sparse_rows_are_counted_like_dense_ones(kind, index, dtype):
    rng = np.random.default_rng(12)
    dense = cells(rng, 70, 5).astype(dtype)
    dense[rng.random(dense.shape) < 0.5] = 0
    dense[3] = dense[69] = 0  # empty rows
    X = sp.csr_array(dense)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    y = rng.integers(0, 3, 70)
    for weights in (None, rng.exponential(size=70)):
        check(kind, X, y, 4, weights, dense=dense)


@pytest.mark.parametrize("kind", ["moments", "ones", "words", "events"])
def test_stored_zeros_and_stored_missing_values_are_what_they_are(kind):
    rng = np.random.default_rng(13)
    dense = cells(rng, 70, 4).astype(float)
    X = sp.csr_matrix(dense + 10)  # every cell is stored
    X.data[:] = dense.ravel()
    missing = rng.random(dense.shape) < 0.2
    X.data[missing.ravel()] = np.nan
    dense[missing] = np.nan
    assert (X.data == 0).any()
    check(kind, X, rng.integers(0, 2, 70), 2, rng.exponential(size=70), dense=dense)


def test_sparse_ones_may_be_the_cells_themselves():
    X = sp.csr_matrix(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]))
    _, tally = counted("ones", X, [0, 0, 1], 2, threshold=None)
    np.testing.assert_array_equal(tally.counts, [[[0, 2], [1, 1]], [[1, 0], [1, 0]]])


def test_a_sparse_matrix_has_no_threshold_below_zero():
    with pytest.raises(InputError, match=r"sparse matrix with threshold < 0 \(got -1\)"):
        counted("ones", sp.csr_matrix(np.eye(2)), [0, 1], 2, threshold=-1.0)


def test_one_class_with_most_sparse_rows_is_cut_into_runs():
    rng = np.random.default_rng(14)
    dense = rng.poisson(0.5, (3000, 6))
    y = np.where(rng.random(3000) < 0.95, 1, 0)
    check("events", sp.csr_matrix(dense), y, 2, rng.exponential(size=3000), dense=dense)


# ---- what is refused, by row and column


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["moments", "ones", "words", "events"])
def test_an_infinite_cell_is_refused_by_row_and_column(kind, sparse, ranges):
    ranges(30)
    X = np.ones((40, 3))
    X[33, 2] = np.inf
    X[34, 0] = np.nan
    with pytest.raises(InputError, match=r"infinity: inf in row 33, column 2"):
        counted(kind, sp.csr_matrix(X) if sparse else X, np.zeros(40), 1)


@pytest.mark.parametrize("kind", ["patterns", "levels"])
def test_an_infinite_cell_among_missing_values_is_refused(kind):
    X = np.ones((40, 3))
    X[1, 1] = np.nan
    X[33, 2] = np.inf
    with pytest.raises(InputError, match=r"infinity: inf in row 33, column 2"):
        counted(kind, X, np.zeros(40), 1)


def test_quartics_refuse_missing_values_by_row():
    X = np.ones((5, 2))
    X[3, 0] = np.nan
    with pytest.raises(InputError, match="row 3 has a missing value"):
        counted("quartics", X, np.zeros(5), 1)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["words", "events"])
def test_a_negative_count_is_refused_by_row_and_column(kind, sparse):
    X = np.ones((9, 3))
    X[5, 1] = -2
    with pytest.raises(InputError, match=r"Negative values.*: -2 in row 5, column 1"):
        counted(kind, sp.csr_matrix(X) if sparse else X, np.zeros(9), 1)


def test_levels_are_refused_when_negative_or_too_large_and_cut_when_fractional():
    with pytest.raises(InputError, match="-3 in row 1, column 0"):
        counted("levels", np.array([[1], [-3]]), [0, 0], 1)
    with pytest.raises(InputError, match=r"Level 20000000 in column 0: levels are numbered"):
        counted("levels", np.array([[1], [20_000_000]]), [0, 0], 1)
    with pytest.raises(InputError, match=r"Level 1e\+17 in row 1, column 0, is too large"):
        counted("levels", np.array([[1.0], [1e17]]), [0, 0], 1)
    with pytest.warns(SufficeWarning, match="cuts fractions off, as in row 1"):
        _, tally = counted("levels", np.array([[1.0], [2.7]]), [0, 0], 1)
    np.testing.assert_array_equal(tally.parts[0].counts, [[0, 1, 1]])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_rows_of_fractions_are_counted_and_have_no_orderings(form):
    X = np.array([[2.0, 0.0, 1.0], [0.5, 0.0, 1.0], [0.25, 3.0, 0.0]])
    weights, tally = count_words(Rows(form(X), np.array([0, 0, 1], np.int32), 2))
    assert np.array_equal(tally.counts, [[2.5, 0.0, 2.0], [0.25, 3.0, 0.0]])
    np.testing.assert_allclose(tally.log_orderings, [np.log(3.0), 0.0])
    assert np.array_equal(weights, [2.0, 1.0])
