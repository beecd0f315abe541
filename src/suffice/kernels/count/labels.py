"""Which labels there are, and the number of each row's."""

from __future__ import annotations

import numpy as np

from suffice.kernels.compiled import exact_kernel


@exact_kernel
def mark_present(labels, low, present):  # type: ignore[no-untyped-def]
    """Set present[label - low] for every label."""
    for i in range(labels.size):
        present[labels[i] - low] = True


@exact_kernel
def translate(labels, low, codes_of, codes):  # type: ignore[no-untyped-def]
    """Write codes_of[label - low] of every label into `codes`."""
    for i in range(labels.size):
        codes[i] = codes_of[labels[i] - low]


@exact_kernel
def first_rows(codes, classes, wanted):  # type: ignore[no-untyped-def]
    """Return the first `wanted` rows of each class, (classes, wanted); -1 where there are fewer."""
    rows = np.full((classes, wanted), -1)
    found = np.zeros(classes, np.int64)
    missing = classes * wanted
    for i in range(codes.size):
        c = codes[i]
        if found[c] < wanted:
            rows[c, found[c]] = i
            found[c] += 1
            missing -= 1
            if missing == 0:
                break
    return rows


@exact_kernel
def rows_by_class(codes, weights, classes, row_weight):  # type: ignore[no-untyped-def]
    """Return the rows sorted by class and where each class ends; add up their weights."""
    ends = np.zeros(classes + 1, np.int64)
    for i in range(codes.size):
        ends[codes[i] + 1] += 1
    for c in range(classes):
        ends[c + 1] += ends[c]
    order = np.empty(codes.size, np.int64)
    for i in range(codes.size):
        c = codes[i]
        order[ends[c]] = i
        ends[c] += 1
        row_weight[c] += weights[i] if weights.size > 0 else 1.0
    return order, ends[:classes]
