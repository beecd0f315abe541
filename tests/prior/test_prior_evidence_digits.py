"""Evidence keeps its digits under priors worth a billion rows and more."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import log, prod

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from suffice.kernels.numeric.gammas import log_gamma_step as compiled
from suffice.prior import Beta, Dirichlet, Gamma, NormalInverseGamma, NormalInverseWishart, Polya
from suffice.prior.special import log_gamma_step
from suffice.tally import Moments

ROWS = [0.25, 1.5, -0.75, 2.0, 0.5, 1.0]
LOCATION, PSEUDO_ROWS, VARIANCE = 0.5, 3.0, 1.25
SIZES = [10.0, 1e3, 1e6, 1e9, 1e12]
DIGITS = 1e-10
# A prior of so many pseudo-rows is as good as certain, to more digits than are compared.
CERTAIN = 1e14


def log_student_rows(shape):
    """Return the log density of the rows as one draw of a multivariate t, in fifty digits."""
    n, a = len(ROWS), Fraction(shape)
    away = [Fraction(x) - Fraction(LOCATION) for x in ROWS]
    # The rows' matrix is (b / a) (I + 11'/k), of which the inverse is (a / b) (I - 11'/(k + n)).
    k, b = Fraction(PSEUDO_ROWS), a * Fraction(VARIANCE)
    squares = sum(x * x for x in away) - sum(away) ** 2 / (k + n)
    distance = squares * a / b
    with localcontext() as context:
        context.prec = 50

        def ln(x):
            x = Fraction(x)
            return Decimal(x.numerator).ln() - Decimal(x.denominator).ln()

        gammas = sum((ln(a + i) for i in range(n // 2)), Decimal(0))
        log_two_pi_a = ln(2 * a) + PI.ln()
        log_matrix = n * ln(b / a) + ln((k + n) / k)
        tail = Decimal((a + Fraction(n, 2)).numerator) / (a + Fraction(n, 2)).denominator
        density = gammas - n * log_two_pi_a / 2 - log_matrix / 2 - tail * ln(1 + distance / (2 * a))
        return float(density)


PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


@pytest.mark.parametrize("shape", SIZES)
def test_evidence_of_a_feature_is_the_density_of_its_rows_as_one_draw(shape):
    prior = NormalInverseGamma(LOCATION, PSEUDO_ROWS, shape, shape * VARIANCE)
    assert float(prior.log_evidence(ROWS)[0]) == pytest.approx(log_student_rows(shape), rel=DIGITS)


def test_fifty_digits_say_what_scipy_says_where_it_has_them():
    matrix = VARIANCE * (np.eye(6) + 1 / PSEUDO_ROWS)
    for shape in SIZES[:2]:
        peer = stats.multivariate_t([LOCATION] * 6, matrix, df=2 * shape)
        assert log_student_rows(shape) == pytest.approx(float(peer.logpdf(ROWS)), rel=DIGITS)


def test_evidence_of_a_certain_variance_is_that_of_a_known_one():
    prior = NormalInverseGamma(LOCATION, PSEUDO_ROWS, CERTAIN, CERTAIN * VARIANCE)
    known = stats.multivariate_normal([LOCATION] * 6, VARIANCE * (np.eye(6) + 1 / PSEUDO_ROWS))
    assert float(prior.log_evidence(ROWS)[0]) == pytest.approx(known.logpdf(ROWS), rel=DIGITS)


def test_evidence_of_a_certain_shared_variance_is_that_of_a_known_one():
    parts = [Moments.of(ROWS[:2]), Moments.of(ROWS[2:])]
    tally = Moments(*(np.stack([getattr(p, name) for p in parts]) for name in vars(parts[0])))
    prior = NormalInverseGamma(
        np.full((2, 1), LOCATION), PSEUDO_ROWS, [[CERTAIN]], [[CERTAIN * VARIANCE]], shared=(0,)
    )
    known = sum(
        stats.multivariate_normal(
            [LOCATION] * len(rows), VARIANCE * (np.eye(len(rows)) + 1 / PSEUDO_ROWS)
        ).logpdf(rows)
        for rows in (ROWS[:2], ROWS[2:])
    )
    assert prior.log_evidence(tally).item() == pytest.approx(known, rel=DIGITS)


PLANE = np.array([[0.5, 1.0], [1.5, -0.5], [0.0, 2.5]])
COVARIANCE = np.array([[1.0, 0.4], [0.4, 2.0]])


def test_evidence_of_a_certain_covariance_is_that_of_a_known_one():
    prior = NormalInverseWishart([0.5, 1.0], PSEUDO_ROWS, CERTAIN, CERTAIN * COVARIANCE)
    together = np.kron(np.eye(3) + 1 / PSEUDO_ROWS, COVARIANCE)
    known = stats.multivariate_normal(np.tile([0.5, 1.0], 3), together).logpdf(PLANE.ravel())
    assert float(prior.log_evidence(PLANE)) == pytest.approx(known, rel=DIGITS)


@pytest.mark.parametrize("shape", [1.0, *SIZES])
def test_evidence_of_one_column_is_alike_as_a_feature_and_as_rows(shape):
    feature = NormalInverseGamma(LOCATION, PSEUDO_ROWS, shape, shape * VARIANCE)
    rows = NormalInverseWishart([LOCATION], PSEUDO_ROWS, 2 * shape, [[2 * shape * VARIANCE]])
    found = float(rows.log_evidence(np.array(ROWS)[:, None]))
    assert found == pytest.approx(float(feature.log_evidence(ROWS)[0]), rel=DIGITS)


@pytest.mark.parametrize("degrees", [3.0, 40.0, 1e3])
def test_evidence_of_rows_is_the_product_of_scipys_predictives(degrees):
    prior = NormalInverseWishart([0.5, 1.0], PSEUDO_ROWS, degrees, degrees * COVARIANCE)
    chain, posterior = 0.0, prior
    for row in PLANE:
        free = float(posterior.degrees) - 1
        scale = posterior.scale_matrix * (1 + 1 / float(posterior.pseudo_rows)) / free
        chain += stats.multivariate_t(posterior.location, scale, df=free).logpdf(row)
        posterior = posterior.posterior(row[None])
    assert float(prior.log_evidence(PLANE)) == pytest.approx(chain, rel=DIGITS)


def log_urn(contents, draws):
    """Return the log chance of so many draws of each colour, in one order, each put back twice."""
    contents = [Fraction(part) for part in contents]
    ways = prod(
        contents[colour] + i for colour, count in enumerate(draws) for i in range(count)
    ) / prod(sum(contents) + i for i in range(sum(draws)))
    return log(ways)


@pytest.mark.parametrize("size", SIZES)
def test_evidence_of_counts_is_the_chance_of_draws_from_an_urn(size):
    contents, draws = [0.2 * size, 0.3 * size, 0.5 * size], [4, 0, 7]
    expected = log_urn(contents, draws)
    events = np.repeat(np.arange(3), draws)
    got = float(Dirichlet(contents).log_evidence(events))
    assert got == pytest.approx(expected, rel=DIGITS)
    orders = log(prod(range(5, 12)) // prod(range(1, 8)))
    assert float(Polya(contents).log_density(draws)) == pytest.approx(expected + orders, rel=DIGITS)
    coin = float(Beta(*contents[:2]).log_evidence([1] * 4 + [0] * 7))
    assert coin == pytest.approx(log_urn(contents[:2], [4, 7]), rel=DIGITS)


@pytest.mark.parametrize("rows", SIZES)
def test_evidence_of_events_is_the_product_of_negative_binomials(rows):
    """With whole pseudo-events the chances are fractions: of a success, and of each failure."""
    events, shape, rate = [3, 0, 5], Fraction(2 * rows), Fraction(rows)
    chance = 0.0
    for count in events:
        ways = prod(shape + i for i in range(count)) / prod(range(1, count + 1))
        # (rate / (rate + 1))^shape, with all digits
        chance += log(ways) - float(shape) * np.log1p(1 / float(rate)) - count * log(rate + 1)
        shape, rate = shape + count, rate + 1
    assert float(Gamma(2 * rows, rows).log_evidence(events)) == pytest.approx(chance, rel=DIGITS)


# ---- ratios of gamma functions


SIZES = [0.3, 1.0, 7.5, 19.999, 20.0, 21.3, 1e3, 5e5, 1e9]


@pytest.mark.parametrize("z", SIZES)
def test_whole_steps_are_products(z):
    for step in (0, 1, 2, 5, 30):
        product = np.log(z + np.arange(step)).sum()
        assert float(log_gamma_step(z, step)) == pytest.approx(product, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("z", SIZES)
def test_two_half_steps_are_a_whole_one(z):
    both = float(log_gamma_step(z, 0.5)) + float(log_gamma_step(z + 0.5, 0.5))
    assert both == pytest.approx(np.log(z), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("z", SIZES)
def test_the_compiled_version_says_the_same(z):
    for step in (0.5, 1.5, 32.0):
        expected = float(log_gamma_step(z, step))
        assert compiled(z, step) == pytest.approx(expected, rel=1e-14, abs=1e-14)


def test_small_numbers_agree_with_scipy_and_arrays_broadcast():
    z, step = np.array([[0.5], [3.0]]), np.array([0.5, 2.0])
    np.testing.assert_allclose(log_gamma_step(z, step), gammaln(z + step) - gammaln(z))


def test_the_difference_of_scipys_has_lost_digits_where_this_has_not():
    z = np.linspace(4e5, 6e5, 101)
    assert np.abs(gammaln(z + 1) - gammaln(z) - np.log(z)).max() > 1e-10
    assert np.abs(log_gamma_step(z, 1.0) - np.log(z)).max() < 1e-13
