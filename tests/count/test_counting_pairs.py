"""Rows counted together with their targets, against numpy on centred extended precision."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from suffice.count import count_pairs
from suffice.count.pairs import PairedRows
from suffice.errors import InputError

# Of the core's products of rows: rows that are sorted by class together, and columns up to which
# threads share the rows.
BLOCK, NARROW = 1024, 128

TYPES = [np.float32, np.float64, np.int8, np.int64, np.uint16, np.bool_]


def table(rows, columns, targets=1, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), rng.normal(size=(rows, targets)), rng


def counted(X, Y, weights=None):
    given_weights = np.empty(0) if weights is None else np.asarray(weights, float)
    return count_pairs(PairedRows.of(X, Y, weights=given_weights))


def centred(X, Y, weights=None):
    """Return the weight, means and scatter of rows and targets, in extended precision."""
    both = np.column_stack([np.asarray(X), Y]).astype(np.longdouble)
    w = np.ones(len(both)) if weights is None else np.asarray(weights, np.longdouble)
    mean = (w[:, None] * both).sum(axis=0) / w.sum()
    away = both - mean
    return w.sum(), mean, (w[:, None] * away).T @ away


def check(tally, X, Y, weights=None, relative=1e-12):
    """Compare means on the scale of the standard deviation, scatters on that of both columns."""
    weight, mean, scatter = centred(X, Y, weights)
    assert float(tally.weight) == pytest.approx(float(weight), rel=1e-14)
    deviation = np.sqrt(np.diagonal(scatter) / weight)
    size = np.maximum(deviation, np.finfo(float).eps * np.abs(mean))
    # A mean is held in one float64, so it is known to one of its own last digits at best.
    allowed = relative * size + np.finfo(float).eps * np.abs(mean)
    assert np.all(np.abs(tally.mean() - mean) <= allowed)
    root = np.sqrt(np.diagonal(scatter))
    bound = np.outer(root, root) + np.finfo(float).tiny
    assert np.all(np.abs(tally.scatter() - scatter) <= relative * bound)


# ---- what is counted


@pytest.mark.slow
@pytest.mark.parametrize("columns", [1, 7, NARROW - 1, NARROW, NARROW + 1, 130])
@pytest.mark.parametrize("targets", [1, 3])
def test_rows_and_targets_are_counted_together_both_ways(columns, targets):
    X, Y, rng = table(2 * BLOCK + 37, columns, targets)
    for weights in (None, rng.exponential(size=len(X))):
        found = counted(X, Y, weights)
        check(found.tally, X, Y, weights)
        assert (found.n_skipped, found.first_skipped) == (0, -1)


@pytest.mark.parametrize("columns", [3, 120])
def test_an_offset_of_a_hundred_million_costs_no_digits(columns):
    X, Y, rng = table(700, columns, 2)
    X, Y = X + 1e8, Y - 3e8
    for weights in (None, rng.exponential(size=len(X))):
        check(counted(X, Y, weights).tally, X, Y, weights)


@pytest.mark.parametrize("columns", [3, 120])
@pytest.mark.parametrize("dtype", TYPES)
def test_cells_of_every_type_are_counted(dtype, columns):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2 if dtype is np.bool_ else 100, (300, columns)).astype(dtype)
    if dtype is np.float32:
        X = X / np.float32(7)
    Y = rng.normal(size=(300, 1))
    check(counted(X, Y).tally, X.astype(float), Y)


@pytest.mark.parametrize("columns", [3, 120])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix])
def test_sparse_rows_are_counted_like_dense_ones(form, columns):
    X, Y, rng = table(400, columns, 2)
    X[rng.random(X.shape) < 0.7] = 0.0
    weights = rng.exponential(size=400)
    for w in (None, weights):
        check(counted(form(X), Y, w).tally, X, Y, w)


@pytest.mark.parametrize("order", ["F", "strided", "reversed", "read-only", "half", "swapped"])
@pytest.mark.parametrize("columns", [3, 120])
def test_memory_order_and_odd_floats_do_not_matter(order, columns):
    X, Y, _ = table(200, columns)
    X = X.astype(np.float16).astype(float)
    wide = np.zeros((400, 2 * columns))
    wide[::2, ::2] = X
    views = {
        "F": np.asfortranarray(X),
        "strided": wide[::2, ::2],
        "reversed": X[::-1].copy()[::-1],
        "read-only": X.copy(),
        "half": X.astype(np.float16),
        "swapped": X.astype(">f8"),
    }
    views["read-only"].flags.writeable = False
    before = views[order].copy()
    check(counted(views[order], np.asfortranarray(Y)).tally, X, Y)
    np.testing.assert_array_equal(views[order], before)


@pytest.mark.parametrize("columns", [3, 120])
def test_a_weight_of_k_counts_as_k_rows_and_one_of_zero_as_none(columns):
    X, Y, rng = table(300, columns, 2)
    times = rng.integers(0, 4, 300)
    tally = counted(X, Y, times.astype(float)).tally
    repeated = counted(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0)).tally
    assert tally.allclose(repeated, 1e-12)
    assert tally.weight == times.sum()


def test_columns_of_very_different_size_keep_their_own_digits():
    X, Y, _ = table(500, 4)
    X = X * [1e-12, 1.0, 1e12, 1e-150]
    check(counted(X, Y * 1e100).tally, X, Y * 1e100)


def test_the_number_of_threads_and_the_length_of_ranges_do_not_matter(ranges, threads):
    X, Y, rng = table(3000, 4)
    X[[5, 1500, 2999], 1] = np.nan
    weights = rng.exponential(size=3000)
    answers = []
    for number, cells in ((1, 10**9), (2, 2000), (7, 500)):
        ranges(cells)
        threads(number)
        answers.append(counted(X, Y, weights))
    for other in answers[1:]:
        assert other.tally.allclose(answers[0].tally, 1e-12)
        assert other[1:] == answers[0][1:] == (3, 5)


# ---- missing values and infinities


@pytest.mark.slow
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("columns", [4, 120])
def test_rows_with_a_missing_value_anywhere_are_left_out_and_counted(columns, sparse):
    X, Y, rng = table(3 * BLOCK, columns, 2)
    X[[40, 2000, 2001], [0, 3, 2]] = np.nan
    Y[[41, 2001, 3071], [1, 0, 1]] = np.nan
    weights = rng.exponential(size=len(X))
    whole = ~(np.isnan(X).any(axis=1) | np.isnan(Y).any(axis=1))
    for w in (None, weights):
        found = counted(sp.csr_array(X) if sparse else X, Y, w)
        assert (found.n_skipped, found.first_skipped) == (5, 40)
        check(found.tally, X[whole], Y[whole], None if w is None else w[whole])


@pytest.mark.parametrize("first", [0, BLOCK - 1, BLOCK, 2 * BLOCK - 1])
def test_the_first_row_left_out_is_named_wherever_it_is(first):
    X, Y, _ = table(2 * BLOCK, 3)
    Y[first] = np.nan
    X[2 * BLOCK - 1, 0] = np.nan
    assert counted(X, Y).first_skipped == first


def test_missing_values_in_integer_rows_can_only_be_in_the_targets():
    X = np.arange(20).reshape(10, 2)
    Y = np.arange(10.0)[:, None]
    Y[3] = np.nan
    found = counted(X, Y)
    assert (found.n_skipped, found.first_skipped) == (1, 3)
    check(found.tally, np.delete(X, 3, 0), np.delete(Y, 3, 0))


def test_rows_that_all_have_missing_values_leave_an_empty_tally():
    X, Y, _ = table(30, 3)
    X[:, 1] = np.nan
    found = counted(X, Y)
    assert found.tally.weight == 0
    assert (found.n_skipped, found.first_skipped) == (30, 0)
    assert not found.tally.sum_xx.any()


def test_many_gappy_rows_are_taken_a_few_at_a_time(monkeypatch):
    monkeypatch.setattr("suffice.count.moments.INCOMPLETE_CELLS", 40)
    X, Y, rng = table(500, 4)
    X[rng.random(X.shape) < 0.1] = np.nan
    whole = ~np.isnan(X).any(axis=1)
    found = counted(X, Y)
    assert found.n_skipped == (~whole).sum()
    assert found.first_skipped == int(np.argmin(whole))
    check(found.tally, X[whole], Y[whole])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("columns", [3, 120])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_an_infinite_cell_is_refused_by_row_and_column(value, columns, sparse):
    X, Y, _ = table(BLOCK + 40, columns)
    X[3, 0] = np.nan
    X[BLOCK + 33, 2] = value
    with pytest.raises(InputError, match=rf"{value:g} in row {BLOCK + 33}, column 2"):
        counted(sp.csr_array(X) if sparse else X, Y)


def test_an_infinite_cell_in_a_row_with_a_missing_value_is_refused_too():
    X, Y, _ = table(40, 3)
    X[7] = [np.nan, 1.0, np.inf]
    with pytest.raises(InputError, match="inf in row 7, column 2"):
        counted(X, Y)


@pytest.mark.parametrize(("targets", "message"), [(1, "target y"), (2, "target 1")])
def test_an_infinite_target_is_called_by_its_name(targets, message):
    X, Y, _ = table(40, 3, targets)
    Y[7, -1] = np.inf
    with pytest.raises(InputError, match=f"inf in row 7, {message}"):
        counted(X, Y)


def test_a_named_column_is_named():
    X, Y, _ = table(40, 2)
    X[7, 1] = np.inf
    rows = PairedRows.of(X, Y, names=("height", "weight"))
    with pytest.raises(InputError, match=r"inf in row 7, column 1 \('weight'\)"):
        count_pairs(rows)


def test_squares_beyond_all_floats_are_refused_by_column_or_target():
    X, Y, _ = table(40, 2)
    with pytest.raises(InputError, match="squares of column 1 are too large"):
        counted(X * [1.0, 1e200], Y)
    with pytest.raises(InputError, match="squares of target y are too large"):
        counted(X, Y * 1e200)


# ---- rows side by side


def test_paired_rows_show_rows_and_targets_as_one():
    X, Y = np.arange(12.0).reshape(4, 3), np.arange(8.0).reshape(4, 2)
    rows = PairedRows.of(X, Y, weights=np.arange(4.0))
    assert rows.shape == (4, 5)
    np.testing.assert_array_equal(rows.dense(1, 3), np.hstack([X, Y])[1:3])
    np.testing.assert_array_equal(rows.cells(2), np.hstack([X, Y])[2])
    some = rows.take(np.array([3, 0]))
    np.testing.assert_array_equal(some.dense(0, 2), np.hstack([X, Y])[[3, 0]])
    np.testing.assert_array_equal(some.weights, [3.0, 0.0])


# ---- every split adds up


@given(
    cuts=st.lists(st.integers(0, 60), max_size=4),
    columns=st.sampled_from([1, 3, 101]),
    targets=st.integers(1, 3),
    offset=st.sampled_from([0.0, 1e8, -1e4]),
    weighted=st.booleans(),
    gappy=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_every_split_of_the_rows_adds_up(cuts, columns, targets, offset, weighted, gappy, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(60, columns)) + offset, rng.normal(size=(60, targets)) - offset
    if gappy:
        X[rng.random(X.shape) < 0.05 / columns] = np.nan
        Y[rng.random(Y.shape) < 0.05] = np.nan
    weights = rng.exponential(size=60) if weighted else None
    whole = counted(X, Y, weights)
    parts = [
        counted(X[a:b], Y[a:b], None if weights is None else weights[a:b])
        for a, b in zip([0, *sorted(cuts)], [*sorted(cuts), 60], strict=True)
        if a < b
    ]
    total = parts[0].tally
    for part in parts[1:]:
        total = total + part.tally
    kept = ~(np.isnan(X).any(axis=1) | np.isnan(Y).any(axis=1))
    check(whole.tally, X[kept], Y[kept], None if weights is None else weights[kept])
    check(total, X[kept], Y[kept], None if weights is None else weights[kept], relative=1e-11)
    assert sum(part.n_skipped for part in parts) == whole.n_skipped == (~kept).sum()
