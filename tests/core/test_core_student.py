"""Student t's fitted by EM to cells, against plain numpy, scipy's distributions and normals."""

import numpy as np
import pytest
from scipy import stats

from suffice import _core
from suffice.prior import NormalInverseGamma

NONE = np.empty(0)
STUDENT = (0.7, 1.5, 2.0, 3.0)  # k, a, variance, degrees


def drawn_cells(seed, classes=3, size=20, empty=0.3):
    """Weights, means and variances (C, 3, B); some cells are empty."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 9, (classes, size)) * rng.choice([1.0, 0.25])
    weight[rng.random(weight.shape) < empty] = 0.0
    centre = rng.standard_t(2, (classes, size)) * 3
    return np.stack([weight, centre, rng.exponential(size=(classes, size)) * 0.1], axis=1)


def plain_fit(cells, k, a, variance, degrees):
    """Many steps of EM for one class, in plain numpy: the NIG (m, k, a, b)."""
    weight, centre, spread = cells[:, cells[0] > 0]
    b = a * variance
    if not weight.size:
        return np.array([0.0, k, a, b])
    shape, u = a + weight.sum() / 2, np.ones(len(weight))
    for _ in range(5000):
        w = weight * u
        total, mean = w.sum(), w @ centre / w.sum()
        m = total * mean / (k + total)
        squares = w @ ((centre - mean) ** 2 + spread) + k * total / (k + total) * mean**2
        scale = b + squares / 2
        distance = ((centre - m) ** 2 + spread) * shape / scale + 1 / (k + total)
        u = (degrees + 1) / (degrees + distance)
    return np.array([m, k + total, shape, scale])


def plain_t(believed, degrees, plugged):
    """The t that a NIG and the rows' degrees foretell."""
    m, k, a, b = believed
    if plugged:
        return stats.t(degrees, m, np.sqrt(b / a))
    return stats.t(1 / (1 / degrees + 1 / (2 * a)), m, np.sqrt(b / a * (1 + 1 / k)))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("degrees", [1.0, 4.0, 32.0])
def test_em_ends_where_plain_numpy_ends(seed, degrees):
    cells = drawn_cells(seed, size=[1, 7, 8, 9, 20, 33, 64, 100][seed])
    found = _core.fit_students(cells, *STUDENT[:3], degrees)
    wanted = [plain_fit(one, *STUDENT[:3], degrees) for one in cells]
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10)


def test_a_class_without_rows_keeps_its_prior():
    k, a, variance, _ = STUDENT
    for cells in (np.zeros((2, 3, 5)), np.zeros((2, 3, 0))):
        found = _core.fit_students(cells, *STUDENT)
        np.testing.assert_array_equal(found, [[0.0, k, a, a * variance]] * 2)
        assert _core.student_bound(cells, *STUDENT) == (0.0, 0.0, 0.0)


def test_with_endless_degrees_rows_are_normal():
    rng = np.random.default_rng(1)
    x = rng.normal(size=12)
    cells = np.stack([np.ones(12), x, np.zeros(12)])[None]
    k, a, variance = 0.7, 1.5, 2.0
    prior = NormalInverseGamma(0.0, k, a, a * variance)
    after = prior.posterior(x)
    wanted = [np.asarray(part).item() for part in (
        after.location, after.pseudo_rows, after.shape, after.scale)]  # fmt: skip
    found = _core.fit_students(cells, k, a, variance, 1e12)[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    bound = _core.student_bound(cells, k, a, variance, 1e9)[0]
    assert bound == pytest.approx(float(prior.log_evidence(x)[0]), rel=1e-6)


def test_a_far_row_hardly_moves_the_rest():
    near = np.array([[1.0] * 8 + [0.0], [*range(8), 1e9], [0.0] * 9])
    far = near.copy()
    far[0, 8] = 1.0
    fits = _core.fit_students(np.stack([near, far]), *STUDENT[:3], 2.0)
    assert abs(fits[0, 0] - fits[1, 0]) < 1.0


@pytest.mark.parametrize("seed", range(6))
def test_gradients_of_the_bound_are_its_differences(seed):
    cells = drawn_cells(seed)
    k, a, variance, degrees = STUDENT
    _, by_k, by_a = _core.student_bound(cells, *STUDENT)
    for slope, step in ((by_k, (1e-5, 0.0)), (by_a, (0.0, 1e-5))):
        up, down = (
            _core.student_bound(
                cells, k * np.exp(s * step[0]), a * np.exp(s * step[1]), variance, degrees
            )[0]
            for s in (1, -1)
        )
        assert slope == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_is_below_the_evidence_and_near_it(seed):
    """Of one class of few rows: the evidence is an integral over location and log scale."""
    rng = np.random.default_rng(seed)
    x = rng.standard_t(3, 6)
    k, a, variance, degrees = STUDENT
    cells = np.stack([np.ones(6), x, np.zeros(6)])[None]
    s = np.exp(np.linspace(-4, 5, 400))[:, None]
    z = np.linspace(-40, 40, 1601)[None]
    log_p = stats.invgamma(a, scale=a * variance).logpdf(s**2) + np.log(2 * s**2)
    log_p = log_p + stats.norm(0, s / np.sqrt(k)).logpdf(z)
    log_p = log_p + sum(stats.t(degrees, z, s).logpdf(one) for one in x)
    evidence = np.log(np.exp(log_p).sum() * (9 / 399) * (80 / 1600))
    bound = _core.student_bound(cells, *STUDENT)[0]
    assert evidence - 1.5 < bound < evidence + 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_no_other_sample_sizes_have_a_higher_bound(seed):
    cells = drawn_cells(seed)
    low, high = (1e-4, 0.5), (1e9, 1e9)
    found = _core.student_sample_sizes(cells, 2.0, 3.0, low, high)
    best = _core.student_bound(cells, *found, 2.0, 3.0)[0]
    for k in np.geomspace(1e-4, 1e9, 14):
        for a in np.geomspace(0.5, 1e9, 14):
            assert _core.student_bound(cells, k, a, 2.0, 3.0)[0] <= best + 1e-8


@pytest.mark.parametrize("plugged", [False, True])
def test_densities_are_scipys(plugged, ranges, threads):
    rng = np.random.default_rng(0)
    cells = drawn_cells(2)
    believed = _core.fit_students(cells, *STUDENT)
    x = np.append(rng.standard_t(2, 50) * 5, [np.nan, 1e6])
    wanted = np.stack([plain_t(one, 3.0, plugged).logpdf(x) for one in believed], axis=1)
    wanted[np.isnan(x)] = 0.0
    found = _core.student_densities(x, believed, 3.0, plugged)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)
    peers = [plain_t(one, 3.0, plugged) for one in believed]
    wanted = [[t.args[1], t.args[2], t.args[0]] for t in peers]
    np.testing.assert_allclose(
        _core.student_predictives(believed, 3.0, plugged), wanted, rtol=1e-13
    )
    threads(2)
    ranges(1)
    np.testing.assert_array_equal(_core.student_densities(x, believed, 3.0, plugged), found)


def test_densities_have_digits_as_far_as_floats_go():
    believed = np.array([[0.0, 1.0, 1.0, 1.0]])
    found = _core.student_densities(np.array([1e200, -1e300]), believed, 3.0, True)[:, 0]
    norm = stats.t(3).logpdf(0.0)
    np.testing.assert_allclose(
        found, [norm - 2 * (2 * np.log(x) - np.log(3)) for x in (1e200, 1e300)], rtol=1e-13
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("plugged", [False, True])
def test_without_a_row_a_class_is_as_if_never_learned(weighted, plugged, ranges, threads):
    rng = np.random.default_rng(7)
    n, size = 40, 5
    x, codes = rng.standard_t(2, n), rng.integers(0, 2, n).astype(np.int32)
    weights = rng.exponential(size=n) if weighted else NONE
    at = np.searchsorted([-1.0, 0.0, 0.5, 2.0], x).astype(np.int32)
    at[3] = -1
    w = weights if weighted else np.ones(n)

    def cells_of(kept):
        cells = np.zeros((2, 3, size))
        for c in range(2):
            for j in range(size):
                some = kept & (codes == c) & (at == j)
                if some.any():
                    mean = np.average(x[some], weights=w[some])
                    spread = np.average((x[some] - mean) ** 2, weights=w[some])
                    cells[c, :, j] = w[some].sum(), mean, spread
        return cells

    everyone = np.ones(n, bool)
    facts = x, x, at, codes, weights, cells_of(everyone), *STUDENT, plugged
    found = _core.student_left_out(*facts)
    for i in range(n):
        kept = everyone.copy()
        kept[i] = False
        believed = _core.fit_students(cells_of(kept), *STUDENT)
        wanted = _core.student_densities(x[[i]], believed, 3.0, plugged)[0, codes[i]]
        assert found[i] == pytest.approx(wanted if at[i] >= 0 else 0.0, rel=1e-8, abs=1e-8)
    threads(2)
    ranges(1)
    np.testing.assert_array_equal(_core.student_left_out(*facts), found)


def test_all_instruction_sets_give_the_same_bits(instruction_sets):
    cells = drawn_cells(3, size=77)
    found = []
    for use in instruction_sets:
        use()
        found.append(_core.fit_students(cells, *STUDENT))
    for one in found:
        np.testing.assert_array_equal(one, found[0])


def test_what_does_not_fit_is_refused():
    cells, believed, x = np.ones((2, 3, 4)), np.ones((2, 4)), np.ones(3)
    codes = np.zeros(3, np.int32)
    rest = cells, *STUDENT, True
    wrong = [
        lambda: _core.fit_students(np.ones((2, 2, 4)), *STUDENT),
        lambda: _core.fit_students(cells, 0.0, *STUDENT[1:]),
        lambda: _core.fit_students(cells, 1.0, 1.0, -1.0, 3.0),
        lambda: _core.student_bound(cells, 1.0, 1.0, 1.0, 0.0),
        lambda: _core.student_sample_sizes(cells, 1.0, 3.0, (2.0, 2.0), (1.0, 1.0)),
        lambda: _core.student_predictives(np.ones((2, 3)), 3.0, True),
        lambda: _core.student_densities(x, -believed, 3.0, True),
        lambda: _core.student_left_out(x, x, codes + 4, codes, NONE, *rest),
        lambda: _core.student_left_out(x, x, codes, codes + 2, NONE, *rest),
        lambda: _core.student_left_out(x, x[:2], codes, codes, NONE, *rest),
        lambda: _core.student_left_out(x, x, codes, codes, np.ones(2), *rest),
    ]
    for call in wrong:
        with pytest.raises(ValueError, match=r"\w"):
            call()
