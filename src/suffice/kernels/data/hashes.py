"""Hashes of rows by what they hold: sums of hashed cells, so that the order of columns is free."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.compiled import exact_kernel

# The finaliser of SplitMix64, by Sebastiano Vigna, in the public domain.
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# The prime and the basis of the 64-bit hash of Fowler, Noll and Vo.
FNV_PRIME, FNV_BASIS = np.uint64(0x100000001B3), np.uint64(0xCBF29CE484222325)
# Bits of a float: its magnitude, those of infinity, and one NaN for all NaNs.
MAGNITUDE, ENDLESS = np.uint64(0x7FFFFFFFFFFFFFFF), np.uint64(0x7FF0000000000000)
NOT_A_NUMBER = np.uint64(0x7FF8000000000000)


@exact_kernel
def mix(bits: np.uint64) -> np.uint64:
    """Return bits of which every one depends on all bits given."""
    bits = np.uint64((bits ^ (bits >> np.uint64(30))) * FIRST)
    bits = np.uint64((bits ^ (bits >> np.uint64(27))) * SECOND)
    return np.uint64(bits ^ (bits >> np.uint64(31)))


@exact_kernel
def cell_hash(bits: np.uint64, seed: np.uint64) -> np.uint64:
    """Return the hash of a float in a column, 0 for the number 0, which sparse rows leave out."""
    magnitude = bits & MAGNITUDE
    if magnitude == 0:
        return np.uint64(0)
    if magnitude > ENDLESS:
        bits = NOT_A_NUMBER
    return np.uint64(mix(np.uint64(mix(np.uint64(bits + seed)) ^ seed)))


@exact_kernel
def add_numbers(bits: NDArray[np.uint64], seed: np.uint64, out: NDArray[np.uint64]) -> None:
    """Add the hashes of the floats of a column, (n,), given as their bits."""
    for i in range(bits.size):
        out[i] += cell_hash(bits[i], seed)


@exact_kernel
def add_rows(bits: NDArray[np.uint64], seeds: NDArray[np.uint64], out: NDArray[np.uint64]) -> None:
    """Add the hashes of the floats of dense rows, (n, d), given as their bits."""
    for i in range(bits.shape[0]):
        total = np.uint64(0)
        for j in range(bits.shape[1]):
            total += cell_hash(bits[i, j], seeds[j])
        out[i] += total


@exact_kernel
def add_sparse_rows(
    bits: NDArray[np.uint64],
    columns: NDArray[np.int64],
    begins: NDArray[np.int64],
    seeds: NDArray[np.uint64],
    out: NDArray[np.uint64],
) -> None:
    """Add the hashes of the floats of sparse rows, row i from begins[i] to begins[i + 1]."""
    for i in range(out.size):
        for at in range(begins[i], begins[i + 1]):
            out[i] += cell_hash(bits[at], seeds[columns[at]])


@exact_kernel
def add_levels(
    codes: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    seed: np.uint64,
    out: NDArray[np.uint64],
) -> None:
    """Add the hash of the level of each cell; a missing one, -1, is a level of its own."""
    for i in range(codes.size):
        k = codes[i]
        level = NOT_A_NUMBER if k < 0 else hashes[k]
        out[i] += mix(np.uint64(mix(np.uint64(level + seed)) ^ seed))


@exact_kernel
def hash_strings(
    letters: NDArray[np.uint8], begins: NDArray[np.int64], out: NDArray[np.uint64]
) -> None:
    """Write the hash of the bytes of each string; strings begin at `begins`, (strings + 1,)."""
    for i in range(out.size):
        code = FNV_BASIS
        for at in range(begins[i], begins[i + 1]):
            code = np.uint64((code ^ np.uint64(letters[at])) * FNV_PRIME)
        out[i] = mix(code)


@exact_kernel
def group_equal(
    hashes: NDArray[np.uint64],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    slots: NDArray[np.int32],
    first: NDArray[np.int64],
    totals: NDArray[np.float64],
) -> int:
    """Find the distinct pairs of hash and class of rows that weigh something; return how many.

    Writes the first row of each pair and what its rows weigh together (1 each without weights).
    `slots` are zeros, a power of two of them and more than there are rows.
    """
    mask = np.uint64(slots.size - 1)
    found = 0
    for i in range(hashes.size):
        w = weights[i] if weights.size > 0 else 1.0
        if w == 0.0:
            continue
        at = mix(np.uint64(hashes[i] + np.uint64(codes[i]))) & mask
        while True:
            k = slots[at]
            if k == 0:
                first[found], totals[found] = i, w
                found += 1
                slots[at] = found
                break
            j = first[k - 1]
            if hashes[j] == hashes[i] and codes[j] == codes[i]:
                totals[k - 1] += w
                break
            at = (at + np.uint64(1)) & mask
    return found
