"""Strings of few levels, each with the number of its level, in the order of first sight.

A string of up to 32 bytes is five whole numbers: its size and four blocks of eight bytes, which may
overlap. To compare them takes no loop, and so no branch that nobody can guess.
"""

from __future__ import annotations

import numpy as np

from suffice.kernels.compiled import exact_kernel

# Unsigned constants, because a sum of unsigned and signed is a float in numba.
ONE, EIGHT, SIXTEEN, IN_BLOCKS = np.uint64(1), np.uint64(8), np.uint64(16), np.uint64(32)
HALF = np.uint64(32)
# The golden ratio, which mixes bits.
MIXER = np.uint64(0x9E3779B97F4A7C15)
# Numbers of a level: four blocks, size, and where it begins.
KEY = 6


@exact_kernel
def block_of(text, at):  # type: ignore[no-untyped-def]
    """Return eight bytes from `at` on as one number; the compiler makes one load of it."""
    block = np.uint64(text[at])
    block |= np.uint64(text[at + np.uint64(1)]) << np.uint64(8)
    block |= np.uint64(text[at + np.uint64(2)]) << np.uint64(16)
    block |= np.uint64(text[at + np.uint64(3)]) << np.uint64(24)
    block |= np.uint64(text[at + np.uint64(4)]) << np.uint64(32)
    block |= np.uint64(text[at + np.uint64(5)]) << np.uint64(40)
    block |= np.uint64(text[at + np.uint64(6)]) << np.uint64(48)
    return block | (np.uint64(text[at + np.uint64(7)]) << np.uint64(56))


@exact_kernel
def first_block(text, at, size):  # type: ignore[no-untyped-def]
    """Return the first eight bytes of a string, or all of fewer, as one number."""
    if at + EIGHT <= np.uint64(len(text)):
        block = block_of(text, at)
        return block if size >= EIGHT else block & ((ONE << (EIGHT * size)) - ONE)
    block = np.uint64(0)
    for i in range(min(size, EIGHT)):
        block |= np.uint64(text[at + np.uint64(i)]) << (EIGHT * np.uint64(i))
    return block


@exact_kernel
def mixed_in(code, block):  # type: ignore[no-untyped-def]
    """Return a hash of a hash and a block."""
    return (code ^ (code >> HALF) ^ block) * MIXER


@exact_kernel
def same_inside(text, one, other, size):  # type: ignore[no-untyped-def]
    """Say whether two strings whose first and last 16 bytes are equal are so between."""
    at = SIXTEEN
    while at + SIXTEEN < size:
        if text[one + at] != text[other + at]:
            return False
        at += ONE
    return True


@exact_kernel
def number_strings(text, begins, absent, codes, slots, keys):  # type: ignore[no-untyped-def]
    """Write the number of each string's level to codes (n,), -1 for absent ones; return how many.

    The strings lie in text (bytes) from begins (n + 1,) on; absent is (n,) or (0,). slots, zeros,
    are a power of two in number, and more than keys (levels, `KEY`) has rows, which are filled.
    Levels that are more than keys has room for are not numbered: -1 is returned.
    """
    mask, most, found = np.uint64(len(slots) - 1), len(keys), 0
    for i in range(len(codes)):
        if absent.size > 0 and absent[i]:
            codes[i] = -1
            continue
        at = np.uint64(begins[i])
        size = np.uint64(begins[i + 1]) - at
        first = first_block(text, at, size)
        last = second = third = np.uint64(0)
        if size > EIGHT:
            last = block_of(text, at + size - EIGHT)
        if size > SIXTEEN:
            second, third = block_of(text, at + EIGHT), block_of(text, at + size - SIXTEEN)
        code = mixed_in(mixed_in(mixed_in(mixed_in(size, first), last), second), third)
        slot = (code >> HALF) & mask
        while True:
            number = slots[slot]
            if number == 0:
                if found == most:
                    return -1
                keys[found, 0], keys[found, 1] = first, last
                keys[found, 2], keys[found, 3] = second, third
                keys[found, 4], keys[found, 5] = size, at
                codes[i] = found
                found += 1
                slots[slot] = found
                break
            k = np.uint64(number - 1)
            if (
                (keys[k, 0] == first)
                & (keys[k, 1] == last)
                & (keys[k, 2] == second)
                & (keys[k, 3] == third)
                & (keys[k, 4] == size)
            ) and (size <= IN_BLOCKS or same_inside(text, keys[k, 5], at, size)):
                codes[i] = number - 1
                break
            slot = (slot + ONE) & mask
    return found
