"""How blocks' log-likelihoods make probabilities: weights, offsets, residuals and a noise rate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from suffice.scoring.scorer import log_softmax, mix_with_uniform
from suffice.tally.tally import Floats, readonly_copy


@dataclass(frozen=True, eq=False)
class Combination:
    """(1 - noise_rate) softmax(log_prior + offsets + sum_k w_k L_k + f B) + noise_rate / C.

    See docs: mathematics, section 10.

    Parameters
    ----------
    method : {"shares", "naive", "temperature", "blocks", "residual", "auto"}
        "shares" are those of the classes, without the blocks; "auto" is an average of the others,
        weighted by leave-one-out likelihood.
    weights : (K,)
        How much each block's log-likelihood counts, 0 or more; 1 is naive Bayes, one number
        for all is an inverse temperature.
    offsets : (C,)
        What is added for each class.
    noise_rate : float
        Share of the uniform distribution that probabilities are mixed with, so that a few
        mislabelled rows cannot flatten all of them.
    weight_scale : float
        Prior standard deviation of the weights around their common temperature.
    held_out_log_loss : float
        Mean of -log p of the own class of rows that neither blocks nor weights have learned.
    residual_coefficients : (F, C)
        B: what each feature f of a row adds to the score of each class; F may be 0.
    residual_scale : float
        Prior standard deviation of the residual coefficients around 0.

    Examples
    --------
    >>> halved = Combination("temperature", [0.5, 0.5], [0.0, 0.0])
    >>> agreed = np.log([[[0.9, 0.9], [0.1, 0.1]]])
    >>> np.exp(halved.apply(agreed, np.zeros((1, 2)))).round(2)
    array([[0.9, 0.1]])
    """

    method: str
    weights: Floats
    offsets: Floats
    noise_rate: float = 0.0
    weight_scale: float = 0.0
    held_out_log_loss: float = np.nan
    residual_coefficients: Floats = field(default_factory=lambda: np.empty((0, 0)))
    residual_scale: float = 0.0

    def __post_init__(self) -> None:
        if not np.size(self.residual_coefficients):
            none = np.empty((0, len(self.offsets)))
            object.__setattr__(self, "residual_coefficients", none)
        for name in ("weights", "offsets", "residual_coefficients"):
            object.__setattr__(self, name, readonly_copy(getattr(self, name)))

    @classmethod
    def naive(cls, blocks: int, classes: int) -> Combination:
        """Return naive Bayes: every block counts as it is."""
        return cls("naive", np.ones(blocks), np.zeros(classes))

    @property
    def params(self) -> Floats:
        """Offsets and weights, (C + K,), as likelihoods of blocks take them."""
        return np.concatenate([self.offsets, self.weights])

    def with_params(self, params: Floats, held_out_log_loss: float) -> Combination:
        """Return the same with fitted parameters: offsets, weights, residual coefficients.

        One weight may stand for all; of two classes, only the second has residual coefficients.
        """
        classes, features = len(self.offsets), len(self.residual_coefficients)
        offsets, rest = params[:classes], params[classes:]
        first = len(rest) - features * (1 if classes == 2 else classes)
        B = rest[first:].reshape(features, -1) if features else self.residual_coefficients
        if features and classes == 2:
            B = np.concatenate([np.zeros((features, 1)), B], axis=1)
        return replace(
            self,
            offsets=offsets,
            weights=np.broadcast_to(rest[:first], self.weights.shape),
            residual_coefficients=B,
            held_out_log_loss=held_out_log_loss,
        )

    def apply(
        self, log_likelihoods: Floats, log_prior: Any = 0.0, offset_share: Any = 1.0
    ) -> Floats:
        """Return log p(class | x), (n, C), of rows without features.

        Parameters
        ----------
        log_likelihoods : (n, C, K), or (n, C) of one block
            A class of -inf stays impossible.
        log_prior : (n, C), optional
        offset_share : (n,), optional
            How much of the offsets is added to each row.
        """
        blocks = log_likelihoods if log_likelihoods.ndim > 2 else log_likelihoods[:, :, None]
        impossible = np.isneginf(blocks)
        some = impossible.any()
        if some:
            impossible = np.asarray(impossible.any(axis=2))
            blocks = np.where(impossible[:, :, None], 0.0, blocks)
        # Of one block a plain multiplication is quicker than a product of matrices.
        one = len(self.weights) == 1
        scores = self.weights[0] * blocks[:, :, 0] if one else blocks @ self.weights
        scores = scores + np.atleast_1d(offset_share)[:, None] * self.offsets + log_prior
        return self.normalize(np.where(impossible, -np.inf, scores) if some else scores)

    def normalize(self, scores: Floats) -> Floats:
        """Return log p(class | x), (n, C), given weighted scores with their offsets."""
        log_proba = log_softmax(scores)
        return mix_with_uniform(log_proba, self.noise_rate, log_proba.shape[1])


class Calibration(Combination):
    """A combination of one block: log-probabilities divided by a temperature, with offsets.

    (1 - noise_rate) softmax(inverse_temperature log p + offsets) + noise_rate / C

    Parameters
    ----------
    inverse_temperature : float
        The weight of the block: 1 leaves probabilities as they are; less makes them less extreme.
    offsets : (C,)
        What is added for each class.
    noise_rate : float
        Share of the uniform distribution that probabilities are mixed with.

    Examples
    --------
    >>> halved = Calibration(0.5, np.zeros(2))
    >>> np.exp(halved.apply(np.log([[0.9, 0.1]]))).round(2)
    array([[0.75, 0.25]])
    """

    def __init__(
        self, inverse_temperature: float, offsets: Floats, noise_rate: float = 0.0
    ) -> None:
        weights = np.array([inverse_temperature])
        super().__init__("temperature", weights, offsets, noise_rate=noise_rate)

    @property
    def inverse_temperature(self) -> float:
        """What log-probabilities are multiplied by."""
        return float(self.weights[0])

    @property
    def temperature(self) -> float:
        """What log-probabilities are divided by."""
        weight = self.inverse_temperature
        return 1.0 / weight if weight > 0 else np.inf
