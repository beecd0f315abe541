"""Scorers of Gaussian rows with independent features: normal and Student-t."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.data.rows import kernel_ready
from suffice.kernels.score.rows import add_joint_student, add_normal, add_student
from suffice.prior.special import log_gamma_step
from suffice.tally.tally import Floats

LOG_TWO_PI = float(np.log(2 * np.pi))


def dense_block(X: Any, start: int, stop: int) -> Any:
    """Return rows start..stop of an array or CSR matrix as a dense block for a kernel."""
    block = X[start:stop]
    return kernel_ready(block if isinstance(X, np.ndarray) else block.toarray())


@dataclass(frozen=True)
class NormalScorer:
    """Independent normals: mean and variance (C, d)."""

    mean: Floats
    variance: Floats

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        # Arrays of one layout, so that one compiled kernel does for all.
        variance = np.ascontiguousarray(self.variance)
        log_norm = -0.5 * (LOG_TWO_PI + np.log(variance))
        block = dense_block(X, start, stop)
        terms = self.mean, 1.0 / variance, log_norm, log_norm.sum(axis=1)
        return int(add_normal(block, *terms, out))


@dataclass(frozen=True)
class StudentScorer:
    """Independent Student-t's (docs: mathematics, section 2); all arrays (C, d)."""

    degrees: Floats
    location: Floats
    squared_scale: Floats

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        log_norm = log_gamma_step(self.degrees / 2, 0.5)
        log_norm = log_norm - 0.5 * np.log(np.pi * self.degrees * self.squared_scale)
        block = dense_block(X, start, stop)
        terms = self.location, 1.0 / self.squared_scale, self.degrees, log_norm
        return int(add_student(block, *(np.ascontiguousarray(term) for term in terms), out))


@dataclass(frozen=True)
class JointStudentScorer:
    """A multivariate t with diagonal scale: what features that share one variance predict.

    degrees (C,), location (C, d), squared_scale (C, d).
    """

    degrees: Floats
    location: Floats
    squared_scale: Floats

    def fill(self, X: Any, start: int, stop: int, out: Floats) -> int:
        """Add the log-likelihoods of rows start..stop; return a refused row, or -1."""
        seen = np.arange(self.location.shape[1] + 1)
        half = self.degrees[:, None] / 2
        norms = log_gamma_step(half, seen / 2) - seen / 2 * np.log(2 * np.pi * half)
        precision = 1.0 / self.squared_scale
        block = dense_block(X, start, stop)
        terms = self.location, precision, self.degrees, np.log(precision), norms
        return int(add_joint_student(block, *(np.ascontiguousarray(term) for term in terms), out))
