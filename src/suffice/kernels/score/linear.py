"""Scores that are linear in the cells, for CSR rows."""

from __future__ import annotations

import numpy as np

from suffice.kernels.compiled import kernel
from suffice.kernels.prefetch import AHEAD, LINE, prefetch

# Classes scored together: few enough cache lines to ask for ahead of time.
TILE = 32


@kernel
def is_plain(data, first, last, lowest):  # type: ignore[no-untyped-def]
    """Say whether every cell of data[first:last] is finite and not below `lowest`."""
    probe = 0.0
    low = 0
    for at in range(first, last):
        probe += data[at] * 0.0
        low += data[at] < lowest
    return probe == 0.0 and low == 0


@kernel
def add_careful(data, indices, first, last, table, low, gap_bias, lowest, one_total, sums):  # type: ignore[no-untyped-def]
    """Add one row's cells to sums, the classes from `low` on; return whether all can be taken.

    A zero adds nothing, even where the table is infinite. A gap (NaN) subtracts its gap_bias and,
    with `one_total`, takes its share exp(table) out of the total.
    """
    length = 0.0
    gaps = 0
    for at in range(first, last):
        x = data[at]
        j = np.uint64(indices[at])
        if np.isnan(x):
            gaps += 1
            if gap_bias.size > 0:
                for c in range(sums.size):
                    sums[c] -= gap_bias[j, low + c]
        elif np.isinf(x) or x < lowest:
            return False
        elif x != 0:
            length += x
            for c in range(sums.size):
                sums[c] += x * table[j, low + c]
    if one_total and gaps > 0 and length > 0:
        # Added up over the columns that are seen: 1 less the others would lose a small rest.
        seen = np.ones(table.shape[0], np.bool_)
        for at in range(first, last):
            if np.isnan(data[at]):
                seen[indices[at]] = False
        for c in range(sums.size):
            total = 0.0
            for v in range(table.shape[0]):
                if seen[v]:
                    total += np.exp(table[v, low + c])
            if total > 0.0:
                sums[c] -= length * np.log(total)
    return True


@kernel
def add_sparse_linear(  # type: ignore[no-untyped-def]
    data, indices, indptr, start, stop, table, sound, gap_bias, lowest, one_total, out
):
    """Add x @ table for the rows start..stop; table and gap_bias are (V, C), out (rows, C).

    `sound` says that the table is finite. Rows with gaps, infinite cells or cells below `lowest`
    go through `add_careful`. Returns the first row that cannot be taken, or -1.
    """
    classes = table.shape[1]
    flat = table.reshape(table.size)
    end = indptr[stop] - 1
    for low in range(0, classes, TILE):
        high = min(low + TILE, classes)
        for i in range(start, stop):
            sums = out[i - start, low:high]
            first, last = indptr[i], indptr[i + 1]
            if not (sound and is_plain(data, first, last, lowest)):
                terms = table, low, gap_bias, lowest, one_total
                if not add_careful(data, indices, first, last, *terms, sums):
                    return i - start
                continue
            for at in range(first, last):
                soon = np.uint64(indices[min(at + AHEAD, end)]) * np.uint64(classes)
                for line in range(low, high, LINE):
                    prefetch(flat, soon + np.uint64(line))
                x = data[at]
                row = table[np.uint64(indices[at]), low:high]
                for c in range(row.size):
                    sums[c] += x * row[c]
    return -1


@kernel
def add_binary_linear(data, indices, indptr, start, stop, threshold, table, gap_bias, out):  # type: ignore[no-untyped-def]
    """Add the table rows of cells above `threshold`; a stored NaN subtracts its gap_bias."""
    classes = table.shape[1]
    flat = table.reshape(table.size)
    last = indptr[stop] - 1
    for low in range(0, classes, TILE):
        high = min(low + TILE, classes)
        for i in range(start, stop):
            sums = out[i - start, low:high]
            for at in range(indptr[i], indptr[i + 1]):
                soon = np.uint64(indices[min(at + AHEAD, last)]) * np.uint64(classes)
                for line in range(low, high, LINE):
                    prefetch(flat, soon + np.uint64(line))
                x = data[at]
                j = np.uint64(indices[at])
                if np.isnan(x):
                    for c in range(low, high):
                        out[i - start, c] -= gap_bias[j, c]
                elif np.isinf(x):
                    return i - start
                elif x > threshold:
                    terms = table[j, low:high]
                    for c in range(terms.size):
                        sums[c] += terms[c]
    return -1
