"""Rows of held-out folds: the log-likelihoods of blocks that have not learned them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suffice.combine.combination import TWO
from suffice.logistic.binary import BinaryLogLikelihood, FeatureRows, SparseBinaryLogLikelihood
from suffice.logistic.likelihood import RowLogLikelihood
from suffice.logistic.multiclass import MulticlassFeatureLogLikelihood, MulticlassLogLikelihood
from suffice.tally.tally import Floats

# Log-likelihoods and priors of rows by classes and blocks; of two classes, their differences.
HeldOutRows = BinaryLogLikelihood | MulticlassLogLikelihood

# Nats from which on what classes have in common is taken off, and from which on down a class is as
# good as impossible.
LARGE, IMPOSSIBLE = 1e6, -1e9
# Features to each of those that a row has, from which on sparse rows are quicker.
FEATURES_A_VALUE = 2


def remove_common(log_likelihoods: Floats) -> Floats:
    """Return log-likelihoods (n, C), less what all classes have in common where they are large.

    Beside a common part of 1e20 no difference of the classes is left, and what is infinite
    has no information; a class that is impossible by then is as good as impossible.

    Examples
    --------
    >>> said = np.array([[-1e8, -1e8 - 2.0], [-np.inf, -np.inf], [0.0, -np.inf]])
    >>> remove_common(said).tolist()
    [[0.0, -2.0], [0.0, 0.0], [0.0, -1000000000.0]]
    """
    if np.abs(log_likelihoods).max(initial=0.0) < LARGE:
        return log_likelihoods
    top = log_likelihoods.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        left = np.where(np.isfinite(top), log_likelihoods - top, 0.0)
    return np.asarray(np.maximum(left, IMPOSSIBLE))


def log_ratio(log_likelihoods: Floats) -> Floats:
    """Return log-likelihoods (n, C) without common parts; of two classes, their difference (n,).

    Examples
    --------
    >>> log_ratio(np.array([[-1.0, -3.0]])), log_ratio(np.array([[-1.0, -3.0, -2.0]]))
    (array([-2.]), array([[-1., -3., -2.]]))
    """
    said = remove_common(log_likelihoods)
    return said if said.shape[1] != TWO else np.asarray(said[:, 1] - said[:, 0])


def held_out_rows(
    log_prior: Floats,
    left_out_prior: Floats,
    log_ratios: Sequence[Floats],
    class_index: NDArray[np.int32],
    row_weights: Floats,
) -> HeldOutRows:
    """Return rows, given log priors (n, C) and the `log_ratio` of each of K blocks.

    See `MulticlassLogLikelihood`.
    """
    own = class_index, row_weights
    if log_prior.shape[1] != TWO:
        empty = np.empty((*log_prior.shape, 0))
        said = np.stack(log_ratios, axis=2) if log_ratios else empty
        return MulticlassLogLikelihood(log_prior, left_out_prior, said, *own)
    said = np.stack(log_ratios, axis=1) if log_ratios else np.empty((len(class_index), 0))
    odds, left_out_odds = (prior[:, 1] - prior[:, 0] for prior in (log_prior, left_out_prior))
    return BinaryLogLikelihood(said, odds, left_out_odds, *own)


def add_features(rows: HeldOutRows, features: FeatureRows) -> tuple[RowLogLikelihood, int]:
    """Return the same rows with features beside the blocks, and how many residual coefficients.

    A coefficient is what one feature adds to one class; of two classes, to the second.
    """
    if isinstance(rows, BinaryLogLikelihood):
        if features.at.shape[1] * FEATURES_A_VALUE <= features.width:
            return SparseBinaryLogLikelihood.with_features(rows, features), features.width
        both = np.concatenate([rows.log_ratios, features.dense()], axis=1)
        return replace(rows, log_ratios=both), features.width
    own = rows.class_index, rows.row_weights
    constant = np.ones((len(rows.class_index), 1))
    dense = np.concatenate([constant, features.dense()], axis=1)
    every = MulticlassFeatureLogLikelihood(dense, rows.log_likelihoods, rows.log_prior, *own)
    return every, rows.size[0] * features.width


def own_log_proba(scores: Floats, class_index: NDArray[np.int32]) -> Floats:
    """Return the log softmax of scores (n, C) at one class of each row, (n,).

    Examples
    --------
    >>> np.exp(own_log_proba(np.log([[1.0, 3.0], [1.0, 1.0]]), np.array([1, 0])))
    array([0.75, 0.5 ])
    """
    if scores.shape[1] == TWO:
        margins = scores[:, 1] - scores[:, 0]
        return -np.logaddexp(0.0, np.where(class_index == 1, -margins, margins))
    if not scores.size:
        return np.zeros(len(scores))
    own = scores[np.arange(len(scores)), class_index]
    # Class by class, because sums along a short axis are slow.
    columns = scores.T
    top = columns[0].copy()
    for column in columns[1:]:
        np.maximum(top, column, out=top)
    total = np.zeros(len(scores))
    for column in columns:
        total += np.exp(column - top)
    return np.asarray(own - top - np.log(total))
