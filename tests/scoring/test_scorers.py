"""Scores of rows, against scipy.stats."""

from math import lgamma

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.special import gammaln

from suffice.scoring.discrete import (
    EMPTY_TABLE,
    BinaryScorer,
    IntegratedCountScorer,
    LevelScorer,
    TableScorer,
    row_log_factorials,
)
from suffice.scoring.gaussian import JointStudentScorer, NormalScorer, StudentScorer
from suffice.scoring.scorer import Refused, joint_log_proba

NOTHING_1D = np.empty(0)


def filled(scorer, X, classes):
    return joint_log_proba(scorer, X, np.zeros(classes))


def refused_row(scorer, X):
    with pytest.raises(Refused) as refusal:
        joint_log_proba(scorer, X, np.zeros(2))
    return refusal.value.row


def with_missing_values(rng, X):
    X = np.array(X, float)
    X[rng.random(X.shape) < 0.25] = np.nan
    return X


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_normal_scores_are_those_of_scipy(missing, dtype):
    rng = np.random.default_rng(20)
    mean, variance = rng.normal(size=(3, 5)), rng.exponential(size=(3, 5)) + 0.1
    X = (3 * rng.normal(size=(200, 5))).astype(dtype)
    if missing:
        X = with_missing_values(rng, X)
    logs = stats.norm.logpdf(X[:, None], mean, np.sqrt(variance))
    wanted = np.nansum(logs, axis=-1)
    np.testing.assert_allclose(filled(NormalScorer(mean, variance), X, 3), wanted, rtol=1e-11)
    if dtype is np.float64:
        sparse = filled(NormalScorer(mean, variance), sp.csr_matrix(X), 3)
        np.testing.assert_allclose(sparse, wanted, rtol=1e-11)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("equal_degrees", [False, True])
def test_student_scores_are_those_of_scipy(missing, equal_degrees):
    rng = np.random.default_rng(21)
    location, scale = rng.normal(size=(3, 5)), rng.exponential(size=(3, 5)) + 0.1
    degrees = np.full((3, 5), 4.5) if equal_degrees else rng.uniform(0.5, 30, (3, 5))
    degrees[:, 1] = degrees[:, 0]
    X = rng.standard_cauchy((200, 5))
    if missing:
        X = with_missing_values(rng, X)
    wanted = np.nansum(stats.t.logpdf(X[:, None], degrees, location, np.sqrt(scale)), axis=-1)
    scores = filled(StudentScorer(degrees, location, scale), X, 3)
    np.testing.assert_allclose(scores, wanted, rtol=1e-10, atol=1e-10)


def test_student_scores_of_many_far_columns_do_not_overflow():
    X = np.full((1, 400), 1e100)
    ones = np.ones((1, 400))
    scores = filled(StudentScorer(3 * ones, 0 * ones, ones), X, 1)
    wanted = 400 * stats.t.logpdf(1e100, 3)
    np.testing.assert_allclose(scores, [[wanted]], rtol=1e-11)


@pytest.mark.parametrize("missing", [False, True])
def test_joint_student_scores_are_those_of_scipy(missing):
    rng = np.random.default_rng(22)
    degrees, location = rng.uniform(0.5, 20, 3), rng.normal(size=(3, 4))
    scale = rng.exponential(size=(3, 4)) + 0.1
    X = rng.normal(size=(60, 4)) * 3
    if missing:
        X = with_missing_values(rng, X)
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
@pytest.mark.parametrize("missing", [False, True])
def test_poisson_scores_are_those_of_scipy(missing, form):
    rng = np.random.default_rng(23)
    rate = rng.exponential(size=(4, 3)) + 0.1  # (V, C)
    X = rng.poisson(2.0, (100, 4)).astype(float)
    X[0] = 300.0  # beyond the table of factorials
    if missing:
        X = with_missing_values(rng, X)
    wanted = np.nansum(stats.poisson.logpmf(X[:, :, None], rate), axis=1)
    scores = filled(TableScorer(np.log(rate), -rate.sum(axis=0), -rate), form(X), 3)
    length, factorials = row_log_factorials(form(X))
    np.testing.assert_allclose(scores - factorials[:, None], wanted, rtol=1e-10)
    np.testing.assert_allclose(length, np.nansum(X, axis=1))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("missing", [False, True])
def test_negative_binomial_scores_are_those_of_scipy(missing, form):
    rng = np.random.default_rng(24)
    events, rows = rng.exponential(size=(4, 3)) * 5, rng.exponential(size=(4, 3)) * 9
    X = rng.poisson(3.0, (100, 4)).astype(float)
    X[0] = 40.0  # beyond the products
    if missing:
        X = with_missing_values(rng, X)
    wanted = np.nansum(stats.nbinom.logpmf(X[:, :, None], events, rows / (rows + 1)), axis=1)
    silent = events * np.log(rows / (rows + 1))
    scorer = IntegratedCountScorer(events, -np.log1p(rows), NOTHING_1D, silent.sum(axis=0), silent)
    scores = filled(scorer, form(X), 3)
    np.testing.assert_allclose(
        scores - row_log_factorials(form(X))[1][:, None], wanted, rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_multinomial_and_polya_scores_are_those_of_scipy(form):
    rng = np.random.default_rng(25)
    X = np.concatenate([rng.poisson(1.0, (50, 4)), rng.poisson(20.0, (20, 4))])
    phi = rng.dirichlet(np.ones(4), 3)
    plain = filled(TableScorer(np.log(phi.T), np.zeros(3), EMPTY_TABLE), form(X), 3)
    alpha = rng.exponential(size=(3, 4)) + 0.05
    believed = np.ascontiguousarray(alpha.T)
    polya = IntegratedCountScorer(
        believed, EMPTY_TABLE, alpha.sum(axis=1), np.zeros(3), EMPTY_TABLE
    )
    polya_scores = filled(polya, form(X), 3)
    orderings = gammaln(X.sum(axis=1) + 1) - gammaln(X + 1).sum(axis=1)
    for i, row in enumerate(X):
        for c in range(3):
            wanted = stats.multinomial.logpmf(row, row.sum(), phi[c])
            np.testing.assert_allclose(plain[i, c] + orderings[i], wanted, rtol=1e-9, atol=1e-9)
            wanted = stats.dirichlet_multinomial.logpmf(row, alpha[c], row.sum())
            got = polya_scores[i, c] + orderings[i]
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("impossible", [False, True])
def test_binary_scores_are_those_of_scipy(form, missing, impossible):
    rng = np.random.default_rng(26)
    chance = rng.uniform(0.05, 0.95, (4, 3))
    if impossible:
        chance[1, 2], chance[2, 0] = 0.0, 1.0
    X = rng.integers(0, 2, (60, 4)).astype(float)
    wanted = np.sum(stats.bernoulli.logpmf(X[:, :, None], chance), axis=1)
    if missing:
        X = with_missing_values(rng, X)
        logs = stats.bernoulli.logpmf(np.nan_to_num(X)[:, :, None], chance)
        wanted = np.where(np.isnan(X)[:, :, None], 0.0, logs).sum(axis=1)
    with np.errstate(divide="ignore"):
        scorer = BinaryScorer(np.log(chance), np.log1p(-chance), 0.5)
    np.testing.assert_allclose(filled(scorer, form(X), 3), wanted, rtol=1e-11)


def test_a_stored_zero_is_not_multiplied_by_minus_infinity():
    table = np.array([[-np.inf, 0.0], [-1.0, -2.0]])
    X = sp.csr_matrix(([0.0, 3.0], [0, 1], [0, 2]), shape=(1, 2))
    scores = filled(TableScorer(table, np.zeros(2), EMPTY_TABLE), X, 2)
    np.testing.assert_array_equal(scores, [[-3.0, -6.0]])
    np.testing.assert_array_equal(
        filled(TableScorer(table, np.zeros(2), EMPTY_TABLE), X.toarray(), 2), [[-3.0, -6.0]]
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
        IntegratedCountScorer(ones, ones, np.ones(2), np.ones(2), ones),
    ]
    for scorer in scorers:
        assert refused_row(scorer, form(X)) == 3
        assert refused_row(scorer, form(X[1:])) == 2


def test_linear_scores_refuse_cells_below_the_lowest_by_row():
    X = np.ones((5, 2))
    X[3, 1] = -1
    table = np.ones((2, 2))
    for rows in (X, sp.csr_matrix(X), X.astype(int)):
        scorer = TableScorer(table, np.ones(2), EMPTY_TABLE, lowest=0.0)
        assert refused_row(scorer, rows) == 3
        assert refused_row(scorer, rows[2:]) == 1
        assert joint_log_proba(scorer, rows[:3], np.zeros(2)).shape == (3, 2)
