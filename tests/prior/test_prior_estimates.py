"""Three estimates, the Bayes factor and the bet, each against an integral, a search or a game."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

import reference
from suffice.errors import InputError, PriorError, ShapeError
from suffice.prior import (
    Bernoulli,
    Beta,
    Dirichlet,
    Gamma,
    MeanCovariance,
    MeanVariance,
    NormalInverseGamma,
    NormalInverseWishart,
    PointMasses,
    Prior,
)
from suffice.prior.prior import Estimates
from suffice.tally import Counts, Events, Moments

STANDARD_ERRORS = 5.0

# ---- maximum likelihood


@pytest.mark.parametrize(("heads", "tails"), [(7, 3), (1, 8), (0, 4), (4, 0)])
def test_mle_of_a_coin_is_what_a_search_finds(heads, tails):
    def loss(theta):
        return -stats.binom.logpmf(heads, heads + tails, theta)

    found = optimize.minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-9})
    tally = Counts.coin(heads=heads, tails=tails)
    assert Beta(3.0, 9.0).mle(tally) == pytest.approx(found.x, abs=1e-5)


def test_mle_of_a_die_beats_every_other_die():
    events = [0, 2, 2, 1, 2, 2]
    best = Dirichlet([5.0, 1.0, 0.1]).mle(events)
    others = np.random.default_rng(0).dirichlet(np.ones(3), 5000)
    near = best + 1e-3 * np.random.default_rng(1).normal(size=(500, 3))
    others = np.concatenate([others, near / near.sum(axis=1, keepdims=True)])
    mine = stats.multinomial.logpmf([1, 1, 4], 6, best)
    assert np.all(stats.multinomial.logpmf([1, 1, 4], 6, others) <= mine)


def test_mle_of_a_rate_is_what_a_search_finds():
    numbers = [3, 0, 4, 4]

    def loss(rate):
        return -stats.poisson.logpmf(numbers, rate).sum()

    found = optimize.minimize_scalar(loss, bounds=(0, 20), method="bounded")
    assert Gamma(9.0, 2.0).mle(numbers) == pytest.approx(found.x, abs=1e-4)


def test_mle_of_numbers_and_rows_are_those_of_scipy():
    rows = np.random.default_rng(2).normal([1.0, 5.0], [1.0, 3.0], (9, 2))
    for j in range(2):
        mean, deviation = stats.norm.fit(rows[:, j])
        found = NormalInverseGamma(0.0, 1.0, 1.0, 1.0).mle(rows[:, j])
        assert isinstance(found, MeanVariance)
        assert found.mean.item() == pytest.approx(mean, rel=1e-12)
        assert found.variance.item() == pytest.approx(deviation**2, rel=1e-12)
    mean, covariance = stats.multivariate_normal.fit(rows)
    found = NormalInverseWishart([0.0, 0.0], 1.0, 3.0, np.eye(2)).mle(rows)
    assert isinstance(found, MeanCovariance)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-12)


def test_mle_of_a_shared_variance_is_that_of_all_rows_about_their_means():
    rows = [np.random.default_rng(c).normal(c, 2.0, (4 + c, 2)) for c in range(3)]
    tally = reference.stacked([reference.moments(table) for table in rows])
    found = NormalInverseGamma(0.0, 1.0, 1.0, 1.0, shared=(0,)).mle(tally)
    centred = np.concatenate([table - table.mean(axis=0) for table in rows])
    np.testing.assert_allclose(found.variance, np.mean(centred**2, axis=0)[None], rtol=1e-12)
    assert found.mean.shape == (3, 2)
    full = reference.stacked([reference.full_moments(table) for table in rows])
    wide = NormalInverseWishart([0.0, 0.0], 1.0, 3.0, np.eye(2), shared=(0,)).mle(full)
    np.testing.assert_allclose(wide.covariance, np.cov(centred.T, bias=True)[None], rtol=1e-9)


def test_mle_among_points_is_the_point_of_highest_likelihood_whatever_its_weight():
    makers = PointMasses([0.1, 0.4, 0.5, 0.6], [0.97, 0.01, 0.01, 0.01])
    for heads in range(11):
        best = makers.points[np.argmax(stats.binom.pmf(heads, 10, makers.points))]
        assert makers.mle(Counts.coin(heads=heads, tails=10 - heads)) == best


@pytest.mark.parametrize(
    ("one", "other", "data"),
    [
        (Beta(1.0, 1.0), Beta(6.0, 3.0), [1, 0, 1]),
        (Dirichlet([1.0, 1.0, 1.0]), Dirichlet([0.8, 2.0, 3.5]), [0, 2, 2, 1]),
        (Gamma(1.0, 0.5), Gamma(5.0, 1.5), [3, 0, 4]),
        (NormalInverseGamma(0, 1, 2, 1), NormalInverseGamma(9, 2, 1, 5), [1.0, -0.3, 2.2]),
        (
            NormalInverseWishart([0, 0], 1, 4, np.eye(2)),
            NormalInverseWishart([1, 5], 3, 9, [[2, 1], [1, 2]]),
            [[1.0, 0.0], [-0.4, 0.8], [2.0, 2.0]],
        ),
    ],
)
def test_mle_forgets_the_prior_and_is_what_the_same_data_a_billion_times_teach(one, other, data):
    found = arrays(one.mle(data))
    often = one.posterior(one.as_tally(data).scale(1e9))
    for mine, theirs, limit in zip(
        found, arrays(other.mle(data)), arrays(often.mean()), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_allclose(mine, limit, rtol=1e-6, atol=1e-8)


def arrays(value):
    return value if isinstance(value, tuple) else (value,)


def test_without_data_nothing_is_most_likely():
    empty = [
        Beta(1, 1),
        Dirichlet([1.0, 1.0]),
        Gamma(1, 1),
        PointMasses([0.5], [1]),
        NormalInverseGamma(0, 1, 1, 1),
        NormalInverseWishart([0.0, 0.0], 1, 3, np.eye(2)),
    ]
    for prior in empty:
        with pytest.raises(InputError, match="Nothing was seen, so nothing is most likely"):
            prior.mle([])
    with pytest.raises(InputError, match="Nothing was seen"):
        Beta(1, 1).mle(Counts([[1, 2], [0, 0]]))


@pytest.mark.parametrize(
    ("prior", "data", "text"),
    [
        (NormalInverseGamma(0, 1, 1, 1), [0.1, 0.1, 0.1], "does not vary.*or use the mode"),
        (NormalInverseGamma(0, 1, 1, 1), [3.0], "does not vary"),
        (NormalInverseWishart([0, 0], 1, 3, np.eye(2)), [[0, 0], [1, 3]], "all 2 directions"),
        (
            NormalInverseWishart([0, 0], 1, 3, np.eye(2)),
            [[0.1, 5], [0.2, 5], [0.7, 5]],
            "all 2 directions",
        ),
        (
            NormalInverseWishart([0, 0], 1, 3, np.eye(2)),
            [[0.1, 0.3], [0.2, 0.6], [0.7, 2.1], [1.3, 3.9]],
            "leave out features that repeat",
        ),
    ],
)
def test_a_likelihood_without_a_maximum_says_so(prior, data, text):
    with pytest.raises(InputError, match=text):
        prior.mle(data)


def test_features_of_very_different_size_have_an_mle():
    rows = np.random.default_rng(3).normal(size=(20, 2)) * [1e9, 1e-9]
    found = NormalInverseWishart([0, 0], 1, 3, np.eye(2)).mle(rows)
    np.testing.assert_allclose(found.covariance, np.cov(rows.T, bias=True), rtol=1e-9)


# ---- three estimates side by side


def test_laplace_rule_is_the_mean_of_one_prior_and_the_map_of_another():
    events = [2, 1, 2, 2, 0, 2]
    rule = [(events.count(k) + 1) / (len(events) + 4) for k in range(4)]
    np.testing.assert_allclose(Dirichlet.symmetric(1.0, 4).estimates(events).mean, rule)
    np.testing.assert_allclose(Dirichlet.symmetric(2.0, 4).estimates(events).map, rule)
    assert not np.allclose(Dirichlet.symmetric(1.0, 4).estimates(events).map, rule)


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(2, 40), st.integers(2, 40))
@settings(max_examples=40)
def test_the_estimates_of_a_coin_are_those_read_off_a_grid(flips, a, b):
    found = Beta(a / 2 + 0.5, b / 2 + 0.5).estimates(flips)
    theta = np.linspace(0, 1, 20_001)
    likelihood = stats.binom.pmf(sum(flips), len(flips), theta)
    posterior = likelihood * stats.beta.pdf(theta, a / 2 + 0.5, b / 2 + 0.5)
    assert found.mle == pytest.approx(theta[np.argmax(likelihood)], abs=5e-5)
    assert found.map == pytest.approx(theta[np.argmax(posterior)], abs=5e-5)
    assert found.mean == pytest.approx((theta * posterior).sum() / posterior.sum(), abs=1e-4)
    assert not found.missing


def test_map_under_a_flat_prior_is_the_mle():
    found = Beta(1, 1).estimates([1, 1, 0])
    assert found.map == pytest.approx(found.mle)


def test_an_estimate_that_is_not_there_is_none_and_tells_why():
    found = Beta(0.5, 2.0).estimates([])
    assert found.mle is None
    assert found.map is None
    assert found.mean == pytest.approx(0.2)
    assert "Nothing was seen" in found.missing["mle"]
    assert "pseudocount 0.5 has no mode" in found.missing["map"]
    assert "mean" not in found.missing
    text = str(found).splitlines()
    assert text[0].startswith("MLE   none: Nothing was seen")
    assert text[1].startswith("MAP   none: A Beta with pseudocount 0.5")
    assert text[2] == "mean  0.2"
    found = NormalInverseGamma(0.0, 1.0, 0.3, 1.0).estimates([2.0])
    assert found.mle is None
    assert found.mean is None
    assert "no mean variance" in found.missing["mean"]


def test_estimates_are_printed_on_one_line_each():
    rows = [[0.0, 0.0], [2.0, 0.0], [0.0, 3.0]]
    found = NormalInverseWishart([0.0, 0.0], 1.0, 6.0, np.eye(2)).estimates(rows)
    lines = str(found).splitlines()
    assert len(lines) == 3
    assert lines[0] == "MLE   mean [0.6667 1], covariance [[0.8889 -0.6667] [-0.6667 2]]"
    assert str(Dirichlet([1.0, 1.0]).estimates([0, 1, 1])).splitlines()[2] == "mean  [0.4 0.6]"
    one = str(NormalInverseGamma(0.0, 1.0, 2.0, 1.0).estimates([2.0, 4.0]))
    assert one.splitlines()[0] == "MLE   mean 3, variance 1"


def test_estimates_survive_pickling():
    found = Beta(0.5, 2.0).estimates([])
    again = pickle.loads(pickle.dumps(found))
    assert isinstance(again, Estimates)
    assert again.missing == found.missing


def test_impossible_data_have_no_estimates():
    with pytest.raises(PriorError, match="can have produced what was seen"):
        PointMasses([0.0, 1.0], [1, 1]).estimates([0, 1])


class Stranger(Beta):
    """A prior that says nothing of raw data or of maximum likelihood."""

    _tally_of = Prior._tally_of
    mle = Prior.mle


def test_a_prior_need_not_know_raw_data_or_maximum_likelihood():
    stranger = Stranger(2.0, 2.0)
    with pytest.raises(InputError, match="Stranger learns from a tally, not from list"):
        stranger.posterior([1, 0])
    found = stranger.estimates(Counts([1, 2]))
    assert found.mle is None
    assert "no maximum-likelihood estimate" in found.missing["mle"]
    assert found.mean == pytest.approx(4 / 7)


# ---- Bayes factors


FAIR = PointMasses([0.5], [1.0])


@pytest.mark.parametrize(("heads", "tails"), [(5, 5), (9, 1), (30, 70)])
def test_bayes_factor_of_a_fair_coin_is_a_ratio_of_integrals(heads, tails):
    a, b = 2.0, 3.5
    tally = Counts.coin(heads=heads, tails=tails)

    def joint(theta):
        return stats.beta.pdf(theta, a, b) * theta**heads * (1 - theta) ** tails

    area, _ = integrate.quad(joint, 0, 1, epsabs=0, epsrel=1e-11)
    expected = 0.5 ** (heads + tails) / area
    assert FAIR.bayes_factor(Beta(a, b), tally) == pytest.approx(expected, rel=1e-8)
    assert Beta(a, b).bayes_factor(FAIR, tally) == pytest.approx(1 / expected, rel=1e-8)


def test_bayes_factor_is_the_same_for_the_sequence_and_for_its_counts():
    """The binomial coefficient of the counts is in both evidences, and cancels."""
    flips = [1, 1, 0, 1]
    rows = reference.word_counts([[1.0, 3.0]])
    of_sequence = FAIR.log_bayes_factor(Beta(1, 1), flips)
    assert FAIR.log_bayes_factor(Beta(1, 1), rows) == pytest.approx(of_sequence, rel=1e-12)


def test_evidence_of_all_sequences_sums_to_one():
    for prior in (Beta(0.7, 2.0), FAIR, Dirichlet([2.0, 0.7])):
        every = itertools.product([0, 1], repeat=5)
        assert sum(np.exp(prior.log_evidence(flips)) for flips in every) == pytest.approx(1.0)


def test_bayes_factor_of_rates_is_a_ratio_of_integrals():
    numbers = [3, 0, 4]

    def area(a, b):
        def joint(rate):
            return stats.gamma.pdf(rate, a, scale=1 / b) * np.prod(stats.poisson.pmf(numbers, rate))

        return integrate.quad(joint, 0, 60, epsabs=0, epsrel=1e-10)[0]

    expected = area(2.0, 1.0) / area(6.0, 0.5)
    assert Gamma(2.0, 1.0).bayes_factor(Gamma(6.0, 0.5), numbers) == pytest.approx(expected)


def test_bayes_factors_of_numbers_and_rows_are_products_of_predictives():
    rows = np.random.default_rng(4).normal(size=(4, 2))
    narrow = NormalInverseWishart([0.0, 0.0], 1.0, 5.0, np.eye(2))
    wide = NormalInverseWishart([3.0, 0.0], 2.0, 4.0, 4 * np.eye(2))
    total, one, other = 0.0, narrow, wide
    for row in rows:
        total += one.predictive().log_density(row) - other.predictive().log_density(row)
        one, other = one.posterior([row]), other.posterior([row])
    assert narrow.log_bayes_factor(wide, rows) == pytest.approx(total, rel=1e-10)
    factor = NormalInverseGamma(0, 1, 2, 1).bayes_factor(NormalInverseGamma(5, 1, 2, 1), rows)
    assert factor.shape == (2,)


def test_a_beta_and_a_dirichlet_of_two_levels_are_one_prior():
    flips = [1, 1, 0]
    assert Beta(2.0, 3.0).log_bayes_factor(Dirichlet([3.0, 2.0]), flips) == pytest.approx(0.0)


def test_a_factor_beyond_all_floats_keeps_its_logarithm():
    tally = Counts.coin(heads=0, tails=10_000)
    assert Beta(1, 1).bayes_factor(FAIR, tally) == np.inf
    expected = 10_000 * np.log(2) - np.log(10_001)
    assert Beta(1, 1).log_bayes_factor(FAIR, tally) == pytest.approx(expected)


def test_what_one_prior_rules_out_has_factor_zero_and_what_both_do_has_none():
    certain = PointMasses([0.0, 1.0], [1, 1])
    assert certain.bayes_factor(FAIR, [0, 1]) == 0.0
    assert FAIR.bayes_factor(certain, [0, 1]) == np.inf
    with pytest.raises(PriorError, match="Neither prior can have produced what was seen"):
        certain.bayes_factor(PointMasses([1.0], [1.0]), [0, 1])


@pytest.mark.parametrize(
    ("ask", "error", "text"),
    [
        (
            lambda: Beta(1, 1).bayes_factor(Gamma(1, 1), [0, 1]),
            InputError,
            "A Gamma learns from Events, not from Counts",
        ),
        (
            lambda: Gamma(1, 1).bayes_factor(Beta(1, 1), Counts([1, 2])),
            InputError,
            "A Gamma learns from Events, not from Counts",
        ),
        (
            lambda: NormalInverseGamma(0, 1, 1, 1).bayes_factor(Beta(1, 1), [0, 1]),
            InputError,
            "A Beta learns from Counts, not from Moments",
        ),
        (
            lambda: Beta(1, 1).bayes_factor(Dirichlet([1.0, 1.0, 1.0]), [0, 1]),
            ShapeError,
            "over 3 levels",
        ),
        (
            lambda: NormalInverseGamma(0, 1, 1, 1).bayes_factor(
                NormalInverseGamma(0, 1, 1, 1, shared=(0,)), np.zeros((3, 2))
            ),
            InputError,
            r"axes \(\) and \(-1,\), so their evidences are of different entries",
        ),
        (
            lambda: NormalInverseWishart([0.0], 1, 1, [[1.0]]).bayes_factor(
                NormalInverseGamma(0, 1, 1, 1), [[1.0]]
            ),
            ShapeError,
            "tally.diagonal",
        ),
    ],
)
def test_evidences_of_different_data_are_not_compared(ask, error, text):
    with pytest.raises(error, match=text):
        ask()


def test_variances_shared_along_one_axis_however_it_is_named_are_compared():
    rows = Moments.of(np.random.default_rng(5).normal(size=(6, 2, 3)))
    front, back = (NormalInverseGamma(0, 1, 2, 1, shared=(axis,)) for axis in (0, -2))
    np.testing.assert_array_equal(front.log_bayes_factor(back, rows), np.zeros((1, 3)))


# ---- several further trials


def test_the_posterior_predicts_several_further_trials():
    posterior = Beta(1, 1).posterior([1, 1, 0, 1])
    theta = posterior.sample(np.random.default_rng(6), 200_000)
    three = theta**3
    error = STANDARD_ERRORS * three.std() / np.sqrt(three.size)
    assert np.exp(posterior.log_evidence([1, 1, 1])) == pytest.approx(three.mean(), abs=error)
    assert posterior.predictive().mean() == pytest.approx(4 / 6)
    further = Dirichlet([posterior.failures, posterior.successes]).predictive()
    heads = np.arange(6)
    chances = np.exp(further.log_density(np.column_stack([5 - heads, heads])))
    theirs = stats.betabinom.pmf(heads, 5, posterior.successes, posterior.failures)
    np.testing.assert_allclose(chances, theirs, rtol=1e-10)


def test_tallies_of_raw_data_are_the_tallies_of_their_parts():
    assert Events.of([3, 4]) == Events(2, 7, np.log(6) + np.log(24))


# ---- bets


def test_always_heads_wins_more_often_than_matching():
    coin = Bernoulli(0.6)
    assert coin.wins(1.0) == pytest.approx(0.6)
    assert coin.wins(0.6) == pytest.approx(0.52)
    assert coin.best_bet() == 1.0
    assert Bernoulli([0.2, 0.5, 0.9]).best_bet().tolist() == [0.0, 1.0, 1.0]


def test_bets_win_as_often_as_they_are_said_to():
    rng, games = np.random.default_rng(7), 200_000
    for chance, betting in [(0.6, 1.0), (0.6, 0.6), (0.3, 0.8), (0.0, 0.5)]:
        won = (rng.random(games) < chance) == (rng.random(games) < betting)
        error = STANDARD_ERRORS * won.std() / np.sqrt(games)
        assert Bernoulli(chance).wins(betting) == pytest.approx(won.mean(), abs=error)


@given(st.floats(0, 1), st.floats(0, 1))
def test_no_way_to_bet_wins_more_often_than_the_best(chance, betting):
    coin = Bernoulli(chance)
    assert coin.wins(betting) <= coin.wins(coin.best_bet()) + 1e-15


def test_a_bet_is_made_with_a_probability():
    with pytest.raises(PriorError, match=r"probability 1.5. Use values from 0 to 1"):
        Bernoulli(0.5).wins(1.5)
