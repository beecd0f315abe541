"""Scores of rows and what becomes of them, against the same formulas in plain numpy."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.special import gammaln, logsumexp

from suffice import _core

FIVE = [np.float64, np.float32, np.int64, np.int32, np.uint8]
NONE, NO_TABLE = np.empty(0), np.empty((0, 0))
SHAPES = [(0, 3, 2), (1, 1, 1), (3, 0, 2), (63, 4, 3), (64, 1, 2), (65, 7, 5), (500, 3, 2)]
ANSWERS = ["joint", "log_proba", "proba", "best", "log_density"]


def answer(joint, log_prior, kind):
    """Return an answer from log p(x, class) of possible rows."""
    if kind == "joint":
        return joint
    if kind == "best":
        return joint.argmax(axis=1)
    total = logsumexp(joint, axis=1)
    if kind == "log_density":
        return total
    log_proba = joint - total[:, None]
    return np.exp(log_proba) if kind == "proba" else log_proba


def prior_of(classes, seed=0):
    return np.log(np.random.default_rng(seed).dirichlet(np.ones(classes)))


def screened(data, indices, indptr, table, log_prior, lowest):
    rounded = _core.RoundedTable(table)
    return _core.best_screened(data, indices, indptr, table, rounded, log_prior, lowest)


def check(found, joint, log_prior, kind, rtol=1e-10):
    assert found[:2] == (-1, 0)
    wanted = answer(joint + log_prior, log_prior, kind)
    np.testing.assert_allclose(found[2], wanted, rtol=rtol, atol=1e-11)


def numbers(shape, dtype=np.float64, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(3.0, 2.0, shape[:2])
    X = X.clip(min=0.0).astype(dtype) if np.dtype(dtype).kind == "u" else X.astype(dtype)
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    return X


def counts(shape, dtype=np.float64, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.2, shape[:2]).astype(dtype)
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    return X


def in_order(X, order):
    return X.repeat(2, axis=0)[::2] if order == "strided" else np.asarray(X, order=order)


def csr(X, index=np.int32):
    matrix = sp.csr_array(X)
    return matrix.data, matrix.indices.astype(index), matrix.indptr.astype(index)


# ---- answers


@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("classes", [1, 2, 3, 11, 2000])
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_answers_are_those_of_numpy(kind, classes, scale, ranges):
    ranges(3000)
    joint = scale * np.random.default_rng(1).normal(size=(300, classes))
    check(_core.answer_scores(joint, np.zeros(classes), kind), joint, 0.0, kind, rtol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_row_that_no_class_makes_possible_has_the_class_prior_and_is_counted(classes):
    log_prior = prior_of(classes)
    joint = np.zeros((2000, classes))
    joint[[5, 1900]] = -np.inf
    joint[7, 1:] = -np.inf
    for kind in ("log_proba", "proba"):
        refused, impossible, found = _core.answer_scores(joint, log_prior, kind)
        assert (refused, impossible) == (-1, 2)
        found = found if kind == "proba" else np.exp(found)
        np.testing.assert_allclose(found[[5, 1900]], np.exp([log_prior] * 2), rtol=1e-12)
        np.testing.assert_array_equal(found[7], np.eye(classes)[0])
        np.testing.assert_allclose(found[6], 1 / classes)
    _, impossible, best = _core.answer_scores(joint, log_prior, "best")
    assert (impossible, best[5]) == (2, log_prior.argmax())


@pytest.mark.parametrize("kind", ["log_proba", "proba"])
def test_classes_that_claim_a_row_with_infinite_odds_share_it(kind):
    joint = np.array([[np.inf, 0.0, np.inf], [0.0, np.inf, -np.inf]])
    found = _core.answer_scores(joint, np.zeros(3), kind)[2]
    found = found if kind == "proba" else np.exp(found)
    np.testing.assert_allclose(found, [[0.5, 0, 0.5], [0, 1, 0]])


def test_exp_has_all_its_digits():
    """Of two classes p of the smaller is e / (1 + e); of e near 0 that is e."""
    x = -np.concatenate([np.linspace(0, 1, 5001), np.linspace(1, 700, 50_001)])
    joint = np.column_stack([np.zeros_like(x), np.full_like(x, -800.0), x])
    found = _core.answer_scores(joint, np.zeros(3), "proba")[2][:, 2]
    power = np.exp(x.astype(np.longdouble))
    wanted = power / (1 + power)
    ulps = np.abs(found - wanted) / np.spacing(wanted.astype(float))
    assert ulps.max() < 3.0  # of exp, of the sum, and of the division


# ---- normals and Student-t's


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_scores_of_independent_normals_and_ts_of_any_shape(shape, missing, ranges):
    _, columns, classes = shape
    rng = np.random.default_rng(2)
    mean, variance = (
        rng.normal(size=(classes, columns)),
        0.5 + rng.exponential(size=(classes, columns)),
    )
    degrees = rng.choice([1.0, 4.0, 1e7], (classes, columns))
    log_prior = prior_of(classes)
    X = numbers(shape, missing=missing)
    for cells in (50, 10**6):
        ranges(cells)
        normal = np.nan_to_num(stats.norm.logpdf(X[:, None], mean, np.sqrt(variance)))
        student = np.nan_to_num(stats.t.logpdf(X[:, None], degrees, mean, np.sqrt(variance)))
        log_norm = -0.5 * np.log(2 * np.pi * variance)
        t_norm = stats.t.logpdf(0.0, degrees) - 0.5 * np.log(variance)
        for kind in ANSWERS:
            found = _core.normal_scores(X, mean, 1 / variance, log_norm, log_prior, kind)
            check(found, normal.sum(axis=2), log_prior, kind)
            terms = mean, 1 / variance, degrees, t_norm
            found = _core.student_scores(X, *terms, log_prior, kind)
            check(found, student.sum(axis=2), log_prior, kind, rtol=1e-8)


@pytest.mark.parametrize("columns", [1, 2, 7, 8, 9, 50])
@pytest.mark.parametrize("classes", [1, 2, 4, 5])
def test_normals_of_few_and_of_more_classes_score_odd_rows_beside_others(columns, classes):
    rng = np.random.default_rng(5)
    mean, precision = rng.normal(size=(classes, columns)), 0.5 + rng.random((classes, columns))
    log_norm, log_prior = rng.normal(size=(classes, columns)), prior_of(classes)
    for rows in (1, 7, 8, 9, 15, 16, 17, 64, 65, 130):
        X = numbers((rows, columns), seed=rows)
        far = X.copy()
        far[rows // 2, columns // 2] = 1e200  # a square beyond all numbers
        gaps = X.copy()
        gaps[rows // 2, columns // 2] = np.nan
        for cells in (X, far, gaps):
            with np.errstate(over="ignore"):
                terms = log_norm - (cells[:, None] - mean) ** 2 * precision / 2
            joint = np.nansum(terms, axis=2) + log_prior
            found = _core.normal_scores(cells, mean, precision, log_norm, log_prior, "joint")
            assert found[:2] == (-1, 0)
            np.testing.assert_allclose(found[2], joint, rtol=1e-12, atol=1e-12)
        never = np.append(log_prior[1:], -np.inf)
        found = _core.normal_scores(X, mean, precision, log_norm, never, "joint")[2]
        wanted = (log_norm - (X[:, None] - mean) ** 2 * precision / 2).sum(axis=2) + never
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [*FIVE, np.int16, np.uint32])
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_scores_of_cells_of_any_type_and_order(dtype, order):
    X = in_order(numbers((150, 5), dtype), order)
    rng = np.random.default_rng(3)
    mean, variance = rng.normal(size=(3, 5)), 1 + rng.exponential(size=(3, 5))
    joint = stats.norm.logpdf(np.asarray(X, float)[:, None], mean, np.sqrt(variance)).sum(axis=2)
    log_norm = -0.5 * np.log(2 * np.pi * variance)
    check(
        _core.normal_scores(X, mean, 1 / variance, log_norm, np.zeros(3), "joint"),
        joint,
        0.0,
        "joint",
    )
    weights = rng.normal(size=(3, 5))
    found = _core.linear_scores(X, mean[0], weights, np.ones(3), np.zeros(3), "joint")
    check(found[:3], (np.asarray(X, float) - mean[0]) @ weights.T + 1, 0.0, "joint")


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_scores_of_a_t_with_one_variance_for_all_columns(missing):
    rng = np.random.default_rng(4)
    X = numbers((60, 4), missing=missing)
    location, scale, degrees = (
        rng.normal(size=(2, 4)),
        1 + rng.exponential(size=(2, 4)),
        np.array([3.0, 9.0]),
    )
    m = np.arange(5)
    half = degrees[:, None] / 2
    norms = gammaln(half + m / 2) - gammaln(half) - m / 2 * np.log(2 * np.pi * half)
    terms = location, 1 / scale, degrees, -np.log(scale), norms
    joint = np.zeros((60, 2))
    for i, row in enumerate(X):
        seen = ~np.isnan(row)
        for c in range(2):
            if seen.any():
                shape = np.diag(scale[c, seen])
                t = stats.multivariate_t(location[c, seen], shape, df=degrees[c])
                joint[i, c] = t.logpdf(row[seen])
    check(_core.joint_student_scores(X, *terms, np.zeros(2), "joint"), joint, 0.0, "joint")


@pytest.mark.parametrize("name", ["normal_scores", "student_scores", "joint_student_scores"])
def test_the_first_row_with_an_infinite_cell_is_named(name, ranges):
    ranges(40)
    ones = np.ones((2, 3))
    parameters = {
        "normal_scores": (ones, ones, ones),
        "student_scores": (ones, ones, ones, ones),
        "joint_student_scores": (ones, ones, np.ones(2), ones, np.ones((2, 4))),
    }[name]
    X = numbers((200, 3), missing=0.1)
    X[[123, 150], [2, 0]] = np.inf, -np.inf
    assert getattr(_core, name)(X, *parameters, np.zeros(2), "proba")[0] == 123


def whitened(rng, classes, d, *, tied=False, degrees=NONE):
    roots = np.tril(rng.normal(size=(1 if tied else classes, d, d))) + 3 * np.eye(d)
    location = rng.normal(size=(classes, d))
    centre = location.mean(axis=0) if classes else np.zeros(d)
    factors = np.linalg.inv(roots) if d else roots
    factors = np.tril(factors)
    own = np.broadcast_to(factors, (classes, d, d))
    offsets = np.einsum("cij,cj->ci", own, location - centre)
    scale, constant = 0.5 + rng.random(classes), rng.normal(size=classes)
    return centre, factors, offsets, scale, degrees, constant


def whitened_joint(X, centre, factors, offsets, scale, degrees, constant):
    own = np.broadcast_to(factors, (len(offsets), *factors.shape[1:]))
    away = np.einsum("cij,nj->nci", own, X - centre) - offsets
    squares = (away**2).sum(axis=2) * scale
    if degrees.size:
        return constant - 0.5 * (degrees + X.shape[1]) * np.log1p(squares / degrees)
    return constant - 0.5 * squares


@pytest.mark.parametrize("columns", [0, 1, 5, 31, 32, 33, 47, 48, 49, 100, 150])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("student", [False, True])
def test_scores_of_correlated_features(columns, tied, student, ranges):
    ranges(2000)
    rng = np.random.default_rng(columns)
    terms = whitened(
        rng, 3, columns, tied=tied, degrees=np.array([3.0, 5.0, 50.0]) if student else NONE
    )
    X, log_prior = numbers((130, columns)), prior_of(3)
    joint = whitened_joint(X, *terms)
    for kind in ANSWERS:
        *found, incomplete = _core.whitened_scores(X, *terms, log_prior, kind)
        check(tuple(found), joint, log_prior, kind, rtol=1e-9)
        assert incomplete.size == 0


@pytest.mark.parametrize("name", ["whitened_scores", "low_rank_scores", "linear_scores"])
def test_rows_that_are_not_complete_are_left_to_others_by_number(name, ranges):
    ranges(300)
    rng = np.random.default_rng(5)
    X = numbers((300, 4))
    parameters = {
        "whitened_scores": whitened(rng, 2, 4),
        "low_rank_scores": (np.ones((2, 4)), np.ones((2, 4)), np.ones((2, 4, 2)) / 4, np.zeros(2)),
        "linear_scores": (np.ones(4), np.ones((2, 4)), np.zeros(2)),
    }[name]
    whole = getattr(_core, name)(X, *parameters, np.zeros(2), "joint")[2]
    X[[3, 64, 299], [0, 1, 3]] = np.nan, np.inf, np.nan
    *_, found, incomplete = getattr(_core, name)(X, *parameters, np.zeros(2), "joint")
    assert incomplete.tolist() == [3, 64, 299]
    others = np.setdiff1d(np.arange(300), incomplete)
    np.testing.assert_array_equal(found[others], whole[others])


@pytest.mark.parametrize(("columns", "rank"), [(1, 1), (6, 2), (70, 3)])
def test_scores_of_low_rank_covariances(columns, rank):
    rng = np.random.default_rng(6)
    mean, inverse = rng.normal(size=(2, columns)), 0.5 + rng.random((2, columns))
    factors, constant = rng.normal(size=(2, columns, rank)) / columns, rng.normal(size=2)
    X = numbers((100, columns))
    z = (X[:, None] - mean) * inverse
    squares = (z**2).sum(axis=2) - (np.einsum("ncd,cdr->ncr", z, factors) ** 2).sum(axis=2)
    *found, _ = _core.low_rank_scores(X, mean, inverse, factors, constant, np.zeros(2), "joint")
    check(tuple(found), constant - squares / 2, 0.0, "joint")


@pytest.mark.parametrize("classes", [1, 2, 4, 5, 9])
def test_linear_scores_keep_the_digits_of_data_at_1e8(classes):
    rng = np.random.default_rng(7)
    noise, weights, bias = (
        rng.normal(size=(90, 3)),
        rng.normal(size=(classes, 3)),
        rng.normal(size=classes),
    )
    centre = np.full(3, 1e8)
    X = noise + centre
    *found, _ = _core.linear_scores(X, centre, weights, bias, np.zeros(classes), "joint")
    check(tuple(found), (X - centre) @ weights.T + bias, 0.0, "joint")


@pytest.mark.parametrize("classes", [1, 2, 7])
@pytest.mark.parametrize("student", [False, True])
@pytest.mark.parametrize("columns", [2, 12, 18, 19, 50])
def test_single_precision_answers_only_what_double_precision_answers_too(
    classes, student, columns, ranges, instruction_sets
):
    ranges(5000)
    rng = np.random.default_rng(8)
    degrees = np.full(classes, 4.0) if student else NONE
    centre, factors, offsets, scale, _, constant = whitened(rng, classes, columns)
    X = numbers((1500, columns))
    X[7, 0], X[8, 1] = np.nan, np.inf
    sizes = np.column_stack([np.linalg.norm(factors, axis=(1, 2)), np.linalg.norm(offsets, axis=1)])
    single = factors.astype(np.float32), offsets.astype(np.float32)
    terms = *single, scale, degrees, constant, sizes
    best = _core.best_in_single_precision(X, centre, *terms)
    for use in instruction_sets:
        use()
        np.testing.assert_array_equal(_core.best_in_single_precision(X, centre, *terms), best)
    assert best[7] == best[8] == -1
    with np.errstate(invalid="ignore"):
        exact = whitened_joint(X, centre, factors, offsets, scale, degrees, constant).argmax(axis=1)
    sure = best >= 0
    assert sure.mean() > 0.95
    np.testing.assert_array_equal(best[sure], exact[sure])


# ---- tables


def table_joint(X, table, bias, missing_bias, one_total):
    seen = ~np.isnan(X)
    cells = np.where(seen, X, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        terms = np.where(cells[:, :, None] == 0, 0.0, cells[:, :, None] * table)
        joint = terms.sum(axis=1) + bias
        if missing_bias.size:
            joint -= (~seen[:, :, None] * missing_bias).sum(axis=1)
        if one_total:
            total = (seen[:, :, None] * np.exp(table)).sum(axis=1)
            log_total = np.where(total > 0, np.log(total), 0.0)
            incomplete = ~seen.all(axis=1)
            joint[incomplete] -= (cells.sum(axis=1)[:, None] * log_total)[incomplete]
    return joint


@pytest.mark.parametrize("shape", [*SHAPES, (80, 30, 4), (80, 30, 20), (60, 20, 70)])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("infinite", [False, True])
def test_scores_that_are_linear_in_counts(shape, missing, infinite, ranges):
    ranges(500)
    _, columns, classes = shape
    rng = np.random.default_rng(9)
    table = np.log(rng.dirichlet(np.ones(max(columns, 1)), classes).T[:columns])
    if infinite and table.size:
        table[0, 0] = -np.inf
    bias, log_prior, X = rng.normal(size=classes), prior_of(classes), counts(shape, missing=missing)
    for missing_bias, one_total in ((NO_TABLE, True), (rng.normal(size=table.shape), False)):
        terms = table, bias, missing_bias, 0.0, one_total, log_prior
        joint = table_joint(X, table, bias, missing_bias, one_total)
        for kind in ANSWERS:
            if classes == 1 and infinite and kind != "joint":
                continue  # some rows are impossible
            check(_core.table_scores(X, *terms, kind), joint, log_prior, kind)
            check(_core.sparse_table_scores(*csr(X), *terms, kind), joint, log_prior, kind)


@pytest.mark.parametrize("dtype", FIVE)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("classes", [2, 3, 4, 5, 33, 64])
def test_tables_of_cells_of_any_type(dtype, index, classes):
    rng = np.random.default_rng(10)
    table, X = rng.normal(size=(9, classes)), counts((70, 9), dtype)
    terms = table, np.zeros(classes), NO_TABLE, 0.0, False, np.zeros(classes), "joint"
    joint = X.astype(float) @ table
    check(_core.table_scores(X, *terms), joint, 0.0, "joint")
    check(_core.sparse_table_scores(*csr(X, index), *terms), joint, 0.0, "joint")
    if classes >= 5:
        best = screened(*csr(X, index), table, np.zeros(classes), 0.0)
        np.testing.assert_array_equal(best, joint.argmax(axis=1))


@pytest.mark.parametrize("bad", [-1.0, np.inf])
def test_cells_that_cannot_be_scored_are_named(bad, ranges):
    ranges(64)
    X = counts((200, 4), missing=0.1)
    X[[90, 150], [1, 2]] = bad
    terms = np.ones((4, 2)), np.ones(2), NO_TABLE, 0.0, True, np.zeros(2), "proba"
    assert _core.table_scores(X, *terms)[0] == 90
    assert _core.sparse_table_scores(*csr(X), *terms)[0] == 90
    terms = (
        np.ones((4, 2)),
        np.ones((4, 2)),
        np.ones(2),
        np.zeros(2),
        NO_TABLE,
        np.zeros(2),
        "proba",
    )
    assert _core.integrated_count_scores(X, *terms)[0] == 90
    assert _core.sparse_integrated_count_scores(*csr(X), *terms)[0] == 90
    assert screened(*csr(X), np.ones((4, 9)), np.zeros(9), 0.0) is None


@pytest.mark.parametrize("classes", [8, 31, 32, 33, 65, 300])
@pytest.mark.parametrize("spread", [3.0, 1e-3, 1e-9, 0.0])
def test_the_screened_class_is_the_first_of_the_highest_exact_scores(classes, spread, ranges):
    ranges(4000)
    rng = np.random.default_rng(11)
    X = counts((300, 40))
    table, log_prior = rng.normal(-8, spread, (40, classes)), prior_of(classes)
    log_prior[3] = -np.inf
    exact = np.zeros((300, classes)) + log_prior
    for v in range(40):  # in the order in which a row's cells are added up
        exact += X[:, [v]] * table[v]
    best = screened(*csr(X), table, log_prior, 0.0)
    np.testing.assert_array_equal(best, exact.argmax(axis=1))


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("infinite", [False, True])
@pytest.mark.parametrize("classes", [1, 2, 6])
def test_scores_of_zeros_and_ones(missing, infinite, classes):
    rng = np.random.default_rng(12)
    p = rng.uniform(0.1, 0.9, (5, classes))
    log_one, log_zero = np.log(p), np.log1p(-p)
    X = counts((140, 5), missing=missing)
    if infinite:
        log_one[0, 0] = -np.inf
    with np.errstate(invalid="ignore"):
        terms = np.where(X[:, :, None] > 0.5, log_one, log_zero)
    joint = np.where(np.isnan(X)[:, :, None], 0.0, terms).sum(axis=1)
    check(
        _core.binary_scores(X, 0.5, log_one, log_zero, np.zeros(classes), "joint"),
        joint,
        0.0,
        "joint",
    )
    if not infinite:
        tables = log_one - log_zero, log_zero, log_zero.sum(axis=0)
        found = _core.sparse_binary_scores(*csr(X), 0.5, *tables, np.zeros(classes), "joint")
        check(found, joint, 0.0, "joint")


@pytest.mark.parametrize("dtype", [*FIVE, np.int8])
@pytest.mark.parametrize("classes", [1, 2, 3])
def test_scores_of_levels(dtype, classes):
    rng = np.random.default_rng(13)
    levels = np.array([3, 1, 4])
    offsets = np.cumsum(levels) - levels
    table, unseen = rng.normal(size=(8, classes)), rng.normal(size=(3, classes))
    X = rng.integers(0, 6, (130, 3)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        X += dtype(0.25)
        X[5, 1] = np.nan
        X[6, 0] = -0.5
    joint = np.zeros((130, classes))
    for j in range(3):
        cells = X[:, j].astype(float)
        whole = np.trunc(np.nan_to_num(cells)).astype(int)
        known = whole < levels[j]
        terms = np.where(known[:, None], table[offsets[j] + np.where(known, whole, 0)], unseen[j])
        joint += np.where(np.isnan(cells)[:, None], 0.0, terms)
    terms = offsets, levels, table, unseen, np.zeros(classes), "joint"
    check(_core.level_scores(X, *terms), joint, 0.0, "joint")
    if np.dtype(dtype).kind == "f":
        for bad in (-1.0, np.inf, -np.inf, 2.0**54):
            X[99, 2] = bad
            assert _core.level_scores(X, *terms)[0] == 99


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("polya", [False, True])
def test_scores_of_counts_whose_rates_are_integrated_out(missing, polya):
    rng = np.random.default_rng(14)
    pseudo, X = rng.exponential(size=(6, 3)) + 0.1, counts((90, 6), missing=missing)
    X[0], X[1, 0], X[2, 1] = 0.0, 100.0, 2.5
    slope, missing_bias = (NO_TABLE, NO_TABLE) if polya else rng.normal(size=(2, 6, 3))
    bias = rng.normal(size=3)
    totals = pseudo.sum(axis=0) if polya else NONE
    cells, seen = np.nan_to_num(X), ~np.isnan(X)
    joint = (gammaln(cells[:, :, None] + pseudo) - gammaln(pseudo)).sum(axis=1) + bias
    if polya:
        whole = seen.astype(float) @ pseudo
        length = cells.sum(axis=1)[:, None]
        with np.errstate(invalid="ignore"):
            joint -= np.where(whole > 0, gammaln(whole + length) - gammaln(whole), 0.0)
    else:
        joint += cells @ slope - (~seen).astype(float) @ missing_bias
    terms = pseudo, slope, totals, bias, missing_bias, np.zeros(3), "joint"
    check(_core.integrated_count_scores(X, *terms), joint, 0.0, "joint", rtol=1e-9)
    check(_core.sparse_integrated_count_scores(*csr(X), *terms), joint, 0.0, "joint", rtol=1e-9)


@pytest.mark.parametrize("pseudo", [(3, 50), (1, 50), (3, 1), (1, 1)])
@pytest.mark.parametrize("of_others", [False, True])
def test_tables_of_logarithms(pseudo, of_others, ranges):
    ranges(100)
    rng = np.random.default_rng(15)
    counted, added = rng.poisson(2.0, (3, 50)).astype(float), rng.random(pseudo) + 0.1
    everyone = counted.sum(axis=0) if of_others else NONE
    taken = everyone - counted if of_others else counted
    found = _core.log_table(counted, everyone, added, np.arange(3.0))
    np.testing.assert_allclose(
        found, (np.log(taken + added) - np.arange(3.0)[:, None]).T, rtol=1e-14
    )


def logarithms(x):
    """Return log x (n,), as tables of logarithms have it."""
    return _core.log_table(x[None], NONE, np.zeros((1, 1)), np.zeros(1))[:, 0]


def test_logarithms_are_right_to_an_ulp(instruction_sets):
    rng = np.random.default_rng(17)
    near_one, whole = 1 + 1e-3 * rng.normal(size=9_999), rng.integers(1, 10**6, 9_999) * 1.0
    large, small = np.exp(rng.uniform(-700, 700, 9_999)), 10 ** rng.uniform(-323, -300, 999)
    x = np.concatenate([rng.uniform(0, 2, 9_999), near_one, whole, large, small, [1.7e308]])
    exact = np.log(x.astype(np.longdouble))
    if np.finfo(np.longdouble).eps > 1e-18:
        pytest.skip("this machine has no wider numbers to compare with")
    for use in instruction_sets:
        use()
        ulps = np.abs(logarithms(x) - exact) / np.spacing(np.abs(exact.astype(np.float64)))
        assert ulps.max() < 1.0


def test_logarithms_of_zero_infinity_and_no_number(instruction_sets):
    x = np.array([0.0, -0.0, np.inf, np.nan, -1.0, -np.inf, 1.0, 5e-324])
    with np.errstate(all="ignore"):
        expected = np.log(x)
    for use in instruction_sets:
        use()
        np.testing.assert_allclose(logarithms(x), expected, rtol=1e-15)


def test_sums_and_log_factorials_of_rows():
    X = counts((200, 5), missing=0.1)
    X[0, 0] = 300.5
    cells = np.nan_to_num(X)
    for found in (_core.row_log_factorials(X), _core.sparse_row_log_factorials(*csr(X))):
        np.testing.assert_allclose(found[0], cells.sum(axis=1))
        np.testing.assert_allclose(found[1], gammaln(cells + 1).sum(axis=1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", FIVE)
@pytest.mark.parametrize("several", [1, 4, 8, 13, 20, 1100])
def test_many_pseudocounts_are_scored_as_each_by_itself(dtype, several):
    rng = np.random.default_rng(16)
    X, y, folds = counts((120, 15), dtype), rng.integers(0, 3, 120), rng.integers(0, 4, 120)
    alphas = np.logspace(-3, 1.5, several)
    counted = np.zeros((4, 3, 15))
    np.add.at(counted, (folds, y), X.astype(float))
    whole = counted.sum(axis=0)
    log_counts = np.log(np.arange(whole.max() + 1)[:, None] + alphas)
    totals = whole.sum(axis=1) - counted.sum(axis=2)
    log_totals = np.log(totals[..., None] + 15 * alphas)
    log_priors = np.log(rng.dirichlet(np.ones(3), 4))
    losses, best, confidence = _core.alpha_scores(
        *csr(X), y.astype(np.int32), folds, whole, log_counts, log_totals, log_priors
    )
    for a, alpha in enumerate(alphas):
        learned = whole - counted[folds]
        table = np.log(learned + alpha) - log_totals[folds, :, a, None]
        joint = np.einsum("nv,ncv->nc", X.astype(float), table) + log_priors[folds]
        log_proba = joint - logsumexp(joint, axis=1, keepdims=True)
        np.testing.assert_allclose(
            losses[:, a], -log_proba[np.arange(120), y], rtol=1e-9, atol=1e-12
        )
        np.testing.assert_array_equal(best[:, a], joint.argmax(axis=1))
        np.testing.assert_allclose(confidence[:, a], np.exp(log_proba.max(axis=1)), rtol=1e-9)


def test_rows_whose_counts_are_not_of_the_whole_are_refused():
    X, zeros = counts((6, 4)) + 1.0, np.zeros
    with pytest.raises(ValueError, match="rows that were not counted"):
        _core.alpha_scores(
            *csr(X),
            zeros(6, np.int32),
            zeros(6, np.int64),
            zeros((1, 4)),
            zeros((9, 1)),
            zeros((1, 1, 1)),
            zeros((1, 1)),
        )


def test_scores_of_pseudocounts_are_added_up_by_fold():
    rng = np.random.default_rng(17)
    rows, alphas, bins = 200, 5, 10
    codes, folds = rng.integers(0, 4, rows).astype(np.int32), rng.integers(0, 3, rows)
    losses, sure = rng.exponential(size=(rows, alphas)), rng.random((rows, alphas))
    sure[:4, 0] = [0.0, 1.0, 0.3, np.nextafter(0.3, 0.0)]
    best = rng.integers(0, 4, (rows, alphas)).astype(np.float64)
    found = _core.fold_sums(np.stack([losses, best, sure]), codes, folds, 4, bins)
    for fold in range(4):
        part = folds == fold
        hits = best[part] == codes[part, None]
        np.testing.assert_allclose(found[0][fold], losses[part].sum(axis=0), rtol=1e-13)
        np.testing.assert_array_equal(found[1][fold], hits.sum(axis=0))
        for a in range(alphas):
            place = np.minimum(np.floor(sure[part, a] * bins).astype(int), bins - 1)
            for b in range(bins):
                here = place == b
                gap = hits[here, a].sum() - sure[part, a][here].sum()
                np.testing.assert_allclose(found[2][fold, a, b], gap, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("cell", [np.nan, -0.1, 1.1, np.inf])
def test_no_probability_is_in_no_bin(cell):
    scores = np.full((3, 2, 1), 0.5)
    scores[2, 1, 0] = cell
    with pytest.raises(ValueError, match="a probability beyond 0 and 1"):
        _core.fold_sums(scores, np.zeros(2, np.int32), np.zeros(2, np.int64), 1, 10)


@pytest.mark.parametrize("classes", [3, 20, 33, 500])
@pytest.mark.parametrize("cell", [np.nan, np.inf, -np.inf])
def test_a_table_that_is_not_finite_is_not_rounded(classes, cell, instruction_sets):
    for use in instruction_sets:
        use()
        for place in (0, classes - 1):
            table = np.zeros((40, classes))
            table[17, place] = cell
            with pytest.raises(ValueError, match="a table that is not finite"):
                _core.RoundedTable(table)


def test_a_table_whose_width_is_beyond_all_numbers_is_not_rounded():
    for ends in ((-1.5e308, 1.5e308), (1.5e308, 1.7e308)):
        with pytest.raises(ValueError, match="a table that is not finite"):
            _core.RoundedTable(np.array([ends] * 3))
    with pytest.raises(ValueError, match="a table without classes"):
        _core.RoundedTable(np.empty((3, 0)))


# ---- many sparse rows, which are checked some at a time


def many_sparse_rows():
    """Return rows of more cells than are checked together, the first longer than that by itself."""
    X = counts((600, 90), seed=5)
    X[:, 40:60] = 0
    X[100:140] = 0
    return np.hstack([X, np.zeros((600, 9000))])


@pytest.mark.parametrize("classes", [2, 20])
def test_rows_of_all_blocks_are_scored(classes):
    X = many_sparse_rows()
    X[0, 90:] = 1
    table = np.random.default_rng(6).normal(size=(X.shape[1], classes))
    joint = X @ table
    rules = np.zeros(classes), NO_TABLE, 0.0, False, np.zeros(classes)
    found = _core.sparse_table_scores(*csr(X), table, *rules, "joint")
    assert found[0] == -1
    np.testing.assert_allclose(found[2], joint, rtol=1e-11, atol=1e-11)
    best = screened(*csr(X), table, np.zeros(classes), 0.0)
    np.testing.assert_array_equal(best, joint.argmax(axis=1))


@pytest.mark.parametrize("row", [0, 550, 599])
def test_cells_of_any_block_are_checked(row):
    X, table = many_sparse_rows(), np.random.default_rng(7).normal(size=(9090, 9))
    rules = np.zeros(9), NO_TABLE, 0.0, False, np.zeros(9)
    X[row, 3] = -1.0
    assert _core.sparse_table_scores(*csr(X), table, *rules, "joint")[0] == row
    assert screened(*csr(X), table, np.zeros(9), 0.0) is None
    X[row, 3] = np.nan
    found = _core.sparse_table_scores(*csr(X), table, *rules, "joint")[2]
    np.testing.assert_allclose(found, np.nan_to_num(X) @ table, rtol=1e-11, atol=1e-11)
    assert screened(*csr(X), table, np.zeros(9), 0.0) is None
    X[row, 3] = 1.0
    X[row, 9089] = 1.0
    for call in (
        lambda: _core.sparse_table_scores(*csr(X), table[:-1], *rules, "joint"),
        lambda: screened(*csr(X), table[:-1], np.zeros(9), 0.0),
    ):
        with pytest.raises(ValueError, match="beyond its columns"):
            call()


# ---- threads, instruction sets, arrays that do not fit


def test_threads_and_instruction_sets_change_no_bit(ranges, threads, instruction_sets):
    ranges(700)
    rng = np.random.default_rng(17)
    X, words = numbers((900, 10)), counts((900, 30))
    mean, precision = rng.normal(size=(3, 10)), 1 + rng.random((3, 10))
    table = rng.normal(size=(30, 20))
    found = []
    for number in (1, 2, 5):
        threads(number)
        for use in instruction_sets:
            use()
            for kind in ANSWERS:
                found.append(
                    (kind, _core.normal_scores(X, mean, precision, mean, np.zeros(3), kind)[2])
                )
                terms = table, np.zeros(20), NO_TABLE, 0.0, False, np.zeros(20), kind
                found.append((f"sparse {kind}", _core.sparse_table_scores(*csr(words), *terms)[2]))
            found.append(("screened", screened(*csr(words), table, np.zeros(20), 0.0)))
    first = {}
    for name, one in found:
        assert first.setdefault(name, one.tobytes()) == one.tobytes()


@pytest.mark.parametrize("dtype", FIVE)
@pytest.mark.parametrize("columns", [1, 3, 4, 5, 7, 8, 9, 12, 17, 50])
def test_rows_are_laid_across_alike_by_every_instruction_set(dtype, columns, instruction_sets):
    rng = np.random.default_rng(columns)
    mean, precision, log_prior = rng.normal(size=(6, columns)), np.ones((6, columns)), prior_of(6)
    for rows in (1, 3, 4, 7, 8, 9, 63, 64, 65, 71):
        X, terms = numbers((rows, columns), dtype), whitened(rng, 6, columns)
        own = np.stack([-0.5 * ((X - m) ** 2).sum(axis=1) for m in mean], axis=1)
        joint = whitened_joint(X, *terms)
        seen = set()
        for use in instruction_sets:
            use()
            found = _core.normal_scores(X, mean, precision, 0.0 * mean, log_prior, "joint")
            check(found, own, log_prior, "joint")
            *found, _ = _core.whitened_scores(X, *terms, log_prior, "joint")
            check(tuple(found), joint, log_prior, "joint", rtol=1e-9)
            seen.add(found[2].tobytes())
        assert len(seen) == 1


def test_arrays_that_do_not_fit_are_refused():
    X, two, three = np.ones((4, 3)), np.ones((2, 3)), np.ones((3, 3))
    zeros, ones = np.zeros(2), np.ones(2)
    data, indices, indptr = csr(X)
    levels = np.array([1, 1, 1]), np.array([1, 1, 1])
    calls = [
        lambda: _core.answer_scores(X, zeros, "joint"),
        lambda: _core.answer_scores(X, np.zeros(3), "worst"),
        lambda: _core.normal_scores(X, two, two, three, zeros, "joint"),
        lambda: _core.normal_scores(X[:, :2], two, two, two, zeros, "joint"),
        lambda: _core.student_scores(X, two, two, two, three, zeros, "joint"),
        lambda: _core.joint_student_scores(X, two, two, ones, two, two, zeros, "joint"),
        lambda: _core.whitened_scores(
            X, np.ones(3), np.ones((3, 3, 3)), two, ones, NONE, ones, zeros, "joint"
        ),
        lambda: _core.whitened_scores(
            X, np.ones(2), np.ones((2, 3, 3)), two, ones, NONE, ones, zeros, "joint"
        ),
        lambda: _core.whitened_scores(
            X, np.ones(3), np.ones((2, 3, 3)), two, ones, np.ones(1), ones, zeros, "joint"
        ),
        lambda: _core.low_rank_scores(X, two, two, np.ones((2, 2, 1)), ones, zeros, "joint"),
        lambda: _core.linear_scores(X, np.ones(3), two, np.ones(3), zeros, "joint"),
        lambda: _core.table_scores(X, two.T[:2], ones, NO_TABLE, 0.0, False, zeros, "joint"),
        lambda: _core.table_scores(
            X, np.ones((3, 2)), ones, np.ones((2, 2)), 0.0, False, zeros, "joint"
        ),
        lambda: _core.sparse_table_scores(
            data, indices, indptr, np.ones((2, 2)), ones, NO_TABLE, 0.0, False, zeros, "joint"
        ),
        lambda: screened(data, indices + 1, indptr, np.ones((3, 9)), np.zeros(9), 0.0),
        lambda: _core.best_screened(
            *(data, indices, indptr, np.ones((3, 9)), _core.RoundedTable(np.ones((3, 8)))),
            *(np.zeros(9), 0.0),
        ),
        lambda: _core.binary_scores(X, 0.5, np.ones((3, 2)), np.ones((2, 2)), zeros, "joint"),
        lambda: _core.sparse_binary_scores(
            data, indices, indptr, 0.5, np.ones((3, 2)), np.ones((2, 2)), ones, zeros, "joint"
        ),
        lambda: _core.level_scores(X, *levels, np.ones((1, 2)), np.ones((3, 2)), zeros, "joint"),
        lambda: _core.level_scores(
            X, -levels[0], levels[1], np.ones((2, 2)), np.ones((3, 2)), zeros, "joint"
        ),
        lambda: _core.integrated_count_scores(
            X, np.ones((3, 2)), NO_TABLE, np.ones(3), ones, NO_TABLE, zeros, "joint"
        ),
        lambda: _core.log_table(two, NONE, np.ones((2, 2)), ones),
        lambda: _core.log_table(two, np.ones(2), np.ones((1, 1)), ones),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in calls:
            with pytest.raises(ValueError, match=r"\w"):
                call()
