"""What the naive Bayes models share when each row is left out."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from suffice.data.rows import Rows
from suffice.estimators.answers import GenerativeAnswers
from suffice.generative.legacy_bridge import BecomesLogistic
from suffice.scoring.discrete import is_finite
from suffice.tally.tally import ROUNDING, Floats


class LeavesRowsOut(BecomesLogistic, GenerativeAnswers):
    """Naive Bayes that scores each row by what the others say of it, in closed form."""

    @abstractmethod
    def _left_out_scores(self, rows: Rows) -> Floats:
        """Return log p(x | class), (n, C), of each row without the row."""

    def _left_out_joint(self, rows: Rows) -> Floats:
        prior = self._left_out_log_prior(rows)
        joint = self._left_out_scores(rows)
        gone = prior == -np.inf
        if gone.any():
            joint[gone] = 0.0  # nothing, not even a score of +inf, brings back such a class
        joint += prior
        return _decided(joint, prior)

    def _left_out_log_prior(self, rows: Rows) -> Floats:
        """Return the log prior (n, C) without each row."""
        if rows.weights.size or rows.shape[0] <= rows.classes:
            return super()._left_out_log_prior(rows)
        # Rows of one class and of weight 1 leave the same behind: a row of each will do.
        known, first = np.unique(rows.codes, return_index=True)
        table = np.zeros((rows.classes, rows.classes))
        table[known] = super()._left_out_log_prior(rows.take(first))
        return np.asarray(table[rows.codes])

    def _weights_of(self, rows: Rows) -> Floats:
        """Return the weight of each row, (n,)."""
        return rows.weights if rows.weights.size else np.ones(rows.shape[0])

    def _alone(self, rows: Rows) -> NDArray[np.bool_]:
        """Say of each row whether it is all the weight of its class, (n,)."""
        whole = self.tally_.weights[rows.codes]
        return np.asarray(whole - self._weights_of(rows) <= ROUNDING * whole)


def _decided(joint: Floats, prior: Floats) -> Floats:
    """Answer for rows that no class can have had (their prior), or some with infinite odds."""
    if is_finite(joint):
        return joint
    top = joint.max(axis=1)
    never, surely = np.flatnonzero(np.isneginf(top)), np.flatnonzero(np.isposinf(top))
    joint[never] = prior[never]
    joint[surely] = np.where(np.isposinf(joint[surely]), 0.0, -np.inf)
    joint[surely] -= logsumexp(joint[surely], axis=1, keepdims=True)
    return joint
