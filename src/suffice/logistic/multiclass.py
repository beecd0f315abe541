"""The log-likelihood of several classes, whose scores are sums over blocks and features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.logistic.likelihood import Derivatives
from suffice.scoring.scorer import log_softmax
from suffice.tally.tally import Floats


@dataclass(frozen=True, eq=False)
class MulticlassLogLikelihood:
    """sum_i w_i log p(y_i | x_i), p the softmax of log_prior + offsets + sum_k w_k L_k.

    Parameters are C offsets and K weights, (C + K,).

    Parameters
    ----------
    log_prior : (n, C)
        Log prior of the classes.
    left_out_prior : (n, C)
        The same without the row: what a combination that fits no offsets starts from. One that
        fits them takes the row out of the offsets.
    log_likelihoods : (n, C, K)
        L: by class and block.
    class_index : (n,)
        The rows' own classes.
    row_weights : (n,)
    """

    log_prior: Floats
    left_out_prior: Floats
    log_likelihoods: Floats
    class_index: NDArray[np.int32]
    row_weights: Floats

    @property
    def size(self) -> tuple[int, int]:
        """Classes and blocks."""
        _, classes, blocks = self.log_likelihoods.shape
        return int(classes), int(blocks)

    def take(self, at: NDArray[Any]) -> Self:
        """Return the rows at these numbers, or of this mask."""
        priors = self.log_prior[at], self.left_out_prior[at]
        own = self.class_index[at], self.row_weights[at]
        return type(self)(*priors, self.log_likelihoods[at], *own)

    def sum_blocks(self) -> Self:
        """Return the same with all blocks added up to one."""
        total = np.ascontiguousarray(self.log_likelihoods.sum(axis=2)[:, :, None])
        return replace(self, log_likelihoods=total)

    def block_scores(self, block: int) -> Floats:
        """Return the log-likelihoods of one block, (n, C)."""
        return np.asarray(self.log_likelihoods[:, :, block])

    def scores(self, params: Floats) -> Floats:
        """Return the scores of all rows, (n, C)."""
        classes, blocks = self.size
        out = self.log_likelihoods.reshape(self.log_prior.size, blocks) @ params[classes:]
        out = out.reshape(self.log_prior.shape)
        out += self.log_prior
        out += params[:classes]
        return np.asarray(out)

    def scores_without_row(self, params: Floats) -> Floats:
        """Return the scores of all rows, (n, C), under the prior without the row."""
        return self.scores(params) + (self.left_out_prior - self.log_prior)

    def derivatives(self, params: Floats, sample: int = 1) -> Derivatives:
        """Return value, gradient and Hessian, always of all rows."""
        classes, _ = self.size
        own = self.class_index, self.row_weights
        loss, gradient, hessian = _core.combination_derivatives(
            self.log_likelihoods, self.log_prior, *own, params[:classes], params[classes:]
        )
        return Derivatives(-loss, gradient, hessian)

    def left_out_scores(self, params: Floats, lower: Floats) -> Floats:
        """Return the scores (n, C) under parameters that were fitted without the row.

        A number that all classes of a row have in common is left open.
        """
        inverse = np.ascontiguousarray(invert(lower))
        own = self.class_index, self.row_weights
        return _core.left_out_scores(self.log_likelihoods, inverse, *own, self.scores(params))


def invert(lower: Floats) -> Floats:
    """Return the inverse of a matrix, given its Cholesky factor.

    Entries of the inverse: solving for each row would be a solve a row.
    """
    root = np.linalg.inv(lower)
    return np.asarray(root.T @ root)


@dataclass(frozen=True, eq=False)
class MulticlassFeatureLogLikelihood:
    """`MulticlassLogLikelihood` with features: p is the softmax of log_prior + sum_k w_k L_k + f B.

    Parameters are C offsets, which are the first row of B, K weights, and the other rows of B. All
    is products of matrices.

    Parameters
    ----------
    features : (n, 1 + F)
        The first is how much of the offsets is added to each row: 1, but for documents.
    log_likelihoods : (n, C, K)
        L: by class and block.
    log_prior : (n, C)
        -inf for a class that a row cannot have.
    class_index : (n,)
        The rows' own classes.
    row_weights : (n,)

    Examples
    --------
    >>> L = np.array([[[1.0], [0.0], [0.0]]])
    >>> features, own, prior = np.array([[1.0, 2.0]]), np.array([1]), np.zeros((1, 3))
    >>> rows = MulticlassFeatureLogLikelihood(features, L, prior, own, np.ones(1))
    >>> rows.scores(np.array([0.0, 0.0, 0.5, 10.0, 1.0, -1.0, 0.5]))
    array([[12. , -2. ,  1.5]])
    """

    features: Floats
    log_likelihoods: Floats
    log_prior: Floats
    class_index: NDArray[np.int32]
    row_weights: Floats

    @property
    def size(self) -> tuple[int, int]:
        """Classes, and parameters other than the offsets."""
        _, classes, blocks = self.log_likelihoods.shape
        return classes, blocks + classes * (self.features.shape[1] - 1)

    @cached_property
    def _one_hot(self) -> Floats:
        own = np.zeros(self.log_prior.shape)
        own[np.arange(len(own)), self.class_index] = 1.0
        return own

    @property
    def _lines(self) -> Floats:
        """(n C, K): a line for each row and class, as products of matrices take them."""
        return self.log_likelihoods.reshape(-1, self.log_likelihoods.shape[2])

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """Where the parameters stand if weights come first, then offsets, then B."""
        classes, blocks = self.log_likelihoods.shape[1:]
        rest = np.arange(classes + blocks, sum(self.size))
        return np.concatenate([classes + np.arange(blocks), np.arange(classes), rest])

    def scores(self, params: Floats) -> Floats:
        """Return the scores of all rows, (n, C)."""
        classes, blocks = self.log_likelihoods.shape[1:]
        weights, added = np.split(params[self._order], [blocks])
        by_blocks = (self._lines @ weights).reshape(-1, classes)
        by_features = self.features @ added.reshape(-1, classes)
        return np.asarray(self.log_prior + by_blocks + by_features)

    def derivatives(self, params: Floats, sample: int = 1) -> Derivatives:
        """Return value, gradient and Hessian, always of all rows."""
        L, w = self.log_likelihoods, self.row_weights[:, None]
        blocks = L.shape[2]
        log_proba = log_softmax(self.scores(params))
        value = float(self.row_weights @ log_proba[np.arange(len(log_proba)), self.class_index])
        proba = np.exp(log_proba)
        residuals = w * (self._one_hot - proba)
        size = sum(self.size)
        gradient, hessian = np.empty(size), np.empty((size, size))
        gradient[:blocks] = residuals.ravel() @ self._lines
        gradient[blocks:] = (self.features.T @ residuals).ravel()
        weighted = w * proba
        away = (L - np.einsum("nc,nck->nk", proba, L)[:, None, :]).reshape(-1, blocks)
        heavy = weighted.reshape(-1, 1) * away
        hessian[:blocks, :blocks] = away.T @ heavy
        crossed = self.features.T @ heavy.reshape(len(L), -1)
        hessian[:blocks, blocks:] = crossed.reshape(-1, blocks).T
        hessian[blocks:, :blocks] = hessian[:blocks, blocks:].T
        hessian[blocks:, blocks:] = self._feature_hessian(proba)
        back = np.argsort(self._order)
        return Derivatives(value, gradient[back], hessian[np.ix_(back, back)])

    def _feature_hessian(self, proba: Floats) -> Floats:
        """Return sum_i w_i (diag p - p p^T) x f f^T by feature and class, row by row."""
        classes, width = proba.shape[1], self.features.shape[1]
        size = classes * width
        out = np.zeros((size, size))
        for start, stop in _core.row_ranges(len(proba), size):
            f, p = self.features[start:stop], proba[start:stop]
            weighted = np.sqrt(self.row_weights[start:stop])[:, None] * p
            each = (f[:, :, None] * weighted[:, None, :]).reshape(-1, size)
            out -= each.T @ each
        corners = out.reshape(width, classes, width, classes)
        for c in range(classes):
            weighted = (self.row_weights * proba[:, c])[:, None] * self.features
            corners[:, c, :, c] += self.features.T @ weighted
        return out

    def left_out_scores(self, params: Floats, lower: Floats) -> Floats:
        """Return the scores, (n, C), under parameters that were fitted without the row."""
        classes = self.log_likelihoods.shape[1]
        scores = self.scores(params)
        proba = np.exp(log_softmax(scores))
        leverage = self._leverages(lower)
        w = self.row_weights[:, None]
        residuals = w * (self._one_hot - proba)
        mean = np.einsum("nc,ncd->nd", proba, leverage)
        # I - W A, with W = w (diag p - p p^T)
        hold = np.eye(classes) - (w * proba)[:, :, None] * (leverage - mean[:, None, :])
        step = np.linalg.solve(hold, residuals[:, :, None])
        return np.asarray(scores - (leverage @ step)[:, :, 0])

    def _leverages(self, lower: Floats) -> Floats:
        """Return x_c^T H^-1 x_d of each row, (n, C, C), with x_c = (L_c, f e_c)."""
        L = self.log_likelihoods
        _, classes, blocks = L.shape
        width = self.features.shape[1]
        inverse = invert(lower)[np.ix_(self._order, self._order)]
        one, other = np.triu_indices(classes)
        corner = inverse[blocks:, blocks:].reshape(width, classes, width, classes)
        by_pair = corner[:, one, :, other].transpose(1, 0, 2).reshape(width, -1)
        out = np.empty((len(L), classes, classes))
        for start, stop in _core.row_ranges(len(L), len(one) * width):
            f = self.features[start:stop]
            reached = (f @ by_pair).reshape(len(f), len(one), width)
            out[start:stop, one, other] = (reached @ f[:, :, None])[:, :, 0]
        out[:, other, one] = out[:, one, other]
        if not blocks:
            return out
        mixed = inverse[:blocks, blocks:].reshape(blocks, width, classes)
        through = np.einsum("nf,kfd->nkd", self.features, mixed, optimize=True)
        crossed = L @ through  # L_c^T (H^-1)_{w, d} f
        own = L @ inverse[:blocks, :blocks] @ np.swapaxes(L, 1, 2)
        return np.asarray(out + crossed + np.swapaxes(crossed, 1, 2) + own)
