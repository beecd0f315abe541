"""Derivatives of logistic and softmax regressions, against the same in plain numpy."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import log_softmax

from suffice import _core

FIVE = [np.float64, np.float32, np.int64, np.int32, np.uint8]
TYPES = [*FIVE, np.int8, np.int16, np.uint16, np.uint32, np.uint64, np.bool_]
NONE = np.empty(0)
CHUNK = 128
# Rows, columns, classes.
SHAPES = [(0, 3, 2), (1, 1, 2), (5, 0, 3), (127, 4, 3), (128, 70, 2), (129, 7, 2), (700, 9, 5)]


class Case:
    """Random rows with classes and weights, and parameters of a softmax."""

    def __init__(self, shape, dtype=np.float64, weighted=False, intercept=True, offset=0.0, seed=0):
        rows, columns, self.classes = shape
        rng = np.random.default_rng(seed)
        self.X = (rng.poisson(1.5, (rows, columns)).clip(max=5) + offset).astype(dtype)
        self.codes = rng.integers(0, self.classes, rows).astype(np.int32)
        self.weights = rng.exponential(size=rows) if weighted and rows else NONE
        self.centre = rng.normal(size=columns) + offset
        self.inverse = rng.uniform(0.5, 2.0, columns)
        self.intercept = intercept
        self.V = rng.normal(size=(self.classes - 1, columns + intercept)) / np.sqrt(columns + 1)
        self.base = NONE

    @property
    def terms(self):
        own = self.codes, self.weights
        return *own, self.centre, self.inverse, self.V, self.intercept

    @property
    def w(self):
        return self.weights if self.weights.size else np.ones(len(self.codes))

    @property
    def stored(self):
        matrix = sp.csr_array(self.X)
        return matrix.data, matrix.indices, matrix.indptr

    def derivatives(self, rows=slice(None)):
        """Return loss, greatest loss, weight, gradient and Hessian of some rows."""
        Z = (self.X.astype(np.longdouble)[rows] - self.centre) * self.inverse
        if self.intercept:
            Z = np.column_stack([Z, np.ones(len(Z))])
        w, codes = self.w[rows], self.codes[rows]
        scores = np.column_stack([Z @ self.V.T, np.zeros(len(Z))]).astype(float)
        if self.base.size:
            scores[:, 0] += self.base[rows]
        log_p = log_softmax(scores, axis=1) if len(Z) else scores
        own = log_p[np.arange(len(Z)), codes]
        p = np.exp(log_p[:, :-1])
        Z = Z.astype(float)
        gradient = (w[:, None] * (p - (codes[:, None] == np.arange(self.classes - 1)))).T @ Z
        bends = w[:, None, None] * (p[:, :, None] * (np.eye(self.classes - 1) - p[:, None, :]))
        hessian = np.einsum("nkl,ni,nj->kilj", bends, Z, Z).reshape(gradient.size, gradient.size)
        worst = (-own[w > 0]).max(initial=0.0)
        return -(w @ own), worst, w.sum(), gradient, hessian


def same(found, wanted, scale=1.0):
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-10 * scale)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_rows_have_the_derivatives_of_their_formula(shape, weighted, intercept, ranges):
    case = Case(shape, weighted=weighted, intercept=intercept)
    wanted = case.derivatives()
    same(_core.softmax_derivatives(case.X, NONE, *case.terms, 1), wanted)
    same(_core.crowded_softmax_derivatives(*case.stored, *case.terms, 1), wanted)
    ranges(max(1, shape[1]) * 200)
    same(_core.softmax_derivatives(case.X, NONE, *case.terms, 1), wanted)
    same(_core.crowded_softmax_derivatives(*case.stored, *case.terms, 1), wanted)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("classes", [2, 4])
def test_cells_of_every_type_are_read(dtype, order, classes):
    case = Case((200, 6, classes), dtype)
    found = _core.softmax_derivatives(np.asarray(case.X, order=order), NONE, *case.terms, 1)
    same(found, case.derivatives())
    if dtype in FIVE:
        same(_core.crowded_softmax_derivatives(*case.stored, *case.terms, 1), case.derivatives())


@pytest.mark.parametrize("classes", [2, 3])
def test_a_large_offset_takes_no_digits(classes):
    case = Case((300, 4, classes), offset=1e9)
    same(_core.softmax_derivatives(case.X, NONE, *case.terms, 1), case.derivatives(), 1e3)


@pytest.mark.parametrize("classes", [2, 3])
def test_without_a_hessian_none_is_returned(classes):
    case = Case((300, 4, classes))
    *found, hessian = _core.softmax_derivatives(case.X, NONE, *case.terms, 0)
    assert hessian.shape == (0, 0)
    assert found[2] == 0.0
    loss, worst, _, gradient, _ = case.derivatives()
    same([found[0], found[1], found[3]], [loss, worst, gradient])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_hessian_of_a_sample_is_that_of_every_nth_chunk(classes, weighted):
    case = Case((10 * CHUNK + 5, 4, classes), weighted=weighted)
    found = _core.softmax_derivatives(case.X, NONE, *case.terms, 3)
    numbers = np.arange(len(case.X))
    sample = case.derivatives(numbers[numbers // CHUNK % 3 == 0])
    whole = case.derivatives()
    same(found, (*whole[:2], sample[2], whole[3], sample[4]))


def test_scores_of_rows_are_added_to_those_of_the_one_class():
    case = Case((300, 4, 2), weighted=True)
    case.base = np.random.default_rng(1).normal(size=300)
    same(_core.softmax_derivatives(case.X, case.base, *case.terms, 1), case.derivatives())


def test_a_class_that_a_row_cannot_have_costs_nothing():
    case = Case((4, 2, 2))
    case.codes[:] = [0, 0, 1, 1]
    base = np.array([np.inf, 0.0, -np.inf, 0.0])
    found = _core.softmax_derivatives(case.X, base, *case.terms, 1)
    case.base = np.zeros(4)
    same(found[:2] + found[3:], np.array(case.derivatives([1, 3]), object)[[0, 1, 3, 4]])


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", FIVE)
def test_stored_cells_have_the_gradient_of_all_cells(classes, weighted, dtype, ranges):
    case = Case((400, 8, classes), dtype, weighted)
    case.centre[:] = 0.0
    loss, worst, _, gradient, _ = case.derivatives()
    table = np.ascontiguousarray((case.V[:, :-1] * case.inverse).T)
    wanted = loss, worst, (gradient[:, :-1] / case.inverse).T, gradient[:, -1]
    own = case.codes, case.weights
    for cells in (None, 300):
        if cells:
            ranges(cells, sums=300)
        found = _core.stored_softmax_derivatives(*case.stored, *own, table, case.V[:, -1].copy())
        same(found, wanted)


def test_sums_that_make_ranges_long_are_taken_in_pieces(ranges):
    # Two ranges of 3,000 rows; a piece is of 2^26 / (2 + 160) / 161 rows, which are 2,560.
    case = Case((6000, 160, 2))
    ranges(1 << 19, sums=1)
    same(_core.softmax_derivatives(case.X, NONE, *case.terms, 1), case.derivatives(), 10.0)


@pytest.mark.parametrize("classes", [2, 4])
def test_threads_and_instruction_sets_change_no_bit(classes, threads, ranges, instruction_sets):
    case = Case((2000, 5, classes), weighted=True)
    ranges(1000)
    seen = []
    for use in instruction_sets:
        use()
        for count in (1, 2, 3):
            threads(count)
            found = _core.softmax_derivatives(case.X, NONE, *case.terms, 2)
            seen.append(b"".join(np.asarray(part).tobytes() for part in found))
    assert len(set(seen)) == 1


def test_exponentials_are_right_to_an_ulp(instruction_sets):
    rng = np.random.default_rng(0)
    spans = [1e-300, 1e-12, 1.0, 40.0, 707.9]
    x = -np.concatenate([[0.0], *(rng.uniform(0, span, 20_000) for span in spans)])
    exact = np.exp(x.astype(np.longdouble))
    if np.finfo(np.longdouble).eps > 1e-18:
        pytest.skip("this machine has no wider numbers to compare with")
    for use in instruction_sets:
        use()
        found = _core.exp_of_nonpositive(x)
        ulps = np.abs(found - exact) / np.spacing(exact.astype(np.float64))
        assert ulps.max() < 1.0


def test_exponentials_of_numbers_without_a_normal_one_are_zero(instruction_sets):
    x = np.array([-np.inf, -1e300, -800.0, -708.0, -707.9, 0.0, -0.0])
    for use in instruction_sets:
        use()
        found = _core.exp_of_nonpositive(x)
        np.testing.assert_array_equal(found[[0, 1, 2, 3, 5, 6]], [0.0, 0.0, 0.0, 0.0, 1.0, 1.0])
        assert found[4] == pytest.approx(np.exp(-707.9), rel=1e-15)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codes": np.full(5, 2, np.int32)}, "codes of classes that there are not"),
        ({"weights": np.ones(4)}, "rows and weights do not fit"),
        ({"V": np.zeros((1, 3))}, "columns and weights do not fit"),
        ({"inverse": np.ones(2)}, "rows, codes and columns do not fit"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, message):
    case = Case((5, 3, 2))
    vars(case).update(change)
    with pytest.raises(ValueError, match=message):
        _core.softmax_derivatives(case.X, NONE, *case.terms, 1)


@pytest.mark.parametrize("dtype", TYPES)
def test_complete_rows_have_no_first_incomplete_one(dtype):
    assert _core.first_incomplete_row(Case((300, 4, 2), dtype).X) == -1


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("cell", [np.nan, np.inf, -np.inf])
def test_the_first_incomplete_row_is_found(order, cell, ranges):
    X = np.asarray(Case((300, 4, 2)).X, order=order)
    X[[299, 131, 130], [0, 3, 2]] = cell
    assert _core.first_incomplete_row(X) == 130
    ranges(40)
    assert _core.first_incomplete_row(X) == 130
