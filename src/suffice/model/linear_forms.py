"""Gaussian classes as linear forms in the statistics of a normal (docs: mathematics, section 4)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve

from suffice.model.covariance import solved
from suffice.tally.tally import Floats

Form = tuple[Floats, Floats]


def tied_form(location: Floats, covariance: Floats) -> Form:
    """Return weights of x (C, d) and bias (C,) of normals that share a covariance (d, d)."""
    centre = location.mean(axis=0)
    away = location - centre
    weights = solved(covariance, away.T).T
    bias = -np.einsum("cj,cj->c", away, weights) / 2
    return weights, bias - weights @ centre


def quadratic_form(location: Floats, covariance: Floats) -> Form:
    """Return weights of (x, x_j x_k for j <= k) and bias of normals with a covariance each.

    Parameters
    ----------
    location : (C, d)
    covariance : (C, d, d)
    """
    classes, d = location.shape
    first, second = np.triu_indices(d)
    weights = np.empty((classes, d + len(first)))
    bias = np.empty(classes)
    for c in range(classes):
        root = np.linalg.cholesky(covariance[c])
        precision = cho_solve((root, True), np.eye(d))
        weights[c, :d] = precision @ location[c]
        # Off the diagonal a pair stands for both of its orders.
        weights[c, d:] = -precision[first, second] * np.where(first == second, 0.5, 1.0)
        bias[c] = -location[c] @ weights[c, :d] / 2 - np.log(np.diagonal(root)).sum()
    return weights, bias


def diagonal_form(location: Floats, variance: Floats) -> Form:
    """Return weights of x, or of (x, x^2) if classes differ in variance, and bias.

    Parameters
    ----------
    location, variance : (C, d)
    """
    linear = location / variance
    bias = -(location * linear).sum(axis=1) / 2
    if np.all(variance == variance[0]):
        return linear, bias
    bias = bias - np.log(variance).sum(axis=1) / 2
    return np.hstack([linear, -0.5 / variance]), bias
