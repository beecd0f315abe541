"""Counting against the plain slow way and exact fractions; scoring kernels against scipy.stats."""

from fractions import Fraction
from math import lgamma

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

import reference
import suffice.count.runs
import suffice.kernels.ranges
from suffice.count import (
    count_events,
    count_levels,
    count_moments,
    count_ones,
    count_patterns,
    count_quartics,
    count_words,
)
from suffice.count.runs import ranges_with_sums
from suffice.data.rows import Rows
from suffice.errors import InputError, SufficeWarning
from suffice.kernels.ranges import RANGE_CELLS, on_all_cores, row_ranges
from suffice.model.discrete import (
    BinaryScorer,
    LevelScorer,
    RisingScorer,
    log_orderings,
    row_log_factorials,
)
from suffice.model.gaussian import JointStudentScorer, NormalScorer, StudentScorer
from suffice.model.table import NOTHING, TableScorer
from suffice.tally import Blocks, Counts, Events, Moments

NOTHING_1D = np.empty(0)
KINDS = ["moments", "patterns", "quartics", "ones", "words", "events", "levels"]
SPARSE_KINDS = ["moments", "patterns", "quartics", "ones", "words", "events"]
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


def counted(kind, X, y, classes, weights=None, threshold=1.0):
    """Count rows the quick way."""
    given = np.empty(0) if weights is None else np.asarray(weights, float)
    rows = Rows(X, np.asarray(y, np.int32), classes, given)
    if kind == "ones":
        return count_ones(rows, threshold)
    count = {
        "moments": count_moments,
        "patterns": count_patterns,
        "quartics": count_quartics,
        "words": count_words,
        "events": count_events,
        "levels": count_levels,
    }[kind]
    return count(rows)


def expected(kind, X, y, classes, weights=None, threshold=1.0):
    """Count the same rows the slow way, with exact sums."""
    X = np.asarray(X, float)
    builds = {
        "moments": reference.moments,
        "patterns": reference.patterns,
        "quartics": reference.quartics,
        "words": lambda rows, w: reference.word_counts(np.nan_to_num(rows), w),
        "events": reference.events,
        "ones": lambda rows, w: reference.counts(
            np.where(np.isnan(rows), np.nan, rows > threshold), w, levels=2
        ),
        "levels": lambda rows, w: Blocks(
            tuple(
                reference.counts(rows[:, [j]], w, levels=int(np.nanmax(X[:, j])) + 1).take(0)
                for j in range(X.shape[1])
            )
        ),
    }
    return reference.by_class(builds[kind], X, y, weights, classes=np.arange(classes))


def check(kind, X, y, classes, weights=None, dense=None):
    row_weights, tally = counted(kind, X, y, classes, weights)
    wanted = expected(kind, X if dense is None else dense, y, classes, weights)
    np.testing.assert_allclose(row_weights, wanted.weights, rtol=1e-12)
    assert tally.agrees(wanted.parts, 1e-11)


def cells(rng, rows, columns=3, high=4):
    return rng.integers(0, high, (rows, columns))


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
def test_gaps_are_left_out(kind, weighted):
    rng = np.random.default_rng(5)
    X, y = cells(rng, 90).astype(float), rng.integers(0, 3, 90)
    X[rng.random(X.shape) < 0.2] = np.nan
    if kind == "patterns":
        X[np.isnan(X).all(axis=1)] = 1.0
    check(kind, X, y, 3, rng.exponential(size=90) if weighted else None)


def test_a_row_of_gaps_weighs_but_says_nothing():
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
def test_many_sums_are_held_by_few_long_ranges(kind, order, monkeypatch):
    monkeypatch.setattr(suffice.kernels.ranges, "RANGE_CELLS", 150)
    monkeypatch.setattr(suffice.count.runs, "MOST_SUMS", 10)
    assert ranges_with_sums(500, 3, sums=9) == [(0, 250), (250, 500)]
    assert ranges_with_sums(500, 3, sums=2) == [(at, at + 100) for at in range(0, 500, 100)]
    assert ranges_with_sums(40, 3, sums=9) == [(0, 40)]
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
def test_more_rows_than_a_range_holds(kind, monkeypatch):
    monkeypatch.setattr(suffice.kernels.ranges, "RANGE_CELLS", 150)
    rng = np.random.default_rng(10)
    X, y = cells(rng, 500).astype(float), rng.integers(0, 3, 500)
    assert len(row_ranges(*X.shape)) == 10
    check(kind, X, y, 3, rng.exponential(size=500))


def test_ranges_of_full_length_cover_all_rows():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(RANGE_CELLS // 2 + 1000, 4)).astype(np.float32)
    y = rng.integers(0, 2, len(X))
    assert len(row_ranges(*X.shape)) > 1
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
def test_stored_zeros_and_stored_gaps_are_what_they_are(kind):
    rng = np.random.default_rng(13)
    dense = cells(rng, 70, 4).astype(float)
    X = sp.csr_matrix(dense + 10)  # every cell is stored
    X.data[:] = dense.ravel()
    gaps = rng.random(dense.shape) < 0.2
    X.data[gaps.ravel()] = np.nan
    dense[gaps] = np.nan
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
def test_an_infinite_cell_is_refused_by_row_and_column(kind, sparse, monkeypatch):
    monkeypatch.setattr(suffice.kernels.ranges, "RANGE_CELLS", 30)
    X = np.ones((40, 3))
    X[33, 2] = np.inf
    X[34, 0] = np.nan
    with pytest.raises(InputError, match=r"infinity: inf in row 33, column 2"):
        counted(kind, sp.csr_matrix(X) if sparse else X, np.zeros(40), 1)


@pytest.mark.parametrize("kind", ["patterns", "levels"])
def test_an_infinite_cell_among_gaps_is_refused(kind):
    X = np.ones((40, 3))
    X[1, 1] = np.nan
    X[33, 2] = np.inf
    with pytest.raises(InputError, match=r"infinity: inf in row 33, column 2"):
        counted(kind, X, np.zeros(40), 1)


def test_quartics_refuse_gaps_by_row():
    X = np.ones((5, 2))
    X[3, 0] = np.nan
    with pytest.raises(InputError, match="row 3 has a gap"):
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


# ---- answers that do not depend on threads or batches


def everything(tally):
    """Return all numbers a tally holds, as means and scatters where it has an origin."""
    if isinstance(tally, Counts):
        return [tally.counts, tally.log_orderings]
    if isinstance(tally, Events):
        return [tally.weight, tally.sum_x, tally.sum_log_factorial]
    if isinstance(tally, Moments):
        return [tally.weight, tally.mean(), tally.scatter()]
    if isinstance(tally, Blocks):
        return [array for part in tally.parts for array in everything(part)]
    if hasattr(tally, "parts"):
        return [array for part in tally.parts.values() for array in everything(part)]
    return [tally.weight, tally.origin, tally.sum_z, tally.sum_zz]


@pytest.mark.parametrize(
    ("kind", "sparse"),
    [(kind, False) for kind in KINDS] + [(kind, True) for kind in SPARSE_KINDS],
)
def test_the_number_of_cores_does_not_matter(kind, sparse, monkeypatch):
    rng = np.random.default_rng(15)
    X, y = cells(rng, 4000, 4).astype(float), rng.integers(0, 3, 4000)
    if sparse:
        X = sp.csr_matrix(X)
    weights = rng.exponential(size=4000)
    monkeypatch.setattr(suffice.kernels.ranges, "RANGE_CELLS", 2000)
    answers = []
    for cores in (1, 2, 7):
        monkeypatch.setattr(suffice.kernels.ranges, "cores", lambda cores=cores: cores)
        row_weights, tally = counted(kind, X, y, 3, weights)
        answers.append([row_weights, *everything(tally)])
    for other in answers[1:]:
        for a, b in zip(answers[0], other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_how_rows_are_batched_does_not_matter(kind):
    rng = np.random.default_rng(16)
    X, y = cells(rng, 900, 4).astype(float), rng.integers(0, 3, 900)
    X[0] = 3  # every level is seen in the first batch
    weights = rng.exponential(size=900)
    _, whole = counted(kind, X, y, 3, weights)
    for cuts in ([450], [1, 2, 3, 899], list(range(50, 900, 50))):
        parts = [
            counted(kind, *part, 3, w)[1]
            for *part, w in zip(
                np.split(X, cuts), np.split(y, cuts), np.split(weights, cuts), strict=True
            )
        ]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        assert total.agrees(whole, 1e-12)


def test_work_is_answered_in_the_order_of_the_tasks():
    assert on_all_cores(lambda a, b: b - a, [(0, 3), (3, 5), (5, 6)]) == [3, 2, 1]


# ---- accuracy against exact fractions


def exact_variances(X, weights):
    """Return variances and covariances of the columns by rational arithmetic, rounded once."""
    w = [Fraction(float(v)) for v in weights]
    rows = [[Fraction(float(x)) for x in row] for row in X]
    total = sum(w)
    d = len(rows[0])
    mean = [sum(wi * row[j] for wi, row in zip(w, rows, strict=True)) / total for j in range(d)]
    out = np.empty((d, d))
    for j in range(d):
        for k in range(d):
            products = (
                wi * (row[j] - mean[j]) * (row[k] - mean[k])
                for wi, row in zip(w, rows, strict=True)
            )
            out[j, k] = float(sum(products) / total)
    return out


@pytest.mark.parametrize("first_row_wild", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("offset", "dtype"), [(1e8, np.float64), (-1e8, float), (1e4, np.float32)])
def test_variances_far_from_zero_are_exact_to_nine_digits(offset, dtype, weighted, first_row_wild):
    rng = np.random.default_rng(17)
    X = (offset + rng.normal(size=(400, 2))).astype(dtype)
    y = np.repeat([0, 1], 200)
    if first_row_wild:
        X[0] = -3 * offset
        X[200] = 0.0
    weights = rng.exponential(size=400) if weighted else None
    _, diagonal = counted("moments", X, y, 2, weights)
    _, full = counted("patterns", X, y, 2, weights)
    _, sparse = counted("moments", sp.csr_matrix(X), y, 2, weights)
    for c in range(2):
        mine = y == c
        exact = exact_variances(X[mine], np.ones(200) if weights is None else weights[mine])
        for moments in (diagonal, sparse):
            np.testing.assert_allclose(moments.variance()[c], np.diag(exact), rtol=1e-9)
        scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
        assert np.all(np.abs(full.whole().variance()[c] - exact) <= 1e-9 * scale)


@pytest.mark.parametrize("kind", ["moments", "patterns"])
def test_a_wild_first_row_does_not_set_the_origin(kind):
    # it weighs nothing, so that all digits are those of the rows after it
    rng = np.random.default_rng(20)
    X, weights = rng.normal(size=(100, 2)), rng.exponential(size=100)
    X[0], weights[0] = 1e9, 0.0
    _, tally = counted(kind, X, np.zeros(100), 1, weights)
    variance = tally.whole().variance()[0] if kind == "patterns" else np.diag(tally.variance()[0])
    exact = exact_variances(X[1:], weights[1:])
    np.testing.assert_allclose(np.diag(variance), np.diag(exact), rtol=1e-12)


def test_variances_stay_exact_when_batches_are_added_and_removed():
    rng = np.random.default_rng(18)
    X = 1e8 + rng.normal(size=(300, 2))
    batches = np.split(X, 3)
    tallies = [counted("moments", batch, np.zeros(100), 1)[1] for batch in batches]
    total = tallies[0] + tallies[1] + tallies[2]
    exact = np.diag(exact_variances(X, np.ones(300)))
    np.testing.assert_allclose(total.variance()[0], exact, rtol=1e-9)
    left = total - tallies[1]
    exact = np.diag(exact_variances(np.concatenate([batches[0], batches[2]]), np.ones(200)))
    np.testing.assert_allclose(left.variance()[0], exact, rtol=1e-9)


def test_whole_weights_keep_counts_exact():
    rng = np.random.default_rng(19)
    X, y = rng.integers(0, 1000, (5000, 3)), rng.integers(0, 2, 5000)
    weights = rng.integers(0, 100, 5000)
    _, tally = counted("words", X, y, 2, weights)
    wanted = np.zeros((2, 3), np.int64)
    np.add.at(wanted, y, X * weights[:, None])
    assert tally.counts.tolist() == wanted.tolist()


# ---- scores


def filled(scorer, X, classes):
    out = np.zeros((X.shape[0], classes))
    assert scorer.fill(X, 0, X.shape[0], out) == -1
    return out


def with_gaps(rng, X):
    X = np.array(X, float)
    X[rng.random(X.shape) < 0.25] = np.nan
    return X


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_normal_scores_are_those_of_scipy(gaps, dtype):
    rng = np.random.default_rng(20)
    mean, variance = rng.normal(size=(3, 5)), rng.exponential(size=(3, 5)) + 0.1
    X = (3 * rng.normal(size=(200, 5))).astype(dtype)
    if gaps:
        X = with_gaps(rng, X)
    logs = stats.norm.logpdf(X[:, None], mean, np.sqrt(variance))
    wanted = np.nansum(logs, axis=-1)
    np.testing.assert_allclose(filled(NormalScorer(mean, variance), X, 3), wanted, rtol=1e-11)
    if dtype is np.float64:
        sparse = filled(NormalScorer(mean, variance), sp.csr_matrix(X), 3)
        np.testing.assert_allclose(sparse, wanted, rtol=1e-11)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("equal_degrees", [False, True])
def test_student_scores_are_those_of_scipy(gaps, equal_degrees):
    rng = np.random.default_rng(21)
    location, scale = rng.normal(size=(3, 5)), rng.exponential(size=(3, 5)) + 0.1
    degrees = np.full((3, 5), 4.5) if equal_degrees else rng.uniform(0.5, 30, (3, 5))
    degrees[:, 1] = degrees[:, 0]
    X = rng.standard_cauchy((200, 5))
    if gaps:
        X = with_gaps(rng, X)
    wanted = np.nansum(stats.t.logpdf(X[:, None], degrees, location, np.sqrt(scale)), axis=-1)
    scores = filled(StudentScorer(degrees, location, scale), X, 3)
    np.testing.assert_allclose(scores, wanted, rtol=1e-10, atol=1e-10)


def test_student_scores_of_many_far_columns_do_not_overflow():
    X = np.full((1, 400), 1e100)
    ones = np.ones((1, 400))
    scores = filled(StudentScorer(3 * ones, 0 * ones, ones), X, 1)
    wanted = 400 * stats.t.logpdf(1e100, 3)
    np.testing.assert_allclose(scores, [[wanted]], rtol=1e-11)


@pytest.mark.parametrize("gaps", [False, True])
def test_joint_student_scores_are_those_of_scipy(gaps):
    rng = np.random.default_rng(22)
    degrees, location = rng.uniform(0.5, 20, 3), rng.normal(size=(3, 4))
    scale = rng.exponential(size=(3, 4)) + 0.1
    X = rng.normal(size=(60, 4)) * 3
    if gaps:
        X = with_gaps(rng, X)
        X[0] = np.nan
    scores = filled(JointStudentScorer(degrees, location, scale), X, 3)
    for row, got in zip(X, scores, strict=True):
        seen = ~np.isnan(row)
        for c in range(3):
            wanted = 0.0
            if seen.any():
                law = stats.multivariate_t(location[c, seen], np.diag(scale[c, seen]), degrees[c])
                wanted = law.logpdf(row[seen])
            np.testing.assert_allclose(got[c], wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("gaps", [False, True])
def test_poisson_scores_are_those_of_scipy(gaps, form):
    rng = np.random.default_rng(23)
    rate = rng.exponential(size=(4, 3)) + 0.1  # (V, C)
    X = rng.poisson(2.0, (100, 4)).astype(float)
    X[0] = 300.0  # beyond the table of factorials
    if gaps:
        X = with_gaps(rng, X)
    wanted = np.nansum(stats.poisson.logpmf(X[:, :, None], rate), axis=1)
    scores = filled(TableScorer(np.log(rate), -rate.sum(axis=0), -rate), form(X), 3)
    length, factorials = row_log_factorials(form(X))
    np.testing.assert_allclose(scores - factorials[:, None], wanted, rtol=1e-10)
    np.testing.assert_allclose(length, np.nansum(X, axis=1))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("gaps", [False, True])
def test_negative_binomial_scores_are_those_of_scipy(gaps, form):
    rng = np.random.default_rng(24)
    events, rows = rng.exponential(size=(4, 3)) * 5, rng.exponential(size=(4, 3)) * 9
    X = rng.poisson(3.0, (100, 4)).astype(float)
    X[0] = 40.0  # beyond the products
    if gaps:
        X = with_gaps(rng, X)
    wanted = np.nansum(stats.nbinom.logpmf(X[:, :, None], events, rows / (rows + 1)), axis=1)
    silent = events * np.log(rows / (rows + 1))
    scorer = RisingScorer(events, -np.log1p(rows), NOTHING_1D, silent.sum(axis=0), silent)
    scores = filled(scorer, form(X), 3)
    np.testing.assert_allclose(
        scores - row_log_factorials(form(X))[1][:, None], wanted, rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_multinomial_and_polya_scores_are_those_of_scipy(form):
    rng = np.random.default_rng(25)
    X = np.concatenate([rng.poisson(1.0, (50, 4)), rng.poisson(20.0, (20, 4))])
    phi = rng.dirichlet(np.ones(4), 3)
    plain = filled(TableScorer(np.log(phi.T), np.zeros(3), NOTHING), form(X), 3)
    alpha = rng.exponential(size=(3, 4)) + 0.05
    believed = np.ascontiguousarray(alpha.T)
    polya = RisingScorer(believed, NOTHING, alpha.sum(axis=1), np.zeros(3), NOTHING)
    polya_scores = filled(polya, form(X), 3)
    orderings = log_orderings(form(X))
    for i, row in enumerate(X):
        for c in range(3):
            wanted = stats.multinomial.logpmf(row, row.sum(), phi[c])
            np.testing.assert_allclose(plain[i, c] + orderings[i], wanted, rtol=1e-9, atol=1e-9)
            wanted = stats.dirichlet_multinomial.logpmf(row, alpha[c], row.sum())
            got = polya_scores[i, c] + orderings[i]
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("impossible", [False, True])
def test_binary_scores_are_those_of_scipy(form, gaps, impossible):
    rng = np.random.default_rng(26)
    chance = rng.uniform(0.05, 0.95, (4, 3))
    if impossible:
        chance[1, 2], chance[2, 0] = 0.0, 1.0
    X = rng.integers(0, 2, (60, 4)).astype(float)
    wanted = np.sum(stats.bernoulli.logpmf(X[:, :, None], chance), axis=1)
    if gaps:
        X = with_gaps(rng, X)
        logs = stats.bernoulli.logpmf(np.nan_to_num(X)[:, :, None], chance)
        wanted = np.where(np.isnan(X)[:, :, None], 0.0, logs).sum(axis=1)
    with np.errstate(divide="ignore"):
        scorer = BinaryScorer(np.log(chance), np.log1p(-chance), 0.5)
    np.testing.assert_allclose(filled(scorer, form(X), 3), wanted, rtol=1e-11)


def test_a_stored_zero_is_not_multiplied_by_minus_infinity():
    table = np.array([[-np.inf, 0.0], [-1.0, -2.0]])
    X = sp.csr_matrix(([0.0, 3.0], [0, 1], [0, 2]), shape=(1, 2))
    scores = filled(TableScorer(table, np.zeros(2), NOTHING), X, 2)
    np.testing.assert_array_equal(scores, [[-3.0, -6.0]])
    np.testing.assert_array_equal(
        filled(TableScorer(table, np.zeros(2), NOTHING), X.toarray(), 2), [[-3.0, -6.0]]
    )


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.uint64, np.float32, np.float64])
def test_level_scores_are_looked_up(dtype):
    levels = np.array([2, 3])
    table = np.log(np.array([[0.2], [0.8], [0.5], [0.3], [0.2]]))
    unseen = np.log(np.array([[0.01], [0.02]]))
    X = np.array([[0, 0], [1, 2], [5, 1], [0, 9]]).astype(dtype)
    scores = filled(LevelScorer(np.array([0, 2]), levels, table, unseen), X, 1)
    wanted = np.log([0.2 * 0.5, 0.8 * 0.2, 0.01 * 0.3, 0.2 * 0.02])
    np.testing.assert_allclose(scores[:, 0], wanted, rtol=1e-12)


def test_log_factorials_are_those_of_the_gamma_function():
    X = np.array([[0.0, 1.5, 255.0], [256.0, 1000.0, 0.25]])
    length, factorials = row_log_factorials(X)
    np.testing.assert_allclose(length, X.sum(axis=1))
    np.testing.assert_allclose(factorials, [sum(lgamma(x + 1) for x in row) for row in X])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_scorers_name_the_row_of_an_infinite_cell(form):
    X = np.ones((5, 2))
    X[2, 0] = np.nan
    X[3, 1] = -np.inf
    ones = np.ones((2, 2))
    scorers = [
        NormalScorer(ones, ones),
        StudentScorer(ones, ones, ones),
        JointStudentScorer(np.ones(2), ones, ones),
        TableScorer(ones, np.ones(2), ones),
        BinaryScorer(-ones, -ones, 0.5),
        RisingScorer(ones, ones, np.ones(2), np.ones(2), ones),
    ]
    for scorer in scorers:
        assert scorer.fill(form(X), 0, 5, np.zeros((5, 2))) == 3
        assert scorer.fill(form(X), 1, 5, np.zeros((4, 2))) == 2


def test_linear_scores_refuse_cells_below_the_lowest_by_row():
    X = np.ones((5, 2))
    X[3, 1] = -1
    table = np.ones((2, 2))
    for rows in (X, sp.csr_matrix(X), X.astype(int)):
        scorer = TableScorer(table, np.ones(2), NOTHING, lowest=0.0)
        assert scorer.fill(rows, 0, 5, np.zeros((5, 2))) == 3
        assert scorer.fill(rows, 2, 5, np.zeros((3, 2))) == 1
        assert scorer.fill(rows, 0, 3, np.zeros((3, 2))) == -1
