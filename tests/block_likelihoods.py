"""Log-likelihoods of blocks, for the tests of how they are maximised and combined."""

import numpy as np

from suffice.logistic import MulticlassLogLikelihood


def drawn(n=200, classes=3, blocks=4, seed=0, copies=1, wrong=0.0):
    """Return log-likelihoods of independent normal columns, each counted `copies` times."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    means = rng.normal(scale=1.2, size=(classes, blocks))
    x = means[y] + rng.normal(size=(n, blocks))
    parts = -((x[:, None, :] - means) ** 2) / 2
    codes = np.where(rng.random(n) < wrong, rng.integers(0, classes, n), y)
    parts = np.repeat(parts, copies, axis=2)
    base = np.log(np.full((n, classes), 1 / classes))
    weights = rng.uniform(0.5, 2.0, n)
    return MulticlassLogLikelihood(base, base, parts, codes.astype(np.int32), weights)
