"""How much each block may speak: weights of log-likelihoods, fitted to held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from suffice.scoring.scorer import log_softmax
from suffice.tally.tally import Floats, readonly_copy

TWO = 2


@dataclass(frozen=True, eq=False)
class Combination:
    """(1 - lapse) softmax(base + offsets + sum_k w_k L_k + f B) + lapse / C (mathematics, 10).

    Parameters
    ----------
    how : {"shares", "naive", "temperature", "blocks", "corrected", "auto"}
        "shares" are those of the classes, whatever the blocks say; "auto" is a mean of the others,
        by their prior odds and how credible each makes held-out rows.
    weights : (K,)
        How much each block's log-likelihood counts, 0 or more; 1 is naive Bayes, one number
        for all is a temperature.
    offsets : (C,)
        What is added for each class.
    lapse : float
        The noise rate: share of rows of which the model knows nothing, however sure it is.
    spread : float
        Standard deviation of the weights around their common temperature, before the rows.
    corrections : (F, C)
        B: what each feature f of a row adds to the score of each class; F may be 0.
    correction_spread : float
        Standard deviation of the corrections around 0, before the rows.
    held_out_log_loss : float
        Mean of -log p of the own class of rows that neither blocks nor weights have learned.

    Examples
    --------
    >>> halved = Combination("temperature", [0.5, 0.5], [0.0, 0.0])
    >>> agreed = np.log([[[0.9, 0.9], [0.1, 0.1]]])
    >>> np.exp(halved.log_proba(np.zeros((1, 2)), agreed)).round(2)
    array([[0.9, 0.1]])
    """

    how: str
    weights: Floats
    offsets: Floats
    lapse: float = 0.0
    spread: float = 0.0
    held_out_log_loss: float = np.nan
    corrections: Floats = field(default_factory=lambda: np.empty((0, 0)))
    correction_spread: float = 0.0

    def __post_init__(self) -> None:
        found = self.corrections if np.size(self.corrections) else np.empty((0, len(self.offsets)))
        object.__setattr__(self, "weights", readonly_copy(self.weights))
        object.__setattr__(self, "offsets", readonly_copy(self.offsets))
        object.__setattr__(self, "corrections", readonly_copy(found))

    @classmethod
    def naive(cls, blocks: int, classes: int) -> Combination:
        """Return the combination that believes every block as it is."""
        return cls("naive", np.ones(blocks), np.zeros(classes))

    def having(self, unknowns: Floats) -> Combination:
        """Return the same with unknowns as they were fitted: offsets, weights, corrections.

        One weight may stand for all; of two classes, only the second is corrected.
        """
        classes, features = len(self.offsets), len(self.corrections)
        offsets, rest = unknowns[:classes], unknowns[classes:]
        added = features * (1 if classes == TWO else classes)
        weights = np.broadcast_to(rest[: len(rest) - added], self.weights.shape)
        if not features:
            return replace(self, offsets=offsets, weights=weights)
        found = rest[len(rest) - added :].reshape(features, -1)
        if classes == TWO:
            found = np.concatenate([np.zeros((features, 1)), found], axis=1)
        return replace(self, offsets=offsets, weights=weights, corrections=found)

    def log_proba(self, base: Floats, parts: Floats) -> Floats:
        """Return log p(class | x), (n, C), given base (n, C) and parts (n, C, K)."""
        return self.finished(base + self.offsets + parts @ self.weights)

    def finished(self, scores: Floats) -> Floats:
        """Return log p(class | x), (n, C), given weighted scores with their offsets."""
        return lapsed(log_softmax(scores), self.lapse)


def lapsed(log_proba: Floats, lapse: float) -> Floats:
    """Return log-probabilities (n, C), mixed with a share of the uniform distribution."""
    if lapse == 0:
        return np.asarray(log_proba)
    anything = np.log(lapse / log_proba.shape[1])
    return np.asarray(np.logaddexp(log_proba + np.log1p(-lapse), anything))
