"""Words by number, in the order of first sight, and the number of a word."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.compiled import exact_kernel

# Indices are unsigned, because numba asks of every signed one whether it counts from the end;
# and unsigned constants, because a sum of unsigned and signed is a float.
ZERO, ONE = np.uint64(0), np.uint64(1)
# Bits of a byte, of half a number, of seven bytes and of a whole number.
BYTE, HALF, SEVEN_BYTES, BLOCK = np.uint64(8), np.uint64(32), np.uint64(56), np.uint64(64)
LAST_BYTE, FIRST_SEVEN = np.uint64(0xFF), np.uint64(0x00FFFFFFFFFFFFFF)
# FNV's offset, and the golden ratio, which mixes bits.
OFFSET = np.uint64(0xCBF29CE484222325)
MIXER = np.uint64(0x9E3779B97F4A7C15)
HIGH = np.uint64(0xFFFFFFFF00000000)
LOW = np.uint64(0x00000000FFFFFFFF)

# A word that is in no table.
UNKNOWN = -1


class WordTable(NamedTuple):
    """Words by number, and where to find the number of a word.

    A slot is 0 if empty; else its high half is that of the word's hash, its low half the word's
    number plus one.
    """

    slots: NDArray[np.uint64]
    """(a power of two, twice the words or more,)"""
    hashes: NDArray[np.uint64]
    """(words or more,)"""
    heads: NDArray[np.uint64]
    """(words or more,): what `head_of` says of each word"""
    letters: NDArray[np.uint8]
    """The words' bytes, one after the other."""
    begins: NDArray[np.int64]
    """(words + 1 or more,): where each word begins in `letters`."""
    size: NDArray[np.int64]
    """(1,): how many words there are"""


@exact_kernel
def longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return an array that begins alike and has room for at least `size` things."""
    if size <= len(array):
        return array
    room = np.empty(max(2 * len(array), size), array.dtype)
    room[: len(array)] = array
    return room


@exact_kernel
def first_free(slots: NDArray[np.uint64], code: np.uint64) -> np.uint64:
    """Return the slot in which something new with this hash belongs."""
    mask = np.uint64(len(slots) - 1)
    at = code & mask
    while slots[at] != 0:
        at = (at + ONE) & mask
    return at


@exact_kernel
def with_room(table: WordTable, words: int, letters: int) -> WordTable:
    """Return the table with room for this many words and bytes more.

    Loops over words never make room themselves: an array that may be another at the next turn
    costs a count of its references at every turn.
    """
    size = table.size[0]
    slots, wide = table.slots, len(table.slots)
    while 2 * (size + words) > wide:
        wide *= 2
    if wide > len(slots):
        slots = np.zeros(wide, np.uint64)
        for number in range(size):
            code = table.hashes[number]
            slots[first_free(slots, code)] = (code & HIGH) | np.uint64(number + 1)
    return WordTable(
        slots,
        longer(table.hashes, size + words),
        longer(table.heads, size + words),
        longer(table.letters, table.begins[size] + letters),
        longer(table.begins, size + words + 1),
        table.size,
    )


@exact_kernel
def mixed(code: np.uint64) -> Any:
    """Return a hash whose low bits depend on all bits."""
    code = (code ^ (code >> HALF)) * MIXER
    return code ^ (code >> HALF)


@exact_kernel
def head_of(block: np.uint64, size: np.uint64) -> Any:
    """Return the first seven bytes of a word, in one number with its size, at most 255.

    Words of up to seven bytes are the same if their heads are.
    """
    return (block & FIRST_SEVEN) | (min(size, LAST_BYTE) << SEVEN_BYTES)


@exact_kernel
def hash_of(letters: NDArray[np.uint8], begin: int, end: int) -> tuple[np.uint64, np.uint64]:
    """Return the hash of some bytes, eight at a time, and their head."""
    code, block, first, shift = OFFSET, ZERO, ZERO, ZERO
    for i in range(begin, end):
        block |= np.uint64(letters[i]) << shift
        shift += BYTE
        if i - begin < 8:
            first = block
        if shift == BLOCK:
            code, block, shift = mixed(code ^ block), ZERO, ZERO
    if shift > ZERO:
        code = mixed(code ^ block)
    return code, head_of(first, np.uint64(end - begin))


@exact_kernel
def find_word(
    slots: NDArray[np.uint64],
    heads: NDArray[np.uint64],
    letters: NDArray[np.uint8],
    begins: NDArray[np.int64],
    text: NDArray[np.uint8],
    begin: int,
    end: int,
    head: np.uint64,
    code: np.uint64,
) -> Any:
    """Return the number of the word `text[begin:end]`, given its head and hash, or UNKNOWN."""
    mask = np.uint64(len(slots) - 1)
    at = code & mask
    while True:
        slot = slots[at]
        if slot == ZERO:
            return np.int64(UNKNOWN)
        if (slot ^ code) >> HALF == ZERO:
            number = (slot & LOW) - ONE
            if heads[number] == head:
                size, here = end - begin, begins[number]
                if size <= 7:
                    return np.int64(number)
                if begins[number + ONE] - here == size:
                    same = 7
                    while same < size and letters[here + same] == text[begin + same]:
                        same += 1
                    if same == size:
                        return np.int64(number)
        at = (at + ONE) & mask


@exact_kernel
def add_word(
    table: WordTable,
    text: NDArray[np.uint8],
    begin: int,
    end: int,
    head: np.uint64,
    code: np.uint64,
) -> Any:
    """Put a word into the table that it did not have but has room for; return its number."""
    number = table.size[0]
    here = table.begins[number]
    for i in range(end - begin):
        table.letters[here + i] = text[begin + i]
    table.begins[number + 1] = here + end - begin
    table.hashes[number] = code
    table.heads[number] = head
    table.slots[first_free(table.slots, code)] = (code & HIGH) | np.uint64(number + 1)
    table.size[0] = number + 1
    return number


@exact_kernel
def number_of(table: WordTable, text: NDArray[np.uint8], begin: int, end: int) -> Any:
    """Return the number of a word, put into the table if it is new."""
    code, head = hash_of(text, begin, end)
    number = find_word(
        table.slots, table.heads, table.letters, table.begins, text, begin, end, head, code
    )
    return add_word(table, text, begin, end, head, code) if number == UNKNOWN else number


@exact_kernel
def add_words(
    table: WordTable, letters: NDArray[np.uint8], begins: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Put all these words into the table, which has room for them; return the number of each."""
    numbers = np.empty(len(begins) - 1, np.int32)
    for i in range(len(numbers)):
        numbers[i] = number_of(table, letters, begins[i], begins[i + 1])
    return numbers
