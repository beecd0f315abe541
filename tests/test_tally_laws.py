"""The laws of design.md, for every tally there is, from random non-empty histories of rows."""

import copy
import functools
import importlib
import inspect
import pickle
import pkgutil
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
import suffice.tally
from suffice.errors import DebtError, InputError, PrecisionWarning, ShapeError
from suffice.tally import Blocks, Counts, Events, Groups, Moments, Patterns, Quartics, Tally

CLASSES = ["ham", "other", "spam"]
# float64 sums of some dozens of terms; what is looked for is far larger than 1e-11
TIGHT = 1e-11


def tally_classes():
    found = set()
    for module in pkgutil.walk_packages(suffice.tally.__path__, "suffice.tally."):
        for _, value in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(value, Tally) and value is not Tally:
                found.add(value)
    return sorted(found, key=lambda value: value.__name__)


# ---- histories: how to tally rows, and some rows


@dataclass
class History:
    """One way to tally, and several lists of (row, weight, label) to tally with it."""

    how: Callable[[Any, Any, Any], Tally]
    rows: list[list[tuple[list[float], float, str]]]

    def tally(self, rows):
        X = np.array([row for row, _, _ in rows], dtype=float).reshape(len(rows), -1)
        return self.how(X, np.array([w for _, w, _ in rows]), np.array([y for _, _, y in rows]))

    @functools.cached_property
    def tallies(self):
        return [self.tally(rows) for rows in self.rows]


def integers(low, high):
    """Return how to draw whole numbers from `low` to `high` with numpy, many at a time."""
    return lambda rng, shape: rng.integers(low, high + 1, shape).astype(float)


def weights_of_rows(rng, size):
    """Draw whole and fractional weights."""
    return np.where(
        rng.random(size) < 0.5, rng.integers(1, 9, size), rng.integers(3, 81, size) / 11
    )


def measurements(draw):
    """Values that round when summed, near 0 or far from it, sometimes all alike."""
    offset = draw(st.sampled_from([0.0, 1.0, -1e3, 1e5, 1e8]))
    width = draw(st.sampled_from([1e-2, 1.0, 1e3]))
    reach = draw(st.sampled_from([0, 1, 20]))
    return lambda rng, shape: offset + width * rng.integers(-reach, reach + 1, shape) / 7


def with_gaps(values):
    return lambda rng, shape: np.where(rng.random(shape) < 0.25, np.nan, values(rng, shape))


def counts_ways(draw):
    if draw(st.booleans()):
        levels = draw(st.integers(2, 4))
        return functools.partial(reference.counts, levels=levels), with_gaps(
            integers(0, levels - 1)
        )
    return reference.word_counts, integers(0, 9)


def events_ways(draw):
    return reference.events, with_gaps(integers(0, 40))


def moments_ways(draw):
    if draw(st.booleans()):
        return reference.moments, with_gaps(measurements(draw))
    return reference.full_moments, measurements(draw)


def patterns_ways(draw):
    return reference.patterns, with_gaps(measurements(draw))


def quartics_ways(draw):
    return reference.quartics, measurements(draw)


def blocks_ways(draw):
    parts = [([0], reference.events), ([0, 1], reference.moments), ([1], reference.full_moments)]
    return functools.partial(reference.blocks, parts=parts), integers(0, 40)


def groups_ways(draw):
    return draw(st.sampled_from(list(SIMPLE_WAYS.values())))(draw)


SIMPLE_WAYS = {
    Blocks: blocks_ways,
    Counts: counts_ways,
    Events: events_ways,
    Moments: moments_ways,
    Patterns: patterns_ways,
    Quartics: quartics_ways,
}
WAYS = {**SIMPLE_WAYS, Groups: groups_ways}


@st.composite
def histories(draw, kind, first_axis=None):
    """Draw a way to tally `kind` and three non-empty lists of rows.

    `first_axis` asks for tallies with (True) or without a first axis of classes.
    """
    build, values = WAYS[kind](draw)
    d = 2 if kind in (Blocks, Groups) else draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def rows():
        size = draw(st.integers(1, 8))
        table, labels = values(rng, (size, d)).tolist(), rng.choice(CLASSES, size).tolist()
        return list(zip(table, weights_of_rows(rng, size).tolist(), labels, strict=True))

    if kind is Groups:

        def how(X, weights, y):
            return reference.by_class(build, X, y, weights)

    elif first_axis or (first_axis is None and draw(st.booleans())):

        def how(X, weights, y):
            return reference.by_class(build, X, y, weights, classes=CLASSES).parts

    else:

        def how(X, weights, y):
            return build(X, weights)

    return History(how, [rows() for _ in range(3)])


def law(check):
    """Run a law over histories of every tally; one without a way to draw it fails by name."""

    def run(kind, data):
        assert kind in WAYS, f"{kind.__name__} has no histories: add it to WAYS in {__name__}"
        check(data.draw(histories(kind)))

    run.__name__ = run.__qualname__ = check.__name__
    over_kinds = pytest.mark.parametrize("kind", tally_classes(), ids=lambda kind: kind.__name__)
    return over_kinds(given(data=st.data())(run))


# ---- comparing


def arrays_of(value):
    """Yield every array a tally holds, however deep."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Tally):
        for inner in vars(value).values():
            yield from arrays_of(inner)
    elif isinstance(value, tuple):
        for inner in value:
            yield from arrays_of(inner)
    elif hasattr(value, "values"):
        for inner in value.values():
            yield from arrays_of(inner)


def same_but_for_rounding(left, right, whole):
    """Compare sum by sum, each to within rounding of the sums of `whole`, which held both."""
    if isinstance(whole, Groups):
        classes = whole.classes
        left, right = left.aligned(classes), right.aligned(classes)
        assert np.allclose(
            left.weights, right.weights, rtol=TIGHT, atol=TIGHT * whole.weights.max()
        )
        same_but_for_rounding(left.parts, right.parts, whole.parts)
    elif isinstance(whole, Blocks):
        for parts in zip(left.parts, right.parts, whole.parts, strict=True):
            same_but_for_rounding(*parts)
    elif isinstance(whole, Patterns):
        for seen, part in whole.parts.items():
            empty = part.zero()
            same_but_for_rounding(left.parts.get(seen, empty), right.parts.get(seen, empty), part)
    elif isinstance(whole, (Moments, Quartics)):
        one, other = left.rebased(whole.origin), right.rebased(whole.origin)
        linear, square = (name for name in whole._sums if name != "weight")
        squares = getattr(whole, square)
        full = squares.ndim > whole.weight.ndim
        size = np.sqrt(np.diagonal(squares, axis1=-2, axis2=-1) if full else squares)
        weight = whole.weight[..., None] if full else whole.weight
        bounds = {
            "weight": whole.weight,
            linear: size * np.sqrt(weight),
            square: size[..., :, None] * size[..., None, :] if full else squares,
        }
        for name, bound in bounds.items():
            gap = np.abs(getattr(one, name) - getattr(other, name))
            assert np.all(gap <= TIGHT * bound), (name, gap, bound)
    else:
        for name in whole._sums:
            gap = np.abs(getattr(left, name) - getattr(right, name))
            assert np.all(gap <= TIGHT * np.abs(getattr(whole, name))), name


def minus(a, b):
    """Subtract; a constant column that is left rightly warns that its variance is rounding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        return a - b


# ---- the algebra


@law
def test_zero_is_neutral(history):
    a, b, _ = history.tallies
    for zero in (a.zero(), b.zero(), a.zero() + b.zero(), a.zero() + a.zero()):
        assert (a + zero).agrees(a, TIGHT)
        assert (zero + a).agrees(a, TIGHT)
        assert minus(a, zero).agrees(a, TIGHT)


@law
def test_zero_and_zero_is_zero(history):
    a, b, _ = history.tallies
    assert (a.zero() + b.zero()).agrees(b.zero())
    assert (a.zero() - a.zero()).agrees(a.zero())
    assert all(np.all(array == 0) for array in sums_of(a.zero() + a.zero()))


@law
def test_order_of_adding_does_not_matter(history):
    a, b, _ = history.tallies
    assert (a + b).agrees(b + a, TIGHT)


@law
def test_grouping_of_adding_does_not_matter(history):
    a, b, c = history.tallies
    assert ((a + b) + c).agrees(a + (b + c), TIGHT)


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
    assert a.scale(1.0).agrees(a, 0.0)


@law
def test_scaling_by_nothing_leaves_zero(history):
    a, b, _ = history.tallies
    assert a.scale(0.0).agrees(a.zero(), 0.0)
    assert (b + a.scale(0.0)).agrees(b, TIGHT)
    assert all(np.all(array == 0) for array in sums_of(a.scale(0.0)))


@law
def test_scaling_spreads_over_adding(history):
    a, b, _ = history.tallies
    assert (a + b).scale(2.5).agrees(a.scale(2.5) + b.scale(2.5), TIGHT)


@law
def test_scaling_twice_is_scaling_by_the_product(history):
    a, _, _ = history.tallies
    assert a.scale(0.3).scale(7.0).agrees(a.scale(2.1), TIGHT)


@law
def test_scaling_by_a_debt_or_by_nonsense_is_refused(history):
    for factor in (-1.0, np.inf, np.nan):
        with pytest.raises(DebtError, match="finite factor of 0 or more"):
            history.tallies[0].scale(factor)


# ---- tallies and rows


@law
def test_tally_of_all_rows_is_the_sum_of_the_tallies(history):
    (a, b, _), (x, y, _) = history.tallies, history.rows
    assert history.tally(x + y).agrees(a + b, TIGHT)


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
    assert heavy.agrees(history.tally(rows * 3), TIGHT)
    assert heavy.agrees(a.scale(3.0), TIGHT)
    assert (b + heavy + c).agrees(b + a + a + c + a, TIGHT)  # and from a tally that is not empty


# ---- debt


@law
def test_subtracting_more_than_was_seen_raises_and_changes_nothing(history):
    a, b, _ = history.tallies
    assume(any(np.any(weight > 0) for weight in weights_in(b)))  # not gaps and empty rows only
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
    assert functools.reduce(lambda x, y: x + y, each).agrees(a.pooled(), 1e-10)


@pytest.mark.parametrize("kind", tally_classes(), ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_pooling_is_linear(kind, data):
    a, b, _ = along_classes(kind, data).tallies
    assert (a + b).pooled().agrees(a.pooled() + b.pooled(), 1e-10)


@pytest.mark.parametrize("kind", [kind for kind in tally_classes() if kind is not Groups])
@given(data=st.data())
def test_taking_undoes_spreading(kind, data):
    a = along_classes(kind, data).tallies[0]
    index = np.array([4, 0, 2])
    wide = a.spread(index, 6)
    assert wide.take(index).agrees(a, 0.0)
    assert wide.take([1, 3, 5]).agrees(a.zero(), 0.0)
    assert wide.pooled().agrees(a.pooled(), 1e-10)


@pytest.mark.parametrize("kind", [kind for kind in tally_classes() if kind is not Groups])
@given(data=st.data())
def test_classes_alone_and_together_tally_alike(kind, data):
    a, b, _ = along_classes(kind, data).tallies
    for c in range(len(CLASSES)):
        assert (a + b).take(c).agrees(a.take(c) + b.take(c), TIGHT)


@given(data=st.data())
def test_groups_align_by_name(data):
    a, b, _ = data.draw(histories(Groups)).tallies
    both = a + b
    assert both.classes.tolist() == sorted({*a.classes.tolist(), *b.classes.tolist()})
    for label in both.classes:
        parts = [group[label] for group in (a, b) if label in group.classes]
        assert functools.reduce(lambda x, y: x + y, parts).agrees(both[label], TIGHT)
        at = int(np.flatnonzero(both.classes == label)[0])
        taken = both.take(at)
        assert taken.classes.tolist() == [label]
        assert taken[label].agrees(both[label], 0.0)
    left = minus(both, b).without_empty()
    assert left.classes.tolist() == a.classes.tolist()


# ---- errors and warnings that no law covers


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


def test_forgetting_an_unknown_pattern_names_its_gaps():
    whole = reference.patterns([[1.0, 2.0]])
    with pytest.raises(DebtError, match=r"gaps in the features \[1\]"):
        whole - reference.patterns([[1.0, np.nan]])


def test_groups_of_numbers_and_of_words_do_not_add():
    with pytest.raises(InputError, match="in one type"):
        Groups([1], [1], Counts([[1]])) + Groups(["a"], [1], Counts([[1]]))


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


def test_fourth_powers_are_those_of_the_rows():
    rows = np.random.default_rng(3).normal(7.0, 2.0, (20, 3))
    tally = reference.quartics(rows[:9]) + reference.quartics(rows[9:])
    scale = np.array([1.0, 2.0, 0.5])
    direct = (((rows - rows.mean(axis=0)) / scale) ** 2).sum(axis=1) ** 2
    assert tally.sum_fourth_powers(scale) == pytest.approx(direct.sum(), rel=1e-9)
    assert tally.moments().agrees(reference.full_moments(rows))


def test_patterns_know_each_feature_where_it_was_seen():
    rows = np.array([[1.0, np.nan], [2.0, 5.0], [np.nan, 7.0], [4.0, 9.0]])
    tally = reference.patterns(rows)
    assert tally.gaps
    assert tally.diagonal().agrees(reference.moments(rows))
    assert tally.whole().agrees(reference.full_moments(rows[[1, 3]]))


# ---- helpers of the laws above that look inside


def sums_of(value):
    """Yield every sum a tally holds (not origins, not names)."""
    if isinstance(value, Groups):
        yield value.weights
        yield from sums_of(value.parts)
    elif isinstance(value, Blocks):
        for part in value.parts:
            yield from sums_of(part)
    elif isinstance(value, Patterns):
        for part in value.parts.values():
            yield from sums_of(part)
    else:
        for name in value._sums:
            yield getattr(value, name)


def weights_in(value):
    """Yield every weight or count a tally holds: what is exactly 0 when nothing is left."""
    if isinstance(value, Groups):
        yield value.weights
        yield from weights_in(value.parts)
    elif isinstance(value, (Blocks, Patterns)):
        parts = value.parts.values() if isinstance(value, Patterns) else value.parts
        for part in parts:
            yield from weights_in(part)
    else:
        yield getattr(value, value._sums[0])
