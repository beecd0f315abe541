"""Prior sample sizes by evidence: the one search, and all evidences, against scipy and priors."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import digamma, gammaln, multigammaln

from suffice import _core
from suffice.prior import (
    Coefficients,
    Dirichlet,
    Gamma,
    NormalInverseGamma,
    NormalInverseWishart,
    Products,
)
from suffice.tally import Events, Moments

SEEDS = range(12)
LOW, HIGH = np.log(1e-6), np.log(1e9)
BOX = np.log([1e-4, 0.5]), np.log([1e9, 1e9])


def gamma_step(z, step):
    return _core.gamma_steps(z, step)[0]


def digamma_step(z, step):
    return _core.gamma_steps(z, step)[1]


@pytest.mark.parametrize("z", [1e-6, 0.3, 1.0, 19.9, 20.0, 21.5, 1e3])
@pytest.mark.parametrize("step", [0.0, 1e-3, 0.5, 7.0, 450.0])
def test_differences_of_gamma_functions_are_scipys(z, step):
    assert gamma_step(z, step) == pytest.approx(gammaln(z + step) - gammaln(z), abs=1e-9)
    assert digamma_step(z, step) == pytest.approx(
        digamma(z + step) - digamma(z), rel=1e-12, abs=1e-12
    )


@pytest.mark.parametrize("z", [1e6, 1e9, 1e12])
def test_differences_of_large_gamma_functions_have_all_digits(z):
    """ln G(z + 2) - ln G(z) = ln z (z + 1), and digamma(z + 2) - digamma(z) = 1/z + 1/(z + 1)."""
    assert gamma_step(z, 2.0) == pytest.approx(np.log(z) + np.log(z + 1), rel=1e-15)
    assert digamma_step(z, 2.0) == pytest.approx(1 / z + 1 / (z + 1), rel=1e-12)


@pytest.mark.parametrize("z", [0.3, 1.0, 7.5, 19.999, 20.0, 21.3, 1e3, 5e5, 1e9])
def test_whole_steps_are_products_and_two_half_steps_a_whole_one(z):
    for step in (0, 1, 2, 5, 30):
        product = np.log(z + np.arange(step)).sum()
        assert gamma_step(z, step) == pytest.approx(product, rel=1e-13, abs=1e-13)
    both = gamma_step(z, 0.5) + gamma_step(z + 0.5, 0.5)
    assert both == pytest.approx(np.log(z), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("z", [20.0, 21.3, 1e3, 5e5, 1e9])
def test_half_a_step_is_its_series(z):
    """ln G(z + 1/2) - ln G(z) = ln(z) / 2 - 1/8z + 1/192z^3 - 1/640z^5 + 17/14336z^7 - ..."""
    series = -1 / (8 * z) + 1 / (192 * z**3) - 1 / (640 * z**5) + 17 / (14336 * z**7)
    assert gamma_step(z, 0.5) == pytest.approx(np.log(z) / 2 + series, rel=1e-14, abs=1e-14)
    assert gamma_step(z, 1.5) == pytest.approx(
        np.log(z) / 2 + series + np.log(z + 0.5), rel=1e-14, abs=1e-14
    )


@pytest.mark.parametrize("start", [0.1, 3.0, 19.9, 20.0, 20.1, 1e3, 1e6])
@pytest.mark.parametrize("steps", [1, 2, 7, 50])
def test_a_step_of_the_digamma_function_is_a_sum_of_reciprocals(start, steps):
    expected = np.sum(1.0 / (start + np.arange(steps)))
    assert digamma_step(start, float(steps)) == pytest.approx(expected, rel=1e-14)


# ---- the search


def maximum_of(evidence, low, high, points=10):
    """Return where the search ends, and how often it asked."""
    asked = []

    def counted(at):
        asked.append(at)
        return evidence(np.array(at))

    found, flat = _core.maximize(counted, list(low), list(high), points)
    assert not flat
    return np.array(found), len(asked)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_maximum_of_a_concave_function_of_two_unknowns_is_found_to_all_digits(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(2, 2))
    curve = -(root @ root.T) - 0.5 * np.eye(2)
    top = rng.uniform(-3, 3, 2)

    def dome(x):
        up = curve @ (x - top)
        return (x - top) @ up / 2, *up

    found, asked = maximum_of(dome, [-4.0, -4.0], [4.0, 4.0])
    np.testing.assert_allclose(found, top, atol=1e-13)
    assert asked < 100 + 40  # points of the grid, and a few steps of Newton's method


@pytest.mark.parametrize(("side", "top"), [(-1.0, [-2.0, 0.25]), (1.0, [3.0, 0.25])])
def test_an_evidence_that_rises_to_a_bound_ends_there(side, top):
    def slant(x):
        return side * x[0] - (x[1] - 0.25) ** 2, side, -2 * (x[1] - 0.25)

    found, _ = maximum_of(slant, [-2.0, -1.0], [3.0, 1.0])
    np.testing.assert_allclose(found, top, atol=1e-13)
    assert found[0] == top[0]


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_evidence_without_a_peak_ends_at_the_bounds(sign):
    found, _ = maximum_of(lambda x: (sign * np.exp(x[0]), sign * np.exp(x[0])), [-5.0], [7.0], 25)
    assert found == (7.0 if sign > 0 else -5.0)


def test_an_evidence_ever_flatter_towards_a_bound_is_followed_to_the_bound():
    """Its values are alike from 20 on, to rounding; its gradients are not."""
    found, _ = maximum_of(lambda x: (1e3 - np.exp(-2 * x[0]), 2 * np.exp(-2 * x[0])), [0.0], [30.0])
    assert found == 30.0


@pytest.mark.parametrize("at", [-3.3, 0.2, 4.4])
def test_where_the_evidence_is_not_concave_steps_lead_upwards_and_end(at):
    """-log(1 + z^2) is bent upwards beyond a distance of 1."""

    def bell(x):
        z = 3 * (x[0] - at)
        return -np.log1p(z * z), -6 * z / (1 + z * z)

    found, _ = maximum_of(bell, [-15.0], [15.0], points=4)
    assert found == pytest.approx(at, abs=1e-13)


def test_the_highest_of_many_peaks_is_taken():
    """Of sin 2x + 0.1 x the last peak within the bounds is the highest."""
    ends = np.log([1e-6, 1e6])
    found, _ = maximum_of(
        lambda x: (np.sin(2 * x[0]) + 0.1 * x[0], 2 * np.cos(2 * x[0]) + 0.1),
        ends[:1],
        ends[1:],
        25,
    )
    peaks = (np.arccos(-0.05) + 2 * np.pi * np.arange(-10, 10)) / 2
    assert found == pytest.approx(peaks[peaks < ends[1]][-1], abs=1e-12)


def test_a_plain_is_said_to_be_flat():
    assert _core.maximize(lambda at: (3.0, 0.0), [-1.0], [1.0], 5) == ([-1.0], True)


def test_impossible_places_are_passed_over():
    def half(x):
        value = -((x[0] - 1) ** 2) if x[0] > 0 else [np.nan, -np.inf][int(x[0]) % 2]
        return value, -2 * (x[0] - 1)

    found, _ = maximum_of(half, [-4.0], [4.0])
    assert found == pytest.approx(1.0, abs=1e-13)


def test_what_an_evidence_raises_is_raised():
    def broken(at):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        _core.maximize(broken, [0.0], [1.0], 3)
    with pytest.raises(ValueError, match="a value and its gradient"):
        _core.maximize(lambda at: (1.0, 2.0, 3.0), [0.0], [1.0], 3)


# ---- counts of levels


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
    pooled = counts.sum(axis=0) + 1.0
    return counts, pooled / (pooled.sum() + 1.0)


def level_evidence(counts, base, log):
    facts = counts[None], base[None], len(base), np.exp([log])
    return _core.level_evidence(*facts)[0], _core.level_gradients(*facts)[0]


def level_sample_size(counts, base):
    ends = tuple(np.exp([LOW, HIGH]))
    return _core.level_sample_sizes(counts[None], base[None], len(base), ends)[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_evidence_of_counts_and_its_gradient_are_scipys(seed):
    counts, base = drawn_counts(seed)
    for log in (-2.0, 1.0, 4.0):
        value, slope = level_evidence(counts, base, log)
        assert value == pytest.approx(plain_level_evidence(counts, base, np.exp(log)), rel=1e-10)
        ends = [plain_level_evidence(counts, base, np.exp(log + h)) for h in (1e-5, -1e-5)]
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_other_strength_of_counts_is_more_credible(seed):
    """Evidence times the strength's own prior, s / (1 + s)."""
    counts, base = drawn_counts(seed)

    def credible(log):
        return plain_level_evidence(counts, base, np.exp(log)) - np.logaddexp(0.0, -log)

    found = np.log(level_sample_size(counts, base))
    assert LOW <= found <= HIGH + 1e-12
    grid = np.linspace(LOW, HIGH, 300)
    top = int(np.argmax([credible(log) for log in grid]))
    ends = grid[max(top - 1, 0)], grid[min(top + 1, 299)]
    best = minimize_scalar(lambda log: -credible(log), bounds=ends, method="bounded")
    # Compared by the evidence that has all digits: scipy's gammas lose some at strengths of 1e9.
    found_value, best_value = (
        level_evidence(counts, base, log)[0] - np.logaddexp(0.0, -log) for log in (found, best.x)
    )
    assert found_value >= best_value - 1e-9
    if LOW < found < HIGH - 1e-12:
        assert abs(level_evidence(counts, base, found)[1] + 1 / (1 + np.exp(found))) < 1e-5


def test_counts_of_nothing_have_some_strength():
    assert 1e-6 <= level_sample_size(np.zeros((2, 3)), np.full(3, 1 / 3)) <= 1e9 * (1 + 1e-12)


def test_columns_and_groups_of_levels_are_searched_each_by_itself(ranges, threads):
    rng = np.random.default_rng(5)
    counts, base = rng.poisson(4.0, (40, 3, 6)) * 1.0, rng.dirichlet(np.ones(6), 40)
    together = _core.level_sample_sizes(counts, base, 6, (1e-6, 1e9))
    for j in range(40):
        assert together[j] == level_sample_size(counts[j], base[j])
    pairs = _core.level_evidence(counts[:1], base[:1], 2, np.array([7.0]))[0]
    parts = [slice(i, i + 2) for i in (0, 2, 4)]
    assert pairs == pytest.approx(
        sum(plain_level_evidence(counts[0][:, part], base[0][part], 7.0) for part in parts)
    )
    for n in (1, 2):
        threads(n)
        ranges(1)
        np.testing.assert_array_equal(
            _core.level_sample_sizes(counts, base, 6, (1e-6, 1e9)), together
        )


# ---- one pseudocount of all levels


@pytest.mark.parametrize("seed", SEEDS)
def test_no_other_pseudocount_has_more_evidence(seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(rng.choice([0.1, 1.0, 9.0]), 1.0, (3, 20))) * 1.0
    prior = counts.sum(axis=1)
    seen, times = np.unique(counts[counts > 0], return_counts=True)
    facts = seen, times * 1.0, prior, np.full(3, 20.0), np.ones(3)
    found = _core.best_pseudocount(*facts, (1e-6, 1e6), 5.0)

    def evidence(size):
        return sum(
            float(
                Dirichlet(np.full(20, size)).log_evidence(np.repeat(np.arange(20), c.astype(int)))
            )
            for c in counts
        )

    for log in np.linspace(np.log(1e-6), np.log(1e6), 40):
        assert evidence(found) >= evidence(np.exp(log)) - 1e-7
    # The same counts, each by itself.
    apart = np.repeat(seen, times), np.ones(times.sum()), *facts[2:]
    assert _core.best_pseudocount(*apart, (1e-6, 1e6), 5.0) == pytest.approx(found, rel=1e-9)


def test_without_counts_the_pseudocount_is_the_other():
    none = np.empty(0)
    assert _core.best_pseudocount(none, none, none, none, none, (1e-6, 1e6), 5.0) == 5.0
    # One level has all rows whatever the pseudocount.
    one = np.array([4.0])
    ones = np.ones(1)
    assert _core.best_pseudocount(one, ones, one, ones, ones, (1e-6, 1e6), 5.0) == 5.0


# ---- events


def drawn_events(seed):
    rng = np.random.default_rng(seed)
    seen, events = rng.integers(1, 50, (3, 2)) * 1.0, rng.integers(0, 90, (3, 2)) * 1.0
    return seen, events, rng.uniform(0.1, 3.0, 2), float(np.exp(rng.uniform(-2, 5)))


def gamma_evidence(seen, events, centre, rows):
    prior = Gamma(shape=np.tile(rows * centre, (3, 1)), rate=np.full((3, 2), rows))
    return np.sum(prior.log_evidence(Events(seen, events, np.zeros((3, 2)))), axis=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_evidence_of_events_is_that_of_gammas(seed):
    *facts, rows = drawn_events(seed)
    values, slopes = _core.event_evidence(*facts, rows)
    np.testing.assert_allclose(values, gamma_evidence(*facts, rows), rtol=1e-10)
    ends = [_core.event_evidence(*facts, rows * np.exp(h))[0] for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(slopes, (ends[0] - ends[1]) / 2e-6, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_other_sample_size_of_events_has_more_evidence(seed):
    seen, events, *_ = drawn_events(seed)
    centre = (events.sum(axis=0) + 0.5) / seen.sum(axis=0)
    found = _core.event_sample_sizes(seen, events, centre, (1e-6, 1e6), 1.0)
    best = [gamma_evidence(seen, events, centre, size)[j] for j, size in enumerate(found)]
    for log in np.linspace(np.log(1e-6), np.log(1e6), 100):
        assert np.all(gamma_evidence(seen, events, centre, np.exp(log)) <= np.array(best) + 1e-9)


def test_columns_never_seen_have_the_other_sample_size():
    zeros = np.zeros((2, 3))
    found = _core.event_sample_sizes(zeros, zeros, np.ones(3), (1e-6, 1e6), 7.0)
    np.testing.assert_array_equal(found, 7.0)


# ---- normal cells


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


def moments_of(rows, means, squares):
    origin = np.zeros_like(rows)
    moments = rows, origin, rows * means, squares + rows * means**2
    return Moments(*(part[:, None] for part in moments))


def normal_facts(seed, tied):
    rows, squares, away, variance = drawn_classes(seed)[2:]
    cells = rows[None], squares[None], away[None]
    return *cells, np.array([variance]), len(rows) if tied else 1


def normal_evidence(facts, logs):
    values, slopes = _core.normal_evidence(*facts, *np.exp(logs))
    return values[0], *slopes[0]


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_evidence_of_normals_is_that_of_their_prior(seed, tied):
    means, location, rows, squares, _, variance = drawn_classes(seed)
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
    facts, logs = normal_facts(seed, tied), np.log([k, a])
    value, *slopes = normal_evidence(facts, logs)
    assert value == pytest.approx(evidence, rel=1e-9, abs=1e-7)
    for slope, step in zip(slopes, 1e-5 * np.eye(2), strict=True):
        ends = [normal_evidence(facts, logs + s * step)[0] for s in (1, -1)]
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-4, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_other_strengths_of_normals_have_more_evidence(seed, tied):
    facts = normal_facts(seed, tied)
    found = _core.normal_sample_sizes(*facts, *(tuple(np.exp(ends)) for ends in BOX))[0]

    def loss(logs):
        return -normal_evidence(facts, np.clip(logs, *BOX))[0]

    starts = [np.array([x, y]) for x in (-5.0, 0.0, 5.0, 15.0) for y in (0.0, 3.0, 10.0)]
    bounds = list(zip(*BOX, strict=True))
    best = min(
        minimize(loss, start, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14}).fun
        for start in starts
    )
    assert normal_evidence(facts, np.log(found))[0] >= -best - 1e-7


def test_normal_columns_are_searched_each_by_itself_on_any_threads(ranges, threads):
    rng = np.random.default_rng(2)
    rows = rng.integers(1, 50, (30, 4)) * 1.0
    facts = rows, rng.chisquare(rows), rng.chisquare(1, (30, 4)), np.ones(30), 1
    ends = (1e-4, 0.5), (1e9, 1e9)
    together = _core.normal_sample_sizes(*facts, *ends)
    for j in range(30):
        alone = _core.normal_sample_sizes(*(part[[j]] for part in facts[:4]), 1, *ends)
        np.testing.assert_array_equal(alone[0], together[j])
    threads(2)
    ranges(1)
    np.testing.assert_array_equal(_core.normal_sample_sizes(*facts, *ends), together)


# ---- whole rows


def wishart_facts(scatters, means, rows, tied):
    """Eigenvalues and ways to the means along the eigenvectors, as the core takes them."""
    values, vectors = np.linalg.eigh([sum(scatters)] if tied else scatters)
    turned = means @ vectors[0] if tied else np.einsum("cj,cjk->ck", means, vectors)
    return np.maximum(values, 0.0), turned, rows, tied


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
    found = _core.covariance_evidence(*wishart_facts(scatters, means, rows, tied), k, f / 2)
    assert found == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("tied", [False, True])
def test_the_evidence_of_covariances_is_the_priors_own(tied):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 40)
    X = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 4)) + rng.normal(size=(3, 4))[y]
    parts = [X[y == c] for c in range(3)]
    moments = Moments(
        [len(p) for p in parts],
        np.zeros((3, 4)),
        [p.sum(axis=0) for p in parts],
        [p.T @ p for p in parts],
    )
    variance = np.array([1.0, 2.0, 0.5, 3.0])
    spread = np.sqrt(variance)
    scatter, away = moments.scatter() / np.outer(spread, spread), moments.mean() - X.mean(axis=0)
    facts = wishart_facts(list(scatter), away / spread, moments.weight, tied)
    for k, half in ((0.1, 0.5), (3.0, 20.0)):
        prior = NormalInverseWishart(
            np.tile(X.mean(axis=0), (3, 1)),
            np.full(3, k),
            2 * half + 3,
            2 * half * np.diag(variance),
            shared=(0,) if tied else (),
        )
        slow = prior.log_evidence(moments).sum()
        unit = len(X) * np.log(variance * np.pi).sum() / 2
        found = _core.covariance_evidence(*facts, k, half)
        assert found - unit == pytest.approx(slow, rel=1e-10)


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
        sizes = np.exp(np.clip(logs, low, high))
        return -_core.covariance_evidence(values, away, rows, tied, *sizes)

    ends = (tuple(np.exp(end)) for end in (low, high))
    found = np.log(_core.covariance_sample_sizes(values, away, rows, tied, *ends))
    assert (low - 1e-12 <= found).all()
    assert (found <= high + 1e-12).all()
    starts = np.array(np.meshgrid(*np.linspace(low, high, 9).T)).reshape(2, -1).T
    best = min((minimize(loss, s, method="Nelder-Mead").fun for s in starts[::4]), default=0.0)
    assert loss(np.array(found)) <= best + 1e-4


def test_means_beyond_all_digits_have_no_sample_sizes():
    away = np.random.default_rng(0).normal(size=(7, 2)) * 1e29
    facts = np.ones((1, 2)), away, np.full(7, 20.0), True
    assert np.isnan(_core.covariance_sample_sizes(*facts, (1e-4, 1e-4), (20.0, 1e6))).all()


# ---- coefficients


@pytest.mark.parametrize("seed", SEEDS)
def test_no_other_scale_of_coefficients_has_more_evidence(seed):
    rng = np.random.default_rng(seed)
    n, d, targets = 30, int(rng.integers(1, 6)), int(rng.integers(1, 3))
    X = rng.normal(size=(n, d)) * 10 ** rng.uniform(-1, 1, d)
    Y = X @ rng.normal(size=(d, targets)) * rng.choice([0.1, 1.0]) + rng.normal(size=(n, targets))
    values, vectors = np.linalg.eigh(X.T @ X)
    squares, yy = (vectors.T @ X.T @ Y).T ** 2, (Y**2).sum(axis=0)
    noise, shape = np.full(targets, 0.7), 2.0
    low, high = 1e-4, 1e4
    facts = values, squares, yy, np.zeros(targets), noise, shape + n / 2
    found = _core.best_coefficient_scale(*facts, (low, high))
    products = Products(rows=float(n), xx=X.T @ X, xy=(X.T @ Y).T, yy=yy)

    def evidence(scale):
        prior = Coefficients(np.zeros((targets, d)), np.eye(d) / scale**2, shape, noise)
        return float(prior.log_evidence(products).sum())

    best = evidence(found)
    for log in np.linspace(np.log(low), np.log(high), 150):
        assert evidence(np.exp(log)) <= best + 1e-7


def test_the_scale_of_coefficients_of_known_noise_is_where_their_squares_are_expected():
    """One coefficient with eigenvalue v and projection p: 1 + scale^2 v = p^2 / v."""
    v, p = 3.0, 9.0
    facts = np.array([v]), np.array([[p * p]]), np.array([40.0]), np.zeros(1), np.empty(0), 0.0
    found = _core.best_coefficient_scale(*facts, (1e-3, 1e3))
    assert found == pytest.approx(np.sqrt((p * p / v - 1) / v), rel=1e-12)
    facts = np.array([v]), np.empty((0, 1)), np.empty(0), np.empty(0), np.empty(0), 0.0
    assert np.isnan(_core.best_coefficient_scale(*facts, (1e-3, 1e3)))


# ---- what does not fit


def test_what_does_not_fit_is_refused():
    counts, shares, two = np.ones((2, 3, 4)), np.ones((2, 4)), np.ones((2, 2))
    ones, cells = np.ones(2), np.ones((2, 4))
    wrong = [
        lambda: _core.level_sample_sizes(counts, shares[:1], 4, (1e-6, 1e9)),
        lambda: _core.level_sample_sizes(counts, shares, 3, (1e-6, 1e9)),
        lambda: _core.level_sample_sizes(counts, shares, 0, (1e-6, 1e9)),
        lambda: _core.level_sample_sizes(counts, -shares, 4, (1e-6, 1e9)),
        lambda: _core.level_sample_sizes(counts, shares, 4, (0.0, 1e9)),
        lambda: _core.level_sample_sizes(counts, shares, 4, (2.0, 1.0)),
        lambda: _core.level_sample_sizes(counts, shares, 4, (2.0, np.inf)),
        lambda: _core.level_evidence(counts, shares, 4, np.zeros(2)),
        lambda: _core.level_evidence(counts, shares, 4, np.ones(3)),
        lambda: _core.best_pseudocount(ones, ones, ones, -ones, ones, (1e-6, 1e6), 1.0),
        lambda: _core.best_pseudocount(ones, ones[:1], ones, ones, ones, (1e-6, 1e6), 1.0),
        lambda: _core.event_sample_sizes(two, two, np.ones(3), (1e-6, 1e6), 1.0),
        lambda: _core.event_sample_sizes(two, two, np.zeros(2), (1e-6, 1e6), 1.0),
        lambda: _core.event_evidence(two, two, ones, 0.0),
        lambda: _core.normal_sample_sizes(cells, cells, cells, ones, 3, (1, 1), (2, 2)),
        lambda: _core.normal_sample_sizes(cells, cells, two, ones, 1, (1, 1), (2, 2)),
        lambda: _core.normal_sample_sizes(cells, cells, cells, ones[:1], 1, (1, 1), (2, 2)),
        lambda: _core.normal_evidence(cells, cells, cells, ones, 1, -1.0, 1.0),
        lambda: _core.covariance_sample_sizes(two, two, ones, True, (1, 1), (2, 2)),
        lambda: _core.covariance_sample_sizes(two, two, np.ones(3), False, (1, 1), (2, 2)),
        lambda: _core.covariance_evidence(two, two, ones, False, 0.0, 1.0),
        lambda: _core.best_coefficient_scale(ones, cells, ones, ones, ones, 1.0, (1.0, 2.0)),
        lambda: _core.best_coefficient_scale(ones, two, ones, ones, np.ones(3), 1.0, (1.0, 2.0)),
        lambda: _core.maximize(lambda at: (0.0,), [], [], 3),
        lambda: _core.maximize(lambda at: (0.0, 0.0), [1.0], [0.0], 3),
        lambda: _core.gamma_steps(-1.0, 1.0),
    ]
    for call in wrong:
        with pytest.raises(ValueError, match=r"\w"):
            call()
