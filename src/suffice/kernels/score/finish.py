"""From joint log-probabilities to answers, in place.

A row that is impossible under every class (all -inf) gets the class prior, and is counted. A row
that some classes claim with infinite odds (+inf, complement weights without smoothing) is theirs,
in equal parts.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from suffice.kernels.compiled import exact_kernel
from suffice.kernels.numeric.exponential import exp_of_negatives

# Rows whose exponentials are taken together, while they are in the first cache.
BLOCK = 64


@exact_kernel
def share_infinity(row):  # type: ignore[no-untyped-def]
    """Turn a row with +inf into log shares: equal ones for the infinite classes."""
    infinite = 0
    for c in range(row.size):
        infinite += row[c] == np.inf
    for c in range(row.size):
        row[c] = -log(float(infinite)) if row[c] == np.inf else -np.inf


@exact_kernel
def finish_log_proba(joint, log_prior):  # type: ignore[no-untyped-def]
    """Subtract log p(x) from every row; return how many rows were impossible."""
    impossible = 0
    classes = joint.shape[1]
    for i in range(joint.shape[0]):
        top = joint[i, 0]
        for c in range(1, classes):
            top = max(top, joint[i, c])
        if top == -np.inf:
            impossible += 1
            joint[i, :] = log_prior
            continue
        if top == np.inf:
            share_infinity(joint[i])
            continue
        total = 0.0
        for c in range(classes):
            total += exp(joint[i, c] - top)
        # The top first: beside a large one the log of the total would be lost.
        log_total = log(total)
        for c in range(classes):
            joint[i, c] = joint[i, c] - top - log_total
    return impossible


@exact_kernel
def finish_proba(joint, log_prior):  # type: ignore[no-untyped-def]
    """Turn every row into p(class | x); return how many rows were impossible."""
    impossible = 0
    rows, classes = joint.shape
    flat = joint.reshape(rows * classes)
    bits = np.zeros(BLOCK * classes, np.int64)
    powers = bits.view(np.float64)
    for start in range(0, rows, BLOCK):
        stop = min(start + BLOCK, rows)
        for i in range(start, stop):
            top = joint[i, 0]
            for c in range(1, classes):
                top = max(top, joint[i, c])
            if top == -np.inf:
                impossible += 1
                joint[i, :] = log_prior
                top = 0.0
            elif top == np.inf:
                share_infinity(joint[i])
                top = 0.0
            for c in range(classes):
                joint[i, c] -= top
        exp_of_negatives(flat[start * classes : stop * classes], bits, powers)
        for i in range(start, stop):
            total = 0.0
            for c in range(classes):
                total += joint[i, c]
            scale = 1.0 / total
            for c in range(classes):
                joint[i, c] *= scale
    return impossible


@exact_kernel
def finish_best(joint, log_prior, best):  # type: ignore[no-untyped-def]
    """Write the most probable class of every row; return how many rows were impossible."""
    impossible = 0
    classes = joint.shape[1]
    for i in range(joint.shape[0]):
        top = 0
        for c in range(1, classes):
            if joint[i, c] > joint[i, top]:
                top = c
        if joint[i, top] == -np.inf:
            impossible += 1
            for c in range(classes):
                if log_prior[c] > log_prior[top]:
                    top = c
        best[i] = top
    return impossible


@exact_kernel
def finish_log_density(joint, density):  # type: ignore[no-untyped-def]
    """Write log p(x) of every row: the log of the sum over classes."""
    classes = joint.shape[1]
    for i in range(joint.shape[0]):
        top = joint[i, 0]
        for c in range(1, classes):
            top = max(top, joint[i, c])
        if np.isinf(top):
            density[i] = top
            continue
        total = 0.0
        for c in range(classes):
            total += exp(joint[i, c] - top)
        density[i] = top + log(total)
    return 0
