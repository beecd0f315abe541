"""Sums over rows by class, against the same sums in plain numpy."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln

from suffice import _core

FIVE = [np.float64, np.float32, np.int64, np.int32, np.uint8]
TYPES = [*FIVE, np.int8, np.int16, np.uint16, np.uint32, np.uint64, np.bool_]
NONE = np.empty(0)
SHAPES = [(0, 3, 2), (1, 1, 1), (5, 0, 2), (63, 4, 3), (64, 2, 1), (65, 7, 4), (1000, 3, 2)]


def in_order(X, order):
    """Return an array in some order of memory."""
    if order == "strided":
        wide = np.zeros((2 * X.shape[0], 2 * X.shape[1]), X.dtype)
        wide[::2, 1::2] = X
        return wide[::2, 1::2]
    return np.asarray(X, order=order)


class Case:
    """Random rows of counts with classes, weights and missing values."""

    def __init__(self, shape, dtype=np.float64, order="C", weighted=False, missing=0.0, seed=0):
        rows, columns, self.classes = shape
        rng = np.random.default_rng(seed)
        X = rng.poisson(1.5, (rows, columns)).clip(max=5).astype(dtype)
        if missing:
            X[rng.random(X.shape) < missing] = np.nan
        self.X = in_order(X, order)
        self.codes = rng.integers(0, self.classes, rows).astype(np.int32)
        self.weights = rng.exponential(size=rows) if weighted and rows else NONE
        self.origin = rng.normal(size=(self.classes, columns))
        self.w = self.weights if self.weights.size else np.ones(rows)
        self.one_hot = (self.codes[:, None] == np.arange(self.classes)).astype(float)

    def by_class(self, values):
        """Return weighted sums of values (n, ...) by class."""
        weighted = self.one_hot * self.w[:, None]
        return np.tensordot(weighted, np.asarray(values, float), axes=(0, 0))

    @property
    def cells(self):
        return np.asarray(self.X, dtype=float)

    @property
    def seen(self):
        return ~np.isnan(self.cells)

    @property
    def arguments(self):
        return self.X, self.codes, self.weights, self.classes

    @property
    def sparse(self):
        matrix = sp.csr_array(self.X)
        parts = matrix.data, matrix.indices, matrix.indptr
        return *parts, self.codes, self.weights, self.classes, self.X.shape[1]


def moments_of(case):
    d = case.cells - case.origin[case.codes]
    d = np.where(case.seen, d, 0.0)
    return (
        case.by_class(np.ones(len(d))),
        case.by_class(case.seen),
        case.by_class(d),
        case.by_class(d**2),
    )


def log_orderings_of(case):
    cells = np.nan_to_num(case.cells)
    logs = gammaln(cells.sum(axis=1) + 1) - gammaln(cells + 1).sum(axis=1)
    return np.where((cells == np.floor(cells)).all(axis=1), logs, 0.0)


def words_of(case):
    cells = np.nan_to_num(case.cells)
    weight = case.by_class(np.ones(len(cells)))
    return weight, case.by_class(cells), case.by_class(log_orderings_of(case))


def events_of(case):
    cells = np.nan_to_num(case.cells)
    weight = case.by_class(np.ones(len(cells)))
    return (
        weight,
        case.by_class(~case.seen),
        case.by_class(cells),
        case.by_class(gammaln(cells + 1)),
    )


def ones_of(case, threshold):
    weight = case.by_class(np.ones(len(case.X)))
    return weight, case.by_class(~case.seen), case.by_class(case.cells > threshold)


def same(found, wanted, scale=1.0):
    assert found[0] == -1
    assert len(found) == len(wanted) + 1
    for one, other in zip(found[1:], wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-11 * scale)


def check_all(case):
    same(_core.moments(*case.arguments[:3], case.origin), moments_of(case))
    same(_core.words(*case.arguments), words_of(case))
    same(_core.events(*case.arguments), events_of(case))
    same(_core.ones(*case.arguments, 1.0), ones_of(case, 1.0))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_sums_of_any_shape_are_those_of_numpy(shape, weighted, missing, ranges):
    for cells in (20, 10**6):
        ranges(cells)
        check_all(Case(shape, weighted=weighted, missing=missing))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_sums_of_any_type_and_order_are_those_of_numpy(dtype, order, ranges):
    ranges(400)
    check_all(Case((300, 5, 3), dtype, order, weighted=True))


@pytest.mark.parametrize("dtype", FIVE)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("classes", [1, 2, 40])
def test_sums_of_sparse_rows_are_those_of_dense_ones(dtype, index, classes):
    case = Case((300, 6, classes), dtype, weighted=True, missing=0.1 * (dtype(0.5) != 0))
    data, indices, indptr, *rest = case.sparse
    parts = data, indices.astype(index), indptr.astype(index)
    same(_core.sparse_words(*parts, *rest), words_of(case))
    same(_core.sparse_events(*parts, *rest), events_of(case))
    same(_core.sparse_ones(*parts, *rest, 1.0), ones_of(case, 1.0))
    refused, weight, stored, missing, sum_x, sum_xx = _core.sparse_moments(
        *parts, *rest[:2], case.origin
    )
    implicit = weight[:, None] - stored
    found = weight, weight[:, None] - missing, sum_x - implicit * case.origin
    same((refused, *found, sum_xx + implicit * case.origin**2), moments_of(case))


@pytest.mark.parametrize("columns", [0, 1, 2, 3, 4, 7, 8, 13, 50, 600])
@pytest.mark.parametrize("classes", [1, 2, 16, 17])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_short_cells_are_those_of_the_same_doubles_to_the_bit(
    columns, classes, weighted, instruction_sets
):
    for dtype in (np.float32, np.int32, np.uint8):
        case = Case((157, columns, classes), dtype, weighted=weighted)
        doubles = case.X.astype(np.float64), *case.arguments[1:3], case.origin
        wanted = [np.asarray(part).tobytes() for part in _core.moments(*doubles)]
        for use in instruction_sets:
            use()
            found = _core.moments(*case.arguments[:3], case.origin)
            same(found, moments_of(case))
            assert [np.asarray(part).tobytes() for part in found] == wanted


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.uint8])
@pytest.mark.parametrize("row", [0, 700, 1999])
def test_cells_of_any_block_of_sparse_rows_are_checked(dtype, row):
    case = Case((2000, 30, 3), dtype)  # more cells than are checked together
    data, indices, indptr, *rest = case.sparse
    same(_core.sparse_words(*case.sparse), words_of(case))
    place = indptr[row]
    while indptr[row + 1] == place:
        row -= 1
        place = indptr[row]
    beyond = indices.copy()
    beyond[place] = 30
    with pytest.raises(ValueError, match="beyond its columns"):
        _core.sparse_words(data, beyond, indptr, *rest)
    if dtype is np.float64:
        for cell, refused in ((-1.0, row), (0.5, -1), (300.0, -1), (np.nan, -1)):
            data[place] = cell
            case.X[row, indices[place]] = cell
            found = _core.sparse_words(data, indices, indptr, *rest)
            assert found[0] == refused
            if refused < 0:
                same(found, words_of(case))


def test_moments_about_an_origin_keep_the_digits_of_data_at_1e8():
    rng = np.random.default_rng(3)
    noise = rng.integers(-1000, 1000, (5000, 3)) / 1024.0  # exact, also far from 0
    codes = rng.integers(0, 2, 5000).astype(np.int32)
    origin = np.full((2, 3), 2.0**27)
    found = _core.moments(noise + 2.0**27, codes, NONE, origin)
    for c in range(2):
        mine = noise[codes == c]
        np.testing.assert_array_equal(found[3][c], mine.sum(axis=0))
        np.testing.assert_array_equal(found[4][c], (mine**2).sum(axis=0))


def test_a_threshold_of_nan_takes_cells_as_they_are():
    X = np.array([[1.0, 0.0], [1.0, np.nan]])
    found = _core.ones(X, np.zeros(2, np.int32), NONE, 1, np.nan)
    assert [part.tolist() for part in found[1:]] == [[2.0], [[0.0, 1.0]], [[2.0, 0.0]]]


def test_rows_of_fractions_have_one_order():
    X = np.array([[0.5, 2.0], [3.0, 1.0]])
    *_, orderings = _core.words(X, np.zeros(2, np.int32), NONE, 1)
    np.testing.assert_allclose(orderings, [np.log(4)])


@pytest.mark.parametrize("kind", ["moments", "ones", "words", "events"])
@pytest.mark.parametrize("bad", [np.inf, -np.inf, -1.0])
def test_the_first_row_that_cannot_be_taken_is_named(kind, bad, ranges):
    ranges(30)
    case = Case((200, 4, 3))
    X = case.X.copy()
    X[[77, 150], [2, 1]] = bad
    X[76, 0] = np.nan
    more = {"moments": (case.origin,), "ones": (3, 0.5)}.get(kind, (3,))
    refused = getattr(_core, kind)(X, case.codes, NONE, *more)[0]
    assert refused == (-1 if kind in ("moments", "ones") and bad == -1.0 else 77)
    matrix = sp.csr_array(X)
    parts = matrix.data, matrix.indices, matrix.indptr, case.codes, NONE
    more = {"moments": (case.origin,), "ones": (3, 4, 0.5)}.get(kind, (3, 4))
    assert getattr(_core, f"sparse_{kind}")(*parts, *more)[0] == refused


# ---- levels


def levels_of(case):
    cells = np.where(case.seen, np.trunc(case.cells), -1.0)
    highest = cells.max(axis=0, initial=-1).astype(int)
    parts = [case.by_class(cells[:, [j]] == np.arange(high + 1)) for j, high in enumerate(highest)]
    counts = np.concatenate(parts, axis=1) if parts else np.zeros((case.classes, 0))
    return highest, case.by_class(np.ones(len(cells))), counts


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_levels_of_any_shape_are_counted(shape, missing, ranges):
    for cells in (20, 10**6):
        ranges(cells)
        case = Case(shape, weighted=True, missing=missing)
        refused, fractional, *found = _core.levels(*case.arguments, 100)
        assert (refused, fractional) == (-1, -1)
        for one, other in zip(found, levels_of(case), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_levels_of_any_type_are_counted(dtype, order, ranges):
    ranges(100)
    case = Case((200, 3, 2), dtype, order)
    found = _core.levels(*case.arguments, 100)[2:]
    for one, other in zip(found, levels_of(case), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_levels_too_many_for_a_table_of_each_range_are_counted(ranges):
    ranges(1000)
    rng = np.random.default_rng(4)
    case = Case((3000, 2, 2))
    case.X = np.column_stack([rng.integers(0, 90_000, 3000), rng.integers(0, 3, 3000)])
    found = _core.levels(*case.arguments, 10**6)[2:]
    for one, other in zip(found, levels_of(case), strict=True):
        np.testing.assert_allclose(one, other)


def test_a_column_of_missing_values_has_no_level_and_one_of_zeros_has_one():
    X = np.array([[np.nan, 0.0], [np.nan, 0.0]])
    *_, highest, weight, counts = _core.levels(X, np.zeros(2, np.int32), NONE, 1, 10)
    assert (highest.tolist(), weight.tolist(), counts.tolist()) == ([-1, 0], [2.0], [[2.0]])


def test_levels_that_are_none_are_named_and_fractions_cut_off(ranges):
    ranges(8)
    X = np.array([[0.0], [1.7], [-0.5], [2.2], [np.nan]]).repeat(5, axis=0)
    codes = np.zeros(len(X), np.int32)
    refused, fractional, highest, _, counts = _core.levels(X, codes, NONE, 1, 10)
    assert (refused, fractional, highest.tolist()) == (-1, 5, [2])
    assert counts.tolist() == [[10.0, 5.0, 5.0]]
    for bad in (-1.0, -3.0, 2.0**53 + 2, np.inf, -np.inf):
        X[17] = bad
        assert _core.levels(X, codes, NONE, 1, 10)[0] == 17
    X[17] = 10.0
    refused, _, highest, _, counts = _core.levels(X, codes, NONE, 1, 10)
    assert (refused, highest.tolist(), counts.size) == (-1, [10], 0)


# ---- products


def scatter_of(case, targets):
    rows = np.concatenate([case.cells, targets], axis=1) if targets.size else case.cells
    rows = rows - case.origin[case.codes]
    products = rows[:, :, None] * rows[:, None, :]
    return case.by_class(np.ones(len(rows))), case.by_class(rows), case.by_class(products)


@pytest.mark.parametrize("columns", [0, 1, 5, 63, 64, 65, 127, 128, 129, 200])
@pytest.mark.parametrize("weighted", [False, True])
def test_products_of_narrow_and_wide_rows_are_those_of_numpy(columns, weighted, ranges):
    ranges(20_000)
    case = Case((1500, columns, 3), weighted=weighted)
    found = _core.scatter(case.X, np.empty((0, 0)), case.codes, case.weights, case.origin)
    for one, other in zip(found, scatter_of(case, NONE), strict=False):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-10)
    assert found[3].size == 0
    for products in found[2]:
        np.testing.assert_array_equal(products, products.T)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_targets_are_further_cells_of_rows_of_any_type(dtype, order):
    case = Case((200, 3, 2), dtype, order)
    targets = np.random.default_rng(5).normal(size=(200, 2))
    case.origin = np.ones((2, 5))
    found = _core.scatter(case.X, targets, case.codes, NONE, case.origin)
    for one, other in zip(found, scatter_of(case, targets), strict=False):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize("columns", [3, 130])
def test_blocks_with_cells_that_are_not_finite_are_left_out_by_number(columns, ranges):
    ranges(10**9)
    case = Case((3000, columns, 2))
    case.X[1024 + 5, 1] = np.nan
    *found, left_out = _core.scatter(case.X, np.empty((0, 0)), case.codes, NONE, case.origin)
    np.testing.assert_array_equal(left_out, np.arange(1024, 2048))
    case.w[1024:2048] = 0.0
    case.X[1024 + 5, 1] = 0.0
    for one, other in zip(found, scatter_of(case, NONE), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-10)


# ---- threads, instruction sets, arrays that do not fit


def bits(case):
    found = [
        *_core.moments(*case.arguments[:3], case.origin),
        *_core.words(*case.arguments),
        *_core.events(*case.arguments),
        *_core.ones(*case.arguments, 1.0),
        *_core.levels(*case.arguments, 100),
        *_core.sparse_words(*case.sparse),
        *_core.sparse_events(*case.sparse),
        *_core.sparse_moments(*case.sparse[:5], case.origin),
    ]
    return [np.asarray(part).tobytes() for part in found]


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_threads_and_instruction_sets_change_no_bit(missing, ranges, threads, instruction_sets):
    ranges(900)
    case = Case((4000, 7, 3), weighted=True, missing=missing)
    found = []
    for number in (1, 2, 5):
        threads(number)
        for use in instruction_sets:
            use()
            found.append(bits(case))
    assert all(one == found[0] for one in found)


def test_arrays_that_do_not_fit_are_refused():
    case = Case((10, 3, 2))
    X, codes, none = case.X, case.codes, NONE
    wrong_codes = codes.copy()
    wrong_codes[4] = 2
    matrix = sp.csr_array(X)
    data, indices, indptr = matrix.data, matrix.indices, matrix.indptr
    beyond, backwards = indices.copy(), indptr.copy()
    beyond[3], backwards[5] = 3, 0
    calls = [
        lambda: _core.moments(X, codes[:-1], none, case.origin),
        lambda: _core.moments(X, codes, np.ones(9), case.origin),
        lambda: _core.moments(X, codes, none, case.origin[:, :-1]),
        lambda: _core.moments(X, wrong_codes, none, case.origin),
        lambda: _core.moments(X, -1 - codes, none, case.origin),
        lambda: _core.words(X, wrong_codes, none, 2),
        lambda: _core.events(X, wrong_codes, none, 2),
        lambda: _core.ones(X, wrong_codes, none, 2, 0.5),
        lambda: _core.levels(X, wrong_codes, none, 2, 10),
        lambda: _core.moments(X.astype(complex), codes, none, case.origin),
        lambda: _core.scatter(X, np.empty((0, 0)), wrong_codes, none, case.origin),
        lambda: _core.scatter(X, np.empty((9, 1)), codes, none, np.ones((2, 4))),
        lambda: _core.scatter(X, np.empty((10, 1)), codes, none, case.origin),
        lambda: _core.sparse_words(data, beyond, indptr, codes, none, 2, 3),
        lambda: _core.sparse_words(data, -1 - indices, indptr, codes, none, 2, 3),
        lambda: _core.sparse_words(data, indices, backwards, codes, none, 2, 3),
        lambda: _core.sparse_words(data, indices, indptr + 1, codes, none, 2, 3),
        lambda: _core.sparse_words(data[:-1], indices, indptr, codes, none, 2, 3),
        lambda: _core.sparse_words(data, indices.astype(np.int64), indptr, codes, none, 2, 3),
        lambda: _core.sparse_words(data, indices, indptr[:-1], codes, none, 2, 3),
        lambda: _core.sparse_moments(data, beyond, indptr, codes, none, case.origin),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"\w"):
            call()
