"""Raw data say to a prior what their tally says, and bad data are refused by value and place."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from prior_cases import assert_same
from suffice.errors import InputError, ShapeError
from suffice.prior import (
    Beta,
    Dirichlet,
    Gamma,
    NormalInverseGamma,
    NormalInverseWishart,
    PointMasses,
)
from suffice.tally import Counts, Events, Moments

COIN = Beta(1.5, 2.0)
MAKERS = PointMasses([0.4, 0.5, 0.6], [0.1, 0.8, 0.1])
DIE = Dirichlet([0.5, 1.0, 2.0])
RATE = Gamma(1.2, 0.5)
NUMBER = NormalInverseGamma(0.3, 0.7, 1.5, 2.0)
ROW = NormalInverseWishart([0.0, 1.0], 1.0, 4.0, np.eye(2))

# ---- what raw data say


def one_column(values):
    return np.reshape(np.asarray(values, float), (-1, 1))


CASES = {
    "coin": (
        COIN,
        [1, 0, 1, 1],
        lambda x: reference.counts(one_column(x), None, levels=2).take(0),
    ),
    "makers": (
        MAKERS,
        [True, False, True],
        lambda x: reference.counts(one_column(x), None, levels=2).take(0),
    ),
    "die": (
        DIE,
        [2, 0, 0, 2],
        lambda x: reference.counts(one_column(x), None, levels=3).take(0),
    ),
    "rate": (RATE, [3, 0, 4], lambda x: reference.events(one_column(x), None).take(0)),
    "number": (NUMBER, [1.0, -0.3, 2.2], lambda x: reference.moments(one_column(x))),
    "row": (ROW, [[1.0, 0.0], [-0.4, 0.8], [2.0, 2.0]], reference.full_moments),
}
for_cases = pytest.mark.parametrize(("prior", "data", "tally"), CASES.values(), ids=CASES.keys())


@for_cases
@pytest.mark.parametrize("container", [list, tuple, np.array])
def test_raw_data_teach_what_their_tally_teaches(prior, data, tally, container):
    expected = tally(data)
    assert_same(prior.posterior(container(data)), prior.posterior(expected))
    np.testing.assert_allclose(
        prior.log_evidence(container(data)), prior.log_evidence(expected), rtol=1e-12
    )


@for_cases
def test_a_tally_passes_through(prior, data, tally):
    counted = tally(data)
    assert prior.as_tally(counted) is counted


@for_cases
def test_no_data_teach_nothing(prior, data, tally):
    for nothing in ([], np.array([])):
        posterior = prior.posterior(nothing)
        assert np.all(prior.log_evidence(nothing) == 0)
        assert_same(posterior.posterior(data), prior.posterior(data))


@for_cases
def test_evidence_of_raw_data_is_the_product_of_one_step_predictives(prior, data, tally):
    posterior, total = prior, 0.0
    for x in data:
        event = np.eye(3)[x] if prior is DIE else x
        total += posterior.predictive().log_density(event).sum()
        posterior = posterior.posterior([x])
    assert total == pytest.approx(prior.log_evidence(data).sum(), rel=1e-10)


def test_numbers_come_with_the_axes_of_their_prior():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(5, 2, 3))
    prior = NormalInverseGamma(np.zeros((2, 3)), 1.0, 2.0, 1.0)
    together = prior.posterior(rows)
    assert together.location.shape == (2, 3)
    for at in np.ndindex(2, 3):
        alone = NormalInverseGamma(0.0, 1.0, 2.0, 1.0).posterior(rows[(slice(None), *at)])
        assert together.location[at] == pytest.approx(alone.location.item(), rel=1e-12)
        assert together.scale[at] == pytest.approx(alone.scale.item(), rel=1e-12)


def test_several_priors_meet_one_sequence():
    several = Beta([1.0, 2.0], 1.0).posterior([1, 1, 0])
    assert several.successes.tolist() == [3.0, 4.0]


# ---- constructors of tallies


@given(st.lists(st.integers(0, 4), max_size=30))
@settings(max_examples=50)
def test_levels_are_counted_as_a_loop_counts_them(events):
    counted = Counts.of(events, levels=5)
    assert counted.counts.tolist() == [events.count(level) for level in range(5)]
    assert counted.log_orderings == 0


def test_heads_and_tails_are_told_by_name():
    assert Counts.coin(heads=7, tails=3) == Counts([3, 7])
    assert Counts.coin(heads=[7, 1], tails=3) == Counts([[3, 7], [3, 1]])
    assert COIN.posterior(Counts.coin(heads=7, tails=3)).successes == 8.5
    with pytest.raises(InputError, match=r"is -1\. Counts are 0 or more"):
        Counts.coin(heads=-1, tails=3)
    with pytest.raises(TypeError, match="positional"):
        Counts.coin(7, 3)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=20), st.booleans())
@settings(max_examples=50)
def test_moments_of_two_parts_add_up_to_those_of_all(numbers, full):
    rows = np.column_stack([numbers, np.arange(len(numbers)) ** 2.0])
    whole = Moments.of(rows, full=full)
    assert whole.allclose(Moments.of(rows[:1], full=full) + Moments.of(rows[1:], full=full))
    assert whole.full == full


@pytest.mark.parametrize("full", [False, True])
def test_numbers_far_from_zero_keep_their_digits(full):
    steps = np.array([[0.0, 3.0], [1.0, 0.0], [2.0, 0.0], [7.0, 5.0], [1.0, 1.0]])
    # About an integer near them, sums of small integers are exact.
    tally = Moments.of(steps + 1e8, full=full)
    exact = np.cov(steps.T, bias=True)
    expected = exact if full else np.diag(exact)
    np.testing.assert_allclose(tally.variance(), expected, rtol=1e-14)
    np.testing.assert_allclose(tally.mean() - 1e8, steps.mean(axis=0), atol=2e-8)


def test_a_wild_first_row_does_not_set_the_origin():
    rows = np.concatenate([[1e8], np.arange(9.0)])
    assert 0 <= Moments.of(rows).origin.item() <= 8


def test_what_does_not_vary_has_no_variance_at_all():
    assert Moments.of([0.1] * 7).variance().tolist() == [0.0]


# ---- refusals


@pytest.mark.parametrize(
    ("prior", "data", "text"),
    [
        (COIN, [0, 1, 2], "Entry [2] is 2. Number the 2 levels 0 to 1"),
        (COIN, [3, 7], "Entry [0] is 3. Number the 2 levels 0 to 1, one entry an event; totals"),
        (COIN, [0.5], "Entry [0] is 0.5."),
        (COIN, [1, np.nan], "Entry [1] is nan."),
        (COIN, ["H", "T"], "Entry [0] is 'H', which is no number. Number the 2 levels"),
        (COIN, [1, None], "Entry [1] is None, which is no number."),
        (COIN, [1, "1"], "Entry [1] is '1', which is no number."),
        (MAKERS, [0, -1], "Entry [1] is -1."),
        (DIE, [0, 3], "Entry [1] is 3. Number the 3 levels 0 to 2"),
        (DIE, [0, np.inf], "Entry [1] is inf."),
        (RATE, [3, -1], "Entry [1] is -1. Give numbers of events, 0, 1, 2, ..., one a row."),
        (RATE, [2.5], "Entry [0] is 2.5."),
        (RATE, [np.inf], "Entry [0] is inf."),
        (RATE, [1, np.nan], "Entry [1] is nan."),
        (NUMBER, [1.0, np.nan], "Entry [1] is nan. Give finite numbers, a row each; leave missing"),
        (NUMBER, [-np.inf], "Entry [0] is -inf."),
        (NUMBER, [1j], "Entry [0] is 1j, which is no number."),
        (NUMBER, [1e200, -1e200], "The squares of 1e+200 add up beyond all floats. Rescale"),
        (ROW, [[0.0, 0.0], [1.0, np.nan]], "Entry [1, 1] is nan."),
        (ROW, [[0.0, "a"]], "Entry [0, 1] is 'a', which is no number."),
        (COIN, Events.of([1]), "A Beta learns from Counts, not from Events."),
        (RATE, Counts([1, 2]), "A Gamma learns from Events, not from Counts."),
    ],
)
def test_bad_data_are_refused_by_value_and_place(prior, data, text):
    for ask in (prior.posterior, prior.log_evidence, prior.mle, prior.estimates):
        with pytest.raises(InputError, match=re.escape(text)):
            ask(data)


@pytest.mark.parametrize(
    ("prior", "data", "text"),
    [
        (COIN, 1, r"Data of shape \(\), where one sequence \(n,\) is due"),
        (COIN, [[0, 1]], r"Data of shape \(1, 2\), where one sequence \(n,\) is due"),
        (DIE, [[1, 0, 0], [0, 2, 1]], r"Data of shape \(2, 3\).*totals are given as Counts"),
        (NUMBER, 3.0, r"Data of shape \(\), where a sequence \(n, ...\) is due"),
        (ROW, [1.0, 2.0], "of 2 features and moments of shape"),
        (ROW, [[1.0, 2.0, 3.0]], "of 2 features and moments of shape"),
        (ROW, [[1.0, 2.0], [3.0]], "rows differ in length. Give finite numbers"),
        (NormalInverseGamma([0.0, 0.0], 1, 1, 1), np.zeros((4, 3)), "do not fit together"),
    ],
)
def test_data_of_another_shape_are_refused(prior, data, text):
    with pytest.raises(ShapeError, match=text):
        prior.posterior(data)


def test_numbers_held_as_objects_are_numbers():
    assert Counts.of(np.array([1, 0, True], dtype=object), levels=2) == Counts([1, 2])
