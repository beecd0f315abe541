"""What single tallies know, refuse and warn of."""

from fractions import Fraction

import numpy as np
import pytest

import reference
from suffice.errors import DebtError, InputError, PrecisionWarning, ShapeError
from suffice.tally import Blocks, Counts, Events, Groups, Moments, Patterns, Quartics
from suffice.tally.held_out import with_weight_of
from suffice.tally.tally import ROUNDING, difference


def test_tallies_of_two_kinds_do_not_add():
    with pytest.raises(TypeError, match="Only tallies of one kind add"):
        Counts([1, 2]) + Events(1, 1, 0)


def test_tallies_of_two_shapes_do_not_add():
    with pytest.raises(ShapeError, match="Tally the same features"):
        Events([1.0], [1.0], [0.0]) + Events([1.0, 2.0], [1.0, 1.0], [0.0, 0.0])
    with pytest.raises(ShapeError, match="same columns"):
        Blocks((Counts([1]),)) + Blocks(())
    with pytest.raises(ShapeError, match="same columns"):
        Patterns(2, {}) + Patterns(3, {})


def test_longer_counts_hold_the_levels_the_shorter_has_not_seen():
    assert (Counts([1, 2]) + Counts([0, 1, 5])) == Counts([1, 3, 5])


def test_forgetting_an_unknown_class_names_it():
    ham = Groups(["ham"], [1], Counts([[1, 2]]))
    with pytest.raises(DebtError, match="class 'spam', of which none was learned"):
        ham - Groups(["spam"], [1], Counts([[1, 2]]))


def test_forgetting_an_unknown_pattern_names_its_missing_values():
    whole = reference.patterns([[1.0, 2.0]])
    with pytest.raises(DebtError, match=r"missing values in the features \[1\]"):
        whole - reference.patterns([[1.0, np.nan]])


def test_groups_of_numbers_and_of_words_do_not_add():
    with pytest.raises(InputError, match="in one type"):
        Groups([1], [1], Counts([[1]])) + Groups(["a"], [1], Counts([[1]]))


def test_groups_are_placed_by_name_not_by_number():
    ham = Groups(["ham"], [2.0], Counts([[1, 2]]))
    with pytest.raises(TypeError, match=r"use align\(classes\)"):
        ham.expand([1], 3)
    placed = ham.align(np.array(["eggs", "ham", "spam"]))
    assert placed.weights.tolist() == [0.0, 2.0, 0.0]
    assert placed.parts == Counts([[0, 0], [1, 2], [0, 0]])


def test_forgetting_a_giant_warns_of_the_digits_it_took():
    small, giant = reference.moments([[1.0], [2.0], [4.0]]), reference.moments([[1e9], [3e9]])
    with pytest.warns(PrecisionWarning, match="Count the remaining rows again"):
        small + giant - giant


def test_forgetting_rows_that_were_others_is_debt_though_there_are_enough():
    with pytest.raises(DebtError, match="sum of squares"):
        reference.moments([[1.0], [2.0], [3.0]]) - reference.moments([[9.0]])


def test_an_origin_far_from_the_rows_moves_to_them():
    rows = np.array([[1e5], [1e5 + 1], [1e5 + 2]])
    far = reference.moments(rows, origin=[0.0])
    twice = far + far
    assert abs(twice.origin[0] - 1e5) < 2
    assert twice.variance() == pytest.approx(rows.var(), rel=1e-4)


def test_a_heavy_row_added_to_a_light_one_far_away_costs_no_digits():
    light, heavy = reference.moments([[0.1]], [1e-6]), reference.moments([[1.3]], [1e6])
    exact = Fraction(1e-6) * Fraction(1e6) / (Fraction(1e-6) + Fraction(1e6))
    exact *= (Fraction(1.3) - Fraction(0.1)) ** 2
    for both in (light + heavy, heavy + light):
        assert both.scatter()[0] == pytest.approx(float(exact), rel=1e-14)


def test_what_is_left_within_the_rounding_of_the_gross_scale_is_nothing():
    left = reference.moments([[0.1]], [1e6 + 0.1]) - reference.moments([[0.1]], [1e6])
    last = reference.moments([[0.1]], [0.1])
    with pytest.raises(DebtError, match="those rows were not all learned"):
        left - last
    gross = reference.moments([[0.1]], [1e6]).magnitude()
    assert left.subtract(last, gross).weight.tolist() == [0.0]


def test_magnitudes_are_powers_of_two_that_no_sum_exceeds():
    rng = np.random.default_rng(4)
    rows, weights = rng.normal(size=(9, 3)), rng.uniform(0.1, 9.0, 9)
    tally = reference.moments(rows, weights)
    size = tally.magnitude()
    for name in ("weight", "sum_xx"):
        ratio = getattr(size, name) / getattr(tally, name)
        assert np.all((ratio >= 1) & (ratio <= 2))
        assert set(np.frexp(getattr(size, name))[0].tolist()) == {0.5}
    assert Counts([1e308, 0.0]).magnitude().counts.tolist() == [np.finfo(float).max, 0.0]


def test_fourth_powers_are_those_of_the_rows():
    rows = np.random.default_rng(3).normal(7.0, 2.0, (20, 3))
    tally = reference.quartics(rows[:9]) + reference.quartics(rows[9:])
    scale = np.array([1.0, 2.0, 0.5])
    direct = (((rows - rows.mean(axis=0)) / scale) ** 2).sum(axis=1) ** 2
    assert tally.sum_fourth_powers(scale) == pytest.approx(direct.sum(), rel=1e-9)
    assert tally.moments().allclose(reference.full_moments(rows))


def test_patterns_know_each_feature_where_it_was_seen():
    rows = np.array([[1.0, np.nan], [2.0, 5.0], [np.nan, 7.0], [4.0, 9.0]])
    tally = reference.patterns(rows)
    assert tally.has_missing
    assert tally.diagonal().allclose(reference.moments(rows))
    assert tally.whole().allclose(reference.full_moments(rows[[1, 3]]))


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Counts([1, -2]), InputError, r"Count \[1\] is -2"),
        (lambda: Counts([np.nan]), InputError, "Counts are 0 or more"),
        (lambda: Events(-1, 0, 0), InputError, "Events.weight holds -1"),
        (lambda: Moments([-1.0], [0.0], [0.0], [0.0]), InputError, "Weight -1 in Moments"),
        (lambda: Moments([1.0], [0.0, 1.0], [0.0], [0.0]), ShapeError, "do not fit together"),
        (lambda: Groups(["a"], [1, 2], Counts([[1]])), ShapeError, "one weight a class"),
        (lambda: Groups(["b", "a"], [1, 2], Counts([[1], [1]])), InputError, "Sort them"),
        (lambda: Quartics(1.0, [0.0], [0.0], [[0.0]]), ShapeError, "Quartics do not fit"),
        (
            lambda: Patterns(2, {(0, 1): reference.full_moments([[1.0]])}),
            ShapeError,
            "just the seen",
        ),
    ],
)
def test_sums_that_cannot_be_are_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_a_class_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(KeyError, match="No class 'spam'; the classes are"):
        Groups(["ham"], [1], Counts([[1, 2]]))["spam"]


def test_a_tally_is_no_other_kind_of_value():
    assert Counts([1]) != Events(1, 1, 0)
    assert Patterns(1, {}) != Counts([1])


def test_simple_summaries_are_those_of_the_rows():
    rows = np.array([[1.0, 4.0], [3.0, 5.0], [8.0, 0.0]])
    assert Counts([[3, 7], [1, 1]]).total.tolist() == [10, 2]
    assert reference.events(rows).mean() == pytest.approx(rows.mean(axis=0))
    full = reference.full_moments(rows)
    assert full.variance() == pytest.approx(np.cov(rows.T, bias=True))
    assert full.diagonal().allclose(reference.moments(rows))
    assert full.diagonal().diagonal().allclose(full.diagonal(), 0.0)


# ---- edges


@pytest.mark.parametrize("weight", [-1.0, -1e-300, np.nan])
def test_a_class_cannot_weigh_less_than_nothing(weight):
    with pytest.raises(InputError, match=r"of a class\. Weights are 0 or more"):
        Groups(["a", "b"], [1.0, weight], Counts([[1.0, 0.0], [0.0, 1.0]]))


def test_sums_that_only_grow_hide_nothing_of_their_size():
    """Hidden is what sums do not show of rows that cancelled; of events nothing cancels."""
    tally = Events(2.0, 5.0, 1.5)
    assert tally.magnitude(hidden=True) == tally.zero()
    assert tally.magnitude() == Events(4.0, 8.0, 2.0)


def test_orderings_of_a_class_stay_where_features_have_factors_of_their_own():
    part = Counts([[[1.0, 3.0], [2.0, 2.0]]], log_orderings=[0.7])
    whole = Counts([[[3.0, 5.0], [2.0, 6.0]]], log_orderings=[1.9])
    scaled = with_weight_of(part, whole)
    np.testing.assert_array_equal(scaled.counts, [[[2.0, 6.0], [4.0, 4.0]]])
    np.testing.assert_array_equal(scaled.log_orderings, [0.7])


@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 5), (2, 3, 4)])
@pytest.mark.parametrize("with_gross", [False, True])
def test_what_is_left_is_the_difference_but_for_rounding(share, shape, with_gross):
    rng = np.random.default_rng(0)
    have = rng.exponential(size=shape)
    owed = np.where(rng.random(shape) < share, have * (1 - rng.choice([0, 1e-14, 0.5], shape)), 0.0)
    gross = rng.choice([0.0, 2.0**40], shape) if with_gross else 0.0
    left = have - owed
    size = np.maximum(np.maximum(np.abs(have), np.abs(owed)), gross)
    left = np.where((np.abs(left) <= ROUNDING * size) & (owed != 0), 0.0, left)
    np.testing.assert_array_equal(difference(np.asarray(have), np.asarray(owed), gross), left)


def test_flips_of_a_coin_are_counted_by_their_letters():
    assert Counts.coin("HTTHH") == Counts.coin(heads=3, tails=2)
    assert Counts.coin(list("htH")) == Counts.coin(heads=2, tails=1)
    assert Counts.coin("") == Counts.coin(heads=0, tails=0)


def test_what_is_neither_heads_nor_tails_is_named():
    with pytest.raises(InputError, match=r'Flip 2 is \'x\'. Write heads as "H"'):
        Counts.coin("HTx")
    with pytest.raises(InputError, match=r"Flip 0 is 1. .*Counts.of\(flips, levels=2\)"):
        Counts.coin([1, 0])
    with pytest.raises(InputError, match="given twice"):
        Counts.coin("HT", heads=1, tails=1)
    with pytest.raises(InputError, match="without flips"):
        Counts.coin(heads=1)
