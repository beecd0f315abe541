"""MurmurHash3 of names: the 32-bit hash by which scikit-learn's vectorizers choose columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.compiled import exact_kernel

# The constants of MurmurHash3_x86_32, by Austin Appleby, in the public domain.
FIRST = np.uint32(0xCC9E2D51)
SECOND = np.uint32(0x1B873593)
TIMES, PLUS = np.uint32(5), np.uint32(0xE6546B64)
LAST_FIRST, LAST_SECOND = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)


@exact_kernel
def turned(number: np.uint32, bits: int) -> np.uint32:
    """Return a number with its bits turned to the left."""
    return np.uint32((number << np.uint32(bits)) | (number >> np.uint32(32 - bits)))


@exact_kernel
def scrambled(block: np.uint32) -> np.uint32:
    """Return what a block of four bytes or fewer adds to the hash."""
    return np.uint32(turned(np.uint32(block * FIRST), 15) * SECOND)


@exact_kernel
def block_at(letters: NDArray[np.uint8], begin: int, size: int) -> np.uint32:
    """Return up to four bytes as one number, the first byte lowest."""
    block = np.uint32(0)
    for i in range(size):
        block = np.uint32(block | (np.uint32(letters[begin + i]) << np.uint32(8 * i)))
    return block


@exact_kernel
def murmur(letters: NDArray[np.uint8], begins: NDArray[np.int64], out: NDArray[np.int32]) -> None:
    """Write the hash, of seed 0, of each name; names begin at `begins`, (names + 1,)."""
    for name in range(len(begins) - 1):
        begin, size = begins[name], begins[name + 1] - begins[name]
        code = np.uint32(0)
        for at in range(begin, begin + size - 3, 4):
            code = np.uint32(code ^ scrambled(block_at(letters, at, 4)))
            code = np.uint32(turned(code, 13) * TIMES + PLUS)
        rest = size % 4
        code = np.uint32(code ^ scrambled(block_at(letters, begin + size - rest, rest)))
        code = np.uint32(code ^ np.uint32(size))
        code = np.uint32((code ^ (code >> np.uint32(16))) * LAST_FIRST)
        code = np.uint32((code ^ (code >> np.uint32(13))) * LAST_SECOND)
        out[name] = np.int32(code ^ (code >> np.uint32(16)))
