"""Trees of bins: sums and shares of halves, against plain loops."""

import numpy as np
import pytest

from suffice import _core

ROUNDING = 2.0**-40


def halves(bins):
    """Ranges cut in two until each is one bin: node and half (D, B), and the most ranges."""
    nodes, sides, most, ranges = [], [], 0, [(0, bins)]
    while any(high - low > 1 for low, high in ranges):
        node, side, after = np.full(bins, -1), np.zeros(bins, int), []
        cut = [(low, high) for low, high in ranges if high - low > 1]
        for at, (low, high) in enumerate(cut):
            middle = (low + high + 1) // 2
            node[low:high], side[middle:high] = at, 1
            after += [(low, middle), (middle, high)]
        nodes.append(node)
        sides.append(side)
        most, ranges = max(most, len(cut)), after
    shape = len(nodes), bins
    return np.reshape(nodes, shape).astype(int), np.reshape(sides, shape).astype(int), most


def drawn_tree(seed, bins, classes=3):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(3.0, (classes, bins)) * 1.0
    node, side, most = halves(bins)
    sums, base = _core.bin_tree_sums(counts, counts.sum(axis=0) + 1.0, node, side, most)
    return counts, (sums, base, node, side, rng.exponential(size=len(node)) * 9, ROUNDING)


def plain_log_share(tree, c, k, taken):
    sums, base, node, side, sizes, _ = tree
    total = 0.0
    for d, size in enumerate(sizes):
        m, h = node[d, k], side[d, k]
        if m >= 0:
            part, whole = (
                max(sums[d, c, 2 * m + h] - taken, 0),
                sums[d, c, 2 * m : 2 * m + 2].sum() - taken,
            )
            total += np.log((part + size * base[d, 2 * m + h]) / (max(whole, 0) + size))
    return total


@pytest.mark.parametrize("bins", [1, 2, 3, 7, 8, 33])
def test_sums_are_those_of_the_bins_of_each_half(bins):
    counts, (sums, base, node, side, *_) = drawn_tree(bins, bins)
    pooled = counts.sum(axis=0) + 1.0
    for d in range(len(node)):
        for m in range(sums.shape[2] // 2):
            for h in (0, 1):
                held = (node[d] == m) & (side[d] == h)
                np.testing.assert_array_equal(sums[d, :, 2 * m + h], counts[:, held].sum(axis=1))
                whole = pooled[node[d] == m].sum()
                share = pooled[held].sum() / whole if whole else 0.0
                assert base[d, 2 * m + h] == pytest.approx(share, rel=1e-14)


@pytest.mark.parametrize("bins", [1, 2, 3, 7, 8, 33])
@pytest.mark.parametrize("taken", [0.0, 1.0])
def test_shares_are_products_along_the_branch(bins, taken):
    counts, tree = drawn_tree(bins, bins)
    table = _core.bin_tree_shares(*tree, taken)
    assert table.shape == (bins + 2, 3)
    assert not table[-2:].any()
    if not taken:
        np.testing.assert_allclose(np.exp(table[:-2]).sum(axis=0), 1.0, rtol=1e-13)
    for k in range(bins):
        for c in range(3):
            if counts[c, k] >= taken:
                wanted = plain_log_share(tree, c, k, taken)
                assert table[k, c] == pytest.approx(wanted, rel=1e-12, abs=1e-13)


def test_rows_are_left_out_with_their_weight(ranges, threads):
    rng = np.random.default_rng(1)
    _, tree = drawn_tree(4, 9)
    codes = rng.integers(-1, 9, 60).astype(np.int32)
    own = rng.integers(0, 3, 60).astype(np.int32)
    weights = rng.random(60)
    found = _core.bin_tree_left_out(*tree, codes, own, weights)
    for i in range(60):
        wanted = plain_log_share(tree, own[i], codes[i], weights[i]) if codes[i] >= 0 else 0.0
        assert found[i] == pytest.approx(wanted, rel=1e-12, abs=1e-13)
    threads(2)
    ranges(1)
    np.testing.assert_array_equal(_core.bin_tree_left_out(*tree, codes, own, weights), found)


def test_what_is_left_of_a_weight_by_rounding_is_nothing():
    node, side = np.zeros((1, 2), int), np.array([[0, 1]])
    sums, base = np.array([[[0.1 + 0.2, 0.0]]]), np.full((1, 2), 0.5)
    found = _core.bin_tree_shares(sums, base, node, side, np.ones(1), ROUNDING, 0.3)
    assert found[0, 0] == np.log(0.5)


def test_what_does_not_fit_is_refused():
    counts, (sums, base, node, side, sizes, rounding) = drawn_tree(0, 4)
    pooled = np.ones(4)
    codes, own = np.zeros(3, np.int32), np.zeros(3, np.int32)
    tree = sums, base, node, side, sizes, rounding
    wrong = [
        lambda: _core.bin_tree_sums(counts, pooled, node + 9, side, 2),
        lambda: _core.bin_tree_sums(counts, pooled, node - 2, side, 2),
        lambda: _core.bin_tree_sums(counts, pooled, node, side + 1, 2),
        lambda: _core.bin_tree_sums(counts, pooled, node, side[:1], 2),
        lambda: _core.bin_tree_sums(counts, pooled[:3], node, side, 2),
        lambda: _core.bin_tree_sums(counts, pooled, node, side, 2**60),
        lambda: _core.bin_tree_shares(sums, base, node, side, sizes[:1], rounding, 0.0),
        lambda: _core.bin_tree_shares(sums, base[:1], node, side, sizes, rounding, 0.0),
        lambda: _core.bin_tree_shares(
            sums[:, :, :2], base[:, :2], node, side, sizes, rounding, 0.0
        ),
        lambda: _core.bin_tree_left_out(*tree, codes + 4, own, np.ones(3)),
        lambda: _core.bin_tree_left_out(*tree, codes, own + 3, np.ones(3)),
        lambda: _core.bin_tree_left_out(*tree, codes, own, np.ones(2)),
    ]
    for call in wrong:
        with pytest.raises(ValueError, match=r"\w"):
            call()
