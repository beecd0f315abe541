"""Scores of rows without the row, against counting all other rows in plain numpy."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln
from scipy.stats import norm, t

from suffice import _core

TYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8, np.int16]
NONE = np.empty(0)
SHAPES = [(0, 3, 2), (6, 1, 1), (40, 4, 3), (70, 37, 2)]


class Case:
    """Rows of counts with classes, weights and missing values, and what the others add up to."""

    def __init__(self, shape, dtype=np.float64, weighted=False, missing=0.0, most=12):
        rows, self.columns, self.classes = shape
        rng = np.random.default_rng(rows + self.columns)
        X = rng.poisson(1.5, (rows, self.columns)).clip(max=most).astype(dtype)
        if missing:
            X[rng.random(X.shape) < missing] = np.nan
        self.X = np.asfortranarray(X) if rows % 4 == 0 else X
        self.codes = rng.integers(0, self.classes, rows).astype(np.int32)
        self.weights = rng.choice([0.5, 1.0, 2.0], rows) if weighted and rows else NONE
        self.w = self.weights if self.weights.size else np.ones(rows)
        self.pseudo = rng.exponential(size=(self.classes, self.columns)) + 0.1

    @property
    def labels(self):
        return self.codes, self.weights

    def parts(self):
        matrix = sp.csr_array(np.ascontiguousarray(self.X))
        return matrix.data, matrix.indices, matrix.indptr

    def sums(self, values, rows=slice(None)):
        """Return weighted sums of values (n, d) by class, missing ones passed over."""
        one_hot = self.codes[rows, None] == np.arange(self.classes)
        return (one_hot * self.w[rows, None]).T @ np.nan_to_num(np.asarray(values, float)[rows])

    def each(self, score):
        """Return score(x, c, others) of each row, `others` saying which rows are not it."""
        X = np.asarray(self.X, float)
        numbers = np.arange(len(X))
        found = [score(X[i], self.codes[i], numbers != i) for i in numbers]
        return np.array(found)


def cases():
    for shape in SHAPES:
        for weighted in (False, True):
            yield Case(shape, weighted=weighted)
            yield Case(shape, weighted=weighted, missing=0.2)
    for dtype in TYPES:
        yield Case(SHAPES[2], dtype=dtype)


def both(case, dense, sparse, *sums):
    """Return what dense rows get, having compared it with what sparse ones get."""
    found = dense(case.X, *case.labels, *sums)
    if case.X.dtype != np.int16:
        again = sparse(*case.parts(), *case.labels, *sums)
        np.testing.assert_allclose(again, found, rtol=1e-11, atol=1e-11)
    return found


def same(found, wanted):
    wanted = np.asarray(wanted, float).reshape(np.shape(found))
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("polya", [False, True])
@pytest.mark.parametrize("broadcast", [False, True])
def test_words_are_scored_by_the_counts_of_the_other_rows(polya, broadcast):
    for case in cases():
        counts = case.sums(case.X)
        pseudo = np.broadcast_to(0.7, counts.shape) if broadcast else case.pseudo

        def score(x, c, others, case=case, pseudo=pseudo):
            seen = ~np.isnan(x)
            a, x = (case.sums(case.X, others)[c] + pseudo[c])[seen], x[seen]
            if not x.size:
                return 0.0
            if polya:
                total = gammaln(a.sum() + x.sum()) - gammaln(a.sum())
                return (gammaln(a + x) - gammaln(a)).sum() - total
            return x @ np.log(a / a.sum())

        sums = counts, pseudo, counts.sum(axis=1), pseudo.sum(axis=1), polya
        entry = _core.leave_one_out_words, _core.leave_one_out_sparse_words
        same(both(case, *entry, *sums), case.each(score))


@pytest.mark.parametrize("norm_weights", [False, True])
def test_the_complement_rule_judges_by_the_other_rows_of_other_classes(norm_weights):
    for case in cases():
        counts = case.sums(case.X)
        others = np.ascontiguousarray((counts.sum(axis=0) - counts).T)
        wide = case.pseudo.T
        before = np.full((len(case.X), case.classes), 7.0)

        def score(x, c, rest, case=case):
            a = case.sums(case.X, rest)
            a = a.sum(axis=0) - a + case.pseudo
            logs = np.log(a / a.sum(axis=1, keepdims=True))
            scores = np.nan_to_num(x) @ logs.T
            whole = logs.sum(axis=1)
            scores = scores / np.where(whole != 0, whole, 1.0) if norm_weights else -scores
            scores[c] = 7.0
            return scores

        logs, zeros = np.log(others + wide).sum(axis=0), np.zeros(case.classes, np.int64)
        totals = counts.sum() - counts.sum(axis=1)
        sums = others, wide, totals, wide.sum(axis=0), logs, zeros, norm_weights, before
        entry = _core.leave_one_out_complement, _core.leave_one_out_sparse_complement
        same(both(case, *entry, *sums), case.each(score))


@pytest.mark.parametrize("pseudo", [0.5, 0.0])
def test_ones_are_scored_by_the_ones_of_the_other_rows(pseudo):
    for case in cases():
        X = np.asarray(case.X, float)
        ones, zeros = case.sums(X > 1.0), case.sums(X <= 1.0)

        def score(x, c, others, case=case, X=X):
            seen = ~np.isnan(x)
            p = case.sums(X > 1.0, others)[c] + pseudo
            q = case.sums(X <= 1.0, others)[c] + pseudo
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = np.where(x > 1.0, np.log(p / (p + q)), np.log(q / (p + q)))
            return np.where(p + q > 0, logs, 0.0)[seen].sum()

        wide = np.broadcast_to(pseudo, ones.shape)
        entry = _core.leave_one_out_ones, _core.leave_one_out_sparse_ones
        same(both(case, *entry, 1.0, ones, zeros, wide, wide), case.each(score))


def test_fractions_are_parts_of_ones_and_zeros():
    X = np.array([[0.25], [1.0], [0.0], [0.5]])
    labels = np.zeros(4, np.int32), NONE
    wide = np.ones((1, 1))
    counts = 1.75 * wide, 2.25 * wide
    found = _core.leave_one_out_ones(X, *labels, np.nan, *counts, wide, wide)
    p = (np.array([1.5, 0.75, 1.75, 1.25]) + 1) / 5
    x = X[:, 0]
    same(found, x * np.log(p) + (1 - x) * np.log(1 - p))


@pytest.mark.parametrize("integrated", [False, True])
def test_events_are_scored_by_the_events_of_the_other_rows(integrated):
    for case in cases():
        X = np.asarray(case.X, float)
        seen, events = case.sums(~np.isnan(X)), case.sums(X)

        def score(x, c, others, case=case, X=X):
            rows = case.sums(~np.isnan(X), others)[c] + 2.0
            a, here = case.sums(X, others)[c] + case.pseudo[c], ~np.isnan(x)
            rows, a, x = rows[here], a[here], x[here]
            if integrated:
                return (
                    gammaln(a + x) - gammaln(a) - a * np.log1p(1 / rows) - x * np.log1p(rows)
                ).sum()
            return (x * np.log(a / rows) - a / rows).sum()

        sums = seen, events, case.pseudo, np.broadcast_to(2.0, events.shape), integrated
        entry = _core.leave_one_out_events, _core.leave_one_out_sparse_events
        same(both(case, *entry, *sums), case.each(score))


def test_a_class_without_rows_or_prior_leaves_no_score():
    one, nothing = np.ones((1, 1)), np.zeros((1, 1))
    labels = np.zeros(1, np.int32), NONE
    found = _core.leave_one_out_events(one, *labels, one, one, nothing, nothing, False)
    assert np.isnan(found).all()


def test_levels_are_scored_by_the_levels_of_the_other_rows():
    for case in cases():
        X = np.asarray(case.X, float)
        levels = np.full(case.columns, 14)
        tables = np.stack([case.sums(level == X) for level in range(14)], axis=-1)
        totals = tables.sum(axis=-1)
        counts = np.ascontiguousarray(tables.reshape(case.classes, -1))

        def score(x, c, others, case=case, X=X):
            seen = ~np.isnan(x)
            a = case.sums(x == X, others)[c] + 0.5
            return np.log(a / (case.sums(~np.isnan(X), others)[c] + 7.0))[seen].sum()

        found = _core.leave_one_out_levels(
            case.X,
            *case.labels,
            np.cumsum(levels) - levels,
            levels,
            np.full(case.columns, np.inf),
            counts,
            totals,
            np.full(counts.shape, 0.5),
            np.full(totals.shape, 7.0),
            np.full(totals.shape, 0.1),
        )
        same(found, case.each(score))


def test_a_row_without_which_a_level_is_gone_asks_for_a_refit():
    X, one = np.array([[0.0], [1.0], [1.0], [2.0], [5.0]]), np.ones((1, 1))
    labels = np.zeros(5, np.int32), NONE
    tables = np.array([0]), np.array([3]), np.array([1.0]), np.array([[1.0, 2.0, 1.0]])
    found = _core.leave_one_out_levels(
        X, *labels, *tables, 4 * one, np.ones((1, 3)), 3 * one, 0.5 * one
    )
    assert np.isnan(found).tolist() == [False, False, False, True, False]
    same(found[[0, 1, 4]], np.log([1 / 6, 2 / 6, 0.5 / 6]))


class Numbers(Case):
    """Rows of measurements, their moments by class, and a normal-inverse-gamma prior."""

    def __init__(self, shape, offset=0.0, prior=True, **options):
        super().__init__(shape, **options)
        rng = np.random.default_rng(3)
        X = np.asarray(self.X, float) + rng.normal(size=self.X.shape) + offset
        self.X = X.astype(self.X.dtype)
        wide = self.classes, self.columns
        self.location = np.full(wide, offset + 0.5 if prior else 0.0)
        self.pseudo_rows = np.full(wide, 1.5 if prior else 0.0)
        self.scale, self.shape_ = (0.8, 1.3) if prior else (0.0, 0.0)

    def moments(self, rows=slice(None)):
        """Return weight, mean and scatter (C, d)."""
        X = np.asarray(self.X, float)
        weight = self.sums(~np.isnan(X), rows)
        mean = self.sums(X, rows) / np.where(weight > 0, weight, 1.0)
        return weight, mean, self.sums((X - mean[self.codes]) ** 2, rows)

    def posterior(self, rows=slice(None)):
        """Return weight, location and squares (C, d)."""
        weight, mean, scatter = self.moments(rows)
        whole = weight + self.pseudo_rows
        share = weight / np.where(whole > 0, whole, 1.0)
        away = mean - self.location
        squares = scatter + away**2 * self.pseudo_rows * share
        return weight, self.location + away * share, squares

    def shared(self, part, axes):
        """Return sums (C, d) over axes, as wide as before."""
        return np.broadcast_to(part.sum(axis=axes, keepdims=True), part.shape) if axes else part

    def terms(self, axes):
        weight, mean, scatter = self.moments()
        stack = weight, mean, np.zeros_like(mean), scatter, self.location, self.pseudo_rows
        squares, divisor = self.posterior()[2], weight
        if 1 in axes:
            squares, divisor = (p.sum(axis=1, keepdims=True) for p in (squares, divisor))
        others = np.zeros_like(squares)
        if 0 in axes:
            others = squares.sum(axis=0) - squares
            divisor = np.broadcast_to(divisor.sum(axis=0), divisor.shape)
        others, divisor = others + 2 * self.scale, divisor + 2 * self.shape_
        return np.stack(stack), others, np.array(divisor), 0 in axes, 1 in axes, 1e-3

    def variance(self, axes, rows=slice(None)):
        weight, location, squares = self.posterior(rows)
        degrees = self.shared(weight, axes) + 2 * self.shape_
        return location, (self.shared(squares, axes) + 2 * self.scale) / degrees, degrees


def numbers_cases():
    for shape in [(0, 3, 2), (40, 4, 3), (70, 37, 2)]:
        for prior in (False, True):
            yield Numbers(shape, prior=prior)
            yield Numbers(shape, prior=prior, weighted=True)
            yield Numbers(shape, prior=prior, missing=0.1)
            yield Numbers(shape, prior=prior, offset=1e4)
    for dtype in TYPES:
        yield Numbers((40, 4, 3), dtype=dtype)


def trusted(found, wanted, most=0.2, digits=1e-8):
    scores, needs_refit = found
    assert needs_refit.sum() <= most * len(scores)
    wanted = np.asarray(wanted).reshape(scores.shape)
    np.testing.assert_allclose(scores[~needs_refit], wanted[~needs_refit], rtol=digits, atol=digits)


@pytest.mark.parametrize("axes", [(), (0,), (1,), (0, 1)])
@pytest.mark.parametrize("smoothing", [0.0, 1e-9, 0.3])
def test_normals_are_those_of_the_other_rows(axes, smoothing):
    for case in numbers_cases():
        X = np.asarray(case.X, float)

        def pooled(rows=slice(None), case=case, X=X):
            weight = case.sums(~np.isnan(X), rows).sum(axis=0)
            mean = case.sums(X, rows).sum(axis=0) / np.where(weight > 0, weight, 1.0)
            return weight, mean, case.sums((X - mean) ** 2, rows).sum(axis=0)

        def widest(rows=slice(None)):
            weight, _, scatter = pooled(rows)
            return np.max(scatter / np.where(weight > 0, weight, 1.0), initial=0.0)

        def score(x, c, others, case=case):
            location, variance, _ = case.variance(axes, others)
            logs = norm.logpdf(x, location, np.sqrt(variance + smoothing * widest(others)))
            return np.nansum(logs, axis=1)

        if not len(X):
            continue
        location, variance, _ = case.variance(axes)
        variance = variance + smoothing * widest()
        log_norm = -0.5 * np.log(2 * np.pi * variance)
        weight, mean, scatter = pooled()
        given = np.empty((0, case.classes))
        if not (0 in axes or smoothing):
            given = np.nansum(norm.logpdf(X[:, None], location, np.sqrt(variance)), axis=2)
        more = (
            *case.terms(axes),
            np.stack([location, 1 / variance, log_norm]),
            np.stack([weight, mean, np.zeros_like(mean), scatter]),
            smoothing,
            widest(),
            given,
        )
        found = _core.leave_one_out_normal(case.X, *case.labels, *more)
        trusted(found, case.each(score), digits=1e-6 if X.max() > 1e3 else 1e-9)
        if case.X.dtype != np.int16:
            again = _core.leave_one_out_sparse_normal(*case.parts(), *case.labels, *more)
            np.testing.assert_array_equal(again[0], found[0])


@pytest.mark.parametrize("axes", [(), (0,), (1,), (0, 1)])
def test_students_are_those_of_the_other_rows(axes):
    for case in numbers_cases():
        X = np.asarray(case.X, float)
        if not len(X) or not case.scale:
            continue

        def density(x, c, rows, case=case):
            location, variance, degrees = case.variance(axes, rows)
            whole = case.moments(rows)[0] + case.pseudo_rows
            scale = np.sqrt(variance * (1 + 1 / whole))
            seen = ~np.isnan(x)
            if 1 not in axes:
                return np.nansum(t.logpdf(x, degrees, location, scale), axis=1)
            z = ((x - location) / scale)[:, seen]
            nu, d = degrees[:, 0], z.shape[1]
            tail = (nu + d) / 2 * np.log1p((z**2).sum(axis=1) / nu)
            start = gammaln((nu + d) / 2) - gammaln(nu / 2) - d / 2 * np.log(nu * np.pi)
            return start - np.log(scale[:, seen]).sum(axis=1) - tail

        location = case.variance(axes)[0]
        everyone = slice(None)
        given = np.empty((0, case.classes))
        if 0 not in axes:
            given = np.array([density(x, 0, everyone) for x in X])
        more = *case.terms(axes), location, given
        found = _core.leave_one_out_student(case.X, *case.labels, *more)
        trusted(found, case.each(density), digits=1e-6 if X.max() > 1e3 else 1e-9)
        if case.X.dtype != np.int16:
            again = _core.leave_one_out_sparse_student(*case.parts(), *case.labels, *more)
            np.testing.assert_array_equal(again[0], found[0])


def test_ranges_threads_and_instruction_sets_do_not_change_a_bit(ranges, threads, instruction_sets):
    case = Numbers((70, 37, 2), missing=0.01)
    location, variance, _ = case.variance(())
    weight, mean, scatter = case.moments()
    pooled = np.stack([weight[0], mean[0], np.zeros(37), scatter[0]])
    normal = np.stack([location, 1 / variance, -0.5 * np.log(2 * np.pi * variance)])
    start = case.X, *case.labels, *case.terms(())

    def scores():
        students = _core.leave_one_out_student(*start, location, np.zeros((70, 2)))
        nothing = np.empty((0, 2))
        normals = [
            _core.leave_one_out_normal(*start, normal, pooled, smoothing, 1.0, nothing)
            for smoothing in (1e-9, 0.1)
        ]
        return np.stack([students[0], *(one[0] for one in normals)])

    wanted = scores()
    for use in instruction_sets:
        use()
        for cells in (64, 1 << 19):
            ranges(cells)
            for many in (1, 2):
                threads(many)
                np.testing.assert_array_equal(scores(), wanted)
