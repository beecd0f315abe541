"""The laws of design.md, for every tally there is, from random non-empty histories of rows."""

import copy
import functools
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from suffice.errors import DebtError
from suffice.tally import Groups
from tally_histories import (
    CLASSES,
    TIGHT,
    WAYS,
    arrays_of,
    histories,
    law,
    minus,
    same_but_for_rounding,
    sums_of,
    tally_classes,
    weights_in,
)

# ---- the algebra


@law
def test_zero_is_neutral(history):
    a, b, _ = history.tallies
    for zero in (a.zero(), b.zero(), a.zero() + b.zero(), a.zero() + a.zero()):
        assert (a + zero).allclose(a, TIGHT)
        assert (zero + a).allclose(a, TIGHT)
        assert minus(a, zero).allclose(a, TIGHT)


@law
def test_zero_and_zero_is_zero(history):
    a, b, _ = history.tallies
    assert (a.zero() + b.zero()).allclose(b.zero())
    assert (a.zero() - a.zero()).allclose(a.zero())
    assert all(np.all(array == 0) for array in sums_of(a.zero() + a.zero()))


@law
def test_order_of_adding_does_not_matter(history):
    a, b, _ = history.tallies
    assert (a + b).allclose(b + a, TIGHT)


@law
def test_grouping_of_adding_does_not_matter(history):
    a, b, c = history.tallies
    assert ((a + b) + c).allclose(a + (b + c), TIGHT)


@law
def test_subtracting_undoes_adding(history):
    a, b, _ = history.tallies
    same_but_for_rounding(minus(a + b, b), a, a + b)
    same_but_for_rounding(minus(a + b, a), b, a + b)


@law
def test_subtracting_and_adding_commute(history):
    a, b, c = history.tallies
    same_but_for_rounding(minus(a + b, b) + c, a + minus(c + b, b), a + b + c)


@law
def test_subtracting_everything_leaves_zero(history):
    a, b, _ = history.tallies
    nothing = minus(minus(a + b, b), a)
    whole = a + b
    same_but_for_rounding(nothing, whole.zero(), whole)
    assert all(np.all(array == 0) for array in weights_in(nothing))


@law
def test_scaling_by_one_changes_nothing(history):
    a, _, _ = history.tallies
    assert a.scale(1.0).allclose(a, 0.0)


@law
def test_scaling_by_nothing_leaves_zero(history):
    a, b, _ = history.tallies
    assert a.scale(0.0).allclose(a.zero(), 0.0)
    assert (b + a.scale(0.0)).allclose(b, TIGHT)
    assert all(np.all(array == 0) for array in sums_of(a.scale(0.0)))


@law
def test_scaling_spreads_over_adding(history):
    a, b, _ = history.tallies
    assert (a + b).scale(2.5).allclose(a.scale(2.5) + b.scale(2.5), TIGHT)


@law
def test_scaling_twice_is_scaling_by_the_product(history):
    a, _, _ = history.tallies
    assert a.scale(0.3).scale(7.0).allclose(a.scale(2.1), TIGHT)


@law
def test_scaling_by_a_debt_or_by_nonsense_is_refused(history):
    for factor in (-1.0, np.inf, np.nan):
        with pytest.raises(DebtError, match="finite factor of 0 or more"):
            history.tallies[0].scale(factor)


# ---- tallies and rows


@law
def test_tally_of_all_rows_is_the_sum_of_the_tallies(history):
    (a, b, _), (x, y, _) = history.tallies, history.rows
    assert history.tally(x + y).allclose(a + b, TIGHT)


@law
def test_forgetting_rows_is_never_having_seen_them(history):
    (a, b, _), (x, y, _) = history.tallies, history.rows
    whole = history.tally(x + y)
    same_but_for_rounding(minus(whole, b), a, whole)


@law
def test_weight_k_is_k_repeats(history):
    a, b, c = history.tallies
    rows = history.rows[0]
    heavy = history.tally([(row, 3 * w, y) for row, w, y in rows])
    assert heavy.allclose(history.tally(rows * 3), TIGHT)
    assert heavy.allclose(a.scale(3.0), TIGHT)
    assert (b + heavy + c).allclose(b + a + a + c + a, TIGHT)  # and from a tally that is not empty


# ---- debt


@law
def test_subtracting_more_than_was_seen_raises_and_changes_nothing(history):
    a, b, _ = history.tallies
    assume(
        any(np.any(weight > 0) for weight in weights_in(b))
    )  # not missing values and empty rows only
    more = a + b
    before = copy.deepcopy(a), copy.deepcopy(more)
    with pytest.raises(DebtError, match="nothing was changed"):
        a - more
    assert (a, more) == before


# ---- values that do not change


@law
def test_no_array_of_a_tally_can_be_written_to(history):
    a, b, _ = history.tallies
    made = [a, a + b, minus(a + b, b), a.scale(2.0), a.zero(), pickle.loads(pickle.dumps(a))]
    for tally in [*made, copy.deepcopy(a)]:
        for array in arrays_of(tally):
            assert not array.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


@law
def test_no_field_of_a_tally_can_be_set(history):
    a = history.tallies[0]
    for name in vars(a):
        with pytest.raises(AttributeError, match="cannot assign"):
            setattr(a, name, None)


@law
def test_arithmetic_leaves_its_operands_alone(history):
    a, b, _ = history.tallies
    before = copy.deepcopy(a), copy.deepcopy(b)
    _ = a + b, minus(a + b, b), a.scale(2.0), a.zero()
    assert (a, b) == before


@law
def test_pickle_is_exact(history):
    for tally in (history.tallies[0], history.tallies[0] + history.tallies[1]):
        assert pickle.loads(pickle.dumps(tally)) == tally


# ---- first axis


def along_classes(kind, data):
    assert kind in WAYS, f"{kind.__name__} has no histories: add it to WAYS in {__name__}"
    return data.draw(histories(kind, first_axis=True))


@pytest.mark.parametrize("kind", tally_classes(), ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_pooling_is_the_sum_of_the_classes(kind, data):
    history = along_classes(kind, data)
    a = history.tallies[0]
    if kind is Groups:
        each = [a[label] for label in a.classes]
    else:
        each = [a.take(c) for c in range(len(CLASSES))]
    assert functools.reduce(lambda x, y: x + y, each).allclose(a.pooled(), 1e-10)


@pytest.mark.parametrize("kind", tally_classes(), ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_pooling_is_linear(kind, data):
    a, b, _ = along_classes(kind, data).tallies
    assert (a + b).pooled().allclose(a.pooled() + b.pooled(), 1e-10)


@pytest.mark.parametrize("kind", [kind for kind in tally_classes() if kind is not Groups])
@given(data=st.data())
def test_taking_undoes_spreading(kind, data):
    a = along_classes(kind, data).tallies[0]
    index = np.array([4, 0, 2])
    wide = a.expand(index, 6)
    assert wide.take(index).allclose(a, 0.0)
    assert wide.take([1, 3, 5]).allclose(a.zero(), 0.0)
    assert wide.pooled().allclose(a.pooled(), 1e-10)


@pytest.mark.parametrize("kind", [kind for kind in tally_classes() if kind is not Groups])
@given(data=st.data())
def test_classes_alone_and_together_tally_alike(kind, data):
    a, b, _ = along_classes(kind, data).tallies
    for c in range(len(CLASSES)):
        assert (a + b).take(c).allclose(a.take(c) + b.take(c), TIGHT)


@given(data=st.data())
def test_groups_align_by_name(data):
    a, b, _ = data.draw(histories(Groups)).tallies
    both = a + b
    assert both.classes.tolist() == sorted({*a.classes.tolist(), *b.classes.tolist()})
    for label in both.classes:
        parts = [group[label] for group in (a, b) if label in group.classes]
        assert functools.reduce(lambda x, y: x + y, parts).allclose(both[label], TIGHT)
        at = int(np.flatnonzero(both.classes == label)[0])
        taken = both.take(at)
        assert taken.classes.tolist() == [label]
        assert taken[label].allclose(both[label], 0.0)
    left = minus(both, b).drop_empty()
    assert left.classes.tolist() == a.classes.tolist()
