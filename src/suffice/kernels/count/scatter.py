"""Sums of outer products of x - origin by class, one pass over dense rows."""

from __future__ import annotations

import numpy as np

from suffice.kernels.compiled import kernel
from suffice.kernels.count.moments import finite

# Rows sorted by class together, so that their products are taken many at a time.
BLOCK = 1024
# Rows multiplied at once: small enough that BLAS neither packs the operands nor takes its lock
# (measured best of 32..256 for 20 to 100 columns).
CHUNK = 64
# Above this many columns threads share the columns of one product, below it the rows.
NARROW = 128
# Columns of a product that are one thread's, at a time.
PANEL = 64


@kernel
def class_order(codes, start, stop, classes, ends, order):  # type: ignore[no-untyped-def]
    """Write the rows start..stop into `order`, class by class; ends[c] is where class c ends."""
    for c in range(classes + 1):
        ends[c] = 0
    for i in range(start, stop):
        ends[codes[i] + 1] += 1
    for c in range(classes):
        ends[c + 1] += ends[c]
    for i in range(start, stop):
        c = codes[i]
        order[ends[c]] = i
        ends[c] += 1


@kernel
def centre(X, order, low, high, weights, origin, sum_x, plain, weighed):  # type: ignore[no-untyped-def]
    """Copy rows order[low:high] less their origin, and once more times their weights, if any.

    Returns the weight of the rows.
    """
    if weights.size == 0:
        for at in range(low, high):
            i = order[at]
            for j in range(X.shape[1]):
                d = X[i, j] - origin[j]
                plain[at - low, j] = d
                sum_x[j] += d
        return float(high - low)
    total = 0.0
    for at in range(low, high):
        i = order[at]
        w = weights[i]
        total += w
        for j in range(X.shape[1]):
            d = X[i, j] - origin[j]
            plain[at - low, j] = d
            weighed[at - low, j] = w * d
            sum_x[j] += w * d
    return total


@kernel
def add_scatter(X, codes, weights, origin, weight, sum_x, sum_xx, gappy):  # type: ignore[no-untyped-def]
    """Add whole rows to the sums of their class; blocks that are not finite are only marked.

    weight (C,), sum_x (C, d) and sum_xx (C, d, d) are added to; gappy has an entry a block.
    """
    rows, columns = X.shape
    classes = origin.shape[0]
    order = np.empty(BLOCK, np.int64)
    ends = np.empty(classes + 1, np.int64)
    plain = np.empty((CHUNK, columns))
    weighed = np.empty((CHUNK, columns))
    product = np.empty((columns, columns))
    for start in range(0, rows, BLOCK):
        stop = min(start + BLOCK, rows)
        if not finite(X, start, stop):
            gappy[start // BLOCK] = True
            continue
        class_order(codes, start, stop, classes, ends, order)
        first = 0
        for c in range(classes):
            for low in range(first, ends[c], CHUNK):
                high = min(low + CHUNK, ends[c])
                rows_here = X, order, low, high, weights, origin[c], sum_x[c]
                weight[c] += centre(*rows_here, plain, weighed)
                left = plain[: high - low].T
                if weights.size > 0:
                    np.dot(left, weighed[: high - low], product)
                else:
                    np.dot(left, plain[: high - low], product)
                for j in range(columns):
                    for k in range(columns):
                        sum_xx[c, j, k] += product[j, k]
            first = ends[c]


@kernel
def pack_by_class(X, codes, weights, origin, ends, order, weight, sum_x, packed):  # type: ignore[no-untyped-def]
    """Copy rows class by class, less their origin and times the root of their weight.

    The product of a class's packed rows with themselves is then its weighted scatter. Returns
    False, with nothing added, if a cell is not finite.
    """
    rows, columns = X.shape
    classes = origin.shape[0]
    if not finite(X, 0, rows):
        return False
    class_order(codes, 0, rows, classes, ends, order)
    first = 0
    for c in range(classes):
        for at in range(first, ends[c]):
            i = order[at]
            w = weights[i] if weights.size > 0 else 1.0
            root = np.sqrt(w)
            weight[c] += w
            for j in range(columns):
                d = X[i, j] - origin[c, j]
                packed[at, j] = root * d
                sum_x[c, j] += w * d
        first = ends[c]
    return True
