"""Levels looked up, counted, found and combined, against plain numpy."""

import numpy as np
import pytest

from suffice import _core

NONE = np.empty(0)
ROWS = [0, 1, 7, 64, 1000]
ONE_ROW = np.zeros(1, np.int32), NONE, 1, np.ones(1), 9


def some_levels(rows, levels=5, seed=0):
    """Return codes from a gap (-1) to beyond what is known, folds, classes and weights."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, levels + 3, rows).astype(np.int32)
    folds, own = (rng.integers(0, n, rows).astype(np.int32) for n in (4, 3))
    return codes, folds, own, rng.exponential(size=rows)


def a_table(levels, columns, seed=1):
    return np.random.default_rng(seed).normal(size=(levels + 2, columns))


def rows_of(codes, levels):
    """Return the rows of a table: the one before the last is "other's", the last the gaps'."""
    return np.where(codes < 0, levels + 1, np.minimum(codes, levels))


@pytest.fixture(params=[1 << 19, 16], ids=["long", "short"])
def any_ranges(request, ranges):
    ranges(request.param)


@pytest.mark.usefixtures("any_ranges")
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("levels", [0, 1, 5])
def test_scores_are_the_rows_of_a_table(rows, levels):
    codes, folds, own, _ = some_levels(rows, levels)
    at = rows_of(codes, levels)
    table, left_out, wide = a_table(levels, 3), a_table(levels, 3, seed=2), a_table(levels, 12)
    np.testing.assert_array_equal(_core.gather_levels(codes, table), table[at])
    by_fold = wide.reshape(-1, 4, 3)[at, folds]
    np.testing.assert_array_equal(_core.gather_fold_levels(codes, folds, wide, 3), by_fold)
    expected = np.where(own[:, None] == np.arange(3), left_out[at], table[at])
    found = _core.gather_left_out_levels(codes, own, table, left_out)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.usefixtures("any_ranges")
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("weighted", [False, True])
def test_levels_are_counted_by_class(rows, weighted):
    codes, _, own, weights = some_levels(rows)
    codes = np.minimum(codes, 4)
    expected = np.zeros((3, 5))
    seen = codes >= 0
    np.add.at(expected, (own[seen], codes[seen]), weights[seen] if weighted else 1.0)
    unknown, counts = _core.level_counts(codes, own, weights if weighted else NONE, 3, 5)
    assert unknown == -1
    np.testing.assert_allclose(counts, expected, rtol=1e-13)


@pytest.mark.usefixtures("any_ranges")
def test_the_first_row_of_an_unknown_level_is_named():
    codes, _, own, _ = some_levels(300)
    codes = np.minimum(codes, 4)
    codes[[201, 77]] = 5
    assert _core.level_counts(codes, own, NONE, 3, 5)[0] == 77


@pytest.mark.usefixtures("any_ranges")
@pytest.mark.parametrize("edges", [0, 1, 2, 3, 31, 128, 129, 1000])
@pytest.mark.parametrize("rows", ROWS)
def test_bins_are_numbers_of_edges_at_or_below(edges, rows):
    rng = np.random.default_rng(edges)
    cuts = np.sort(rng.normal(size=edges))
    x = rng.normal(size=rows)
    if edges and rows:
        x[::3] = rng.choice(cuts, len(x[::3]))
        x[::7] = np.nan
        x[-1] = -np.inf
    expected = np.where(np.isnan(x), -1, np.searchsorted(cuts, x, side="right"))
    np.testing.assert_array_equal(_core.find_bins(x, cuts), expected)
    np.testing.assert_array_equal(_core.find_bins(np.repeat(x, 2)[::2], cuts), expected)


@pytest.mark.usefixtures("any_ranges")
@pytest.mark.parametrize("rows", ROWS)
def test_deviations_are_added_up_to_a_limit(rows):
    rng = np.random.default_rng(rows)
    x, slopes, scores = rng.normal(size=rows) * 9, rng.normal(size=3), rng.normal(size=(rows, 3))
    x[::5], x[1::5] = np.nan, 1e308
    with np.errstate(over="ignore"):
        far = np.nan_to_num(np.clip((x - 0.5) / 0.25, -5, 5))
    expected = scores + far[:, None] * slopes
    _core.add_deviations(x, 0.5, 0.25, 5.0, slopes, scores)
    np.testing.assert_array_equal(scores, expected)


@pytest.mark.usefixtures("any_ranges")
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("columns", [0, 1, 3])
def test_keys_number_combinations(rows, columns):
    rng = np.random.default_rng(0)
    codes = rng.integers(-1, 7, (rows, columns)).astype(np.int32)
    sizes = np.array([2, 4, 5][:columns])
    steps = np.array([1, 3, 2**40][:columns])
    expected = (np.minimum(codes, sizes) * steps).sum(axis=1)
    expected = np.where((codes < 0).any(axis=1), -1, expected)
    np.testing.assert_array_equal(_core.combination_keys(codes, sizes, steps), expected)


def gain_by_hand(own, left, right, weights, shape, strengths):
    n = np.zeros(shape)
    np.add.at(n, (own, left, right), weights)
    classes, many, more = shape
    total = n.sum(axis=(1, 2))
    prior = (total + 1) / (total.sum() + classes)
    of_left = (n.sum(axis=2) + 1) / (total + many)[:, None]
    of_right = (n.sum(axis=1) + 1) / (total + more)[:, None]
    q = np.einsum("c,ca,cb->cab", prior, of_left, of_right)
    q /= q.sum(axis=0)
    out = np.minimum(1.0, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        told = [(n - out + s * q) / (n.sum(axis=0) - out + s) for s in strengths]
        return max(np.sum(np.where(n > 0, n * np.log(one / q), 0.0)) for one in told)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_gain_what_their_table_tells_beyond_each(rows, weighted):
    rng = np.random.default_rng(rows)
    levels = np.array([2, 3, 40, 5])
    codes = (rng.random((4, rows)) * levels[:, None]).astype(np.int32)
    own = ((codes[0] + codes[1]) % 2 if rows else np.empty(0)).astype(np.int32)
    weights = rng.exponential(size=rows) if weighted and rows else NONE
    strengths = np.array([1.0, 10.0, 100.0])
    gains = _core.pair_gains(codes, levels, own, weights, 2, strengths, 300)
    for a in range(4):
        for b in range(4):
            if b >= a or 2 * levels[a] * levels[b] > 300:
                assert gains[a, b] == -np.inf
                continue
            w = weights if weights.size else np.ones(rows)
            shape = (2, levels[a], levels[b])
            expected = gain_by_hand(own, codes[a], codes[b], w, shape, strengths)
            np.testing.assert_allclose(gains[a, b], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("gather_levels", (np.zeros(1, np.int32), np.zeros((1, 2)))),
        ("gather_fold_levels", (*[np.full(1, 2, np.int32)] * 2, np.zeros((3, 4)), 2)),
        ("gather_left_out_levels", (*[np.full(1, 2, np.int32)] * 2, *[np.zeros((3, 2))] * 2)),
        ("level_counts", (np.zeros(1, np.int32), np.full(1, 2, np.int32), NONE, 2, 3)),
        ("combination_keys", (np.zeros((1, 2), np.int32), np.ones(1, int), np.ones(2, int))),
        ("pair_gains", (np.full((2, 1), 2, np.int32), np.ones(2, int), *ONE_ROW)),
    ],
)
def test_what_does_not_fit_together_is_refused(name, arguments):
    with pytest.raises(ValueError, match=r"fit|there are not|unknown"):
        getattr(_core, name)(*arguments)


@pytest.mark.usefixtures("any_ranges")
@pytest.mark.parametrize(
    "shape", [(0, 2, 2), (1, 1, 1), (7, 20, 2), (64, 3, 5), (3, 0, 2), (2, 40, 60)]
)
def test_information_of_tables_is_that_of_their_shares(shape):
    rng = np.random.default_rng(3)
    counts = rng.poisson(1.0, shape).astype(np.float64) * rng.choice(
        [0.0, 1.0, 0.3], (shape[0], 1, 1)
    )
    expected = np.zeros(shape[0])
    for at, table in enumerate(counts):
        total = table.sum()
        if total > 0:
            p = table / total
            independent = p.sum(axis=1, keepdims=True) * p.sum(axis=0)
            expected[at] = sum(
                p[i] * np.log(p[i] / independent[i]) for i in zip(*np.nonzero(p), strict=True)
            )
    np.testing.assert_allclose(_core.table_information(counts), expected, rtol=1e-12, atol=1e-15)
