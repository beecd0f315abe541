"""Strengths of priors by evidence: compiled searches against scipy's functions and searches."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import digamma, gammaln, multigammaln

from suffice.empirical_bayes.centred import (
    MAX_PRIOR_SAMPLE_SIZE,
    MIN_PRIOR_SAMPLE_SIZE,
    pooled_shares,
)
from suffice.empirical_bayes.normal import MAX_PRIOR_SAMPLE_SIZE as STRONGEST_ROWS
from suffice.empirical_bayes.normal import MIN_MEAN_SAMPLE_SIZE, MIN_VARIANCE_SHAPE
from suffice.kernels.evidence.covariance import best_covariance_strengths, covariance_evidence
from suffice.kernels.evidence.events import event_evidence, event_slope
from suffice.kernels.evidence.levels import best_level_strength, level_evidence, level_slope
from suffice.kernels.evidence.normal import best_normal_strengths, normal_evidence
from suffice.kernels.numeric.ascent import uphill, uphill_of_two
from suffice.kernels.numeric.gammas import digamma_rise, log_gamma_step
from suffice.prior import Gamma, NormalInverseGamma
from suffice.tally import Events, Moments

SEEDS = range(12)
LOW, HIGH = np.log(MIN_PRIOR_SAMPLE_SIZE), np.log(MAX_PRIOR_SAMPLE_SIZE)
BOX = np.log([MIN_MEAN_SAMPLE_SIZE, MIN_VARIANCE_SHAPE]), np.log([STRONGEST_ROWS] * 2)


def plain_level_evidence(counts, base, strength):
    """The Polya distribution's log probability of counts in their order, with scipy's gammas."""
    each = strength * base
    gain = gammaln(counts + each) - gammaln(each)
    return float(gain.sum() - np.sum(gammaln(counts.sum(axis=1) + strength) - gammaln(strength)))


def drawn_counts(seed):
    rng = np.random.default_rng(seed)
    classes, levels = rng.integers(1, 6), rng.integers(2, 30)
    shares = rng.dirichlet(np.ones(levels) * rng.choice([0.1, 1.0, 10.0]))
    strength = 10 ** rng.uniform(-1, 4)
    own = [rng.dirichlet(strength * shares + 1e-9) for _ in range(classes)]
    counts = np.array([rng.multinomial(rng.integers(1, 3000), p) for p in own], float)
    return counts, pooled_shares(counts.sum(axis=0))[:-1]


def positive_counts(counts, base):
    """Counts above 0 of all groups (G, K), their bases, and the groups' totals."""
    held = counts > 0
    return counts[held], np.broadcast_to(base, counts.shape)[held], counts.sum(axis=1)


def drawn_classes(seed):
    """Rows, scatter and squared distance of the mean of each class, the variance, and tied."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(2, 6)
    rows = rng.integers(1, 200, classes).astype(float)
    means = rng.normal(size=classes) * 10 ** rng.uniform(-2, 2)
    scales = np.exp(rng.normal(size=classes) * rng.choice([0.0, 0.1, 1.0]))
    squares = np.where(rows > 1, scales**2 * rng.chisquare(np.maximum(rows - 1, 1)), 0.0)
    location = float(rows @ means / rows.sum())
    away, variance = (means - location) ** 2, float(squares.sum() / rows.sum())
    return means, location, rows, squares, away, variance


@pytest.mark.parametrize("z", [1e-6, 0.3, 1.0, 19.9, 20.0, 21.5, 1e3])
@pytest.mark.parametrize("step", [0.0, 1e-3, 0.5, 7.0, 450.0])
def test_differences_of_gamma_functions_are_scipys(z, step):
    assert log_gamma_step(z, step) == pytest.approx(gammaln(z + step) - gammaln(z), abs=1e-9)
    assert digamma_rise(z, step) == pytest.approx(
        digamma(z + step) - digamma(z), rel=1e-12, abs=1e-12
    )


@pytest.mark.parametrize("z", [1e6, 1e9, 1e12])
def test_differences_of_large_gamma_functions_have_all_digits(z):
    """ln G(z + 2) - ln G(z) = ln z (z + 1), and digamma(z + 2) - digamma(z) = 1/z + 1/(z + 1)."""
    assert log_gamma_step(z, 2.0) == pytest.approx(np.log(z) + np.log(z + 1), rel=1e-15)
    assert digamma_rise(z, 2.0) == pytest.approx(1 / z + 1 / (z + 1), rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_evidence_of_counts_and_its_slope_are_scipys(seed):
    counts, base = drawn_counts(seed)
    for log in (-2.0, 1.0, 4.0):
        plain = plain_level_evidence(counts, base, np.exp(log))
        assert level_evidence(*positive_counts(counts, base), log) == pytest.approx(
            plain, rel=1e-10
        )
        ends = [plain_level_evidence(counts, base, np.exp(log + h)) for h in (1e-5, -1e-5)]
        slope = (ends[0] - ends[1]) / 2e-5
        assert level_slope(*positive_counts(counts, base), log) == pytest.approx(
            slope, rel=1e-4, abs=1e-3
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_no_other_strength_of_counts_is_more_credible(seed):
    """Evidence times the strength's own prior, s / (1 + s)."""
    counts, base = drawn_counts(seed)

    def credible(log):
        return plain_level_evidence(counts, base, np.exp(log)) - np.logaddexp(0.0, -log)

    found = best_level_strength(*positive_counts(counts, base), LOW, HIGH)
    assert LOW <= found <= HIGH
    looks = np.linspace(LOW, HIGH, 300)
    top = int(np.argmax([credible(log) for log in looks]))
    ends = looks[max(top - 1, 0)], looks[min(top + 1, 299)]
    best = minimize_scalar(lambda log: -credible(log), bounds=ends, method="bounded")
    # Compared by the evidence that has all digits: scipy's gammas lose some at strengths of 1e9.
    found_value, best_value = (
        level_evidence(*positive_counts(counts, base), log) - np.logaddexp(0.0, -log)
        for log in (found, best.x)
    )
    assert found_value >= best_value - 1e-9
    if LOW < found < HIGH:
        slope = level_slope(*positive_counts(counts, base), found) + 1 / (1 + np.exp(found))
        assert abs(slope) < 1e-5


def test_counts_of_nothing_have_some_strength():
    assert (
        LOW
        <= best_level_strength(*positive_counts(np.zeros((2, 3)), np.full(3, 1 / 3)), LOW, HIGH)
        <= HIGH
    )


def moments_of(rows, means, squares):
    origin = np.zeros_like(rows)
    moments = rows, origin, rows * means, squares + rows * means**2
    return Moments(*(part[:, None] for part in moments))


def last_of_each_variance(cells, tied):
    """Whether a cell is the last that shares its variance: all cells, if they are tied."""
    return np.arange(cells) == cells - 1 if tied else np.ones(cells, bool)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_evidence_of_normals_is_that_of_their_prior(seed, tied):
    means, location, rows, squares, away, variance = drawn_classes(seed)
    k, a = np.exp(np.random.default_rng(seed).uniform(-2, 3, 2))
    shape = (1 if tied else len(rows), 1)
    prior = NormalInverseGamma(
        location=np.full((len(rows), 1), location),
        pseudo_rows=np.full((len(rows), 1), k),
        shape=np.full(shape, a),
        scale=np.full(shape, a * variance),
        shared=(0,) if tied else (),
    )
    evidence = float(np.sum(prior.log_evidence(moments_of(rows, means, squares))))
    facts = rows, squares, away, variance, last_of_each_variance(len(rows), tied)
    value, by_k, by_a = normal_evidence(*facts, np.log(k), np.log(a))
    assert value == pytest.approx(evidence, rel=1e-9, abs=1e-7)
    for slope, step in ((by_k, (1e-5, 0.0)), (by_a, (0.0, 1e-5))):
        ends = [normal_evidence(*facts, np.log(k) + s * step[0], np.log(a) + s * step[1])[0]
                for s in (1, -1)]  # fmt: skip
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-4, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_other_strengths_of_normals_have_more_evidence(seed, tied):
    facts = drawn_classes(seed)[2:]
    facts = *facts, last_of_each_variance(len(facts[0]), tied)
    found = best_normal_strengths(*facts, *BOX)

    def loss(logs):
        return -normal_evidence(*facts, *np.clip(logs, *BOX))[0]

    starts = [np.array([x, y]) for x in (-5.0, 0.0, 5.0, 15.0) for y in (0.0, 3.0, 10.0)]
    bounds = list(zip(*BOX, strict=True))
    best = min(
        minimize(loss, start, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14}).fun
        for start in starts
    )
    assert normal_evidence(*facts, *found)[0] >= -best - 1e-7


@pytest.mark.parametrize("seed", SEEDS)
def test_the_evidence_of_events_is_that_of_gammas(seed):
    rng = np.random.default_rng(seed)
    seen, events = rng.integers(1, 50, (3, 2)) * 1.0, rng.integers(0, 90, (3, 2)) * 1.0
    centre, rows = rng.uniform(0.1, 3.0, 2), float(np.exp(rng.uniform(-2, 5)))
    prior = Gamma(shape=np.tile(rows * centre, (3, 1)), rate=np.full((3, 2), rows))
    evidence = np.sum(prior.log_evidence(Events(seen, events, np.zeros((3, 2)))))
    assert event_evidence(seen, events, centre, rows) == pytest.approx(float(evidence), rel=1e-10)
    ends = [event_evidence(seen, events, centre, rows * (1 + h)) for h in (1e-6, -1e-6)]
    slope = (ends[0] - ends[1]) / (2e-6 * rows)
    assert event_slope(seen, events, centre, rows) == pytest.approx(slope, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("tied", [False, True])
def test_the_evidence_of_covariances_is_a_ratio_of_wisharts(tied):
    """In the prior's own units: scatter A, location 0, scale matrix f I, degrees f + d - 1."""
    rng = np.random.default_rng(3)
    d, rows, k, f = 3, np.array([7.0, 12.0]), 0.8, 4.0
    scatters = [(lambda x: x.T @ x)(rng.normal(size=(9, d))) for _ in rows]
    means = rng.normal(size=(2, d))
    pulls = [k * n / (k + n) * np.outer(m, m) for n, m in zip(rows, means, strict=True)]
    grown = [a + p for a, p in zip(scatters, pulls, strict=True)]
    degrees = f + d - 1
    groups = [(rows.sum(), sum(grown))] if tied else list(zip(rows, grown, strict=True))
    plain = -d / 2 * np.log1p(rows / k).sum()
    for n, extra in groups:
        after = degrees + n
        plain += multigammaln(after / 2, d) - multigammaln(degrees / 2, d)
        plain += degrees / 2 * d * np.log(f)
        plain -= after / 2 * np.linalg.slogdet(f * np.eye(d) + extra)[1]
    values, vectors = np.linalg.eigh([sum(scatters)] if tied else scatters)
    turned = means @ vectors[0] if tied else np.einsum("cj,cjk->ck", means, vectors)
    found = covariance_evidence(values, np.ascontiguousarray(turned), rows, tied, k, f)
    assert found == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_of_two_unknowns_is_newtons_on_a_dome(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(2, 2))
    curve = -(root @ root.T) - 0.5 * np.eye(2)
    top = rng.uniform(-0.5, 0.5, 2)  # no further than the longest step
    up = -curve @ top
    step = uphill_of_two(up[0], up[1], curve[0, 0], curve[0, 1], curve[1, 1])
    np.testing.assert_allclose(step, top, atol=1e-12)


def test_where_the_hill_is_no_dome_a_step_leads_upwards_and_ends():
    assert uphill(3.0, 0.0) == 2.0
    assert uphill(-3.0, 0.1) == -2.0
    assert uphill(0.0, 0.0) == 0.0
    across = uphill_of_two(1.0, 0.0, 4.0, 0.0, 4.0)
    assert across[0] > 0
    assert across[1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_no_other_strengths_of_covariances_have_more_evidence(seed, tied):
    rng = np.random.default_rng(seed)
    classes, d = int(rng.integers(2, 5)), int(rng.integers(2, 6))
    values = rng.chisquare(20, (1 if tied else classes, d)) * 10 ** rng.uniform(-1, 1)
    away = rng.normal(size=(classes, d)) * 10 ** rng.uniform(-1, 1)
    rows = rng.integers(5, 80, classes).astype(float)
    low, high = np.log([1e-4, 1e-4]), np.log([rows.mean(), 1e6])

    def loss(logs):
        k, half = np.clip(logs, low, high)
        return -covariance_evidence(values, away, rows, tied, np.exp(k), 2 * np.exp(half))

    found = best_covariance_strengths(values, away, rows, tied, low, high)
    assert (low <= found).all()
    assert (found <= high).all()
    starts = np.array(np.meshgrid(*np.linspace(low, high, 9).T)).reshape(2, -1).T
    best = min((minimize(loss, s, method="Nelder-Mead").fun for s in starts[::4]), default=0.0)
    assert loss(np.array(found)) <= best + 1e-4
