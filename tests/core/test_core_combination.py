"""Likelihoods of combined blocks and of rows of few features, against the same in plain numpy."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from suffice import _core


class Blocks:
    """Random log-likelihoods of blocks, with classes and weights of rows."""

    def __init__(self, rows, classes, blocks, seed=0, impossible=False):
        rng = np.random.default_rng(seed)
        self.parts = rng.normal(size=(rows, classes, blocks))
        self.base = rng.normal(size=(rows, classes))
        self.codes = rng.integers(0, classes, rows).astype(np.int32)
        if impossible and classes > 1:
            self.base[np.arange(rows), (self.codes + 1) % classes] = -np.inf
        self.row_weights = rng.exponential(size=rows)
        self.offsets, self.weights = rng.normal(size=classes), rng.normal(size=blocks)

    @property
    def scores(self):
        return self.base + self.offsets + self.parts @ self.weights

    @property
    def arguments(self):
        own = self.codes, self.row_weights
        return self.parts, self.base, *own, self.offsets, self.weights


def derivatives_of(case):
    """Return loss, gradient of - loss and Hessian, row by row."""
    rows, classes, blocks = case.parts.shape
    loss, gradient = 0.0, np.zeros(classes + blocks)
    hessian = np.zeros((classes + blocks, classes + blocks))
    for i in range(rows):
        log_p, w = log_softmax(case.scores[i]), case.row_weights[i]
        p, lines = np.exp(log_p), np.hstack([np.eye(classes), case.parts[i]])
        loss -= w * log_p[case.codes[i]]
        gradient += w * (np.eye(classes)[case.codes[i]] - p) @ lines
        hessian += w * lines.T @ (np.diag(p) - np.outer(p, p)) @ lines
    return loss, gradient, hessian


def same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (65, 2), (300, 20), (40, 700)])
@pytest.mark.parametrize("impossible", [False, True])
@pytest.mark.parametrize("weight", [0.0, 0.7, 8.0])
def test_one_weight_has_the_derivatives_of_its_formula(shape, impossible, weight, ranges, threads):
    case = Blocks(*shape, 1, impossible=impossible)
    case.offsets, case.weights = np.zeros(shape[1]), np.array([weight])
    loss, gradient, hessian = derivatives_of(case)
    given = case.parts[:, :, 0], case.base, case.codes, case.row_weights, weight
    found = _core.weight_derivatives(*given)
    same(found, (loss, gradient[-1], hessian[-1, -1]))
    ranges(99)
    short = _core.weight_derivatives(*given)
    same(short, found)
    threads(1)
    assert _core.weight_derivatives(*given) == short


SHAPES = [(0, 3, 2), (1, 1, 1), (5, 2, 0), (64, 3, 1), (65, 2, 7), (300, 12, 3), (40, 700, 2)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("impossible", [False, True])
def test_blocks_have_the_derivatives_of_their_formula(shape, impossible, ranges):
    case = Blocks(*shape, impossible=impossible)
    wanted = derivatives_of(case)
    same(_core.combination_derivatives(*case.arguments), wanted)
    ranges(64)
    same(_core.combination_derivatives(*case.arguments), wanted)


def test_threads_and_instruction_sets_change_no_bit(threads, ranges, instruction_sets):
    case = Blocks(500, 5, 3)
    ranges(256)
    seen = []
    for use in instruction_sets:
        use()
        for count in (1, 2, 3):
            threads(count)
            found = _core.combination_derivatives(*case.arguments)
            seen.append(b"".join(np.asarray(part).tobytes() for part in found))
    assert len(set(seen)) == 1


def left_out_by_hand(parts, hessian, codes, weights, scores):
    """Newton's step from all rows to all but one, row by row, with numpy."""
    rows, classes, _ = parts.shape
    out = np.empty((rows, classes))
    inverse = np.linalg.inv(hessian)
    for i in range(rows):
        lines = np.hstack([np.eye(classes), parts[i]])
        p = softmax(scores[i])
        information = weights[i] * (np.diag(p) - np.outer(p, p))
        pull = weights[i] * (np.eye(classes)[codes[i]] - p)
        without = hessian - lines.T @ information @ lines
        out[i] = scores[i] - lines @ np.linalg.solve(without, lines.T @ pull)
    assert inverse.shape == hessian.shape
    return out


@pytest.mark.parametrize("classes", [3, 12, 40])
@pytest.mark.parametrize("sharpness", [0.1, 10.0])
def test_rows_leave_the_weights_of_many_classes_as_by_hand(classes, sharpness):
    rng = np.random.default_rng(classes)
    rows, blocks = 120, 2
    parts = rng.normal(size=(rows, classes, blocks))
    codes, weights = rng.integers(0, classes, rows).astype(np.int32), rng.uniform(0.5, 2.0, rows)
    scores = sharpness * rng.normal(size=(rows, classes))
    hessian = np.eye(classes + blocks)
    for i in range(rows):
        lines, p = np.hstack([np.eye(classes), parts[i]]), softmax(scores[i])
        hessian += weights[i] * lines.T @ (np.diag(p) - np.outer(p, p)) @ lines
    found = _core.left_out_scores(parts, np.linalg.inv(hessian), codes, weights, scores)
    expected = left_out_by_hand(parts, hessian, codes, weights, scores)
    np.testing.assert_allclose(
        log_softmax(found, axis=1), log_softmax(expected, axis=1), rtol=1e-5, atol=1e-5
    )


def test_a_row_alone_is_left_out_as_any_other():
    case = Blocks(50, 3, 2)
    _, _, hessian = derivatives_of(case)
    inverse = np.linalg.inv(hessian + np.eye(5))
    own = case.codes, case.row_weights
    whole = _core.left_out_scores(case.parts, inverse, *own, case.scores)
    for at in (0, 49):
        one = slice(at, at + 1)
        alone = _core.left_out_scores(
            case.parts[one], inverse, *(part[one] for part in (*own, case.scores))
        )
        np.testing.assert_array_equal(alone[0], whole[at])


class Features:
    """Rows of a few of many features."""

    def __init__(self, rows, wide, features, seed=0):
        rng = np.random.default_rng(seed)
        places = [np.sort(rng.choice(features, wide, replace=False)) for _ in range(rows)]
        self.at = np.array(places, np.uint32).reshape(rows, wide)
        self.values = rng.normal(size=(rows, wide)) * (rng.random((rows, wide)) < 0.8)
        self.dense = np.zeros((rows, features))
        np.put_along_axis(self.dense, self.at.astype(np.int64), self.values, axis=1)
        self.base = rng.normal(size=rows)
        self.codes = rng.integers(0, 2, rows).astype(np.int32)
        self.row_weights, self.weights = rng.exponential(size=rows), rng.normal(size=features)


FEATURES = [(0, 2, 3), (1, 1, 1), (127, 3, 9), (129, 4, 40), (700, 1, 5)]


@pytest.mark.parametrize("shape", FEATURES)
def test_features_have_the_derivatives_of_their_formula(shape, ranges):
    case = Features(*shape)
    margins = case.base + case.dense @ case.weights
    p = 1 / (1 + np.exp(-margins))
    loss = case.row_weights @ np.logaddexp(0, np.where(case.codes == 1, -margins, margins))
    gradient = (case.row_weights * (case.codes - p)) @ case.dense
    hessian = case.dense.T @ (case.dense * (case.row_weights * p * (1 - p))[:, None])
    own = case.codes, case.row_weights
    for cells in (None, 64):
        if cells:
            ranges(cells)
        found = _core.feature_derivatives(case.at, case.values, case.base, *own, case.weights)
        same(found, (loss, gradient, hessian))
        found = _core.feature_margins(case.at, case.values, case.base, case.weights)
        np.testing.assert_allclose(found, margins, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", FEATURES)
def test_leverages_are_quadratic_forms_of_rows(shape, ranges):
    case = Features(*shape)
    root = np.random.default_rng(1).normal(size=(shape[2], shape[2]))
    inverse = root @ root.T
    ranges(64)
    wanted = np.einsum("na,ab,nb->n", case.dense, inverse, case.dense)
    found = _core.feature_leverages(case.at, case.values, inverse)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)


def test_features_that_there_are_not_are_refused():
    case = Features(10, 2, 5)
    case.at[3, 1] = 5
    with pytest.raises(ValueError, match="features that there are not"):
        _core.feature_leverages(case.at, case.values, np.eye(5))
