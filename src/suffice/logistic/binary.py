"""The log-likelihood of two classes, whose scores differ by one number a row: the margin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.logistic.likelihood import Derivatives
from suffice.tally.tally import Floats

# The two offsets come first among the parameters.
OFFSETS = 2


@dataclass(frozen=True, eq=False)
class BinaryLogLikelihood:
    """sum_i w_i log p(y_i | x_i) of two classes, p the logistic function of a margin.

    The margin is log prior odds + offset_1 - offset_0 + log_ratios w, with a weight w for each
    block. Parameters are the two offsets and the weights, (2 + K,).

    Parameters
    ----------
    log_ratios : (n, K)
        Log-likelihood ratios of the second class to the first, by block.
    log_prior : (n,)
        Log prior odds of the second class.
    left_out_prior : (n,)
        The same without the row: what a combination that fits no offsets starts from.
    class_index : (n,)
        The rows' own classes.
    row_weights : (n,)

    Examples
    --------
    >>> prior, own = np.zeros(1), np.array([1], np.int32)
    >>> rows = BinaryLogLikelihood(np.array([[2.0, -1.0]]), prior, prior, own, np.ones(1))
    >>> rows.scores(np.array([0.0, 1.0, 3.0, 2.0]))
    array([[0., 5.]])
    """

    log_ratios: Floats
    log_prior: Floats
    left_out_prior: Floats
    class_index: NDArray[np.int32]
    row_weights: Floats

    @property
    def size(self) -> tuple[int, int]:
        """Classes and blocks."""
        return 2, int(self.log_ratios.shape[1])

    def take(self, at: NDArray[Any]) -> Self:
        """Return the rows at these numbers, or of this mask."""
        priors = self.log_prior[at], self.left_out_prior[at]
        return type(self)(self.log_ratios[at], *priors, self.class_index[at], self.row_weights[at])

    def sum_blocks(self) -> Self:
        """Return the same with all blocks added up to one."""
        return replace(self, log_ratios=self.log_ratios.sum(axis=1, keepdims=True))

    def block_scores(self, block: int) -> Floats:
        """Return the log-likelihoods of one block, (n, 2), up to a number for each row."""
        return margin_scores(self.log_ratios[:, block])

    def margins(self, params: Floats) -> Floats:
        """Return the margin of every row, (n,)."""
        return np.asarray(self.log_prior + (params[1] - params[0]) + self.log_ratios @ params[2:])

    def scores(self, params: Floats) -> Floats:
        """Return the scores of all rows, (n, 2); those of the first class are 0."""
        return margin_scores(self.margins(params))

    def scores_without_row(self, params: Floats) -> Floats:
        """Return the scores of all rows, (n, 2), under the prior without the row."""
        return margin_scores(self.margins(params) + (self.left_out_prior - self.log_prior))

    def derivatives(self, params: Floats, sample: int = 1) -> Derivatives:
        """Return value, gradient and Hessian, always of all rows."""
        blocks = self.log_ratios.shape[1]
        # The core gives the first class the margin, and the intercept the last place.
        own = np.int32(1) - self.class_index, self.row_weights
        units = np.zeros(blocks), np.ones(blocks)
        V = np.append(params[OFFSETS:], params[1] - params[0])[None]
        loss, _, _, gradient, hessian = _core.softmax_derivatives(
            self.log_ratios, self.log_prior, *own, *units, V, True, 1
        )
        return split_offsets(-loss, -np.roll(gradient[0], 1), np.roll(hessian, 1, axis=(0, 1)))

    def left_out_scores(self, params: Floats, lower: Floats) -> Floats:
        """Return the scores, (n, 2), under parameters that were fitted without the row."""
        root = np.linalg.inv(lower)
        solved = self.log_ratios @ root[:, OFFSETS:].T
        solved += root[:, 1] - root[:, 0]
        leverage = np.einsum("np,np->n", solved, solved)
        own = self.class_index, self.row_weights
        return margin_scores(left_out_margins(self.margins(params), leverage, *own))


def split_offsets(value: float, gradient: Floats, hessian: Floats) -> Derivatives:
    """Return derivatives by two offsets, given those by their difference, which come first.

    What goes to one of the offsets comes from the other.
    """
    gradient = np.concatenate([-gradient[:1], gradient])
    hessian = np.concatenate([-hessian[:1], hessian])
    return Derivatives(value, gradient, np.concatenate([-hessian[:, :1], hessian], axis=1))


def left_out_margins(
    margins: Floats, leverage: Floats, class_index: NDArray[np.int32], row_weights: Floats
) -> Floats:
    """Return margins (n,) without the row, given its leverage x^T H^-1 x, (n,)."""
    small = np.exp(-np.abs(margins))
    proba = np.where(margins >= 0, 1.0, small) / (1.0 + small)
    variance = small / np.square(1.0 + small)
    change = leverage * row_weights * (class_index - proba)
    return np.asarray(margins - change / (1.0 - row_weights * variance * leverage))


def margin_scores(margins: Floats) -> Floats:
    """Return scores (n, 2) that differ by these margins (n,); those of the first class are 0."""
    out = np.zeros((len(margins), 2))
    out[:, 1] = margins
    return out


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """W features of each of n rows, of m that there are; the others are 0.

    Parameters
    ----------
    at : (n, W)
        Their numbers, increasing along a row.
    values : (n, W)
        A value of 0 may stand at any number.
    width : int
        m.

    Examples
    --------
    >>> at = np.array([[0, 2], [1, 2]], np.uint32)
    >>> FeatureRows(at, np.array([[1.0, 5.0], [1.0, 0.0]]), 3).dense()
    array([[1., 0., 5.],
           [0., 1., 0.]])
    """

    at: NDArray[np.uint32]
    values: Floats
    width: int

    def __len__(self) -> int:
        return len(self.at)

    def take(self, numbers: NDArray[Any]) -> Self:
        """Return the rows of these numbers, or of this mask."""
        return type(self)(self.at[numbers], self.values[numbers], self.width)

    def dense(self) -> Floats:
        """Return all features, (n, m)."""
        out = np.zeros((len(self.at), self.width))
        rows = np.arange(len(self.at))[:, None]
        # Zeros may stand where another feature does.
        np.add.at(out, (rows, self.at), self.values)
        return out


@dataclass(frozen=True, eq=False)
class SparseBinaryLogLikelihood:
    """`BinaryLogLikelihood` of sparse rows: margins are log prior odds + u_1 - u_0 + features w.

    Parameters
    ----------
    features : FeatureRows
        The first is 1 in every row: it carries the offsets.
    log_prior : (n,)
        Log prior odds of the second class.
    class_index : (n,)
        The rows' own classes.
    row_weights : (n,)
    """

    features: FeatureRows
    log_prior: Floats
    class_index: NDArray[np.int32]
    row_weights: Floats

    @classmethod
    def with_features(cls, rows: BinaryLogLikelihood, features: FeatureRows) -> Self:
        """Return the rows of K blocks, with further features."""
        size, blocks = rows.log_ratios.shape
        at = np.arange(1 + blocks, dtype=np.uint32)
        every = np.concatenate(
            [np.broadcast_to(at, (size, 1 + blocks)), features.at + np.uint32(1 + blocks)], axis=1
        )
        values = np.concatenate([np.ones((size, 1)), rows.log_ratios, features.values], axis=1)
        both = FeatureRows(np.ascontiguousarray(every), values, 1 + blocks + features.width)
        return cls(both, rows.log_prior, rows.class_index, rows.row_weights)

    @property
    def size(self) -> tuple[int, int]:
        """Classes, and parameters other than the offsets."""
        return OFFSETS, self.features.width - 1

    def margins(self, params: Floats) -> Floats:
        """Return the margin of every row, (n,), under offsets and weights (2 + m,)."""
        rows = self.features
        return _core.feature_margins(rows.at, rows.values, self.log_prior, _join_offsets(params))

    def scores(self, params: Floats) -> Floats:
        """Return the scores of all rows, (n, 2); those of the first class are 0."""
        return margin_scores(self.margins(params))

    def derivatives(self, params: Floats, sample: int = 1) -> Derivatives:
        """Return value, gradient and Hessian, always of all rows."""
        rows = self.features
        own = self.class_index, self.row_weights
        loss, gradient, hessian = _core.feature_derivatives(
            rows.at, rows.values, self.log_prior, *own, _join_offsets(params)
        )
        return split_offsets(-loss, gradient, hessian)

    def left_out_scores(self, params: Floats, lower: Floats) -> Floats:
        """Return the scores, (n, 2), under parameters that were fitted without the row."""
        # Entries of the inverse: solving for the few features of each row would be a solve a row.
        root = np.linalg.inv(lower)
        root = np.concatenate([root[:, 1:2] - root[:, :1], root[:, OFFSETS:]], axis=1)
        rows = self.features
        leverage = _core.feature_leverages(rows.at, rows.values, root.T @ root)
        own = self.class_index, self.row_weights
        return margin_scores(left_out_margins(self.margins(params), leverage, *own))


def _join_offsets(params: Floats) -> Floats:
    """Return the weights (1 + m,) of the features, given two offsets and m weights."""
    return np.concatenate([params[1:2] - params[:1], params[OFFSETS:]])
