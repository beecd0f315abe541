"""Sums of cubes by hand, and searchlights whose rows are left out by counting the others."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from suffice import _core
from suffice._core import WIDE, cube_sums


@given(
    sides=st.tuples(*[st.integers(1, 9)] * 3),
    width=st.sampled_from([1, 3, 5, WIDE, WIDE + 4]),
    seed=st.integers(0, 99),
)
def test_cubes_are_added_up_as_by_hand(sides, width, seed):
    check_cubes(sides, width, seed)


@pytest.mark.parametrize("width", [3, WIDE - 2, WIDE, WIDE + 2, 2 * WIDE + 1])
@pytest.mark.parametrize("sides", [(1, 3, 3 * WIDE + 4), (2, 2 * WIDE, 2), (WIDE + 1, 1, 3)])
def test_wide_cubes_are_added_up_as_by_hand(sides, width):
    check_cubes(sides, width, 0)


def check_cubes(sides, width, seed):
    values = np.random.default_rng(seed).normal(size=sides)
    found, radius = cube_sums(values.ravel(), np.array(sides), width).reshape(sides), width // 2
    for place in product(*(range(side) for side in sides)):
        box = tuple(slice(max(0, at - radius), at + radius + 1) for at in place)
        np.testing.assert_allclose(found[place], values[box].sum(), atol=1e-11)


def test_an_impossible_cell_spoils_the_wide_windows_that_it_is_in_and_no_others():
    values = np.zeros(4 * WIDE)
    values[WIDE] = -np.inf
    found = cube_sums(values, np.array([1, 1, 4 * WIDE]), WIDE)
    spoiled = np.flatnonzero(np.isinf(found))
    assert spoiled.tolist() == list(range(WIDE - WIDE // 2, WIDE + WIDE // 2 + 1))
    assert not np.isnan(found).any()


def case(rows=23, sides=(2, 3, 4), classes=3, folds=5, seed=0):
    """Return rows of some voxels of a grid, their classes, folds and places."""
    rng = np.random.default_rng(seed)
    cells = np.flatnonzero(rng.random(np.prod(sides)) < 0.8)
    codes = rng.permutation(np.arange(rows) % classes).astype(np.int32)
    X = rng.normal(size=(rows, len(cells))) + rng.normal(size=(classes, len(cells)))[codes]
    return 10 * X, codes, rng.permutation(np.arange(rows) % folds), cells, np.array(sides)


def moments_of(X, codes, classes):
    one_hot = codes[:, None] == np.arange(classes)
    counts = one_hot.sum(axis=0).astype(float)
    with np.errstate(invalid="ignore"):
        mean = np.nan_to_num((one_hot.T @ X) / counts[:, None])
    scatter = np.stack([((X[codes == c] - mean[c]) ** 2).sum(axis=0) for c in range(classes)])
    return counts, mean, scatter


def right_by_hand(X, codes, fold_of, cells, sides, width, prior, tied):
    """Count the rows that cubes tell, by the moments of all rows outside of their fold."""
    X, classes = X.astype(float), codes.max() + 1
    right = np.zeros(len(cells), int)
    for i, own in enumerate(codes):
        rest = fold_of != fold_of[i]
        n, mean, squares = moments_of(X[rest], codes[rest], classes)
        size = n[:, None]
        if prior.size:
            squares = squares + prior[1] * size / (prior[1] + size) * (mean - prior[0]) ** 2
        if tied:
            squares, size = squares.sum(axis=0), n.sum()
        if prior.size:
            k = prior[1] + n[:, None]
            location = (prior[1] * prior[0] + n[:, None] * mean) / k
            shape, spread = prior[2] + size / 2, (2 * prior[3] + squares) * (1 + 1 / k)
            density = gammaln(shape + 0.5) - gammaln(shape) - 0.5 * np.log(np.pi * spread)
            density = density - (shape + 0.5) * np.log1p((X[i] - location) ** 2 / spread)
        else:
            variance = np.broadcast_to(squares / size, mean.shape)
            density = -0.5 * (np.log(2 * np.pi * variance) + (X[i] - mean) ** 2 / variance)
        grid = np.zeros((classes, np.prod(sides)))
        grid[:, cells] = density
        sums = np.stack([cube_sums(one, sides, width) for one in grid])[:, cells]
        scores = np.log(n + (prior.size > 0))[:, None] + sums
        right += scores.argmax(axis=0) == own
    return right


def searchlight(X, codes, fold_of, cells, sides, width, prior, tied):
    order = np.argsort(fold_of, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(fold_of))])
    moments = moments_of(X.astype(float), codes, codes.max() + 1)
    return _core.searchlight(
        X, codes, fold_of, order, starts, *moments, prior, tied, 1e-6, cells, sides, width
    )


TYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8, np.int16]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("integrated", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_cubes_tell_rows_that_they_have_not_learned(dtype, tied, integrated, order, ranges):
    X, codes, fold_of, cells, sides = case()
    X = np.asarray(np.abs(X) if dtype == np.uint8 else X, order=order).astype(dtype)
    prior = np.empty((0, 0, 0))
    if integrated:
        prior = np.random.default_rng(3).uniform(0.5, 2, (4, 3, len(cells)))
    rest = (X, codes, fold_of, cells, sides, 3, prior, tied)
    expected = right_by_hand(*rest)
    for cells_a_range in (1 << 19, 1):
        ranges(cells_a_range)
        right, flat = searchlight(*rest)
        np.testing.assert_array_equal(right, expected)
        assert not flat.any()


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_moments_that_lost_their_digits_are_counted_again(offset):
    X, codes, fold_of, cells, sides = case(folds=23)
    X[4] += 1e6  # all but a millionth of its class's scatter is this row's
    X += offset
    rest = (X, codes, fold_of, cells, sides, 3, np.empty((0, 0, 0)), False)
    np.testing.assert_array_equal(searchlight(*rest)[0], right_by_hand(*rest))


def test_voxels_that_do_not_vary_within_a_class_are_marked():
    X, codes, fold_of, cells, sides = case(folds=23)
    X[codes == 1, 2] = 0.5
    flat = searchlight(X, codes, fold_of, cells, sides, 3, np.empty((0, 0, 0)), False)[1]
    assert np.argwhere(flat).tolist() == [[1, 2]]


def test_a_class_of_which_nothing_is_left_is_none():
    X, codes, fold_of, cells, sides = case()
    fold_of = np.where(codes == 2, 0, fold_of)  # all of class 2, and some of the others
    right, _ = searchlight(X, codes, fold_of, cells, sides, 1, np.empty((0, 0, 0)), False)
    assert right.max() <= np.sum(codes != 2)


def test_parts_that_do_not_fit_are_refused():
    good = list(case())
    for place, wrong in [(1, good[1] - 1), (3, good[3] + 99), (4, np.array([0, 3, 4]))]:
        bad = [*good]
        bad[place] = wrong
        with pytest.raises(ValueError, match=r"there are not|outside|without cells|fit"):
            searchlight(*bad, 3, np.empty((0, 0, 0)), False)
    with pytest.raises(ValueError, match="fit"):
        searchlight(*good, 2, np.empty((0, 0, 0)), False)
