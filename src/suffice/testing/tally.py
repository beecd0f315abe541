"""The laws of tallies."""

from __future__ import annotations

import copy
import itertools
import warnings
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from suffice.errors import DebtError, PrecisionWarning
from suffice.tally import Groups, Tally
from suffice.testing.laws import Floats, Laws

# Sums of some dozens of float64 terms in two orders differ by far less.
TIGHT = 1e-10
# What is left of a sum is known to the rounding of the whole sum.
AFTER_SUBTRACTION = 1e-7

Make = Callable[[Any, Floats], Any]
Draw = Callable[[np.random.Generator, int], Any]


def check_tally(
    make: Make, rows: Draw | None = None, *, classes: int = 0, seed: int = 0, size: int = 12
) -> None:
    """Raise an AssertionError that names the law if a tally breaks one.

    The laws are stated of tallies of rows, none of them empty: zero, commutativity, associativity,
    subtraction, scaling, weights, batches, pooling, debt, equality, immutability and pickling.

    Parameters
    ----------
    make : function of rows (n, ...) and weights (n,) that returns their tally
    rows : function of a random generator and a number n that draws rows (n, ...)
        Standard normal numbers (n, 2) if not given.
    classes : int
        The length of the tally's first axis, if that stands for classes.
    seed, size : int
        Of the random numbers; how many rows a tally is made of.

    Examples
    --------
    >>> from suffice.tally import Counts
    >>> def count(rows, weights):
    ...     return Counts(np.bincount(rows, weights, minlength=4))
    >>> check_tally(count, lambda rng, n: rng.integers(0, 4, n))
    """
    rng = np.random.default_rng(seed)
    draw = _normal_rows if rows is None else rows
    batches = [draw(rng, size) for _ in range(3)]
    weights = [_weights(rng, size) for _ in batches]
    a, b, c = (make(*pair) for pair in zip(batches, weights, strict=True))
    laws = Laws(type(a).__name__, seed, size)
    laws.hold("tallies", isinstance(a, Tally), "make returns no Tally.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        before = copy.deepcopy([a, b, c])
        with laws.named("addition"):
            _check_equality(laws, a, b)
            _check_addition(laws, a, b, c)
        with laws.named("subtraction"):
            _check_subtraction(laws, a, b)
        with laws.named("scaling"):
            _check_scaling(laws, a, b)
        with laws.named("batches"):
            _check_rows(laws, make, batches, weights, rng)
        _check_debt(laws, a, b)
        if classes or isinstance(a, Groups):
            with laws.named("pooling"):
                _check_pooling(laws, a, b, classes)
        laws.hold("immutability", [a, b, c] == before, "arithmetic has changed its operands.")
        for tally in (a, a + b, (a + b) - b, a.scale(2.0), a.zero()):
            laws.immutable(tally)


def _normal_rows(rng: np.random.Generator, size: int) -> Floats:
    return rng.standard_normal((size, 2))


def _weights(rng: np.random.Generator, size: int) -> Floats:
    """Draw whole and fractional weights."""
    return np.where(rng.random(size) < 0.5, rng.integers(1, 9, size), rng.random(size) + 0.25)


def _check_equality(laws: Laws, a: Any, b: Any) -> None:
    """Check that tallies of different rows differ: the other laws rely on it."""
    same = a.allclose(copy.deepcopy(a), 0.0) and a == copy.deepcopy(a)
    laws.hold("equality", same, "a tally is not equal to its copy.")
    for other, name in ((a + b, "a + b"), (a.scale(1.01), "a.scale(1.01)")):
        differ = not a.allclose(other) and a != other
        laws.hold("equality", differ, f"a and {name} are said to be equal.")


def _check_addition(laws: Laws, a: Any, b: Any, c: Any) -> None:
    for zero, name in ((a.zero(), "a.zero()"), (b.zero(), "b.zero()")):
        for sum_, sentence in (
            (a + zero, f"a + {name}"),
            (zero + a, f"{name} + a"),
            (a - zero, f"a - {name}"),
        ):
            laws.hold("zero", sum_.allclose(a, TIGHT), f"{sentence} is not a.")
    laws.hold("zero", (a.zero() + b.zero()).allclose(a.zero()), "zero + zero is not zero.")
    laws.hold("commutativity", (a + b).allclose(b + a, TIGHT), "a + b is not b + a.")
    left, right = (a + b) + c, a + (b + c)
    laws.hold("associativity", left.allclose(right, TIGHT), "(a + b) + c is not a + (b + c).")


def _check_subtraction(laws: Laws, a: Any, b: Any) -> None:
    for left, due, sentence in (
        ((a + b) - b, a, "a + b - b is not a."),
        ((a + b) - a, b, "a + b - a is not b."),
        (((a + b) - a) - b, a.zero(), "a + b - a - b is not zero."),
        (a - a, a.zero(), "a - a is not zero."),
    ):
        laws.hold("subtraction", left.allclose(due, AFTER_SUBTRACTION), sentence)


def _check_scaling(laws: Laws, a: Any, b: Any) -> None:
    twice = a.scale(0.3).scale(7.0)
    for found, due, sentence in (
        (a.scale(1.0), a, "a.scale(1) is not a."),
        (a.scale(0.0), a.zero(), "a.scale(0) is not zero."),
        (a.scale(2.0), a + a, "a.scale(2) is not a + a."),
        (twice, a.scale(2.1), "a.scale(0.3).scale(7) is not a.scale(2.1)."),
        (
            (a + b).scale(2.5),
            a.scale(2.5) + b.scale(2.5),
            "(a + b).scale(2.5) is not a.scale(2.5) + b.scale(2.5).",
        ),
    ):
        laws.hold("scaling", found.allclose(due, TIGHT), sentence)
    for factor in (-1.0, np.inf, np.nan):
        laws.refuse(
            "scaling",
            DebtError,
            lambda factor=factor: a.scale(factor),  # type: ignore[misc]
            f"a.scale({factor}) is not refused.",
        )


def _check_rows(
    laws: Laws, make: Make, batches: list[Any], weights: list[Floats], rng: np.random.Generator
) -> None:
    """Check what tallies have to do with the rows that they are of."""
    a, b, c = (make(*pair) for pair in zip(batches, weights, strict=True))
    heavy = make(batches[0], 3 * weights[0])
    repeated = make(np.concatenate([batches[0]] * 3), np.concatenate([weights[0]] * 3))
    for found, due, sentence in (
        (heavy, a.scale(3.0), "rows of three times the weight are not a.scale(3)."),
        (heavy, repeated, "rows of three times the weight are not the rows three times."),
        (b + heavy, b + a + a + a, "b + rows of three times the weight is not b + a + a + a."),
    ):
        laws.hold("weights", found.allclose(due, TIGHT), sentence)
    rows, every = np.concatenate(batches), np.concatenate(weights)
    whole = make(rows, every)
    for order in itertools.permutations((a, b, c)):
        sentence = "batches added in some order are not one batch."
        laws.hold("batches", reduce(add, order).allclose(whole, TIGHT), sentence)
    parts = np.array_split(rng.permutation(len(rows)), 4)
    added = reduce(add, [make(rows[part], every[part]) for part in parts])
    laws.hold("batches", added.allclose(whole, TIGHT), "batches of shuffled rows are not one.")
    gone = whole - make(batches[1], weights[1])
    sentence = "all rows less those of a batch are not the other batches."
    laws.hold("batches", gone.allclose(a + c, AFTER_SUBTRACTION), sentence)


def _check_debt(laws: Laws, a: Any, b: Any) -> None:
    larger = (a + b, "a - (a + b)"), (a.scale(2.0), "a - a.scale(2)")
    before = copy.deepcopy([a, b])
    for more, name in larger:
        laws.refuse(
            "debt",
            DebtError,
            lambda more=more: a - more,  # type: ignore[misc]
            f"{name} is not refused.",
        )
    laws.hold("debt", [a, b] == before, "a subtraction that was refused has changed a tally.")


def _check_pooling(laws: Laws, a: Any, b: Any, classes: int) -> None:
    if isinstance(a, Groups):
        each = [a[label] for label in a.classes]
    else:
        each = [a.take(number) for number in range(classes)]
    sentence = "a.pooled() is not the sum of the classes."
    laws.hold("pooling", reduce(add, each).allclose(a.pooled(), TIGHT), sentence)
    both = a.pooled() + b.pooled()
    sentence = "(a + b).pooled() is not a.pooled() + b.pooled()."
    laws.hold("pooling", (a + b).pooled().allclose(both, TIGHT), sentence)
    if isinstance(a, Groups):
        return
    index = np.arange(classes)[::-1] * 2
    wide = a.expand(index, 2 * classes)
    sentence = "what was expanded to more classes is not there."
    laws.hold("pooling", wide.take(index).allclose(a, 0.0), sentence)
    sentence = "classes that were added hold something."
    laws.hold("pooling", wide.take(index + 1).allclose(a.zero(), 0.0), sentence)
    for number in range(classes):
        alone = a.take(number) + b.take(number)
        sentence = f"class {number} of a + b is not that of a and of b."
        laws.hold("pooling", (a + b).take(number).allclose(alone, TIGHT), sentence)
