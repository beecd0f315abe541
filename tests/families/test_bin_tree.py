"""Bins as leaves of a Polya tree: against scipy's beta functions, and against no tree at all."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import betaln
from scipy.stats import norm

from suffice.families.columns.bin_tree import BinTree, halve
from suffice.families.level_tables import LevelTables

SIZES = (2, 3, 4, 7, 16, 31, 32)


def drawn(bins, seed, classes=3):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(bins, 3.0), classes)
    rows = rng.integers(0, 200, classes)
    return np.stack([rng.multinomial(n, p) for n, p in zip(rows, shares, strict=True)]) * 1.0


def walk(low, high, depth=0):
    """Yield (depth, low, middle, high) of every range of two bins or more."""
    if high - low > 1:
        middle = (low + high + 1) // 2
        yield depth, low, middle, high
        yield from walk(low, middle, depth + 1)
        yield from walk(middle, high, depth + 1)


def plain_evidence(counts, pooled, depth, strength):
    """The beta-binomial log probability of all halvings of one depth, with scipy."""
    total = 0.0
    for at, low, middle, high in walk(0, counts.shape[1]):
        if at == depth:
            part = (pooled[low:middle] + 1).sum() / (pooled[low:high] + 1).sum()
            a, b = strength * part, strength * (1 - part)
            below, above = counts[:, low:middle].sum(axis=1), counts[:, middle:high].sum(axis=1)
            total += np.sum(betaln(a + below, b + above) - betaln(a, b))
    return float(total)


@pytest.mark.parametrize("bins", SIZES)
def test_every_bin_is_parted_from_every_other_once(bins):
    node, half, _ = halve(bins)
    assert len({tuple(way) for way in (node * 2 + half).T.tolist()}) == bins
    assert len(node) == int(np.ceil(np.log2(bins)))


@pytest.mark.parametrize("bins", SIZES)
def test_evidence_and_shares_are_those_of_beta_distributions(bins):
    counts = drawn(bins, bins)
    # Strengths for which scipy's functions have all digits.
    strengths = np.array([0.4, 3.0, 20.0, 150.0, 1000.0])[: len(halve(bins).node)]
    tree = replace(BinTree.of(counts), prior_sample_sizes=strengths)
    pooled = counts.sum(axis=0)
    plain = sum(plain_evidence(counts, pooled, d, s) for d, s in enumerate(tree.prior_sample_sizes))
    assert tree.log_evidence == pytest.approx(plain, rel=1e-11)
    shares = np.ones_like(counts)
    for depth, low, middle, high in walk(0, bins):
        s = tree.prior_sample_sizes[depth]
        part = (pooled[low:middle] + 1).sum() / (pooled[low:high] + 1).sum()
        below, rows = counts[:, low:middle].sum(axis=1), counts[:, low:high].sum(axis=1)
        half = (below + s * part) / (rows + s)
        shares[:, low:middle] *= half[:, None]
        shares[:, middle:high] *= 1 - half[:, None]
    np.testing.assert_allclose(tree.shares(), shares, rtol=1e-10)
    np.testing.assert_allclose(tree.shares().sum(axis=1), 1.0)


@pytest.mark.parametrize("bins", SIZES)
def test_no_other_strength_of_a_depth_is_more_credible(bins):
    """Evidence times the strength's own prior, s / (1 + s)."""
    counts = drawn(bins, 40 + bins)
    tree, pooled = BinTree.of(counts), counts.sum(axis=0)

    def credible(log, depth):
        return plain_evidence(counts, pooled, depth, np.exp(log)) - np.logaddexp(0.0, -log)

    for depth, strength in enumerate(tree.prior_sample_sizes):
        best = minimize_scalar(
            lambda log, d=depth: -credible(log, d), bounds=(-5.0, 12.0), method="bounded"
        )
        # The gammas of scipy lose digits at strengths of 1e9.
        assert credible(np.log(strength), depth) >= -best.fun - 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_of_a_smooth_density_more_is_known_than_without_a_tree(seed):
    """Two normals in 32 bins, from 150 rows each: how far shares are off, in nats a row."""
    rng = np.random.default_rng(seed)
    inner = np.quantile(rng.normal(size=4000) + 0.5, np.arange(1, 32) / 32)
    edges = np.concatenate([[-np.inf], inner, [np.inf]])
    truth = np.stack([np.diff(norm.cdf(edges - shift)) for shift in (0.0, 1.0)])
    counts = np.stack([rng.multinomial(150, share) for share in truth]) * 1.0
    pooled = counts.sum(axis=0) + 1
    flat = LevelTables.centred(counts, pooled / pooled.sum(), None).shares()[:, :-1]
    tree = BinTree.of(counts).shares()
    off = [float(np.mean(np.sum(truth * np.log(truth / found), axis=1))) for found in (tree, flat)]
    assert off[0] < off[1]
