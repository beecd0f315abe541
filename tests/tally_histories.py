"""Random histories of rows for every tally, and how to compare what was tallied."""

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import suffice.tally
from suffice.errors import PrecisionWarning
from suffice.tally import Blocks, Counts, Events, Groups, Moments, Patterns, Quartics, Tally

CLASSES = ["ham", "other", "spam"]
# float64 sums of some dozens of terms; what is looked for is far larger than 1e-11
TIGHT = 1e-11


def tally_classes():
    return reference.concrete_subclasses(suffice.tally, Tally)


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


def with_missing(values):
    return lambda rng, shape: np.where(rng.random(shape) < 0.25, np.nan, values(rng, shape))


def counts_ways(draw):
    if draw(st.booleans()):
        levels = draw(st.integers(2, 4))
        return functools.partial(reference.counts, levels=levels), with_missing(
            integers(0, levels - 1)
        )
    return reference.word_counts, integers(0, 9)


def events_ways(draw):
    return reference.events, with_missing(integers(0, 40))


def moments_ways(draw):
    if draw(st.booleans()):
        return reference.moments, with_missing(measurements(draw))
    return reference.full_moments, measurements(draw)


def patterns_ways(draw):
    return reference.patterns, with_missing(measurements(draw))


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


def same_but_for_rounding(left, right, whole, tight=TIGHT):
    """Compare sum by sum, each to within rounding of the sums of `whole`, which held both."""
    if isinstance(whole, Groups):
        classes = whole.classes
        left, right = left.align(classes), right.align(classes)
        assert np.allclose(
            left.weights, right.weights, rtol=tight, atol=tight * whole.weights.max()
        )
        same_but_for_rounding(left.parts, right.parts, whole.parts, tight)
    elif isinstance(whole, Blocks):
        for parts in zip(left.parts, right.parts, whole.parts, strict=True):
            same_but_for_rounding(*parts, tight)
    elif isinstance(whole, Patterns):
        for seen, part in whole.parts.items():
            empty = part.zero()
            same_but_for_rounding(
                left.parts.get(seen, empty), right.parts.get(seen, empty), part, tight
            )
    elif isinstance(whole, (Moments, Quartics)):
        one, other = left.rebase(whole.origin), right.rebase(whole.origin)
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
            difference = np.abs(getattr(one, name) - getattr(other, name))
            assert np.all(difference <= tight * bound), (name, difference, bound)
    else:
        if isinstance(whole, Counts):
            left, right = (one.with_levels(whole.counts.shape[-1]) for one in (left, right))
        for name in whole._sums:
            difference = np.abs(getattr(left, name) - getattr(right, name))
            assert np.all(difference <= tight * np.abs(getattr(whole, name))), name


def minus(a, b):
    """Subtract; a constant column that is left rightly warns that its variance is rounding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        return a - b


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
