"""Counting does not depend on threads or batches, and agrees with exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from counting_cases import KINDS, SPARSE_KINDS, cells, counted
from suffice.tally import Blocks, Counts, Events, Moments

# ---- threads and batches


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
def test_the_number_of_threads_does_not_matter(kind, sparse, ranges, threads):
    rng = np.random.default_rng(15)
    X, y = cells(rng, 4000, 4).astype(float), rng.integers(0, 3, 4000)
    if sparse:
        X = sp.csr_matrix(X)
    weights = rng.exponential(size=4000)
    ranges(2000)
    answers = []
    for number in (1, 2, 7):
        threads(number)
        row_weights, tally = counted(kind, X, y, 3, weights)
        answers.append([row_weights, *everything(tally)])
    for other in answers[1:]:
        for a, b in zip(answers[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


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
        assert total.allclose(whole, 1e-12)


# ---- exact fractions


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
